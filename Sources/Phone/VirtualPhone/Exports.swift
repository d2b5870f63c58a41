@_exported public import PhoneCore

// The shared vocabulary appears in the public interface: one import is enough for an extension.
@_exported public import ClientCore
@_exported public import TidingsAppGroup
@_exported public import TidingsModel

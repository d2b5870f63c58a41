package import PhoneCore

/// `UNNotificationPresentationOptions`; another core has a type of this name too.
package typealias SystemPresentationOptions = PresentationOptions

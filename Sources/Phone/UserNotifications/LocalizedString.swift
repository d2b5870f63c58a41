public import Foundation
import PhoneCore

extension NSString {
    /// A text of a notification that is looked up in the app's `Localizable.strings` when the notification is shown
    /// (developer.apple.com/documentation/foundation/nsstring/localizedusernotificationstring(forkey:arguments:)). Apple takes any
    /// arguments; so does this, as text.
    public static func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        LocalizedText.deferred(key: key, arguments: (arguments ?? []).map { "\($0)" })
    }
}

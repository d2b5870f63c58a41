import Foundation

/// Keys of the app's `Localizable.strings`, looked up for what the system does not show itself (apns.md §13 `loc-key`).
enum AppStrings {
    static func text(_ key: String, _ arguments: [String]) -> String {
        let format = Bundle.main.localizedString(forKey: key, value: nil, table: nil)
        return String(format: format, arguments: arguments.map { NSString(string: $0) })
    }
}

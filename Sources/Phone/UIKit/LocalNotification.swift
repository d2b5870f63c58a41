public import Foundation
import PhoneCore
import UserNotifications

/// A local notification of iOS 4–9. Deprecated by Apple from iOS 10 and still understood by it.
public final class UILocalNotification {
    /// The text.
    public var alertBody: String?
    /// The title (iOS 8.2).
    public var alertTitle: String?
    /// When; nil is now.
    public var fireDate: Date?
    /// The sound's file name, or `UILocalNotificationDefaultSoundName`; nil is silence.
    public var soundName: String?
    /// The number for the icon; 0 changes nothing.
    public var applicationIconBadgeNumber = 0
    /// The category, which gives the actions (iOS 8).
    public var category: String?
    /// The app's own data.
    public var userInfo: [AnyHashable: Any]?
    /// The name the phone gave it.
    private(set) var identifier = ""

    /// A local notification that says nothing yet.
    public init() {}

    /// A local notification as the phone keeps it.
    convenience init(_ request: NotificationRequest) {
        self.init()
        let content = request.content
        self.identifier = request.identifier
        self.alertBody = content.body.isEmpty ? nil : content.body
        self.alertTitle = content.title.isEmpty ? nil : content.title
        self.applicationIconBadgeNumber = content.badge ?? 0
        self.category = content.categoryIdentifier.isEmpty ? nil : content.categoryIdentifier
        self.userInfo = UNNotificationContent(parts: content).userInfo
        switch content.sound {
        case nil: self.soundName = nil
        case .standard, .critical: self.soundName = UILocalNotificationDefaultSoundName
        case .named(let name): self.soundName = name
        }
    }

    /// The request the phone keeps for it.
    func request(identifier: String, now: Date) -> NotificationRequest {
        self.identifier = identifier
        let content = UNMutableNotificationContent()
        content.title = self.alertTitle ?? ""
        content.body = self.alertBody ?? ""
        content.badge = self.applicationIconBadgeNumber == 0 ? nil : NSNumber(value: self.applicationIconBadgeNumber)
        content.categoryIdentifier = self.category ?? ""
        content.userInfo = self.userInfo ?? [:]
        if let name = self.soundName {
            content.sound =
                name == UILocalNotificationDefaultSoundName
                ? .default : UNNotificationSound(named: UNNotificationSoundName(name))
        }
        let delay = self.fireDate.map { Int64(($0.timeIntervalSince(now) * 1_000).rounded(.up)) } ?? 0
        return NotificationRequest(
            identifier: identifier, content: content.parts,
            trigger: delay > 0 ? .timeInterval(milliseconds: delay, repeats: false) : nil)
    }
}

/// The system's sound.
public let UILocalNotificationDefaultSoundName = "UILocalNotificationDefaultSoundName"
/// The key of the typed text in a response's information (iOS 9).
public let UIUserNotificationActionResponseTypedTextKey = "UIUserNotificationActionResponseTypedTextKey"

/// The kinds an app asks for on iOS 8–9. Raw values as Apple's.
public struct UIUserNotificationType: OptionSet, Hashable, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Wraps Apple's value.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The number on the icon.
    public static let badge = UIUserNotificationType(rawValue: 1 << 0)
    /// Sounds.
    public static let sound = UIUserNotificationType(rawValue: 1 << 1)
    /// Alerts.
    public static let alert = UIUserNotificationType(rawValue: 1 << 2)
}

/// What an app asks for on iOS 8–9.
public final class UIUserNotificationSettings: Sendable {
    /// The kinds.
    public let types: UIUserNotificationType

    /// Settings of the given kinds. Categories of this era are not offered by a virtual phone.
    public init(types: UIUserNotificationType, categories: Set<AnyHashable>?) { self.types = types }
}

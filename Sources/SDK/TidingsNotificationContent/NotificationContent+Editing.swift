package import ClientCore
import Foundation
import TidingsAppGroup
package import TidingsModel
package import UserNotifications

extension PushLine {
    /// For a content: what comes from the app's tables the system looks up when it shows the notification.
    package var notificationText: String {
        switch self {
        case .text(let text): text
        case .localized(let key, let arguments):
            NSString.localizedUserNotificationString(forKey: key, arguments: arguments)
        }
    }
}

extension UNMutableNotificationContent: EditableContent {
    package var badgeNumber: Int? {
        get { self.badge?.intValue }
        set { self.badge = newValue.map { NSNumber(value: $0) } }
    }

    package static func text(of line: PushLine) -> String { line.notificationText }

    package func setUserInfo(_ userInfo: JSONValue) { self.userInfo = userInfo.userInfo }

    package func setSound(_ sound: NotificationManner.Sound?) {
        switch sound {
        case .standard: self.sound = .default
        case .named(let name): self.sound = UNNotificationSound(named: UNNotificationSoundName(name))
        case .critical(let name?): self.sound = .criticalSoundNamed(UNNotificationSoundName(name))
        case .critical(nil): self.sound = .defaultCritical
        case nil: self.sound = nil
        }
    }

    package func setLevel(_ level: PushOptions.InterruptionLevel) {
        switch level {
        case .passive: self.interruptionLevel = .passive
        case .active: self.interruptionLevel = .active
        case .timeSensitive: self.interruptionLevel = .timeSensitive
        case .critical: self.interruptionLevel = .critical
        }
    }

    package func setRelevance(thousandths: Int) { self.relevanceScore = Double(thousandths) / 1_000 }

    package func removeAttachments() { self.attachments = [] }
}

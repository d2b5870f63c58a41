package import ClientCore
import Foundation
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

extension UNMutableNotificationContent {
    package func apply(_ manner: NotificationManner) {
        switch manner.sound {
        case .standard: self.sound = .default
        case .named(let name): self.sound = UNNotificationSound(named: UNNotificationSoundName(name))
        case .critical(let name?): self.sound = .criticalSoundNamed(UNNotificationSoundName(name))
        case .critical(nil): self.sound = .defaultCritical
        case nil: self.sound = nil
        }
        switch manner.level {
        case .passive: self.interruptionLevel = .passive
        case .active: self.interruptionLevel = .active
        case .timeSensitive: self.interruptionLevel = .timeSensitive
        case .critical: self.interruptionLevel = .critical
        }
        self.relevanceScore = Double(manner.relevance) / 1_000
        self.categoryIdentifier = manner.category
        self.threadIdentifier = manner.thread
    }
}

import PhoneCore
import TidingsModel

extension NotificationSettings {
    /// Each switch by its word, and the two choices, as commands name them.
    var told: JSONValue {
        .members(
            SettingSwitch.allCases.map { ($0.rawValue, .bool(self.isOn($0))) } + [
                ("previews", .string("\(self.showPreviews)")), ("alertStyle", .string("\(self.alertStyle)")),
            ])
    }

    private func isOn(_ setting: SettingSwitch) -> Bool {
        switch setting {
        case .notifications: self.allowsPresentation
        case .alert: self.alert
        case .sound: self.sound
        case .badge: self.badge
        case .notificationCenter: self.notificationCenter
        case .lockScreen: self.lockScreen
        case .backgroundRefresh: self.backgroundRefresh
        case .criticalAlert: self.criticalAlert
        case .announcement: self.announcement
        case .timeSensitive: self.timeSensitive
        case .scheduledDelivery: self.scheduledDelivery
        case .directMessages: self.directMessages
        }
    }
}

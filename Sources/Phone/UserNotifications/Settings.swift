package import PhoneCore

/// The person's permissions for the app.
public final class UNNotificationSettings: Sendable, Hashable {
    private let settings: NotificationSettings
    private let entitlements: Entitlements

    /// Makes the settings; one that needs an entitlement the app lacks is not supported.
    package init(_ settings: NotificationSettings, entitlements: Entitlements = []) {
        self.settings = settings
        self.entitlements = entitlements
    }

    /// The same settings and entitlements.
    public static func == (left: UNNotificationSettings, right: UNNotificationSettings) -> Bool {
        left.settings == right.settings && left.entitlements == right.entitlements
    }
    /// Equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.settings) }

    private func setting(_ isOn: Bool, needs entitlement: Entitlements = []) -> UNNotificationSetting {
        guard self.settings.authorizationStatus != .notDetermined, self.entitlements.isSuperset(of: entitlement) else {
            return .notSupported
        }
        return isOn ? .enabled : .disabled
    }

    /// The answer to the prompt.
    public var authorizationStatus: UNAuthorizationStatus {
        UNAuthorizationStatus(rawValue: self.settings.authorizationStatus.rawValue) ?? .notDetermined
    }
    /// Says if sounds play.
    public var soundSetting: UNNotificationSetting { self.setting(self.settings.sound) }
    /// Says if the icon shows a number.
    public var badgeSetting: UNNotificationSetting { self.setting(self.settings.badge) }
    /// Says if alerts appear.
    public var alertSetting: UNNotificationSetting { self.setting(self.settings.alert) }
    /// Says if they are kept in Notification Center.
    public var notificationCenterSetting: UNNotificationSetting { self.setting(self.settings.notificationCenter) }
    /// Says if they appear on the lock screen.
    public var lockScreenSetting: UNNotificationSetting { self.setting(self.settings.lockScreen) }
    /// Says if they appear in a car: never on a virtual phone.
    public var carPlaySetting: UNNotificationSetting { .notSupported }
    /// Says if critical alerts are allowed; they need the entitlement (iOS 12).
    public var criticalAlertSetting: UNNotificationSetting {
        self.setting(self.settings.criticalAlert, needs: .criticalAlerts)
    }
    /// Says if time-sensitive ones are allowed; they need the entitlement (iOS 15).
    public var timeSensitiveSetting: UNNotificationSetting {
        self.setting(self.settings.timeSensitive, needs: .timeSensitive)
    }
    /// Says if they are held for a summary (iOS 15).
    public var scheduledDeliverySetting: UNNotificationSetting { self.setting(self.settings.scheduledDelivery) }
    /// Says if direct messages may break through; they need the entitlement (iOS 15).
    public var directMessagesSetting: UNNotificationSetting {
        self.setting(self.settings.directMessages, needs: .communication)
    }
    /// Says if they may be read aloud (iOS 13).
    public var announcementSetting: UNNotificationSetting { self.setting(self.settings.announcement) }
    /// How alerts look.
    public var alertStyle: UNAlertStyle {
        self.settings.alert ? UNAlertStyle(rawValue: self.settings.alertStyle.rawValue) ?? .banner : .none
    }
    /// When previews are shown.
    public var showPreviewsSetting: UNShowPreviewsSetting {
        UNShowPreviewsSetting(rawValue: self.settings.showPreviews.rawValue) ?? .always
    }
    /// True if the system shows a button to the app's own settings.
    public var providesAppNotificationSettings: Bool { self.settings.providesAppNotificationSettings }
}

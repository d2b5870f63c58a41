import TidingsModel

package struct PhoneID: StringIdentifier {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// How a connected phone is about power (APNs reference, section 15).
package enum PhonePower: String, Hashable, Sendable, CaseIterable, Codable {
    /// In use: everything is brought.
    case awake
    /// Nobody uses it: priority 1 waits until something else wakes it.
    case asleep
    /// Saves power: priorities 5 and 1 wait.
    case lowPower = "low_power"
}

/// APNs's knowledge of an app on a phone besides its tokens (APNs reference, sections 14 and 15).
package struct AppCondition: Hashable, Sendable, Codable {
    package enum Life: String, Hashable, Sendable, CaseIterable, Codable {
        /// On the screen: background pushes are brought at once.
        case foreground
        case background
        /// Not running, and may be started.
        case suspended
        /// The person has closed it by force: background pushes are given up.
        case forceQuit = "force_quit"
    }

    package var life: Life
    /// If not, alerts are discarded.
    package var notificationsEnabled: Bool
    /// If not, background pushes are discarded.
    package var backgroundRefreshEnabled: Bool

    package init(
        life: Life = .suspended, notificationsEnabled: Bool = true, backgroundRefreshEnabled: Bool = true
    ) {
        self.life = life
        self.notificationsEnabled = notificationsEnabled
        self.backgroundRefreshEnabled = backgroundRefreshEnabled
    }

    private enum CodingKeys: String, CodingKey {
        case life = "state"
        case notificationsEnabled = "notifications"
        case backgroundRefreshEnabled = "background_refresh"
    }

    /// Decodes a condition; `notifications` and `background_refresh` are true if left out.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            life: try members.decode(Life.self, forKey: .life),
            notificationsEnabled: try members.decodeIfPresent(Bool.self, forKey: .notificationsEnabled) ?? true,
            backgroundRefreshEnabled: try members.decodeIfPresent(Bool.self, forKey: .backgroundRefreshEnabled) ?? true)
    }
}

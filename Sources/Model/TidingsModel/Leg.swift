/// One message on its way to one device. Every leg ends in exactly one `LegEnd` (design.md P6).
public struct LegID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The message.
    public var message: MessageID
    /// The person and the device; the device is nil for a person without devices (the pseudo-leg of `no_device`).
    public var user: UserKey
    /// The device, or nil for a person who has none.
    public var device: DeviceID?

    /// Names a leg.
    public init(message: MessageID, user: UserKey, device: DeviceID?) {
        self.message = message
        self.user = user
        self.device = device
    }

    /// Hashes message and person only: an id names a message of one app, and nobody has so many devices that they must be told apart here.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.message)
        hasher.combine(self.user.user)
    }

    /// Orders by message, person, device.
    public static func < (left: LegID, right: LegID) -> Bool {
        if left.message != right.message { return left.message < right.message }
        if left.user != right.user { return left.user < right.user }
        return (left.device?.rawValue ?? "") < (right.device?.rawValue ?? "")
    }

    /// `message→app/user/device`.
    public var description: String { "\(self.message)→\(self.user)/\(self.device?.rawValue ?? "-")" }
}

/// How the device settled a message (design.md §3 "Acks").
public enum Disposition: Hashable, Sendable {
    /// On the open screen.
    case shown
    /// By a local notification, which the kit has posted.
    case notified
    /// By the app's own callback (S3.7).
    case appHandled
    /// Only the core library runs; showing it is the app's business (S0.5).
    case leftToApp
    case suppressed(SuppressionReason)

    /// The name on the wire and in traces.
    public var name: String {
        switch self {
        case .shown: "shown"
        case .notified: "notified"
        case .appHandled: "app_handled"
        case .leftToApp: "left_to_app"
        case .suppressed(let reason): "suppressed(\(reason.rawValue))"
        }
    }
}

/// Why the kit did not show a message, in the order of its tests (requirements S3, "how the public IMKit does it").
public enum SuppressionReason: String, Hashable, Sendable, CaseIterable {
    case chatRoom = "chat_room"
    /// Caught up after being offline; the push has rung already, or will not.
    case offlineMessage = "offline_message"
    /// The sender asked for no notification.
    case notNotifiable = "not_notifiable"
    case inForeground = "in_foreground"
    /// The global switch is off (S3.3).
    case switchedOff = "switched_off"
    case command = "command"
    case level = "level"
    /// A user, group or group-member info provider is missing or does not know the name (S0.4, S3.5).
    case providerMissing = "provider_missing"
    /// By another process, according to the ledger.
    case alreadyShown = "already_shown"
    case notAuthorized = "not_authorized"
    case ownMessage = "own_message"
    /// Recalled before it was shown, or deleted by the person on another device.
    case recalled
    case expired
}

/// The one named end of a leg (design.md §5).
public enum LegEnd: Hashable, Sendable {
    /// The device the message was sent from.
    case ownDevice
    case noDevice
    case signedOut
    /// The person was banned: every device was signed out with it.
    case disabled
    /// Command, chat room, custom message, or the sender asked for no push, or for one on other devices.
    case notNotifiable
    /// The person had blocked the sender when the message was stored: it is in their log, and is to reach them in no other way.
    case blocked
    case settled(Disposition)
    /// Read on another device.
    case readElsewhere
    /// Recalled before it was decided.
    case recalled
    case expired
    case muted
    /// The person wants nothing sent in their quiet hours, also later.
    case quietHours
    /// The device has never registered a push token.
    case noToken
    /// APNs refused the token, which is not used until the device registers again (design.md P8). With Apple's reason
    /// and HTTP status; empty and 0 for a leg that ended before these were kept.
    case tokenQuarantined(reason: String, status: Int)
    case accepted(apnsID: String)
    /// APNs said 410 with a time later than the registration.
    case tokenDead(timestamp: Int64)
    case rejected(reason: String)

    /// The name in traces and metrics.
    public var name: String {
        switch self {
        case .ownDevice: "own_device"
        case .noDevice: "no_device"
        case .signedOut: "signed_out"
        case .disabled: "disabled"
        case .notNotifiable: "not_notifiable"
        case .blocked: "blocked"
        case .settled: "settled"
        case .readElsewhere: "read_elsewhere"
        case .recalled: "recalled"
        case .expired: "expired"
        case .muted: "muted"
        case .quietHours: "quiet_hours"
        case .noToken: "no_token"
        case .tokenQuarantined: "token_quarantined"
        case .accepted: "accepted"
        case .tokenDead: "token_dead"
        case .rejected: "rejected"
        }
    }

    /// The detail beside the name: disposition, apns-id, timestamp, or Apple's reason, for a quarantined token after the status.
    public var detail: String? {
        switch self {
        case .settled(let disposition): disposition.name
        case .accepted(let apnsID): apnsID
        case .tokenDead(let timestamp): "\(timestamp)"
        case .rejected(let reason): reason
        case .tokenQuarantined(let reason, let status):
            reason.isEmpty ? nil : status == 0 ? reason : "\(status) \(reason)"
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .readElsewhere, .recalled,
            .expired, .muted, .quietHours, .noToken:
            nil
        }
    }
}

/// Why an open leg waits instead of being pushed now (design.md §5).
public enum LegWait: String, Hashable, Sendable, CaseIterable, JSONWritable {
    /// Written to a live socket; the device has until its deadline to settle it.
    case live
    /// Waiting for the grace lease, or for phones to come back after a restart.
    case grace
    /// Deferred.
    case quietHours = "quiet_hours"
    /// The person is using another device.
    case activeElsewhere = "active_elsewhere"
    /// Many messages of one conversation came in a short time: the next alert counts those that wait.
    case merging
    /// The push credential is missing or refused.
    case configFault = "config_fault"
    case breakerOpen = "breaker_open"
    /// By APNs, for this token.
    case throttled
    /// APNs cannot be reached, or answers 5xx.
    case providerDown = "provider_down"
    /// With the APNs client; the answer is open.
    case inFlight = "in_flight"
}

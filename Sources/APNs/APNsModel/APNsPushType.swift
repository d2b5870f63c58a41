/// The kind of a push: the header `apns-push-type` (apns.md §7).
public enum APNsPushType: String, Hashable, Sendable, CaseIterable {
    /// Shows an alert, plays a sound or sets the badge.
    case alert
    /// Wakes the app without a word (`content-available`); priority 5 or 1 only (apns.md §14).
    case background
    /// An incoming call, through PushKit and a token of its own.
    case voip
    /// A watch complication.
    case complication
    /// A file provider extension.
    case fileprovider
    /// Device management; the topic is the UID of the certificate's subject.
    case mdm
    /// A location query; token authentication only.
    case location
    /// A Live Activity.
    case liveactivity
    /// Push to talk.
    case pushtotalk
    /// A widget reload.
    case widgets
    /// A control reload.
    case controls

    /// What the topic has after the bundle identifier; empty for the types whose topic is the bundle identifier, or
    /// is free (`mdm`).
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileprovider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .liveactivity: ".push-type.liveactivity"
        case .pushtotalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// The largest body in bytes of JSON as sent: 5,120 for `voip`, otherwise 4,096 (apns.md §6).
    public var payloadBytesMax: Int { self == .voip ? 5_120 : 4_096 }

    /// Whether APNs takes this priority for this type: `background` must not be immediate (apns.md §7).
    public func allows(_ priority: APNsPriority) -> Bool { !(self == .background && priority == .immediate) }
}

/// How urgent a push is: the header `apns-priority` (apns.md §6).
public enum APNsPriority: Int, Hashable, Sendable, CaseIterable {
    /// At once.
    case immediate = 10
    /// Minds the phone's power; may be grouped or held back.
    case powerAware = 5
    /// Power first: never wakes the phone.
    case powerFirst = 1
}

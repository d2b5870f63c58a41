public import TidingsModel

/// What became of a Live Activity (ios-delivery.md §12).
public struct ActivityUpdate: Hashable, Sendable, JSONCodable {
    /// The activity's identifier.
    public var activity: String
    /// What happened to it.
    public var change: Change
    /// `content-state`; null if the change brings none.
    public var contentState: JSONValue

    /// What can happen to an activity; raw values are `aps.event`'s words where a push makes the change.
    public enum Change: String, Hashable, Sendable, CaseIterable, Codable {
        case started = "start"
        case updated = "update"
        case ended = "end"
        /// The person took it off the lock screen.
        case dismissed
        /// Its stale date has passed.
        case stale
    }

    /// A change of an activity.
    public init(activity: String, change: Change, contentState: JSONValue = .null) {
        self.activity = activity
        self.change = change
        self.contentState = contentState
    }
}

/// How a Live Activity may be changed by push: `pushType` of `Activity.request` (ios-delivery.md §12).
public enum ActivityPushType: Hashable, Sendable, JSONTagged {
    /// By its own token.
    case token
    /// By broadcasts on a channel, by its id (iOS 18).
    case channel(String)

    /// How the cases are written as JSON.
    package static let tag = JSONTag("type", meaning: "a push type of an activity")
}

/// The kinds of token an app has beside its device token (ios-delivery.md §12).
public enum TokenKind: Hashable, Sendable {
    /// PushKit's, with the topic `<bundle>.voip`.
    case voip
    /// One Live Activity's, with the topic `<bundle>.push-type.liveactivity`.
    case activity(String)
    /// For starting a Live Activity (iOS 17.2), with the same topic.
    case pushToStart

    /// The topic of an app's tokens of this kind (ios-delivery.md §12).
    public func topic(of app: BundleID) -> String {
        switch self {
        case .voip: "\(app).voip"
        case .activity, .pushToStart: "\(app).push-type.liveactivity"
        }
    }
}

public import TidingsModel

/// A change of a Live Activity (ios-delivery.md §12).
public struct ActivityUpdate: Hashable, Sendable, JSONCodable {
    /// The activity's identifier.
    public var activity: String
    /// The kind of change.
    public var change: Change
    /// `content-state`; null if the change brings none.
    public var contentState: JSONValue = .null

    /// A kind of change of an activity; raw values are `aps.event`'s words where a push makes the change.
    public enum Change: String, Hashable, Sendable, CaseIterable, Codable {
        case started = "start"
        case updated = "update"
        case ended = "end"
        case dismissed
        case stale
    }
}

/// How a Live Activity may be changed by push: `pushType` of `Activity.request` (ios-delivery.md §12).
public enum ActivityPushType: Hashable, Sendable, JSONTagged {
    case token
    case channel(String)

    package static let tag = JSONTag("type", meaning: "a push type of an activity")
}

/// The kinds of token an app has beside its device token (ios-delivery.md §12).
package enum TokenKind: Hashable, Sendable {
    case voip
    case activity(String)
    case pushToStart

    package func topic(of app: BundleID) -> String {
        switch self {
        case .voip: "\(app).voip"
        case .activity, .pushToStart: "\(app).push-type.liveactivity"
        }
    }
}

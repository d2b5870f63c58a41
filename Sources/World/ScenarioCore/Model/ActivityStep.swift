package import PhoneCore
package import TidingsModel

/// An act of the app or the person on a Live Activity, by its name in the file (ios-delivery.md §12).
package enum ActivityStep: Equatable, Sendable {
    case start(String, contentState: JSONValue, pushType: ActivityPushType?)
    case update(String, contentState: JSONValue)
    case end(String)
    case dismiss(String)
}

/// A push to a Live Activity, one that starts it, or a broadcast to those on a channel (ios-delivery.md §12).
package struct ActivityPush: Equatable, Sendable {
    package var event: ActivityUpdate.Change
    package var target: Target
    package var contentState: JSONValue?
    /// How long before now it was written, in milliseconds: what `aps.timestamp` says.
    package var age: Int64 = 0
    /// When it becomes stale, in milliseconds from now: `aps.stale-date`.
    package var staleAfter: Int64?
    /// When it leaves the lock screen, in milliseconds from now: `aps.dismissal-date`.
    package var dismissedAfter: Int64?
    package var attributesType: String?
    package var attributes: JSONValue?
    /// `aps.input-push-channel`: the channel one that is started listens to (iOS 18).
    package var channelToListen: String?
    package var alert: JSONValue?
    /// The alert's sound: inside `aps.alert` where that is a mapping, beside it where it is a text.
    package var sound: JSONValue?

    package enum Target: Equatable, Sendable {
        case activity(String)
        case channel(String)

        var text: String {
            switch self {
            case .activity(let text), .channel(let text): text
            }
        }
    }

    func aps(at wall: Int64) -> JSONObject {
        let seconds = { (milliseconds: Int64) in JSONValue.int(milliseconds / 1_000) }
        var aps = JSONObject([("timestamp", seconds(wall - self.age)), ("event", .string(self.event.rawValue))])
        aps["content-state"] = self.contentState
        aps["stale-date"] = self.staleAfter.map { seconds(wall + $0) }
        aps["dismissal-date"] = self.dismissedAfter.map { seconds(wall + $0) }
        aps["attributes-type"] = self.attributesType.map { .string($0) }
        aps["attributes"] = self.attributes
        aps["input-push-channel"] = self.channelToListen.map { .string($0) }
        if case .object(var alert)? = self.alert {
            alert["sound"] = self.sound
            aps["alert"] = .object(alert)
        } else {
            aps["alert"] = self.alert
            aps["sound"] = self.sound
        }
        return aps
    }
}

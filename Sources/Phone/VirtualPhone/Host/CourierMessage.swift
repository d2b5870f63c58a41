import PhoneCore
import TidingsModel

/// A token the phone wants of the courier: one for each topic, and under the topic of Live Activities one for each
/// activity (ios-delivery.md §12).
struct TokenWish: Equatable {
    /// The topic, suffix included.
    var topic: String
    var environment: PushEnvironment
    /// The Live Activity; nil for a topic's own token.
    var activity: String?

    fileprivate var members: [(String, JSONValue)] {
        [("topic", .string(self.topic)), ("environment", .string(self.environment.rawValue))]
            + (self.activity.map { [("activity", .string($0))] } ?? [])
    }
}

/// A broadcast channel the phone listens to.
struct ChannelWish: Equatable {
    /// The app's bundle identifier.
    var topic: String
    var environment: PushEnvironment
    /// The channel's id.
    var channel: String
}

/// A line from the phone to the courier of a local APNs.
enum PhoneCourierRequest: Equatable {
    /// The first line.
    case hello(phone: String)
    /// Wants a token.
    case register(id: Int, TokenWish)
    /// What the token stood for is over.
    case unregister(TokenWish)
    /// A push has arrived and need not come again.
    case ack(delivery: UInt64)
    /// Wants a channel's broadcasts, or no longer.
    case subscription(ChannelWish, isOn: Bool)

    var json: JSONValue {
        switch self {
        case .hello(let phone): .members([("type", "hello"), ("phone", .string(phone))])
        case .register(let id, let wish): .members([("type", "register"), ("id", .int(id))] + wish.members)
        case .unregister(let wish): .members([("type", "unregister")] + wish.members)
        case .ack(let delivery): .members([("type", "ack"), ("delivery", .int(delivery))])
        case .subscription(let wish, let isOn):
            .members([
                ("type", isOn ? "subscribe" : "unsubscribe"), ("topic", .string(wish.topic)),
                ("environment", .string(wish.environment.rawValue)), ("channel", .string(wish.channel)),
            ])
        }
    }
}

/// A line from the courier to the phone.
enum CourierReply: Equatable {
    case welcome
    case registered(id: Int, topic: String, token: PushToken)
    case push(Push, apnsID: String?)
    case error(field: String, rule: String)

    /// Reads a line.
    ///
    /// - Throws: `InvalidField` naming the member that is missing or wrong.
    init(json: JSONValue) throws(InvalidField) {
        let fields = Fields(json)
        switch try fields.string("type") {
        case "welcome": self = .welcome
        case "registered":
            self = .registered(
                id: try fields.int("id"), topic: try fields.string("topic"),
                token: PushToken(try fields.string("token")))
        case "push":
            let push = Push(
                delivery: try fields.int("delivery"), topic: try fields.string("topic"),
                payload: try fields.members("payload"),
                pushType: try fields["push_type"] == nil ? nil : fields.string("push_type"),
                priority: try fields["priority"] == nil ? 10 : fields.int("priority"),
                collapseID: try fields["collapse_id"] == nil ? nil : fields.string("collapse_id"),
                activity: try fields["activity"] == nil ? nil : fields.string("activity"),
                channel: try fields["channel_id"] == nil ? nil : fields.string("channel_id"))
            self = .push(push, apnsID: fields["apns_id"]?.stringValue)
        case "error": self = .error(field: try fields.string("field"), rule: try fields.string("rule"))
        case let other: throw InvalidField(field: "type", rule: "is not a message of a courier: \(other)")
        }
    }
}

/// How long to wait before the next attempt to connect: 100 ms, doubling up to 5 s.
struct CourierBackoff: Equatable {
    private var failures = 0

    /// The wait before the next attempt, in milliseconds.
    mutating func next() -> Int64 {
        defer { self.failures = min(self.failures + 1, 10) }
        return BackOff(first: 100, longest: 5_000).ceiling(afterFailures: self.failures + 1)
    }

    /// The connection stands.
    mutating func reset() { self.failures = 0 }
}

import PhoneCore
import TidingsModel

/// A line from the phone to the courier of a local APNs.
enum CourierRequest: Equatable {
    /// The first line.
    case hello(phone: String)
    /// Wants a token for a topic.
    case register(id: Int, topic: String, environment: PushEnvironment)
    /// The topic is over.
    case unregister(topic: String, environment: PushEnvironment)
    /// A push has arrived and need not come again.
    case ack(delivery: UInt64)

    var json: JSONValue {
        switch self {
        case .hello(let phone): .members([("type", "hello"), ("phone", .string(phone))])
        case .register(let id, let topic, let environment):
            .members([
                ("type", "register"), ("id", .int(id)), ("topic", .string(topic)),
                ("environment", .string(environment.rawValue)),
            ])
        case .unregister(let topic, let environment):
            .members([
                ("type", "unregister"), ("topic", .string(topic)), ("environment", .string(environment.rawValue)),
            ])
        case .ack(let delivery): .members([("type", "ack"), ("delivery", .int(delivery))])
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
                collapseID: try fields["collapse_id"] == nil ? nil : fields.string("collapse_id"))
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
        return min(5_000, 100 << self.failures)
    }

    /// The connection stands.
    mutating func reset() { self.failures = 0 }
}

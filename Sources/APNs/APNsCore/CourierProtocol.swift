import APNsModel
package import TidingsModel

/// What a phone says to the courier: one JSON object a line.
package enum CourierRequest: Hashable, Sendable {
    /// Who is calling; must come first.
    case hello(PhoneID)
    /// An app wants its token; the answer carries the same id.
    case register(id: Int64, topic: String, PushEnvironment)
    /// An app was removed.
    case unregister(topic: String, PushEnvironment)
    /// A push has been received.
    case acknowledge(delivery: Int64)

    /// The longest line in bytes.
    package static let lineBytesMax = 4_096

    /// Reads one line.
    ///
    /// - Throws: `InvalidField` naming the member (`line` for text that is no JSON object) and the rule.
    package init(line: some Collection<UInt8>) throws(InvalidField) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line, depthMax: 4)
        } catch {
            throw InvalidField(field: "line", rule: "must be one JSON object: \(error)")
        }
        guard value.objectValue != nil else { throw InvalidField(field: "line", rule: "must be one JSON object") }
        switch value["type"]?.stringValue {
        case "hello":
            self = .hello(try PhoneID.validated(value["phone"]?.stringValue ?? "", field: "phone"))
        case "register":
            self = .register(
                id: try Self.number(value, "id"), topic: try Self.topic(value), try Self.environment(value))
        case "unregister":
            self = .unregister(topic: try Self.topic(value), try Self.environment(value))
        case "ack":
            self = .acknowledge(delivery: try Self.number(value, "delivery"))
        default:
            throw InvalidField(field: "type", rule: "must be hello, register, unregister or ack")
        }
    }

    private static func number(_ value: JSONValue, _ name: String) throws(InvalidField) -> Int64 {
        guard let number = value[name]?.intValue else {
            throw InvalidField(field: name, rule: "must be a whole number")
        }
        return number
    }

    private static func topic(_ value: JSONValue) throws(InvalidField) -> String {
        guard let topic = value["topic"]?.stringValue, APNsFormat.isTopic(topic.utf8) else {
            throw InvalidField(field: "topic", rule: "must be a bundle identifier")
        }
        return topic
    }

    private static func environment(_ value: JSONValue) throws(InvalidField) -> PushEnvironment {
        guard let environment = value["environment"]?.stringValue.flatMap(PushEnvironment.init(rawValue:)) else {
            throw InvalidField(field: "environment", rule: "must be sandbox or production")
        }
        return environment
    }
}

/// What the courier says to a phone: one JSON object a line, the line feed included.
package enum CourierLine {
    /// The greeting.
    package static let welcome = Self.line(["type": "welcome"])

    /// The token of an app.
    package static func registered(id: Int64, topic: String, _ environment: PushEnvironment, _ token: PushToken)
        -> [UInt8]
    {
        Self.line([
            "type": "registered", "id": .int(id), "topic": .string(topic), "environment": .string(environment.rawValue),
            "token": .string(token.rawValue),
        ])
    }

    /// A push, with its payload as it was sent but for white space.
    package static func push(delivery: Int64, _ push: AcceptedPush) -> [UInt8] {
        // The payload has been parsed before it was accepted.
        let payload = (try? JSONValue(parsing: push.payload)) ?? .null
        return Self.line([
            "type": "push", "delivery": .int(delivery), "topic": .string(push.target.topic),
            "token": .string(push.token.rawValue), "apns_id": .string(push.apnsID), "unique_id": .string(push.uniqueID),
            "collapse_id": push.collapseID.map { .string($0) } ?? .null, "push_type": .string(push.pushType.rawValue),
            "priority": .int(push.priority.rawValue), "expiration": push.expiration.map { .int($0) } ?? .null,
            "payload": payload,
        ])
    }

    /// What was wrong with a line of the phone's.
    package static func error(_ fault: InvalidField) -> [UInt8] {
        Self.line(["type": "error", "field": .string(fault.field), "rule": .string(fault.rule)])
    }

    private static func line(_ value: JSONValue) -> [UInt8] {
        var bytes: [UInt8] = []
        value.serialize(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

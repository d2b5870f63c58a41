import APNsModel
package import TidingsModel

/// What a phone says to the courier: one JSON object a line.
package enum CourierRequest: Hashable, Sendable {
    /// Who is calling; must come first.
    case hello(PhoneID)
    /// An app wants its token, or that of one of its Live Activities; the answer carries the same id.
    case register(id: Int64, topic: String, PushEnvironment, activity: String? = nil)
    /// An app was removed, or one of its Live Activities is over.
    case unregister(topic: String, PushEnvironment, activity: String? = nil)
    /// A push has been received.
    case acknowledge(delivery: Int64)
    /// How the phone is about power.
    case power(PhonePower)
    /// What has become of an app.
    case app(topic: String, PushEnvironment, AppCondition)
    /// The phone listens to a broadcast channel, or stops to.
    case subscription(ChannelName, isOn: Bool)

    /// The longest line in bytes.
    package static let lineBytesMax = 4_096
    /// The longest name of a Live Activity in bytes, a choice of this courier's.
    package static let activityBytesMax = 256

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
                id: try Self.number(value, "id"), topic: try Self.topic(value), try Self.environment(value),
                activity: try Self.activity(value))
        case "unregister":
            self = .unregister(
                topic: try Self.topic(value), try Self.environment(value), activity: try Self.activity(value))
        case "ack":
            self = .acknowledge(delivery: try Self.number(value, "delivery"))
        case "power":
            self = .power(try Self.word(value, "state", PhonePower.self))
        case "app":
            self = .app(
                topic: try Self.topic(value), try Self.environment(value),
                AppCondition(
                    life: try Self.word(value, "state", AppCondition.Life.self),
                    notificationsEnabled: try Self.flag(value, "notifications"),
                    backgroundRefreshEnabled: try Self.flag(value, "background_refresh")))
        case "subscribe", "unsubscribe":
            let id = APNsChannelID(value["channel"]?.stringValue ?? "")
            guard APNsFormat.isChannelID(id.rawValue.utf8) else {
                throw InvalidField(field: "channel", rule: "must be a channel id")
            }
            let name = ChannelName(
                bundleID: try Self.topic(value), environment: try Self.environment(value), id: id)
            self = .subscription(name, isOn: value["type"] == "subscribe")
        default:
            throw InvalidField(
                field: "type", rule: "must be hello, register, unregister, ack, power, app, subscribe or unsubscribe")
        }
    }

    private static func word<Word: RawRepresentable & CaseIterable>(
        _ value: JSONValue, _ name: String, _ type: Word.Type
    ) throws(InvalidField) -> Word where Word.RawValue == String {
        guard let word = value[name]?.stringValue.flatMap({ Word(rawValue: $0) }) else {
            throw InvalidField(
                field: name, rule: "must be one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// Absent is true.
    private static func flag(_ value: JSONValue, _ name: String) throws(InvalidField) -> Bool {
        guard let value = value[name] else { return true }
        guard let flag = value.boolValue else { throw InvalidField(field: name, rule: "must be true or false") }
        return flag
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

    /// Absent and null are none.
    private static func activity(_ value: JSONValue) throws(InvalidField) -> String? {
        guard let activity = value["activity"], activity != .null else { return nil }
        guard let name = activity.stringValue, 1...Self.activityBytesMax ~= name.utf8.count else {
            throw InvalidField(field: "activity", rule: "must be text of 1 to \(Self.activityBytesMax) bytes")
        }
        let suffix = APNsPushType.liveactivity.topicSuffix
        guard try Self.topic(value).hasSuffix(suffix) else {
            throw InvalidField(field: "activity", rule: "must come with a topic that ends in \(suffix)")
        }
        return name
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

    /// The token of an app, or of one of its Live Activities.
    package static func registered(
        id: Int64, topic: String, _ environment: PushEnvironment, activity: String? = nil, _ token: PushToken
    ) -> [UInt8] {
        var line = JSONObject([
            ("type", "registered"), ("id", .int(id)), ("topic", .string(topic)),
            ("environment", .string(environment.rawValue)), ("token", .string(token.rawValue)),
        ])
        if let activity { line["activity"] = .string(activity) }
        return Self.line(.object(line))
    }

    /// A push, with its payload as it was sent but for white space.
    package static func push(delivery: Int64, _ push: AcceptedPush) -> [UInt8] {
        // The payload has been parsed before it was accepted.
        let payload = (try? JSONValue(parsing: push.payload)) ?? .null
        var line = JSONObject([
            ("type", "push"), ("delivery", .int(delivery)), ("topic", .string(push.target.topic)),
            ("token", .string(push.token.rawValue)), ("apns_id", .string(push.apnsID)),
            ("unique_id", .string(push.uniqueID)), ("collapse_id", push.collapseID.map { .string($0) } ?? .null),
            ("push_type", .string(push.pushType.rawValue)), ("priority", .int(push.priority.rawValue)),
            ("expiration", push.expiration.map { .int($0) } ?? .null), ("payload", payload),
        ])
        if let activity = push.target.activity { line["activity"] = .string(activity) }
        if let channel = push.channel { line["channel_id"] = .string(channel.id.rawValue) }
        return Self.line(.object(line))
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

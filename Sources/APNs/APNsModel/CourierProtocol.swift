package import TidingsModel

// Between the courier of a local APNs and a phone: one JSON object a line in both directions (docs/apns-simulator.md).

/// What a phone says to the courier.
package enum CourierRequest: Hashable, Sendable, JSONTagged, JSONChecked {
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
    /// The phone listens to a broadcast channel of an app.
    case subscribe(topic: String, PushEnvironment, channel: APNsChannelID)
    /// It no longer does.
    case unsubscribe(topic: String, PushEnvironment, channel: APNsChannelID)

    /// The longest line in bytes.
    package static let lineBytesMax = 4_096
    /// The longest name of a Live Activity in bytes, a choice of this courier's.
    package static let activityBytesMax = 256

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "type", meaning: "a message of a phone",
        names: [
            "hello": ["_0": "phone"], "register": ["_2": "environment"], "unregister": ["_1": "environment"],
            "acknowledge": ["": "ack"], "power": ["_0": "state"], "app": ["_1": "environment", "_2": ""],
            "subscribe": ["_1": "environment"], "unsubscribe": ["_1": "environment"],
        ])
    /// What has no value is left out of the JSON.
    package static let leftOutMembers = ["activity"]

    /// Checks the forms.
    ///
    /// - Throws: `InvalidField` naming `phone`, `topic`, `activity` or `channel`.
    package func check() throws(InvalidField) {
        switch self {
        case .hello(let phone): _ = try PhoneID.validated(phone.rawValue, field: "phone")
        case .register(_, let topic, _, let activity), .unregister(let topic, _, let activity):
            try Self.check(topic)
            if let activity { try Self.check(activity, of: topic) }
        case .app(let topic, _, _): try Self.check(topic)
        case .subscribe(let topic, _, let channel), .unsubscribe(let topic, _, let channel):
            try Self.check(topic)
            guard APNsFormat.isChannelID(channel.rawValue.utf8) else {
                throw InvalidField(field: "channel", rule: "must be a channel id")
            }
        case .acknowledge, .power: break
        }
    }

    private static func check(_ topic: String) throws(InvalidField) {
        guard APNsFormat.isTopic(topic.utf8) else {
            throw InvalidField(field: "topic", rule: "must be a bundle identifier")
        }
    }

    private static func check(_ activity: String, of topic: String) throws(InvalidField) {
        guard 1...Self.activityBytesMax ~= activity.utf8.count else {
            throw InvalidField(field: "activity", rule: "must be text of 1 to \(Self.activityBytesMax) bytes")
        }
        let suffix = APNsPushType.liveactivity.topicSuffix
        guard topic.hasSuffix(suffix) else {
            throw InvalidField(field: "activity", rule: "must come with a topic that ends in \(suffix)")
        }
    }
}

/// What the courier says to a phone.
package enum CourierReply: Hashable, Sendable, JSONTagged {
    /// The greeting.
    case welcome
    /// The token of an app, or of one of its Live Activities.
    case registered(id: Int64, topic: String, PushEnvironment?, token: PushToken, activity: String? = nil)
    /// A push.
    indirect case push(CourierPush)
    /// What was wrong with a line of the phone's.
    case error(field: String, rule: String)

    /// How the cases are written as JSON.
    package static let tag = JSONTag(
        "type", meaning: "a message of a courier", names: ["registered": ["_2": "environment"], "push": ["_0": ""]])
    /// What has no value is left out of the JSON.
    package static let leftOutMembers = ["activity"]
}

/// A push as the courier brings it. What is nil was not said.
package struct CourierPush: Hashable, Sendable, JSONCodable {
    /// The courier's number of this delivery, acknowledged once the phone has it.
    package var delivery: Int64
    /// The full topic.
    package var topic: String
    /// The device token it was sent to; empty for a broadcast.
    package var token: PushToken?
    /// The `apns-id`; of a broadcast the `apns-request-id`.
    package var apnsID: String?
    /// The courier's own name for it.
    package var uniqueID: String?
    /// `apns-collapse-id`.
    package var collapseID: String?
    /// `apns-push-type`.
    package var pushType: String?
    /// `apns-priority`: 1, 5 or 10.
    package var priority: Int?
    /// `apns-expiration` in seconds since 1970.
    package var expiration: Int64?
    /// The payload as it was sent but for white space.
    package var payload: JSONObject
    /// The Live Activity whose token it was sent to.
    package var activity: String?
    /// The channel of a broadcast.
    package var channelID: APNsChannelID?

    /// What has no value is left out of the JSON.
    package static let leftOutMembers = ["activity", "channel_id"]

    /// A push from its parts.
    package init(
        delivery: Int64, topic: String, token: PushToken?, apnsID: String?, uniqueID: String?, collapseID: String?,
        pushType: String?, priority: Int?, expiration: Int64?, payload: JSONObject, activity: String?,
        channelID: APNsChannelID?
    ) {
        self.delivery = delivery
        self.topic = topic
        self.token = token
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.collapseID = collapseID
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.payload = payload
        self.activity = activity
        self.channelID = channelID
    }
}

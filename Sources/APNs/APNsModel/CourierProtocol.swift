package import TidingsModel

// Between the courier of a local APNs and a phone: one JSON object a line in both directions (docs/testing/apns-simulator.md).

package enum CourierRequest: Hashable, Sendable, JSONTagged, JSONChecked {
    /// Who is calling; must come first.
    case hello(PhoneID)
    /// An app wants its token, or that of one of its Live Activities; the answer carries the same id.
    case register(id: Int64, topic: String, PushEnvironment, activity: String? = nil)
    case unregister(topic: String, PushEnvironment, activity: String? = nil)
    case acknowledge(delivery: Int64)
    case power(PhonePower)
    case app(topic: String, PushEnvironment, AppCondition)
    case subscribe(topic: String, PushEnvironment, channel: APNsChannelID)
    case unsubscribe(topic: String, PushEnvironment, channel: APNsChannelID)

    package static let lineBytesMax = 4_096
    package static let activityBytesMax = 256

    package static let tag = JSONTag(
        "type", meaning: "a message of a phone",
        names: [
            "hello": ["_0": "phone"], "register": ["_2": "environment"], "unregister": ["_1": "environment"],
            "acknowledge": ["": "ack"], "power": ["_0": "state"], "app": ["_1": "environment", "_2": ""],
            "subscribe": ["_1": "environment"], "unsubscribe": ["_1": "environment"],
        ])
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
            try InvalidField.check(APNsFormat.isChannelID(channel.rawValue.utf8), "channel", "must be a channel id")
        case .acknowledge, .power: break
        }
    }

    private static func check(_ topic: String) throws(InvalidField) {
        try InvalidField.check(APNsFormat.isTopic(topic.utf8), "topic", "must be a bundle identifier")
    }

    private static func check(_ activity: String, of topic: String) throws(InvalidField) {
        try InvalidField.check(
            1...Self.activityBytesMax ~= activity.utf8.count, "activity",
            "must be text of 1 to \(Self.activityBytesMax) bytes")
        let suffix = APNsPushType.liveactivity.topicSuffix
        try InvalidField.check(topic.hasSuffix(suffix), "activity", "must come with a topic that ends in \(suffix)")
    }
}

package enum CourierReply: Hashable, Sendable, JSONTagged {
    case welcome
    case registered(id: Int64, topic: String, PushEnvironment?, token: PushToken, activity: String? = nil)
    indirect case push(CourierPush)
    case error(field: String, rule: String)

    package static let tag = JSONTag(
        "type", meaning: "a message of a courier", names: ["registered": ["_2": "environment"], "push": ["_0": ""]])
    package static let leftOutMembers = ["activity"]
}

/// A push as the courier brings it. What is nil was not said.
package struct CourierPush: Hashable, Sendable, JSONCodable {
    package var delivery: Int64
    package var topic: String
    /// The device token it was sent to; empty for a broadcast.
    package var token: PushToken?
    /// The `apns-id`; of a broadcast the `apns-request-id`.
    package var apnsID: String?
    package var uniqueID: String?
    package var collapseID: String?
    package var pushType: String?
    /// 1, 5 or 10.
    package var priority: Int?
    /// Seconds since 1970.
    package var expiration: Int64?
    package var payload: JSONObject
    package var activity: String?
    package var channelID: APNsChannelID?

    package static let leftOutMembers = ["activity", "channel_id"]

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

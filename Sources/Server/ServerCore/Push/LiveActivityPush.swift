package import APNsModel
package import TidingsModel

/// A push to Live Activities that the app's backend asks for: to the token of one, or to a channel to which many listen. It passes by log,
/// verdict and badge, and nothing of it is stored (docs/inside/decisions/0047-live-activities.md).
package struct LiveActivityPush: Hashable, Sendable {
    package enum Target: Hashable, Sendable {
        /// The token of one activity, or the one by which activities are started on a device.
        case token(PushToken)
        case channel(APNsChannelID)
    }

    /// A UUID in lowercase: APNs gets it as `apns-id`, or as `apns-request-id` of a broadcast.
    package var id: String
    package var environment: PushEnvironment
    /// The bundle identifier.
    package var topic: String
    package var target: Target
    package var payload: APNsPayload
    package var priority: APNsPriority
    /// UNIX seconds; 0 is one attempt, nil leaves it to APNs.
    package var expiration: Int64?

    package init(
        id: String, environment: PushEnvironment, topic: String, target: Target, payload: APNsPayload,
        priority: APNsPriority = .immediate, expiration: Int64? = nil
    ) {
        self.id = id
        self.environment = environment
        self.topic = topic
        self.target = target
        self.payload = payload
        self.priority = priority
        self.expiration = expiration
    }

    /// Members are named as the HTTP API names them.
    package func validate() throws(InvalidField) {
        try Self.checkID(self.id)
        try Self.checkTopic(self.topic)
        switch self.target {
        case .token(let token):
            try InvalidField.check(
                APNsFormat.isDeviceToken(token.rawValue.utf8), "token",
                "must be 2 to 200 hexadecimal digits, an even number of them")
            try InvalidField.check(APNsPushType.liveactivity.allows(self.priority), "priority", "must be 10 or 5")
        case .channel(let channel):
            try InvalidField.check(
                APNsFormat.isChannelID(channel.rawValue.utf8), "channel",
                "must be a channel id: base64 with padding, 4 to 256 characters")
        }
        if let expiration = self.expiration {
            try InvalidField.check(expiration >= 0, "expires_at", "must be 0 or milliseconds since 1970")
        }
        _ = try self.bytes()
    }

    static func checkID(_ id: String) throws(InvalidField) {
        try InvalidField.check(
            APNsFormat.isCanonicalUUID(id.utf8), "id", "must be a UUID of 32 hexadecimal digits, 8-4-4-4-12")
    }

    static func checkTopic(_ topic: String) throws(InvalidField) {
        try InvalidField.check(
            APNsFormat.isBundleID(topic), "topic",
            "must be a bundle identifier: 1 to 255 letters, digits, hyphens, underscores and dots, without a push type's suffix"
        )
    }

    /// Whole: nothing of what the backend says is cut off.
    func bytes() throws(InvalidField) -> [UInt8] {
        let bytes: [UInt8]
        let bytesMax: Int
        do throws(InvalidField) {
            switch self.target {
            case .token:
                try self.payload.validate(for: .liveactivity)
                bytesMax = APNsPushType.liveactivity.payloadBytesMax
            case .channel:
                try self.payload.validateForBroadcast()
                bytesMax = APNsBroadcast.payloadBytesMax
            }
            bytes = try self.payload.serialized(bytesMax: .max)
        } catch {
            throw InvalidField(field: Self.names[error.field] ?? error.field, rule: error.rule)
        }
        try InvalidField.check(
            bytes.count <= bytesMax, "payload",
            "must be at most \(bytesMax) bytes as APNs gets it, got \(bytes.count)")
        return bytes
    }

    func request(to token: PushToken, _ bytes: [UInt8]) -> APNsRequest {
        APNsRequest(
            token: token, topic: self.lane.topic, pushType: .liveactivity, priority: self.priority,
            expiration: self.expiration, apnsID: self.id, payload: bytes, environment: self.environment)
    }

    func broadcast(to channel: APNsChannelID, _ bytes: [UInt8]) -> APNsBroadcast {
        APNsBroadcast(
            bundleID: self.topic, channelID: channel, expiration: self.expiration ?? 0, priority: self.priority,
            requestID: self.id, payload: bytes, environment: self.environment)
    }

    /// The HTTP API's names for members of a payload.
    private static let names = [
        "content-state": "content_state", "attributes-type": "attributes_type", "stale-date": "stale_at",
        "dismissal-date": "dismissal_at", "input-push-channel": "input_push_channel",
        "input-push-token": "input_push_token", "relevance-score": "relevance_score", "sound": "alert.sound",
    ]

    var lane: (environment: PushEnvironment, topic: String) {
        (self.environment, APNsPushType.liveactivity.topic(forBundle: self.topic))
    }

    package var isBroadcast: Bool {
        if case .channel = self.target { true } else { false }
    }
}

/// The state of a push that passes by the log.
package enum PassedPushState: Hashable, Sendable {
    /// APNs has not answered yet.
    case pushing
    case accepted(apnsID: String, uniqueID: String?)
    case refused(APNsRefusal)
    /// Why, in a word or a sentence.
    case notSent(reason: String)
    /// The answer never came: it may have been accepted.
    case unanswered

    package static let noCredential = "no_credential"

    init(_ answer: PushAnswer) {
        switch answer {
        case .noCredential: self = .notSent(reason: Self.noCredential)
        case .answered(.accepted(let apnsID, let uniqueID)): self = .accepted(apnsID: apnsID, uniqueID: uniqueID)
        case .answered(.refused(let refusal)): self = .refused(refusal)
        case .answered(.unknownOutcome): self = .unanswered
        case .answered(.notSent(let reason)), .answered(.stopped(let reason)): self = .notSent(reason: reason)
        }
    }
}

/// A push to Live Activities, and what APNs said of it.
package struct ActivityPushTrace: Hashable, Sendable {
    package var push: LiveActivityPush
    /// Wall milliseconds.
    package var sentAt: Int64
    package var state: PassedPushState
}

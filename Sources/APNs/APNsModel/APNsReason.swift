/// Why APNs refused a request, in Apple's words (APNs reference, section 9). Reasons Apple has not documented stay text.
public enum APNsReason: Hashable, Sendable {
    /// The collapse id is longer than 64 bytes.
    case badCollapseID
    /// Not a device token, or a token of the other environment.
    case badDeviceToken
    /// The expiration is not a whole number; on a channel without storage: not zero.
    case badExpirationDate
    /// The `apns-id` is not a canonical UUID.
    case badMessageID
    /// Not 1, 5 or 10; or 10 with `background`.
    case badPriority
    /// The topic is malformed, or wrong for the push type.
    case badTopic
    /// A token of another app or of another kind of push.
    case deviceTokenNotForTopic
    /// A header stands twice.
    case duplicateHeaders
    /// The connection was idle too long; may come in a GOAWAY.
    case idleTimeout
    /// An unknown push type.
    case invalidPushType
    /// The path has no token.
    case missingDeviceToken
    /// The topic header is needed.
    case missingTopic
    /// No body.
    case payloadEmpty
    /// This key or certificate may not push to the topic.
    case topicDisallowed
    /// The certificate is invalid.
    case badCertificate
    /// A certificate of the other environment.
    case badCertificateEnvironment
    /// The provider token's `iat` is more than an hour away.
    case expiredProviderToken
    /// The action is not allowed.
    case forbidden
    /// Signature, key id, team or form of the provider token is wrong.
    case invalidProviderToken
    /// Neither certificate nor provider token.
    case missingProviderToken
    /// The key differs from the connection's first one.
    case unrelatedKeyIDInToken
    /// A key of the other environment; the service also writes `BadEnvironmentKeyInToken`.
    case badEnvironmentKeyIDInToken
    /// A wrong path.
    case badPath
    /// Not POST.
    case methodNotAllowed
    /// The device token has expired.
    case expiredToken
    /// The token is no longer active for the topic.
    case unregistered
    /// The body is over 4,096 bytes, or 5,120 for `voip` and broadcasts.
    case payloadTooLarge
    /// A new provider token more often than every 20 minutes on one connection.
    case tooManyProviderTokenUpdates
    /// Too many pushes in a row to the same device token; only that token has to wait.
    case tooManyRequests
    /// A fault at Apple's.
    case internalServerError
    /// Overload or outage; broadcast errors print it with a space.
    case serviceUnavailable
    /// This server is going away.
    case shutdown
    /// Broadcast: the capability is off for the app.
    case featureNotEnabled
    /// Broadcast: the channel header is missing.
    case missingChannelID
    /// Broadcast: the channel id is not proper base64, or too long.
    case badChannelID
    /// Broadcast: no such channel; forget it.
    case channelNotRegistered
    /// Broadcast: an unknown member in the body.
    case badRequestParams
    /// Broadcast: the body does not parse.
    case badRequestPayload
    /// Broadcast: the push type is missing.
    case missingPushType
    /// Broadcast: the app has as many channels as it may; delete unused ones.
    case cannotCreateChannelConfig
    /// Broadcast: the storage policy is missing (not documented by Apple).
    case missingChannelQueueSize
    /// Broadcast: key or certificate does not cover the bundle identifier of the path.
    case topicMismatch
    /// A word this list does not have, or what came instead of a reason; handled by the status alone.
    case unknown(String)

    /// Every reason with a documented meaning, in the order of APNs reference, section 9.
    public static let documented: [APNsReason] = [
        .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
        .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken,
        .missingTopic, .payloadEmpty, .topicDisallowed, .badCertificate, .badCertificateEnvironment,
        .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken,
        .badEnvironmentKeyIDInToken, .badPath, .methodNotAllowed, .expiredToken, .unregistered, .payloadTooLarge,
        .tooManyProviderTokenUpdates, .tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown,
        .featureNotEnabled, .missingChannelID, .badChannelID, .channelNotRegistered, .badRequestParams,
        .badRequestPayload, .missingPushType, .cannotCreateChannelConfig, .missingChannelQueueSize, .topicMismatch,
    ]
}

extension APNsReason {
    /// Apple's spelling, the status APNs sends with it, and what a sender does about it (APNs reference, section 9).
    private var row: (name: String, status: Int?, reaction: APNsReaction?) {
        switch self {
        case .badCollapseID: ("BadCollapseId", 400, .bug)
        case .badDeviceToken: ("BadDeviceToken", 400, .quarantine)
        case .badExpirationDate: ("BadExpirationDate", 400, .bug)
        case .badMessageID: ("BadMessageId", 400, .bug)
        case .badPriority: ("BadPriority", 400, .bug)
        case .badTopic: ("BadTopic", 400, .config)
        case .deviceTokenNotForTopic: ("DeviceTokenNotForTopic", 400, .quarantine)
        case .duplicateHeaders: ("DuplicateHeaders", 400, .bug)
        case .idleTimeout: ("IdleTimeout", 400, .connection)
        case .invalidPushType: ("InvalidPushType", 400, .bug)
        case .missingDeviceToken: ("MissingDeviceToken", 400, .bug)
        case .missingTopic: ("MissingTopic", 400, .config)
        case .payloadEmpty: ("PayloadEmpty", 400, .bug)
        case .topicDisallowed: ("TopicDisallowed", 400, .config)
        case .badCertificate: ("BadCertificate", 403, .config)
        case .badCertificateEnvironment: ("BadCertificateEnvironment", 403, .config)
        case .expiredProviderToken: ("ExpiredProviderToken", 403, .auth)
        case .forbidden: ("Forbidden", 403, .config)
        case .invalidProviderToken: ("InvalidProviderToken", 403, .config)
        case .missingProviderToken: ("MissingProviderToken", 403, .config)
        case .unrelatedKeyIDInToken: ("UnrelatedKeyIdInToken", 403, .connection)
        case .badEnvironmentKeyIDInToken: ("BadEnvironmentKeyIdInToken", 403, .config)
        case .badPath: ("BadPath", 404, .bug)
        case .methodNotAllowed: ("MethodNotAllowed", 405, .bug)
        case .expiredToken: ("ExpiredToken", 410, .drop)
        case .unregistered: ("Unregistered", 410, .drop)
        case .payloadTooLarge: ("PayloadTooLarge", 413, .bug)
        case .tooManyProviderTokenUpdates: ("TooManyProviderTokenUpdates", 429, .backoff)
        case .tooManyRequests: ("TooManyRequests", 429, .backoff)
        case .internalServerError: ("InternalServerError", 500, .backoff)
        case .serviceUnavailable: ("ServiceUnavailable", 503, .backoff)
        case .shutdown: ("Shutdown", 503, .connection)
        case .featureNotEnabled: ("FeatureNotEnabled", 400, .config)
        case .missingChannelID: ("MissingChannelId", 400, .bug)
        case .badChannelID: ("BadChannelId", 400, .bug)
        case .channelNotRegistered: ("ChannelNotRegistered", 400, .drop)
        case .badRequestParams: ("BadRequestParams", 400, .bug)
        case .badRequestPayload: ("BadRequestPayload", 400, .bug)
        case .missingPushType: ("MissingPushType", 400, .bug)
        case .cannotCreateChannelConfig: ("CannotCreateChannelConfig", 400, .config)
        case .missingChannelQueueSize: ("MissingChannelQueueSize", 400, .bug)
        case .topicMismatch: ("TopicMismatch", 403, .config)
        case .unknown(let word): (word, nil, nil)
        }
    }

    /// The word with Apple's spelling.
    public var name: String { self.row.name }

    /// The status APNs sends with it; nil for an unknown reason.
    public var status: Int? { self.row.status }

    /// Returns the sender's reaction to it (APNs reference, section 9).
    ///
    /// - Parameter status: the status it came with; decides for unknown reasons only.
    public func reaction(status: Int) -> APNsReaction { self.row.reaction ?? APNsReaction(status: status) }

    /// Reads Apple's word; both spellings the service is known to use are understood (APNs reference, sections 4 and 9).
    public init(name: some StringProtocol) {
        let word = String(name)
        self = Self.byName[word] ?? .unknown(word)
    }

    private static let byName: [String: APNsReason] = {
        var table: [String: APNsReason] = [:]
        for reason in Self.documented { table[reason.name] = reason }
        table["BadEnvironmentKeyInToken"] = .badEnvironmentKeyIDInToken
        table["Service Unavailable"] = .serviceUnavailable
        return table
    }()

    /// Advice for an operator when this stops the sending; nil where the reason says it, or nothing helps.
    public var advice: String? {
        switch self {
        // A fresh token has been refused as well by then (APNs reference, section 9).
        case .expiredProviderToken: "check the clock of this machine"
        case .invalidProviderToken:
            "check that key, key id and team id belong together, and that the key is not revoked"
        case .badEnvironmentKeyIDInToken: "the key is for the other environment"
        case .badCertificateEnvironment: "wrong certificate environment: sandbox and production need each their own"
        case .badCertificate: "the certificate has expired or was revoked; make a new one"
        case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch:
            "check the topic, and that key or certificate are for it"
        default: nil  // tidy: the others say it themselves, or nothing helps
        }
    }
}

/// A sender's reaction to a refusal (APNs reference, section 9, reaction codes).
public enum APNsReaction: String, Hashable, Sendable, CaseIterable {
    /// Stop using this device token for this topic, if it was not registered again since (`APNsRefusal.drops`); for
    /// `ChannelNotRegistered`, forget the channel (APNs reference, sections 9 and 11).
    case drop
    /// Stop using this device token for this topic until the app registers it again.
    case quarantine
    /// Stop sending with this key, certificate or topic and tell the operator; no retry.
    case config
    /// The request is wrong: fail it and never send it unchanged.
    case bug
    /// Replace the provider token, then retry once.
    case auth
    /// Retry on a new connection.
    case connection
    /// Retry later, with exponential back-off and jitter.
    case backoff

    /// The reaction to a reason nobody has documented, by its status: 403 is a matter of configuration, 410 of the device
    /// token (which goes only if the answer says since when), 429 and 500 and more mean to retry later, anything else a fault of
    /// the request.
    public init(status: Int) {
        switch status {
        case 403: self = .config
        case 410: self = .drop
        case 429: self = .backoff
        case 500...: self = .backoff
        default: self = .bug
        }
    }
}

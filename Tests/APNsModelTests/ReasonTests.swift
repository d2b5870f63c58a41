import Testing

@testable import APNsModel

/// The tables of the APNs reference, section 9, row by row: status, word, reaction.
private let table: [(status: Int, word: String, reaction: APNsReaction)] = [
    (400, "BadCollapseId", .bug), (400, "BadDeviceToken", .quarantine), (400, "BadExpirationDate", .bug),
    (400, "BadMessageId", .bug), (400, "BadPriority", .bug), (400, "BadTopic", .config),
    (400, "DeviceTokenNotForTopic", .quarantine), (400, "DuplicateHeaders", .bug), (400, "IdleTimeout", .connection),
    (400, "InvalidPushType", .bug), (400, "MissingDeviceToken", .bug), (400, "MissingTopic", .config),
    (400, "PayloadEmpty", .bug), (400, "TopicDisallowed", .config), (403, "BadCertificate", .config),
    (403, "BadCertificateEnvironment", .config), (403, "ExpiredProviderToken", .auth), (403, "Forbidden", .config),
    (403, "InvalidProviderToken", .config), (403, "MissingProviderToken", .config),
    (403, "UnrelatedKeyIdInToken", .connection), (403, "BadEnvironmentKeyIdInToken", .config), (404, "BadPath", .bug),
    (405, "MethodNotAllowed", .bug), (410, "ExpiredToken", .drop), (410, "Unregistered", .drop),
    (413, "PayloadTooLarge", .bug), (429, "TooManyProviderTokenUpdates", .backoff), (429, "TooManyRequests", .backoff),
    (500, "InternalServerError", .backoff), (503, "ServiceUnavailable", .backoff), (503, "Shutdown", .connection),
    (400, "FeatureNotEnabled", .config), (400, "MissingChannelId", .bug), (400, "BadChannelId", .bug),
    (400, "ChannelNotRegistered", .drop), (400, "BadRequestParams", .bug), (400, "BadRequestPayload", .bug),
    (400, "MissingPushType", .bug), (400, "CannotCreateChannelConfig", .config), (400, "MissingChannelQueueSize", .bug),
    (403, "TopicMismatch", .config),
]

@Suite struct `A reason of Apple's` {
    @Test(arguments: table) func `has the status and the reaction of the fact sheet`(
        row: (status: Int, word: String, reaction: APNsReaction)
    ) {
        let reason = APNsReason(name: row.word)
        #expect(reason.name == row.word)
        #expect(reason.status == row.status)
        #expect(reason.reaction(status: row.status) == row.reaction)
        #expect(APNsReason.documented.contains(reason))
    }

    @Test func `stands once in the list, and none is missing`() {
        #expect(APNsReason.documented.map(\.name) == table.map(\.word))
    }

    @Test func `is understood in the spellings the service also uses`() {
        #expect(APNsReason(name: "BadEnvironmentKeyInToken") == .badEnvironmentKeyIDInToken)
        #expect(APNsReason(name: "Service Unavailable") == .serviceUnavailable)
    }

    /// What Apple's page on broadcast errors lists beside the reasons of broadcasts alone.
    @Test(arguments: [
        "BadCertificate", "BadCertificateEnvironment", "MissingProviderToken", "ExpiredProviderToken",
        "InvalidProviderToken", "TopicDisallowed", "BadPriority", "BadExpirationDate", "BadMessageId",
        "InvalidPushType", "PayloadEmpty", "PayloadTooLarge", "BadPath", "MethodNotAllowed", "TooManyRequests",
        "TooManyProviderTokenUpdates", "InternalServerError", "Service Unavailable", "Shutdown",
    ])
    func `is known when a broadcast is refused with it`(word: String) {
        #expect(APNsReason.documented.contains(APNsReason(name: word)))
    }

    @Test(arguments: [
        (302, APNsReaction.bug), (400, .bug), (403, .config), (404, .bug), (410, .drop), (413, .bug), (429, .backoff),
        (499, .bug), (500, .backoff), (502, .backoff), (599, .backoff),
    ])
    func `that nobody knows is handled by its status`(status: Int, reaction: APNsReaction) {
        let reason = APNsReason(name: "SomethingNew")
        #expect(reason == .unknown("SomethingNew"))
        #expect(reason.status == nil)
        #expect(reason.reaction(status: status) == reaction)
    }
}

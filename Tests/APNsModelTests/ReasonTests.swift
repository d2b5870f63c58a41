import Testing

@testable import APNsModel

/// The table of apns.md §9, row by row: status, word, reaction.
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

    @Test(arguments: [
        (400, APNsReaction.bug), (403, .config), (404, .bug), (410, .drop), (429, .backoff), (500, .backoff),
        (502, .backoff),
    ])
    func `that nobody knows is handled by its status`(status: Int, reaction: APNsReaction) {
        let reason = APNsReason(name: "SomethingNew")
        #expect(reason == .unknown("SomethingNew"))
        #expect(reason.status == nil)
        #expect(reason.reaction(status: status) == reaction)
    }
}

@Suite struct `A response` {
    @Test func `of 200 is accepted under the id we sent, with the sandbox's key to the log`() {
        let response = APNsResponse(
            status: 200, headers: [("apns-id", "a"), ("apns-unique-id", "u"), ("apns-id", "b")], body: [UInt8]())
        #expect(response == APNsResponse(status: 200, apnsID: "a", uniqueID: "u"))
        #expect(response.outcome(sentID: "x") == .accepted(apnsID: "a", uniqueID: "u"))
        #expect(APNsResponse(status: 200).outcome(sentID: "x") == .accepted(apnsID: "x", uniqueID: nil))
    }

    @Test func `of 410 carries the time the token ended`() {
        let body = Array(#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8)
        let response = APNsResponse(status: 410, headers: [("apns-id", "a")], body: body)
        #expect(
            response.outcome(sentID: nil) == .refused(.unregistered, status: 410, timestamp: 1_700_000_000_123))
    }

    @Test func `takes a timestamp from 410 alone`() {
        let body = Array(#"{"reason":"BadDeviceToken","timestamp":5}"#.utf8)
        #expect(APNsResponse(status: 400, headers: [], body: body).timestamp == nil)
    }

    @Test func `without Apple's JSON keeps what came as an unknown reason`() {
        #expect(APNsResponse(status: 502, headers: [], body: Array("<html>".utf8)).reason == .unknown("<html>"))
        #expect(APNsResponse(status: 502, headers: [], body: [UInt8]()).reason == .unknown("HTTP 502"))
        #expect(
            APNsResponse(status: 400, headers: [], body: Array(#"{"reason":5}"#.utf8)).reason
                == .unknown(#"{"reason":5}"#))
    }

    @Test func `honours retry-after in whole seconds, and nothing else`() {
        #expect(APNsResponse(status: 429, headers: [("retry-after", "7")], body: [UInt8]()).retryAfter == 7)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "-7")], body: [UInt8]()).retryAfter == nil)
        #expect(APNsResponse(status: 429, headers: [("retry-after", "soon")], body: [UInt8]()).retryAfter == nil)
    }
}

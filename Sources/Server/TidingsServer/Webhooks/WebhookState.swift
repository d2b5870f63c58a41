import MessageStore
import StoreModel
import TidingsModel

/// How it goes with the deliveries of one webhook.
struct WebhookState: Hashable, Sendable {
    /// The last attempt that failed; it may have been delivered since.
    struct Failure: Hashable, Sendable {
        /// Wall milliseconds.
        var at: Int64
        /// Why, in a word: `status`, `timed_out`, …
        var reason: String
        /// Of the answer; nil without one.
        var status: Int?
    }

    /// Those that are still tried.
    var pending = 0
    var deadLetters = 0
    /// Wall milliseconds; nil if nothing was.
    var lastDeliveredAt: Int64?
    var lastFailure: Failure?
}

/// What is known of the deliveries.
protocol WebhookStates: Sendable {
    /// Whether a webhook may go to `http:`: the operator has allowed a network.
    var allowsPlainHTTP: Bool { get }
    /// In the order of `webhooks`, of one moment; all zero for a webhook that nothing is known of. Nil while the file cannot be read.
    func states(of app: AppID, _ webhooks: [String]) async -> [WebhookState]?
    /// One attempt at once, of which nothing is kept; nil where the webhook is gone, or nothing is delivered.
    func test(_ key: WebhookKey) async -> WebhookTest?
    /// Newest first, those before a number; nil while they cannot be read, as of the two below.
    func deadLetters(of key: WebhookKey, before: Int64?, limit: Int) async -> [WebhookDeadLetter]?
    /// - Parameter ids: nil for all of them.
    /// - Returns: how many are pending again.
    func retry(_ ids: [String]?, of key: WebhookKey) async -> Int?
    /// - Returns: whether there was one.
    func removeDeadLetter(_ id: String, of key: WebhookKey) async -> Bool?
}

/// Where nothing is delivered.
struct NoWebhookStates: WebhookStates {
    let allowsPlainHTTP = false

    func states(of app: AppID, _ webhooks: [String]) async -> [WebhookState]? { webhooks.map { _ in WebhookState() } }
    func test(_ key: WebhookKey) async -> WebhookTest? { nil }
    func deadLetters(of key: WebhookKey, before: Int64?, limit: Int) async -> [WebhookDeadLetter]? { [] }
    func retry(_ ids: [String]?, of key: WebhookKey) async -> Int? { 0 }
    func removeDeadLetter(_ id: String, of key: WebhookKey) async -> Bool? { false }
}

extension WebhookState {
    /// Nothing is said of a state that is not known, least of all a zero.
    static let unknown: JSONValue = [
        "pending": .null, "dead_letters": .null, "last_delivered_at": .null, "last_failure": .null,
    ]

    var json: JSONValue {
        [
            "pending": .int(Int64(self.pending)), "dead_letters": .int(Int64(self.deadLetters)),
            "last_delivered_at": .optional(self.lastDeliveredAt),
            "last_failure": self.lastFailure.map { failure in
                [
                    "at": .int(failure.at), "reason": .string(failure.reason),
                    "status": .optional(failure.status.map { Int64($0) }),
                ]
            } ?? .null,
        ]
    }
}

import MessageStore
import StoreModel
import TidingsModel

/// How it goes with the deliveries of one webhook.
struct WebhookState: Hashable, Sendable, JSONCodable {
    /// The last attempt that failed; it may have been delivered since.
    struct Failure: Hashable, Sendable, Codable {
        /// Wall milliseconds.
        var at: Int64
        /// Why, in a word: `status`, `timed_out`, …
        var reason: String
        /// The status of the answer; nil without one.
        var status: Int?
    }

    /// The number of deliveries that are still tried.
    var pending = 0
    var deadLetters = 0
    /// Wall milliseconds; nil if nothing was.
    var lastDeliveredAt: Int64?
    var lastFailure: Failure?
}

/// Access to the state of the deliveries.
protocol WebhookStates: Sendable {
    /// True if a webhook may go to `http:`: the operator has allowed a network.
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
    static let unknown: JSONValue = JSONMembers([
        "pending": nil, "dead_letters": nil, "last_delivered_at": nil, "last_failure": nil,
    ]).json
}

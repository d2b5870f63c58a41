import Crypto
import Foundation
import MessageStore
import StoreModel
import TidingsModel

/// A delivery as a request (https://www.standardwebhooks.com).
struct WebhookRequest: Hashable, Sendable {
    var id: String
    /// Seconds since 1970, of the attempt.
    var timestamp: Int64
    var body: [UInt8]

    init(id: String, timestamp: Int64, body: [UInt8]) {
        self.id = id
        self.timestamp = timestamp
        self.body = body
    }

    /// - Parameter now: wall milliseconds.
    init(_ delivery: WebhookDelivery, now: Int64) {
        let head: JSONMembers = ["type": delivery.type, "app": delivery.key.app, "timestamp": Self.time(delivery.at)]
        let body = Array("\(head.json.text.dropLast()),\"data\":\(delivery.data)}".utf8)
        self.init(id: delivery.id, timestamp: now / 1_000, body: body)
    }

    /// ISO 8601 with milliseconds: `2026-11-28T09:30:00.123Z`.
    static func time(_ milliseconds: Int64) -> String {
        let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
        let text = Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
        return text.dropLast() + "." + String("\(1_000 + rest)".dropFirst()) + "Z"
    }

    /// - Parameter keys: one or two: the receiver takes the request if one of the signatures is by the secret they have.
    func headers(signedWith keys: [SymmetricKey]) -> [(String, String)] {
        [
            ("content-type", "application/json"), ("user-agent", "Tidings"), ("webhook-id", self.id),
            ("webhook-timestamp", "\(self.timestamp)"),
            ("webhook-signature", keys.map { self.signature($0) }.joined(separator: " ")),
        ]
    }

    private func signature(_ key: SymmetricKey) -> String {
        let signed = Array("\(self.id).\(self.timestamp).".utf8) + self.body
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed), using: key)
        return "v1," + Base64.encode(Array(code), .standard)
    }
}

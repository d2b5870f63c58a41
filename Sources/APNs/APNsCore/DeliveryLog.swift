package import APNsModel
package import TidingsModel

/// One line of the delivery log: what became of one push, and when (apns.md §15, §18).
package struct DeliveryLogEntry: Hashable, Sendable {
    /// The push: the `apns-id` of request and response.
    package var apnsID: String
    /// The service's own name for it.
    package var uniqueID: String
    /// Milliseconds since 1970.
    package var wall: Int64
    /// What happened.
    package var event: Event
    /// The device token, as far as it was read.
    package var token: String?
    /// The topic, as far as it was read.
    package var topic: String?

    /// What can happen to a push.
    package enum Event: Hashable, Sendable {
        /// Answered with 200.
        case accepted
        /// Answered with another status; the detail is more than Apple says.
        case refused(APNsReason, detail: String?)
        /// Accepted, but the answer was withheld by the fault plan.
        case answerLost
        /// Kept for a phone that is not connected.
        case stored
        /// A newer push took its place in the store.
        case overwritten(by: String)
        /// Written to the phone.
        case sent(delivery: Int64)
        /// The phone has acknowledged it.
        case delivered
        /// The phone's connection went before the acknowledgement.
        case returned
        /// Given up.
        case discarded(DiscardCause)
    }

    /// Why a push was given up.
    package enum DiscardCause: String, Hashable, Sendable, CaseIterable {
        /// Its time had passed, or 30 days.
        case expired
        /// Expiration 0: one attempt, never stored.
        case notStorable = "not_storable"
        /// The app was removed, or the token retired.
        case tokenNoLongerActive = "token_no_longer_active"
    }

    /// The entry as JSON: `apns_id`, `unique_id`, `wall_ms`, `event`, and `reason`, `detail`, `by`, `delivery`,
    /// `token`, `topic` where they apply.
    package var json: JSONValue {
        var object = JSONObject([
            ("apns_id", .string(self.apnsID)), ("unique_id", .string(self.uniqueID)), ("wall_ms", .int(self.wall)),
        ])
        switch self.event {
        case .accepted: object["event"] = "accepted"
        case .refused(let reason, let detail):
            object["event"] = "refused"
            object["reason"] = .string(reason.name)
            if let detail { object["detail"] = .string(detail) }
        case .answerLost: object["event"] = "answer_lost"
        case .stored: object["event"] = "stored"
        case .overwritten(let newer):
            object["event"] = "overwritten"
            object["by"] = .string(newer)
        case .sent(let delivery):
            object["event"] = "sent"
            object["delivery"] = .int(delivery)
        case .delivered: object["event"] = "delivered"
        case .returned: object["event"] = "returned"
        case .discarded(let cause):
            object["event"] = "discarded"
            object["reason"] = .string(cause.rawValue)
        }
        if let token = self.token { object["token"] = .string(token) }
        if let topic = self.topic { object["topic"] = .string(topic) }
        return .object(object)
    }
}

package import APNsModel
package import TidingsModel

/// One line of the delivery log: what became of one push, and when (APNs reference,
/// sections 15 and 18).
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
    /// The side of Apple's.
    package var environment: PushEnvironment?
    /// The channel of a broadcast.
    package var channelID: APNsChannelID?

    /// What can happen to a push.
    package enum Event: Hashable, Sendable {
        /// Answered with 200.
        case accepted
        /// Answered with another status; the detail is more than Apple says.
        case refused(APNsReason, detail: String?)
        /// Accepted, but the answer was withheld by the fault plan.
        case answerLost
        /// The fault plan took the request before it was answered; the fault's name.
        case faulted(String)
        /// Kept for a phone that is away, or that saves power.
        case stored
        /// A background push that waits because the app has had its share.
        case held
        /// A newer push took its place in the store.
        case overwritten(by: String)
        /// Written to the phone.
        case sent(delivery: Int64)
        /// The phone has acknowledged it.
        case delivered
        /// The phone's connection went before the acknowledgement.
        case returned
        /// To be brought once more, by fault.
        case duplicated
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
        /// The person does not allow notifications of the app.
        case notificationsDisabled = "notifications_disabled"
        /// A background push for an app that may not refresh in the background.
        case backgroundRefreshDisabled = "background_refresh_disabled"
        /// A background push for an app the person has closed by force.
        case forceQuit = "force_quit"
    }

    /// The entry as JSON: `apns_id`, `unique_id`, `wall_ms`, `event`, and `reason`, `detail`, `by`, `delivery`,
    /// `token`, `topic`, `environment`, `channel_id` where they apply.
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
        case .faulted(let fault):
            object["event"] = "faulted"
            object["reason"] = .string(fault)
        case .stored: object["event"] = "stored"
        case .held: object["event"] = "held"
        case .duplicated: object["event"] = "duplicated"
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
        if let environment = self.environment { object["environment"] = .string(environment.rawValue) }
        if let channelID = self.channelID { object["channel_id"] = .string(channelID.rawValue) }
        return .object(object)
    }
}

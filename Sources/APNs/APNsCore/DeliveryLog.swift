package import APNsModel
package import TidingsModel

/// What became of one push, and when (APNs reference, sections 15 and 18).
package struct DeliveryLogEntry: Hashable, Sendable {
    package var apnsID: String
    package var uniqueID: String
    /// Milliseconds since 1970.
    package var wall: Int64
    package var event: Event
    package var token: String?
    package var topic: String?
    package var environment: PushEnvironment?
    package var channelID: APNsChannelID?

    package enum Event: Hashable, Sendable {
        case accepted
        /// The detail is more than Apple says.
        case refused(APNsReason, detail: String?)
        case answerLost
        /// Before it was answered; the fault's name.
        case faulted(String)
        case stored
        /// A background push that waits because the app has had its share.
        case held
        case overwritten(by: String)
        case sent(delivery: Int64)
        case delivered
        case returned
        case duplicated
        case discarded(DiscardCause)
    }

    package enum DiscardCause: String, Hashable, Sendable, CaseIterable {
        /// Its time had passed, or 30 days.
        case expired
        /// Expiration 0: one attempt, never stored.
        case notStorable = "not_storable"
        case tokenNoLongerActive = "token_no_longer_active"
        case notificationsDisabled = "notifications_disabled"
        case backgroundRefreshDisabled = "background_refresh_disabled"
        case forceQuit = "force_quit"
    }

    /// The entry as JSON: `apns_id`, `unique_id`, `wall_ms`, `event`, and `reason`, `detail`, `by`, `delivery`,
    /// `token`, `topic`, `environment`, `channel_id` where they apply.
    package var json: JSONValue {
        var object = JSONObject([
            ("apns_id", .string(self.apnsID)), ("unique_id", .string(self.uniqueID)), ("wall_ms", .int(self.wall)),
        ])
        func add(event: JSONValue, _ members: (String, JSONValue)...) {
            object["event"] = event
            for (name, value) in members { object[name] = value }
        }
        switch self.event {
        case .accepted: add(event: "accepted")
        case .refused(let reason, let detail):
            add(event: "refused", ("reason", .string(reason.name)))
            if let detail { object["detail"] = .string(detail) }
        case .answerLost: add(event: "answer_lost")
        case .faulted(let fault): add(event: "faulted", ("reason", .string(fault)))
        case .stored: add(event: "stored")
        case .held: add(event: "held")
        case .duplicated: add(event: "duplicated")
        case .overwritten(let newer): add(event: "overwritten", ("by", .string(newer)))
        case .sent(let delivery): add(event: "sent", ("delivery", .int(delivery)))
        case .delivered: add(event: "delivered")
        case .returned: add(event: "returned")
        case .discarded(let cause): add(event: "discarded", ("reason", .string(cause.rawValue)))
        }
        if let token = self.token { object["token"] = .string(token) }
        if let topic = self.topic { object["topic"] = .string(topic) }
        if let environment = self.environment { object["environment"] = .string(environment.rawValue) }
        if let channelID = self.channelID { object["channel_id"] = .string(channelID.rawValue) }
        return .object(object)
    }
}

package import APNsModel
package import TidingsModel

/// An event of one push, and its time (APNs reference, sections 15 and 18).
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
        let (event, told): (String, JSONMembers) =
            switch self.event {
            case .accepted: ("accepted", [:])
            case .refused(let reason, let detail): ("refused", .given(["reason": reason.name, "detail": detail]))
            case .answerLost: ("answer_lost", [:])
            case .faulted(let fault): ("faulted", ["reason": fault])
            case .stored: ("stored", [:])
            case .held: ("held", [:])
            case .duplicated: ("duplicated", [:])
            case .overwritten(let newer): ("overwritten", ["by": newer])
            case .sent(let delivery): ("sent", ["delivery": delivery])
            case .delivered: ("delivered", [:])
            case .returned: ("returned", [:])
            case .discarded(let cause): ("discarded", ["reason": cause.rawValue])
            }
        let head: JSONMembers = [
            "apns_id": self.apnsID, "unique_id": self.uniqueID, "wall_ms": self.wall, "event": event,
        ]
        let target: JSONMembers = [
            "token": self.token, "topic": self.topic, "environment": self.environment, "channel_id": self.channelID,
        ]
        return (head + told + .given(target)).json
    }
}

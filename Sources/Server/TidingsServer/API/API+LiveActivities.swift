import APNsModel
import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let liveActivityRoutes: [Route] = [
        .app(.post, "live-activities", .messages, limited: .messages, API.pushActivity),
        .app(.get, "live-activities/{id}", .trace, API.activityPush),
    ]

    /// Answered before APNs is: what it says, `activityPush` tells.
    private func pushActivity(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let push = try self.livePush(body, id: Once.id(once))
        try push.validate()
        let at = try await self.ask(.pushActivity(app, push), \.passed, once: once)
        context.note.made = push.id
        return .json(["id": push.id, "sent_at": at], status: .accepted)
    }

    private func activityPush(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try CallID.uuid(try Self.parameter("id", context), field: "id").rawValue
        guard let trace = try await self.ask(.activityPush(app, id), \.activityPush) else {
            throw APIProblem(
                .unknownLiveActivity, field: "id", rule: "names no push to a Live Activity of the last ten minutes")
        }
        return .json(trace.json)
    }

    // MARK: - Reading

    /// - Parameters: id: unless it names its own. target: of one that is only looked at, unless it names its own.
    func livePush(_ body: APIBody, id: String, target: LiveActivityPush.Target? = nil) throws -> LiveActivityPush {
        let own = try body.optionalString("id").map { try CallID.uuid($0, field: "id").rawValue }
        let push = LiveActivityPush(
            id: own ?? id, environment: try self.word(try body.string("environment"), "environment"),
            topic: try body.string("topic"), target: try Self.target(body, default: target),
            payload: try self.activity(body), priority: try Self.priority(body),
            // Rounded up: a time that is not over yet is not "one attempt".
            expiration: try body.optionalTime("expires_at", orNone: true).map { ($0 + 999) / 1_000 })
        try body.refuseUnknown()
        return push
    }

    private static func target(
        _ body: APIBody, default fallback: LiveActivityPush.Target?
    ) throws(InvalidField) -> LiveActivityPush.Target {
        switch (try body.optionalString("token"), try body.optionalString("channel")) {
        case (let token?, nil): return .token(PushToken(token))
        case (nil, let channel?): return .channel(APNsChannelID(channel))
        case (nil, nil) where fallback != nil: return fallback ?? .token(PushToken(""))
        case (nil, nil), (.some, .some):
            throw InvalidField(field: "token", rule: "must be present, or channel: one of the two")
        }
    }

    private static func priority(_ body: APIBody) throws(InvalidField) -> APNsPriority {
        guard let number = try body.optionalInteger("priority", in: 1...10) else { return .immediate }
        guard let priority = APNsPriority(rawValue: Int(number)) else {
            throw InvalidField(field: "priority", rule: "must be 10, 5 or, to a channel, 1")
        }
        return priority
    }

    /// Times become UNIX seconds, as phones want them.
    private func activity(_ body: APIBody) throws(InvalidField) -> APNsPayload {
        let members = body.allMembers
        var activity = APNsPayload.LiveActivity(
            event: try self.word(try body.string("event"), "event"),
            timestamp: (try body.optionalTime("timestamp") ?? Clocks.now().wall) / 1_000)
        activity.contentState = try members.optional("content_state")
        activity.attributesType = try body.optionalString("attributes_type")
        activity.attributes = try members.optional("attributes")
        activity.staleDate = try body.optionalTime("stale_at").map { $0 / 1_000 }
        activity.dismissalDate = try body.optionalTime("dismissal_at", orNone: true).map { $0 / 1_000 }
        activity.inputPushChannel = try body.optionalString("input_push_channel").map { APNsChannelID($0) }
        activity.inputPushToken = try body.bool("input_push_token", default: false)
        var payload = APNsPayload(liveActivity: activity)
        payload.relevanceScore = try members.optional("relevance_score")
        if let alert = try body.optionalObject("alert") {
            var shown = APNsPayload.Alert()
            if let line = try Self.line(alert, "title") {
                (shown.title, shown.titleLocalization) = (line.text, line.localization)
            }
            if let line = try Self.line(alert, "body") {
                (shown.body, shown.bodyLocalization) = (line.text, line.localization)
            }
            payload.alert = shown
            payload.sound = try alert.optionalString("sound").map { .named($0) }
            try alert.refuseUnknown()
        }
        return payload
    }

    private static func line(
        _ alert: APIBody, _ key: String
    ) throws(InvalidField) -> (text: String?, localization: APNsPayload.Localization?)? {
        guard let value: JSONValue = try alert.allMembers.optional(key) else { return nil }
        switch PushLine(value) {
        case .text(let text):
            try InvalidField.checkVisible(text, "alert.\(key)")
            return (text, nil)
        case .localized(let name, let arguments): return (nil, .init(name, arguments))
        case nil: throw alert.allMembers.problem(key, "must be a string, or an object with loc_key")
        }
    }
}

extension ActivityPushTrace {
    fileprivate var json: JSONMembers {
        JSONMembers([
            "id": self.push.id, "environment": self.push.environment, "topic": self.push.topic,
            "target": self.push.isBroadcast ? "channel" : "token", "event": self.push.payload.liveActivity?.event,
            "sent_at": self.sentAt,
        ]) + self.state.members
    }
}

extension PassedPushState {
    var members: JSONMembers {
        let told: JSONMembers =
            switch self {
            case .pushing: ["state": "pushing"]
            case .accepted(let apnsID, let uniqueID):
                .given(["state": "accepted", "apns_id": apnsID, "unique_id": uniqueID])
            case .refused(let refusal):
                .given([
                    "state": "refused", "reason": refusal.reason.name, "status": refusal.status,
                    "invalid_since": refusal.invalidSince?.milliseconds,
                ])
            case .notSent(let reason): ["state": "not_sent", "reason": reason]
            case .unanswered: ["state": "unanswered"]
            }
        return told + ["meaning": self.meaning]
    }
}

extension Once {
    /// For what needs an id of its own: the same for each repeat, another one for each request without a key (RFC 9562 §5.8).
    static func id(_ once: Once?) -> String {
        guard let once else { return UUID().uuidString.lowercased() }
        var hash = FNV1a(seed: 0x7469_6469_6e67_7333)
        for text in [once.key.app.rawValue, once.key.apiKey, once.key.text] {
            hash.feed(text)
            hash.feed(UInt8(0xff))
        }
        let (high, low) = (SplitMix64.mixed(hash.value), SplitMix64.mixed(~hash.value))
        return Hexadecimal.uuid(
            high: high & 0xffff_ffff_ffff_0fff | 0x8000, low: low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }
}

import APNsModel
import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addLiveActivities(to app: RouterGroup<Context>) {
        app.post("live-activities") { try await self.pushActivity($0, $1) }
        app.get("live-activities/{id}") { try await self.activityPush($0, $1) }
    }

    /// Answered before APNs is: what it says, `activityPush` tells.
    private func pushActivity(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let (body, once) = try await self.keyedBody(request, context, app)
        let push = try self.livePush(body, id: Once.id(once))
        try push.validate()
        guard case .passed(let at) = try await self.result(of: .pushActivity(app, push), once: once) else {
            throw APIProblem.bug
        }
        context.note.made = push.id
        return .json(["id": .string(push.id), "sent_at": .int(at)], status: .accepted)
    }

    private func activityPush(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        let id = try CallID.uuid(try Self.parameter("id", context), field: "id").rawValue
        guard case .activityPush(let trace) = try await self.result(of: .activityPush(app, id)) else {
            throw APIProblem.bug
        }
        guard let trace else {
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
    fileprivate var json: JSONValue {
        var json = JSONObject([
            ("id", .string(self.push.id)), ("environment", .string(self.push.environment.rawValue)),
            ("topic", .string(self.push.topic)), ("target", self.push.isBroadcast ? "channel" : "token"),
            ("event", .optional(self.push.payload.liveActivity?.event.rawValue)), ("sent_at", .int(self.sentAt)),
        ])
        for (name, value) in self.state.members { json[name] = value }
        return .object(json)
    }
}

extension PassedPushState {
    var members: [(String, JSONValue)] {
        let told: [(String, JSONValue)] =
            switch self {
            case .pushing: [("state", "pushing")]
            case .accepted(let apnsID, let uniqueID):
                [("state", "accepted"), ("apns_id", .string(apnsID))]
                    + (uniqueID.map { [("unique_id", .string($0))] } ?? [])
            case .refused(let refusal):
                [
                    ("state", "refused"), ("reason", .string(refusal.reason.name)),
                    ("status", .int(Int64(refusal.status))),
                ] + (refusal.invalidSince.map { [("invalid_since", .int($0.milliseconds))] } ?? [])
            case .notSent(let reason): [("state", "not_sent"), ("reason", .string(reason))]
            case .unanswered: [("state", "unanswered")]
            }
        return told + [("meaning", .string(self.meaning))]
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

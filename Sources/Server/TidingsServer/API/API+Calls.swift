import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addCalls(to app: RouterGroup<Context>) {
        app.post("calls") { try await self.ring($0, $1) }
        app.get("calls/{id}") { try await self.call($0, $1) }
    }

    /// Answered before APNs is: what it says of each device, `call` tells.
    private func ring(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let (body, once) = try await self.keyedBody(request, context, app)
        let call = try self.call(body)
        guard case .ringing(let at) = try await self.result(of: .ring(app, call), once: once) else {
            throw APIProblem.bug
        }
        context.note.made = call.id.rawValue
        return .json(
            [
                "id": .string(call.id.rawValue), "sent_at": .int(at),
                "expires_at": .int(at + call.lifetimeMilliseconds),
            ], status: .accepted)
    }

    /// - Parameter id: of one that is only looked at, unless it names its own.
    func call(_ body: APIBody, id: String? = nil) throws -> Call {
        let own = id == nil ? try body.string("id") : try body.optionalString("id")
        let call = Call(
            id: try CallID.uuid(own ?? id ?? "", field: "id"),
            caller: try UserID.validated(try body.string("from"), field: "from"),
            callee: try UserID.validated(try body.string("to"), field: "to"),
            hasVideo: try body.bool("video", default: false),
            lifetimeMilliseconds: try body.integer("lifetime_ms", in: 0...Call.lifetimeMax, default: Call.lifetimeMax),
            data: try body.members("data"))
        try body.refuseUnknown()
        try call.validate()
        return call
    }

    private func call(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        let id = try CallID.uuid(try Self.parameter("id", context), field: "id")
        guard case .call(let trace) = try await self.result(of: .call(app, id)) else { throw APIProblem.bug }
        guard let trace else {
            throw APIProblem(.unknownCall, field: "id", rule: "names no call of this app in the last ten minutes")
        }
        return .json(trace.json)
    }
}

extension CallTrace {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.call.id.rawValue), "from": .string(self.call.caller.rawValue),
            "to": .string(self.call.callee.rawValue), "video": .bool(self.call.hasVideo), "sent_at": .int(self.sentAt),
            "expires_at": .int(self.expiresAt), "devices": .array(self.devices.map(\.json)),
        ]
    }
}

extension CallTrace.Device {
    fileprivate var json: JSONValue {
        var json = JSONObject([("device", .string(self.id.rawValue))])
        switch self.state {
        case .noToken: json["state"] = "no_token"
        case .pushing: json["state"] = "pushing"
        case .accepted(let apnsID):
            json["state"] = "accepted"
            json["apns_id"] = .string(apnsID)
        case .refused(let reason, let status):
            json["state"] = "refused"
            json["reason"] = .string(reason)
            json["status"] = .int(Int64(status))
        case .notSent(let reason):
            json["state"] = "not_sent"
            json["reason"] = .string(reason)
        case .unanswered: json["state"] = "unanswered"
        }
        return .object(json)
    }
}

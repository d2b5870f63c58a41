import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    static let callRoutes: [Route] = [
        .app(.post, "calls", .messages, limited: .messages, API.ring),
        .app(.get, "calls/{id}", .trace, API.call),
    ]

    /// Answered before APNs is: what it says of each device, `call` tells.
    private func ring(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let call = try self.call(body)
        let at = try await self.ask(.ring(app, call), \.ringing, once: once)
        context.note.made = call.id.rawValue
        return .json(["id": call.id, "sent_at": at, "expires_at": at + call.lifetimeMilliseconds], status: .accepted)
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

    private func call(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let id = try CallID.uuid(try Self.parameter("id", context), field: "id")
        guard let trace = try await self.ask(.call(app, id), \.call) else {
            throw APIProblem(.unknownCall, field: "id", rule: "names no call of this app in the last ten minutes")
        }
        return .json(trace.json)
    }
}

extension CallTrace {
    fileprivate var json: JSONMembers {
        [
            "id": self.call.id, "from": self.call.caller, "to": self.call.callee, "video": self.call.hasVideo,
            "sent_at": self.sentAt, "expires_at": self.expiresAt, "devices": self.devices,
        ]
    }
}

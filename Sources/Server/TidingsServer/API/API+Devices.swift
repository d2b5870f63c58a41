import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addDevices(to app: RouterGroup<Context>) {
        let devices = app.group("users/{user}/devices")
        devices.get { try await self.devices($0, $1) }
        devices.delete { try await self.signOutAll($0, $1) }
        devices.delete("{device}") { try await self.signOut($0, $1) }
    }

    private func devices(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let user = UserKey(app: app, user: try self.person(context))
        let paging = try Paging(request)
        guard case .devices(let devices) = try await self.result(of: .devices(user)) else { throw APIProblem.bug }
        let (page, next) = try paging.page(of: devices, by: \.id, text: \.rawValue, read: { DeviceID($0) })
        return .json(["devices": .array(page.map(\.json)), "next": next])
    }

    private func signOutAll(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        return try await self.execute(.signOutAll(UserKey(app: app, user: try self.person(context))))
    }

    private func signOut(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let device = try DeviceID.validated(try Self.parameter("device", context), field: "device")
        let user = UserKey(app: app, user: try self.person(context))
        return try await self.execute(.signOut(DeviceKey(user: user, device: device)))
    }
}

extension PushToken {
    /// Enough to tell it from others, and too little to push to it.
    var shortened: String {
        self.rawValue.count > 16 ? "\(self.rawValue.prefix(4))…\(self.rawValue.suffix(4))" : "…"
    }
}

extension DeviceInfo {
    /// The push token stays secret but for its ends.
    var json: JSONValue {
        var json = JSONObject([
            ("id", .string(self.id.rawValue)), ("platform", .string(self.platform)),
            ("connected_at", .int(self.signedInAt)), ("presence", .string(self.presence.rawValue)),
            ("lease", .string(self.lease.name)), ("last_seen_at", .optional(self.lastSeenAt)),
            ("badge", .optional(self.badge.map { Int64($0) })),
        ])
        if let until = self.leaseUntil { json["lease_until"] = .int(until) }
        let (push, at): (JSONValue, Int64?) =
            switch self.push {
            case .none: ("none", nil)
            case .registered(_, let at, _): ("registered", at)
            case .quarantined(_, let at, _): ("quarantined", at)
            case .dead(let timestamp): ("dead", timestamp)
            }
        json["push"] = push
        if let at { json["push_at"] = .int(at) }
        if let registration = self.push.registration {
            json["push_token"] = .string(registration.token.shortened)
            json["push_topic"] = .string(registration.topic)
            json["push_environment"] = .string(registration.environment.rawValue)
        }
        if case .quarantined(_, _, let reason) = self.push { json["push_reason"] = .string(reason) }
        if let reported = self.reported { json["status"] = reported.json }
        json["voip"] = self.voIP == nil ? "none" : "registered"
        if let token = self.voIP { json["voip_at"] = .int(token.at) }
        return .object(json)
    }
}

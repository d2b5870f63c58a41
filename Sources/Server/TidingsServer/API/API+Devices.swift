import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let deviceRoutes: [Route] = [
        .user(.get, "devices", .settings, query: Paging.query, API.devices),
        .user(.delete, "devices", .settings) { api in { user, _, _ in try await api.execute(.signOutAll(user)) } },
        .user(.delete, "devices/{device}", .settings) { api in
            { user, _, context in try await api.execute(.signOut(try api.device(of: user, context))) }
        },
    ]

    /// The device of the path.
    func device(of user: UserKey, _ context: Context) throws(InvalidField) -> DeviceKey {
        DeviceKey(user: user, device: try DeviceID.validated(try Self.parameter("device", context), field: "device"))
    }

    private func devices(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let devices = try await self.ask(.devices(user), \.devices)
        let (page, next) = try paging.page(of: devices, by: \.id, text: \.rawValue, read: { DeviceID($0) })
        return .json(["devices": page.map(\.json), "next": next])
    }
}

extension PushToken {
    /// Enough to tell it from others, and too little to push to it.
    var shortened: String { self.rawValue.count > 16 ? "\(self.rawValue.prefix(4))…\(self.rawValue.suffix(4))" : "…" }
}

extension DeviceInfo {
    /// The push token stays secret but for its ends.
    var json: JSONMembers {
        let (push, at, reason): (String, Int64?, String?) =
            switch self.push {
            case .none: ("none", nil, nil)
            case .registered(_, let at, _): ("registered", at, nil)
            case .quarantined(_, let at, let reason): ("quarantined", at, reason)
            case .dead(let timestamp): ("dead", timestamp, nil)
            }
        let registration = self.push.registration
        return JSONMembers([
            "id": self.id, "platform": self.platform, "connected_at": self.signedInAt, "presence": self.presence,
            "lease": self.lease.name, "last_seen_at": self.lastSeenAt, "badge": self.badge,
        ])
            + .given([
                "lease_until": self.leaseUntil, "push": push, "push_at": at,
                "push_token": registration?.token.shortened, "push_topic": registration?.topic,
                "push_environment": registration?.environment, "push_reason": reason, "status": self.reported?.json,
                "voip": self.voIP == nil ? "none" : "registered", "voip_at": self.voIP?.at,
            ])
    }
}

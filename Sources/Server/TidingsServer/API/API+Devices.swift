import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// The devices on which a person is signed in.
extension API {
    /// Adds the routes.
    func addDevices(to app: RouterGroup<Context>) {
        let devices = app.group("users/{user}/devices")
        devices.get { try await self.devices($0, $1) }
        devices.delete { try await self.signOutAll($0, $1) }
        devices.delete("{device}") { try await self.signOut($0, $1) }
    }

    private func devices(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        switch await self.core(.devices(UserKey(app: app, user: try self.person(context)))) {
        case .devices(let devices): return .json(["devices": .array(devices.map(\.json))])
        case .refused(let problem): throw APIProblem(problem)
        case .userAccount, .accepted, .done, .trace, .page, .unread, .objectNames, .accounts, .bans, .answer, .missed:
            throw APIProblem.bug
        }
    }

    private func signOutAll(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        return try await self.signedOut(.signOutAll(UserKey(app: app, user: try self.person(context))))
    }

    private func signOut(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let device: DeviceID = try self.identifier(try Self.parameter("device", context), "device")
        let user = UserKey(app: app, user: try self.person(context))
        return try await self.signedOut(.signOut(DeviceKey(user: user, device: device)))
    }

    private func signedOut(_ command: APICommand) async throws(APIProblem) -> Response {
        switch await self.core(command) {
        case .done: return Response(status: .noContent)
        case .refused(let problem): throw APIProblem(problem)
        case .userAccount, .accepted, .trace, .page, .unread, .objectNames, .accounts, .bans, .devices, .answer,
            .missed:
            throw APIProblem.bug
        }
    }
}

extension DeviceInfo {
    /// The device as the API writes it. Its token is nobody's business.
    fileprivate var json: JSONValue {
        var json = JSONObject([
            ("id", .string(self.id.rawValue)), ("platform", .string(self.platform)),
            ("connected_at", .int(self.signedInAt)), ("presence", .string(self.presence.rawValue)),
        ])
        switch self.push {
        case .none: json["push"] = .string("none")
        case .registered(let registration, let at, _):
            json["push"] = .string("registered")
            json["push_at"] = .int(at)
            json["push_topic"] = .string(registration.topic)
            json["push_environment"] = .string(registration.environment.rawValue)
        case .quarantined(let registration, let at, let reason):
            json["push"] = .string("quarantined")
            json["push_at"] = .int(at)
            json["push_topic"] = .string(registration.topic)
            json["push_environment"] = .string(registration.environment.rawValue)
            json["push_reason"] = .string(reason)
        case .dead(let timestamp):
            json["push"] = .string("dead")
            json["push_at"] = .int(timestamp)
        }
        if let status = self.status { json["status"] = status.json }
        return .object(json)
    }
}

import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Keys that stand in the app's binary and are no secret: whoever has one makes anonymous people of the app, and nothing else.
extension API {
    func addClientKeys(to app: RouterGroup<Context>) {
        let all = app.group("client-keys")
        all.get { try await self.clientKeys($0, $1) }
        all.post { try await self.addClientKey($0, $1) }
        all.delete("{key}") { try await self.revokeClientKey($0, $1) }
    }

    private func clientKeys(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        return .json(["client_keys": .array(try self.known(context).clientKeys.map(\.json))])
    }

    /// - Returns: one that is drawn, unless the body names the one to take: an app that has moved here has its key in its binary.
    private func addClientKey(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let (body, once) = try await self.keyedBody(request, context, app.id)
        let name = try body.string("name")
        let given = try body.optionalString("key")
        try body.refuseUnknown()
        let record = ClientKeyRecord(id: given ?? Self.drawClientKey(), name: name, createdAt: Clocks.now().wall)
        context.note.change = "\(name) \(record.id)"
        let secret = try self.apps.keys.sealInstallationSecret(Hexadecimal.text(APIKeys.drawBytes()), of: app.id)
        let changed = try await self.changedApp(
            context,
            .addClientKey(app.id, record, installationSecret: secret), once, of: app)
        // That of the first request, if this one repeats it.
        let added =
            changed.clientKeys.first { $0.id == record.id }
            ?? changed.clientKeys.last { $0.name == name && (given == nil || $0.id == given) }
        return .json((added ?? record).json, status: .created)
    }

    private func revokeClientKey(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let key = try Self.parameter("key", context)
        guard app.clientKeys.contains(where: { $0.id == key }) else {
            throw APIProblem(.unknownClientKey, field: "key", rule: "names no client key of the app")
        }
        context.note.change = key
        _ = try await self.changedApp(context, .revokeClientKey(app.id, key: key))
        return Response(status: .noContent)
    }

    private static func drawClientKey() -> String {
        ClientKeyRecord.prefix + Base64.encode(Array(APIKeys.drawBytes().prefix(24)), .url)
    }
}

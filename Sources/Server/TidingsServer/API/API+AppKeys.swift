import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Token secrets and API keys of an app. Each is shown once, with the answer to the request that has it drawn.
extension API {
    /// How long what was replaced may be good at most.
    private static let overlapSecondsMax: Int64 = 30 * 86_400

    static let appKeyRoutes: [Route] = [
        .managed(.post, "token-secrets", .administer, API.addSecret),
        .managed(.delete, "token-secrets/{id}", .administer, API.removeSecret),
        .managed(.post, "api-keys", .administer, API.addAPIKey),
        .managed(.post, "api-keys/{name}/rotate", .administer, API.rotateAPIKey),
        .managed(.delete, "api-keys/{name}", .administer, API.removeAPIKey),
        .managed(.get, "client-keys", .view, API.clientKeys),
        .managed(.post, "client-keys", .administer, API.addClientKey),
        .managed(.delete, "client-keys/{key}", .administer, API.revokeClientKey),
    ]

    private func addSecret(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let (end, once) = try await self.replacement(request, context, app.id)
        let (secret, record) = try self.drawSecret(for: app.id)
        context.note.change = record.id
        _ = try await self.changedApp(context, .addSecret(app.id, record, previousEndsAt: end), once, draws: true)
        return .json(["id": record.id, "secret": secret], status: .created)
    }

    private func removeSecret(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let secret = try Self.record(
            "id", context, among: app.secrets, by: \.id, else: .unknownTokenSecret, "names no token secret of the app")
        _ = try await self.changedApp(context, .removeSecret(app.id, id: secret.id))
        return Response(status: .noContent)
    }

    private func addAPIKey(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app.id)
        let name = try body.string("name")
        var scopes: Set<APIScope> = []
        for (index, word) in try body.strings("scopes").enumerated() {
            scopes.insert(try self.word(word, "scopes[\(index)]"))
        }
        try InvalidField.check(!scopes.isEmpty, "scopes", "must name at least one")
        try await self.confirm(body, request, context)
        context.note.change = name
        let (key, hash) = APIKeys.draw(APIKeys.prefix)
        let record = APIKeyRecord(
            name: name, hashes: KeyHashes(hash), scopes: scopes.map(\.rawValue), createdAt: Clocks.now().wall)
        _ = try await self.changedApp(context, .addAPIKey(app.id, record), once, draws: true)
        return .json(["name": name, "key": key, "scopes": record.scopes], status: .created)
    }

    private func rotateAPIKey(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let name = try self.knownKey(app, context)
        let (end, once) = try await self.replacement(request, context, app.id)
        let (key, hash) = APIKeys.draw(APIKeys.prefix)
        let change = ControlChange.rotateAPIKey(app.id, name: name, hash: hash, previousEndsAt: end)
        _ = try await self.changedApp(context, change, once, draws: true)
        return .json(["name": name, "key": key])
    }

    private func removeAPIKey(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let name = try self.knownKey(app, context)
        _ = try await self.changedApp(context, .removeAPIKey(app.id, name: name))
        return Response(status: .noContent)
    }

    private func knownKey(_ app: ManagedApp, _ context: Context) throws -> String {
        try Self.record(
            "name", context, among: app.apiKeys, by: \.name, else: .unknownAPIKey, "names no API key of the app"
        ).name
    }

    /// Reads the body of a replacement: until when what is replaced is still good.
    @inline(never) func replacement(
        _ request: Request, _ context: Context, _ app: AppID, usual: Int64 = 86_400
    ) async throws -> (end: Int64, once: Once?) {
        let (body, once) = try await self.keyedBody(request, context, app, mayBeEmpty: true)
        let seconds = try body.integer("overlap_seconds", in: 0...Self.overlapSecondsMax, default: usual)
        let end = Clocks.now().wall + seconds * 1_000
        try await self.confirm(body, request, context)
        return (end, once)
    }

    // MARK: - Client keys

    // They stand in the app's binary and are no secret: anyone with one makes anonymous people of the app, and nothing else.

    private func clientKeys(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        .json(["client_keys": app.clientKeys.map(\.json)])
    }

    /// - Returns: one that is drawn, unless the body names the one to take: an app that has moved here has its key in its binary.
    private func addClientKey(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
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

    private func revokeClientKey(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        // One that is revoked may have the name of one that is good.
        let keys = app.clientKeys.filter(\.isGood) + app.clientKeys.filter { !$0.isGood }
        let key = try Self.record(
            "key", context, among: keys, by: \.id, \.name, else: .unknownClientKey, "names no client key of the app"
        ).id
        context.note.change = key
        _ = try await self.changedApp(context, .revokeClientKey(app.id, key: key))
        return Response(status: .noContent)
    }

    private static func drawClientKey() -> String {
        ClientKeyRecord.prefix + Base64.encode(Array(APIKeys.drawBytes().prefix(24)), .url)
    }
}

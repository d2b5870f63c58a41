import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Token secrets and API keys of an app. Each is shown once, with the answer to the request that has it drawn.
extension API {
    /// How long what was replaced may be good at most.
    static let overlapSecondsMax: Int64 = 30 * 86_400
    static let overlapSecondsUsual: Int64 = 86_400

    func addAppKeys(to app: RouterGroup<Context>) {
        app.post("token-secrets") { try await self.addSecret($0, $1) }
        app.delete("token-secrets/{id}") { try await self.removeSecret($0, $1) }
        app.post("api-keys") { try await self.addAPIKey($0, $1) }
        app.post("api-keys/{name}/rotate") { try await self.rotateAPIKey($0, $1) }
        app.delete("api-keys/{name}") { try await self.removeAPIKey($0, $1) }
    }

    private func addSecret(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        let end = try Self.overlapEnd(body, usual: Self.overlapSecondsUsual)
        try await self.confirm(body, request, context)
        let (secret, record) = try self.drawSecret(for: app.id)
        context.note.change = record.id
        _ = try await self.changedApp(context, .addSecret(app.id, record, previousEndsAt: end), once, draws: true)
        return .json(["id": .string(record.id), "secret": .string(secret)], status: .created)
    }

    private func removeSecret(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let id = try Self.parameter("id", context)
        guard app.secrets.contains(where: { $0.id == id }) else {
            throw APIProblem(.unknownTokenSecret, field: "id", rule: "names no token secret of the app")
        }
        _ = try await self.changedApp(context, .removeSecret(app.id, id: id))
        return Response(status: .noContent)
    }

    private func addAPIKey(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
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
        return .json(
            [
                "name": .string(name), "key": .string(key),
                "scopes": .array(record.scopes.map { .string($0) }),
            ], status: .created)
    }

    private func rotateAPIKey(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, name) = try self.knownKey(context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        let end = try Self.overlapEnd(body, usual: Self.overlapSecondsUsual)
        try await self.confirm(body, request, context)
        let (key, hash) = APIKeys.draw(APIKeys.prefix)
        _ = try await self.changedApp(
            context,
            .rotateAPIKey(app.id, name: name, hash: hash, previousEndsAt: end), once, draws: true)
        return .json(["name": .string(name), "key": .string(key)])
    }

    private func removeAPIKey(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, name) = try self.knownKey(context)
        _ = try await self.changedApp(context, .removeAPIKey(app.id, name: name))
        return Response(status: .noContent)
    }

    private func knownKey(_ context: Context) throws -> (ManagedApp, String) {
        let app = try self.known(context)
        let name = try Self.parameter("name", context)
        guard app.apiKeys.contains(where: { $0.name == name }) else {
            throw APIProblem(.unknownAPIKey, field: "name", rule: "names no API key of the app")
        }
        return (app, name)
    }

    /// Until when what is replaced is still good.
    static func overlapEnd(_ body: APIBody, usual: Int64) throws(InvalidField) -> Int64 {
        let seconds = try body.integer("overlap_seconds", in: 0...Self.overlapSecondsMax, default: usual)
        return Clocks.now().wall + seconds * 1_000
    }
}

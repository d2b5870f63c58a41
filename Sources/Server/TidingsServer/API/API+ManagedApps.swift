import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// The apps of the server, for its operators (docs/decisions/0043-apps-at-run-time.md).
extension API {
    func addApps(to router: Router<Context>) {
        let apps = router.group("v1/apps")
        apps.get { try await self.apps($0, $1) }
        apps.post { try await self.createApp($0, $1) }
        apps.get("{app}") { try await self.managedApp($0, $1) }
        apps.put("{app}/settings") { try await self.setAppSettings($0, $1) }
        apps.post("{app}/suspend") { try await self.suspend($0, $1, true) }
        apps.post("{app}/resume") { try await self.suspend($0, $1, false) }
    }

    /// Of keys that are no app's.
    static let server = AppID("")

    var apps: AppRegistry { self.keys.registry }

    private func apps(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view, query: Paging.query)
        let paging = try Paging(request)
        let (page, next) = try paging.page(of: self.apps.apps, by: \.id, text: \.rawValue, read: { AppID($0) })
        return .json(["apps": .array(page.map { $0.told(self.apps) }), "next": next])
    }

    private func managedApp(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        return self.response(try self.known(context))
    }

    private func createApp(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (body, once) = try await self.keyedBody(request, context, Self.server)
        let id = try AppID.validated(try body.string("id"), field: "id")
        let settings = try body.optionalMembers("settings").map { fields throws(InvalidField) in
            try Self.settings(fields)
        }
        try body.refuseUnknown()
        try Self.check(settings ?? AppSettings(), of: id, path: "settings.")
        context.note.change = id.rawValue
        let (secret, record) = try self.drawSecret(for: id)
        let app = try await self.changedApp(
            context, .createApp(id, settings ?? AppSettings(), record), once, draws: true)
        return .json(
            [
                "app": app.told(self.apps),
                "token_secret": ["id": .string(record.id), "secret": .string(secret)],
            ], status: .created)
    }

    private func setAppSettings(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let revision = try Self.ifMatch(request, app)
        let body = try await self.body(request)
        let settings = try Self.settings(body.allMembers)
        try Self.check(settings, of: app.id)
        // Whoever has a key of the key set signs as anybody, for as long as it stands.
        let isNeeded = settings.tokens.keySource.map { $0 != app.settings.tokens.keySource } ?? false
        try await self.confirm(body, request, context, isNeeded: isNeeded)
        return self.response(try await self.changedApp(context, .setAppSettings(app.id, settings, revision: revision)))
    }

    /// The password that is asked for beside them is none of them.
    private static func settings(_ fields: JSONFields) throws(InvalidField) -> AppSettings {
        _ = try fields.optional(Self.ownPassword, as: String.self)
        return try AppSettings(json: fields)
    }

    private func suspend(_ request: Request, _ context: Context, _ isSuspended: Bool) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        try body.refuseUnknown()
        return self.response(try await self.changedApp(context, .suspendApp(app.id, isSuspended), once, of: app))
    }

    // MARK: - Changing

    /// The app of the path.
    /// - Throws: status 404.
    func known(_ context: Context) throws -> ManagedApp {
        guard let app = self.apps.app(AppID(try Self.parameter("app", context))) else { throw Self.unknownApp }
        return app.record
    }

    /// - Parameters: known: what to answer a repeat with. draws: the answer shows something that is kept nowhere, so a repeat has none.
    func changedApp(
        _ context: Context, _ change: ControlChange, _ once: Once? = nil, of known: ManagedApp? = nil,
        draws: Bool = false
    ) async throws -> ManagedApp {
        switch try await self.changed(context, change, once, draws: draws) {
        case .app(let app)?: return app
        case nil:
            // The repeat of a change that was made.
            guard let known else { throw APIProblem.bug }
            return self.apps.app(known.id)?.record ?? known
        case .ofOperator?, .noted?: throw APIProblem.bug
        }
    }

    /// - Returns: nil for the repeat of a change that was made.
    func changed(
        _ context: Context, _ change: ControlChange, _ once: Once? = nil, draws: Bool = false
    ) async throws -> ControlAnswer? {
        let command = APICommand.changeControl(context.author.map { .by($0, change) } ?? change)
        do {
            switch try await self.result(of: command, once: once) {
            case .control(let answer): return answer
            case .done where draws:
                throw APIProblem(
                    .secretAlreadyShown, field: Once.header,
                    rule:
                        "must be new: what its first request has drawn was shown then, and is kept nowhere; replace it")
            case .done: return nil
            default: throw APIProblem.bug  // tidy: no other answer is one to a change
            }
        } catch let problem as APIProblem where problem.code == .told(.notAllowed) {
            guard problem.field != "revision" else { throw Self.revisionChanged }
            if problem.field == "credential" {
                throw APIProblem(.wrongCredentialState, field: problem.field, rule: problem.rule)
            }
            throw APIProblem(.stillNeeded, field: problem.field, rule: problem.rule)
        }
    }

    func drawSecret(for app: AppID) throws -> (secret: String, record: TokenSecret) {
        // As `openssl rand -hex 32` makes them: backends sign with the digits, not with the bytes they stand for.
        let secret = Hexadecimal.text(APIKeys.drawBytes())
        let id = "s" + Hexadecimal.text(UInt64.random(in: .min ... .max))
        let sealed = try self.apps.keys.seal(secret, of: app, id: id)
        return (secret, TokenSecret(id: id, sealed: sealed, createdAt: Clocks.now().wall))
    }

    /// What the store does not look at.
    private static func check(_ settings: AppSettings, of app: AppID, path: String = "") throws(InvalidField) {
        guard let fault = (settings.faults(in: app) + settings.tokens.addressFaults).first else { return }
        let field = fault.field == "settings" ? "settings" : path + fault.field
        throw InvalidField(field: field, rule: fault.rule)
    }

    // MARK: - Revisions

    /// RFC 9110 §13.1.1: the revision the change is of; nil for any.
    private static func ifMatch(_ request: Request, _ app: ManagedApp) throws -> Int64? {
        let values = request.headers[values: .ifMatch]
        guard let value = values.first else { return nil }
        guard values.count == 1 else { throw InvalidField(field: "If-Match", rule: "must not be there twice") }
        guard value != "*" else { return nil }
        // A weak one matches nothing, as one of another form does.
        guard value == self.tag(of: app) else { throw self.revisionChanged }
        return app.revision
    }

    private static var revisionChanged: APIProblem {
        APIProblem(
            .revisionChanged, field: "If-Match",
            rule: "must be the ETag of the app as it is: read it again, and see whether your change still fits")
    }

    private static func tag(of app: ManagedApp) -> String { "\"\(app.revision)\"" }

    private func response(_ app: ManagedApp) -> Response {
        var response = Response.json(app.told(self.apps))
        response.headers[.eTag] = Self.tag(of: app)
        return response
    }
}

extension ManagedApp {
    /// Nothing of it is a secret.
    func told(_ registry: AppRegistry) -> JSONValue {
        [
            "id": .string(self.id.rawValue), "revision": .int(self.revision), "created_at": .int(self.createdAt),
            "suspended": .bool(self.isSuspended), "settings": self.settings.json,
            "secrets": .array(
                self.secrets.map { secret in
                    [
                        "id": .string(secret.id), "created_at": .int(secret.createdAt),
                        "ends_at": .optional(secret.endsAt),
                    ]
                }),
            "api_keys": .array(
                self.apiKeys.map { key in
                    let lastUse = registry.lastUse(of: .api(self.id, name: key.name), stored: key.lastUsedAt)
                    return [
                        "name": .string(key.name), "scopes": .array(key.scopes.map { .string($0) }),
                        "created_at": .int(key.createdAt), "last_used_at": .optional(lastUse),
                        "previous_ends_at": .optional(key.hashes.previous?.endsAt),
                    ]
                }),
            "client_keys": .array(self.clientKeys.map(\.json)),
            "imported": .bool(self.importedDigest != nil),
        ]
    }
}

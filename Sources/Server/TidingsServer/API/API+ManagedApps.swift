import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// The apps of the server, for its operators (docs/inside/decisions/0043-apps-at-run-time.md).
extension API {
    static let managedAppRoutes: [Route] = [
        .operators(.get, "v1/apps", .view, query: Paging.query, API.apps),
        .operators(.post, "v1/apps", .administer, API.createApp),
        .managed(.get, "", .view, API.managedApp),
        .managed(.put, "settings", .administer, API.setAppSettings),
        .managed(.post, "suspend", .administer) { api in { try await api.suspend($0, $1, $2, true) } },
        .managed(.post, "resume", .administer) { api in { try await api.suspend($0, $1, $2, false) } },
    ]

    /// The app of keys that are no app's.
    static let server = AppID("")

    var apps: AppRegistry { self.keys.registry }

    private func apps(_ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let (page, next) = try paging.page(of: self.apps.apps, by: \.id, text: \.rawValue, read: { AppID($0) })
        return .json(["apps": page.map { $0.told(self.apps) }, "next": next])
    }

    private func managedApp(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        self.response(app)
    }

    private func createApp(_ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, Self.server)
        let id = try AppID.validated(try body.string("id"), field: "id")
        let settings = try body.optionalMembers("settings").map { try Self.settings($0) }
        try body.refuseUnknown()
        try Self.check(settings ?? AppSettings(), of: id, path: "settings.")
        context.note.change = id.rawValue
        let (secret, record) = try self.drawSecret(for: id)
        let app = try await self.changedApp(
            context, .createApp(id, settings ?? AppSettings(), record), once, draws: true)
        return .json(
            ["app": app.told(self.apps), "token_secret": JSONMembers(["id": record.id, "secret": secret])],
            status: .created)
    }

    private func setAppSettings(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let revision = try Self.ifMatch(request, app)
        let body = try await self.body(request)
        let settings = try Self.settings(body.allMembers)
        try Self.check(settings, of: app.id)
        // A holder of a key of the key set signs as anybody, for as long as it stands.
        let isNeeded = settings.tokens.keySource.map { $0 != app.settings.tokens.keySource } ?? false
        try await self.confirm(body, request, context, isNeeded: isNeeded)
        return self.response(try await self.changedApp(context, .setAppSettings(app.id, settings, revision: revision)))
    }

    /// The password that is asked for beside them is none of them.
    private static func settings(_ fields: JSONFields) throws(InvalidField) -> AppSettings {
        _ = try fields.optional(Self.ownPassword, as: String.self)
        return try AppSettings(json: fields)
    }

    private func suspend(
        _ app: ManagedApp, _ request: Request, _ context: Context, _ isSuspended: Bool
    ) async throws -> Response {
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
        if let changed = try await self.changed(context, change, once, draws: draws) { return try changed.app.orBug() }
        // The repeat of a change that was made.
        let known = try known.orBug()
        return self.apps.app(known.id)?.record ?? known
    }

    /// - Returns: nil for the repeat of a change that was made.
    func changed(
        _ context: Context, _ change: ControlChange, _ once: Once? = nil, draws: Bool = false
    ) async throws -> ControlAnswer? {
        let command = APICommand.changeControl(context.author.map { .by($0, change) } ?? change)
        do {
            let result = try await self.result(of: command, once: once)
            guard case .done = result else { return try result.control.orBug() }
            guard draws else { return nil }
            throw APIProblem(
                .secretAlreadyShown, field: Once.header,
                rule: "must be new: what its first request has drawn was shown then, and is kept nowhere; replace it")
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

    /// Checks the settings that the store does not look at.
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
    func told(_ registry: AppRegistry) -> JSONMembers {
        [
            "id": self.id, "revision": self.revision, "created_at": self.createdAt, "suspended": self.isSuspended,
            "settings": self.settings.json,
            "secrets": self.secrets.objects { secret in
                ["id": secret.id, "created_at": secret.createdAt, "ends_at": secret.endsAt]
            },
            "api_keys": self.apiKeys.objects { key in
                let lastUse = registry.lastUse(of: .api(self.id, name: key.name), stored: key.lastUsedAt)
                return [
                    "name": key.name, "scopes": key.scopes, "created_at": key.createdAt, "last_used_at": lastUse,
                    "previous_ends_at": key.hashes.previous?.endsAt,
                ]
            }, "client_keys": self.clientKeys.map(\.json), "imported": self.importedDigest != nil,
        ]
    }
}

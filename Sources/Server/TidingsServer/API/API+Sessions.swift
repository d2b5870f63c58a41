import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Signing in to the console, and operators' passwords (docs/inside/decisions/0051-console-access.md).
extension API {
    static let sessionRoutes: [Route] = [
        .open(.post, "v1/session", API.signIn),
        .open(.get, "v1/session", API.session),
        .open(.delete, "v1/session", API.signOut),
        .open(.put, "v1/operators/{name}/password", API.setPassword),
        .open(.delete, "v1/operators/{name}/password", API.removePassword),
    ]

    // MARK: - Sessions

    private func signIn(_ request: Request, _ context: Context) async throws -> Response {
        try self.checkConsole()
        try self.checkHost(request)
        try Self.checkOrigin(request)
        try Self.checkQuery(request, [])
        let body = try await self.body(request)
        let name: String
        if let link = try body.optionalString("link") {
            name = try self.operatorOfLink(link, body, request, context)
        } else {
            name = try await self.operatorOfPassword(body, request, context)
        }
        context.note.caller = .ofOperator(name)
        let (secret, token, session) = self.access.drawSession()
        let changed = try await self.changed(context, .changeAccess(name: name, .addSession(session)))
        let record = try (changed?.ofOperator).orBug()
        var response = Self.response(.init(record: record, session: session), token: token)
        response.headers[.setCookie] = Self.cookie(secret)
        return response
    }

    private func operatorOfPassword(_ body: APIBody, _ request: Request, _ context: Context) async throws -> String {
        let (name, password) = (try body.string("operator"), try body.string("password"))
        try body.refuseUnknown()
        try self.checkIsPrivate("password", request, context)
        guard try await self.isGood(password, of: name, "password", context) else {
            throw APIProblem(
                .signInRefused, field: "password", rule: "must be that of the operator, which it is not",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        return name
    }

    private func operatorOfLink(
        _ link: String, _ body: APIBody, _ request: Request, _ context: Context
    ) throws -> String {
        try body.refuseUnknown()
        guard self.way(request, context) == .local else {
            throw APIProblem(
                .localOnly, field: "link",
                rule: "must be used on the server's own machine, not by a proxy, and where console.local lets it")
        }
        guard let name = self.access.links.use(link, at: Clocks.now()), self.apps.operatorNamed(name) != nil else {
            throw APIProblem(
                .signInRefused, field: "link", rule: "must be new: it is good once, for ten minutes; ask for another",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        return name
    }

    private func session(_ request: Request, _ context: Context) async throws -> Response {
        Self.response(try self.ownSession(request, context))
    }

    private func signOut(_ request: Request, _ context: Context) async throws -> Response {
        let signedIn = try self.ownSession(request, context)
        let change = AccessChange.endSession(hash: signedIn.session.hash)
        _ = try await self.changed(context, .changeAccess(name: signedIn.record.name, change))
        return Response(status: .noContent, headers: [.setCookie: Self.cookie("") + "; Max-Age=0"])
    }

    /// - Throws: status 401 without one.
    private func ownSession(_ request: Request, _ context: Context) throws -> ConsoleAccess.SignedIn {
        try self.checkConsole()
        guard case .session(let signedIn)? = try self.identity(request, context) else {
            throw APIProblem(
                .unauthorized, field: "Cookie", rule: "must be of a session: sign in by POST /v1/session",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        context.note.caller = .ofOperator(signedIn.record.name)
        try Self.checkQuery(request, [])
        return signedIn
    }

    /// - Throws: status 404.
    func checkConsole() throws {
        guard self.access.isEnabled else {
            throw APIProblem(.consoleOff, field: "console.enabled", rule: "must be true for the console to be served")
        }
    }

    /// Only the browser's requests to this very host have it, and no script of a page reads it (RFC 6265bis §4.1.3).
    private static func cookie(_ secret: String) -> String {
        "\(Self.sessionCookie)=\(secret); Path=/; Secure; HttpOnly; SameSite=Strict"
    }

    /// - Parameter token: at the sign-in alone. The cookie goes to each port of its host, where a thief must not learn the token with it.
    private static func response(_ signedIn: ConsoleAccess.SignedIn, token: String? = nil) -> Response {
        let (record, session) = (signedIn.record, signedIn.session)
        let members: JSONMembers = [
            "operator": record.name, "role": record.role, "expires_at": session.endsAt,
            "signed_in_at": session.createdAt, "has_password": record.password != nil,
        ]
        var response = Response.json(members + .given(["csrf_token": token]))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    // MARK: - Passwords

    /// - Throws: status 429 and 503 if nobody looks at it now.
    func isGood(_ password: String, of name: String, _ field: String, _ context: Context) async throws -> Bool {
        try Self.checkLength(of: password, field)
        switch await self.access.check(password, of: name, from: self.counted(name, context)) {
        case .good: return true
        case .wrong: return false
        case .refused(let wait):
            throw APIProblem(
                .told(.rateLimited), field: field,
                rule: "must wait: there were too many wrong ones from this address",
                headers: [.retryAfter: "\((wait + 999) / 1_000)"])
        case .busy:
            throw APIProblem(
                .told(.unavailable), field: field, rule: "must wait: many others sign in at the moment",
                headers: [.retryAfter: "1"])
        }
    }

    /// Four bytes a character.
    private static let passwordBytesMax = PasswordHashing.charactersAllowed.upperBound * 4

    static func checkLength(of password: String, _ field: String) throws(InvalidField) {
        try InvalidField.check(
            password.utf8.count <= Self.passwordBytesMax, field,
            "must be at most \(Self.passwordBytesMax) bytes of UTF-8")
    }

    /// Returns the name under which tries are counted together: the address; empty behind a proxy that does not say for whom it asks. On
    /// this machine, where everybody may come from behind a proxy that nobody has named, the operator, so that tries for one do not keep
    /// out the others.
    private func counted(_ name: String, _ context: Context) -> String {
        guard context.client.network.isEmpty else { return context.client.network }
        return self.proxies.contain(context.peer) ? "" : "\(context.client.text) \(name.prefix(64))"
    }

    private func setPassword(_ request: Request, _ context: Context) async throws -> Response {
        let (record, isOwn) = try self.operatorOfPath(request, context)
        try self.checkIsPrivate("password", request, context)
        let body = try await self.body(request)
        let (password, old) = (try body.string("password"), try body.optionalString("old_password"))
        // Of one's own the old one says it.
        try await self.confirm(body, request, context, isNeeded: !isOwn)
        let allowed = PasswordHashing.charactersAllowed
        try InvalidField.check(
            allowed.contains(password.unicodeScalars.count), "password",
            "must be \(allowed.lowerBound) to \(allowed.upperBound) characters, got \(password.unicodeScalars.count)")
        // Also where it is not needed: the description says how long it may be.
        if let old { try Self.checkLength(of: old, "old_password") }
        // A session left open is not enough; the key of an administrator sets anybody's.
        if isOwn, record.password != nil, context.note.signedIn != nil || record.role < .administer {
            guard let old else { throw InvalidField(field: "old_password", rule: "must be there: you have one") }
            try await self.checkOwn(old, "old_password", record.name, request, context)
        }
        guard let hash = try? await self.access.passwords.hash(password) else {
            throw APIProblem(
                .told(.unavailable), field: "password", rule: "must wait: many others sign in at the moment",
                headers: [.retryAfter: "1"])
        }
        return try await self.change(hash, of: record.name, context, isOwn: isOwn)
    }

    private func removePassword(_ request: Request, _ context: Context) async throws -> Response {
        let (record, isOwn) = try self.operatorOfPath(request, context)
        try await self.confirm(try await self.optionalBody(request), request, context)
        return try await self.change(nil, of: record.name, context, isOwn: isOwn)
    }

    private func change(
        _ password: PasswordHash?, of name: String, _ context: Context, isOwn: Bool
    ) async throws -> Response {
        let session = isOwn ? context.note.signedIn?.session.hash : nil
        _ = try await self.changed(context, .changeAccess(name: name, .setPassword(password, keeping: session)))
        return Response(status: .noContent)
    }

    /// Oneself, or anybody for who administers.
    private func operatorOfPath(
        _ request: Request, _ context: Context
    ) throws -> (record: OperatorRecord, isOwn: Bool) {
        let asking = try self.authorizeOperator(request, context, .view, hasBody: true)
        let isOwn = try Self.parameter("name", context) == asking.name
        guard isOwn || asking.role == .administer else { throw APIKeys.Refusal.missingRole(.administer).problem }
        return (try self.knownOperator(context), isOwn)
    }

    // MARK: - The operator's own password

    // Asked for before a change that outlives the session: operators, their keys and passwords, keys and
    // secrets of apps, user tokens, and where an app's users and events are taken from or told. A window that was left open, or a cookie that
    // was stolen, is not enough. Not inlined: the optimiser of Swift 6.3.1 crashes on some handlers into which it has inlined a wait.

    static let ownPassword = "own_password"

    /// Reads the last member of a body, `own_password`, refuses those that are not known, and asks an operator in a session for the password.
    /// Keys are not asked: they last as long as what they make. Nor is an operator without a password, who may set the first.
    /// - Parameter isNeeded: whether the request is of that kind.
    /// - Throws: status 403 without the password, and for a wrong one, which counts as one at the sign-in; 429 and 503 if nobody looks at it now.
    @inline(never) func confirm(
        _ body: APIBody, _ request: Request, _ context: Context, isNeeded: Bool = true
    ) async throws {
        let password = try body.optionalString(Self.ownPassword)
        try body.refuseUnknown()
        if let password { try Self.checkLength(of: password, Self.ownPassword) }
        guard isNeeded, let signedIn = context.note.signedIn, signedIn.record.password != nil else { return }
        guard let password else {
            throw APIProblem(
                .confirmationNeeded, field: Self.ownPassword,
                rule: "must be your password: what you ask for opens something for longer than a session")
        }
        try await self.checkOwn(password, Self.ownPassword, signedIn.record.name, request, context)
    }

    /// - Throws: status 403 for a wrong password, and where it could be read on the way; 429 and 503 if nobody looks at it now.
    @inline(never) func checkOwn(
        _ password: String, _ field: String, _ name: String, _ request: Request, _ context: Context
    ) async throws {
        try self.checkIsPrivate(field, request, context)
        guard try await self.isGood(password, of: name, field, context) else {
            throw APIProblem(.wrongPassword, field: field, rule: "must be your password, which it is not")
        }
    }

    /// The body of a request that may have none.
    @inline(never) func optionalBody(_ request: Request) async throws -> APIBody {
        let bytes = try await self.bytes(request)
        return try APIBody(bytes.isEmpty ? Array("{}".utf8) : bytes)
    }
}

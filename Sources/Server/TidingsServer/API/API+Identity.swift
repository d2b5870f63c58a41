import Foundation
import HTTPTypes
import HTTPUpgrades
import Hummingbird
import StoreModel
import TidingsModel

/// Who asks: by a key (`Authorization`), or by a session of the console, of which a browser sends the secret in a cookie. With both the key
/// counts.
extension API {
    enum Identity {
        case key(String)
        case session(ConsoleAccess.SignedIn)
    }

    /// The app of the path, if who asks may do this there: with one of the app's keys, or as an operator.
    /// - Parameters: limited: whose share of the app it takes; nil where nothing limits it. role: what an operator has to be, if not what
    ///   scope and method say. hasBody: as of `checkQuery`.
    /// - Throws: status 401 without a key or session that is good, 403 without the scope or role, 404 to an operator for an unknown app, 400
    ///   for a member of the query that is not in `query`; for a session what `identity` throws, too.
    func authorize(
        _ request: Request, _ context: Context, _ scope: APIScope, limited: Limited? = nil, query: [String] = [],
        role: OperatorRole? = nil, hasBody: Bool? = nil
    ) throws -> AppID {
        guard let identity = try self.identity(request, context) else {
            throw Self.unauthorized("must be \"Bearer KEY\" with one of the app's API keys")
        }
        let app = AppID(try Self.parameter("app", context))
        let access =
            switch identity {
            case .key(let key): self.keys.access(app: app, key: key, scope: scope, method: request.method, role: role)
            case .session(let signedIn):
                self.keys.access(app: app, signedIn.record, scope: scope, method: request.method, role: role)
            }
        switch access {
        case .unknownApp: throw Self.unknownApp
        case .unknownKey: throw self.wrongKey(request, .ofApp, else: "must hold one of the app's API keys")
        case .granted(let caller):
            context.note.caller = caller
            // A caller without a key is not told what the app has left.
            context.share.question = limited?.question(app)
        case .refused(let caller, let refusal):
            context.note.caller = caller
            context.share.question = limited?.question(app)
            throw refusal.problem
        }
        try Self.checkQuery(request, query, hasBody: hasBody)
        context.note.audited = try context.audited(app, scope, request)
        return app
    }

    /// - Returns: the operator who asks.
    /// - Throws: status 401 without the key or a session of an operator, 403 if they may less than this, 400 for a member of the query that is
    ///   not in `query`; for a session what `identity` throws, too.
    @discardableResult
    func authorizeOperator(
        _ request: Request, _ context: Context, _ role: OperatorRole, query: [String] = [],
        hasBody: Bool? = nil
    ) throws -> OperatorRecord {
        let found: OperatorRecord? =
            switch try self.identity(request, context) {
            case .key(let key)?: self.keys.operatorRecord(key: key)
            case .session(let signedIn)?: signedIn.record
            case nil: nil
            }
        guard let found else {
            throw self.wrongKey(request, .ofOperator, else: "must be \"Bearer KEY\" with an operator's key")
        }
        context.note.caller = .ofOperator(found.name)
        guard found.role >= role else { throw APIKeys.Refusal.missingRole(role).problem }
        try Self.checkQuery(request, query, hasBody: hasBody)
        return found
    }

    /// Nil without both.
    /// - Throws: for a cookie status 421 for a host that is none of the console's, 401 if its session has ended, and 403 (`csrf`) if the
    ///   request changes something and may come from another site's page.
    func identity(_ request: Request, _ context: Context) throws -> Identity? {
        if request.headers[.authorization] != nil { return Self.bearer(request).map { .key($0) } }
        guard self.access.isEnabled, let secret = Self.sessionSecret(request) else { return nil }
        try self.checkHost(request)
        guard let signedIn = self.access.signedIn(secret) else {
            throw APIProblem(
                .unauthorized, field: "Cookie", rule: "must be of a session that has not ended: sign in again",
                headers: [.wwwAuthenticate: "Bearer"])
        }
        if request.method != .get, request.method != .head {
            try Self.checkOrigin(request)
            let token = Self.header("X-CSRF-Token", request) ?? ""
            guard APIKeys.hash(of: token) == signedIn.session.tokenHash else {
                throw APIProblem(.csrf, field: "X-CSRF-Token", rule: "must be the csrf_token that the sign-in has told")
            }
        }
        context.note.signedIn = signedIn
        return .session(signedIn)
    }

    /// Returns true while the key or session that opened a stream of events would still open it; asked at each look. So it ends with the key or
    /// session, with the scope or role that it needs, and with an app's own when the app is suspended.
    /// - Parameter opens: whether a key does, as the registry is then. A key that is asked of is used by it; a session is not.
    func mayGoOn(
        _ request: Request, _ context: Context, _ opens: @escaping @Sendable (APIKeys, String) -> Bool
    ) -> @Sendable () -> Bool {
        if let signedIn = context.note.signedIn {
            let (access, session, role) = (self.access, signedIn.session, signedIn.record.role)
            return { access.isOpen(session, as: role) }
        }
        let (keys, key) = (self.keys, Self.bearer(request) ?? "")
        return { opens(keys, key) }
    }

    // MARK: - Sessions' requests

    static let sessionCookie = "__Host-tidings"

    /// RFC 6265 §4.2.
    private static func sessionSecret(_ request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                if parts.count == 2, parts[0] == Self.sessionCookie { return parts[1] }
            }
        }
        return nil
    }

    /// Returns the elements of a list in one or several lines of a header (RFC 9110 §5.6.1).
    static func elements(of lines: [String]) -> [String] {
        lines.joined(separator: ",").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    static func header(_ name: String, _ request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }
    }

    /// - Throws: status 421.
    func checkHost(_ request: Request) throws {
        guard self.access.isKnown(host: request.head.authority) else {
            throw APIProblem(.unknownHost, field: "Host", rule: "must be one of console.hosts")
        }
    }

    /// Browsers say where a request comes from; what says nothing is no browser, or needs the token.
    /// - Throws: status 403.
    static func checkOrigin(_ request: Request) throws {
        if let site = Self.header("Sec-Fetch-Site", request), site != "same-origin" {
            throw APIProblem(.csrf, field: "Sec-Fetch-Site", rule: "must be same-origin: another site's page asks")
        }
        guard let origin = request.headers[.origin] else { return }
        let host = origin.split(separator: "/", omittingEmptySubsequences: true).dropFirst().first
        guard let host, host.lowercased() == request.head.authority?.lowercased() else {
            throw APIProblem(.csrf, field: "Origin", rule: "must be the host that is asked")
        }
    }

    /// How a request has come: what it says must not be read on the way.
    enum Way {
        case tls
        /// From this machine itself.
        case local
        case open
    }

    func way(_ request: Request, _ context: Context) -> Way {
        let schemes = Self.elements(of: HTTPField.Name("X-Forwarded-Proto").map { request.headers[values: $0] } ?? [])
            .map { $0.lowercased() }
        if self.proxies.contain(context.peer), !schemes.isEmpty { return schemes == ["https"] ? .tls : .open }
        let isLocal = self.access.takesLocal && context.peer?.isLoopback == true
        return isLocal && !Self.hasProxyMarks(request) ? .local : .open
    }

    /// Returns true if a proxy passed the request on: it says so, or has left the name by which others ask, or ends the connection with a request of a
    /// browser, which no browser does.
    static func hasProxyMarks(_ request: Request) -> Bool {
        let isForwarded = ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"].contains {
            Self.header($0, request) != nil
        }
        let host = RequestTarget.host(in: request.head.authority ?? "").map(String.init) ?? ""
        guard !isForwarded, IPAddress(host)?.isLoopback ?? (host.lowercased() == "localhost") else { return true }
        let isBrowsers = ["Sec-Fetch-Site", "Origin"].contains { Self.header($0, request) != nil }
        return isBrowsers && request.headers[.connection]?.lowercased() == "close"
    }

    /// - Throws: status 403.
    func checkIsPrivate(_ field: String, _ request: Request, _ context: Context) throws {
        guard self.way(request, context) == .open else { return }
        throw APIProblem(
            .tlsRequired, field: field,
            rule: "must come over TLS, as a proxy of proxy.addresses says with X-Forwarded-Proto: https, or from this "
                + "machine where console.local lets it")
    }

    // MARK: - Keys

    static var unknownApp: APIProblem { APIProblem(.unknownApp, field: "app", rule: "names no app of this server") }

    /// RFC 6750 §2.1.
    static func bearer(_ request: Request) -> String? {
        guard let value = request.headers[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// - Returns: status 403 for a key that is good, and of another kind than this; otherwise 401.
    func wrongKey(_ request: Request, _ needed: APIKeys.Kind, else rule: String) -> APIProblem {
        guard let key = Self.bearer(request), let found = self.keys.kind(of: key, but: needed) else {
            return Self.unauthorized(rule)
        }
        let kind = found.kind.rawValue + (found.app.map { " of \($0)" } ?? "")
        return APIProblem(
            .wrongKey, field: "Authorization", rule: "holds \(kind): here \(needed.rawValue) is needed")
    }

    static func unauthorized(_ rule: String) -> APIProblem {
        APIProblem(.unauthorized, field: "Authorization", rule: rule, headers: [.wwwAuthenticate: "Bearer"])
    }
}

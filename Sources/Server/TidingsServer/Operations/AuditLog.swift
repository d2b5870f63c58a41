import Logging
import ServerCore
import StoreModel
import Synchronization
import TidingsModel

/// Who signed in, whose credentials were refused, and what was done with API keys: one line each, with constant messages
/// (`docs/server/audit.md` lists them), the client's address and the request's id. Never text, never a token or key.
struct AuditLog: Sendable {
    static let label = "tidings.audit"

    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    struct SignIn: Sendable {
        var address: RemoteAddress
        /// The id of its handshake.
        var requestID: String
        /// Nil if the token was not good: then nothing the client says is known to be true.
        var device: DeviceKey?
    }

    func logSignIn(_ signIn: SignIn) { self.write("signed in", self.fields(signIn)) }

    func logRefusal(_ signIn: SignIn, _ code: ServerFrame.Problem.Code) {
        self.write("sign-in refused", self.fields(signIn).merging([.code: code.rawValue]) { $1 })
    }

    /// A signed-in device asked to go on with another token.
    func logRenewal(_ signIn: SignIn, _ answer: ClientAnswer) {
        guard case .refused(let problem) = answer else { return self.write("token renewed", self.fields(signIn)) }
        self.write("token refused", self.fields(signIn).merging([.code: problem.code.rawValue]) { $1 })
    }

    /// Who has written as an account, which nobody else is told. `signIn` is nil if the connection has ended meanwhile.
    func logAct(_ act: AccountAct, _ signIn: SignIn?) {
        var fields = signIn.map { self.fields($0) } ?? [:]
        fields[.app] = act.person.app.rawValue
        fields[.user] = act.person.user.rawValue
        fields[.account] = "\(act.account)"
        switch act.kind {
        case .sent(let message): self.write("sent as account", fields.merging([.sent: "\(message)"]) { $1 })
        case .edited(let message): self.write("edited as account", fields.merging([.sent: "\(message)"]) { $1 })
        case .recalled(let message): self.write("recalled as account", fields.merging([.sent: "\(message)"]) { $1 })
        case .refused(let code): self.write("account refused", fields.merging([.code: code.rawValue]) { $1 })
        }
    }

    private func fields(_ signIn: SignIn) -> [LogKey: String] {
        var fields: [LogKey: String] = [.client: signIn.address.text, .request: signIn.requestID]
        if let device = signIn.device {
            fields[.app] = device.user.app.rawValue
            fields[.user] = device.user.user.rawValue
            fields[.device] = device.device.rawValue
        }
        return fields
    }

    struct Call: Sendable {
        var address: RemoteAddress
        var requestID: String
        var method: String
        var route: String
        /// Logged for allowed calls only: anybody can put anything there.
        var path: String
        /// The query's `actor`.
        var actor: String?
        var status: Int
        var code: String?
    }

    /// The refusals of a credential that may not do it, whatever is asked for.
    private static let refusals = [
        "missing_scope", "missing_role", "app_suspended", "csrf", "wrong_password", "tls_required", "local_only",
    ]

    /// Logs only calls whose credentials were refused or are an API key's.
    func logCall(_ call: Call, _ note: Note) {
        var fields: [LogKey: String] = [
            .client: call.address.text, .request: call.requestID, .method: call.method, .route: call.route,
            .status: "\(call.status)",
        ]
        let (user, author) = (note.user, note.author)
        switch note.caller {
        case .key(let name)?: fields[.key] = name
        case .ofOperator(let name)?: fields[.operator] = name
        case nil: break
        }
        if let code = call.code { fields[.code] = code }
        if call.status == 401 || Self.refusals.contains(call.code ?? "") {
            return self.write("call refused", fields)
        }
        guard note.caller != nil else { return }
        fields[.path] = call.path
        if let change = note.change { fields[.change] = change }
        if let actor = call.actor { fields[.actor] = actor }
        if let user { fields[.user] = user }
        if let author { fields[.author] = author }
        self.write("call", fields)
    }

    /// Logs an operator's key drawn over the socket beside the database, by a person who may sign in as the server's user.
    func logLocalChange(_ words: String, operator name: String, _ role: String) {
        self.write("operator changed on this machine", [.change: words, .operator: name, .role: role])
    }

    /// The facts about a request that are found out while it is answered.
    final class Note: Sendable {
        private struct Found {
            var caller: APIKeys.Caller?
            var user: String?
            var author: String?
            var change: String?
            var audited: AuditedCall?
            var made: String?
            var signedIn: ConsoleAccess.SignedIn?
        }

        private let found = Mutex(Found())

        /// Whose key it is.
        var caller: APIKeys.Caller? {
            get { self.found.withLock { $0.caller } }
            set { self.found.withLock { $0.caller = newValue } }
        }
        /// The change of an operator, where the path does not say it.
        var change: String? {
            get { self.found.withLock { $0.change } }
            set { self.found.withLock { $0.change = newValue } }
        }
        /// The store's record of an operator's call, once it is carried out.
        var audited: AuditedCall? {
            get { self.found.withLock { $0.audited } }
            set { self.found.withLock { $0.audited = newValue } }
        }
        /// The id of what it has made, for that record.
        var made: String? {
            get { self.found.withLock { $0.made } }
            set { self.found.withLock { $0.made = newValue } }
        }
        /// By which session of the console it came; nil for a key.
        var signedIn: ConsoleAccess.SignedIn? {
            get { self.found.withLock { $0.signedIn } }
            set { self.found.withLock { $0.signedIn = newValue } }
        }
        /// For whom a user token was issued.
        var user: String? {
            get { self.found.withLock { $0.user } }
            set { self.found.withLock { $0.user = newValue } }
        }
        /// Who has written a message as an account, as the backend says.
        var author: String? {
            get { self.found.withLock { $0.author } }
            set { self.found.withLock { $0.author = newValue } }
        }
    }

    private func write(_ message: Logger.Message, _ fields: [LogKey: String]) {
        self.logger.log(.notice, message, fields)
    }
}

/// For `X-Request-Id` and the audit log.
enum RequestID {
    static let header = "X-Request-Id"
    static let bytesMax = 128

    /// Returns the client's id, if it is 1 to 128 visible ASCII characters; otherwise a new one of 16 hexadecimal digits.
    static func make(from given: String?) -> String {
        if let given, (1...Self.bytesMax).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        {
            return given
        }
        return Hexadecimal.text(UInt64.random(in: .min ... .max))
    }
}

import Logging
import ServerCore
import Synchronization
import TidingsModel

/// Writes who signed in, whose credentials were refused, and what was done with API keys: one line each, with constant messages
/// (`docs/operating.md` lists them), the client's address and the request's id. Never text, never a token or key.
struct AuditLog: Sendable {
    /// The name of its lines' logger.
    static let label = "tidings.audit"

    private let logger: Logger

    /// - Parameter logger: where the lines go, at level notice.
    init(_ logger: Logger) { self.logger = logger }

    /// Somebody who says hello.
    struct SignIn: Sendable {
        /// Where the connection comes from.
        var address: RemoteAddress
        /// The id of its handshake.
        var requestID: String
        /// Who it is; nil if the token was not good, for then nothing the client says is known to be true.
        var device: DeviceKey?
    }

    /// A device was welcomed.
    func signedIn(_ signIn: SignIn) { self.write("signed in", self.fields(signIn)) }

    /// A hello was refused.
    func refused(_ signIn: SignIn, _ code: ServerFrame.Problem.Code) {
        self.write("sign-in refused", self.fields(signIn).merging([.code: code.rawValue]) { $1 })
    }

    /// A device that is signed in has asked to go on with another token.
    func renewed(_ signIn: SignIn, _ answer: ClientAnswer) {
        guard case .refused(let problem) = answer else { return self.write("token renewed", self.fields(signIn)) }
        self.write("token refused", self.fields(signIn).merging([.code: problem.code.rawValue]) { $1 })
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

    /// A request of the HTTP API or of the routes for phones.
    struct Call: Sendable {
        /// Where it comes from.
        var address: RemoteAddress
        /// Its id.
        var requestID: String
        /// Its method.
        var method: String
        /// The route's pattern.
        var route: String
        /// The path as it was asked for, told of calls that were allowed only: anybody can put anything there.
        var path: String
        /// The query's `actor`.
        var actor: String?
        /// The status of the answer.
        var status: Int
        /// The code of the problem; nil if there was none.
        var code: String?
    }

    /// A request was answered. Told if its credentials were refused, or if they are an API key's.
    func answered(_ call: Call, _ note: Note) {
        var fields: [LogKey: String] = [
            .client: call.address.text, .request: call.requestID, .method: call.method, .route: call.route,
            .status: "\(call.status)",
        ]
        let (key, user) = (note.key, note.user)
        if let key { fields[.key] = key }
        if let code = call.code { fields[.code] = code }
        if call.status == 401 || call.code == "missing_scope" { return self.write("call refused", fields) }
        guard key != nil else { return }
        fields[.path] = call.path
        if let actor = call.actor { fields[.actor] = actor }
        if let user { fields[.user] = user }
        self.write("call", fields)
    }

    /// What is found out about a request while it is answered.
    final class Note: Sendable {
        private let found = Mutex<(key: String?, user: String?)>((nil, nil))

        /// The name of the API key.
        var key: String? {
            get { self.found.withLock { $0.key } }
            set { self.found.withLock { $0.key = newValue } }
        }
        /// For whom a user token was issued.
        var user: String? {
            get { self.found.withLock { $0.user } }
            set { self.found.withLock { $0.user = newValue } }
        }
    }

    private func write(_ message: Logger.Message, _ fields: [LogKey: String]) {
        self.logger.log(.notice, message, fields)
    }
}

/// The id of a request, for `X-Request-Id` and the audit log.
enum RequestID {
    /// The header, also of the handshake.
    static let header = "X-Request-Id"
    /// The longest id that is taken over, in bytes.
    static let bytesMax = 128

    /// The id a trusted proxy gave a request, or a new one of 16 hexadecimal digits.
    static func taken(over given: String?, isTrusted: Bool) -> String {
        if isTrusted, let given, (1...Self.bytesMax).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x2c })
        {
            return given
        }
        return Hexadecimal.text(UInt64.random(in: .min ... .max))
    }
}

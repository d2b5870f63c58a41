import Hummingbird
import StoreModel

/// Asks for the operator's own password before a change that outlives the session: operators, their keys and passwords, keys and
/// secrets of apps, user tokens, and where an app's users and events are taken from or told. A window that was left open, or a cookie that
/// was stolen, is not enough.
// Not inlined: the optimiser of Swift 6.3.1 crashes on some handlers into which it has inlined a wait.
extension API {
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

    /// The body of a DELETE, which may have none.
    @inline(never) func optionalBody(_ request: Request) async throws -> APIBody {
        let bytes = try await self.bytes(request)
        return try APIBody(bytes.isEmpty ? Array("{}".utf8) : bytes)
    }
}

package import TidingsModel

/// What a user token says whose signature, app, audience and times were found good.
package struct CheckedToken: Hashable, Sendable {
    /// The person it names, in their app.
    package var user: UserKey
    /// It is good until this time (wall milliseconds, at most 2^53).
    package var expiresAt: Int64
    /// When it was issued (wall milliseconds); nil if it does not say.
    package var issuedAt: Int64?

    /// A token from what it says.
    package init(user: UserKey, expiresAt: Int64, issuedAt: Int64? = nil) {
        self.user = user
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
    }
}

/// What the shell found when it checked the token of a hello or a renewal (signature, times, app and audience are facts; the core checks no
/// signatures).
package enum TokenVerdict: Hashable, Sendable {
    /// The token is good. The extension token was made for this connection (DESIGN §7 "Extension"); empty at a renewal, which
    /// leaves the one of the connection as it is.
    case valid(CheckedToken, extensionToken: String)
    /// Not a token of this server, or its signature is wrong.
    case invalid
    /// It was good and has expired.
    case expired
    /// Its app does not exist here.
    case wrongApp
    /// Its `nbf` or `iat` is in the future.
    case notYetValid
    /// Its `aud` names others, or it has none and the app demands one.
    case wrongAudience
    /// It is signed with a key the server does not know yet and is looking for.
    case keyPending

    /// The token and its extension token, if it is good.
    ///
    /// - Throws: what to tell the client.
    func good() throws(ServerFrame.Problem) -> (token: CheckedToken, extensionToken: String) {
        let invalid = { (rule: String) in ServerFrame.Problem(code: .invalidToken, field: "token", rule: rule) }
        switch self {
        case .valid(let token, let extensionToken): return (token, extensionToken)
        case .invalid: throw invalid("is not a user token of this server")
        case .expired: throw .init(code: .expiredToken, field: "token", rule: "has expired; ask for a new one")
        case .wrongApp: throw .init(code: .wrongApp, field: "token", rule: "names an app that does not exist here")
        case .notYetValid: throw invalid("is not good yet by its nbf or iat: a clock is wrong")
        case .wrongAudience: throw invalid("is not for this server: its aud must name it")
        case .keyPending:
            throw .init(
                code: .unavailable, field: "token", rule: "is signed with a key that is being looked for; try again")
        }
    }
}

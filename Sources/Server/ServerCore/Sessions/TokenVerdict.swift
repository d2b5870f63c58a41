package import TidingsModel

/// The content of a user token whose signature, app, audience and times were found good.
package struct CheckedToken: Hashable, Sendable {
    package var user: UserKey
    /// Wall milliseconds, at most 2^53.
    package var expiresAt: Int64
    /// Wall milliseconds; nil if it does not say.
    package var issuedAt: Int64?

    package init(user: UserKey, expiresAt: Int64, issuedAt: Int64? = nil) {
        self.user = user
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
    }
}

/// The shell checks the token of a hello or a renewal, because the core checks no signatures.
package enum TokenVerdict: Hashable, Sendable {
    /// The extension token was made for this connection (design.md §7 "Extension"); empty at a renewal, which leaves the
    /// connection's as it is.
    case valid(CheckedToken, extensionToken: String)
    /// Not a token of this server, or its signature is wrong.
    case invalid
    case expired
    case wrongApp
    /// Its `nbf` or `iat` is in the future.
    case notYetValid
    /// Its `aud` names others, or it has none and the app demands one.
    case wrongAudience
    /// It is signed with a key the server does not know yet and is looking for.
    case keyPending

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

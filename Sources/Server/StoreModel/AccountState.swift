package import TidingsModel

/// What the app's backend has decided about a person.
package struct AccountState: Hashable, Sendable {
    /// Nobody may sign in as this person.
    package var isBanned: Bool
    /// Tokens issued before this time (wall milliseconds) are good no more; nil if none was ever revoked.
    package var tokensNotBefore: Int64?

    /// The state of somebody about whom nothing was decided, or one from its parts.
    package init(isBanned: Bool = false, tokensNotBefore: Int64? = nil) {
        self.isBanned = isBanned
        self.tokensNotBefore = tokensNotBefore
    }

    /// Takes a change. Revoking never makes a token good again that was revoked before.
    package mutating func take(_ change: AccountChange) {
        switch change {
        case .ban: self.isBanned = true
        case .unban: self.isBanned = false
        case .revokeTokens(let time, _): self.tokensNotBefore = max(self.tokensNotBefore ?? time, time)
        }
    }

    /// Whether somebody may sign in with a token.
    ///
    /// - Parameter issuedAt: wall milliseconds; nil for a token that does not say, which counts as issued before any revocation.
    /// - Returns: why not, or nil.
    package func fault(inTokenIssuedAt issuedAt: Int64?) -> ServerFrame.Problem? {
        if self.isBanned {
            return ServerFrame.Problem(code: .disabled, field: "token", rule: "names a person whom the app has banned")
        }
        guard let time = self.tokensNotBefore, issuedAt ?? .min < time else { return nil }
        return ServerFrame.Problem(code: .tokenRevoked, field: "token", rule: "was revoked; ask for a new one")
    }
}

/// What the app's backend decides about a person.
package enum AccountChange: Hashable, Sendable {
    /// Signs the person out on all devices, whose unfinished legs end `disabled`, and lets nobody sign in as them.
    case ban
    /// Lets the person sign in again.
    case unban
    /// Tokens issued before a time (wall milliseconds) are good no more; with `signsOut` all devices are signed out, too.
    case revokeTokens(before: Int64, signsOut: Bool)

    /// How the unfinished legs of the person's devices end with it; nil if it leaves them signed in.
    package var endOfLegs: LegEnd? {
        switch self {
        case .ban: .disabled
        case .unban, .revokeTokens(_, signsOut: false): nil
        case .revokeTokens(_, signsOut: true): .signedOut
        }
    }
}

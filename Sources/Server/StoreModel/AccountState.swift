package import TidingsModel

package struct AccountState: Hashable, Sendable {
    package var isBanned: Bool
    /// Wall milliseconds: tokens issued earlier are no longer good; nil if none was ever revoked.
    package var tokensNotBefore: Int64?

    package init(isBanned: Bool = false, tokensNotBefore: Int64? = nil) {
        self.isBanned = isBanned
        self.tokensNotBefore = tokensNotBefore
    }

    /// Revoking never makes a token good again that was revoked before.
    package mutating func apply(_ change: AccountChange) {
        switch change {
        case .ban: self.isBanned = true
        case .unban: self.isBanned = false
        case .revokeTokens(let time, _): self.tokensNotBefore = max(self.tokensNotBefore ?? time, time)
        }
    }

    /// `issuedAt` is wall milliseconds; nil for a token that does not say, which counts as issued before any
    /// revocation.
    package func fault(inTokenIssuedAt issuedAt: Int64?) -> ServerFrame.Problem? {
        if self.isBanned {
            return ServerFrame.Problem(code: .disabled, field: "token", rule: "names a person whom the app has banned")
        }
        guard let time = self.tokensNotBefore, issuedAt ?? .min < time else { return nil }
        return ServerFrame.Problem(code: .tokenRevoked, field: "token", rule: "was revoked; ask for a new one")
    }
}

package enum AccountChange: Hashable, Sendable {
    /// Signs out all devices, whose unfinished legs end `disabled`, and refuses sign-ins.
    case ban
    case unban
    case revokeTokens(before: Int64, signsOut: Bool)

    /// How unfinished legs end; nil if the devices stay signed in.
    package var endOfLegs: LegEnd? {
        switch self {
        case .ban: .disabled
        case .unban, .revokeTokens(_, signsOut: false): nil
        case .revokeTokens(_, signsOut: true): .signedOut
        }
    }
}

package import TidingsModel

/// A ban of a person from an app.
package struct AccountBan: Hashable, Sendable {
    /// The reason, told to the app's backend and operators alone.
    package var reason: String?
    /// Wall milliseconds; nil for as long as nobody lifts it.
    package var until: Int64?

    package static let reasonBytesMax = 512

    package init(reason: String? = nil, until: Int64? = nil) {
        self.reason = reason
        self.until = until
    }

    package func holds(at wall: Int64) -> Bool { self.until.map { wall < $0 } ?? true }

    package func validate() throws(InvalidField) {
        guard let reason else { return }
        try InvalidField.check(reason.utf8.count, in: 1...Self.reasonBytesMax, "reason", unit: " bytes")
        try InvalidField.checkVisible(reason, "reason")
    }
}

package struct AccountState: Hashable, Sendable {
    /// The last ban that nobody has lifted; it may be over.
    package var ban: AccountBan?
    /// Wall milliseconds: tokens issued earlier are no longer good; nil if none was ever revoked.
    package var tokensNotBefore: Int64?

    package init(ban: AccountBan? = nil, tokensNotBefore: Int64? = nil) {
        self.ban = ban
        self.tokensNotBefore = tokensNotBefore
    }

    package func isBanned(at wall: Int64) -> Bool { self.ban?.holds(at: wall) == true }

    /// Revoking never makes a token good again that was revoked before.
    package mutating func apply(_ change: AccountChange) {
        switch change {
        case .ban(let ban): self.ban = ban
        case .unban: self.ban = nil
        case .revokeTokens(let time, _): self.tokensNotBefore = max(self.tokensNotBefore ?? time, time)
        }
    }

    /// `issuedAt` is wall milliseconds; nil for a token that does not say, which counts as issued before any
    /// revocation.
    package func fault(inTokenIssuedAt issuedAt: Int64?, at wall: Int64) -> ServerFrame.Problem? {
        if self.isBanned(at: wall) { return StoreRules.bannedPerson }
        guard let time = self.tokensNotBefore, issuedAt ?? .min < time else { return nil }
        return ServerFrame.Problem(code: .tokenRevoked, field: "token", rule: "was revoked; ask for a new one")
    }
}

package enum AccountChange: Hashable, Sendable {
    /// Signs out all devices, whose unfinished legs end `disabled`, and refuses sign-ins, in place of the ban before.
    case ban(AccountBan = AccountBan())
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

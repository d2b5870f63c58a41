import TidingsModel

/// Renews the tokens of one anonymous person by a token of its own kind, signed with a key of its own, so that nothing has to be kept of
/// people who never connect (docs/inside/decisions/0049-anonymous-people.md).
extension UserTokens {
    struct Renewal: Hashable, Sendable {
        var user: UserKey
        /// Wall milliseconds at which the person was made; tokens that are revoked end what was issued before with them.
        var issuedAt: Int64
    }

    /// - Returns: nil for an app that has no anonymous people.
    func renewal(for user: UserKey, issuedAt: Int64) -> String? {
        guard let keys = self.registry.app(user.app)?.installations else { return nil }
        return JSONWebToken.signed(
            ["app": user.app, "sub": user.user, "at": issuedAt], by: keys.ofRenewals)
    }

    /// Returns the renewal of a good token. The core knows if the person is banned or their tokens are revoked.
    func checked(renewal text: String) -> Renewal? {
        guard let token = JSONWebToken(text), token.algorithm == "HS256", let name = token.text("app"),
            let keys = self.registry.app(AppID(name))?.installations, token.isSigned(by: keys.ofRenewals),
            let person = token.text("sub"), let issuedAt = token.integer("at")
        else { return nil }
        return Renewal(user: UserKey(app: AppID(name), user: UserID(person)), issuedAt: issuedAt)
    }
}

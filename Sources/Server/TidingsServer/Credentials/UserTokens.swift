import ServerCore
import StoreModel
package import TidingsModel

/// Makes and checks user tokens: JSON web tokens (RFC 7519) with the claims `app` (or `iss`), `sub` (the person) and `exp`, and
/// optionally `iat`, `nbf` and `aud`; signed with HS256 and one of the app's secrets, or with ES256 or RS256 and a key of the app's
/// key set. Also extension tokens, which are bound to a device and signed with a key of their own, so that neither can be taken for
/// the other.
package struct UserTokens: Sendable {
    struct ExtensionToken: Hashable, Sendable {
        var device: DeviceKey
        /// Wall milliseconds of the connect that brought it.
        var issuedAt: Int64
        /// Wall milliseconds; nil if the user token of that connect did not say.
        var userTokenIssuedAt: Int64?
    }

    /// How long an extension token is good at most. Each connect brings a new one, after which the old one is good for
    /// `ServerSettings.extensionTokenOverlap`; signing out ends them all.
    static let extensionLifetimeSeconds: Int64 = 30 * 24 * 3_600

    let registry: AppRegistry
    let keys: TokenKeys
    /// How far ahead the clock of the signer may be, in milliseconds.
    private let leeway: Int64

    /// Keys of files and addresses are read by `TokenKeys.loadFiles` and `TokenKeyWatch`.
    init(_ registry: AppRegistry, leeway: Int64 = 30_000) {
        self.registry = registry
        self.leeway = leeway
        self.keys = TokenKeys(registry)
    }

    /// For apps of which there is no store.
    package init(apps: [ServerConfiguration.App], leeway: Int64 = 30_000) throws {
        self.init(try AppRegistry(apps: apps), leeway: leeway)
    }

    /// - Parameters: device: the device the extension token of a good verdict is bound to; nil for none, as at a renewal.
    ///   wallMilliseconds: now; a token is expired from its `exp` on.
    func verdict(on token: String, device: DeviceID?, wallMilliseconds now: Int64) -> TokenVerdict {
        guard let token = JSONWebToken(token), let name = token.text("app") ?? token.text("iss") else {
            return .invalid
        }
        let id = AppID(name)
        guard let app = self.registry.app(id) else { return .wrongApp }
        guard let person = token.text("sub") else { return .invalid }
        switch self.signature(of: token, by: UserID(person), for: app, at: now) {
        case .good: break
        case .bad: return .invalid
        case .keyPending: return .keyPending
        }
        guard let user = try? UserID.validated(person, field: "sub"),
            case .at(let expiresAt) = token.time("exp")
        else { return .invalid }
        guard now < expiresAt else { return .expired }
        var issuedAt: Int64?
        for claim in ["nbf", "iat"] {
            switch token.time(claim) {
            case .missing: break
            case .malformed: return .invalid
            case .at(let time):
                // RFC 7519 §4.1.5, with a leeway for clocks. A token of the future would outlive a revocation.
                guard time <= now + self.leeway else { return .notYetValid }
                if claim == "iat" { issuedAt = time }
            }
        }
        // RFC 7519 §4.1.3: a server that is not named in it must refuse the token.
        if let audiences = token.audiences {
            guard audiences.contains(where: app.audiences.contains) else { return .wrongAudience }
        } else if app.record.settings.tokens.demandsAudience {
            return .wrongAudience
        }
        let checked = CheckedToken(user: UserKey(app: id, user: user), expiresAt: expiresAt, issuedAt: issuedAt)
        return .valid(checked, extensionToken: device.map { self.extensionToken(for: checked, $0, at: now, app) } ?? "")
    }

    private enum Signature { case good, bad, keyPending }

    /// The algorithm decides which keys are tried, and a key is tried for its own algorithm only (RFC 8725 §3.1): a public key is
    /// never used as a secret.
    private func signature(
        of token: JSONWebToken, by person: UserID, for app: AppRegistry.App, at now: Int64
    ) -> Signature {
        // Nobody but the server makes anonymous people, whatever the app's secrets and keys sign.
        guard !person.isAnonymous else {
            let isOurs = app.installations.map { token.algorithm == "HS256" && token.isSigned(by: $0.ofUsers) } ?? false
            return isOurs ? .good : .bad
        }
        guard let algorithm = TokenKey.Algorithm(rawValue: token.algorithm) else {
            guard token.algorithm == "HS256" else { return .bad }
            return app.secrets.contains { $0.isGood(at: now) && token.isSigned(by: $0.ofUsers) } ? .good : .bad
        }
        guard let source = app.record.settings.tokens.keySource else { return .bad }
        switch self.keys.key(for: app.record.id, at: source, algorithm, token.keyID) {
        case .found(let key): return token.isSigned(by: key) ? .good : .bad
        case .none: return .bad
        case .pending: return .keyPending
        }
    }

    /// - Parameter issuedAt: wall milliseconds; nil for a token that does not say, and is revoked by every revocation.
    /// - Returns: nil for an app that is not here, and for an anonymous person of an app that has none.
    package func token(for user: UserKey, issuedAt: Int64? = nil, expiresAtSeconds: Int64) -> String? {
        guard let app = self.registry.app(user.app),
            let key = user.user.isAnonymous ? app.installations?.ofUsers : app.secrets.first?.ofUsers
        else { return nil }
        var claims: JSONMembers = ["app": user.app, "sub": user.user, "exp": expiresAtSeconds]
        // With the milliseconds: a token made right after a revocation is good.
        claims += .given(["iat": issuedAt.map { Double($0) / 1_000 }])
        if app.record.settings.tokens.demandsAudience { claims += .given(["aud": app.audiences.first]) }
        return JSONWebToken.signed(claims, by: key)
    }

    /// Returns the contents of a good token. The core knows if the device is still signed in.
    func checked(extensionToken text: String, wallMilliseconds: Int64) -> ExtensionToken? {
        guard let token = JSONWebToken(text), token.algorithm == "HS256", let name = token.text("app"),
            let app = self.registry.app(AppID(name)), !app.record.isSuspended,
            app.secrets.contains(where: { $0.isGood(at: wallMilliseconds) && token.isSigned(by: $0.ofExtensions) }),
            let person = token.text("sub"), let device = token.text("dev"), let issuedAt = token.integer("at"),
            case .at(let expiresAt) = token.time("exp"), wallMilliseconds < expiresAt
        else { return nil }
        let user = UserKey(app: AppID(name), user: UserID(person))
        return ExtensionToken(
            device: DeviceKey(user: user, device: DeviceID(device)), issuedAt: issuedAt,
            userTokenIssuedAt: token.integer("user_iat"))
    }

    private func extensionToken(
        for token: CheckedToken, _ device: DeviceID, at wallMilliseconds: Int64, _ app: AppRegistry.App
    ) -> String {
        // In milliseconds: a connect a moment later makes another one.
        let claims: JSONMembers = .given([
            "app": token.user.app, "sub": token.user.user, "dev": device, "at": wallMilliseconds,
            "exp": wallMilliseconds / 1_000 + Self.extensionLifetimeSeconds, "user_iat": token.issuedAt,
        ])
        guard let secret = app.secrets.first else { return "" }
        return JSONWebToken.signed(claims, by: secret.ofExtensions)
    }
}

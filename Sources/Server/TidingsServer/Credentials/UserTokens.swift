import Foundation
import JWTKit
import ServerCore
package import TidingsModel

/// Makes and checks user tokens: JSON web tokens signed with HS256 and the app's secret (RFC 7519), with the claims `app`
/// (or `iss`), `sub` (the person) and `exp`. Also extension tokens, which are bound to a device and signed with a key of
/// their own, so that neither can be taken for the other.
package struct UserTokens: Sendable {
    private struct Signers: Sendable {
        var user: any JWTAlgorithm
        var ofExtension: any JWTAlgorithm
    }

    private struct UserClaims: JWTPayload {
        var sub: String
        var app: String?
        var iss: String?
        var exp: Double

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private struct ExtensionClaims: JWTPayload {
        var sub: String
        var app: String
        var dev: String
        /// When it was made, in milliseconds: a connect a moment later makes another one.
        var at: Int64
        var exp: Double

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// What an extension token says.
    struct ExtensionToken: Hashable, Sendable {
        /// The device it is bound to.
        var device: DeviceKey
        /// Wall milliseconds of the connect that brought it.
        var issuedAt: Int64
    }

    /// How long an extension token is good at most, in seconds. Each connect brings a new one, after which this one is good for
    /// `ServerSettings.extensionTokenOverlap`; signing out ends them all.
    static let extensionLifetimeSeconds: Int64 = 30 * 24 * 3_600
    /// The longest token that is looked at, in bytes.
    static let bytesMax = 4_096

    private let signers: [AppID: Signers]
    private let parser = DefaultJWTParser()

    /// Prepares the keys of all apps.
    ///
    /// - Throws: what JWTKit throws for a key it cannot use; secrets `validate()` accepts are usable.
    package init(apps: [ServerConfiguration.App]) async throws {
        var signers: [AppID: Signers] = [:]
        for app in apps {
            signers[app.id] = Signers(
                user: try await Self.algorithm(secret: app.tokenSecret.value),
                ofExtension: try await Self.algorithm(secret: "extension token:" + app.tokenSecret.value))
        }
        self.signers = signers
    }

    private static func algorithm(secret: String) async throws -> any JWTAlgorithm {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
        return try await keys.getKey()
    }

    /// Checks the token of a hello.
    ///
    /// - Parameters:
    ///   - device: the device the extension token of a good verdict is bound to.
    ///   - wallMilliseconds: now; a token is expired from its `exp` on.
    func verdict(on token: String, device: DeviceID, wallMilliseconds: Int64) -> TokenVerdict {
        guard token.utf8.count <= Self.bytesMax,
            let (claims, signed) = self.claims(UserClaims.self, token), let name = claims.app ?? claims.iss
        else { return .invalid }
        let app = AppID(name)
        guard let signers = self.signers[app] else { return .wrongApp }
        guard signed(signers.user), let user = try? UserID.validated(claims.sub, field: "sub") else { return .invalid }
        guard Double(wallMilliseconds) < claims.exp * 1_000 else { return .expired }
        let key = UserKey(app: app, user: user)
        return .valid(key, extensionToken: self.extensionToken(for: key, device: device, at: wallMilliseconds, signers))
    }

    /// Makes a user token.
    ///
    /// - Returns: nil for an app that is not configured.
    package func token(for user: UserKey, expiresAtSeconds: Int64) -> String? {
        guard let signers = self.signers[user.app] else { return nil }
        return self.sign(
            [
                ("app", .string(user.app.rawValue)), ("sub", .string(user.user.rawValue)),
                ("exp", .int(expiresAtSeconds)),
            ],
            signers.user)
    }

    /// Checks an extension token. Whether the device is still signed in, the core knows.
    ///
    /// - Returns: what it says; nil if it is not ours, or expired.
    func checked(extensionToken token: String, wallMilliseconds: Int64) -> ExtensionToken? {
        guard token.utf8.count <= Self.bytesMax,
            let (claims, signed) = self.claims(ExtensionClaims.self, token),
            let signers = self.signers[AppID(claims.app)], signed(signers.ofExtension),
            Double(wallMilliseconds) < claims.exp * 1_000
        else { return nil }
        let user = UserKey(app: AppID(claims.app), user: UserID(claims.sub))
        return ExtensionToken(
            device: DeviceKey(user: user, device: DeviceID(claims.dev)), issuedAt: claims.at)
    }

    private func extensionToken(
        for user: UserKey, device: DeviceID, at wallMilliseconds: Int64, _ signers: Signers
    ) -> String {
        self.sign(
            [
                ("app", .string(user.app.rawValue)), ("sub", .string(user.user.rawValue)),
                ("dev", .string(device.rawValue)), ("at", .int(wallMilliseconds)),
                ("exp", .int(wallMilliseconds / 1_000 + Self.extensionLifetimeSeconds)),
            ], signers.ofExtension)
    }

    private func sign(_ claims: [(String, JSONValue)], _ algorithm: any JWTAlgorithm) -> String {
        let header: JSONValue = ["alg": "HS256", "typ": "JWT"]
        let plain = "\(Self.base64URL(header.serialized)).\(Self.base64URL(JSONValue.members(claims).serialized))"
        // An HMAC cannot fail.
        let signature = (try? algorithm.sign(Data(plain.utf8))) ?? []
        return "\(plain).\(Self.base64URL(signature))"
    }

    /// The claims, and a function that says whether a signer signed them. Nothing in them is to be trusted before it did.
    private func claims<Claims: JWTPayload>(
        _ type: Claims.Type, _ token: String
    ) -> (Claims, (any JWTAlgorithm) -> Bool)? {
        let bytes = Array(token.utf8)
        // RFC 8725 §3.1: the algorithm is ours to choose, not the token's.
        guard let (header, claims, signature) = try? self.parser.parse(bytes, as: type), header.alg == "HS256",
            let end = bytes.lastIndex(of: UInt8(ascii: "."))
        else { return nil }
        return (claims, { (try? $0.verify(signature, signs: bytes[..<end])) ?? false })
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

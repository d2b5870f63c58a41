import Crypto
import Foundation
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A user token` {
    private static let alice = UserKey(app: "demo", user: "alice")
    private static let now: Int64 = 1_800_000_000_000

    private func tokens() throws -> UserTokens {
        try UserTokens(apps: [
            .init(id: "demo", tokenSecret: TestServer.secret),
            .init(id: "shop", tokenSecret: Secret("another secret of at least thirty-two bytes")),
        ])
    }

    private struct Claims {
        var sub: String?
        var app: String?
        var iss: String?
        var exp: Int64?
    }

    private func sign(_ claims: Claims, secret: String = TestServer.secret.value) -> String {
        let members: [(String, JSONValue?)] = [
            ("sub", claims.sub.map { .string($0) }), ("app", claims.app.map { .string($0) }),
            ("iss", claims.iss.map { .string($0) }), ("exp", claims.exp.map { .int($0) }),
        ]
        let text = JSONValue.members(members.compactMap { name, value in value.map { (name, $0) } }).text
        return self.token(#"{"alg":"HS256","typ":"JWT"}"#, text, secret: secret)
    }

    private func verdict(_ token: String, at time: Int64 = Self.now) throws -> TokenVerdict {
        try self.tokens().verdict(on: token, device: "phone", wallMilliseconds: time)
    }

    /// A token with any header and claims, signed with HS256.
    private func token(_ header: String, _ claims: String, secret: String = TestServer.secret.value) -> String {
        self.token(header, claims, secret, SHA256.self)
    }

    private func token<Hash: HashFunction>(
        _ header: String, _ claims: String, _ secret: String, _: Hash.Type
    ) -> String {
        let plain = "\(Base64.encode(header.utf8, .url)).\(Base64.encode(claims.utf8, .url))"
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = Array(HMAC<Hash>.authenticationCode(for: Data(plain.utf8), using: key))
        return "\(plain).\(Base64.encode(code, .url))"
    }

    @Test func `names its person`() async throws {
        let tokens = try self.tokens()
        let token = try #require(tokens.token(for: Self.alice, expiresAtSeconds: Self.now / 1_000 + 1))
        guard
            case .valid(let checked, let extensionToken) = tokens.verdict(
                on: token, device: "phone", wallMilliseconds: Self.now)
        else { Issue.record("the token was refused"); return }
        #expect(checked == CheckedToken(user: Self.alice, expiresAt: Self.now + 1_000))
        #expect(
            tokens.checked(extensionToken: extensionToken, wallMilliseconds: Self.now)
                == .init(device: DeviceKey(user: Self.alice, device: "phone"), issuedAt: Self.now))
    }

    @Test func `may have the app in iss`() throws {
        for claims in [
            Claims(sub: "alice", app: "demo", exp: 1_900_000_000),
            Claims(sub: "alice", iss: "demo", exp: 1_900_000_000),
        ] {
            guard case .valid(let checked, _) = try self.verdict(self.sign(claims)), checked.user == Self.alice
            else {
                Issue.record("refused: \(claims)")
                continue
            }
        }
    }

    @Test func `is expired from its last second on`() throws {
        let token = self.sign(Claims(sub: "alice", app: "demo", exp: Self.now / 1_000))
        #expect(try self.verdict(token, at: Self.now) == .expired)
        guard case .valid = try self.verdict(token, at: Self.now - 1) else {
            Issue.record("expired too early")
            return
        }
    }

    @Test func `says when it was issued, to the millisecond if this server made it`() async throws {
        let tokens = try self.tokens()
        let token = try #require(
            tokens.token(for: Self.alice, issuedAt: Self.now + 123, expiresAtSeconds: Self.now / 1_000 + 60))
        guard
            case .valid(let checked, let ofExtension) = tokens.verdict(
                on: token, device: "phone", wallMilliseconds: Self.now + 200)
        else { Issue.record("the token was refused"); return }
        #expect(checked.issuedAt == Self.now + 123)
        #expect(
            tokens.checked(extensionToken: ofExtension, wallMilliseconds: Self.now + 200)?.userTokenIssuedAt
                == Self.now + 123)
        // A renewal brings no extension token.
        guard case .valid(_, "") = tokens.verdict(on: token, device: nil, wallMilliseconds: Self.now + 200) else {
            Issue.record("there is an extension token")
            return
        }
    }

    @Test func `is not good before its nbf, or of the future by its iat, but for half a minute of leeway`() async throws
    {
        let later = Self.now / 1_000 + 31
        for claim in ["nbf", "iat"] {
            let token = self.token(
                #"{"alg":"HS256"}"#, #"{"app":"demo","sub":"alice","exp":1900000000,"\#(claim)":\#(later)}"#)
            #expect(try self.verdict(token) == .notYetValid, "\(claim)")
            guard case .valid = try self.verdict(token, at: Self.now + 1_000) else {
                Issue.record("\(claim) has no leeway")
                continue
            }
        }
    }

    @Test func `is for the app unless it says for whom, and may be made to say it`() async throws {
        var app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        func verdicts(_ app: ServerConfiguration.App) throws -> [Bool] {
            let tokens = try UserTokens(apps: [app])
            return ["", #","aud":"demo""#, #","aud":["mail","chat"]"#, #","aud":"mail""#, #","aud":[]"#, #","aud":{}"#]
                .map {
                    let token = self.token(
                        #"{"alg":"HS256"}"#, #"{"app":"demo","sub":"alice","exp":1900000000\#($0)}"#)
                    return tokens.verdict(on: token, device: nil, wallMilliseconds: Self.now) != .wrongAudience
                }
        }
        #expect(try verdicts(app) == [true, true, false, false, false, false])
        app.settings.tokens.audiences = ["chat"]
        #expect(try verdicts(app) == [true, false, true, false, false, false])
        app.settings.tokens.demandsAudience = true
        #expect(try verdicts(app) == [false, false, true, false, false, false])
    }

    @Test func `is good by either of two secrets, and made with the first`() async throws {
        var app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        app.previousSecret = Secret("the secret before, of thirty-two bytes")
        let both = try UserTokens(apps: [app])
        let before = try UserTokens(apps: [
            .init(id: "demo", tokenSecret: Secret("the secret before, of thirty-two bytes"))
        ])
        let old = try #require(before.token(for: Self.alice, expiresAtSeconds: 1_900_000_000))
        guard case .valid(_, let ofExtension) = before.verdict(on: old, device: "phone", wallMilliseconds: Self.now),
            case .valid = both.verdict(on: old, device: "phone", wallMilliseconds: Self.now)
        else { Issue.record("the old secret is not good"); return }
        // What phones hold from before the change is good, too.
        #expect(both.checked(extensionToken: ofExtension, wallMilliseconds: Self.now) != nil)
        let new = try #require(both.token(for: Self.alice, expiresAtSeconds: 1_900_000_000))
        #expect(before.verdict(on: new, device: nil, wallMilliseconds: Self.now) == .invalid)
        guard case .valid = try self.verdict(new) else { Issue.record("the new secret is not good"); return }
    }

    @Test func `with extensions that must be understood, or with numbers of any size, is refused and harms nobody`()
        async throws
    {
        for header in [
            #"{"alg":"HS256","crit":["exp"]}"#, #"{"alg":"HS256","crit":[]}"#, #"{"alg":"HS256","kid":7}"#, "[]", "7",
            #"{"alg":"HS256","alg":"none"}"#, #"{"alg":["HS256"]}"#,
        ] {
            let token = self.token(header, #"{"app":"demo","sub":"alice","exp":1900000000}"#)
            #expect(try self.verdict(token) == .invalid, "\(header)")
        }
        for number in ["1e300", "-1e300", "1e19", "1e999", "9223372036854775808", "0.5"] {
            // No signature is looked at before this is read.
            let token = self.token(
                #"{"alg":"HS256","x":\#(number)}"#, #"{"app":"demo","sub":"alice","exp":\#(number)}"#, secret: "any")
            #expect(try self.verdict(token) == .invalid, "\(number)")
            for claim in ["exp", "nbf", "iat", "x"] {
                let claims = #"{"app":"demo","sub":"alice","exp":1900000000,"\#(claim)":\#(number)}"#
                _ = try self.verdict(
                    self.token(
                        #"{"alg":"HS256"}"#, claims.replacing(claim == "exp" ? #""exp":1900000000,"# : "", with: "")))
            }
        }
    }

    @Test func `of an app that is not here is told so`() throws {
        let token = self.sign(Claims(sub: "alice", app: "elsewhere", exp: 1_900_000_000))
        #expect(try self.verdict(token) == .wrongApp)
    }

    @Test func `is invalid when anything else is wrong`() throws {
        let good = self.sign(Claims(sub: "alice", app: "demo", exp: 1_900_000_000))
        let parts = good.split(separator: ".").map(String.init)
        let none = "eyJhbGciOiJub25lIn0.\(parts[1])."
        let bad: [String: String] = [
            "empty": "", "not a token": "abc", "cut off": String(good.dropLast(4)),
            "unsigned": "\(parts[0]).\(parts[1]).", "algorithm none": none,
            "signed with another app's secret": self.sign(
                Claims(sub: "alice", app: "demo", exp: 1_900_000_000),
                secret: "another secret of at least thirty-two bytes"),
            "another hash": self.token(
                #"{"alg":"HS512","typ":"JWT"}"#, #"{"sub":"alice","app":"demo","exp":1900000000}"#,
                TestServer.secret.value, SHA512.self),
            "without person": self.sign(Claims(app: "demo", exp: 1_900_000_000)),
            "without app": self.sign(Claims(sub: "alice", exp: 1_900_000_000)),
            "without end": self.sign(Claims(sub: "alice", app: "demo")),
            "an impossible person": self.sign(Claims(sub: "al ice", app: "demo", exp: 1_900_000_000)),
            "too long": String(repeating: "x", count: 5_000),
        ]
        for (what, token) in bad {
            #expect(try self.verdict(token) == .invalid, "\(what)")
        }
    }

    @Test func `cannot be used as an extension token, nor the other way round`() async throws {
        let tokens = try self.tokens()
        let user = try #require(tokens.token(for: Self.alice, expiresAtSeconds: Self.now / 1_000 + 60))
        guard case .valid(_, let ofExtension) = tokens.verdict(on: user, device: "phone", wallMilliseconds: Self.now)
        else {
            Issue.record("the token was refused")
            return
        }
        #expect(tokens.checked(extensionToken: user, wallMilliseconds: Self.now) == nil)
        #expect(tokens.verdict(on: ofExtension, device: "phone", wallMilliseconds: Self.now) == .invalid)
        let later = Self.now + (UserTokens.extensionLifetimeSeconds + 1) * 1_000
        #expect(tokens.checked(extensionToken: ofExtension, wallMilliseconds: later) == nil)
    }
}

@Suite struct `An API key` {
    @Test func `opens what its scopes say, in its own app only`() throws {
        let keys = APIKeys(try AppRegistry(apps: TestServer.configuration(folder: "/nowhere").apps))
        #expect(keys.access(app: "demo", key: TestServer.key, scope: .messages) == .granted(.key("operator")))
        #expect(keys.access(app: "demo", key: "reader-key", scope: .trace) == .granted(.key("reader")))
        #expect(
            keys.access(app: "demo", key: "reader-key", scope: .messages)
                == .refused(.key("reader"), .missingScope(.messages)))
        #expect(keys.access(app: "demo", key: "wrong", scope: .trace) == .unknownKey)
        #expect(keys.access(app: "shop", key: TestServer.key, scope: .trace) == .unknownKey)
    }
}

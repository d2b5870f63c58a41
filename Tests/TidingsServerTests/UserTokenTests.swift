import JWTKit
import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A user token` {
    private static let alice = UserKey(app: "demo", user: "alice")
    private static let now: Int64 = 1_800_000_000_000

    private func tokens() async throws -> UserTokens {
        try await UserTokens(apps: [
            .init(id: "demo", tokenSecret: TestServer.secret),
            .init(id: "shop", tokenSecret: Secret("another secret of at least thirty-two bytes")),
        ])
    }

    private struct Claims: JWTPayload {
        var sub: String?
        var app: String?
        var iss: String?
        var exp: Int?
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private func sign(
        _ claims: Claims, secret: String = TestServer.secret.value, _ digest: DigestAlgorithm = .sha256
    ) async throws -> String {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: digest)
        return try await keys.sign(claims)
    }

    private func verdict(_ token: String, at time: Int64 = Self.now) async throws -> TokenVerdict {
        try await self.tokens().verdict(on: token, device: "phone", wallMilliseconds: time)
    }

    @Test func `names its person`() async throws {
        let tokens = try await self.tokens()
        let token = try #require(tokens.token(for: Self.alice, expiresAtSeconds: Self.now / 1_000 + 1))
        guard
            case .valid(let user, let extensionToken) = tokens.verdict(
                on: token, device: "phone", wallMilliseconds: Self.now)
        else { Issue.record("the token was refused"); return }
        #expect(user == Self.alice)
        #expect(
            tokens.checked(extensionToken: extensionToken, wallMilliseconds: Self.now)
                == .init(device: DeviceKey(user: Self.alice, device: "phone"), issuedAt: Self.now))
    }

    @Test func `may be made by any JWT library, with the app in iss`() async throws {
        for claims in [
            Claims(sub: "alice", app: "demo", exp: 1_900_000_000),
            Claims(sub: "alice", iss: "demo", exp: 1_900_000_000),
        ] {
            guard case .valid(Self.alice, _) = try await self.verdict(self.sign(claims)) else {
                Issue.record("refused: \(claims)")
                continue
            }
        }
    }

    @Test func `is expired from its last second on`() async throws {
        let token = try await self.sign(Claims(sub: "alice", app: "demo", exp: Int(Self.now / 1_000)))
        #expect(try await self.verdict(token, at: Self.now) == .expired)
        guard case .valid = try await self.verdict(token, at: Self.now - 1) else {
            Issue.record("expired too early")
            return
        }
    }

    @Test func `of an app that is not here is told so`() async throws {
        let token = try await self.sign(Claims(sub: "alice", app: "elsewhere", exp: 1_900_000_000))
        #expect(try await self.verdict(token) == .wrongApp)
    }

    @Test func `is invalid when anything else is wrong`() async throws {
        let good = try await self.sign(Claims(sub: "alice", app: "demo", exp: 1_900_000_000))
        let parts = good.split(separator: ".").map(String.init)
        let none = "eyJhbGciOiJub25lIn0.\(parts[1])."
        let bad: [String: String] = [
            "empty": "", "not a token": "abc", "cut off": String(good.dropLast(4)),
            "unsigned": "\(parts[0]).\(parts[1]).", "algorithm none": none,
            "signed with another app's secret": try await self.sign(
                Claims(sub: "alice", app: "demo", exp: 1_900_000_000),
                secret: "another secret of at least thirty-two bytes"),
            "another hash": try await self.sign(
                Claims(sub: "alice", app: "demo", exp: 1_900_000_000),
                secret: TestServer.secret.value + TestServer.secret.value, .sha512),
            "without person": try await self.sign(Claims(app: "demo", exp: 1_900_000_000)),
            "without app": try await self.sign(Claims(sub: "alice", exp: 1_900_000_000)),
            "without end": try await self.sign(Claims(sub: "alice", app: "demo")),
            "an impossible person": try await self.sign(Claims(sub: "al ice", app: "demo", exp: 1_900_000_000)),
            "too long": String(repeating: "x", count: 5_000),
        ]
        for (what, token) in bad {
            #expect(try await self.verdict(token) == .invalid, "\(what)")
        }
    }

    @Test func `cannot be used as an extension token, nor the other way round`() async throws {
        let tokens = try await self.tokens()
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
    private let keys = ApiKeys(apps: TestServer.configuration(folder: "/nowhere").apps)

    @Test func `opens what its scopes say, in its own app only`() {
        #expect(self.keys.access(app: "demo", key: TestServer.key, scope: .messages) == .granted(name: "operator"))
        #expect(self.keys.access(app: "demo", key: "reader-key", scope: .trace) == .granted(name: "reader"))
        #expect(self.keys.access(app: "demo", key: "reader-key", scope: .messages) == .missingScope)
        #expect(self.keys.access(app: "demo", key: "wrong", scope: .trace) == .unknownKey)
        #expect(self.keys.access(app: "shop", key: TestServer.key, scope: .trace) == .unknownKey)
    }
}

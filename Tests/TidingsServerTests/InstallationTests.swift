import Foundation
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

private let guest = UserKey(app: "shop", user: "anon-000102030405060708090a0b0c0d0e0f")
private let now = RegistryBench.now

extension RegistryBench {
    fileprivate mutating func addClientKey(_ id: String, to app: AppID = "shop") throws {
        let secret = try self.keys.sealInstallationSecret("the secret of \(app)", of: app)
        try self.change(
            .addClientKey(
                app, ClientKeyRecord(id: id, name: "ios", createdAt: Self.now), installationSecret: secret))
    }

    fileprivate func verdict(on token: String) -> TokenVerdict {
        self.tokens.verdict(on: token, device: nil, wallMilliseconds: Self.now)
    }
}

@Suite struct `A token of an anonymous person by its signature` {
    private static let key = "pk_0123456789abcdef"

    private static func bench() throws -> RegistryBench {
        var bench = try RegistryBench()
        try bench.makeApp()
        try bench.addClientKey(Self.key)
        return bench
    }

    private static func token(_ tokens: UserTokens, of user: UserKey = guest) throws -> String {
        try #require(tokens.token(for: user, issuedAt: now, expiresAtSeconds: now / 1_000 + 60))
    }

    @Test func `is good, also once the app has another token secret`() throws {
        var bench = try Self.bench()
        let token = try Self.token(bench.tokens)
        let good = CheckedToken(user: guest, expiresAt: now + 60_000, issuedAt: now)
        #expect(bench.verdict(on: token) == .valid(good, extensionToken: ""))
        try bench.change(.addSecret("shop", try bench.secret("second secret", id: "s2"), previousEndsAt: now))
        #expect(bench.verdict(on: token) == .valid(good, extensionToken: ""))
    }

    @Test func `is good of nobody else who can sign for the app`() throws {
        let bench = try Self.bench()
        let secret = SharedKey("first secret")
        func claims(_ user: String) -> JSONMembers { ["app": "shop", "sub": user, "exp": now / 1_000 + 60] }
        #expect(bench.verdict(on: JSONWebToken.signed(claims(guest.user.rawValue), by: secret)) == .invalid)
        // Nor does what signs for anonymous people sign for others.
        let keys = try #require(bench.registry.app("shop")?.installations)
        for user in ["alice", guest.user.rawValue + "0"] {
            let isAnonymous = UserID(user).isAnonymous
            guard case .valid = bench.verdict(on: JSONWebToken.signed(claims(user), by: keys.ofUsers)) else {
                #expect(!isAnonymous)
                continue
            }
            #expect(isAnonymous)
        }
    }

    @Test func `is one of an app that has had a client key`() throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        #expect(bench.tokens.token(for: guest, issuedAt: now, expiresAtSeconds: now) == nil)
        #expect(bench.tokens.renewal(for: guest, issuedAt: now) == nil)
        try bench.addClientKey(Self.key)
        let token = try Self.token(bench.tokens)
        try bench.change(.revokeClientKey("shop", key: Self.key))
        #expect(bench.registry.app(ofClientKey: Self.key) == nil)
        guard case .valid = bench.verdict(on: token) else { Issue.record("the token was refused"); return }
    }

    @Test func `is renewed by its renewal, which is no token, and by no token`() throws {
        let bench = try Self.bench()
        let renewal = try #require(bench.tokens.renewal(for: guest, issuedAt: now))
        #expect(bench.tokens.checked(renewal: renewal) == UserTokens.Renewal(user: guest, issuedAt: now))
        #expect(bench.verdict(on: renewal) == .invalid)
        #expect(bench.tokens.checked(renewal: try Self.token(bench.tokens)) == nil)
        #expect(bench.tokens.checked(renewal: String(renewal.dropLast(2)) + "AA") == nil)
        #expect(bench.tokens.checked(renewal: "renewal") == nil)
    }

    @Test func `is another one in another app, whose renewals renew nothing here`() throws {
        var bench = try Self.bench()
        try bench.makeApp("club", secret: "another secret")
        try bench.addClientKey("pk_fedcba9876543210", to: "club")
        #expect(bench.registry.app(ofClientKey: "pk_fedcba9876543210")?.record.id == "club")
        let other = try #require(
            bench.tokens.renewal(for: UserKey(app: "club", user: guest.user), issuedAt: now))
        #expect(bench.tokens.checked(renewal: other)?.user.app == "club")
        // The same claims under the other app's key.
        let keys = try #require(bench.registry.app("club")?.installations)
        let forged = JSONWebToken.signed(
            ["app": "shop", "sub": guest.user, "at": now], by: keys.ofRenewals)
        #expect(bench.tokens.checked(renewal: forged) == nil)
    }
}

/// `docs/inside/decisions/0049-anonymous-people.md`
@Suite struct `An installation without sign-in` {
    private static func with(
        limit: RateLimit? = nil, _ body: (TestServer, _ operator: String, _ key: String) async throws -> Void
    ) async throws {
        try await TestServer.with { configuration in
            configuration.proxy.addresses = ["127.0.0.1"]
            if let limit { configuration.core.limits[.address, .installations] = limit }
        } _: { server in
            let olga = try await server.operatorKey()
            let made = try await server.request(
                "POST", "/v1/apps/demo/client-keys", key: olga, body: #"{"name":"ios"}"#)
            #expect(made.status == 201)
            try await body(server, olga, try #require(made.json["key"]?.stringValue))
        }
    }

    private static func make(
        _ server: TestServer, _ key: String?, from address: String = "192.0.2.1", body: String? = nil
    ) async throws -> APIResponse {
        try await server.request(
            "POST", "/v1/installations", key: key, body: body, headers: ["X-Forwarded-For: \(address)"])
    }

    private static func renew(
        _ server: TestServer, _ user: String, _ renewal: String?, from address: String = "192.0.2.9"
    ) async throws -> APIResponse {
        try await server.request(
            "POST", "/v1/installations/\(user)/token", key: renewal, headers: ["X-Forwarded-For: \(address)"])
    }

    private static func problem(_ answer: APIResponse) -> String {
        "\(answer.status) \(answer.json["code"]?.stringValue ?? "") \(answer.json["field"]?.stringValue ?? "")"
    }

    /// What a client with the token is told first.
    private static func welcome(_ server: TestServer, _ token: String) async throws -> String {
        let client = try await RawClient.open(port: server.listening.gatewayPort)
        try await client.send(server.hello("guest", token: token))
        let frame = try await client.nextFrame()
        await client.close()
        switch frame {
        case .welcome?: return "welcome"
        case .problem(let problem, _)?: return problem.code.rawValue
        default: return "neither"
        }
    }

    @Test func `is a person of their own, who connects and renews their token`() async throws {
        try await Self.with { server, _, key in
            let made = try await Self.make(server, key)
            #expect(made.status == 201)
            #expect(made.header("RateLimit-Policy") == "\"address.installations\";q=600;w=600")
            #expect(made.header("RateLimit") == "\"address.installations\";r=540;t=60")
            let user = try #require(made.json["user"]?.stringValue)
            #expect(user.hasPrefix("anon-") && user.utf8.count == 37)
            #expect(made.json["app"] == "demo")
            #expect(try await Self.welcome(server, try #require(made.json["token"]?.stringValue)) == "welcome")
            let renewal = try #require(made.json["renewal"]?.stringValue)
            let renewed = try await Self.renew(server, user, renewal)
            #expect(renewed.status == 200)
            #expect(renewed.header("RateLimit") == "\"address.installations\";r=599;t=1")
            #expect(try await Self.welcome(server, try #require(renewed.json["token"]?.stringValue)) == "welcome")
            let other = try await Self.make(server, key, body: "{}")
            #expect(other.json["user"] != .string(user))
            // Renewals are each person's own.
            let stranger = try #require(other.json["user"]?.stringValue)
            #expect(Self.problem(try await Self.renew(server, stranger, renewal)) == "401 unauthorized Authorization")
        }
    }

    @Test func `is refused without a key that is good, and with a body that says anything`() async throws {
        try await Self.with { server, olga, key in
            for wrong in [nil, "pk_0123456789abcdef"] {
                #expect(Self.problem(try await Self.make(server, wrong)) == "401 unauthorized Authorization")
            }
            for other in [TestServer.key, olga] {
                #expect(Self.problem(try await Self.make(server, other)) == "403 wrong_key Authorization")
            }
            let asked = try await server.request("GET", "/v1/apps/demo/users", key: key)
            #expect(asked.problem == "Authorization holds a client key of demo: here an API key is needed")
            #expect(
                Self.problem(try await Self.make(server, key, body: #"{"user":"bob"}"#)) == "400 invalid_field user")
            let made = try await Self.make(server, key)
            let gone = try await server.request("DELETE", "/v1/apps/demo/client-keys/\(key)", key: olga)
            #expect(gone.status == 204)
            #expect(Self.problem(try await Self.make(server, key)) == "401 unauthorized Authorization")
            // Whoever is somebody stays it.
            let user = try #require(made.json["user"]?.stringValue)
            let renewal = try #require(made.json["renewal"]?.stringValue)
            #expect(try await Self.renew(server, user, renewal).status == 200)
            // By its name the one that is good ends, not the one of that name that has ended.
            let next = try await server.request(
                "POST", "/v1/apps/demo/client-keys", key: olga, body: #"{"name":"ios"}"#)
            let nextKey = try #require(next.json["key"]?.stringValue)
            #expect(try await server.request("DELETE", "/v1/apps/demo/client-keys/ios", key: olga).status == 204)
            #expect(Self.problem(try await Self.make(server, nextKey)) == "401 unauthorized Authorization")
            let unknown = try await server.request("DELETE", "/v1/apps/demo/client-keys/pk_x", key: olga)
            #expect(Self.problem(unknown) == "404 unknown_client_key key")
        }
    }

    @Test func `is refused to an address that has had its share, with the time to wait`() async throws {
        try await Self.with(limit: RateLimit(perSecond: 1, burst: 120)) { server, _, key in
            for _ in 0..<2 { #expect(try await Self.make(server, key).status == 201) }
            let refused = try await Self.make(server, key)
            #expect(Self.problem(refused) == "429 rate_limited installation")
            let wait = refused.header("Retry-After").flatMap { Int($0) }
            #expect(wait.map { (1...60).contains($0) } == true)
            #expect(try await Self.make(server, key, from: "192.0.2.2").status == 201)
        }
    }

    @Test func `ends with the app's suspension, a ban and a revocation of its tokens`() async throws {
        try await Self.with { server, olga, key in
            let made = try await Self.make(server, key)
            let user = try #require(made.json["user"]?.stringValue)
            let token = try #require(made.json["token"]?.stringValue)
            let renewal = try #require(made.json["renewal"]?.stringValue)
            _ = try await server.request("POST", "/v1/apps/demo/suspend", key: olga)
            #expect(Self.problem(try await Self.make(server, key)) == "403 app_suspended app")
            #expect(Self.problem(try await Self.renew(server, user, renewal)) == "403 app_suspended app")
            _ = try await server.request("POST", "/v1/apps/demo/resume", key: olga)
            _ = try await server.request("PUT", "/v1/apps/demo/users/\(user)/ban")
            #expect(Self.problem(try await Self.renew(server, user, renewal)) == "403 disabled user")
            #expect(try await Self.welcome(server, token) == "disabled")
            _ = try await server.request("DELETE", "/v1/apps/demo/users/\(user)/ban")
            #expect(try await Self.renew(server, user, renewal).status == 200)
            _ = try await server.request("POST", "/v1/apps/demo/users/\(user)/revoke-tokens", body: "{}")
            #expect(Self.problem(try await Self.renew(server, user, renewal)) == "401 unauthorized Authorization")
        }
    }

    @Test func `has its person from nowhere else, and fills no disk`() async throws {
        try await Self.with { server, _, key in
            let made = try await Self.make(server, key)
            let user = try #require(made.json["user"]?.stringValue)
            let token = try #require(made.json["token"]?.stringValue)
            let asked = try await server.request("POST", "/v1/apps/demo/tokens", body: #"{"user":"\#(user)"}"#)
            #expect(Self.problem(asked) == "400 invalid_field user")
            let upload = try await server.request(
                "POST", "/v1/media/uploads", key: token, headers: ["Tus-Resumable: 1.0.0", "Upload-Length: 1"])
            #expect(Self.problem(upload) == "401 unauthorized Authorization")
        }
    }
}

@Suite struct `The client keys of an app` {
    @Test func `are told as they are, and added once under an idempotency key`() async throws {
        try await TestServer.withOperator { server, olga in
            let vera = try await server.operatorKey("vera", "view")
            let path = "/v1/apps/demo/client-keys"
            let once = ["Idempotency-Key: \"k1\""]
            let first = try await server.request("POST", path, key: olga, body: #"{"name":"ios"}"#, headers: once)
            #expect(first.status == 201 && first.json["key"]?.stringValue?.hasPrefix("pk_") == true)
            let again = try await server.request("POST", path, key: olga, body: #"{"name":"ios"}"#, headers: once)
            #expect(again.status == 201 && again.json == first.json)
            let taken = try await server.request(
                "POST", path, key: olga, body: #"{"name":"beta","key":"pk_0123456789abcdef"}"#)
            #expect(taken.json["key"] == "pk_0123456789abcdef")
            let list = try await server.request("GET", path, key: vera)
            #expect(list.json["client_keys"] == .array([first.json, taken.json]))
            let app = try await server.request("GET", "/v1/apps/demo", key: vera)
            #expect(app.json["client_keys"] == list.json["client_keys"])
            for (key, status) in [(vera, 403), (TestServer.key, 403)] {
                let refused = try await server.request("POST", path, key: key, body: #"{"name":"new"}"#)
                #expect(refused.status == status)
            }
            let clash = try await server.request("POST", path, key: olga, body: #"{"name":"ios"}"#)
            #expect(clash.status == 409 && clash.json["code"] == "exists")
            let wrong = try await server.request("POST", path, key: olga, body: #"{"name":"new","key":"mine"}"#)
            #expect(wrong.status == 400 && wrong.json["field"] == "key")
        }
    }
}

import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The password of an operator` {
    private func set(
        _ server: TestServer, _ name: String, key: String, _ body: String
    ) async throws -> APIResponse {
        try await server.request("PUT", "/v1/operators/\(name)/password", key: key, body: body)
    }

    @Test func `is set by who administers, and by oneself with the old one`() async throws {
        try await TestServer.with { server in
            let root = try await server.operatorKey("root")
            let vera = try await server.operatorKey("vera", "view")
            #expect(try await self.set(server, "vera", key: vera, #"{"password":"first pass phrase"}"#).status == 204)
            let missing = try await self.set(server, "vera", key: vera, #"{"password":"second pass phrase"}"#)
            #expect(missing.status == 400 && missing.json["field"] == "old_password")
            let wrong = try await self.set(
                server, "vera", key: vera, #"{"password":"second pass phrase","old_password":"no"}"#)
            #expect(wrong.status == 403 && wrong.json["code"] == "wrong_password")
            let right = try await self.set(
                server, "vera", key: vera, #"{"password":"second pass phrase","old_password":"first pass phrase"}"#)
            #expect(right.status == 204)
            let others = try await self.set(server, "root", key: vera, #"{"password":"second pass phrase"}"#)
            #expect(others.status == 403 && others.json["code"] == "missing_role")
            #expect(try await self.set(server, "vera", key: root, #"{"password":"third pass phrase"}"#).status == 204)
            #expect(try await server.signIn("vera", password: "second pass phrase").status == 401)
            #expect(try await server.signIn("vera", password: "third pass phrase").status == 200)
            #expect(try await self.set(server, "nobody", key: root, #"{"password":"third pass phrase"}"#).status == 404)
            let long = String(repeating: "x", count: 1_025)
            let unneeded = try await self.set(
                server, "vera", key: root, #"{"password":"fourth pass phrase","old_password":"\#(long)"}"#)
            #expect(unneeded.status == 400 && unneeded.json["field"] == "old_password")
            #expect(try await server.signIn("vera", password: "third pass phrase").status == 200)
        }
    }

    @Test func `of who administers, too, is asked for the old one in a session`() async throws {
        try await TestServer.with { server in
            let key = try await server.operatorWithPassword()
            let browser = try await server.browser()
            let path = "/v1/operators/olga/password"
            let missing = try await browser.request("PUT", path, body: #"{"password":"second pass phrase"}"#)
            #expect(missing.status == 400 && missing.json["field"] == "old_password")
            #expect(try await self.set(server, "olga", key: key, #"{"password":"second pass phrase"}"#).status == 204)
        }
    }

    @Test func `ends the operator's sessions but for the one that sets it`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let (own, other) = (try await server.browser(), try await server.browser())
            let list = try await own.request("GET", "/v1/operators")
            #expect(list.json["operators"]?.arrayValue?.map { $0["sessions"] } == [2])
            let changed = try await own.request(
                "PUT", "/v1/operators/olga/password",
                body: #"{"password":"second pass phrase","old_password":"\#(TestServer.password)"}"#)
            #expect(changed.status == 204)
            #expect(try await own.request("GET", "/v1/session").status == 200)
            #expect(try await other.request("GET", "/v1/session").status == 401)
            let removed = try await own.request(
                "DELETE", "/v1/operators/olga/password", body: #"{"own_password":"second pass phrase"}"#)
            #expect(removed.status == 204)
            #expect(try await own.request("GET", "/v1/session").json["has_password"] == false)
            #expect(try await server.signIn(password: "second pass phrase").status == 401)
        }
    }

    /// What lasts longer than a session: method, path and body.
    private static let lasting: [(String, String, [(String, JSONValue)])] = [
        ("POST", "/v1/operators", [("name", "sven"), ("role", "view")]),
        ("PATCH", "/v1/operators/vera", [("role", "administer")]), ("POST", "/v1/operators/vera/rotate", []),
        ("POST", "/v1/operators/olga/rotate", []),
        ("PUT", "/v1/operators/vera/password", [("password", "another pass phrase")]),
        ("DELETE", "/v1/operators/vera/password", []), ("DELETE", "/v1/operators/vera", []),
        ("POST", "/v1/apps/demo/api-keys", [("name", "backend"), ("scopes", ["trace"])]),
        ("POST", "/v1/apps/demo/api-keys/backend/rotate", []), ("POST", "/v1/apps/demo/token-secrets", []),
        ("POST", "/v1/apps/demo/tokens", [("user", "bob")]),
        (
            "POST", "/v1/apps/demo/webhooks",
            [("name", "Orders"), ("url", "https://a.example.com"), ("types", ["receipt"])]
        ), ("PUT", "/v1/apps/demo/settings", [("tokens", ["jwks": "https://a.example.com/keys"])]),
        ("DELETE", "/v1/operators/olga/password", []),
    ]

    @Test func `is asked for beside whatever lasts longer than the session, and for nothing of a key`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let root = try await server.operatorKey("root")
            _ = try await server.operatorKey("vera", "view")
            let browser = try await server.browser()
            for (method, path, body) in Self.lasting {
                func ask(_ password: JSONValue?) async throws -> APIResponse {
                    let members = body + (password.map { [("own_password", $0)] } ?? [])
                    return try await browser.request(method, path, body: JSONValue.members(members).text)
                }
                for missing in [nil, .null] as [JSONValue?] {
                    let answer = try await ask(missing)
                    #expect(answer.status == 403 && answer.json["code"] == "confirmation_needed", "\(method) \(path)")
                    #expect(answer.json["field"] == "own_password")
                }
                #expect(try await ask(.string(TestServer.password)).status < 300, "\(method) \(path)")
            }
            let passedOver = try await server.request(
                "POST", "/v1/apps/demo/token-secrets", key: root, body: #"{"own_password":"of nobody"}"#)
            #expect(passedOver.status == 201)
            // Who has none sets the first, and is asked for nothing before.
            #expect(try await browser.request("POST", "/v1/operators/olga/rotate").status == 200)
        }
    }

    @Test func `is no other than one's own where it is asked for, and what is wrong changes nothing`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            try await server.operatorWithPassword("vera", "view", password: "the pass phrase of vera")
            let browser = try await server.browser()
            for password in ["the pass phrase of vera", "A long pass phrase"] {
                let answer = try await browser.request(
                    "DELETE", "/v1/operators/olga/password", body: #"{"own_password":"\#(password)"}"#)
                #expect(answer.status == 403 && answer.json["code"] == "wrong_password")
                #expect(answer.json["field"] == "own_password")
            }
            for (body, status) in [(#"{"own_password":1}"#, 400), (#"{"password":"x"}"#, 400), ("[]", 400)] {
                let answer = try await browser.request("DELETE", "/v1/operators/olga/password", body: body)
                #expect(answer.status == status, "\(body)")
            }
            #expect(try await server.signIn().status == 200)
            // What opens nothing is not asked about.
            for (method, path, body) in [
                ("PUT", "/v1/apps/demo/settings", #"{"name":"Demo"}"#), ("POST", "/v1/apps", #"{"id":"shop"}"#),
                ("DELETE", "/v1/apps/demo/api-keys/reader", nil), ("POST", "/v1/apps/demo/suspend", nil),
            ] as [(String, String, String?)] {
                #expect(try await browser.request(method, path, body: body).status < 300, "\(path)")
            }
        }
    }

    @Test func `has 12 to 256 characters`() async throws {
        try await TestServer.with { server in
            let root = try await server.operatorKey("root")
            for (count, status) in [(0, 400), (11, 400), (12, 204), (256, 204), (257, 400)] {
                let password = String(repeating: "ü", count: count)
                #expect(
                    try await self.set(server, "root", key: root, #"{"password":"\#(password)"}"#).status == status)
            }
        }
    }

    @Test func `is in no answer, log or file`() async throws {
        let audit = LineLog()
        try await TestServer.withFolder { folder in
            try await TestServer.with(folder: folder, audit: audit.logger) { server in
                try await server.operatorWithPassword()
                let browser = try await server.browser()
                for path in ["/v1/operators", "/v1/audit", "/v1/session", "/metrics"] {
                    #expect(!(try await browser.request("GET", path)).text.contains(TestServer.password))
                }
                let secret = browser.cookie.dropFirst("__Host-tidings=".count)
                #expect(!audit.lines.contains { $0.contains(secret) || $0.contains(TestServer.password) })
                for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
                    guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
                    for text in [TestServer.password, String(secret), browser.token] {
                        #expect(bytes.range(of: Data(text.utf8)) == nil, "\(name)")
                    }
                }
            }
        }
    }
}

import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `A session of the console` {
    @Test func `is an operator, by a cookie that no page reads`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let answer = try await server.signIn()
            #expect(answer.status == 200)
            #expect(answer.json["operator"] == "olga" && answer.json["role"] == "administer")
            #expect(answer.json["has_password"] == true)
            let cookie = try #require(answer.header("Set-Cookie"))
            #expect(
                cookie.wholeMatch(
                    of: /__Host-tidings=[A-Za-z0-9_-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict/) != nil)
            #expect(answer.header("Cache-Control") == "no-store")
            let began = try #require(answer.json["signed_in_at"]?.intValue)
            #expect(answer.json["expires_at"]?.intValue == began + 43_200_000)
            let browser = try server.browser(of: answer)
            let told = try await browser.request("GET", "/v1/session")
            // Whoever has the cookie alone is not told what goes with it.
            #expect(told.json == .members(answer.json.members.filter { $0.0 != "csrf_token" }))
            #expect(!told.text.contains(browser.token))
            #expect(!answer.text.contains(browser.cookie.dropFirst("__Host-tidings=".count)))
            #expect(try await browser.request("GET", "/v1/operators").status == 200)
            #expect(try await browser.request("POST", "/v1/apps", body: #"{"id":"shop"}"#).status == 201)
            #expect(try await browser.request("GET", "/v1/apps/shop/users/bob/unread").status == 200)
            let audit = try await browser.request("GET", "/v1/audit?actor=olga")
            let records = audit.json["records"]?.arrayValue ?? []
            #expect(records.map { $0["action"] } == ["create_app", "sign_in", "set_password"])
            #expect(records.allSatisfy { $0["address"] == "127.0.0.1" })
        }
    }

    @Test func `ends at sign-out, for good, and clears its cookie`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let (browser, other) = (try await server.browser(), try await server.browser())
            let answer = try await browser.request("DELETE", "/v1/session")
            #expect(answer.status == 204)
            #expect(answer.header("Set-Cookie")?.hasPrefix("__Host-tidings=; ") == true)
            #expect(answer.header("Set-Cookie")?.hasSuffix("; Max-Age=0") == true)
            let gone = try await browser.request("GET", "/v1/session")
            #expect(gone.status == 401 && gone.json["code"] == "unauthorized" && gone.json["field"] == "Cookie")
            #expect(try await browser.request("GET", "/v1/operators").status == 401)
            #expect(try await other.request("GET", "/v1/session").status == 200)
        }
    }

    @Test func `goes by the role as it is now, and ends with the operator`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword("vera", "send")
            let root = try await server.operatorKey("root")
            let browser = try await server.browser("vera")
            #expect(try await browser.request("GET", "/v1/session").json["role"] == "send")
            _ = try await server.request("PATCH", "/v1/operators/vera", key: root, body: #"{"role":"view"}"#)
            #expect(try await browser.request("GET", "/v1/session").json["role"] == "view")
            let refused = try await browser.request("GET", "/v1/audit")
            #expect(refused.status == 403 && refused.json["code"] == "missing_role")
            #expect(try await server.request("DELETE", "/v1/operators/vera", key: root).status == 204)
            #expect(try await browser.request("GET", "/v1/session").status == 401)
        }
    }

    @Test func `outlives a restart of the server`() async throws {
        try await TestServer.withFolder { folder in
            var (cookie, token) = ("", "")
            try await TestServer.with(folder: folder) { server in
                try await server.operatorWithPassword()
                let browser = try await server.browser()
                (cookie, token) = (browser.cookie, browser.token)
            }
            try await TestServer.with(folder: folder) { server async throws in
                let browser = Browser(server: server, cookie: cookie, token: token)
                #expect(try await browser.request("GET", "/v1/session").status == 200)
                #expect(try await browser.request("DELETE", "/v1/session").status == 204)
            }
            try await TestServer.with(folder: folder) { server async throws in
                let browser = Browser(server: server, cookie: cookie, token: token)
                #expect(try await browser.request("GET", "/v1/session").status == 401)
            }
        }
    }

    @Test func `counts for nothing beside a key`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            func status(_ key: String) async throws -> Int {
                try await browser.bare("GET", "/v1/operators", headers: ["Authorization: Bearer \(key)"]).status
            }
            #expect(try await status("to_wrong") == 401)
            let key = try await server.operatorKey("anna", "view")
            // No token is asked for then, either.
            let sent = try await browser.bare(
                "POST", "/v1/apps", body: #"{"id":"shop"}"#, headers: ["Authorization: Bearer \(key)"])
            #expect(sent.json["code"] == "missing_role")
            let session = try await browser.bare("GET", "/v1/session", headers: ["Authorization: Bearer \(key)"])
            #expect(session.status == 401)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A request with the cookie of a session` {
    @Test func `needs the session's token for whatever is not only read`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let (browser, other) = (try await server.browser(), try await server.browser())
            for (method, path, body) in [
                ("POST", "/v1/apps", #"{"id":"shop"}"#), ("DELETE", "/v1/session", nil),
                ("PUT", "/v1/operators/olga/password", #"{"password":"another pass phrase"}"#),
                ("DELETE", "/v1/operators/olga/password", nil),
                ("PATCH", "/v1/operators/olga", #"{"role":"administer"}"#),
                ("POST", "/v1/apps/demo/tokens", #"{"user":"bob"}"#),
            ] as [(String, String, String?)] {
                for headers in [[], ["X-CSRF-Token: "], ["X-CSRF-Token: \(other.token)"]] {
                    let answer = try await browser.bare(method, path, body: body, headers: headers)
                    #expect(answer.status == 403 && answer.json["code"] == "csrf", "\(method) \(path) \(headers)")
                }
            }
            #expect(try await browser.bare("GET", "/v1/operators").status == 200)
            #expect(try await browser.request("POST", "/v1/apps", body: #"{"id":"shop"}"#).status == 201)
        }
    }

    @Test func `is refused if its browser says that another site's page asks, whatever token it has`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            let origin = "localhost"
            func code(_ headers: String...) async throws -> JSONValue? {
                try await browser.request("POST", "/v1/apps/demo/resume", headers: headers, host: origin).json["code"]
            }
            for site in ["cross-site", "same-site", "none"] {
                #expect(try await code("Sec-Fetch-Site: \(site)") == "csrf", "\(site)")
            }
            for other in ["null", "http://localhost:1", "https://evil.example", "http://localhost.evil.example"] {
                #expect(try await code("Origin: \(other)") == "csrf", "\(other)")
            }
            #expect(try await code("Sec-Fetch-Site: same-origin", "Origin: http://localhost") == nil)
            let signIn = try await server.signIn(headers: ["Origin: https://evil.example"])
            #expect(signIn.status == 403 && signIn.json["code"] == "csrf")
        }
    }

    @Test func `is answered under the console's own names alone`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            let browser = try await server.browser()
            for host in ["evil.example", "localhost.evil.example", "192.0.2.1:7480", "[2001:db8::1]"] {
                for (method, path) in [("GET", "/v1/session"), ("GET", "/v1/operators"), ("GET", "/console/")] {
                    let answer = try await browser.request(method, path, host: host)
                    #expect(answer.status == 421 && answer.json["code"] == "unknown_host", "\(host) \(path)")
                }
                #expect(try await server.signIn(host: host).status == 421)
            }
            for host in ["LOCALHOST", "localhost:7480", "127.0.0.1:1", "[::1]:7480"] {
                #expect(try await browser.request("GET", "/v1/session", host: host).status == 200, "\(host)")
            }
            // Backends come by any name.
            #expect(
                try await server.request("GET", "/v1/apps/demo/users/bob/unread", host: "evil.example").status == 200)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Signing in to the console` {
    @Test func `is refused alike for a wrong password, an unknown operator, and one without a password`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            _ = try await server.operatorKey("vera", "view")
            let answers = [
                try await server.signIn(password: "a wrong pass phrase"), try await server.signIn("nobody"),
                try await server.signIn("vera"), try await server.signIn("vera", password: ""),
                try await server.signIn(String(repeating: "x", count: 5_000)),
            ]
            for answer in answers {
                #expect(answer.status == 401 && answer.json["code"] == "sign_in_refused")
                #expect(answer.json["detail"] == answers[0].json["detail"])
                #expect(answer.header("Set-Cookie") == nil)
            }
        }
    }

    @Test func `takes the same letters in any form, and no others`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword(password: "ein sehr sp\u{e4}ter Tag")
            #expect(try await server.signIn(password: "ein sehr spa\u{308}ter Tag").status == 200)
            #expect(try await server.signIn(password: "ein sehr spater Tag").status == 401)
        }
    }

    @Test func `is slowed down by an address, which is told how long, while others go on`() async throws {
        try await TestServer.with({
            $0.proxy.addresses = ["127.0.0.1"]
            $0.console.local = "true"
        }) { server in
            try await server.operatorWithPassword()
            func signIn(_ password: String, from address: String) async throws -> APIResponse {
                try await server.signIn(
                    "nobody\(password)", password: password,
                    headers: ["X-Forwarded-For: \(address)", "X-Forwarded-Proto: https"])
            }
            for count in 0..<10 {
                #expect(try await signIn("wrong \(count)", from: "192.0.2.1").status == 401)
            }
            let refused = try await signIn("wrong", from: "192.0.2.1")
            #expect(refused.status == 429 && refused.json["code"] == "rate_limited")
            let wait = try #require(refused.header("Retry-After").flatMap { Int($0) })
            #expect((1...30).contains(wait))
            let good = try await server.signIn(
                headers: ["X-Forwarded-For: 192.0.2.2", "X-Forwarded-Proto: https"])
            #expect(good.status == 200)
        }
    }

    @Test func `comes over TLS or from this machine`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            // Somebody has put a proxy in front that nobody has told of.
            for header in ["X-Forwarded-For: 192.0.2.1", "Forwarded: for=192.0.2.1", "X-Forwarded-Proto: https"] {
                let answer = try await server.signIn(headers: [header])
                #expect(answer.status == 403 && answer.json["code"] == "tls_required", "\(header)")
            }
            // Or one that tells nothing at all: browsers say where a page is from, and end no connection.
            for site in ["Origin: http://localhost", "Sec-Fetch-Site: same-origin"] {
                let answer = try await server.signIn(headers: [site])
                #expect(answer.status == 403 && answer.json["code"] == "tls_required", "\(site)")
            }
            #expect(try await server.signIn().status == 200)
        }
        try await TestServer.with({ $0.console.hosts += ["console.example.com"] }) { server in
            try await server.operatorWithPassword()
            let answer = try await server.signIn(host: "console.example.com")
            #expect(answer.status == 403 && answer.json["code"] == "tls_required")
        }
        try await TestServer.with({
            $0.proxy.addresses = ["127.0.0.1"]
            $0.console.local = "true"
        }) { server in
            try await server.operatorWithPassword()
            func status(_ headers: String...) async throws -> Int { try await server.signIn(headers: headers).status }
            #expect(try await status("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https") == 200)
            #expect(try await status("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: http") == 403)
            #expect(try await status("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: http, https") == 403)
            #expect(try await status("X-Forwarded-For: 192.0.2.1") == 403)
        }
    }

    @Test func `is counted for each operator where nobody knows who asks`() async throws {
        try await TestServer.with { server in
            try await server.operatorWithPassword()
            // More than one address has.
            for name in 0..<12 { #expect(try await server.signIn("nobody\(name)").status == 401) }
            #expect(try await server.signIn().status == 200)
        }
    }

    @Test func `is told what is wrong with its body`() async throws {
        try await TestServer.with { server in
            for body in [
                "{}", #"{"operator":"olga"}"#, #"{"password":"x"}"#, #"{"link":1}"#, #"{"link":"x","operator":"olga"}"#,
                #"{"operator":"olga","password":"x","more":1}"#,
            ] {
                let answer = try await server.request("POST", "/v1/session", key: nil, body: body)
                #expect(answer.status == 400, "\(body)")
            }
        }
    }
}

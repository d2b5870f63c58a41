import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `An app that is made while the server runs` {
    @Test func `is there at once: its tokens connect, its keys send, its settings hold`() async throws {
        try await TestServer.withOperator { server, olga in
            let made = try await server.request(
                "POST", "/v1/apps", key: olga, body: #"{"id":"shop","settings":{"name":"The shop","members_max":2}}"#)
            #expect(made.status == 201)
            let app = try #require(made.json["app"])
            #expect(app["revision"] == 1 && app["suspended"] == false && app["imported"] == false)
            #expect(app["settings"]?["members_max"] == 2)
            let secret = try #require(made.json["token_secret"]?["secret"]?.stringValue)
            let (client, problem) = try await server.welcome("alice", app: "shop", secret: secret)
            #expect(problem == nil)
            let key = try await server.makeKey(#"["messages","conversations"]"#, key: olga)
            let path = "/v1/apps/shop/conversations/GRP/team"
            let three = #"{"name":"Team","members":["a","b","c"]}"#
            #expect(try await server.request("PUT", path, key: key, body: three).status == 400)
            let set = try await server.request("PUT", "/v1/apps/shop/settings", key: olga, body: "{}")
            #expect(set.json["settings"]?["members_max"] == nil && set.json["settings"]?["name"] == "")
            #expect(try await server.request("PUT", path, key: key, body: three).status == 204)
            await client.close()
        }
    }

    @Test func `is there after a restart, with what was used when`() async throws {
        try await TestServer.withFolder { folder in
            var olga = ""
            var secret = ""
            var key = ""
            try await TestServer.with(folder: folder) { server in
                olga = try await server.operatorKey()
                secret = try await server.makeApp(key: olga)
                key = try await server.makeKey(#"["trace"]"#, key: olga)
                _ = try await server.request("GET", "/v1/apps/shop/messages/0000000000000/trace", key: key)
            }
            try await TestServer.with(folder: folder) { server in
                let app = try await server.request("GET", "/v1/apps/shop", key: olga)
                #expect(app.status == 200)
                let used = try #require(app.json["api_keys"]?.arrayValue?.first?["last_used_at"]?.intValue)
                #expect(used % 60_000 == 0 && used > 1_700_000_000_000)
                #expect(
                    try await server.request("GET", "/v1/apps/shop/messages/0000000000000/trace", key: key).status
                        == 404)
                let (client, problem) = try await server.welcome("alice", app: "shop", secret: secret)
                #expect(problem == nil)
                await client.close()
            }
            // Nothing of a secret is in the files of the store.
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where name.hasPrefix("server.sqlite") {
                let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                for text in [secret, key, olga, TestServer.secret.value] {
                    #expect(bytes.range(of: Data(text.utf8)) == nil, "\(name)")
                }
            }
        }
    }

    @Test func `is told of in pages, and with nothing that opens anything`() async throws {
        try await TestServer.withOperator { server, olga in
            let vera = try await server.operatorKey("vera", "view")
            let secrets = [
                try await server.makeApp("shop", key: olga), try await server.makeApp("mail", key: olga),
            ]
            var ids: [String] = []
            var cursor: String?
            repeat {
                let more = cursor.map { "&cursor=\($0)" } ?? ""
                let answer = try await server.request("GET", "/v1/apps?limit=2\(more)", key: vera)
                #expect(answer.status == 200)
                for text in secrets + [TestServer.secret.value, TestServer.hash(TestServer.key)] {
                    #expect(!answer.text.contains(text))
                }
                ids += answer.json["apps"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
                cursor = answer.json["next"]?.stringValue
            } while cursor != nil && ids.count < 9
            #expect(ids == ["demo", "mail", "shop"])
            let demo = try await server.request("GET", "/v1/apps/demo", key: vera)
            #expect(demo.json["imported"] == true)
            #expect(demo.header("ETag") == "\"1\"")
        }
    }

    @Test func `takes settings for one revision, if a change says for which`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            func set(_ name: String, _ match: String?) async throws -> APIResponse {
                try await server.request(
                    "PUT", "/v1/apps/shop/settings", key: olga, body: #"{"name":"\#(name)"}"#,
                    headers: match.map { ["If-Match: \($0)"] } ?? [])
            }
            let first = try await set("one", "\"1\"")
            #expect(first.status == 200 && first.header("ETag") == "\"2\"")
            for stale in ["\"1\"", "2", "W/\"2\"", "\"x\""] {
                let answer = try await set("two", stale)
                #expect(answer.status == 412 && answer.json["code"] == "revision_changed", "\(stale)")
            }
            #expect(try await set("three", "\"2\"").header("ETag") == "\"3\"")
            #expect(try await set("four", "*").header("ETag") == "\"4\"")
            #expect(try await set("five", nil).json["settings"]?["name"] == "five")
            // What changes nothing is no new revision.
            #expect(try await set("five", "\"5\"").header("ETag") == "\"5\"")
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The secrets and keys of an app` {
    @Test func `are replaced with a time in which both are good, or at once`() async throws {
        try await TestServer.withOperator { server, olga in
            let first = try await server.makeApp(key: olga)
            let path = "/v1/apps/shop/token-secrets"
            let drawn = try await server.request("POST", path, key: olga)
            #expect(drawn.status == 201)
            let second = try #require(drawn.json["secret"]?.stringValue)
            for secret in [first, second] {
                let (client, problem) = try await server.welcome("alice", app: "shop", secret: secret)
                #expect(problem == nil)
                await client.close()
            }
            let app = try await server.request("GET", "/v1/apps/shop", key: olga)
            let ids = app.json["secrets"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
            #expect(ids.count == 2 && ids.first == drawn.json["id"]?.stringValue)
            #expect(app.json["secrets"]?.arrayValue?.first?["ends_at"] == .null)
            #expect(try await server.request("DELETE", "\(path)/\(ids[1])", key: olga).status == 204)
            let (_, ended) = try await server.welcome("alice", app: "shop", secret: first)
            #expect(ended == "invalid_token")
            // Without an overlap the one before is over at once.
            _ = try await server.request("POST", path, key: olga, body: #"{"overlap_seconds":0}"#)
            let (_, over) = try await server.welcome("alice", app: "shop", secret: second)
            #expect(over == "invalid_token")
        }
    }

    @Test func `of the API are replaced and removed likewise`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            let first = try await server.makeKey(#"["trace"]"#, key: olga)
            #expect(first.wholeMatch(of: /tk_[A-Za-z0-9_-]{43}/) != nil)
            func status(_ key: String, app: String = "shop") async throws -> Int {
                try await server.request("GET", "/v1/apps/\(app)/messages/0000000000000/trace", key: key).status
            }
            #expect(try await status(first) == 404)
            #expect(try await status(first, app: "demo") == 401)
            let path = "/v1/apps/shop/api-keys/backend"
            let rotated = try await server.request("POST", "\(path)/rotate", key: olga)
            #expect(rotated.status == 200)
            let second = try #require(rotated.json["key"]?.stringValue)
            #expect(try await status(first) == 404)
            #expect(try await status(second) == 404)
            let again = try await server.request("POST", "\(path)/rotate", key: olga, body: #"{"overlap_seconds":0}"#)
            let third = try #require(again.json["key"]?.stringValue)
            #expect(try await status(first) == 401)
            #expect(try await status(second) == 401)
            #expect(try await status(third) == 404)
            #expect(try await server.request("DELETE", path, key: olga).status == 204)
            #expect(try await status(third) == 401)
        }
    }

    @Test func `are shown once: a repeat under the same idempotency key is refused, and draws nothing`() async throws {
        try await TestServer.withOperator { server, olga in
            let requests = [
                ("/v1/apps", #"{"id":"shop"}"#), ("/v1/apps/shop/token-secrets", ""),
                ("/v1/apps/shop/api-keys", #"{"name":"backend","scopes":["trace"]}"#),
                ("/v1/apps/shop/api-keys/backend/rotate", "{}"), ("/v1/operators", #"{"name":"vera","role":"view"}"#),
                ("/v1/operators/vera/rotate", "{}"),
            ]
            for (index, (path, body)) in requests.enumerated() {
                let header = ["Idempotency-Key: \"k\(index)\""]
                let first = try await server.request("POST", path, key: olga, body: body, headers: header)
                #expect(first.status < 300, "\(path): \(first.text)")
                let before = try await server.request("GET", "/v1/apps/shop", key: olga).text
                let second = try await server.request("POST", path, key: olga, body: body, headers: header)
                #expect(second.status == 409 && second.json["code"] == "secret_already_shown", "\(path)")
                #expect(try await server.request("GET", "/v1/apps/shop", key: olga).text == before)
            }
            // What draws nothing is answered again.
            for _ in 0..<2 {
                let answer = try await server.request(
                    "POST", "/v1/apps/shop/suspend", key: olga, body: "{}", headers: ["Idempotency-Key: \"s\""])
                #expect(answer.status == 200 && answer.json["suspended"] == true)
            }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The suspension of an app` {
    @Test func `ends its connections, refuses its keys and tokens, and is over when it is resumed`() async throws {
        try await TestServer.withOperator { server, olga in
            let secret = try await server.makeApp(key: olga)
            let key = try await server.makeKey(#"["trace"]"#, key: olga)
            let (client, _) = try await server.welcome("alice", app: "shop", secret: secret)
            let demo = try await server.client("alice")
            let suspended = try await server.request("POST", "/v1/apps/shop/suspend", key: olga)
            #expect(suspended.status == 200 && suspended.json["suspended"] == true)
            #expect(try await client.problem()?.code == .wrongApp)
            let (_, refused) = try await server.welcome("alice", app: "shop", secret: secret)
            #expect(refused == "wrong_app")
            let path = "/v1/apps/shop/messages/0000000000000/trace"
            let answer = try await server.request("GET", path, key: key)
            #expect(answer.status == 403 && answer.json["code"] == "app_suspended")
            #expect(try await server.request("GET", path, key: olga).status == 404)
            // Others notice nothing.
            try await demo.send(.ping(7))
            #expect(try await demo.nextFrame() == .pong(7))
            #expect(try await server.request("POST", "/v1/apps/shop/resume", key: olga).json["suspended"] == false)
            #expect(try await server.request("GET", path, key: key).status == 404)
            let (again, problem) = try await server.welcome("alice", app: "shop", secret: secret)
            #expect(problem == nil)
            await again.close()
            await demo.close()
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `What operators ask of the server` {
    private static let bodies: [(method: String, path: String, body: String?)] = [
        ("POST", "/v1/apps", #"{"id":"new"}"#), ("PUT", "/v1/apps/demo/settings", "{}"),
        ("POST", "/v1/apps/demo/suspend", nil), ("POST", "/v1/apps/demo/resume", nil),
        ("POST", "/v1/apps/demo/token-secrets", nil), ("DELETE", "/v1/apps/demo/token-secrets/imported-previous", nil),
        ("POST", "/v1/apps/demo/api-keys", #"{"name":"n","scopes":["trace"]}"#),
        ("POST", "/v1/apps/demo/api-keys/reader/rotate", nil), ("DELETE", "/v1/apps/demo/api-keys/reader", nil),
        ("POST", "/v1/operators", #"{"name":"n","role":"view"}"#), ("PATCH", "/v1/operators/vera", #"{"role":"view"}"#),
        ("POST", "/v1/operators/vera/rotate", nil), ("DELETE", "/v1/operators/vera", nil),
    ]
    private static let reading = ["/v1/apps", "/v1/apps/demo", "/v1/operators"]

    @Test func `needs an operator's key, and to change anything the role administer`() async throws {
        try await TestServer.with { server in
            _ = try await server.operatorKey()
            for role in ["view", "content", "send"] {
                let key = try await server.operatorKey("vera", role)
                for (method, path, body) in Self.bodies {
                    let answer = try await server.request(method, path, key: key, body: body)
                    #expect(answer.status == 403 && answer.json["code"] == "missing_role", "\(method) \(path)")
                    #expect(answer.problem?.hasSuffix("with the role administer") == true)
                }
                for path in Self.reading { #expect(try await server.request("GET", path, key: key).status == 200) }
            }
            for key in [nil, "wrong", TestServer.key, APIKeys.draw(APIKeys.operatorPrefix).key] {
                for (method, path, body) in Self.bodies + Self.reading.map({ ("GET", $0, nil) }) {
                    let answer = try await server.request(method, path, key: key, body: body)
                    let (status, code) = key == TestServer.key ? (403, "wrong_key") : (401, "unauthorized")
                    #expect(answer.status == status && answer.json["code"] == .string(code), "\(method) \(path)")
                    guard status == 403 else { continue }
                    #expect(
                        answer.problem
                            == "Authorization holds an API key of demo: here an operator's key is needed")
                }
            }
            #expect(
                try await server.request("GET", "/v1/apps/demo", key: try await server.operatorKey()).json["revision"]
                    == 1)
        }
    }

    @Test func `names what is not there`() async throws {
        try await TestServer.withOperator { server, olga in
            for (method, path, body) in Self.bodies where path.hasPrefix("/v1/apps/") {
                let other = path.replacing("/demo", with: "/nowhere")
                let answer = try await server.request(method, other, key: olga, body: body)
                #expect(answer.status == 404 && answer.json["code"] == "unknown_app", "\(method) \(path)")
            }
            #expect(try await server.request("GET", "/v1/apps/nowhere", key: olga).json["code"] == "unknown_app")
            let gone: [(String, String, String?, String)] = [
                ("DELETE", "/v1/apps/demo/token-secrets/none", nil, "unknown_token_secret"),
                ("DELETE", "/v1/apps/demo/api-keys/none", nil, "unknown_api_key"),
                ("POST", "/v1/apps/demo/api-keys/none/rotate", "{}", "unknown_api_key"),
                ("PATCH", "/v1/operators/none", #"{"role":"view"}"#, "unknown_operator"),
                ("POST", "/v1/operators/none/rotate", "{}", "unknown_operator"),
                ("DELETE", "/v1/operators/none", nil, "unknown_operator"),
            ]
            for (method, path, body, code) in gone {
                let answer = try await server.request(method, path, key: olga, body: body)
                #expect(answer.status == 404 && answer.json["code"] == .string(code), "\(method) \(path)")
            }
        }
    }

    @Test func `is refused by name where it breaks a rule, and nothing is changed`() async throws {
        try await TestServer.withOperator { server, olga in
            let before = try await server.request("GET", "/v1/apps", key: olga).text
            let bad: [(String, String, String, String)] = [
                ("POST", "/v1/apps", #"{"id":"a b"}"#, "id must not contain spaces or control characters"),
                ("POST", "/v1/apps", "{}", "id must be present"),
                ("POST", "/v1/apps", #"{"id":"x","more":1}"#, "more is not known here"),
                (
                    "POST", "/v1/apps", #"{"id":"x","settings":{"members_max":0}}"#,
                    "settings.members_max must be 1 to 3000, got 0"
                ),
                ("POST", "/v1/apps", #"{"id":"x","settings":{"push":{"sound":1}}}"#, "settings.push.sound is not"),
                ("PUT", "/v1/apps/demo/settings", #"{"push":{"text":"loud"}}"#, "push.text must be one of"),
                (
                    "PUT", "/v1/apps/demo/settings", #"{"words":{"language":"it"}}"#,
                    "words.language must be a language with words"
                ),
                (
                    "PUT", "/v1/apps/demo/settings", #"{"tokens":{"jwks":"http://example.com/"}}"#,
                    "tokens.jwks must be a path, or begin with https://"
                ),
                (
                    "PUT", "/v1/apps/demo/settings", #"{"tokens":{"jwks":"/etc/passwd"}}"#,
                    "tokens.jwks must be an address without a file"
                ),
                ("POST", "/v1/apps/demo/suspend", #"{"now":true}"#, "now is not"),
                (
                    "POST", "/v1/apps/demo/token-secrets", #"{"overlap_seconds":2592001}"#,
                    "overlap_seconds must be a whole number from 0 to 2592000"
                ),
                (
                    "POST", "/v1/apps/demo/api-keys", #"{"name":"a b","scopes":["trace"]}"#,
                    "name must be 1 to 64 letters"
                ),
                ("POST", "/v1/apps/demo/api-keys", #"{"name":"n","scopes":[]}"#, "scopes must name at least one"),
                (
                    "POST", "/v1/apps/demo/api-keys", #"{"name":"n","scopes":["all"]}"#,
                    "scopes[0] must be one of tokens"
                ),
                ("POST", "/v1/operators", #"{"name":"a b","role":"view"}"#, "name must be 1 to 64 letters"),
                (
                    "POST", "/v1/operators", #"{"name":"n","role":"boss"}"#,
                    "role must be one of view, content, send, administer"
                ),
                ("PATCH", "/v1/operators/olga", "{}", "role must be present"),
                (
                    "POST", "/v1/operators/olga/rotate", #"{"overlap_seconds":-1}"#,
                    "overlap_seconds must be a whole number"
                ),
            ]
            for (method, path, body, rule) in bad {
                let answer = try await server.request(method, path, key: olga, body: body)
                #expect(answer.status == 400, "\(method) \(path) \(body)")
                #expect(answer.problem?.hasPrefix(rule) == true, "\(answer.text)")
            }
            for (method, path) in [("PUT", "/v1/apps/demo/settings"), ("POST", "/v1/apps"), ("POST", "/v1/operators")] {
                let answer = try await server.request(method, path, key: olga, body: "[")
                #expect(answer.status == 400 && answer.json["code"] == "malformed_json")
            }
            #expect(try await server.request("GET", "/v1/apps?more=1", key: olga).status == 400)
            #expect(try await server.request("GET", "/v1/apps", key: olga).text == before)
        }
    }

    @Test func `is refused where something of that name is there, or would be missing`() async throws {
        try await TestServer.withOperator { server, olga in
            let conflicts: [(String, String, String?, String)] = [
                ("POST", "/v1/apps", #"{"id":"demo"}"#, "exists"),
                ("POST", "/v1/apps/demo/api-keys", #"{"name":"reader","scopes":["trace"]}"#, "exists"),
                ("POST", "/v1/operators", #"{"name":"olga","role":"view"}"#, "exists"),
                ("DELETE", "/v1/apps/demo/token-secrets/imported", nil, "still_needed"),
                ("PATCH", "/v1/operators/olga", #"{"role":"send"}"#, "still_needed"),
                ("DELETE", "/v1/operators/olga", nil, "still_needed"),
            ]
            for (method, path, body, code) in conflicts {
                let answer = try await server.request(method, path, key: olga, body: body)
                #expect(
                    answer.status == 409 && answer.json["code"] == .string(code), "\(method) \(path): \(answer.text)")
            }
        }
    }
}

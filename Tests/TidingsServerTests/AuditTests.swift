import Foundation
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `Who has changed what` {
    private static func told(_ answer: APIResponse) -> [String] {
        (answer.json["records"]?.arrayValue ?? []).map { record in
            [
                record["actor"]?["kind"]?.stringValue ?? "", record["actor"]?["name"]?.stringValue ?? "",
                record["action"]?.stringValue ?? "", record["app"]?.stringValue ?? "-",
                record["subject"]?.stringValue ?? "", record["outcome"]?.stringValue ?? "",
            ].joined(separator: " ")
        }
    }

    @Test func `is told to operators who administer, page by page, by app and by actor`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            _ = try await server.makeKey(#"["trace"]"#, key: olga)
            #expect(
                try await server.request("PUT", "/v1/apps/shop/settings", key: olga, body: #"{"name":"Shop"}"#).status
                    == 200)
            let vera = try await server.operatorKey("vera", "view")
            #expect(try await server.request("DELETE", "/v1/operators/olga", key: olga).status == 409)

            let all = try await server.request("GET", "/v1/audit?actor=olga", key: olga)
            #expect(
                Self.told(all) == [
                    "operator olga remove_operator - olga not_allowed", "operator olga set_settings shop  done",
                    "operator olga add_api_key shop backend done", "operator olga create_app shop  done",
                ])
            let first = try await server.request("GET", "/v1/audit?limit=1", key: olga)
            #expect(Self.told(first) == ["operator olga remove_operator - olga not_allowed"])
            let cursor = try #require(first.json["next"]?.stringValue)
            let second = try await server.request("GET", "/v1/audit?limit=1&cursor=\(cursor)", key: olga)
            #expect(Self.told(second) == ["command_line  add_operator - vera done"])
            let ofFile = try await server.request("GET", "/v1/audit?app=demo", key: olga)
            #expect(Self.told(ofFile) == ["configuration  import_app demo  done"])
            #expect(try await server.request("GET", "/v1/audit", key: vera).status == 403)
            #expect(try await server.request("GET", "/v1/audit?app=a%20b", key: olga).status == 400)
            #expect(try await server.request("GET", "/v1/audit?cursor=x", key: olga).status == 400)
        }
    }

    @Test func `is kept of operators' calls in an app that change something or show texts, with no word of them`()
        async throws
    {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            let backend = try await server.makeKey(#"["trace", "messages", "history", "accounts"]"#, key: olga)
            func ask(_ method: String, _ path: String, key: String, _ body: String? = nil) async throws -> APIResponse {
                try await server.request(method, "/v1/apps/shop/\(path)", key: key, body: body)
            }
            let message = #"""
                {"sender":"ann","client_message_id":"c1","conversation":{"type":"PR","target":"ben"},
                "content":"{\"content\":\"a secret\"}"}
                """#
            let sent = try await ask("POST", "messages", key: olga, message)
            #expect(sent.status == 201)
            let id = try #require(sent.json["message_id"]?.stringValue)
            let pushed = try await ask(
                "POST", "pushes", key: olga, #"{"notification":{"text":"a secret"},"audience":{"everybody":true}}"#)
            #expect(pushed.status == 202)
            let push = try #require(pushed.json["id"]?.stringValue)
            #expect(
                try await ask("GET", "conversations/PR/ben/messages?user=ann", key: olga).text.contains("a secret"))
            // A kind is kept as its word, however it was asked for.
            #expect(try await ask("GET", "conversations/direct/ben/messages?user=ann", key: olga).status == 200)
            #expect(try await ask("PUT", "users/b%C3%A9a/profile", key: olga, #"{"name":"Béa"}"#).status == 204)
            #expect(try await ask("POST", "tokens", key: olga, #"{"user":"ann"}"#).status == 201)
            // Refused, read without texts, or the backend's own.
            #expect(try await ask("POST", "messages", key: olga, "{}").status == 400)
            #expect(try await ask("GET", "messages/\(id)/trace", key: olga).status == 200)
            #expect(try await ask("PUT", "users/ann/profile", key: backend, #"{"name":"Ann"}"#).status == 204)
            #expect(try await ask("GET", "conversations/PR/ben/messages?user=ann", key: backend).status == 200)

            let told = try await ask("GET", "audit?actor=olga", key: backend)
            #expect(
                Self.told(told) == [
                    "operator olga POST tokens shop ann done",
                    "operator olga PUT users/{user}/profile shop b\u{e9}a done",
                    "operator olga GET conversations/{type}/{id}/messages shop direct ben user=ann done",
                    "operator olga GET conversations/{type}/{id}/messages shop direct ben user=ann done",
                    "operator olga POST pushes shop \(push) done", "operator olga POST messages shop \(id) done",
                    "operator olga add_api_key shop backend done", "operator olga create_app shop  done",
                ])
            #expect(!told.text.contains("secret"))
        }
    }

    @Test func `is told to the app it is of, without addresses, and to no other`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp(key: olga)
            let key = try await server.makeKey(#"["trace"]"#, key: olga)
            let own = try await server.request("GET", "/v1/apps/shop/audit", key: key)
            #expect(
                Self.told(own) == [
                    "operator olga add_api_key shop backend done", "operator olga create_app shop  done",
                ])
            #expect(own.json["records"]?.arrayValue?.allSatisfy { $0["address"] == nil } == true)
            #expect(try await server.request("GET", "/v1/apps/demo/audit", key: key).status == 401)
            #expect(try await server.request("GET", "/v1/audit", key: key).json["code"] == "wrong_key")
        }
    }
}

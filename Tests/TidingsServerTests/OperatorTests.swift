import Foundation
import NIOPosix
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The operators of the server` {
    @Test func `begin with one who is added on the server's machine, who adds the others`() async throws {
        try await TestServer.withOperator { server, olga in
            #expect(olga.wholeMatch(of: /to_[A-Za-z0-9_-]{43}/) != nil)
            let added = try await server.request(
                "POST", "/v1/operators", key: olga, body: #"{"name":"vera@example.com","role":"view"}"#)
            #expect(added.status == 201 && added.json["role"] == "view")
            let vera = try #require(added.json["key"]?.stringValue)
            let list = try await server.request("GET", "/v1/operators?limit=1", key: vera)
            #expect(list.json["operators"]?.arrayValue?.map { $0["name"] } == ["olga"])
            let next = try #require(list.json["next"]?.stringValue)
            let rest = try await server.request("GET", "/v1/operators?limit=1&cursor=\(next)", key: vera)
            #expect(rest.json["operators"]?.arrayValue?.map { $0["name"] } == ["vera@example.com"])
            #expect(rest.json["operators"]?.arrayValue?.first?["last_used_at"]?.intValue != nil)
            for key in [olga, vera] { #expect(!rest.text.contains(key)) }
        }
    }

    @Test func `get another role, another key, or none any more`() async throws {
        try await TestServer.withOperator { server, olga in
            let vera = try await server.operatorKey("vera", "view")
            func status(_ key: String) async throws -> Int {
                try await server.request("POST", "/v1/apps/demo/resume", key: key).status
            }
            #expect(try await status(vera) == 403)
            let changed = try await server.request(
                "PATCH", "/v1/operators/vera", key: olga, body: #"{"role":"administer"}"#)
            #expect(changed.status == 200 && changed.json["role"] == "administer")
            #expect(try await status(vera) == 200)
            let rotated = try await server.request(
                "POST", "/v1/operators/vera/rotate", key: olga, body: #"{"overlap_seconds":3600}"#)
            let new = try #require(rotated.json["key"]?.stringValue)
            #expect(try await status(vera) == 200)
            #expect(try await status(new) == 200)
            let again = try await server.request("POST", "/v1/operators/vera/rotate", key: olga)
            #expect(try await status(new) == 401)
            #expect(try await status(try #require(again.json["key"]?.stringValue)) == 200)
            #expect(try await server.request("DELETE", "/v1/operators/vera", key: olga).status == 204)
            #expect(try await status(try #require(again.json["key"]?.stringValue)) == 401)
        }
    }

    @Test func `do on the routes of an app what their role lets them`() async throws {
        try await TestServer.with { server in
            _ = try await server.operatorKey()
            let message = """
                {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},"text":"Hi"}
                """
            let asked: [(String, String, String?)] = [
                ("GET", "/v1/apps/demo/users/bob/unread", nil),
                ("GET", "/v1/apps/demo/conversations/PR/bob/messages?user=alice", nil),
                ("POST", "/v1/apps/demo/messages", message),
                ("POST", "/v1/apps/demo/tokens", #"{"user":"alice"}"#),
            ]
            for (place, role) in ["view", "content", "send", "administer"].enumerated() {
                let key = try await server.operatorKey("o-\(role)", role)
                for (index, (method, path, body)) in asked.enumerated() {
                    let answer = try await server.request(method, path, key: key, body: body)
                    if index <= place {
                        #expect(answer.status < 300, "\(role) \(path)")
                    } else {
                        #expect(answer.json["code"] == "missing_role", "\(role) \(path)")
                    }
                }
                let unknown = try await server.request("GET", "/v1/apps/nowhere/users/bob/unread", key: key)
                #expect(unknown.json["code"] == "unknown_app")
            }
        }
    }

    @Test func `who may send may count first, look at it, and take it back, also of what was sent before a suspension`()
        async throws
    {
        try await TestServer.withOperator { server, olga in
            let keys = (try await server.operatorKey("vera", "content"), try await server.operatorKey("sam", "send"))
            let made = try await server.request(
                "POST", "/v1/apps/demo/pushes", key: keys.1,
                body: #"{"notification":{"text":"x"},"audience":{"users":["bob"]}}"#)
            let id = try #require(made.json["id"]?.stringValue)
            let count = "/v1/apps/demo/pushes/count?audience=%7B%22everybody%22%3Atrue%7D"
            let preview = ("/v1/apps/demo/pushes/preview", #"{"notification":{"text":"x"}}"#)
            #expect(try await server.request("GET", count, key: keys.0).json["code"] == "missing_role")
            #expect(try await server.request("GET", count, key: keys.1).status == 200)
            #expect(try await server.request("POST", preview.0, key: keys.0, body: preview.1).status == 403)
            #expect(try await server.request("POST", preview.0, key: keys.1, body: preview.1).status == 200)
            // Nothing was changed by it.
            let audit = try await server.request("GET", "/v1/audit?actor=sam", key: olga)
            #expect(!audit.text.contains("preview"))
            #expect(try await server.request("POST", "/v1/apps/demo/suspend", key: olga, body: "{}").status == 200)
            #expect(try await server.request("DELETE", "/v1/apps/demo/pushes/\(id)", key: keys.0).status == 403)
            #expect(try await server.request("DELETE", "/v1/apps/demo/pushes/\(id)", key: keys.1).status == 202)
            #expect(
                try await server.request("POST", preview.0, key: keys.1, body: preview.1).json["code"]
                    == "app_suspended")
            // Somebody else's message they do not take back.
            #expect(
                try await server.request("DELETE", "/v1/apps/demo/messages/\(id)", key: keys.1).json["code"]
                    == "missing_role")
        }
    }

    @Test func `are named in the audit log with what they did, and their keys are not`() async throws {
        let audit = LineLog()
        try await TestServer.with(audit: audit.logger) { server in
            let olga = try await server.operatorKey()
            let again = try await server.operatorKey("olga", "administer")
            let secret = try await server.makeApp(key: again)
            _ = try await server.request("GET", "/v1/apps/demo/users/bob/unread", key: again)
            let vera = try await server.operatorKey("vera", "view")
            _ = try await server.request("POST", "/v1/apps/shop/suspend", key: vera)
            let lines = audit.lines.map { line in
                String(line.split(separator: " ", maxSplits: 2).last ?? "").trimmingCharacters(in: .newlines)
                    .replacing(#/ (client|request)=\S+/#, with: "")
            }
            #expect(
                lines == [
                    "operator changed on this machine change=added operator=olga role=administer",
                    "operator changed on this machine change=key replaced operator=olga role=administer",
                    "call change=shop method=POST operator=olga path=/v1/apps route=/v1/apps status=201",
                    "call method=GET operator=olga path=/v1/apps/demo/users/bob/unread route=/v1/apps/{app}/users/{user}/unread status=200",
                    "operator changed on this machine change=added operator=vera role=view",
                    "call refused code=missing_role method=POST operator=vera route=/v1/apps/{app}/suspend status=403",
                ])
            for text in [olga, again, secret, vera] { #expect(!audit.lines.contains { $0.contains(text) }) }
        }
    }

    @Test func `have nothing of each other's idempotency keys, nor of an API key of the same name`() async throws {
        try await TestServer.withOperator { server, olga in
            let other = try await server.operatorKey("operator", "administer")
            let body = #"{"user":"alice"}"#
            func issue(_ key: String) async throws -> APIResponse {
                try await server.request(
                    "POST", "/v1/apps/demo/tokens", key: key, body: body + (key == olga ? "" : " "),
                    headers: ["Idempotency-Key: \"k\""])
            }
            // The API key of the tests is called operator, too.
            for key in [TestServer.key, other, olga] { #expect(try await issue(key).status == 201) }
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The socket beside the database` {
    private func ask(_ server: TestServer, _ name: String, _ role: String) async throws -> String {
        switch try await StoreControl.setOperator(
            database: server.configuration.store.path, name: name, role: role,
            group: MultiThreadedEventLoopGroup.singleton)
        {
        case .success(let key): key
        case .failure(let failure): failure.reason
        }
    }

    @Test func `gives an operator another role and key, and refuses what breaks a rule`() async throws {
        try await TestServer.with { server in
            let first = try await self.ask(server, "olga", "administer")
            #expect(
                try await self.ask(server, "olga", "boss")
                    == "must be operator, a name, and one of view, content, send, administer")
            #expect(try await self.ask(server, "a/b", "view").hasPrefix("name must be 1 to 64 letters"))
            #expect(try await self.ask(server, "olga", "view").hasPrefix("role must leave somebody who may administer"))
            #expect(try await server.request("GET", "/v1/operators", key: first).status == 200)
            let second = try await self.ask(server, "olga", "administer")
            #expect(try await server.request("GET", "/v1/operators", key: first).status == 401)
            #expect(try await server.request("GET", "/v1/operators", key: second).status == 200)
            _ = try await self.ask(server, "anna", "administer")
            let third = try await self.ask(server, "olga", "view")
            let list = try await server.request("GET", "/v1/operators", key: third)
            #expect(list.json["operators"]?.arrayValue?.map { $0["role"] } == ["administer", "view"])
        }
    }

    @Test func `still makes backups, and refuses another path than an absolute one`() async throws {
        try await TestServer.with { server in
            let database = server.configuration.store.path
            let group = MultiThreadedEventLoopGroup.singleton
            let fault = try await StoreControl.backUp(database: database, to: database + ".copy", group: group)
            #expect(fault == nil)
            #expect(FileManager.default.fileExists(atPath: database + ".copy"))
            let refused = try await StoreControl.backUp(database: database, to: "copy", group: group)
            #expect(refused == "must be an absolute path")
        }
    }

    @Test func `is not enough without its key file: a copied database does not open elsewhere`() async throws {
        try await TestServer.withFolder { folder in
            try await TestServer.with(folder: folder) { server in _ = try await server.operatorKey() }
            try FileManager.default.removeItem(atPath: folder + "/server.sqlite.key")
            let faults = await #expect(throws: ConfigurationFaults.self) {
                try await TestServer.with(folder: folder) { _ in }
            }
            #expect(
                faults?.faults.map { "\($0.field) \($0.rule)" } == [
                    "store.master_key_path must be there: the store's secrets are sealed under the keys of \"\(folder)/server.sqlite.key\""
                ])
        }
    }
}

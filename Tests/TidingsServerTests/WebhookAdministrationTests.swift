import Crypto
import Foundation
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The webhooks of an app` {
    private static let path = "/v1/apps/demo/webhooks"
    private static let orders = #"{"name":"Orders","url":"https://example.com/a","types":["receipt","leg_ended"]}"#

    private static let nothing: JSONValue = [
        "pending": 0, "dead_letters": 0, "last_delivered_at": .null, "last_failure": .null,
    ]

    /// Answers what was added, and its secret.
    private static func add(
        _ server: TestServer, _ key: String, _ body: String = orders, to path: String = path
    ) async throws -> (webhook: JSONValue, id: String, secret: String) {
        let made = try await server.request("POST", path, key: key, body: body)
        #expect(made.status == 201, "\(made.text)")
        let webhook = try #require(made.json["webhook"])
        return (
            webhook, try #require(webhook["id"]?.stringValue), try #require(made.json["secret"]?.stringValue)
        )
    }

    private static func problem(_ answer: APIResponse) -> String {
        "\(answer.status) \(answer.json["code"]?.stringValue ?? "") \(answer.json["field"]?.stringValue ?? "")"
    }

    @Test func `are added, told, changed and removed`() async throws {
        try await TestServer.withOperator { server, olga in
            let vera = try await server.operatorKey("vera", "view")
            #expect(try await server.request("GET", Self.path, key: vera).json == ["webhooks": []])
            let (webhook, id, secret) = try await Self.add(server, olga)
            #expect(secret.hasPrefix("whsec_") && secret.utf8.count == 6 + 44)
            let createdAt = try #require(webhook["created_at"])
            var expected: [(String, JSONValue)] = [
                ("id", .string(id)), ("name", "Orders"), ("url", "https://example.com/a"),
                ("types", ["leg_ended", "receipt"]), ("enabled", true), ("created_at", createdAt),
                ("previous_secret_ends_at", .null), ("state", Self.nothing),
            ]
            #expect(webhook == .members(expected))
            let list = try await server.request("GET", Self.path, key: vera)
            #expect(list.json == ["webhooks": [webhook]])
            #expect(!list.text.contains(secret))
            #expect(try await server.request("GET", "\(Self.path)/\(id)", key: vera).json == webhook)
            let change = #"{"name":"Bills","url":"https://example.com/b?c=d","types":["push_job"],"enabled":false}"#
            let changed = try await server.request("PATCH", "\(Self.path)/\(id)", key: olga, body: change)
            expected[1...4] = [
                ("name", "Bills"), ("url", "https://example.com/b?c=d"), ("types", ["push_job"]), ("enabled", false),
            ]
            #expect(changed.status == 200 && changed.json == .members(expected))
            // What is left out stays, and so does what is null.
            for body in ["{}", #"{"name":null,"url":null,"types":null,"enabled":null}"#] {
                let same = try await server.request("PATCH", "\(Self.path)/\(id)", key: olga, body: body)
                #expect(same.status == 200 && same.json == changed.json)
            }
            #expect(try await server.request("DELETE", "\(Self.path)/\(id)", key: olga).status == 204)
            for method in ["GET", "DELETE"] {
                let gone = try await server.request(method, "\(Self.path)/\(id)", key: olga)
                #expect(Self.problem(gone) == "404 unknown_webhook webhook")
            }
        }
    }

    @Test func `are there after a restart, and their secrets are in no file of the store`() async throws {
        try await TestServer.withFolder { folder in
            var olga = ""
            var told: JSONValue = .null
            var secrets: [String] = []
            try await TestServer.with(folder: folder) { server in
                olga = try await server.operatorKey()
                let (_, id, first) = try await Self.add(server, olga)
                let rotated = try await server.request("POST", "\(Self.path)/\(id)/secret", key: olga)
                #expect(rotated.status == 200)
                secrets = [first, try #require(rotated.json["secret"]?.stringValue)]
                told = try await server.request("GET", Self.path, key: olga).json
            }
            try await TestServer.with(folder: folder) { server in
                let list = try await server.request("GET", Self.path, key: olga)
                #expect(list.json == told)
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder)
            where name.hasPrefix("server.sqlite") {
                let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                for text in secrets { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(name)") }
            }
        }
    }

    @Test func `have another secret, with the one before for the overlap`() async throws {
        try await TestServer.withOperator { server, olga in
            let (webhook, id, first) = try await Self.add(server, olga)
            let path = "\(Self.path)/\(id)/secret"
            let before = Clocks.now().wall
            let day = try await server.request("POST", path, key: olga)
            let end = try #require(day.json["webhook"]?["previous_secret_ends_at"]?.intValue)
            #expect(end - before >= 86_400_000 && end - Clocks.now().wall <= 86_400_000)
            let second = try #require(day.json["secret"]?.stringValue)
            #expect(second.hasPrefix("whsec_") && second != first)
            let atOnce = try await server.request("POST", path, key: olga, body: #"{"overlap_seconds":0}"#)
            #expect(atOnce.json["webhook"] == webhook)
            let wrong = try await server.request("POST", path, key: olga, body: #"{"overlap_seconds":2592001}"#)
            #expect(Self.problem(wrong) == "400 invalid_field overlap_seconds")
        }
    }

    @Test func `are shown with their secret once: a repeat draws nothing`() async throws {
        try await TestServer.withOperator { server, olga in
            let (_, id, _) = try await Self.add(
                server, olga, #"{"name":"A","url":"https://a.example","types":["receipt"]}"#)
            for (index, (path, body)) in [(Self.path, Self.orders), ("\(Self.path)/\(id)/secret", "{}")].enumerated() {
                let header = ["Idempotency-Key: \"k\(index)\""]
                let first = try await server.request("POST", path, key: olga, body: body, headers: header)
                #expect(first.status < 300, "\(path): \(first.text)")
                let before = try await server.request("GET", Self.path, key: olga).text
                let second = try await server.request("POST", path, key: olga, body: body, headers: header)
                #expect(Self.problem(second) == "409 secret_already_shown Idempotency-Key", "\(path)")
                #expect(try await server.request("GET", Self.path, key: olga).text == before)
            }
        }
    }

    @Test func `need an operator: one who views sees them, one who administers changes them`() async throws {
        try await TestServer.withOperator { server, olga in
            let (_, id, _) = try await Self.add(server, olga)
            let keys = [
                ("view", try await server.operatorKey("vera", "view")),
                ("send", try await server.operatorKey("sam", "send")), ("app", TestServer.key),
            ]
            let requests: [(String, String, String?)] = [
                ("GET", "", nil), ("GET", "/\(id)", nil), ("POST", "", Self.orders), ("PATCH", "/\(id)", "{}"),
                ("POST", "/\(id)/secret", "{}"), ("DELETE", "/\(id)", nil),
            ]
            for (role, key) in keys {
                for (method, rest, body) in requests {
                    let answer = try await server.request(method, Self.path + rest, key: key, body: body)
                    let expected = role != "app" && method == "GET" ? 200 : 403
                    #expect(answer.status == expected, "\(role) \(method) \(rest): \(answer.text)")
                }
            }
            #expect(try await server.request("GET", "/v1/apps/gone/webhooks", key: olga).status == 404)
        }
    }

    @Test func `are each app's own`() async throws {
        try await TestServer.withOperator { server, olga in
            _ = try await server.makeApp("shop", key: olga)
            let (webhook, id, _) = try await Self.add(server, olga)
            for (method, rest, body) in [
                ("GET", "", nil), ("PATCH", "", "{}"), ("POST", "/secret", "{}"), ("DELETE", "", nil),
            ] {
                let answer = try await server.request(
                    method, "/v1/apps/shop/webhooks/\(id)\(rest)", key: olga, body: body)
                #expect(Self.problem(answer) == "404 unknown_webhook webhook", "\(method) \(rest)")
            }
            // A name is taken in its own app alone.
            _ = try await Self.add(server, olga, to: "/v1/apps/shop/webhooks")
            #expect(try await server.request("GET", Self.path, key: olga).json == ["webhooks": [webhook]])
        }
    }

    @Test func `are refused by name where they break a rule, and nothing is changed`() async throws {
        try await TestServer.withOperator { server, olga in
            let (_, id, _) = try await Self.add(server, olga)
            _ = try await Self.add(server, olga, #"{"name":"Bills","url":"https://a.example","types":["receipt"]}"#)
            let before = try await server.request("GET", Self.path, key: olga).text
            let long = String(repeating: "a", count: 65)
            let bad: [(member: String, value: String, answer: String)] = [
                ("name", #""""#, "400 invalid_field name"), ("name", "\"\(long)\"", "400 invalid_field name"),
                ("name", "1", "400 invalid_field name"), ("name", #""Bills""#, "409 exists name"),
                // The store names no network.
                ("url", #""http://example.com/""#, "400 invalid_field url"),
                ("url", #""ftp://example.com/""#, "400 invalid_field url"),
                ("url", #""https://""#, "400 invalid_field url"),
                ("url", #""https://ann:secret@example.com/""#, "400 invalid_field url"),
                ("url", #""https://example.com/#a""#, "400 invalid_field url"),
                ("url", #""https://example.com:65536/""#, "400 invalid_field url"),
                ("url", #""https://example.com:0/""#, "400 invalid_field url"),
                ("url", #""https://exa mple.com/""#, "400 invalid_field url"),
                ("types", "[]", "400 invalid_field types"), ("types", #"["all"]"#, "400 invalid_field types[0]"),
                ("types", #"["receipt","test"]"#, "400 invalid_field types[1]"),
                ("enabled", #""yes""#, "400 invalid_field enabled"), ("more", "1", "400 invalid_field more"),
            ]
            let plain = [("name", #""New""#), ("url", #""https://example.com/""#), ("types", #"["receipt"]"#)]
            for (member, value, expected) in bad {
                let change = try await server.request(
                    "PATCH", "\(Self.path)/\(id)", key: olga, body: "{\"\(member)\":\(value)}")
                #expect(Self.problem(change) == expected, "\(member) \(value): \(change.text)")
                let members = plain.filter { $0.0 != member } + [(member, value)]
                let body = "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
                let made = try await server.request("POST", Self.path, key: olga, body: body)
                #expect(Self.problem(made) == expected, "\(body): \(made.text)")
            }
            for missing in ["name", "url", "types"] {
                let members = plain.filter { $0.0 != missing }.map { "\"\($0)\":\($1)" }.joined(separator: ",")
                let made = try await server.request("POST", Self.path, key: olga, body: "{\(members)}")
                #expect(Self.problem(made) == "400 invalid_field \(missing)")
            }
            #expect(try await server.request("GET", Self.path, key: olga).text == before)
        }
    }

    @Test func `are twenty at most`() async throws {
        try await TestServer.withOperator { server, olga in
            for number in 1...20 {
                _ = try await Self.add(
                    server, olga, "{\"name\":\"\(number)\",\"url\":\"https://a.example\",\"types\":[\"receipt\"]}")
            }
            let more = try await server.request("POST", Self.path, key: olga, body: Self.orders)
            #expect(Self.problem(more) == "400 invalid_field webhooks")
            let list = try await server.request("GET", Self.path, key: olga)
            let ids = list.json["webhooks"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
            #expect(ids.count == 20 && ids == ids.sorted())
        }
    }

    @Test func `are named by id or name, where an id counts first`() async throws {
        try await TestServer.withOperator { server, olga in
            let (_, id, _) = try await Self.add(server, olga)
            // The name of one may be the id of another.
            let (_, other, _) = try await Self.add(
                server, olga, #"{"name":"\#(id)","url":"https://example.com/b","types":["receipt"]}"#)
            for (word, found) in [(id, id), (other, other), ("Orders", id)] {
                let answer = try await server.request("GET", "\(Self.path)/\(word)", key: olga)
                #expect(answer.json["id"] == .string(found))
            }
            let unknown = try await server.request("DELETE", "\(Self.path)/orders", key: olga)
            #expect(Self.problem(unknown) == "404 unknown_webhook webhook")
            #expect(try await server.request("DELETE", "\(Self.path)/Orders", key: olga).status == 204)
            #expect(try await server.request("GET", "\(Self.path)/\(id)", key: olga).json["id"] == .string(other))
        }
    }

    @Test func `are told of in the audit, without address and secret`() async throws {
        try await TestServer.withOperator { server, olga in
            let (_, id, secret) = try await Self.add(server, olga)
            _ = try await server.request("PATCH", "\(Self.path)/\(id)", key: olga, body: #"{"enabled":false}"#)
            _ = try await server.request("PATCH", "\(Self.path)/\(id)", key: olga, body: #"{"enabled":false}"#)
            _ = try await server.request("POST", "\(Self.path)/\(id)/secret", key: olga)
            _ = try await server.request("DELETE", "\(Self.path)/\(id)", key: olga)
            let audit = try await server.request("GET", "/v1/audit?app=demo&actor=olga", key: olga)
            let records = audit.json["records"]?.arrayValue ?? []
            #expect(
                records.map { $0["action"]?.stringValue } == [
                    "remove_webhook", "rotate_webhook_secret", "set_webhook", "add_webhook",
                ])
            #expect(records.allSatisfy { $0["subject"] == .string(id) && $0["outcome"] == "done" })
            #expect(!audit.text.contains(secret) && !audit.text.contains("example.com"))
        }
    }
}

@Suite struct `A webhook's secret` {
    private static func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

    private static func bytes(_ text: String) throws -> [UInt8] {
        try #require(Data(base64Encoded: String(text.dropFirst("whsec_".count)))).map { $0 }
    }

    private static func record(_ secret: SealedBytes) -> WebhookRecord {
        WebhookRecord(
            id: "w1", name: "Orders", url: "https://example.com", kinds: [.receipt], secret: secret,
            createdAt: RegistryBench.now)
    }

    @Test func `is open in the registry, with the one before until its end`() throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        let (first, second) = (WebhookSecrets.draw(), WebhookSecrets.draw())
        #expect(first != second)
        let sealed = try bench.keys.sealWebhookSecret(first, of: "w1", in: "shop")
        try bench.change(.changeWebhook("shop", .add(Self.record(sealed))))
        func good(at now: Int64) throws -> [[UInt8]] {
            try #require(bench.registry.app("shop")?.webhookSecrets["w1"]).good(at: now).map(Self.bytes)
        }
        #expect(try good(at: RegistryBench.now) == [try Self.bytes(first)])
        let end = RegistryBench.now + RegistryBench.hour
        try bench.change(
            .changeWebhook(
                "shop",
                .rotateSecret(
                    id: "w1", try bench.keys.sealWebhookSecret(second, of: "w1", in: "shop"), previousEndsAt: end)))
        #expect(try good(at: end - 1) == [try Self.bytes(second), try Self.bytes(first)])
        #expect(try good(at: end) == [try Self.bytes(second)])
        try bench.change(.changeWebhook("shop", .remove(id: "w1")))
        #expect(bench.registry.app("shop")?.webhookSecrets.isEmpty == true)
    }

    @Test func `opens in its own place alone, and is refused by name otherwise`() throws {
        let keys = MasterKeys.drawn()
        let sealed = try keys.sealWebhookSecret(WebhookSecrets.draw(), of: "w1", in: "shop")
        #expect(throws: MasterKeys.Fault.self) { try keys.openSecrets(of: Self.record(sealed), in: "club") }
        var other = Self.record(sealed)
        other.id = "w2"
        #expect(throws: MasterKeys.Fault.self) { try keys.openSecrets(of: other, in: "shop") }
        let without = MasterKeys.Fault(
            rule: "must hold the key \"process\", under which the secret of the webhook \"w1\" of \"shop\" is kept")
        let others = try MasterKeys(parsing: MasterKeys.drawLine(id: "1"))
        #expect(throws: without) { try others.openSecrets(of: Self.record(sealed), in: "shop") }
        for text in ["", "whsec_", "whsec_AAAA", "AAAA", "whsec_!"] {
            let wrong = Self.record(try keys.sealWebhookSecret(text, of: "w1", in: "shop"))
            #expect(throws: MasterKeys.Fault.self, "\(text)") { try keys.openSecrets(of: wrong, in: "shop") }
        }
    }

    @Test func `comes under the key that seals, and so does the one before`() throws {
        let (old, new) = (MasterKeys.drawLine(id: "1"), MasterKeys.drawLine(id: "2"))
        let before = try MasterKeys(parsing: old)
        let (first, second) = (WebhookSecrets.draw(), WebhookSecrets.draw())
        var record = Self.record(try before.sealWebhookSecret(second, of: "w1", in: "shop"))
        record.previousSecret = try before.sealWebhookSecret(first, of: "w1", in: "shop")
        record.previousEndsAt = .max
        var app = ManagedApp(id: "shop", createdAt: 1)
        app.webhooks = [record]
        var state = ControlState()
        state.put(app)
        let both = try MasterKeys(parsing: new + old)
        _ = try state.apply(try #require(try both.reseal(app, section: nil)), at: 10)
        let resealed = try #require(state[app: "shop"])
        #expect(try both.reseal(resealed, section: nil) == nil)
        let opened = try MasterKeys(parsing: new).openSecrets(of: try #require(resealed.webhooks.first), in: "shop")
        #expect(opened.good(at: 1).map(Self.bytes) == [try Self.bytes(second), try Self.bytes(first)])
    }
}

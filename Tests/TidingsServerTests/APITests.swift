import Foundation
import Testing
import TidingsModel
import Yams

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The HTTP API` {
    private static let message = """
        {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},\
        "content":"{\\"content\\":\\"hi\\"}"}
        """

    @Test func `issues a token the gateway takes`() async throws {
        try await TestServer.with { server in
            let answer = try await server.request("POST", "/v1/apps/demo/tokens", body: "{\"user\":\"alice\"}")
            #expect(answer.status == 201)
            let token = try #require(answer.json["token"]?.stringValue)
            let client = try await RawClient.open(port: server.listening.gatewayPort)
            try await client.send(server.hello("alice", token: token))
            guard case .welcome = try await client.nextFrame() else {
                Issue.record("the token was refused")
                return
            }
            await client.close()
        }
    }

    @Test func `sends a message once, however often it is asked to`() async throws {
        try await TestServer.with { server in
            let bob = try await server.client("bob")
            let first = try await server.request("POST", "/v1/apps/demo/messages", body: Self.message)
            #expect(first.status == 201)
            #expect(first.json["repeated"] == false)
            guard case .entry(let entry) = try await bob.nextFrame(), case .message(let message) = entry.body else {
                Issue.record("bob was not told")
                return
            }
            #expect(message.content == "{\"content\":\"hi\"}")
            #expect(first.json["message_id"] == .string(message.id.description))
            let second = try await server.request("POST", "/v1/apps/demo/messages", body: Self.message)
            #expect(second.status == 200)
            #expect(second.json["repeated"] == true)
            #expect(second.json["message_id"] == first.json["message_id"])
            await bob.close()
        }
    }

    @Test func `creates a group and sends to its members`() async throws {
        try await TestServer.with { server in
            let bob = try await server.client("bob")
            let put = try await server.request(
                "PUT", "/v1/apps/demo/conversations/GRP/team",
                body: "{\"name\":\"Team\",\"members\":[\"alice\",\"bob\"]}")
            #expect(put.status == 204)
            let sent = try await server.request(
                "POST", "/v1/apps/demo/messages",
                body: Self.message.replacing("PR", with: "GRP").replacing("\"bob\"", with: "\"team\""))
            #expect(sent.status == 201)
            guard case .entry(let entry) = try await bob.nextFrame(), case .message(let message) = entry.body else {
                Issue.record("bob was not told")
                return
            }
            #expect(message.conversation == .init(type: .group, target: "team"))
            await bob.close()
        }
    }

    @Test func `tells the life of a message, but not its text`() async throws {
        try await TestServer.with { server in
            let bob = try await server.client("bob")
            let sent = try await server.request("POST", "/v1/apps/demo/messages", body: Self.message)
            let id = try #require(sent.json["message_id"]?.stringValue)
            guard case .entry(let entry) = try await bob.nextFrame() else {
                Issue.record("bob was not told")
                return
            }
            try await bob.send(
                .ack(.init(stored: entry.position, settled: [.init(upTo: entry.position, disposition: .shown)])))
            let path = "/v1/apps/demo/messages/\(id)/trace"
            try await server.eventually {
                let trace = try await server.request("GET", path, key: "reader-key")
                let ended = trace.json["ended_legs"]?.arrayValue ?? []
                return ended.contains {
                    $0["user"] == "bob" && $0["device"] == "phone-of-bob" && $0["end"] == "settled"
                        && $0["detail"] == "shown"
                }
            }
            let trace = try await server.request("GET", path)
            #expect(trace.status == 200)
            #expect(trace.json["sender"] == "alice")
            #expect(!trace.text.contains("hi\\\""))
            #expect(try await server.request("GET", "/v1/apps/demo/messages/0000000000000/trace").status == 404)
            await bob.close()
        }
    }

    @Test func `lets the extension of a device fetch what was missed and report what was shown`() async throws {
        try await TestServer.with { server in
            let bob = try await RawClient.open(port: server.listening.gatewayPort)
            try await bob.send(server.hello("bob"))
            guard case .welcome(let welcome) = try await bob.nextFrame() else {
                Issue.record("no welcome")
                return
            }
            _ = try await server.request("PUT", "/v1/apps/demo/users/alice/profile", body: #"{"name":"Alice"}"#)
            let sent = try await server.request("POST", "/v1/apps/demo/messages", body: Self.message)
            let id = try #require(sent.json["message_id"]?.stringValue)
            let missed = try await server.request("GET", "/v1/extension/missed?after=0", key: welcome.extensionToken)
            #expect(missed.status == 200)
            let entries = try #require(missed.json["entries"]?.arrayValue)
            #expect(entries.compactMap { $0["message_id"]?.stringValue } == [id])
            #expect(entries.first?["conversation"]?["target"] == "alice")
            #expect(entries.first?["rings"] == true)
            #expect(entries.first?["text"] == ["title": "Alice", "body": "hi"])
            #expect(entries.first?["hidden"] == false)
            #expect(entries.first?["rc"]?["tId"] == "alice")
            #expect(entries.first?["rc"]?["mId"] == "1")
            // In the person's language, and without a word of it if they want that.
            for (settings, text) in [
                (#"{"language":"zh"}"#, ["title": "Alice", "body": "[图片]"] as JSONValue),
                (#"{"language":"zh","hides_content":true}"#, ["body": "您收到一条新消息"]),
            ] {
                _ = try await server.request("PUT", "/v1/apps/demo/users/bob/settings", body: settings)
                _ = try await server.request(
                    "POST", "/v1/apps/demo/messages",
                    body: #"""
                        {"sender":"alice","client_message_id":"\#(settings.count)","object_name":"RC:ImgMsg",
                         "conversation":{"type":"PR","target":"bob"},"content":"{}"}
                        """#)
                let missed = try await server.request(
                    "GET", "/v1/extension/missed?after=0", key: welcome.extensionToken)
                #expect(missed.json["entries"]?.arrayValue?.last?["text"] == text)
            }
            let receipt = try await server.request(
                "POST", "/v1/extension/receipts", key: welcome.extensionToken,
                body: "{\"message_id\":\"\(id)\",\"receipt\":\"shown\"}")
            #expect(receipt.status == 204)
            let trace = try await server.request("GET", "/v1/apps/demo/messages/\(id)/trace")
            let receipts = trace.json["receipts"]?.arrayValue ?? []
            #expect(receipts.map { $0["device"] } == ["phone-of-bob"])
            #expect(receipts.map { $0["receipt"] } == ["shown"])
            #expect(try await server.request("GET", "/v1/extension/missed?after=0", key: "nonsense").status == 401)
            try await Self.checkReceipts(of: entries.count, server, key: welcome.extensionToken)
            let bad = try await server.request("GET", "/v1/extension/missed?after=-1", key: welcome.extensionToken)
            #expect(bad.problem?.hasPrefix("after must be a whole number from 0") == true)
            await bob.close()
        }
    }

    private static func checkReceipts(of missed: Int, _ server: TestServer, key: String) async throws {
        let page = try await server.request("GET", "/v1/extension/missed?after=0", key: key)
        let ids = (page.json["entries"]?.arrayValue ?? []).compactMap { $0["message_id"]?.stringValue }
        #expect(ids.count > missed)
        func send(_ members: [(String, JSONValue)]) async throws -> (status: Int, problem: String?) {
            let body = JSONValue.members(members + [("receipt", "shown")]).text
            let answer = try await server.request("POST", "/v1/extension/receipts", key: key, body: body)
            return (answer.status, answer.problem)
        }
        #expect(try await send([("message_ids", .array(ids.map { .string($0) }))]).status == 204)
        for id in ids {
            let trace = try await server.request("GET", "/v1/apps/demo/messages/\(id)/trace")
            #expect(trace.json["receipts"]?.arrayValue?.last?["receipt"] == "shown")
        }
        let bad: [([(String, JSONValue)], String)] = [
            ([], "message_ids must be 1 to 20 ids without message_id, got 0"),
            (
                [("message_ids", .array(Array(repeating: "0000000000001", count: 21)))],
                "message_ids must be 1 to 20 ids"
            ),
            ([("message_ids", ["0000000000001", "x"])], "message_ids[1] must be a message id of 13 characters"),
            (
                [("message_id", "0000000000001"), ("message_ids", ["0000000000001"])],
                "message_ids must not be there beside message_id"
            ),
        ]
        for (members, rule) in bad {
            let answer = try await send(members)
            #expect(answer.status == 422 || answer.status == 400)
            #expect(answer.problem?.hasPrefix(rule) == true, "\(answer)")
        }
    }

    @Test func `tells the extension of nothing as missed that is deleted, or muted`() async throws {
        try await TestServer.with { server in
            let bob = try await RawClient.open(port: server.listening.gatewayPort)
            try await bob.send(server.hello("bob"))
            guard case .welcome(let welcome) = try await bob.nextFrame() else {
                Issue.record("no welcome")
                return
            }
            func rings() async throws -> [JSONValue?] {
                let missed = try await server.request(
                    "GET", "/v1/extension/missed?after=0", key: welcome.extensionToken)
                return (missed.json["entries"]?.arrayValue ?? []).filter { $0["message_id"] != nil }.map { $0["rings"] }
            }
            let withAlice = ConversationID(type: .direct, target: "alice")
            let sent = try await server.request("POST", "/v1/apps/demo/messages", body: Self.message)
            let id = try #require(sent.json["message_id"]?.stringValue.flatMap { MessageID($0) })
            #expect(try await rings() == [true])
            try await bob.send(.request(1, .delete(Deletion(conversation: withAlice, messages: [id]))))
            while case .entry = try await bob.nextFrame() {}
            // Of what is deleted only the position is left.
            #expect(try await rings() == [])
            let path = "/v1/apps/demo/users/bob/settings/PR/alice"
            #expect(try await server.request("PUT", path, body: "{\"level\":\"blocked\"}").status == 204)
            let again = Self.message.replacingOccurrences(of: "\"c1\"", with: "\"c2\"")
            #expect(try await server.request("POST", "/v1/apps/demo/messages", body: again).status == 201)
            #expect(try await rings() == [false])
            await bob.close()
        }
    }

    @Test func `gives each connect a new extension token, and none of them opens anything after signing out`()
        async throws
    {
        try await TestServer.with { server in
            var tokens: [String] = []
            for _ in 0..<2 {
                let bob = try await RawClient.open(port: server.listening.gatewayPort)
                try await bob.send(server.hello("bob"))
                guard case .welcome(let welcome) = try await bob.nextFrame() else {
                    Issue.record("no welcome")
                    return
                }
                tokens.append(welcome.extensionToken)
                let path = "/v1/extension/missed?after=0"
                #expect(try await server.request("GET", path, key: welcome.extensionToken).status == 200)
                if tokens.count == 2 { try await bob.send(.signOut) }
                await bob.close()
            }
            #expect(Set(tokens).count == 2)
            for token in tokens {
                try await server.eventually {
                    try await server.request("GET", "/v1/extension/missed?after=0", key: token).status == 401
                }
                let receipt = try await server.request(
                    "POST", "/v1/extension/receipts", key: token,
                    body: "{\"message_id\":\"0000000000001\",\"receipt\":\"shown\"}")
                #expect(receipt.status == 401)
            }
        }
    }

    @Test func `asks for a key of the app with the scope`() async throws {
        try await TestServer.with { server in
            for (key, app, status) in [
                (nil, "demo", 401), ("wrong", "demo", 401), (TestServer.key, "other", 401), ("reader-key", "demo", 403),
            ] as [(String?, String, Int)] {
                let answer = try await server.request("POST", "/v1/apps/\(app)/messages", key: key, body: Self.message)
                #expect(answer.status == status)
                #expect(answer.json["field"] == "Authorization")
                #expect(status != 401 || answer.head.lowercased().contains("www-authenticate: bearer"))
            }
        }
    }

    @Test func `names the field and the rule of bad input, and changes nothing`() async throws {
        try await TestServer.with { server in
            let bad: [(String, String)] = [
                ("{", "body must be JSON: the text ends too early at byte 1"),
                ("[]", "body must be a JSON object, got an array"),
                (Self.message.replacing("\"alice\"", with: "7"), "sender must be a string, got a number"),
                (
                    Self.message.replacing("\"alice\"", with: "\"a b\""),
                    "sender must not contain spaces or control characters"
                ),
                (
                    Self.message.replacing("\"PR\"", with: "\"XX\""),
                    "conversation.type must be one of direct (PR), discussion (DS), group (GRP), customer_service (CS), system (SYS), "
                        + "app_public_service (MC), public_service (MP), push_service (PH), chat_room (CHRM)"
                ),
                (Self.message.replacing(",\"target\":\"bob\"", with: ""), "conversation.target must be present"),
                (Self.message.replacing("\"c1\"", with: "\"\""), "client_message_id must not be empty"),
                (
                    Self.message.replacing("\"sender\"", with: "\"push\":1,\"sender\""),
                    "push must be an object, got a number"
                ),
                (
                    Self.message.replacing("\"sender\"", with: "\"push\":{\"badge\":1},\"sender\""),
                    "push.badge is not known here; known are category, custom, image, interruption_level, "
                        + "relevance_score, sound, subtitle, text, thread_id, title"
                ),
                (
                    Self.message.replacing("\"sender\"", with: "\"pushes\":1,\"sender\""),
                    "pushes is not known here; known are author, client_message_id, content, conversation, counted, "
                        + "ignores_ban, ignores_blocks, lifetime_ms, mentions, notified, object_name, push, push_text, recipients, sender, stored, text"
                ),
            ]
            for (body, problem) in bad {
                let answer = try await server.request("POST", "/v1/apps/demo/messages", body: body)
                #expect(answer.status == 400)
                #expect(answer.problem == problem)
            }
            let unknown = try await server.request(
                "POST", "/v1/apps/demo/messages", body: Self.message.replacing("\"PR\"", with: "\"GRP\""))
            #expect(unknown.status == 404)
            #expect(unknown.json["code"] == "unknown_conversation")
            #expect(unknown.json["field"] == "conversation.target")
            let users = try await server.request("PUT", "/v1/apps/demo/conversations/PR/bob", body: "{\"members\":[]}")
            #expect(users.problem == "type must be discussion, group or chat_room: others have no members")
            let soon = try await server.request(
                "POST", "/v1/apps/demo/tokens", body: "{\"user\":\"alice\",\"expires_in_seconds\":0}")
            #expect(soon.problem == "expires_in_seconds must be a whole number from 1 to 31536000")
            #expect(server.metric("tidings_messages_accepted_total") == "0")
        }
    }

    @Test func `refuses a body over the limit and a path it does not have`() async throws {
        try await TestServer.with({ $0.api.bodyBytesMax = 1_024 }) { server in
            let large = try await server.request(
                "POST", "/v1/apps/demo/messages", body: String(repeating: " ", count: 2_000))
            #expect(large.status == 413)
            #expect(large.problem == "body is larger than api.body_bytes_max")
            let lost = try await server.request("GET", "/v1/nothing")
            #expect(lost.status == 404)
            #expect(lost.problem == "path GET /v1/nothing is not part of the API; see /openapi.yaml")
        }
    }

    @Test func `tells its state and its metrics`() async throws {
        try await TestServer.with { server in
            #expect(try await server.request("GET", "/healthz", key: nil).status == 200)
            #expect(try await server.request("GET", "/readyz", key: nil).status == 200)
            _ = try await server.request("GET", "/v1/nothing/else")
            let metrics = try await server.request("GET", "/metrics", key: nil)
            #expect(metrics.head.contains("text/plain; version=0.0.4"))
            #expect(metrics.text.contains("# TYPE tidings_gateway_connections gauge\n"))
            #expect(
                metrics.text.contains("tidings_api_requests_total{route=\"/readyz\",status=\"2xx\"} 1\n"))
            #expect(metrics.text.contains("tidings_api_requests_total{route=\"NotFound\",status=\"4xx\"} 1\n"))
        }
    }

    @Test func `is described with each status it answers, and none that stands for all others`() {
        #expect(!OpenAPI.document.contains("default: {$ref"))
        #expect(DescribedAnswers.statuses("GET", "/healthz") == [200])
        #expect(DescribedAnswers.statuses("GET", "/v1/apps/x/accounts/CS?actor=x") == [404, 405])
        #expect(DescribedAnswers.statuses("GET", "/v1/apps/x/accounts") == [200, 400, 401, 403, 404, 421, 500, 503])
    }

    @Test func `has a description whose references are there, and all in use`() throws {
        let document = try #require(try Yams.load(yaml: OpenAPI.document) as? [String: Any])
        let components = try #require(document["components"] as? [String: [String: Any]])
        let named = components.filter { $0.key != "securitySchemes" }.flatMap { kind, members in
            members.keys.map { "#/components/\(kind)/\($0)" }
        }
        let referred = OpenAPI.document.matches(of: /\$ref: "([^"]+)"/).map { String($0.1) }
        #expect(referred.count > 400)
        #expect(Set(referred) == Set(named))
    }

    @Test func `is described by its OpenAPI document, route by route`() async throws {
        try await TestServer.with { server in
            let answer = try await server.request("GET", "/openapi.yaml", key: nil)
            #expect(answer.text == OpenAPI.document)
            let document = try #require(try Yams.load(yaml: answer.text) as? [String: Any])
            #expect(document["openapi"] as? String == "3.1.0")
            let paths = try #require(document["paths"] as? [String: [String: Any]])
            #expect(paths.count == 124)
            let json = try await server.request("GET", "/openapi.json", key: nil).json
            #expect(Set((json["paths"]?.members ?? []).map(\.0)) == Set(paths.keys))
            let limit = json["components"]?["parameters"]?["limit"]?["schema"]
            #expect(limit?["maximum"] == 100 && limit?["type"] == "integer")
            // Every described route answers otherwise than an unknown one.
            for (path, methods) in paths {
                for method in methods.keys where method != "servers" {
                    let concrete = path.replacing(/\{[a-z]+\}/, with: "x")
                    let answer = try await server.request(method.uppercased(), concrete, key: nil)
                    #expect(answer.json["code"] != "unknown_route", "\(method) \(path)")
                }
            }
        }
    }
}

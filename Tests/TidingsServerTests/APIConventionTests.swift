import Foundation
import HTTPTypes
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A list of the HTTP API` {
    private static let accounts = (0..<130).map {
        AccountInfo(ServiceAccount(ConversationID(type: .customerService, target: "a\($0 + 100)")))
    }

    private func pages(_ api: APIDouble, _ path: String, limit: Int) async throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let more = cursor.map { "&cursor=\($0)" } ?? ""
            let answer = try await api.request(.get, "\(path)?limit=\(limit)\(more)")
            #expect(answer.status == 200)
            pages.append((answer.json["accounts"]?.arrayValue ?? []).compactMap { $0["id"]?.stringValue })
            cursor = answer.json["next"]?.stringValue
        } while cursor != nil && pages.count < 200
        return pages
    }

    @Test(arguments: [(1, 130), (50, 3), (65, 2), (100, 2)])
    func `comes whole, page by page, whatever the limit`(limit: Int, count: Int) async throws {
        let api = try await APIDouble(reading: .accounts(Self.accounts))
        let pages = try await self.pages(api, "accounts", limit: limit)
        #expect(pages.flatMap(\.self) == Self.accounts.map(\.account.id.target))
        #expect(pages.count == count)
    }

    @Test func `has fifty elements a page without a limit`() async throws {
        let api = try await APIDouble(reading: .accounts(Self.accounts))
        #expect(try await api.request(.get, "accounts").json["accounts"]?.arrayValue?.count == 50)
    }

    @Test func `asks the store for its own elements alone, and for one more`() async throws {
        let api = try await APIDouble(reading: .accounts(Self.accounts))
        let next = try #require(try await api.request(.get, "accounts?limit=3").json["next"]?.stringValue)
        _ = try await api.request(.get, "accounts?limit=3&cursor=\(next)")
        #expect(
            api.reads == [
                .readAccounts("demo", limit: 4), .readAccounts("demo", after: Self.accounts[2].account.id, limit: 4),
            ])
    }

    @Test func `neither repeats nor hides anything when others come and go between two pages`() async throws {
        let before = try await APIDouble(reading: .accounts(Self.accounts))
        let first = try await before.request(.get, "accounts?limit=3")
        let next = try #require(first.json["next"]?.stringValue)
        // Gone: the element the cursor names, and one before it. New: one before it, and one right after it.
        var changed = Self.accounts
        changed.removeAll { ["a102", "a100"].contains($0.account.id.target) }
        for target in ["a1000", "a1021"] {
            changed.append(AccountInfo(ServiceAccount(ConversationID(type: .customerService, target: target))))
        }
        changed.sort { $0.account.id < $1.account.id }
        let after = try await APIDouble(reading: .accounts(changed))
        let second = try await after.request(.get, "accounts?limit=3&cursor=\(next)")
        let ids = second.json["accounts"]?.arrayValue?.compactMap { $0["id"]?.stringValue }
        #expect(ids == ["a1021", "a103", "a104"])
    }

    @Test func `refuses a cursor that is none of its own, and a limit out of range`() async throws {
        let api = try await APIDouble(reading: .accounts(Self.accounts))
        let good = try #require(try await api.request(.get, "accounts?limit=3").json["next"]?.stringValue)
        let names = try await APIDouble(reading: .objectNames((0..<60).map { ObjectName("my:\($0)") }.sorted()))
        let other = try #require(try await names.request(.get, "object-names?limit=3").json["next"]?.stringValue)
        for cursor in ["", "x", "%3D", other, String(good.dropLast(8)), "\(good)=", "AAAAAAAAAAAA", good + good] {
            let answer = try await api.request(.get, "accounts?cursor=\(cursor)")
            #expect(answer.problem == "cursor must be the next of an earlier answer of this list", "\(cursor)")
        }
        for limit in ["0", "101", "x", "-1", ""] {
            let answer = try await api.request(.get, "accounts?limit=\(limit)")
            #expect(answer.problem == "limit must be a whole number from 1 to 100", "\(limit)")
        }
    }

    @Test func `is another one for another reader, so that cursors are not mixed up`() async throws {
        let message = Message(
            id: MessageID("01qdq6qdr0000")!, app: "demo", sender: "alice",
            conversation: ConversationID(type: .group, target: "team"), clientMessageID: "c", objectName: .text,
            content: "x", flags: .normal, pushText: nil, sentAt: 5)
        let api = try await APIDouble(answering: .answer(.history([message], hasMore: true)))
        let path = "conversations/GRP/team/messages"
        let next = try #require(try await api.request(.get, "\(path)?user=bob").json["next"]?.stringValue)
        #expect(try await api.request(.get, "\(path)?user=bob&cursor=\(next)").status == 200)
        #expect(try await api.request(.get, "\(path)?user=carol&cursor=\(next)").status == 400)
    }

    @Test func `tells of a cursor whose element this store does not know`() async throws {
        let message = Message(
            id: MessageID("01qdq6qdr0000")!, app: "demo", sender: "alice",
            conversation: ConversationID(type: .group, target: "team"), clientMessageID: "c", objectName: .text,
            content: "x", flags: .normal, pushText: nil, sentAt: 5)
        let api = try await APIDouble(answering: .answer(.history([message], hasMore: true)))
        let path = "conversations/GRP/team/messages?user=bob"
        let next = try #require(try await api.request(.get, path).json["next"]?.stringValue)
        let unknown = ServerFrame.Problem(code: .unknownMessage, field: "before", rule: "must be there")
        let restored = try await APIDouble(answering: .answer(.refused(unknown)))
        let answer = try await restored.request(.get, "\(path)&cursor=\(next)")
        #expect(answer.status == 400)
        #expect(answer.json["field"] == "cursor")
    }
}

@Suite struct `An idempotency key` {
    private static let body = #"{"name":"T","members":[]}"#
    private static let path = "conversations/GRP/team"

    private func asked(_ api: APIDouble, _ key: String, body: String = Self.body, path: String = Self.path) async throws
        -> (key: IdempotencyKey, fingerprint: [UInt8])?
    {
        api.forget()
        let answer = try await api.request(.post, path, body, headers: [("Idempotency-Key", key)])
        #expect(answer.status < 300, "\(answer.text)")
        guard case .once(let key, let fingerprint, _)? = api.commands.first else { return nil }
        return (key, fingerprint)
    }

    @Test func `is a string, with or without its quotation marks, of the app and its API key`() async throws {
        let api = try await APIDouble()
        let first = try #require(try await self.asked(api, "\"k-1\""))
        #expect(first.key == IdempotencyKey(app: "demo", apiKey: "operator", text: "k-1"))
        #expect(first.fingerprint.count == 32)
        let bare = try #require(try await self.asked(api, "k-1"))
        #expect(bare == first)
        #expect(try await self.asked(api, #""a\"b\\c""#)?.key.text == #"a"b\c"#)
    }

    @Test func `stands for one method, path, query and body`() async throws {
        let api = try await APIDouble()
        let first = try #require(try await self.asked(api, "k")).fingerprint
        #expect(try await self.asked(api, "k")?.fingerprint == first)
        #expect(try await self.asked(api, "k", body: Self.body + " ")?.fingerprint != first)
        #expect(try await self.asked(api, "k", path: Self.path + "?actor=bob")?.fingerprint != first)
        #expect(try await self.asked(api, "k", path: "conversations/GRP/crew")?.fingerprint != first)
    }

    @Test(arguments: [
        "", "\"\"", "a b", "\"a", "\"a\"b\"", #""a\""#, #""a\n""#, "é", String(repeating: "x", count: 129),
    ])
    func `is refused if it is none, and nothing is asked`(key: String) async throws {
        let api = try await APIDouble()
        let answer = try await api.request(.post, Self.path, Self.body, headers: [("Idempotency-Key", key)])
        #expect(answer.status == 400)
        #expect(answer.problem?.hasPrefix("Idempotency-Key must be 1 to 128 visible ASCII characters") == true)
        #expect(api.commands == [])
    }

    @Test func `is refused if there are two`() async throws {
        let api = try await APIDouble()
        let answer = try await api.request(
            .post, Self.path, Self.body, headers: [("Idempotency-Key", "a"), ("Idempotency-Key", "b")])
        #expect(answer.problem == "Idempotency-Key must not be there twice")
    }

    @Test func `is refused with 422 if it was another request's, with 409 while that is not answered`() async throws {
        for (result, status, code) in [
            (APIResult.keyReused, 422, "idempotency_key_reused"), (.keyInUse, 409, "idempotency_key_in_use"),
        ] {
            let api = try await APIDouble(answering: result)
            let answer = try await api.request(.post, Self.path, Self.body, headers: [("Idempotency-Key", "k")])
            #expect(answer.status == status)
            #expect(answer.json["code"] == .string(code))
            #expect(answer.json["field"] == "Idempotency-Key")
            #expect(answer.header("Retry-After") == (status == 409 ? "1" : nil))
        }
    }

    /// Or of operators.
    private static func isOfBackends(_ path: String) -> Bool {
        ["/v1/apps", "/v1/operators"].contains { path == $0 || path.hasPrefix("\($0)/") }
    }

    @Test
    func
        `is taken by every POST of a backend or an operator, and by a phone's that creates, and nothing else goes by it`()
        async throws
    {
        let posts = DescribedAnswers.operations.filter {
            $0.method == "POST" && (Self.isOfBackends($0.path) || $0.path == "/v1/media/uploads")
        }
        #expect(posts.count == 36)
        #expect(
            DescribedAnswers.operations.allSatisfy {
                $0.hasParameter("Idempotency-Key") == posts.map(\.path).contains($0.path) || $0.method != "POST"
            })
        let api = try await APIDouble()
        _ = try await api.request(
            .put, "conversations/GRP/team/name", #"{"name":"T"}"#, headers: [("Idempotency-Key", "k")])
        #expect(
            api.commands == [.request("demo", actor: nil, .change(.init(type: .group, target: "team"), .rename("T")))])
    }

    @Test func `gives the same answer again, also by another process on the same store`() async throws {
        try await TestServer.withFolder { folder in
            let message = #"""
                {"sender":"alice","client_message_id":"c1","conversation":{"type":"PR","target":"bob"},"text":"hi"}
                """#
            let requests = [
                ("/v1/apps/demo/messages", message), ("/v1/apps/demo/tokens", #"{"user":"alice"}"#),
                (
                    "/v1/apps/demo/custom-messages",
                    #"{"recipients":["bob"],"client_message_id":"x1","content":"x"}"#
                ),
                ("/v1/apps/demo/conversations/GRP/team", Self.body),
                ("/v1/apps/demo/conversations/GRP/team/members", #"{"users":["bob"]}"#),
                ("/v1/apps/demo/users/bob/revoke-tokens", "{}"),
            ]
            func ask(_ server: TestServer, _ index: Int, _ body: String? = nil) async throws -> APIResponse {
                try await server.request(
                    "POST", requests[index].0, body: body ?? requests[index].1,
                    headers: ["Idempotency-Key: \"k\(index)\""])
            }
            var first: [APIResponse] = []
            try await TestServer.with(folder: folder) { server in
                for index in requests.indices {
                    first.append(try await ask(server, index))
                    #expect(first[index].status == (index < 4 ? 201 : 204))
                    let again = try await ask(server, index)
                    #expect((again.status, again.text) == (first[index].status, first[index].text))
                }
            }
            try await TestServer.with(folder: folder) { server in
                for index in requests.indices {
                    let again = try await ask(server, index)
                    #expect((again.status, again.text) == (first[index].status, first[index].text))
                    let other = try await ask(server, index, requests[index].1 + " ")
                    #expect(other.json["code"] == "idempotency_key_reused")
                }
                #expect(server.metric("tidings_messages_accepted_total") == "0")
            }
        }
    }
}

@Suite struct `The id of a request` {
    @Test func `is the client's, in the answer and in a problem, which says once what is wrong`() async throws {
        let api = try await APIDouble(answering: .done)
        let good = try await api.request(.put, "object-names", #"{"names":[]}"#, headers: [("X-Request-Id", "r-1")])
        #expect(good.header("X-Request-Id") == "r-1")
        let bad = try await api.request(.put, "object-names", "{}", headers: [("X-Request-Id", "r/<1>")])
        #expect(bad.header("X-Request-Id") == "r/<1>")
        #expect(bad.json["request_id"] == "r/<1>")
        #expect(bad.json["detail"] == "names must be present" && bad.json["rule"] == nil)
    }

    @Test func `stands in an answer that ends with a line break, as every JSON does`() async throws {
        let told = try await APIDouble(reading: .objectNames([])).request(.get, "object-names")
        #expect(told.text == "{\"names\":[],\"next\":null}\n")
        let refused = try await APIDouble().request(.put, "object-names", "{}")
        #expect(refused.text.hasSuffix("}\n") && refused.text.count(where: \.isNewline) == 1)
    }

    @Test func `is made up where the client's is none`() async throws {
        let api = try await APIDouble(answering: .done)
        for given in ["two words", "é", String(repeating: "x", count: 129), ""] {
            let answer = try await api.request(.put, "object-names", "{}", headers: [("X-Request-Id", given)])
            let id = try #require(answer.header("X-Request-Id"))
            #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect(answer.json["request_id"] == .string(id))
        }
    }

    @Test func `is in the answer to a body that does not come in time`() async throws {
        try await TestServer.with({ $0.http.bodyMilliseconds = 100 }) { server in
            let client = try await RawClient.connect(port: server.listening.apiPort)
            try await client.send(
                text: "POST /v1/apps/demo/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(TestServer.key)\r\n"
                    + "X-Request-Id: slow-1\r\nContent-Length: 10\r\n\r\n{")
            let head = try await client.head()
            let answer = APIResponse(status: 408, head: head, text: await client.rest())
            #expect(head.hasPrefix("HTTP/1.1 408"))
            #expect(answer.header("X-Request-Id") == "slow-1")
            #expect(answer.json["request_id"] == "slow-1")
            DescribedAnswers.check(answer, "POST", "/v1/apps/demo/tokens")
        }
    }
}

@Suite struct `The description of the HTTP API` {
    @Test func `has every code of a problem, and no other`() throws {
        let schemas = DescribedAnswers.document["components"].parts["schemas"].parts
        let listed = (schemas["ProblemCode"].parts["enum"]?.arrayValue ?? []).compactMap(\.stringValue)
        // That one is for the audit log: nobody is there to be answered.
        let told = APIProblem.Code.all.filter { $0 != .own(.connectionLost) }.map(\.rawValue)
        #expect(listed.sorted() == told.sorted())
        #expect(Set(listed).count == listed.count)
    }

    @Test func `names each code with its own status, and each where something can answer it`() {
        let statuses = Dictionary(
            APIProblem.Code.all.map { ($0.rawValue, $0.status.code) }, uniquingKeysWith: { first, _ in first })
        var used: Set<String> = []
        for operation in DescribedAnswers.operations {
            for status in operation.responses.keys where status >= 400 {
                let codes = operation.codes(status)
                #expect(!codes.isEmpty, "\(operation.method) \(operation.path) \(status)")
                for code in codes { #expect(statuses[code] == status, "\(operation.path): \(code)") }
                used.formUnion(codes)
            }
        }
        // Those are answers to what is not described; `method_not_allowed` is that, too, and of an X-HTTP-Method-Override.
        let all = Set(statuses.keys).subtracting([
            "connection_lost", "unknown_route", "unknown_transfer_coding", "unknown_content_coding",
            "unknown_expectation",
        ])
        #expect(used == all)
    }

    @Test func `names what every operation of a kind can answer`() {
        for operation in DescribedAnswers.operations
        // What a server can of a protocol is told to anybody.
        where operation.path.hasPrefix("/v1/") && operation.method != "OPTIONS" {
            let statuses = Set(operation.responses.keys)
            let name: Comment = "\(operation.method) \(operation.path)"
            // Who is signed in is told from memory, to whoever it is.
            let isOfMemory = name == "GET /v1/session"
            #expect(statuses.isSuperset(of: isOfMemory ? [400, 401, 500] : [400, 401, 500, 503]), name)
            let isOfPhones = operation.path.hasPrefix("/v1/media/") || operation.path.hasPrefix("/v1/extension/")
            #expect(statuses.contains(403) != (isOfPhones || isOfMemory), name)
            // An operator is told that there is no such app.
            #expect(statuses.contains(404) || !operation.path.hasPrefix("/v1/apps/{app}"), name)
            #expect(statuses.isSuperset(of: [408, 413]) == operation.hasBody, name)
            #expect(operation.codes(400).contains("malformed_json") == operation.hasJSONBody, name)
            let isKeyed = operation.hasParameter("Idempotency-Key")
            #expect(statuses.contains(422) == isKeyed, name)
            #expect(operation.codes(409).contains("idempotency_key_in_use") == isKeyed, name)
            // The sign-in, and what a session confirms with the password of who asks: all of these are told of a wrong one.
            let triesPasswords = name == "POST /v1/session" || operation.codes(403).contains("wrong_password")
            #expect(statuses.contains(429) == (operation.isLimited || isKeyed || triesPasswords), name)
            #expect(operation.hasParameter("cursor") == operation.hasParameter("limit"), name)
            for (status, response) in operation.responses {
                let headers = response["headers"].parts.keys
                #expect(headers.contains("X-Request-Id"), "\(operation.path) \(status)")
            }
        }
    }

    @Test func `has the routes of both listeners, no more and no fewer`() async throws {
        let described = DescribedAnswers.operations.map { "\($0.method) \($0.path)" }
        let served = Set(try await APIDouble().routes)
        #expect(described.sorted() == served.sorted())
    }

    @Test func `is of routes with a scope or a role, but for those that look at who asks`() {
        let open = Set(API.routes.joined().compactMap { if case .open = $0.access { $0.path } else { nil } })
        #expect(
            open == [
                "/", "console", "console/{file}", "healthz", "metrics", "openapi.json", "openapi.yaml", "readyz",
                "v1/session", "v1/operators/{name}/password", "v1/phones/{id}/commands",
                "v1/apps/{app}/media/uploads", "v1/apps/{app}/media/uploads/{id}",
            ])
    }
}

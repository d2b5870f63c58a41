// swift-format-ignore-file: NeverForceUnwrap

import HTTPTypes
import NIOConcurrencyHelpers
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// Writes down what it is asked and answers what it was told to.
private final class SearchDouble: MessageSearch {
    private let asked = NIOLockedValueBox<[MessageQuestion]>([])
    private let answer: Result<FoundMessages, MessageSearchFault>

    init(_ answer: Result<FoundMessages, MessageSearchFault>) { self.answer = answer }

    var questions: [MessageQuestion] { self.asked.withLockedValue { $0 } }
    var progress: SearchProgress { SearchProgress() }

    func close() {}

    func find(_ question: MessageQuestion) async throws(MessageSearchFault) -> FoundMessages {
        self.asked.withLockedValue { $0.append(question) }
        return try self.answer.get()
    }
}

@Suite struct `The search of the HTTP API` {
    private static let first = Message(
        id: MessageID("01qdq6qdr0000")!, app: "demo", sender: "alice",
        conversation: ConversationID(type: .direct, target: "bob"), clientMessageID: "c", objectName: .text,
        content: #"{"content":"hello"}"#, flags: .normal, pushText: nil, sentAt: 7)

    private static func found(_ messages: [Message], hasMore: Bool = false) -> SearchDouble {
        SearchDouble(
            .success(FoundMessages(messages: messages, hasMore: hasMore, indexedUntil: 9, isBehind: hasMore)))
    }

    @Test func `asks for everything that the query names, and goes on behind the last message`() async throws {
        let search = Self.found([Self.first], hasMore: true)
        let api = try await APIDouble(search: search)
        let query = "messages?text=hello%20%E5%8C%97%E4%BA%AC&user=bob&conversation_type=PR&conversation_id=alice"
        let answer = try await api.request(.get, "\(query)&since=1800000000005&until=1800000000009&limit=2")
        #expect(answer.json["messages"] == [Self.first.json.json])
        #expect(answer.json["indexed_until"] == 9 && answer.json["behind"] == true)
        let next = try #require(answer.json["next"]?.stringValue)
        _ = try await api.request(.get, "\(query)&since=1800000000005&until=1800000000009&limit=2&cursor=\(next)")
        var question = MessageQuestion(
            app: "demo", text: "hello 北京", user: "bob", conversation: ConversationID(type: .direct, target: "alice"),
            since: 1_800_000_000_005, until: 1_800_000_000_009, limit: 2)
        let asked = question
        question.before = Self.first.id
        #expect(search.questions == [asked, question])
        // A cursor is of its question.
        let other = try await api.request(.get, "messages?text=other&limit=2&cursor=\(next)")
        #expect(other.status == 400 && other.json["field"] == "cursor")
        #expect(api.commands == [])
    }

    @Test func `asks with the words alone`() async throws {
        let search = Self.found([])
        let answer = try await APIDouble(search: search).request(
            .get, "messages?text=x&conversation_type=GRP&conversation_id=t")
        #expect(answer.json == ["messages": [], "next": .null, "indexed_until": 9, "behind": false])
        #expect(
            search.questions == [
                MessageQuestion(
                    app: "demo", text: "x", conversation: ConversationID(type: .group, target: "t"), limit: 50)
            ])
    }

    @Test(arguments: [
        ("", "text", "must be present"), ("text=", "text", "must be 1 to 512 bytes"),
        ("text=\(String(repeating: "x", count: 513))", "text", "must be 1 to 512 bytes"),
        ("text=x&user=", "user", "must"), ("text=x&conversation_id=a", "conversation_type", "beside conversation_id"),
        ("text=x&conversation_type=GRP", "conversation_id", "beside conversation_type"),
        ("text=x&conversation_type=XX&conversation_id=a", "conversation_type", "must be one of"),
        ("text=x&conversation_type=PR&conversation_id=a", "user", "one of its two"),
        ("text=x&since=1700000000", "since", "which looks like seconds"),
        ("text=x&until=9007199254740992", "until", "to 9007199254740991"),
        ("text=x&since=-1", "since", "milliseconds since 1970"), ("text=x&until=soon", "until", "(RFC 3339)"),
        ("text=x&until=2019-12-31T23:59:59Z", "until", "to 9007199254740991"),
        ("text=x&since=1800000000002&until=1800000000001", "until", "must not be before since"),
        ("text=x&limit=101", "limit", "1 to 100"),
        ("text=x&cursor=AAAA", "cursor", "earlier answer"), ("text=x&word=y", "word", "is not known"),
        ("text=x&text=y", "text", "twice"),
    ]) func `refuses what it cannot go by`(query: String, field: String, rule: String) async throws {
        let search = Self.found([])
        let answer = try await APIDouble(search: search).request(.get, "messages?\(query)")
        #expect(answer.status == 400 && answer.json["field"]?.stringValue == field, "\(answer.text)")
        #expect(answer.problem?.contains(rule) == true, "\(answer.text)")
        #expect(search.questions == [])
    }

    @Test(arguments: [
        (MessageSearchFault.noWords, 400, "invalid_field", "text"), (.unknownMessage, 400, "invalid_field", "cursor"),
        (.tooSlow, 503, "unavailable", "text"), (.unavailable, 503, "unavailable", ""),
    ]) func `says what is wrong`(fault: MessageSearchFault, status: Int, code: String, field: String) async throws {
        let answer = try await APIDouble(search: SearchDouble(.failure(fault))).request(.get, "messages?text=x")
        #expect(answer.status == status && answer.json["code"]?.stringValue == code)
        #expect(answer.json["field"]?.stringValue == field)
        #expect((answer.header("Retry-After") != nil) == (status == 503))
    }

    @Test func `is there with a file for it, to keys with the scope for histories`() async throws {
        let off = try await APIDouble().request(.get, "messages?text=x")
        #expect(off.status == 404 && off.json["code"] == "search_off" && off.json["field"] == "search.path")
        let search = Self.found([])
        let closed = try await APIDouble(scopes: [.messages, .trace], search: search).request(.get, "messages?text=x")
        #expect(closed.status == 403 && closed.json["code"] == "missing_scope")
        #expect(search.questions == [])
    }

    @Test func `finds on a running server what was sent a moment ago`() async throws {
        try await TestServer.with {
            $0.search.path = $0.store.path + ".search"
        } _: { server in
            let body = #"""
                {"sender":"alice","client_message_id":"c","conversation":{"type":"PR","target":"bob"},
                 "content":"{\"content\":\"明天北京\"}"}
                """#
            _ = try await server.request("POST", "/v1/apps/demo/messages", body: body)
            let answer = try await server.request("GET", "/v1/apps/demo/messages?text=%E5%8C%97%E4%BA%AC")
            #expect(answer.json["messages"]?.arrayValue?.map { $0["sender"] } == ["alice"], "\(answer.text)")
            #expect(answer.json["behind"] == false)
        }
    }
}

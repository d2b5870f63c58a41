import Foundation
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A search in the messages of an app` {
    @Test func `finds Chinese characters where they stand together, and words by their beginning`() async throws {
        let bench = try SearchBench()
        for text in ["明天北京开会", "京北的天气", "会议改到后天，北京时间九点", "Café at Noon", "ticket ＡＢＣ-12"] {
            try await bench.say(text)
        }
        #expect(try await bench.texts("北京") == ["会议改到后天，北京时间九点", "明天北京开会"])
        #expect(try await bench.texts("北京 九点") == ["会议改到后天，北京时间九点"])
        #expect(try await bench.texts("京北") == ["京北的天气"])
        #expect(try await bench.texts("cafe no") == ["Café at Noon"])
        #expect(try await bench.texts("oon") == [])
        #expect(try await bench.texts("abc") == ["ticket ＡＢＣ-12"])
        #expect(try await bench.texts("NEAR(cafe OR noon)") == [])
    }

    @Test func `finds texts and answers that are kept, and nothing else`() async throws {
        let bench = try SearchBench()
        try await bench.say("word one")
        try await bench.say("word two", name: .reference)
        try await bench.say("word three", name: .image)
        try await bench.say("word four", flags: .notified)
        #expect(try await bench.texts("word") == ["word two", "word one"])
        #expect(bench.index.progress.messages == 2)
    }

    @Test func `finds nothing of a push to an audience, also when it was edited or taken back`() async throws {
        let bench = try SearchBench()
        let ids = (0..<3).map { _ in bench.nextID() }
        let template = Message(
            id: ids[0], app: "shop", sender: "push", conversation: ConversationID(type: .pushService, target: "push"),
            clientMessageID: "", objectName: .text, content: "{\"content\":\"word of a push\"}",
            flags: [.stored, .notified], pushText: nil, sentAt: 0)
        let job = PushJob(
            id: ids[0], app: "shop", account: template.conversation, body: .message(template),
            audience: .users(["bo", "ada"]), createdAt: 1)
        let results = try await bench.store.apply([
            .createPush(job), .stepPush("shop", ids[0], ids: Array(ids[1...2]), at: 2),
        ])
        guard case .pushStep(let step) = results.last else { Issue.record("\(results)"); return }
        #expect(step.ids.count == 2)
        try await bench.say("word of ada")
        #expect(try await bench.texts("word") == ["word of ada"])
        try await bench.edit(ids[1], "word that is new")
        try await bench.recall(ids[2])
        #expect(try await bench.texts("word") == ["word of ada"])
        #expect(bench.index.progress.messages == 1)
    }

    @Test func `finds what a message says now`() async throws {
        let bench = try SearchBench()
        let ids = [
            try await bench.say("first old"), try await bench.say("second old"), try await bench.say("third old"),
        ]
        #expect(try await bench.texts("old") == ["third old", "second old", "first old"])
        try await bench.edit(ids[0], "first new")
        try await bench.recall(ids[2])
        #expect(try await bench.texts("old") == ["second old"])
        #expect(try await bench.texts("new") == ["first new"])
        try await bench.edit(ids[1], "second 😀")
        try await bench.edit(ids[1], "second 北京")
        try await bench.recall(ids[0])
        #expect(try await bench.texts("old") == [])
        #expect(try await bench.texts("北京") == ["second 北京"])
        #expect(bench.index.progress.messages == 1)
    }

    @Test func `is of one app alone`() async throws {
        let bench = try SearchBench()
        try await bench.say("word here")
        try await bench.say("word there", app: "cafe")
        #expect(try await bench.texts("word") == ["word here"])
        #expect(try await bench.texts("word", app: "cafe") == ["word there"])
        for (app, text) in [("shop" as AppID, "word here"), ("cafe", "word there")] {
            var question = MessageQuestion(app: app, text: "word", user: "ada", limit: 5)
            #expect(try await bench.found(question).map(\.text) == [text])
            question.conversation = ConversationID(type: .direct, target: "bo")
            #expect(try await bench.found(question).map(\.text) == [text])
        }
        #expect(try await bench.texts("word", app: "none") == [])
    }

    @Test func `narrows to a person, a conversation and a time`() async throws {
        let bench = try SearchBench()
        _ = try await bench.store.apply([
            .putConversation(
                ConversationRecord(
                    app: "shop", conversation: team, name: "Team", members: ["ada", "bo", "cy"]))
        ])
        try await bench.say("word 1", from: "ada", to: "bo")
        try await bench.say("word 2", from: "bo", to: "ada")
        try await bench.say("word 3", from: "cy", to: "bo")
        try await bench.say("word 4", from: "ada", to: "team", type: .group)
        try await bench.say("word 5", from: "cy", to: "team", type: .group, recipients: ["ada"])
        try await bench.say("word 6", from: "cy", to: "team", type: .group)
        func found(
            user: UserID? = nil, _ type: ConversationType? = nil, _ target: String = "", since: Int64? = nil,
            until: Int64? = nil
        ) async throws -> String {
            let question = MessageQuestion(
                app: "shop", text: "word", user: user,
                conversation: type.map { ConversationID(type: $0, target: target) }, since: since, until: until,
                limit: 2)
            return try await bench.found(question).map { String(($0.text ?? "").suffix(1)) }.joined()
        }
        #expect(try await found() == "654321")
        #expect(try await found(user: "ada") == "5421")
        #expect(try await found(user: "bo") == "321")
        #expect(try await found(user: "dee") == "")
        #expect(try await found(.group, "team") == "654")
        #expect(try await found(user: "ada", .group, "team") == "54")
        #expect(try await found(user: "ada", .direct, "bo") == "21")
        #expect(try await found(user: "bo", .direct, "ada") == "21")
        #expect(try await found(user: "bo", .direct, "cy") == "3")
        #expect(try await found(user: "ada", .direct, "cy") == "")
        #expect(try await found(since: 4_000) == "654")
        #expect(try await found(until: 2_000) == "21")
        #expect(try await found(since: 2_000, until: 2_000) == "2")
    }

    @Test func `goes on behind the last message of a page, whatever comes and goes`() async throws {
        let bench = try SearchBench()
        var ids: [MessageID] = []
        for number in 1...7 { ids.append(try await bench.say("word \(number)")) }
        var question = MessageQuestion(app: "shop", text: "word", limit: 3)
        let first = try await bench.find(question)
        #expect(first.messages.map(\.text) == ["word 7", "word 6", "word 5"] && first.hasMore)
        question.before = ids[4]
        try await bench.say("word 8")
        try await bench.recall(ids[4])
        try await bench.recall(ids[2])
        let second = try await bench.find(question)
        #expect(second.messages.map(\.text) == ["word 4", "word 2", "word 1"] && !second.hasMore)
        question.before = ids[0]
        #expect(try await bench.find(question).messages == [])
        question.before = MessageID(rawValue: 999)
        await #expect(throws: MessageSearchFault.unknownMessage) { try await bench.find(question) }
        question.app = "cafe"
        question.before = ids[0]
        await #expect(throws: MessageSearchFault.unknownMessage) { try await bench.find(question) }
    }

    @Test(arguments: ["", "。", "\"", "*"]) func `needs a word`(text: String) async throws {
        let bench = try SearchBench()
        await #expect(throws: MessageSearchFault.noWords) {
            try await bench.find(MessageQuestion(app: "shop", text: text, limit: 1))
        }
    }

    @Test func `ends when its time is over, and the next one begins`() async throws {
        var configuration = SearchBench.configuration
        configuration.searchMilliseconds = 0
        let bench = try SearchBench(configuration)
        for number in 1...2_000 { try await bench.say("word\(number)") }
        #expect(await bench.index.settle())
        await #expect(throws: MessageSearchFault.tooSlow) {
            try await bench.find(MessageQuestion(app: "shop", text: "w", limit: 1))
        }
        try bench.reopenIndex()
        #expect(try await bench.texts("word2000") == ["word2000"])
    }

    @Test func `says how far the index is, and never tells what was recalled`() async throws {
        var configuration = SearchBench.configuration
        // One for the empty store, and one more.
        configuration.following.readMax = 2
        let bench = try SearchBench(configuration)
        let empty = try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 9))
        #expect(empty == FoundMessages(messages: [], hasMore: false, indexedUntil: nil, isBehind: false))
        let ids = [try await bench.say("word 1"), try await bench.say("word 2")]
        var last = try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 9))
        while last.messages.isEmpty {
            last = try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 9))
        }
        let indexed = last.messages.map(\.id)
        try await bench.recall(ids[0])
        try await bench.say("word 3")
        let behind = try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 9))
        #expect(behind.messages.map(\.id) == indexed.filter { $0 != ids[0] })
        #expect(behind.isBehind && behind.indexedUntil == Int64(indexed.first?.rawValue ?? 0) * 1_000)
        #expect(bench.index.progress.behind > 0)
        try bench.reopenIndex()
        let whole = try await bench.find(MessageQuestion(app: "shop", text: "word", limit: 9))
        #expect(whole.messages.map(\.text) == ["word 3", "word 2"])
        #expect(!whole.isBehind && whole.indexedUntil == 4_000)
        #expect(bench.index.progress.behind == 0 && bench.index.progress.fileBytes > 0)
    }
}

import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

private let withAlice = ConversationID.direct("alice")

private func listed(_ change: (inout ConversationSettings) -> Void) -> ConversationSettings {
    var settings = ConversationSettings()
    change(&settings)
    return settings
}

@Suite struct `What a person makes of their list` {
    private static let pinned = listed { $0.pinnedAt = 7 }

    @Test func `is told to all of their devices`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        bench.connect("bob", "tablet")
        bench.connect("alice")
        let at = bench.now.wall
        let lines = bench.ask(phone, 1, .setConversationState(withAlice, .pinned(true)))
        #expect(lines.prefix(2) == ["store set bob PR:alice pinned(true)", "s1 ← answer 1 done(1)"])
        let entry = LogEntry(position: 1, body: .conversationSettings(withAlice, listed { $0.pinnedAt = at }))
        #expect(lines.count == 4 && bench.frames.suffix(2) == [.entry(entry), .entry(entry)])
    }

    @Test(arguments: [
        listed { $0.isArchived = true }, listed { $0.hiddenUpTo = MessageID(rawValue: .max) },
        listed {
            $0.pinnedAt = 7
            $0.draft = ConversationDraft(text: "ho", writtenAt: 8)
        },
    ])
    func `keeps no message from ringing and counting`(settings: ConversationSettings) throws {
        var bench = ServerBench()
        bench.settings["bob"] = AllSettings(conversations: [withAlice: settings])
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        let payload = try #require(bench.payload)
        #expect(bench.pushes.map(\.request.pushType) == [.alert])
        #expect(payload["aps"]?["badge"]?.intValue == 1)
    }

    @Test func `is in memory without what is drafted`() throws {
        var bench = ServerBench()
        let draft = ConversationDraft(text: "ho", writtenAt: 8)
        bench.settings["bob"] = AllSettings(
            conversations: [
                withAlice: listed {
                    $0.isArchived = true
                    $0.draft = draft
                }, .group("team"): listed { $0.draft = draft },
            ])
        let phone = bench.connect("bob").session
        let slot = try #require(bench.core.slots[ServerBench.key("bob")])
        #expect(bench.core.people[slot].state.settings.conversations == [withAlice: listed { $0.isArchived = true }])
        bench.ask(phone, 1, .setConversationState(.direct("carol"), .draft("ho")))
        let carol = listed { $0.draft = ConversationDraft(text: "ho", writtenAt: bench.now.wall) }
        #expect(
            bench.frames.last == .entry(LogEntry(position: 1, body: .conversationSettings(.direct("carol"), carol))))
        #expect(bench.core.people[slot].state.settings.conversations.count == 1)
    }

    @Test func `is no business of the backend's, which reads levels`() {
        var bench = ServerBench()
        let all = AllSettings(
            conversations: [
                withAlice: listed {
                    $0.level = .mentions
                    $0.pinnedAt = 7
                    $0.draft = ConversationDraft(text: "ho", writtenAt: 8)
                }, .group("team"): Self.pinned,
            ])
        bench.script = [.settings(all)]
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "bob", .settings)))
        #expect(
            bench.replies.last
                == .answer(.settings(AllSettings(conversations: [withAlice: .init(level: .mentions)]))))
        let phone = bench.connect("bob").session
        bench.script = [.settings(all)]
        bench.ask(phone, 1, .settings)
        #expect(bench.frames.last == .answer(1, .settings(all)))
    }

    @Test func `is refused where the disk is full if it is a draft`() {
        var settings = ServerBench.plain
        settings.freeBytesMin = 1_000
        var bench = ServerBench(settings: settings)
        let phone = bench.connect("bob").session
        bench.run(.storageMeasured(free: 1))
        let refused = bench.ask(phone, 1, .setConversationState(withAlice, .draft("ho")))
        #expect(refused.count == 1 && refused[0].contains("storage_full"))
        #expect(bench.ask(phone, 2, .setConversationState(withAlice, .draft(nil))).contains("s1 ← answer 2 done(0)"))
        #expect(bench.ask(phone, 3, .setConversationState(withAlice, .pinned(true))).contains("s1 ← answer 3 done(1)"))
    }
}

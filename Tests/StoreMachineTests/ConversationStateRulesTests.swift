import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let toCy = ConversationID(type: .direct, target: "cy")

extension Opened {
    fileprivate mutating func change(
        _ conversation: ConversationID, _ change: ConversationStateChange, at: Int64 = 100, for key: UserKey = bo
    ) throws -> StoreResult {
        try self.apply(.setConversationState(key, conversation, change, at: at))
    }

    fileprivate func settings(of conversation: ConversationID) -> ConversationSettings? {
        self.person(bo)?.record.settings.conversations[conversation]
    }
}

@Suite struct `Where a conversation stands in the list` {
    @Test func `is an entry for the person's devices, and leaves the level, which leaves it`() throws {
        var opened = Opened()
        _ = try opened.level(.mentions, of: toAda)
        var settings = ConversationSettings(level: .mentions)
        settings.pinnedAt = 100
        #expect(
            try opened.change(toAda, .pinned(true))
                == .noted(.conversationSettings(toAda, settings), deliveries: [at(2, "bo")]))
        settings.isArchived = true
        _ = try opened.change(toAda, .archived(true))
        settings.hiddenUpTo = MessageID(rawValue: 7)
        _ = try opened.change(toAda, .hidden(upTo: MessageID(rawValue: 7)))
        settings.draft = ConversationDraft(text: "ho", writtenAt: 120)
        _ = try opened.change(toAda, .draft("ho"), at: 120)
        #expect(opened.settings(of: toAda) == settings)
        _ = try opened.level(.blocked, until: 300, of: toAda)
        (settings.level, settings.levelUntil) = (.blocked, 300)
        #expect(opened.last(of: bo) == .conversationSettings(toAda, settings))
        _ = try opened.apply(.endLevel(bo, toAda, at: 300))
        (settings.level, settings.levelUntil) = (nil, nil)
        #expect(opened.settings(of: toAda) == settings)
        #expect(try opened.apply(.readSettings(bo)) == .settings(AllSettings(conversations: [toAda: settings])))
        let back: [ConversationStateChange] = [.pinned(false), .archived(false), .hidden(upTo: nil), .draft(nil)]
        for change in back { _ = try opened.change(toAda, change) }
        #expect(opened.settings(of: toAda) == nil)
    }

    @Test func `as it was writes nothing, and keeps its time`() throws {
        var opened = Opened()
        let changes: [ConversationStateChange] = [
            .pinned(true), .archived(true), .hidden(upTo: MessageID(rawValue: 7)), .draft("ho"),
        ]
        for change in changes { _ = try opened.change(toAda, change) }
        let before = opened.store.dump()
        for change in changes { #expect(try opened.change(toAda, change, at: 200) == .noted(nil, deliveries: [])) }
        // Another device that has not seen as much does not show it again.
        #expect(try opened.change(toAda, .hidden(upTo: MessageID(rawValue: 3))) == .noted(nil, deliveries: []))
        #expect(opened.store.dump() == before)
    }

    @Test func `is higher the later it was pinned, whatever the clock does`() throws {
        var opened = Opened()
        _ = try opened.change(toAda, .pinned(true), at: 500)
        _ = try opened.change(toCy, .pinned(true), at: 400)
        _ = try opened.change(team, .pinned(true), at: 501)
        #expect([toAda, toCy, team].map { opened.settings(of: $0)?.pinnedAt } == [500, 501, 502])
    }

    @Test func `changes no count, neither of what is there nor of what comes`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.change(toAda, .hidden(upTo: MessageID(rawValue: 1)))
        _ = try opened.change(toAda, .archived(true))
        #expect(opened.counts(bo) == [1, 1, 0])
        #expect(try opened.send(message(2)).last == at(4, "bo", unread: 2))
    }

    @Test func `is for a thousand conversations with whatever else is set`() throws {
        var opened = Opened()
        for number in 0..<1_000 {
            _ = try opened.change(.init(type: .direct, target: "p\(number)"), .archived(true))
        }
        #expect(refused(try opened.change(toAda, .pinned(true))) == "invalid_field conversation")
        #expect(try opened.change(toAda, .pinned(false)) == .noted(nil, deliveries: []))
        guard case .noted(.some, _) = try opened.change(.init(type: .direct, target: "p3"), .pinned(true)) else {
            return #expect(Bool(false), "it is one of the thousand")
        }
    }
}

@Suite struct `A draft` {
    @Test func `is what was written last, and is read so in every entry`() throws {
        var opened = Opened()
        _ = try opened.change(toAda, .draft("one"), at: 1)
        _ = try opened.change(toAda, .pinned(true), at: 2)
        _ = try opened.change(toAda, .draft("two"), at: 3)
        let drafts = opened.person(bo)?.log.map { entry -> ConversationDraft? in
            if case .conversationSettings(_, let settings) = entry.body { settings.draft } else { nil }
        }
        #expect(drafts == Array(repeating: ConversationDraft(text: "two", writtenAt: 3), count: 3))
        #expect(
            try opened.change(toAda, .draft(nil))
                == .noted(
                    .conversationSettings(toAda, opened.settings(of: toAda).map { $0.withoutDraft } ?? .init()),
                    deliveries: [at(4, "bo")]))
        #expect(opened.settings(of: toAda)?.draft == nil)
    }

    @Test func `has 1 to 4,096 bytes`() throws {
        var opened = Opened()
        let most = String(repeating: "好", count: 1_365) + "!"
        #expect(refused(try opened.change(toAda, .draft(most + "!"))) == "invalid_field draft")
        #expect(refused(try opened.change(toAda, .draft(""))) == "invalid_field draft")
        #expect(opened.store.dump().people == [])
        _ = try opened.change(toAda, .draft(most))
        #expect(opened.settings(of: toAda)?.draft?.text == most)
    }

    @Test func `is one of 64 at most`() throws {
        var opened = Opened()
        for number in 0..<64 { _ = try opened.change(.init(type: .direct, target: "p\(number)"), .draft("d")) }
        let before = opened.store.dump()
        #expect(refused(try opened.change(toAda, .draft("ho"))) == "invalid_field draft")
        #expect(opened.store.dump() == before)
        _ = try opened.change(.init(type: .direct, target: "p3"), .draft("again"))
        _ = try opened.change(.init(type: .direct, target: "p4"), .draft(nil))
        _ = try opened.change(toAda, .draft("ho"))
        #expect(opened.settings(of: toAda)?.draft?.text == "ho")
    }

    @Test func `is in no page that a frame cannot hold`() throws {
        var opened = Opened()
        for number in 0..<9 {
            let text = String(repeating: "d", count: 4_000 + number)
            _ = try opened.change(.init(type: .direct, target: "p\(number)"), .draft(text))
        }
        guard case .page(let page) = try opened.apply(.readLog(bo, after: 0, limit: 100, frameBytesMax: 40_000)) else {
            return #expect(Bool(false), "a page")
        }
        #expect(page.entries.count == 4)
    }
}

import StoreModel
import Testing
import TidingsModel

@Suite struct `The conversations of one person` {
    private static func told(_ conversation: PersonalConversation) -> String {
        var words = ["\(conversation.id)", conversation.name ?? "-", "\(conversation.unread)"]
        words.append(conversation.newest.map { "\($0.id.rawValue)" } ?? "none")
        if conversation.mentions > 0 { words.append("mentions") }
        if conversation.isMuted { words.append("muted") }
        if conversation.settings.pinnedAt != nil { words.append("pinned") }
        if conversation.settings.isArchived { words.append("archived") }
        if conversation.isHidden { words.append("hidden") }
        if conversation.isDissolved { words.append("dissolved") }
        return words.joined(separator: " ")
    }

    private func list(
        of key: UserKey = bo, before: LogPosition? = nil, limit: Int = 10, _ opened: inout Opened
    ) throws -> [String] {
        let question = StoreCommand.readConversationList(key, before: before, limit: limit)
        guard case .conversationList(let found, let hasMore) = try opened.apply(question) else { return ["no list"] }
        return found.map(Self.told) + (hasMore ? ["…"] : [])
    }

    private func places(of key: UserKey, _ opened: inout Opened) throws -> [LogPosition] {
        guard
            case .conversationList(let found, _) = try opened.apply(
                .readConversationList(key, before: nil, limit: 10))
        else { return [] }
        return found.map(\.place)
    }

    private func change(_ change: ConversationStateChange, of id: ConversationID, _ opened: inout Opened) throws {
        _ = try opened.apply(.setConversationState(bo, id, change, at: 5))
    }

    @Test func `are those with a message in their log, the newest first, with names and what is unread`() throws {
        var opened = Opened()
        #expect(try self.list(&opened) == [])
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.apply(.setProfiles("shop", [UserProfile("ada", Profile(name: "Ada"))], isOwn: false))
        _ = try opened.send(message(1))
        _ = try opened.send(message(2, in: team, mentions: .users(["bo"])))
        #expect(try self.list(&opened) == ["\(team) Team 1 2 mentions", "\(toAda) Ada 1 1"])
        _ = try opened.send(message(3, from: "bo", in: toAda))
        #expect(try self.list(&opened) == ["\(toAda) Ada 1 3", "\(team) Team 1 2 mentions"])
        #expect(try self.list(of: ada, &opened) == ["PR:bo - 1 3", "\(team) Team 0 2"])
        #expect(try self.list(of: UserKey(app: "club", user: "bo"), &opened) == [])
    }

    @Test func `come in pages`() throws {
        var opened = Opened()
        for (id, sender) in [(1, "a"), (2, "b"), (3, "c"), (4, "a")] as [(UInt64, UserID)] {
            _ = try opened.send(message(id, from: sender))
        }
        #expect(try self.list(limit: 2, &opened) == ["PR:a - 2 4", "PR:c - 1 3", "…"])
        let places = try self.places(of: bo, &opened)
        #expect(places == [4, 3, 2])
        #expect(try self.list(before: 3, limit: 2, &opened) == ["PR:b - 1 2"])
        #expect(try self.list(before: 2, limit: 2, &opened) == [])
        #expect(try self.list(limit: 0, &opened) == ["…"])
    }

    @Test func `say what the person has set`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.level(.blocked, of: toAda)
        try self.change(.pinned(true), of: toAda, &opened)
        try self.change(.draft("not told"), of: toAda, &opened)
        #expect(try self.list(&opened) == ["\(toAda) - 1 1 muted pinned"])
        guard
            case .conversationList(let found, _) = try opened.apply(
                .readConversationList(bo, before: nil, limit: 1))
        else {
            Issue.record("no list")
            return
        }
        #expect(found.first?.settings.draft == nil)
        try self.change(.pinned(false), of: toAda, &opened)
        try self.change(.archived(true), of: toAda, &opened)
        #expect(try self.list(&opened) == ["\(toAda) - 1 1 muted archived"])
    }

    @Test func `are hidden until something comes`() throws {
        var opened = try Opened(sending: message(1))
        try self.change(.hidden(upTo: MessageID(rawValue: 1)), of: toAda, &opened)
        #expect(try self.list(&opened) == ["\(toAda) - 1 1 hidden"])
        _ = try opened.send(message(2))
        #expect(try self.list(&opened) == ["\(toAda) - 2 2"])
    }

    @Test func `tell the newest message that is left`() throws {
        var opened = Opened()
        for id in 1...3 { _ = try opened.send(message(UInt64(id))) }
        _ = try opened.recall(3, as: 4, by: "ada")
        #expect(try self.list(&opened) == ["\(toAda) - 2 2"])
        _ = try opened.delete([2], of: bo, in: toAda)
        #expect(try self.list(&opened) == ["\(toAda) - 1 1"])
        #expect(try self.list(of: ada, &opened) == ["PR:bo - 0 2"])
        // More than are looked at.
        let last = UInt64(10 + StoreRules.newestLooksMax)
        for id in 10..<last { _ = try opened.send(message(id)) }
        _ = try opened.delete(Array(10..<last), of: bo, in: toAda)
        #expect(try self.list(&opened) == ["\(toAda) - 1 none"])
    }

    @Test func `leave out messages that stand in no list`() throws {
        var opened = Opened()
        let push: MessageFlags = [.stored, .notified, .unlisted]
        _ = try opened.send(message(1, flags: push))
        #expect(try self.list(&opened) == [])
        _ = try opened.send(message(2))
        _ = try opened.send(message(3, flags: push))
        #expect(try self.list(&opened) == ["\(toAda) - 1 2"])
        #expect(try self.places(of: bo, &opened) == [2])
        _ = try opened.delete([2], of: bo, in: toAda)
        #expect(try self.list(&opened) == ["\(toAda) - 0 none"])
    }

    @Test func `stay when the person has left or the group is dissolved`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.send(message(1, in: team))
        _ = try opened.change(.dissolve)
        #expect(try self.list(&opened).count == 1)
        #expect(try self.list(&opened).first?.hasSuffix("dissolved") == true)
    }
}

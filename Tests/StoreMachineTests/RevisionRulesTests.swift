import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A recalled message` {
    private let owner = Member("ada", role: .owner)

    @Test func `is told to everyone who has it, and is unread no more`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2))
        let recall = Recall(
            id: MessageID(rawValue: 3), message: MessageID(rawValue: 1),
            conversation: .init(type: .direct, target: "bo"),
            sender: "ada", at: 100)
        #expect(
            try opened.recall(1, as: 3, by: "ada")
                == .recalled(
                    recall, of: message(1).revised(content: nil, isGone: true),
                    deliveries: [at(3, "ada"), at(3, "bo", unread: 1, wasUnread: true)],
                    shown: []))
        var seen = recall
        seen.conversation = toAda
        #expect(opened.last(of: bo) == .recall(seen))
        #expect(opened.store.lastMessageID == MessageID(rawValue: 3))
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 1, at: 9)) == .read(position: 4, unread: 1))
    }

    @Test func `that was read already changes no count`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(.markRead(bo, toAda, upTo: 1, at: 9))
        _ = try opened.send(message(2))
        _ = try opened.recall(1, as: 3, by: nil)
        #expect(opened.counts(bo) == [1, 1, 0])
    }

    @Test func `takes its mentions with it, also in a muted conversation`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        _ = try opened.level(.blocked, of: team)
        _ = try opened.send(message(1, in: team, mentions: .users(["bo"])))
        _ = try opened.send(message(2, in: team, mentions: .everyone))
        #expect(opened.counts(bo) == [0, 2, 2])
        _ = try opened.recall(1, as: 3, by: "ada")
        #expect(opened.counts(bo) == [0, 1, 1])
        #expect(opened.counts(ada) == [0, 0, 0])
    }

    /// Whether bo had it among the unread ones, after something has happened.
    private func wasUnread(_ happened: StoreCommand) throws -> Bool? {
        var opened = try Opened(sending: message(1))
        _ = try opened.apply(happened)
        guard case .recalled(_, _, let deliveries, _) = try opened.recall(1, as: 2, by: "ada") else { return nil }
        let delivery = deliveries.first { $0.user == "bo" }
        // Whoever reads the log later hears the same.
        guard case .page(let page) = try opened.apply(.readLog(bo, after: 1, limit: 9)) else { return nil }
        #expect(page.wereUnread == deliveries.filter { $0.user == "bo" && $0.wasUnread }.map(\.position))
        return delivery?.wasUnread
    }

    @Test func `says whose number goes down: of those who had it unread, and not muted`() throws {
        let muted = ConversationSettings(level: .blocked)
        #expect(try self.wasUnread(.loadUser(bo)) == true)
        #expect(try self.wasUnread(.markRead(bo, toAda, upTo: 1, at: 9)) == false)
        #expect(try self.wasUnread(.setConversationSettings(bo, toAda, muted, at: 9)) == false)
        #expect(
            try self.wasUnread(.delete(bo, Deletion(conversation: toAda, messages: [MessageID(rawValue: 1)]), at: 9))
                == false)
    }

    @Test func `names the legs that have shown it, or may have`() throws {
        var opened = try Opened(sending: message(1))
        func leg(_ device: DeviceID) -> LegID { LegID(message: MessageID(rawValue: 1), user: bo, device: device) }
        let ends: [(DeviceID, LegEnd)] = [
            ("a", .accepted(apnsID: "A")), ("b", .settled(.shown)), ("c", .settled(.suppressed(.level))), ("d", .muted),
            ("e", .settled(.notified)),
        ]
        for (device, end) in ends { _ = try opened.apply(.endLeg(EndedLeg(leg: leg(device), end: end, at: 1))) }
        guard case .recalled(_, _, _, let shown) = try opened.recall(1, as: 2, by: "ada") else {
            return #expect(Bool(false), "ada may")
        }
        #expect(shown == [leg("a"), leg("b"), leg("e")])
    }

    @Test func `is recalled once: a repeat is harmless, also too late`() throws {
        var opened = Opened()
        _ = try opened.send(message(1))
        _ = try opened.recall(1, as: 2, by: "ada")
        let before = opened.store.dump()
        #expect(try opened.recall(1, as: 2, by: "ada", at: 9_999) == .noted(nil, deliveries: []))
        #expect(try opened.recall(1, as: 3, by: nil) == .noted(nil, deliveries: []))
        #expect(opened.store.dump() == before)
    }

    @Test func `is recalled by its sender within the window, by the backend any time, by nobody else`() throws {
        var opened = try Opened(sending: message(1))
        #expect(refused(try opened.recall(1, as: 2, by: "ada", at: 1_011)) == "too_late message")
        #expect(refused(try opened.recall(1, as: 2, by: "bo")) == "not_allowed message")
        #expect(refused(try opened.recall(7, as: 2, by: nil)) == "unknown_message message")
        var later = try Opened(sending: message(1))
        guard case .recalled(let recall, _, _, _) = try later.recall(1, as: 2, by: nil, at: 99_999) else {
            return #expect(Bool(false), "the backend may")
        }
        #expect(recall.sender == "ada")
        guard case .recalled = try opened.recall(1, as: 2, by: "ada", at: 1_010) else {
            return #expect(Bool(false), "it is still time")
        }
    }

    @Test(arguments: [(UserID("ada"), true), ("bo", true), ("cy", false), ("zoe", false)])
    func `in a group is recalled by owner and admins any time`(actor: UserID, isAllowed: Bool) throws {
        var opened = Opened()
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["bo", "cy", "dee"]), by: "ada")
        _ = try opened.change(.setRole("bo", .admin))
        _ = try opened.send(message(1, from: "dee", in: team))
        let result = try opened.recall(1, as: 2, by: actor, at: 99_999)
        if case .recalled(let recall, _, let deliveries, _) = result {
            #expect(isAllowed && recall.sender == actor)
            #expect(deliveries.map(\.user) == ["ada", "bo", "cy", "dee"])
        } else {
            #expect(!isAllowed && refused(result) == "not_allowed message")
        }
    }

    @Test func `needs an id nobody had before, which nobody gets again`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2))
        #expect(refused(try opened.recall(1, as: 2, by: "ada")) == "invalid_field message.id")
        _ = try opened.recall(1, as: 3, by: "ada")
        let result = try opened.apply(.accept(message: message(3), senderDevice: nil))
        #expect(result == .refused(StoreRules.usedMessageID(MessageID(rawValue: 3))))
    }

    @Test func `is not one of another app`() throws {
        var opened = Opened()
        _ = try opened.send(message(1, app: "club"))
        #expect(refused(try opened.recall(1, as: 2, by: nil)) == "unknown_message message")
    }
}

@Suite struct `An edited message` {
    @Test func `is told to everyone who has it, and counts as before`() throws {
        var opened = Opened()
        _ = try opened.send(message(1))
        let edit = Edit(
            message: MessageID(rawValue: 1), conversation: .init(type: .direct, target: "bo"), content: "ho", at: 100)
        #expect(
            try opened.edit(1, "ho", by: "ada")
                == .noted(.edit(edit), deliveries: [at(2, "ada"), at(2, "bo", unread: 1)]))
        var seen = edit
        seen.conversation = toAda
        #expect(opened.last(of: bo) == .edit(seen))
        #expect(opened.store.dump().revisions == [.init(message: edit.message, content: "ho", isRecalled: false)])
    }

    @Test func `that says so already is left alone`() throws {
        var opened = Opened()
        _ = try opened.send(message(1))
        #expect(try opened.edit(1, "hi", by: "ada") == .noted(nil, deliveries: []))
        #expect(opened.person(bo)?.record.head == 1)
    }

    @Test func `is edited by its sender within the window, or the backend`() throws {
        var opened = Opened()
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["bo"]), by: "bo")
        _ = try opened.change(.add(["ada"]))
        _ = try opened.send(message(1, in: team))
        let before = opened.store.dump()
        #expect(refused(try opened.edit(1, "ho", by: "bo")) == "not_allowed message")
        #expect(refused(try opened.edit(1, "ho", by: "ada", at: 1_011)) == "too_late message")
        #expect(refused(try opened.edit(1, "", by: "ada")) == "invalid_field content")
        #expect(
            refused(try opened.edit(1, String(repeating: "x", count: 32_769), by: "ada")) == "invalid_field content")
        #expect(refused(try opened.edit(9, "ho", by: "ada")) == "unknown_message message")
        #expect(opened.store.dump() == before)
        guard case .noted(.some, _) = try opened.edit(1, "ho", by: nil, at: 99_999) else {
            return #expect(Bool(false), "the backend may")
        }
    }

    @Test func `is not edited once it is recalled`() throws {
        var opened = Opened()
        _ = try opened.send(message(1))
        _ = try opened.recall(1, as: 2, by: "ada")
        #expect(try opened.edit(1, "ho", by: "ada") == .refused(StoreRules.recalledMessage(MessageID(rawValue: 1))))
    }
}

@Suite struct `A deleted message` {
    @Test func `goes for one person alone, with one entry for all of them`() throws {
        var opened = Opened()
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        let deletion = Deletion(conversation: toAda, messages: [MessageID(rawValue: 1), MessageID(rawValue: 2)])
        #expect(
            try opened.delete([2, 1, 2], of: bo, in: toAda)
                == .noted(.deletion(deletion), deliveries: [at(4, "bo", unread: 1)]))
        #expect(opened.last(of: bo) == .deletion(deletion))
        #expect(opened.person(ada)?.record.head == 3)
        #expect(try opened.apply(.markRead(bo, toAda, upTo: 1, at: 9)) == .read(position: 5, unread: 1))
    }

    @Test func `that is recalled, or was, goes down once`() throws {
        var opened = Opened()
        for id: UInt64 in 1...3 { _ = try opened.send(message(id)) }
        _ = try opened.delete([1], of: bo, in: toAda)
        _ = try opened.recall(1, as: 4, by: "ada")
        _ = try opened.recall(2, as: 5, by: "ada")
        _ = try opened.delete([2], of: bo, in: toAda)
        #expect(opened.counts(bo) == [1, 1, 0])
        #expect(opened.person(bo)?.deleted.map(\.rawValue) == [1, 2])
    }

    @Test func `must stand in the log of who deletes, in that conversation, not deleted before`() throws {
        var opened = try Opened(sending: message(1))
        _ = try opened.send(message(2, from: "cy"))
        _ = try opened.delete([1], of: bo, in: toAda)
        let before = opened.store.dump()
        #expect(refused(try opened.delete([1], of: bo, in: toAda)) == "unknown_message messages")
        #expect(refused(try opened.delete([2], of: bo, in: toAda)) == "unknown_message messages")
        #expect(
            refused(try opened.delete([2], of: ada, in: .init(type: .direct, target: "bo")))
                == "unknown_message messages")
        #expect(refused(try opened.delete([9], of: bo, in: toAda)) == "unknown_message messages")
        #expect(refused(try opened.delete([], of: bo, in: toAda)) == "invalid_field messages")
        #expect(refused(try opened.delete(Array(1...101), of: bo, in: toAda)) == "invalid_field messages")
        #expect(opened.store.dump() == before)
    }
}

@Suite struct `History` {
    private func texts(_ result: StoreResult) -> [String] {
        guard case .history(let messages, let hasMore) = result else { return ["\(result)"] }
        return messages.map { "\($0.id.rawValue) \($0.content)" } + (hasMore ? ["more"] : [])
    }

    @Test func `is what is stored, newest first, as it reads now, without what is gone`() throws {
        var opened = Opened()
        for id: UInt64 in 1...6 { _ = try opened.send(message(id, flags: id == 2 ? [.counted] : .normal)) }
        _ = try opened.edit(3, "ho", by: "ada")
        _ = try opened.recall(4, as: 7, by: "ada")
        _ = try opened.delete([5], of: bo, in: toAda)
        func history(before: UInt64?, _ limit: Int) -> StoreCommand {
            .readHistory(bo, toAda, before: before.map { MessageID(rawValue: $0) }, limit: limit)
        }
        #expect(self.texts(try opened.apply(history(before: nil, 9))) == ["6 hi", "3 ho", "1 hi"])
        #expect(self.texts(try opened.apply(history(before: nil, 2))) == ["6 hi", "3 ho", "more"])
        #expect(self.texts(try opened.apply(history(before: 5, 9))) == ["3 ho", "1 hi"])
        #expect(refused(try opened.apply(history(before: 9, 9))) == "unknown_message before")
        #expect(refused(try opened.apply(history(before: nil, 0))) == "invalid_field limit")
        #expect(refused(try opened.apply(history(before: nil, 101))) == "invalid_field limit")
        let own = StoreCommand.readHistory(ada, .init(type: .direct, target: "bo"), before: nil, limit: 1)
        #expect(self.texts(try opened.apply(own)) == ["6 hi", "more"])
    }

    @Test func `of a conversation one has no entries of is empty`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "cy"]))
        _ = try opened.send(message(1, in: team))
        #expect(self.texts(try opened.apply(.readHistory(bo, team, before: nil, limit: 9))) == [])
    }

    @Test func `of an open chat room is everybody's`() throws {
        var opened = Opened()
        let question = StoreCommand.readHistory(bo, hall, before: nil, limit: 2)
        #expect(refused(try opened.apply(question)) == "unknown_conversation conversation.target")
        _ = try opened.apply(group([], hall))
        for id: UInt64 in 1...3 { _ = try opened.send(message(id, in: hall)) }
        _ = try opened.recall(2, as: 4, by: nil)
        #expect(self.texts(try opened.apply(question)) == ["3 hi", "1 hi"])
    }
}

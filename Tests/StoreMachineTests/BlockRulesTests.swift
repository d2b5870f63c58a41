import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let cy = UserKey(app: "shop", user: "cy")
private let conversations = [team, circle]

extension Opened {
    /// Ada, Bo and Cy in a team and a circle; Bo has blocked Ada.
    fileprivate static func blocking() throws -> Opened {
        var opened = Opened()
        for conversation in conversations { _ = try opened.apply(group(["ada", "bo", "cy"], conversation)) }
        _ = try opened.block()
        return opened
    }

    fileprivate mutating func block(_ isBlocked: Bool = true) throws -> StoreResult {
        try self.apply(.setBlocked(bo, "ada", isBlocked, at: 5))
    }

    fileprivate mutating func say(
        _ id: UInt64, in conversation: ConversationID, ignoresBlocks: Bool = false, recipients: [UserID] = []
    ) throws -> [Delivery] {
        let said = message(id, in: conversation, mentions: .everyone, recipients: recipients)
        let result = try self.apply(.accept(message: said, senderDevice: nil, past: ignoresBlocks ? .blocks : []))
        guard case .accepted(let deliveries, _, _) = result else { return [] }
        return deliveries
    }

    fileprivate mutating func history(_ key: UserKey, _ conversation: ConversationID) throws -> [Message] {
        let asked = StoreCommand.readHistory(
            key, conversation, before: nil, limit: 9, room: RoomAccess(isOpen: true, isInside: true, at: 9))
        guard case .history(let messages, _) = try self.apply(asked) else { return [] }
        return messages
    }
}

@Suite struct `A message of a blocked member` {
    @Test(arguments: conversations)
    func `is in the blocker's log and history, and neither counts, rings nor mentions`(
        conversation: ConversationID
    ) throws {
        var opened = try Opened.blocking()
        let said = message(1, in: conversation, mentions: .everyone)
        #expect(
            try opened.say(1, in: conversation) == [
                at(1, "ada"), Delivery(user: "bo", position: 2, unread: 0, isHushed: true), at(1, "cy", unread: 1),
            ])
        #expect(opened.counts(bo) == [0, 0, 0])
        #expect(opened.counts(cy) == [1, 1, 1])
        #expect(said.hushed.flags == .stored && said.hushed.mentions == .none)
        #expect(opened.last(of: bo) == .message(said.hushed))
        #expect(opened.last(of: cy) == .message(said))
        #expect(try opened.history(bo, conversation) == [said.hushed])
        #expect(try opened.history(cy, conversation) == [said])
        guard case .page(let page) = try opened.apply(.readLog(bo, after: 0, limit: 9)) else {
            return #expect(Bool(false), "there is a page")
        }
        #expect(page.hushed == [2])
    }

    @Test func `counts neither after an unblocking, nor less than nothing once it is read, recalled or deleted`() throws
    {
        var opened = try Opened.blocking()
        for id: UInt64 in 1...3 { _ = try opened.say(id, in: team) }
        _ = try opened.block(false)
        _ = try opened.say(4, in: team)
        #expect(opened.counts(bo) == [1, 1, 1])
        _ = try opened.recall(1, as: 9, by: "ada")
        _ = try opened.delete([2], of: bo, in: team)
        _ = try opened.edit(3, "ho", by: "ada")
        #expect(opened.counts(bo) == [1, 1, 1])
        #expect(try opened.history(bo, team).map(\.flags) == [.normal, .stored])
        #expect(try opened.history(bo, team).map(\.content) == ["hi", "ho"])
        _ = try opened.apply(.markRead(bo, team, upTo: 4, at: 9))
        #expect(opened.counts(bo) == [1, 1, 1])
        _ = try opened.apply(.markRead(bo, team, upTo: 6, at: 9))
        #expect(opened.counts(bo) == [0, 0, 0])
    }

    @Test func `counts as it did if it came before the block`() throws {
        var opened = try Opened.blocking()
        _ = try opened.block(false)
        _ = try opened.say(1, in: team)
        _ = try opened.block()
        _ = try opened.say(2, in: team)
        #expect(opened.counts(bo) == [1, 1, 1])
        _ = try opened.recall(1, as: 9, by: "ada")
        #expect(opened.counts(bo) == [0, 0, 0])
    }

    @Test func `is as any other to those whom the backend sends it past the block`() throws {
        var opened = try Opened.blocking()
        let toBo = ConversationID(type: .direct, target: "bo")
        #expect(try opened.say(1, in: toBo).isEmpty)
        #expect(try opened.say(1, in: toBo, ignoresBlocks: true).map(\.isHushed) == [false, false])
        #expect(try opened.say(2, in: team, ignoresBlocks: true).map(\.isHushed) == [false, false, false])
        #expect(opened.counts(bo) == [2, 2, 2])
        #expect(opened.last(of: bo) == .message(message(2, in: team, mentions: .everyone)))
    }

    @Test func `is as it is to nobody else when it is for the blocker alone`() throws {
        var opened = try Opened.blocking()
        #expect(try opened.say(1, in: team, recipients: ["bo"]).map(\.isHushed) == [false, true])
    }

    @Test func `mentions nobody who has blocked its sender in a chat room's history`() throws {
        var opened = try Opened.blocking()
        _ = try opened.apply(group(["ada", "bo", "cy"], hall))
        _ = try opened.say(1, in: hall)
        #expect(try opened.history(bo, hall).map(\.mentions) == [.none])
        #expect(try opened.history(cy, hall).map(\.mentions) == [.everyone])
    }

    @Test func `is recalled without a notice to a phone that no notification has told of it`() throws {
        var opened = try Opened.blocking()
        for user: UserID in ["bo", "cy"] {
            let key = DeviceKey(user: UserKey(app: "shop", user: user), device: "phone")
            _ = try opened.apply(.signIn(key, platform: "ios", at: 5))
        }
        _ = try opened.say(1, in: team)
        let legs = [bo, cy].map { LegID(message: MessageID(rawValue: 1), user: $0, device: "phone") }
        for leg in legs { _ = try opened.apply(.endLeg(EndedLeg(leg: leg, end: .settled(.shown), at: 9))) }
        guard case .recalled(_, _, let deliveries, let shown) = try opened.recall(1, as: 2, by: "ada") else {
            return #expect(Bool(false), "it is recalled")
        }
        #expect(shown == [legs[1]])
        #expect(deliveries.map(\.isHushed) == [false, true, false])
        // Nor has the recall a leg that could end with the sign-out.
        _ = try opened.apply(.signOut(phone, at: 10))
        #expect(try opened.ends(of: "phone", of: bo) == [1: .settled(.shown)])
        _ = try opened.apply(.signOut(DeviceKey(user: cy, device: "phone"), at: 10))
        #expect(try opened.ends(of: "phone", of: cy) == [1: .settled(.shown), 2: .signedOut])
    }
}

@Suite struct `Somebody blocked` {
    @Test(arguments: [team, circle, hall])
    func `makes no conversation with the blocker, nor adds them, and nothing changes`(
        conversation: ConversationID
    ) throws {
        var opened = Opened()
        _ = try opened.block()
        let make = ConversationAction.create(name: "Team", portrait: nil, members: ["bo", "cy"])
        #expect(refused(try opened.change(make, by: "ada", in: conversation)) == "blocked members")
        #expect(opened.store.dump().conversations.isEmpty)
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["cy"]), by: "ada", in: conversation)
        let before = opened.store.dump()
        let result = try opened.change(.add(["bo", "dee"]), by: "ada", in: conversation)
        #expect(refused(result) == "blocked users")
        guard case .refused(let problem) = result else { return }
        #expect(problem.rule == "must not name who has blocked the one who brings them in, \"bo\" has")
        #expect(opened.store.dump() == before)
        _ = try opened.block(false)
        guard made(try opened.change(.add(["bo"]), by: "ada", in: conversation)) != nil else {
            return #expect(Bool(false), "no longer blocked")
        }
    }

    @Test func `is no obstacle to the backend, to a third person, to the blocker, nor where the blocker is in already`()
        throws
    {
        var opened = Opened()
        _ = try opened.block()
        let make = ConversationAction.create(name: "Team", portrait: nil, members: ["ada", "bo"])
        for (index, actor) in ["bo", "cy", nil].enumerated() {
            let conversation = ConversationID(type: .group, target: "team\(index)")
            guard made(try opened.change(make, by: actor.map { UserID($0) }, in: conversation)) != nil
            else { return #expect(Bool(false), "\(actor ?? "the backend") may") }
        }
        #expect(try opened.apply(group(["ada", "bo"], circle)) == .done)
        guard made(try opened.change(.add(["bo", "cy"]), by: "ada", in: circle)) != nil else {
            return #expect(Bool(false), "bo is in already")
        }
    }
}

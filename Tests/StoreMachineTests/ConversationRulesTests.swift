import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A change of a conversation` {
    private var opened = Opened()

    /// Ada owns the team, bo is admin, cy and dee are members.
    init() throws {
        _ = try self.opened.change(.create(name: "Team", portrait: nil, members: ["dee", "cy", "bo"]), by: "ada")
        _ = try self.opened.change(.setRole("bo", .admin), by: "ada")
    }

    @Test func `begins with who makes it as owner, and is told to everybody in it`() throws {
        var opened = Opened()
        let result = try opened.change(.create(name: "Team", portrait: "p", members: ["bo", "ada"]), by: "ada")
        let change = ConversationChange(
            conversation: team, version: 1, action: .create(name: "Team", portrait: "p", members: ["bo"]), by: "ada",
            at: 5)
        #expect(result == .changed([MadeChange(change, [at(1, "ada"), at(1, "bo")])]))
        #expect(opened.last(of: bo) == .change(change))
        let members = [Member("ada", role: .owner), Member("bo")]
        let record = ConversationRecord(app: "shop", conversation: team, name: "Team", portrait: "p", members: members)
        #expect(opened.storedTeam == StoredConversation(record: record, version: 1))
    }

    @Test func `has no owner if the backend makes it`() throws {
        var opened = Opened()
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["bo"]))
        #expect(opened.storedTeam?.record.members == [Member("bo")])
    }

    @Test func `cannot make what there is, or was`() throws {
        var opened = self.opened
        let create = ConversationAction.create(name: "Team", portrait: nil, members: [])
        #expect(refused(try opened.change(create, by: "zoe")) == "exists conversation.target")
        _ = try opened.change(.dissolve)
        #expect(refused(try opened.change(create)) == "exists conversation.target")
    }

    @Test func `goes into the log of everybody who was a member before or is one after`() throws {
        var opened = self.opened
        let change = ConversationChange(conversation: team, version: 3, action: .remove(["cy"]), by: "bo", at: 5)
        #expect(
            try opened.change(.remove(["cy", "zoe"]), by: "bo")
                == .changed([MadeChange(change, [at(3, "ada"), at(3, "bo"), at(3, "cy"), at(3, "dee")])]))
        let added = ConversationChange(conversation: team, version: 4, action: .add(["cy", "zoe"]), by: "bo", at: 5)
        #expect(
            try opened.change(.add(["zoe", "ada", "cy"]), by: "bo")
                == .changed([MadeChange(added, [at(4, "ada"), at(4, "bo"), at(4, "cy"), at(4, "dee"), at(1, "zoe")])]))
    }

    @Test(arguments: [
        ConversationAction.add(["cy"]), .remove(["zoe"]), .rename("Team"), .setPortrait(nil), .setRole("cy", .member),
        .setNickname("cy", nil),
    ])
    func `that changes nothing writes nothing`(action: ConversationAction) throws {
        var opened = self.opened
        let before = opened.store.dump()
        #expect(try opened.change(action, by: "ada") == .changed([]))
        #expect(opened.store.dump() == before)
    }

    @Test(arguments: [
        (ConversationAction.add(["zoe"]), true), (.remove(["cy"]), true), (.rename("T"), true),
        (.setPortrait("p"), true),
        (.setNickname("dee", "D"), true), (.setRole("dee", .admin), false), (.dissolve, false),
    ])
    func `in a group is the owner's, some of it the admins', nothing the members'`(
        action: ConversationAction, forAdmins: Bool
    ) throws {
        var owner = self.opened
        guard made(try owner.change(action, by: "ada")) != nil else {
            return #expect(Bool(false), "the owner may")
        }
        var admin = try Self().opened
        let answer = refused(try admin.change(action, by: "bo"))
        #expect((answer == "not_allowed action") == !forAdmins, "\(answer)")
        var member = try Self().opened
        let before = member.store.dump()
        #expect(refused(try member.change(action, by: "cy")) == "not_allowed action")
        #expect(refused(try member.change(action, by: "zoe")) == "not_a_member conversation.target")
        #expect(member.store.dump() == before)
    }

    @Test func `of one's own nickname is one's own`() throws {
        var opened = self.opened
        _ = try opened.change(.setNickname("cy", "Cyril"), by: "cy")
        #expect(opened.storedTeam?.record.members.member("cy") == Member("cy", nickname: "Cyril"))
        _ = try opened.change(.setNickname("cy", nil), by: "cy")
        #expect(opened.storedTeam?.record.members.member("cy") == Member("cy"))
    }

    @Test func `of a role or nickname needs a member`() throws {
        var opened = self.opened
        #expect(refused(try opened.change(.setRole("zoe", .admin))) == "not_a_member conversation.target")
        #expect(refused(try opened.change(.setNickname("zoe", "Z"))) == "not_a_member conversation.target")
    }

    @Test func `cannot remove the owner, nor an admin another admin`() throws {
        var opened = self.opened
        #expect(refused(try opened.change(.remove(["ada"]))) == "not_allowed action")
        _ = try opened.change(.setRole("dee", .admin), by: "ada")
        #expect(refused(try opened.change(.remove(["cy", "dee"]), by: "bo")) == "not_allowed action")
        #expect(opened.storedTeam?.record.members.count == 4)
    }

    @Test func `gives the owner's place to the next admin, then to the smallest id`() throws {
        var opened = self.opened
        _ = try opened.change(.leave, by: "ada")
        #expect(opened.storedTeam?.record.members == [Member("bo", role: .owner), Member("cy"), Member("dee")])
        _ = try opened.change(.leave, by: "bo")
        #expect(opened.storedTeam?.record.members == [Member("cy", role: .owner), Member("dee")])
        #expect(refused(try opened.change(.leave, by: "bo")) == "not_a_member conversation.target")
    }

    @Test func `to a new owner makes the old one an admin`() throws {
        var opened = self.opened
        _ = try opened.change(.setRole("cy", .owner), by: "ada")
        #expect(opened.storedTeam?.record.members.map(\.role) == [.admin, .admin, .owner, .member])
    }

    @Test func `lets people come by themselves into discussions and chat rooms, not into groups`() throws {
        var opened = self.opened
        #expect(refused(try opened.change(.join, by: "zoe")) == "not_allowed action")
        _ = try opened.change(.create(name: "Circle", portrait: nil, members: ["bo"]), by: "ada", in: circle)
        let joined = try #require(made(try opened.change(.join, by: "zoe", in: circle)))
        #expect(joined.change.action == .join && joined.change.by == "zoe")
        #expect(joined.deliveries.map(\.user) == ["ada", "bo", "zoe"])
        #expect(try opened.change(.join, by: "zoe", in: circle) == .changed([]))
        guard made(try opened.change(.rename("Round"), by: "zoe", in: circle)) != nil else {
            return #expect(Bool(false), "in a discussion every member may rename")
        }
    }

    @Test func `of a chat room is told to nobody`() throws {
        var opened = self.opened
        _ = try opened.change(.create(name: "Hall", portrait: nil, members: []), by: "ada", in: hall)
        let change = ConversationChange(conversation: hall, version: 2, action: .join, by: "bo", at: 5)
        #expect(try opened.change(.join, by: "bo", in: hall) == .changed([MadeChange(change, [])]))
        #expect(opened.person(bo)?.record.head == 2)
    }

    @Test func `takes what was unread from whoever goes`() throws {
        var opened = self.opened
        _ = try opened.send(message(1, in: team, mentions: .everyone))
        _ = try opened.send(message(2, from: "cy"))
        #expect(opened.counts(bo) == [2, 2, 1])
        let left = try #require(made(try opened.change(.leave, by: "bo")))
        #expect(left.deliveries.contains(at(5, "bo", unread: 1)))
        #expect(opened.counts(bo) == [1, 1, 0])
        let cursor = StoreDump.Cursor(conversation: team, unread: 0, mentions: 0, upTo: 5)
        #expect(opened.person(bo)?.cursors.contains(cursor) == true)
    }

    @Test func `that dissolves it ends it for good, but for the backend`() throws {
        var opened = self.opened
        _ = try opened.send(message(1, in: team))
        _ = try opened.change(.dissolve, by: "ada")
        #expect(opened.counts(bo) == [1, 1, 0])
        let result = try opened.apply(.accept(message: message(2, in: team), senderDevice: nil))
        #expect(refused(result) == "unknown_conversation conversation.target")
        #expect(refused(try opened.change(.rename("T"))) == "unknown_conversation conversation.target")
        guard case .conversation(let info) = try opened.apply(.readConversation("shop", team, asked: "bo")) else {
            return #expect(Bool(false), "a member may ask")
        }
        #expect(info.isDissolved && info.version == 3)
        _ = try opened.apply(group(["ada", "bo"]))
        #expect(opened.storedTeam?.isDissolved == false && opened.storedTeam?.version == 4)
        #expect(try opened.send(message(3, in: team)).count == 2)
    }

    @Test(arguments: [
        (ConversationAction.rename(""), "invalid_field name"),
        (.rename(String(repeating: "é", count: 129)), "invalid_field name"),
        (.setPortrait(String(repeating: "p", count: 1_025)), "invalid_field portrait"),
        (.setNickname("cy", ""), "invalid_field nickname"),
        (.setNickname("cy", String(repeating: "n", count: 65)), "invalid_field nickname"),
        (.add(["two words"]), "invalid_field members"), (.join, "not_allowed action"), (.leave, "not_allowed action"),
    ])
    func `is refused if a field breaks its rule, and nothing is changed`(
        action: ConversationAction, refusal: String
    ) throws {
        var opened = self.opened
        let before = opened.store.dump()
        #expect(refused(try opened.change(action)) == refusal)
        #expect(opened.store.dump() == before)
    }

    @Test func `is refused beyond the limit of members`() throws {
        var opened = self.opened
        #expect(refused(try opened.change(.add(["zoe"]), membersMax: 4)) == "invalid_field members")
        let create = ConversationAction.create(name: "C", portrait: nil, members: ["bo", "cy"])
        #expect(refused(try opened.change(create, by: "ada", in: circle, membersMax: 2)) == "invalid_field members")
        _ = try opened.change(create, by: "ada", in: circle, membersMax: 3)
        #expect(refused(try opened.change(.join, by: "zoe", in: circle, membersMax: 3)) == "invalid_field members")
    }

    @Test func `is refused where there is no such conversation, or none with members`() throws {
        var opened = self.opened
        #expect(refused(try opened.change(.rename("C"), in: circle)) == "unknown_conversation conversation.target")
        #expect(refused(try opened.change(.rename("C"), in: toAda)) == "invalid_field conversation.type")
    }

    @Test func `is seen by members and the backend`() throws {
        var opened = self.opened
        guard let info = opened.storedTeam?.info(at: 0) else { return #expect(Bool(false), "there is a team") }
        #expect(try opened.apply(.readConversation("shop", team, asked: nil)) == .conversation(info))
        #expect(try opened.apply(.readConversation("shop", team, asked: "cy")) == .conversation(info))
        let stranger = try opened.apply(.readConversation("shop", team, asked: "zoe"))
        #expect(refused(stranger) == "not_a_member conversation.target")
        let nowhere = try opened.apply(.readConversation("club", team, asked: nil))
        #expect(refused(nowhere) == "unknown_conversation conversation.target")
    }
}

@Suite struct `A directed message` {
    @Test func `stands in the logs of its sender and its recipients only`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo", "cy", "dee"]))
        #expect(try opened.send(message(1, in: team, recipients: ["cy"])) == [at(1, "ada"), at(1, "cy", unread: 1)])
    }

    @Test func `is for members`() throws {
        var opened = Opened()
        _ = try opened.apply(group(["ada", "bo"]))
        let before = opened.store.dump()
        let result = try opened.apply(
            .accept(message: message(1, in: team, recipients: ["bo", "zoe"]), senderDevice: nil))
        #expect(refused(result) == "invalid_field recipients")
        #expect(opened.store.dump() == before)
    }
}

import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let services: [ConversationType] = [.customerService, .appPublicService, .publicService]
private let peers: [ConversationType] = ConversationType.allCases.filter(\.targetIsPeer)

extension Opened {
    /// What comes of a message, from a device of the sender's, or the backend in the sender's name.
    fileprivate mutating func result(
        _ message: Message, from device: DeviceID? = "phone", room: RoomAccess = RoomAccess()
    ) throws -> String {
        let result = try self.apply(.accept(message: message, senderDevice: device, room: room))
        if case .accepted = result { return "accepted" }
        return refused(result)
    }

    fileprivate mutating func declare(_ type: ConversationType, _ id: String, isDeclared: Bool = true) throws {
        _ = try self.apply(.setAccount("shop", .init(type: type, target: id), isDeclared: isDeclared))
    }
}

@Suite struct `Who may write` {
    @Test(arguments: [ConversationType.system, .pushService])
    func `the system's and the push service's messages is the backend`(type: ConversationType) throws {
        var opened = Opened()
        let conversation = ConversationID(type: type, target: "bo")
        #expect(try opened.result(message(1, in: conversation)) == "not_allowed conversation.type")
        #expect(try opened.apply(.mayWrite(ada, conversation)).isRefused)
        #expect(opened.person(bo) == nil)
        #expect(try opened.result(message(1, in: conversation), from: nil) == "accepted")
        // Nor is what came that way changed by the one in whose name it came.
        #expect(refused(try opened.edit(1, "ho", by: "ada")) == "not_allowed conversation.type")
        #expect(refused(try opened.recall(1, as: 2, by: "ada")) == "not_allowed conversation.type")
        guard case .recalled = try opened.recall(1, as: 2, by: nil) else {
            return #expect(Bool(false), "the backend may")
        }
    }

    @Test(arguments: services)
    func `a service is anybody to a declared account, and the account to anybody`(type: ConversationType) throws {
        var opened = Opened()
        let toBo = ConversationID(type: type, target: "bo")
        let toAda = ConversationID(type: type, target: "ada")
        let none = "not_allowed conversation.target"
        #expect(try opened.result(message(1, in: toBo)) == none)
        #expect(try opened.result(message(1, in: toBo), from: nil) == none)
        for other in services where other != type { try opened.declare(other, "bo") }
        #expect(try opened.result(message(1, in: toBo)) == none)
        try opened.declare(type, "bo")
        #expect(try opened.result(message(1, in: toBo)) == "accepted")
        #expect(try opened.result(message(2, from: "bo", in: toAda)) == "accepted")
        #expect(try opened.apply(.mayWrite(bo, toAda)) == .done)
        #expect(try opened.result(message(3, from: "cy", in: toAda)) == none)
        #expect(try opened.result(message(3, in: toBo, app: "club")) == none)
        try opened.declare(type, "bo", isDeclared: false)
        #expect(try opened.result(message(3, in: toBo)) == none)
        #expect(refused(try opened.edit(1, "ho", by: "ada")) == none)
    }

    @Test(arguments: peers)
    func `somebody who blocks them is nobody, whatever the kind, and whoever speaks for them`(type: ConversationType)
        throws
    {
        var opened = Opened()
        if services.contains(type) { try opened.declare(type, "bo") }
        let conversation = ConversationID(type: type, target: "bo")
        #expect(try opened.result(message(1, in: conversation), from: nil) == "accepted")
        _ = try opened.apply(.setBlocked(bo, "ada", true, at: 9))
        let before = opened.store.dump()
        #expect(try opened.result(message(2, in: conversation), from: nil) == "blocked conversation.target")
        let isForBackend = [.system, .pushService].contains(type)
        let answer = isForBackend ? "not_allowed conversation.type" : "blocked conversation.target"
        #expect(try opened.result(message(2, in: conversation)) == answer)
        #expect(refused(try opened.edit(1, "ho", by: "ada")) == answer)
        #expect(refused(try opened.recall(1, as: 2, by: "ada")) == answer)
        #expect(opened.store.dump() == before)
        // A send that was accepted before they were blocked still gets its answer.
        guard case .duplicate = try opened.apply(.accept(message: message(1, in: conversation), senderDevice: "phone"))
        else { return #expect(Bool(false), "it is a repeat") }
        _ = try opened.apply(.setBlocked(bo, "ada", false, at: 9))
        if !isForBackend {
            guard case .noted(.edit?, _) = try opened.edit(1, "ho", by: "ada") else {
                return #expect(Bool(false), "she may")
            }
        }
    }

    @Test func `a group is who is in it: whoever was removed changes nothing there any more`() throws {
        var opened = Opened()
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["ada", "cy"]), by: "bo")
        _ = try opened.send(message(1, in: team))
        _ = try opened.send(message(2, from: "cy", in: team))
        _ = try opened.change(.remove(["ada"]), by: "bo")
        #expect(try opened.result(message(3, in: team)) == "not_a_member conversation.target")
        #expect(refused(try opened.edit(1, "ho", by: "ada")) == "not_a_member conversation.target")
        #expect(refused(try opened.recall(1, as: 3, by: "ada")) == "not_a_member conversation.target")
        guard case .noted(.edit?, _) = try opened.edit(1, "ho", by: nil),
            case .recalled = try opened.recall(1, as: 3, by: "bo")
        else { return #expect(Bool(false), "the backend and the owner may") }
        // It is recalled: asked again, nothing is left to do.
        #expect(try opened.recall(1, as: 4, by: "ada") == .noted(nil, deliveries: []))
        _ = try opened.change(.dissolve, by: "bo")
        #expect(refused(try opened.edit(2, "ho", by: "cy")) == "unknown_conversation conversation.target")
    }

    @Test func `accounts are of services' kinds, at most a thousand`() throws {
        var opened = Opened()
        #expect(refused(try opened.apply(.setAccount("shop", toAda, isDeclared: true))) == "invalid_field kind")
        let nobody = ConversationID(type: .publicService, target: "")
        #expect(refused(try opened.apply(.setAccount("shop", nobody, isDeclared: true))) == "invalid_field id")
        let before = opened.store.dump()
        try opened.declare(.publicService, "news", isDeclared: false)
        #expect(opened.store.dump() == before)
        for number in 0..<StoreRules.accountsMax { try opened.declare(.publicService, "news\(number)") }
        let more = ConversationID(type: .customerService, target: "help")
        #expect(refused(try opened.apply(.setAccount("shop", more, isDeclared: true))) == "invalid_field id")
        #expect(try opened.apply(.setAccount("club", more, isDeclared: true)) == .done)
        #expect(try opened.apply(.readAccounts("club")) == .accounts([AccountInfo(ServiceAccount(more))]))
    }
}

extension StoreResult {
    fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }
}

@Suite struct `In a chat room` {
    private static let outside = RoomAccess(isInside: false)
    private static let closed = RoomAccess(isOpen: false)

    private func opened() throws -> Opened {
        var opened = Opened()
        _ = try opened.change(.create(name: "Hall", portrait: nil, members: ["cy"]), by: "bo", in: hall)
        _ = try opened.change(.setRole("cy", .admin), by: "bo", in: hall)
        return opened
    }

    private func history(_ user: UserID, room: RoomAccess = RoomAccess()) -> StoreCommand {
        .readHistory(UserKey(app: "shop", user: user), hall, before: nil, limit: 9, room: room)
    }

    @Test func `writes who hears it, or is a member, or the backend`() throws {
        var opened = try self.opened()
        #expect(try opened.result(message(1, in: hall), room: Self.outside) == "not_a_member conversation.target")
        #expect(try opened.result(message(1, in: hall)) == "accepted")
        #expect(try opened.result(message(2, in: hall), from: nil, room: Self.outside) == "accepted")
        #expect(try opened.result(message(3, from: "cy", in: hall), room: Self.outside) == "accepted")
    }

    @Test func `that is its members' alone nobody else writes, or reads`() throws {
        var opened = try self.opened()
        #expect(try opened.result(message(1, in: hall), room: Self.closed) == "not_a_member conversation.target")
        #expect(refused(try opened.apply(self.history("ada", room: Self.closed))) == "not_a_member conversation.target")
        #expect(try opened.result(message(1, from: "cy", in: hall), room: Self.closed) == "accepted")
        #expect(try opened.apply(self.history("cy", room: Self.closed)).count == 1)
        _ = try opened.change(.remove(["cy"]), by: "bo", in: hall)
        let edit = EditOperation(
            app: "shop", message: MessageID(rawValue: 1), actor: "cy", content: "ho", window: 1_000, room: Self.closed,
            at: 20)
        #expect(refused(try opened.apply(.edit(edit))) == "not_a_member conversation.target")
    }

    @Test func `who is banned neither writes, changes, reads, joins nor is added, until the ban ends`() throws {
        var opened = try self.opened()
        _ = try opened.change(.join, by: "ada", in: hall)
        _ = try opened.send(message(1, in: hall))
        let ban = try #require(made(try opened.change(.ban(["ada"], until: 500), by: "cy", in: hall)))
        #expect(ban.change.action == .ban(["ada"], until: 500) && ban.deliveries == [])
        let banned = "banned conversation.target"
        #expect(try opened.result(message(2, in: hall)) == banned)
        #expect(try opened.result(message(2, in: hall), from: nil) == banned)
        #expect(refused(try opened.edit(1, "ho", by: "ada")) == banned)
        #expect(refused(try opened.recall(1, as: 2, by: "ada")) == banned)
        #expect(refused(try opened.apply(self.history("ada", room: RoomAccess(at: 499)))) == banned)
        #expect(refused(try opened.change(.join, by: "ada", in: hall)) == banned)
        #expect(refused(try opened.change(.add(["ada"]), by: "bo", in: hall)) == "banned users")
        #expect(
            try opened.apply(.readRestrictions(.bans, "shop", hall, asked: "cy", at: 499))
                == .bans([Ban(user: "ada", until: 500)]))
        // It ends by itself.
        #expect(try opened.apply(self.history("ada", room: RoomAccess(at: 500))).count == 1)
        #expect(try opened.apply(.readRestrictions(.bans, "shop", hall, asked: nil, at: 500)) == .bans([]))
        var late = message(2, in: hall)
        late.sentAt = 500
        #expect(try opened.result(late) == "accepted")
    }

    @Test func `a ban is lifted by who may ban, or by the backend that makes them a member`() throws {
        var opened = try self.opened()
        _ = try opened.change(.ban(["ada", "zoe"], until: nil), by: "bo", in: hall)
        #expect(refused(try opened.change(.unban(["ada"]), by: "ada", in: hall)) == "not_a_member conversation.target")
        guard made(try opened.change(.unban(["ada", "dee"]), by: "cy", in: hall)) != nil else {
            return #expect(Bool(false), "an admin may")
        }
        #expect(try opened.change(.unban(["ada"]), by: "cy", in: hall) == .changed([]))
        guard made(try opened.change(.join, by: "ada", in: hall)) != nil else {
            return #expect(Bool(false), "she may again")
        }
        _ = try opened.apply(group(["zoe"], hall))
        #expect(try opened.apply(.readRestrictions(.bans, "shop", hall, asked: nil, at: 9)) == .bans([]))
    }

    @Test func `owner and admins ban, nobody the owner, no admin another one, and only here`() throws {
        var opened = try self.opened()
        _ = try opened.change(.join, by: "ada", in: hall)
        _ = try opened.change(.setRole("ada", .admin), by: "bo", in: hall)
        _ = try opened.change(.join, by: "dee", in: hall)
        func ban(_ user: UserID, by actor: UserID?, until: Int64? = nil, in place: ConversationID = hall) throws
            -> String
        {
            let result = try opened.change(.ban([user], until: until), by: actor, in: place)
            if case .changed(let changes, _) = result { return changes.isEmpty ? "nothing" : "changed" }
            return refused(result)
        }
        #expect(try ban("zoe", by: "dee") == "not_allowed action")
        #expect(try ban("zoe", by: "eve") == "not_a_member conversation.target")
        #expect(try ban("bo", by: "cy") == "not_allowed action")
        #expect(try ban("bo", by: nil) == "not_allowed action")
        #expect(try ban("ada", by: "cy") == "not_allowed action")
        #expect(try ban("zoe", by: "cy", until: 5) == "invalid_field until")
        #expect(try ban("zoe", by: nil, in: team) == "invalid_field conversation.type")
        #expect(try ban("zoe", by: nil) == "changed")
        #expect(try ban("zoe", by: "cy") == "nothing")
        #expect(try ban("zoe", by: "cy", until: 99) == "changed")
        #expect(try ban("ada", by: "bo") == "changed")
        #expect(
            refused(try opened.apply(.readRestrictions(.bans, "shop", hall, asked: "dee", at: 9)))
                == "not_allowed actor")
    }

    @Test func `that is dissolved there is nothing to read`() throws {
        var opened = try self.opened()
        _ = try opened.result(message(1, in: hall))
        _ = try opened.change(.dissolve, by: "bo", in: hall)
        #expect(refused(try opened.apply(self.history("bo"))) == "unknown_conversation conversation.target")
    }

    @Test func `who only hears is put out by name, too`() throws {
        var opened = try self.opened()
        #expect(made(try opened.change(.remove(["zoe"]), by: "cy", in: hall))?.change.action == .remove(["zoe"]))
    }
}

@Suite struct `A policy` {
    private func change(
        _ action: ConversationAction, by actor: UserID?, _ policy: ConversationPolicy,
        in conversation: ConversationID = circle,
        _ opened: inout Opened
    ) throws -> String {
        let operation = ConversationOperation(
            app: "shop", conversation: conversation, action: action, actor: actor, policy: policy, at: 5)
        let result = try opened.apply(.change(operation))
        if made(result) != nil { return "changed" }
        return refused(result)
    }

    @Test func `says who makes a conversation, comes in by its id, and adds people; the backend always may`() throws {
        var opened = Opened()
        let strict = ConversationPolicy(create: .backend, join: .nobody, add: .backend)
        let make = ConversationAction.create(name: "Circle", portrait: nil, members: ["bo"])
        #expect(try self.change(make, by: "ada", strict, &opened) == "not_allowed action")
        #expect(try self.change(make, by: nil, strict, &opened) == "changed")
        #expect(try self.change(.join, by: "ada", strict, &opened) == "not_allowed action")
        #expect(try self.change(.add(["ada"]), by: "bo", strict, &opened) == "not_allowed action")
        #expect(try self.change(.add(["ada"]), by: nil, strict, &opened) == "changed")
        let open = ConversationPolicy(create: .anyone, join: .anyone, add: .admins)
        #expect(try self.change(.join, by: "cy", open, &opened) == "changed")
        #expect(try self.change(.add(["zoe"]), by: "cy", open, &opened) == "not_allowed action")
        #expect(try self.change(make, by: "ada", open, in: team, &opened) == "changed")
        #expect(try self.change(.join, by: "zoe", open, in: team, &opened) == "changed")
        #expect(try self.change(.add(["eve"]), by: "ada", open, in: team, &opened) == "changed")
        let members = ConversationPolicy(create: .anyone, join: .anyone, add: .members)
        #expect(try self.change(.add(["dee"]), by: "zoe", members, in: team, &opened) == "changed")
    }

    @Test func `keeps strangers out of groups, unless an operator says otherwise`() {
        #expect(ConversationPolicy.standard(for: .group) == .init(create: .anyone, join: .nobody, add: .admins))
        #expect(ConversationPolicy.standard(for: .discussion) == .init(create: .anyone, join: .anyone, add: .members))
        #expect(ConversationPolicy.standard(for: .chatRoom) == .init(create: .anyone, join: .anyone, add: .admins))
    }
}

extension StoreResult {
    /// How many messages a history has; nil if it is none.
    fileprivate var count: Int? { if case .history(let messages, _) = self { messages.count } else { nil } }
}

@Suite struct `A page of a log` {
    private func page(_ opened: inout Opened, of key: UserKey = bo) throws -> (texts: [String], erased: [LogPosition]) {
        guard case .page(let page) = try opened.apply(.readLog(key, after: 0, limit: 99)) else { return ([], []) }
        let texts = page.entries.map { entry in
            switch entry.body {
            case .message(let message): "\(message.content) \(message.pushText ?? "-")"
            case .edit(let edit): "edit \(edit.content)"
            case .recall: "recall"
            case .deletion: "deletion"
            default: "\(entry.body)"
            }
        }
        return (texts, page.erased)
    }

    private func secret(_ id: UInt64) -> Message {
        var message = message(id)
        message.content = "secret \(id)"
        message.pushText = "psst \(id)"
        return message
    }

    @Test func `has nothing of what was recalled, nor of its edits`() throws {
        var opened = Opened()
        for id: UInt64 in 1...2 { _ = try opened.send(self.secret(id)) }
        _ = try opened.edit(1, "secret still", by: "ada")
        _ = try opened.recall(1, as: 3, by: "ada")
        for key in [ada, bo] {
            let page = try self.page(&opened, of: key)
            #expect(page.texts == [" -", "secret 2 psst 2", "edit ", "recall"])
            #expect(page.erased == [1, 3])
        }
        guard case .trace(let trace?) = try opened.apply(.trace("shop", MessageID(rawValue: 1))) else { return }
        #expect(trace.message?.content == "" && trace.message?.pushText == nil)
        #expect(opened.store.dump().revisions.map(\.content) == [nil])
    }

    @Test func `has what was edited as it reads now, without the words for its push, and the last edit alone`() throws {
        var opened = Opened()
        _ = try opened.send(self.secret(1))
        _ = try opened.edit(1, "second", by: "ada")
        _ = try opened.edit(1, "third", by: "ada")
        let page = try self.page(&opened)
        #expect(page.texts == ["third -", "edit ", "edit third"])
        #expect(page.erased == [2])
    }

    @Test func `has nothing of what the person has deleted; others have it all`() throws {
        var opened = Opened()
        _ = try opened.send(self.secret(1))
        _ = try opened.edit(1, "second", by: "ada")
        _ = try opened.delete([1], of: bo, in: toAda)
        let page = try self.page(&opened)
        #expect(page.texts == [" -", "edit ", "deletion"])
        #expect(page.erased == [1, 2])
        #expect(try self.page(&opened, of: ada).texts == ["second -", "edit second"])
    }
}

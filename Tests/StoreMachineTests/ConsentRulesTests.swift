import StoreMachine
import StoreModel
import Testing
import TidingsModel

private let cy = UserKey(app: "shop", user: "cy")
private let zoe = UserKey(app: "shop", user: "zoe")

extension Opened {
    /// Ada owns the conversation, Bo is a member. Cy is added by nobody, Dee by people they have written to.
    fileprivate static func reserved(_ conversation: ConversationID = team) throws -> Opened {
        var opened = Opened()
        try opened.allow(.nobody, of: "cy")
        try opened.allow(.contacts, of: "dee")
        _ = try opened.change(.create(name: "Team", portrait: "p", members: ["bo"]), by: "ada", in: conversation)
        return opened
    }

    fileprivate mutating func allow(_ consent: AddingConsent?, of user: UserID) throws {
        _ = try self.apply(
            .setPersonSettings(
                UserKey(app: "shop", user: user), PersonSettings(mayBeAddedBy: consent), at: 5))
    }

    /// What was made, and who was invited.
    fileprivate mutating func add(
        _ users: [UserID], by actor: UserID?, in conversation: ConversationID = team
    ) throws -> (actions: [ConversationAction], invited: [UserID]) {
        let result = try self.change(.add(users), by: actor, in: conversation)
        guard case .changed(let changes, let invited) = result else { throw EndedTwice() }
        return (changes.map(\.change.action), invited)
    }

    fileprivate mutating func invited(_ conversation: ConversationID = team) throws -> [Invitee] {
        let answer = try self.apply(.readRestrictions(.invitations, "shop", conversation, asked: nil, at: 6))
        guard case .invited(let people) = answer else { throw EndedTwice() }
        return people
    }

    fileprivate func members(_ conversation: ConversationID = team) -> [UserID] {
        self.store.dump().conversations.first { $0.record.conversation == conversation }?.record.members.map(\.id) ?? []
    }
}

private func invite(_ users: [UserID]) -> ConversationAction { .invite(users, name: "Team", portrait: "p") }

@Suite struct `Somebody who may not be added without their consent` {
    @Test(arguments: [team, circle]) func `is invited, and gets nothing but that`(place: ConversationID) throws {
        var opened = try Opened.reserved(place)
        let (actions, invited) = try opened.add(["cy", "dee", "eve"], by: "ada", in: place)
        #expect(actions == [.add(["eve"]), invite(["cy", "dee"])])
        #expect(invited == ["cy", "dee"])
        #expect(opened.members(place) == ["ada", "bo", "eve"])
        #expect(
            try opened.invited(place) == [
                Invitee(user: "cy", by: "ada", at: 5), Invitee(user: "dee", by: "ada", at: 5),
            ])
        // Members see who is invited, an invited person themselves alone.
        func told(_ users: [UserID]) -> LogEntry.Body {
            .change(ConversationChange(conversation: place, version: 3, action: invite(users), by: "ada", at: 5))
        }
        #expect(opened.last(of: bo) == told(["cy", "dee"]))
        #expect(opened.last(of: cy) == told(["cy"]))
        #expect(opened.person(cy)?.record.head == 2)
        #expect(try opened.send(message(1, in: place, mentions: .everyone)).map(\.user) == ["ada", "bo", "eve"])
        _ = try opened.change(.rename("Crew"), by: "ada", in: place)
        #expect(opened.person(cy)?.record.head == 2)
        #expect(opened.counts(cy) == [0, 0, 0])
        let asked = StoreCommand.readConversation("shop", place, asked: "cy")
        #expect(refused(try opened.apply(asked)) == "not_a_member conversation.target")
        let sent = StoreCommand.accept(message: message(2, from: "cy", in: place), senderDevice: "phone")
        #expect(refused(try opened.apply(sent)) == "not_a_member conversation.target")
    }

    @Test func `is invited by whoever makes a conversation`() throws {
        var opened = try Opened.reserved(circle)
        let result = try opened.change(
            .create(name: "Team", portrait: "p", members: ["bo", "cy"]), by: "ada")
        guard case .changed(let changes, invited: ["cy"]) = result else {
            return #expect(Bool(false), "\(result)")
        }
        #expect(
            changes.map(\.change.action) == [
                .create(name: "Team", portrait: "p", members: ["bo"]), invite(["cy"]),
            ])
        #expect(changes.map { $0.deliveries.map(\.user) } == [["ada", "bo"], ["ada", "bo", "cy"]])
    }

    @Test func `is added by people they have written to from a device, one to one, if they let contacts`() throws {
        var opened = try Opened.reserved()
        func write(_ id: UInt64, to conversation: ConversationID, from sender: UserID, by device: DeviceID?) throws {
            _ = try opened.apply(
                .accept(message: message(id, from: sender, in: conversation), senderDevice: device))
        }
        let toDee = ConversationID(type: .direct, target: "dee")
        try write(1, to: toDee, from: "ada", by: "phone")
        try write(2, to: toAda, from: "dee", by: nil)
        #expect(try opened.add(["dee"], by: "ada").invited == ["dee"])
        try write(3, to: toAda, from: "dee", by: "phone")
        try write(4, to: toAda, from: "cy", by: "phone")
        #expect(try opened.add(["cy", "dee"], by: "ada").invited == ["cy"])
        #expect(opened.members() == ["ada", "bo", "dee"])
    }

    @Test func `is added by the backend, which asks nobody, and to a chat room`() throws {
        var opened = try Opened.reserved()
        _ = try opened.add(["cy"], by: "ada")
        #expect(try opened.add(["cy", "dee"], by: nil) == ([.add(["cy", "dee"])], []))
        #expect(try opened.invited() == [])
        _ = try opened.change(.remove(["cy"]), by: "ada")
        _ = try opened.add(["cy"], by: "ada")
        #expect(try opened.invited().map(\.user) == ["cy"])
        #expect(try opened.apply(group(["ada", "cy"])) == .done)
        #expect(try opened.invited() == [])
        _ = try opened.change(.create(name: "Hall", portrait: nil, members: ["cy"]), by: "ada", in: hall)
        #expect(opened.members(hall) == ["ada", "cy"])
    }

    @Test func `is not invited by somebody they have blocked, nor twice`() throws {
        var opened = try Opened.reserved()
        _ = try opened.apply(.setBlocked(cy, "ada", true, at: 5))
        #expect(refused(try opened.change(.add(["cy", "eve"]), by: "ada")) == "blocked users")
        _ = try opened.apply(.setBlocked(cy, "ada", false, at: 5))
        _ = try opened.add(["cy"], by: "ada")
        let before = opened.store.dump()
        #expect(try opened.add(["cy"], by: "ada") == ([], ["cy"]))
        #expect(opened.store.dump() == before)
    }

    @Test func `decides that by a setting which programs that do not know it leave as it is`() throws {
        var opened = try Opened.reserved()
        _ = try opened.apply(.setPersonSettings(cy, PersonSettings(hidesContent: true), at: 6))
        let settings = PersonSettings(hidesContent: true, mayBeAddedBy: .nobody)
        #expect(opened.person(cy)?.record.settings.person == settings)
        #expect(opened.last(of: cy) == .personSettings(settings))
        try opened.allow(.everybody, of: "cy")
        #expect(try opened.add(["cy"], by: "ada").invited == [])
    }
}

@Suite struct `An invitation` {
    @Test func `is accepted by joining, also into a group`() throws {
        var opened = try Opened.reserved()
        _ = try opened.add(["cy"], by: "ada")
        #expect(refused(try opened.change(.join, by: "zoe")) == "not_allowed action")
        let joined = try #require(made(try opened.change(.join, by: "cy")))
        #expect(joined.deliveries.map(\.user) == ["ada", "bo", "cy"])
        #expect(opened.members() == ["ada", "bo", "cy"])
        #expect(try opened.invited() == [])
    }

    @Test func `is declined by the person alone, and there is none then`() throws {
        var opened = try Opened.reserved()
        _ = try opened.add(["cy"], by: "ada")
        #expect(try opened.change(.decline, by: "dee") == .changed([]))
        #expect(refused(try opened.change(.decline)) == "not_allowed action")
        let declined = try #require(made(try opened.change(.decline, by: "cy")))
        #expect(declined.deliveries.map(\.user) == ["ada", "bo", "cy"])
        #expect(try opened.invited() == [])
        #expect(refused(try opened.change(.join, by: "cy")) == "not_allowed action")
        #expect(try opened.change(.decline, by: "cy") == .changed([]))
    }

    @Test func `is withdrawn by whoever made it, an owner or admin, and the backend`() throws {
        func withdraw(by actor: UserID?) throws -> String {
            var opened = try Opened.reserved(circle)
            _ = try opened.add(["eve"], by: "ada", in: circle)
            _ = try opened.add(["cy", "dee"], by: "bo", in: circle)
            let result = try opened.change(.withdraw(["cy", "zoe"]), by: actor, in: circle)
            guard let withdrawn = made(result) else { return refused(result) }
            #expect(withdrawn.change.action == .withdraw(["cy"]))
            #expect(withdrawn.deliveries.map(\.user) == ["ada", "bo", "cy", "eve"])
            return try opened.invited(circle).map(\.user.rawValue).joined(separator: " ")
        }
        for actor in ["bo", "ada", nil] { #expect(try withdraw(by: actor.map { UserID($0) }) == "dee") }
        #expect(try withdraw(by: "eve") == "not_allowed action")
        #expect(try withdraw(by: "cy") == "not_a_member conversation.target")
    }

    @Test func `ends with the conversation`() throws {
        var opened = try Opened.reserved()
        _ = try opened.add(["cy", "dee"], by: "ada")
        guard case .changed(let changes, _) = try opened.change(.dissolve, by: "ada") else {
            return #expect(Bool(false), "dissolved")
        }
        #expect(changes.map(\.change.action) == [.withdraw(["cy", "dee"]), .dissolve])
        #expect(changes.last?.deliveries.map(\.user) == ["ada", "bo"])
        let told = ConversationChange(conversation: team, version: 3, action: .withdraw(["cy"]), by: "ada", at: 5)
        #expect(opened.last(of: cy) == .change(told))
        #expect(refused(try opened.change(.join, by: "cy")) == "unknown_conversation conversation.target")
    }

    @Test func `is nothing to ask for by itself`() throws {
        var opened = try Opened.reserved()
        #expect(refused(try opened.change(invite(["cy"]), by: "ada")) == "not_allowed action")
    }

    @Test func `is named in the answer that is kept under a key`() throws {
        var opened = try Opened.reserved()
        let request = IdempotentRequest(
            key: IdempotencyKey(app: "shop", apiKey: "k", text: "one"), fingerprint: [1], keptMax: 9, at: 5)
        let operation = ConversationOperation(
            app: "shop", conversation: team, action: .add(["cy"]), actor: "ada", at: 5)
        _ = try opened.apply(.once(request, .change(operation)))
        #expect(try opened.apply(.once(request, .change(operation))) == .kept(KeptAnswer(request, .invited(["cy"]))))
    }
}

import StoreMachine
import StoreModel
import Testing
import TidingsModel

/// Ada owns it, Bo is an admin, Cy and Dee are members.
extension Opened {
    fileprivate static func ruled(_ conversation: ConversationID) throws -> Opened {
        var opened = Opened()
        _ = try opened.change(.create(name: "Team", portrait: nil, members: ["bo", "cy"]), by: "ada", in: conversation)
        if conversation.type == .chatRoom {
            for user in ["bo", "cy"] { _ = try opened.change(.join, by: UserID(user), in: conversation) }
        }
        _ = try opened.change(.setRole("bo", .admin), by: "ada", in: conversation)
        return opened
    }

    /// As somebody on a device of theirs, or in their name.
    fileprivate mutating func said(
        _ id: UInt64, by sender: UserID, in conversation: ConversationID, device: DeviceID? = "phone"
    ) throws -> String {
        let result = try self.apply(
            .accept(message: message(id, from: sender, in: conversation), senderDevice: device))
        if case .accepted = result { return "accepted" }
        return refused(result)
    }

    fileprivate mutating func info(_ conversation: ConversationID, at wall: Int64 = 6) throws -> ConversationInfo {
        let answer = try self.apply(.readConversation("shop", conversation, asked: nil, at: wall))
        guard case .conversation(let info) = answer else { throw EndedTwice() }
        return info
    }

    fileprivate mutating func mutes(_ conversation: ConversationID, at wall: Int64) throws -> [Ban] {
        let answer = try self.apply(.readRestrictions(.mutes, "shop", conversation, asked: "ada", at: wall))
        guard case .bans(let mutes) = answer else { throw EndedTwice() }
        return mutes
    }
}

private let places = [team, circle, hall]
private let muted = "muted conversation.target"

@Suite struct `A muted member` {
    @Test(arguments: places)
    func `neither writes nor edits, and recalls what they have written`(place: ConversationID) throws {
        var opened = try Opened.ruled(place)
        #expect(try opened.said(1, by: "cy", in: place) == "accepted")
        let change = try #require(made(try opened.change(.mute(["cy"], until: nil), by: "bo", in: place)))
        #expect(change.deliveries.map(\.user) == (place == hall ? [] : ["ada", "bo", "cy"]))
        let before = opened.store.dump()
        #expect(try opened.said(2, by: "cy", in: place) == muted)
        #expect(try opened.said(3, by: "cy", in: place, device: nil) == muted)
        #expect(refused(try opened.edit(1, "ho", by: "cy")) == muted)
        let mayWrite = StoreCommand.mayWrite(UserKey(app: "shop", user: "cy"), place, room: RoomAccess(at: 6))
        #expect(refused(try opened.apply(mayWrite)) == muted)
        #expect(opened.store.dump() == before)
        #expect(try opened.said(4, by: "bo", in: place) == "accepted")
        guard case .recalled = try opened.recall(1, as: 20, by: "cy") else {
            return #expect(Bool(false), "who is muted may take back what they have written")
        }
        _ = try opened.change(.unmute(["cy"]), by: "bo", in: place)
        #expect(try opened.said(5, by: "cy", in: place) == "accepted")
    }

    @Test(arguments: places) func `writes again when the time has come`(place: ConversationID) throws {
        var opened = try Opened.ruled(place)
        _ = try opened.change(.mute(["cy"], until: 70), by: "ada", in: place)
        #expect(try opened.said(6, by: "cy", in: place) == muted)
        #expect(try opened.mutes(place, at: 69) == [Ban(user: "cy", until: 70)])
        #expect(try opened.mutes(place, at: 70) == [])
        #expect(try opened.info(place, at: 69).members.map(\.mute) == [nil, nil, Mute(until: 70)])
        #expect(try opened.info(place, at: 70).members.map(\.mute) == [nil, nil, nil])
        #expect(try opened.said(7, by: "cy", in: place) == "accepted")
    }

    @Test func `is muted still when they come back, and when the backend names the members anew`() throws {
        var opened = try Opened.ruled(circle)
        _ = try opened.change(.mute(["cy"], until: nil), by: "ada", in: circle)
        _ = try opened.change(.leave, by: "cy", in: circle)
        _ = try opened.change(.join, by: "cy", in: circle)
        #expect(try opened.said(1, by: "cy", in: circle) == muted)
        #expect(try opened.info(circle).members.last == Member("cy", mute: Mute()))
        #expect(try opened.apply(group(["ada", "cy"], circle)) == .done)
        #expect(try opened.said(2, by: "cy", in: circle) == muted)
    }

    @Test func `says why in words`() throws {
        var opened = try Opened.ruled(team)
        _ = try opened.change(.mute(["cy"], until: 700), by: "ada")
        let result = try opened.apply(.accept(message: message(1, from: "cy", in: team), senderDevice: "phone"))
        guard case .refused(let problem) = result else { return #expect(Bool(false), "refused") }
        #expect(
            problem.rule
                == "must name a group the sender may write to, got \"team\": the sender is muted there until 700")
    }

    @Test func `is named by an owner, or an admin who does not outrank them`() throws {
        func mute(_ user: UserID, by actor: UserID?, until: Int64? = nil) throws -> String {
            var opened = try Opened.ruled(team)
            let result = try opened.change(.mute([user], until: until), by: actor)
            return made(result) == nil ? refused(result) : "muted"
        }
        #expect(try mute("cy", by: "ada") == "muted")
        #expect(try mute("bo", by: "ada") == "muted")
        #expect(try mute("ada", by: "bo") == "not_allowed action")
        #expect(try mute("bo", by: "bo") == "muted")
        #expect(try mute("bo", by: "cy") == "not_allowed action")
        #expect(try mute("cy", by: "zoe") == "not_a_member conversation.target")
        #expect(try mute("zoe", by: nil) == "muted")
        #expect(try mute("cy", by: "ada", until: 5) == "invalid_field until")
        var opened = try Opened.ruled(team)
        _ = try opened.change(.mute(["cy"], until: 9), by: "ada")
        #expect(try opened.change(.mute(["cy"], until: 9), by: "ada") == .changed([]))
        #expect(try opened.change(.unmute(["bo"]), by: "ada") == .changed([]))
        #expect(refused(try opened.change(.unmute(["cy"]), by: "cy")) == "not_allowed action")
        let asked = StoreCommand.readRestrictions(.mutes, "shop", team, asked: "cy", at: 6)
        #expect(refused(try opened.apply(asked)) == "not_allowed actor")
    }
}

@Suite struct `A conversation in which only owner and admins write` {
    @Test(arguments: places) func `refuses everybody else until it is opened again`(place: ConversationID) throws {
        var opened = try Opened.ruled(place)
        #expect(refused(try opened.change(.setOnlyAdminsWrite(true), by: "cy", in: place)) == "not_allowed action")
        #expect(made(try opened.change(.setOnlyAdminsWrite(true), by: "bo", in: place)) != nil)
        #expect(try opened.change(.setOnlyAdminsWrite(true), by: "bo", in: place) == .changed([]))
        #expect(try opened.info(place).onlyAdminsWrite)
        #expect(try opened.said(1, by: "cy", in: place) == muted)
        #expect(try opened.said(2, by: "cy", in: place, device: nil) == muted)
        #expect(try opened.said(3, by: "ada", in: place) == "accepted")
        #expect(try opened.said(4, by: "bo", in: place) == "accepted")
        if place == hall { #expect(try opened.said(5, by: "zoe", in: place) == muted) }
        _ = try opened.change(.setOnlyAdminsWrite(false), in: place)
        #expect(try opened.said(6, by: "cy", in: place) == "accepted")
    }
}

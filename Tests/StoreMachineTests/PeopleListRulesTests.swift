import StoreModel
import Testing
import TidingsModel

@Suite struct `The list of an app's people` {
    private func people(after: UserID? = nil, limit: Int = 10, of app: AppID = "shop", _ opened: inout Opened) throws
        -> [String]
    {
        guard case .people(let people, let hasMore) = try opened.apply(.readPeople(app, after: after, limit: limit))
        else { return ["no list"] }
        return people.map { person in
            "\(person.id) \(person.devices) \(person.unread)\(person.ban != nil ? " banned" : "")"
        } + (hasMore ? ["…"] : [])
    }

    @Test func `tells of who has messages, devices, a profile or a ban`() throws {
        var opened = Opened()
        #expect(try self.people(&opened) == [])
        _ = try opened.send(message(1))
        #expect(try self.people(&opened) == ["ada 0 0", "bo 0 1"])
        _ = try opened.apply(
            .signIn(DeviceKey(user: UserKey(app: "shop", user: "cy"), device: "pad"), platform: "x", at: 1))
        _ = try opened.apply(.changeAccount(UserKey(app: "shop", user: "dee"), .ban(), at: 1))
        _ = try opened.apply(
            .setProfiles("shop", [UserProfile("eve", Profile(name: "Eve", portrait: nil))], isOwn: false))
        #expect(try self.people(&opened) == ["ada 0 0", "bo 0 1", "cy 1 0", "dee 0 0 banned", "eve 0 0"])
        #expect(try self.people(of: "club", &opened) == [])
    }

    @Test func `comes in pages`() throws {
        var opened = Opened()
        for user in ["c", "a", "b"] as [UserID] {
            _ = try opened.apply(.changeAccount(UserKey(app: "shop", user: user), .ban(), at: 1))
        }
        #expect(try self.people(limit: 2, &opened) == ["a 0 0 banned", "b 0 0 banned", "…"])
        #expect(try self.people(after: "b", limit: 2, &opened) == ["c 0 0 banned"])
        #expect(try self.people(after: "aa", limit: 2, &opened) == ["b 0 0 banned", "c 0 0 banned"])
        #expect(try self.people(limit: 0, &opened) == ["…"])
    }

    @Test func `leaves out who was named by others alone, and who has nothing any more`() throws {
        var opened = Opened()
        let conversation = ConversationRecord(
            app: "shop", conversation: team, name: "Team", members: ["zoe"])
        _ = try opened.apply(.putConversation(conversation))
        #expect(try self.people(&opened) == [])
        _ = try opened.apply(.signIn(phone, platform: "ios", at: 1))
        #expect(try self.people(&opened) == ["bo 1 0"])
        _ = try opened.apply(.signOut(phone, at: 2))
        #expect(try self.people(&opened) == [])
    }
}

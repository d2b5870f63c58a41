import StoreModel
import Testing
import TidingsModel

@Suite struct `The list of an app's conversations` {
    private func conversations(
        after: ConversationID? = nil, limit: Int = 10, of app: AppID = "shop", _ opened: inout Opened
    ) throws -> [String] {
        let question = StoreCommand.readConversations(app, after: after, limit: limit)
        guard case .conversations(let found, let hasMore) = try opened.apply(question) else { return ["no list"] }
        return found.map { "\($0.id) \($0.name) \($0.members)\($0.isDissolved ? " dissolved" : "")" }
            + (hasMore ? ["…"] : [])
    }

    private static func put(_ type: ConversationType, _ id: String, _ members: [UserID] = ["ada", "bo"]) -> StoreCommand
    {
        .putConversation(
            ConversationRecord(
                app: "shop", conversation: ConversationID(type: type, target: id), name: "The \(id)", members: members))
    }

    @Test func `tells of groups, discussions and chat rooms, by kind and id, and of no others`() throws {
        var opened = Opened()
        #expect(try self.conversations(&opened) == [])
        for command in [
            Self.put(.group, "b"), Self.put(.chatRoom, "z", []), Self.put(.discussion, "c"),
            Self.put(.group, "a", ["ada"]),
        ] {
            #expect(try opened.apply(command) == .done)
        }
        _ = try opened.send(message(1))
        let ids = [(ConversationType.chatRoom, "z", 0), (.discussion, "c", 2), (.group, "a", 1), (.group, "b", 2)]
        let wanted = ids.map { "\(ConversationID(type: $0.0, target: $0.1)) The \($0.1) \($0.2)" }
        #expect(try self.conversations(&opened) == wanted)
        #expect(try self.conversations(of: "club", &opened) == [])
    }

    @Test func `comes in pages`() throws {
        var opened = Opened()
        for id in ["c", "a", "b"] { _ = try opened.apply(Self.put(.group, id)) }
        func group(_ id: String) -> ConversationID { ConversationID(type: .group, target: id) }
        let all = ["a", "b", "c"].map { "\(group($0)) The \($0) 2" }
        #expect(try self.conversations(limit: 2, &opened) == [all[0], all[1], "…"])
        #expect(try self.conversations(after: group("b"), limit: 2, &opened) == [all[2]])
        #expect(try self.conversations(after: group("aa"), limit: 2, &opened) == [all[1], all[2]])
        #expect(try self.conversations(after: ConversationID(type: .discussion, target: "z"), limit: 9, &opened) == all)
        #expect(try self.conversations(limit: 0, &opened) == ["…"])
    }

    @Test func `says what was dissolved`() throws {
        var opened = Opened()
        _ = try opened.apply(Self.put(.group, "a"))
        let place = ConversationID(type: .group, target: "a")
        _ = try opened.apply(
            .change(ConversationOperation(app: "shop", conversation: place, action: .dissolve, actor: nil, at: 1)))
        #expect(try self.conversations(&opened) == ["\(place) The a 2 dissolved"])
    }
}

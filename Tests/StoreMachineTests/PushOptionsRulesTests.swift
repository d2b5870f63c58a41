import StoreModel
import Testing
import TidingsModel

@Suite struct `Options of notifications in a store` {
    private static let desk = PushOptions(title: "Desk", sound: "desk.caf")

    private static func put(_ push: PushOptions?) -> StoreCommand {
        .putConversation(
            ConversationRecord(
                app: "shop", conversation: team, name: "Team", portrait: nil, members: [Member("ada"), Member("bo")],
                push: push))
    }

    private static func accepted(_ opened: inout Opened, _ message: Message, app: PushOptions? = nil) throws
        -> PushOptions?
    {
        let result = try opened.apply(.accept(message: message, senderDevice: nil, push: app))
        guard case .accepted(_, _, let push) = result else { return nil }
        guard case .message(let last)? = opened.last(of: bo) else { return nil }
        #expect(last.push == push?.options)
        return push?.options
    }

    @Test func `are the message's, else the conversation's, else the app's`() throws {
        var opened = Opened()
        _ = try opened.apply(Self.put(Self.desk))
        var said = message(1, in: team)
        #expect(try Self.accepted(&opened, said) == Self.desk)
        said = message(2, in: team)
        said.push = PushOptions(sound: "own.caf")
        let app = PushOptions(sound: "app.caf", category: "APP")
        #expect(
            try Self.accepted(&opened, said, app: app)
                == PushOptions(title: "Desk", sound: "own.caf", category: "APP"))
        #expect(try Self.accepted(&opened, message(3), app: app) == app)
        #expect(try Self.accepted(&opened, message(4)) == nil)
    }

    @Test func `of a conversation are replaced as its name is, and known to the backend`() throws {
        var opened = Opened()
        _ = try opened.apply(Self.put(Self.desk))
        guard case .conversation(let info) = try opened.apply(.readConversation("shop", team, asked: nil)) else {
            return #expect(Bool(false))
        }
        #expect(info.push == Self.desk)
        // A member's change leaves them.
        _ = try opened.change(.rename("Crew"))
        #expect(try Self.accepted(&opened, message(1, in: team)) == Self.desk)
        _ = try opened.apply(Self.put(nil))
        #expect(try Self.accepted(&opened, message(2, in: team)) == nil)
    }

    @Test func `that break a rule are refused, and nothing is changed`() throws {
        var opened = Opened()
        _ = try opened.apply(Self.put(Self.desk))
        #expect(
            refused(try opened.apply(Self.put(PushOptions(custom: JSONObject([("aps", 1)])))))
                == "invalid_field push.custom.aps")
        #expect(try Self.accepted(&opened, message(1, in: team)) == Self.desk)
    }

    @Test func `that were written for what a message said go with it`() {
        var said = message(1)
        said.pushText = "psst"
        said.push = PushOptions(title: "Order", sound: "a.caf", custom: JSONObject([("order", 7)]))
        let edited = said.revised(content: "new", isGone: false)
        #expect(edited.pushText == nil)
        #expect(edited.push == PushOptions(sound: "a.caf"))
        #expect(said.revised(content: nil, isGone: true).push == nil)
        #expect(said.revised(content: nil, isGone: false).push == said.push)
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `The text of a push` {
    /// Bob is in the team, his phone is gone; the text of the push he gets.
    private static func team(
        named name: String, members: [Member] = [Member("alice"), Member("bob")], _ happens: (inout ServerBench) -> Void
    ) throws -> (text: PushInfo.Text?, alert: JSONValue?, bytes: Int) {
        var bench = ServerBench.gone()
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: .group("t1"), name: name, portrait: nil, members: members)))
        )
        happens(&bench)
        let request = try #require(bench.pushes.first?.request)
        let payload = try JSONValue(parsing: request.payload)
        return (PushInfo(userInfo: payload)?.text, payload["aps"]?["alert"], request.payload.count)
    }

    @Test func `has the group's name for a title, which its alert does not tell`() throws {
        let push = try Self.team(named: "The team") { $0.say("hello", to: .group("t1")) }
        #expect(push.text == .init(title: "The team", body: "hello"))
        #expect(push.alert == ["body": "You have a new message"])
        let nameless = try Self.team(named: "") { $0.say("hello", to: .group("t1")) }
        #expect(nameless.text == .init(body: "hello"))
    }

    private static func call(_ user: UserID, _ name: String) -> ServerEvent {
        .api(APIRequestID(7), .setProfiles(ServerBench.app, [UserProfile(user, Profile(name: name))]))
    }

    @Test func `is titled with what its sender is called`() throws {
        var bench = ServerBench.gone()
        bench.run(Self.call("alice", "Alice"))
        bench.say("hello", to: .direct("bob"))
        let payload = try JSONValue(parsing: bench.pushes[0].request.payload)
        #expect(PushInfo(userInfo: payload)?.text == .init(title: "Alice", body: "hello"))
        #expect(payload["aps"]?["alert"] == ["body": "You have a new message"])
    }

    @Test func `names its sender in a group, by the nickname there if there is one`() throws {
        let push = try Self.team(named: "The team") { bench in
            bench.run(Self.call("alice", "Alice"))
            bench.say("hello", to: .group("t1"))
        }
        #expect(push.text == .init(title: "The team", sender: "Alice", body: "hello"))
        let nicknamed = try Self.team(
            named: "The team", members: [Member("alice", nickname: "Boss"), Member("bob")]
        ) { bench in
            bench.run(Self.call("alice", "Alice"))
            bench.say("hello", to: .group("t1"))
        }
        #expect(nicknamed.text == .init(title: "The team", sender: "Boss", body: "hello"))
    }

    @Test func `names its sender after a crash, too, and while the person was loading`() throws {
        let crashed = try Self.team(named: "The team") { bench in
            bench.run(Self.call("alice", "Alice"))
            bench.say("hello", to: .group("t1"))
            bench.crash()
            bench.pass(30_000)
        }
        #expect(crashed.text == .init(title: "The team", sender: "Alice", body: "hello"))
        let loading = try Self.team(named: "The team") { bench in
            bench.run(Self.call("alice", "Alice"))
            bench.pass(120_000)
            bench.isStoreHeld = true
            bench.say("hello", to: .group("t1"))
            bench.releaseStore()
        }
        #expect(loading.text == .init(title: "The team", sender: "Alice", body: "hello"))
    }

    @Test func `has the group's name after a crash, too, and while the person was loading`() throws {
        let crashed = try Self.team(named: "The team") { bench in
            bench.say("hello", to: .group("t1"))
            bench.crash()
            bench.pass(30_000)
        }
        #expect(crashed.text == .init(title: "The team", body: "hello"))
        let loading = try Self.team(named: "The team") { bench in
            bench.pass(120_000)
            bench.isStoreHeld = true
            bench.say("hello", to: .group("t1"))
            bench.releaseStore()
        }
        #expect(loading.text == .init(title: "The team", body: "hello"))
    }

    @Test func `has the group's new name if it was renamed while the push waited`() throws {
        let push = try Self.team(named: "The team") { bench in
            bench.say("hello", to: .group("t1"))
            bench.answerPush(.unknownOutcome("lost"))
            bench.run(
                .api(
                    APIRequestID(2),
                    .request(ServerBench.app, actor: nil, .change(.group("t1"), .rename("Crew")))))
            bench.pass(60_000)
        }
        #expect(push.text == .init(title: "Crew", body: "hello"))
    }

    @Test func `has room for a name of any characters`() throws {
        // What takes most bytes in JSON.
        let name = String(repeating: "\"", count: 256)
        let nickname = String(repeating: "\"\u{301}", count: 64)
        let push = try Self.team(named: name, members: [Member("alice", nickname: nickname), Member("bob")]) { bench in
            bench.say(String(repeating: "long ", count: 6_000), to: .group("t1"))
        }
        #expect(push.bytes <= 4_096)
        #expect(push.text?.title == .text(name))
        #expect(push.text?.sender == nickname)
    }
}

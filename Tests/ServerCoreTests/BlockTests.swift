import ServerCore
import StoreModel
import Testing
import TidingsModel

/// Bob has blocked Alice. Carol has made a team of all three.
@Suite struct `In a group, somebody who is blocked` {
    static let team = ConversationID.group("team")

    static func bench() -> ServerBench {
        var bench = ServerBench()
        bench.run(
            .api(
                APIRequestID(1),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: Self.team, name: "Team",
                        members: ["alice", "bob", "carol"]))))
        bench.run(.api(APIRequestID(2), .request(ServerBench.app, actor: "bob", .setBlocked("alice", true))))
        return bench
    }

    /// The messages written to connections.
    private func messages(_ bench: ServerBench) -> [Message] {
        bench.frames.compactMap { frame in
            guard case .entry(let entry) = frame, case .message(let message) = entry.body else { return nil }
            return message
        }
    }

    @Test func `is written hushed to the blocker's connection, and whole to everybody else's`() throws {
        var bench = Self.bench()
        bench.connect("bob", after: 1)
        bench.connect("carol")
        bench.say(to: Self.team, mentions: .everyone)
        let whole = try #require(bench.stored(bench.messages[0]))
        #expect(self.messages(bench) == [whole.hushed, whole])
        // Nobody settles it.
        #expect(
            bench.pass(60_000).ends == [
                "store end m1 bob/phone blocked", "store end m1 carol/phone no_token",
            ])
    }

    @Test func `is pushed to the others alone, and the blocker's leg ends blocked`() {
        var bench = Self.bench()
        bench.goneDevice("bob")
        bench.goneDevice("carol")
        let lines = bench.say(to: Self.team, mentions: .everyone)
        #expect(lines.ends == ["store end m1 bob/phone blocked"])
        #expect(lines.outside == ["reply accepted m1", "push m1 to carol/phone badge 1@1"])
        // Nor does it stand in the number of the next push.
        bench.acceptPush()
        #expect(bench.say(from: "carol", to: .direct("bob")).outside.last == "push m2 to bob/phone badge 1@3")
    }

    @Test func `is neither pushed by a server that starts anew before it has decided`() {
        var bench = Self.bench()
        bench.goneDevice("bob")
        bench.isStoreHeld = true
        bench.say(to: Self.team, mentions: .everyone)
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        let lines = bench.crash() + bench.pass(60_000)
        #expect(lines.ends == ["store end m1 bob/phone blocked"])
        #expect(bench.pushes.isEmpty)
    }

    @Test func `is pushed as anybody's where the backend ignores the block, and to the blocker alone as well`() {
        var bench = Self.bench()
        bench.goneDevice("bob")
        let group = bench.draft("hi", Self.team)
        let direct = bench.draft("hi", .direct("bob"))
        func send(_ draft: MessageDraft, _ ignoresBlocks: Bool) -> [String] {
            bench.run(
                .api(APIRequestID(3), .send(ServerBench.key("alice"), draft, past: ignoresBlocks ? .blocks : []))
            ).outside
        }
        #expect(send(group, true) == ["reply accepted m1", "push m1 to bob/phone badge 1@2", "count no_device"])
        bench.acceptPush()
        #expect(send(direct, false) == ["reply refused blocked conversation.target"])
        #expect(send(direct, true) == ["reply accepted m3", "push m3 to bob/phone badge 2@3"])
    }

    @Test func `recalls nothing from a phone that was never told of it by a notification`() {
        var bench = Self.bench()
        let bob = bench.connect("bob", after: 1).session
        bench.run(.frame(bob, .registerPush(ServerBench.registration("bob"))))
        bench.say(to: Self.team)
        bench.run(.frame(bob, .ack(.init(stored: 2, settled: [.init(upTo: 2, disposition: .shown)]))))
        bench.run(.frame(bob, .runState(.suspending)))
        bench.run(.disconnected(bob))
        let recall = ClientRequest.recall(bench.messages[0])
        bench.run(.api(APIRequestID(3), .request(ServerBench.app, actor: "alice", recall)))
        bench.crash()
        bench.pass(60_000)
        #expect(bench.pushes.isEmpty)
    }

    @Test func `does not type for the blocker`() {
        var bench = Self.bench()
        let alice = bench.connect("alice").session
        bench.connect("bob", after: 1)
        bench.connect("carol")
        #expect(
            bench.run(.frame(alice, .typing(Self.team, isTyping: true))).outside == [
                "s3 ← signal typing(GRP:team, alice, isTyping: true)"
            ])
    }

    @Test func `mentions no blocker in a chat room`() {
        var bench = Self.bench()
        let hall = ConversationID.room("hall")
        bench.run(
            .api(
                APIRequestID(3),
                .putConversation(
                    ConversationRecord(
                        app: ServerBench.app, conversation: hall, name: "Hall", members: ["alice"]))))
        for user: UserID in ["bob", "carol"] {
            bench.ask(bench.connect(user, after: 1).session, 1, .enterRoom(hall, history: 0))
        }
        bench.frames = []
        bench.say(to: hall, mentions: .everyone)
        let mentions = bench.frames.compactMap { frame -> Mentions? in
            if case .signal(.room(let message)) = frame { message.mentions } else { nil }
        }
        #expect(mentions == [.none, .everyone])
    }
}

import APNsModel
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A conversation that the backend marks as read` {
    private static func read(
        _ conversation: ConversationID = .direct("alice"), upTo message: MessageID? = nil, of user: UserID = "bob"
    ) -> APICommand {
        .markRead(ServerBench.key(user), conversation, upTo: message)
    }

    @discardableResult
    private static func run(_ command: APICommand, in bench: inout ServerBench) -> [String] {
        bench.run(.api(APIRequestID(5), command))
    }

    @Test func `is read on the person's devices, too`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        #expect(
            Self.run(Self.read(), in: &bench) == [
                "store unread? bob PR:alice", "store read bob PR:alice 2", "reply done",
                "s1 ← entry 3 read PR:alice 2",
            ])
        #expect(bench.unread(of: "bob") == 0)
    }

    @Test func `is read once, however often all of it is`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        Self.run(Self.read(), in: &bench)
        for _ in 0..<2 {
            #expect(
                Self.run(Self.read(), in: &bench) == [
                    "store unread? bob PR:alice", "store read bob PR:alice 1", "reply done",
                ])
        }
        #expect(bench.store.dump().people.first { $0.record.key.user == "bob" }?.record.head == 2)
    }

    @Test func `is read where nothing counts, and a message is on its way all the same`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        Self.run(Self.read(), in: &bench)
        bench.report(.paused(LaneOutage(.connection, reason: "refused")))
        bench.say(to: .direct("bob"), flags: [.stored, .notified])
        #expect(Self.run(Self.read(), in: &bench).contains("store end m2 bob/phone read_elsewhere"))
    }

    @Test func `is read up to the message that is named`() {
        var bench = ServerBench()
        bench.connect("bob")
        for _ in 0..<3 { bench.say(to: .direct("bob")) }
        #expect(
            Self.run(Self.read(upTo: bench.messages[1]), in: &bench) == [
                "store trace m2", "store read bob PR:alice 2", "reply done", "s1 ← entry 4 read PR:alice 2",
            ])
        // What is read stays read.
        #expect(
            Self.run(Self.read(upTo: bench.messages[0]), in: &bench) == [
                "store trace m1", "store read bob PR:alice 1", "reply done",
            ])
    }

    @Test func `ends what waits for a phone that is away, and its badge falls`() {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        var bench = ServerBench.gone(settings)
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.report(.paused(LaneOutage(.connection, reason: "refused")))
        bench.say(to: .direct("bob"))
        let lines = Self.run(Self.read(), in: &bench)
        #expect(lines.contains("store end m2 bob/phone read_elsewhere"))
        bench.report(.usable)
        bench.pass(60_000)
        #expect(bench.pushes.last?.request.pushType == .background)
        #expect(bench.payload.flatMap { BadgeInfo(userInfo: $0) }?.badge == 0)
    }

    @Test func `is read by somebody who was long put aside`() {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        var bench = ServerBench.gone(settings)
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.pass(3_700_000)
        #expect(
            Self.run(Self.read(), in: &bench).prefix(3) == [
                "store load bob", "store unread? bob PR:alice", "store read bob PR:alice 1",
            ])
        bench.pass(60_000)
        #expect(bench.pushes.count == 1)
    }

    @Test func `must have a message, and the one that is named`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        #expect(Self.run(Self.read(.direct("carol")), in: &bench).last == "reply refused invalid_field conversation")
        // Of another conversation, of nobody, and of somebody else's log.
        let message = bench.messages[0]
        for command in [
            Self.read(.direct("carol"), upTo: message), Self.read(upTo: MessageID(rawValue: 5)),
            Self.read(.direct("bob"), upTo: message, of: "carol"),
        ] {
            #expect(Self.run(command, in: &bench).last == "reply refused unknown_message up_to")
        }
    }

    @Test func `is done once under an idempotency key, and answered twice`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")
        let command = APICommand.once(key, fingerprint: [1], Self.read(upTo: bench.messages[0]))
        #expect(
            Self.run(command, in: &bench) == [
                "store kept? k", "store trace m1", "store once k read bob PR:alice 1", "reply done",
                "s1 ← entry 2 read PR:alice 1",
            ])
        bench.say(to: .direct("bob"))
        #expect(Self.run(command, in: &bench) == ["store kept? k", "reply done"])
    }

    @Test func `tells who watches the reader how far they are`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.connect("bob")
        bench.ask(alice, 1, .watch(["bob"]))
        bench.say(to: .direct("bob"))
        let lines = Self.run(Self.read(), in: &bench)
        #expect(lines.last?.hasPrefix("s1 ← signal receipt(PR:bob, bob, ") == true, "\(lines)")
    }
}

import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `Who watches somebody` {
    static let withBob = ConversationID(type: .direct, target: "bob")

    /// Alice is in the foreground and watches Bob, who is not there yet.
    static func bench() -> (bench: ServerBench, alice: SessionID) {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        bench.ask(alice, 1, .watch(["bob"]))
        bench.frames = []
        return (bench, alice)
    }

    @Test func `learns whether people are there, sorted and each once`() {
        var bench = ServerBench()
        let alice = bench.connect("alice").session
        _ = bench.connect("bob")
        bench.ask(alice, 1, .watch(["carol", "bob", "carol"]))
        #expect(
            bench.frames.last
                == .answer(
                    1, .presence([Presence(id: "bob", isOnline: true), Presence(id: "carol", isOnline: false)])))
    }

    @Test func `hears when somebody comes, and when they go and since when`() {
        var (bench, _) = Self.bench()
        let bob = bench.connect("bob").session
        #expect(bench.frames.contains(.signal(.presence(Presence(id: "bob", isOnline: true)))))
        bench.frames = []
        bench.run(.frame(bob, .runState(.background(remainingMilliseconds: 25_000))))
        #expect(
            bench.frames == [
                .signal(.presence(Presence(id: "bob", isOnline: false, lastSeenAt: bench.now.wall)))
            ])
    }

    @Test func `hears nothing of a phone that is asked for a sign of life, until it does not give one`() {
        var (bench, alice) = Self.bench()
        let bob = bench.connect("bob").session
        func presences() -> [Presence] {
            defer { bench.frames = [] }
            return bench.frames.compactMap { if case .signal(.presence(let presence)) = $0 { presence } else { nil } }
        }
        _ = presences()
        let probe = ServerBench.plain.foregroundAckDeadline
        bench.run(.frame(alice, .send(bench.draft("one", Self.withBob))))
        #expect(bench.pass(probe).contains { $0.hasPrefix("probe") })
        bench.run(.frame(bob, .ping(1)))
        #expect(presences() == [])
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: .shown)]))))
        bench.run(.frame(alice, .send(bench.draft("two", Self.withBob))))
        #expect(bench.pass(probe).contains { $0.hasPrefix("probe") })
        #expect(presences() == [])
        bench.pass(ServerBench.plain.probeTime)
        #expect(presences() == [Presence(id: "bob", isOnline: false, lastSeenAt: bench.now.wall)])
    }

    @Test func `hears nothing of a second device, nor of one that leaves while another is in the foreground`() {
        var (bench, _) = Self.bench()
        _ = bench.connect("bob")
        bench.frames = []
        let pad = bench.connect("bob", "pad").session
        bench.run(.disconnected(pad))
        #expect(!bench.frames.contains { if case .signal = $0 { true } else { false } })
    }

    @Test func `hears nothing any more once they have said so, or their connection has ended`() {
        var (bench, alice) = Self.bench()
        #expect(bench.ask(alice, 2, .unwatch(["bob"])) == ["s1 ← answer 2 done(0)"])
        let bob = bench.connect("bob").session
        #expect(!bench.frames.contains { if case .signal = $0 { true } else { false } })
        bench.ask(alice, 3, .watch(["bob"]))
        bench.run(.disconnected(alice))
        bench.frames = []
        bench.run(.frame(bob, .runState(.background(remainingMilliseconds: 25_000))))
        #expect(bench.frames == [])
    }

    @Test func `never sees somebody who has blocked them`() {
        var bench = ServerBench()
        bench.script = [.noted(.blocked("alice", true), deliveries: [Delivery(user: "bob", position: 1, unread: 0)])]
        let bob = bench.connect("bob").session
        bench.ask(bob, 1, .setBlocked("alice", true))
        let alice = bench.connect("alice").session
        bench.ask(alice, 1, .watch(["bob"]))
        #expect(bench.frames.last == .answer(1, .presence([Presence(id: "bob", isOnline: false)])))
        bench.frames = []
        bench.run(.frame(bob, .runState(.background(remainingMilliseconds: 25_000))))
        #expect(bench.frames == [])
    }

    @Test func `hears that what they wrote has arrived, the newest at once`() {
        var (bench, alice) = Self.bench()
        let bob = bench.connect("bob").session
        bench.run(.frame(alice, .send(bench.draft("one", Self.withBob))))
        bench.run(.frame(alice, .send(bench.draft("two", Self.withBob))))
        bench.frames = []
        bench.run(.frame(bob, .ack(.init(stored: 2, settled: [.init(upTo: 2, disposition: .shown)]))))
        #expect(
            bench.frames == [.signal(.receipt(Self.withBob, "bob", .delivered, upTo: bench.messages[1]))])
    }

    @Test func `hears up to which message it was read`() {
        var (bench, alice) = Self.bench()
        let bob = bench.connect("bob").session
        bench.run(.frame(alice, .send(bench.draft("one", Self.withBob))))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: .shown)]))))
        bench.frames = []
        bench.run(.frame(bob, .markRead(ConversationID(type: .direct, target: "alice"), upTo: 1)))
        #expect(
            bench.frames.contains(.signal(.receipt(Self.withBob, "bob", .read, upTo: bench.messages[0]))))
    }

    @Test func `is told nothing of what others wrote`() {
        var (bench, _) = Self.bench()
        let carol = bench.connect("carol").session
        let bob = bench.connect("bob").session
        bench.run(.frame(carol, .send(bench.draft("one", Self.withBob))))
        bench.frames = []
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: [.init(upTo: 1, disposition: .shown)]))))
        bench.run(.frame(bob, .markRead(ConversationID(type: .direct, target: "carol"), upTo: 1)))
        #expect(!bench.frames.contains { if case .signal = $0 { true } else { false } })
    }

    @Test func `watches at most five hundred people, on a connection`() {
        var (bench, alice) = Self.bench()
        for hundred in 0..<2 {
            bench.ask(alice, 2, .watch((0..<200).map { UserID("u\(hundred)-\($0)") }))
        }
        let lines = bench.ask(alice, 3, .watch((0..<100).map { UserID("v\($0)") }))
        #expect(lines.first?.hasPrefix("s1 ← answer 3 refused(not_allowed") == true)
        #expect(
            bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "alice", .watch(["bob"])))).first?
                .hasPrefix("reply answer refused(not_allowed") == true)
    }

    @Test func `asks for the receipts of a message by its id`() {
        var (bench, alice) = Self.bench()
        bench.run(.frame(alice, .send(bench.draft("one", Self.withBob))))
        let receipts = MessageReceipts(id: bench.messages[0], recipients: 1, delivered: ["bob"], read: [])
        bench.script = [.receipts(receipts)]
        bench.frames = []
        bench.ask(alice, 2, .receipts(bench.messages[0]))
        #expect(bench.frames == [.answer(2, .receipts(receipts))])
    }
}

import ServerCore
import StoreModel
import Testing
import TidingsModel

/// An operator of an account writes as it: the core knows who asks, the store who may.
@Suite struct `Somebody who writes as an account` {
    private static let help = ConversationID(type: .customerService, target: "help")

    /// With bob's phone as the first connection, and olga's as the second.
    private static func bench(_ operators: [UserID] = ["olga"]) -> ServerBench {
        var bench = ServerBench()
        bench.run(
            .api(APIRequestID(1), .putAccount(ServerBench.app, ServiceAccount(Self.help, operators: operators))))
        bench.connect("bob")
        bench.connect("olga")
        bench.frames = []
        return bench
    }

    private static let sending = ServerEvent.frame(
        2,
        .send(
            MessageDraft(
                clientMessageID: "c-1", conversation: ConversationID(type: .customerService, target: "bob"),
                objectName: .text, content: #"{"content":"hello"}"#, account: "help")))

    @Test func `is told that it is on disk, at no place of their own log, and the recipient gets it`() {
        var bench = Self.bench()
        #expect(
            bench.run(Self.sending).outside == [
                "s2 ← accepted c-1 m1 at 0", "note olga sent m1 as CS:help (s2)", "s1 ← entry 1 m1",
            ])
        #expect(bench.run(Self.sending).outside == ["s2 ← accepted c-1 m1 at 0"])
    }

    @Test func `is not named in anything the recipient's phone gets`() {
        var bench = Self.bench()
        bench.run(Self.sending)
        let messages = bench.frames.compactMap { frame -> Message? in
            guard case .entry(let entry) = frame, case .message(let message) = entry.body else { return nil }
            return message
        }
        #expect(messages.map(\.sender) == ["help"])
        #expect(messages.map { $0.conversation(seenBy: "bob") } == [Self.help])
        #expect(!bench.frames.contains { "\($0)".contains("olga") })
        #expect(!bench.pushes.contains { "\($0.request)".contains("olga") })
    }

    @Test func `is refused what they do not operate, and nothing is stored`() {
        var bench = Self.bench(["somebody"])
        #expect(
            bench.run(Self.sending).outside == [
                "s2 ← refused c-1 not_allowed: account must be an account of kind CS that the sender operates, got \"help\"",
                "note olga was refused not_allowed as CS:help (s2)",
            ])
        bench.run(.api(APIRequestID(2), .trace(ServerBench.app, bench.messages[0])))
        #expect(bench.replies.last == .trace(nil))
    }

    @Test func `reaches those alone who follow it, where the account says so`() {
        var bench = Self.bench()
        let followed = ServiceAccount(Self.help, operators: ["olga"], audience: .followers)
        bench.run(.api(APIRequestID(2), .putAccount(ServerBench.app, followed)))
        let refusal =
            "not_a_follower: conversation.target must name a follower of the account \"help\", \"bob\" is none"
        #expect(bench.run(Self.sending).outside == ["s2 ← refused c-1 \(refusal)"])
        #expect(
            bench.ask(1, 1, .setFollowing(Self.help, true)) == [
                "store following bob CS:help true", "s1 ← answer 1 done(0)",
            ])
        #expect(bench.ask(1, 2, .following) == ["store following? bob", "s1 ← answer 2 following([CS:help])"])
        #expect(
            bench.run(Self.sending).outside == [
                "s2 ← accepted c-1 m2 at 0", "note olga sent m2 as CS:help (s2)", "s1 ← entry 1 m2",
            ])
        let followers = bench.read(.readFollowers(ServerBench.app, Self.help, after: nil, limit: 9))
        #expect(followers == .followers(["bob"], hasMore: false))
        #expect(
            bench.ask(1, 3, .setFollowing(.direct("olga"), true)) == [
                "s1 ← answer 3 refused(invalid_field: account.type must be CS, SYS, MC, MP or PH, got PR)"
            ])
    }

    @Test func `edits and recalls what was sent as the account, and that is noted`() {
        var bench = Self.bench()
        bench.run(Self.sending)
        bench.frames = []
        let sent = bench.messages[0]
        #expect(
            bench.ask(2, 1, .edit(sent, content: "{}")).outside == [
                "s2 ← answer 1 done(0)", "note olga edited m1 as CS:help (s2)", "s1 ← entry 2 edit m1",
            ])
        #expect(
            bench.ask(2, 2, .recall(sent)).outside == [
                "s2 ← answer 2 done(0)", "note olga recalled m1 as CS:help (s2)", "s1 ← entry 3 recall m1",
            ])
        #expect(bench.ask(2, 3, .recall(sent)).outside == ["s2 ← answer 3 done(0)"])
        let recalls = bench.frames.compactMap { frame -> Recall? in
            guard case .entry(let entry) = frame, case .recall(let recall) = entry.body else { return nil }
            return recall
        }
        #expect(recalls.map(\.sender) == ["help"])
        #expect(!bench.frames.contains { "\($0)".contains("olga") })
    }

    @Test func `edits what was sent to a fellow operator, and is noted all the same`() {
        var bench = Self.bench(["olga", "bob"])
        bench.run(Self.sending)
        let lines = bench.ask(1, 1, .edit(bench.messages[0], content: "{}")).outside
        #expect(lines == ["s1 ← answer 1 done(2)", "note bob edited m1 as CS:help (s1)", "s1 ← entry 2 edit m1"])
    }

    @Test func `is noted also when their connection has ended meanwhile`() {
        var bench = Self.bench()
        bench.isStoreHeld = true
        bench.run(Self.sending)
        bench.run(.disconnected(2))
        #expect(bench.releaseStore().outside == ["note olga sent m1 as CS:help (s2)", "s1 ← entry 1 m1"])
    }

    @Test func `is named by the trace alone`() {
        var bench = Self.bench()
        bench.run(Self.sending)
        bench.run(.api(APIRequestID(2), .trace(ServerBench.app, bench.messages[0])))
        guard case .trace(let trace?) = bench.replies.last else { return #expect(Bool(false), "there is one") }
        #expect(trace.author == "olga")
        #expect(trace.message?.sender == "help")
        #expect(trace.deliveries.map(\.user) == ["bob", "help"])
    }
}

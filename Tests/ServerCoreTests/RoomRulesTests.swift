import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

extension SessionID: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: UInt64) { self.init(value) }
}

/// `s1` is alice, who owns the room, `s2` and `s3` are bob's two devices.
@Suite struct `Somebody in a chat room` {
    private static let room = ConversationID.room("lobby")

    private static func bench(_ join: ConversationPolicy.Joining = .anyone) -> ServerBench {
        var settings = ServerBench.plain
        settings.chatRoomPolicy.join = join
        var bench = ServerBench(settings: settings)
        bench.connect("alice")
        bench.connect("bob")
        bench.connect("bob", "tablet")
        let members: [UserID] = join == .anyone ? [] : ["bob"]
        bench.ask(1, 1, .change(Self.room, .create(name: "Lobby", portrait: nil, members: members)))
        for session: SessionID in [1, 2, 3] { bench.ask(session, 2, .enterRoom(Self.room, history: 0)) }
        bench.frames = []
        return bench
    }

    /// Who hears what alice says there.
    private static func hearers(_ bench: inout ServerBench) -> [String] {
        let lines = bench.run(.frame(1, .send(bench.draft("hi", Self.room))))
        return lines.filter { $0.contains("signal") }.map { String($0.prefix(2)) }
    }

    private static func change(_ action: ConversationAction) -> ClientRequest { .change(Self.room, action) }

    @Test func `who is banned is put out at once, and neither writes nor comes back until the ban is lifted`() {
        var bench = Self.bench()
        #expect(Self.hearers(&bench) == ["s2", "s3"])
        #expect(
            bench.ask(1, 3, Self.change(.ban(["bob"], until: nil))) == [
                "store ban CHRM:lobby", "s1 ← answer 3 done(0)", "s2 ← problem banned", "s3 ← problem banned",
            ])
        #expect(Self.hearers(&bench) == [])
        bench.frames = []
        #expect(bench.run(.frame(2, .send(bench.draft("ho", Self.room)))).first == "store accept m3")
        bench.ask(2, 3, .enterRoom(Self.room, history: 9))
        bench.ask(2, 4, .history(Self.room, before: nil, limit: 9))
        bench.ask(2, 5, Self.change(.join))
        #expect(bench.frames.compactMap(\.refusal) == [.banned, .banned, .banned, .banned])
        #expect(bench.ask(1, 4, Self.change(.unban(["bob"]))).outside == ["s1 ← answer 4 done(0)"])
        bench.ask(2, 6, .enterRoom(Self.room, history: 0))
        #expect(Self.hearers(&bench) == ["s2"])
    }

    @Test func `comes back when the ban ends`() {
        var bench = Self.bench()
        bench.ask(1, 3, Self.change(.ban(["bob"], until: bench.now.wall + 1_000)))
        bench.pass(999)
        bench.frames = []
        bench.ask(2, 3, .enterRoom(Self.room, history: 0))
        bench.pass(1)
        bench.ask(2, 4, .enterRoom(Self.room, history: 0))
        #expect(bench.frames.map(\.refusal) == [.banned, nil])
    }

    @Test func `who is removed is put out, and writes only once they are in again`() {
        var bench = Self.bench()
        #expect(
            bench.ask(1, 3, Self.change(.remove(["bob"]))) == [
                "store remove CHRM:lobby", "s1 ← answer 3 done(0)", "s2 ← problem not_a_member",
                "s3 ← problem not_a_member",
            ])
        bench.frames = []
        bench.run(.frame(2, .send(bench.draft("ho", Self.room))))
        bench.ask(2, 3, .enterRoom(Self.room, history: 0))
        bench.run(.frame(2, .send(bench.draft("ho", Self.room))))
        #expect(bench.frames.compactMap(\.refusal) == [.notAMember])
    }

    @Test func `who leaves is put out; who else is there stays`() {
        var bench = Self.bench()
        bench.connect("carol")
        bench.ask(4, 1, .enterRoom(Self.room, history: 0))
        bench.ask(2, 3, Self.change(.join))
        #expect(
            bench.ask(2, 4, Self.change(.leave)).outside == [
                "s2 ← answer 4 done(0)", "s2 ← problem not_a_member", "s3 ← problem not_a_member",
            ])
        #expect(Self.hearers(&bench) == ["s4"])
    }

    @Test func `who writes without having come in is refused, but gets the answer to what was accepted before`() {
        var bench = Self.bench()
        let draft = bench.draft("first", Self.room)
        bench.run(.frame(2, .send(draft)))
        bench.run(.disconnected(2))
        bench.connect("bob")
        bench.frames = []
        bench.run(.frame(4, .send(draft)))
        bench.run(.frame(4, .send(bench.draft("second", Self.room))))
        #expect(bench.frames.map(\.refusal) == [nil, .notAMember])
        // Who has asked to come in is in: the store answers that first.
        bench.isStoreHeld = true
        bench.ask(4, 1, .enterRoom(Self.room, history: 0))
        bench.run(.frame(4, .send(bench.draft("third", Self.room))))
        bench.frames = []
        bench.releaseStore()
        #expect(bench.frames.allSatisfy { $0.refusal == nil })
    }

    @Test func `of a dissolved room hears that there is none, and reads nothing there`() {
        var bench = Self.bench()
        _ = Self.hearers(&bench)
        #expect(
            bench.ask(1, 3, Self.change(.dissolve)).outside == [
                "s1 ← answer 3 done(0)", "s1 ← problem unknown_conversation", "s2 ← problem unknown_conversation",
                "s3 ← problem unknown_conversation",
            ])
        bench.frames = []
        bench.ask(1, 4, .history(Self.room, before: nil, limit: 9))
        bench.ask(2, 4, .enterRoom(Self.room, history: 9))
        bench.run(.frame(2, .send(bench.draft("ho", Self.room))))
        #expect(bench.frames.compactMap(\.refusal) == Array(repeating: .unknownConversation, count: 3))
    }

    @Test func `that is its members' alone is one of them, also after the backend has put others in`() {
        var bench = Self.bench(.nobody)
        bench.connect("carol")
        bench.frames = []
        bench.isStoreHeld = true
        bench.ask(4, 1, .enterRoom(Self.room, history: 9))
        bench.run(.frame(4, .send(bench.draft("ho", Self.room))))
        bench.releaseStore()
        #expect(bench.frames.compactMap(\.refusal) == [.notAMember, .notAMember])
        #expect(Self.hearers(&bench) == ["s2", "s3"])
        let record = ConversationRecord(
            app: ServerBench.app, conversation: Self.room, name: "Lobby", members: ["alice", "carol"])
        #expect(
            bench.run(.api(APIRequestID(1), .putConversation(record))) == [
                "store conversation CHRM:lobby", "reply done", "s2 ← problem not_a_member", "s3 ← problem not_a_member",
            ])
        #expect(Self.hearers(&bench) == [])
    }
}

extension ServerFrame {
    /// The code of what was refused.
    fileprivate var refusal: Problem.Code? {
        switch self {
        case .sendRefused(_, let problem), .answer(_, .refused(let problem)): problem.code
        default: nil
        }
    }
}

@Suite struct `Typing to a service` {
    @Test func `is told only where a message would be taken`() {
        var bench = ServerBench()
        bench.connect("alice")
        bench.connect("bob")
        let service = ConversationID(type: .customerService, target: "bob")
        let typing = ServerEvent.frame(1, .typing(service, isTyping: true))
        #expect(bench.run(typing) == ["store may write? alice CS:bob"])
        bench.pass(5_000)
        bench.run(.api(APIRequestID(1), .setAccount(ServerBench.app, service, isDeclared: true)))
        #expect(bench.run(typing).outside.count == 1)
        bench.pass(5_000)
        bench.run(.frame(2, .request(1, .setBlocked("alice", true))))
        #expect(bench.run(typing).outside == [])
        #expect(bench.run(.frame(1, .typing(.init(type: .system, target: "bob"), isTyping: true))) == [])
        #expect(bench.run(.frame(1, .typing(.direct("bob"), isTyping: true))) == [])
    }
}

/// What a device gets that comes later than a recall, an edit or a deletion.
@Suite struct `What may not be read any more` {
    /// Two messages of alice's to bob; the first is then changed.
    private static func bench(_ change: (MessageID) -> (UserID?, ClientRequest)) -> ServerBench {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say("secret", to: .direct("bob"))
        bench.say("open", to: .direct("bob"))
        let (actor, request) = change(bench.messages[0])
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: actor, request)))
        bench.connect("bob", "tablet")
        bench.frames = []
        return bench
    }

    /// What a new device of bob's gets, and his service extension.
    private static func told(_ bench: inout ServerBench) throws -> (page: [String], missed: String) {
        let page = bench.run(.frame(2, .sync(after: 0, limit: 99))).outside
        let frames = "\(bench.frames)"
        #expect(!frames.contains("secret"))
        let question = ExtensionRequest.missed(after: 0, limit: 20)
        bench.run(
            .api(
                APIRequestID(2),
                .fromExtension(ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, question)))
        guard case .missed(let page2, let words, let hidesContent)? = bench.replies.last else { return (page, "") }
        return (page, page2.missedAnswer(for: "bob", in: words, hidesContent: hidesContent).text)
    }

    @Test func `is a bare place once it was recalled`() throws {
        var bench = Self.bench { (nil, .recall($0)) }
        let (page, missed) = try Self.told(&bench)
        #expect(page == ["s2 ← page [1 unknown, 2 m2, 3 recall m1] head 3"])
        #expect(!missed.contains("secret") && missed.contains(#"{"position":1,"other":true}"#))
    }

    @Test func `is what it was edited to`() throws {
        var bench = Self.bench { (nil, .edit($0, content: #"{"content":"better"}"#)) }
        let (page, missed) = try Self.told(&bench)
        #expect(page == ["s2 ← page [1 m1, 2 m2, 3 edit m1] head 3"])
        #expect(!missed.contains("secret") && missed.contains("better"))
    }

    @Test func `is a bare place for the devices of who has deleted it`() throws {
        var bench = Self.bench { ("bob", .delete(Deletion(conversation: .direct("alice"), messages: [$0]))) }
        let (page, missed) = try Self.told(&bench)
        #expect(page == ["s2 ← page [1 unknown, 2 m2, 3 delete [\"m1\"]] head 3"])
        #expect(!missed.contains("secret"))
        bench.connect("alice")
        bench.run(.frame(3, .sync(after: 0, limit: 99)))
        #expect("\(bench.frames)".contains("secret"))
    }

    @Test func `is told to no extension whose person hides what messages say`() throws {
        var bench = Self.bench { _ in ("bob", .setPersonSettings(PersonSettings(hidesContent: true))) }
        let question = ExtensionRequest.missed(after: 0, limit: 20)
        bench.run(
            .api(
                APIRequestID(2),
                .fromExtension(ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, question)))
        guard case .missed(let page, let words, let hidesContent)? = bench.replies.last else {
            return #expect(Bool(false), "no page")
        }
        let answer = page.missedAnswer(for: "bob", in: words, hidesContent: hidesContent)
        #expect(!answer.text.contains("secret") && !answer.text.contains("push_text"))
        #expect(answer["entries"]?.arrayValue?.first?["hidden"] == true)
    }

    @Test func `does not go out with a push that waited, as its sender worded it before the edit`() throws {
        var bench = ServerBench.gone()
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("carol"), bench.draft("first", .direct("bob")))))
        var draft = bench.draft("secret", .direct("bob"))
        draft.pushText = "secret push"
        // One push at a time is on its way to a device: this one waits.
        bench.run(.api(APIRequestID(0), .send(ServerBench.key("alice"), draft)))
        let edit = ClientRequest.edit(bench.messages[1], content: #"{"content":"better"}"#)
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, edit)))
        bench.acceptPush()
        #expect(bench.payload.map { PushInfo(userInfo: $0)?.text?.body } == "better")
    }

    @Test func `ends the leg of a device that comes back after a start as recalled, not as shown`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say("secret", to: .direct("bob"))
        bench.isStoreHeld = true
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .recall(bench.messages[0]))))
        bench.carryOutUnheard()
        bench.isStoreHeld = false
        bench.crash()
        bench.connect("bob")
        bench.run(.frame(2, .sync(after: 0, limit: 99)))
        let lines = bench.run(.frame(2, .ack(.init(stored: 2, settled: []))))
        #expect((bench.stored(bench.messages[0])?.content).map { !$0.contains("secret") } == true)
        guard
            case .trace(let trace?)? = try? bench.store.apply(
                .trace(ServerBench.app, bench.messages[0]), epoch: bench.opening.epoch)
        else { return #expect(Bool(false), "\(lines)") }
        #expect(trace.ended.map(\.end) == [.recalled])
    }
}

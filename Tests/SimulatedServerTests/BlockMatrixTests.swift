import APNsModel
import ServerCore
import SimulatedServer
import StoreModel
import Testing
import TidingsModel

/// Where Alice's phone is.
enum Whereabouts: CaseIterable, Sendable {
    case inForeground
    /// Connected, and settles nothing.
    case inBackground
    case gone
}

/// Alice has blocked Mallory. Both are in a group, a discussion and a chat room that Carol has made, and Mallory has written to her in
/// every kind of conversation before, which she has read. Mallory also operates an account of each kind, the desk.
struct BlockBench {
    static let app: AppID = "demo"
    static let start = Now(monotonic: 0, wall: 1_767_225_600_000)
    static let alice = UserKey(app: app, user: "alice")
    private static let registration = PushRegistration(
        token: "a11ce0", environment: .sandbox, topic: "com.example.chat")
    private static let voIP = PushRegistration(
        token: "ca11", environment: .sandbox, topic: "com.example.chat.voip")
    static let call: CallID = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"
    static let status = DeviceStatus(
        authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true, notificationCenter: true,
        backgroundRefresh: .available)
    private static let sessions: [UserID: SessionID] = ["alice": SessionID(1), "mallory": SessionID(2)]

    /// What has reached Alice, and what Mallory was told of her, since the attempt.
    struct Reached {
        var rings: [String] = []
        var counts = UnreadCounts()
        var entries: [LogEntry] = []
        var heard: [ServerFrame] = []
        var seen: [Signal] = []
    }

    private var server = SimulatedServer(at: Self.start, checkToken: SimulatedServer.tokenIsUser(in: Self.app))
    private var now = Self.start
    private var outputs: [SimulatedServer.Output] = []
    private(set) var old: [ConversationType: MessageID] = [:]

    static func place(_ type: ConversationType) -> ConversationID {
        ConversationID(type: type, target: type.targetIsPeer ? "alice" : "place")
    }

    static func hello(_ user: UserID, device: DeviceID) -> ClientFrame.Hello {
        ClientFrame.Hello(
            versions: 1...1, token: user.rawValue, device: device, platform: "ios", runState: .foreground, after: 0)
    }

    /// - Parameter isDeskBlocked: whether she has blocked the accounts that Mallory operates, too.
    init(_ whereabouts: Whereabouts, isBlocked: Bool = true, isDeskBlocked: Bool = false) {
        self.pass(60_000)
        for type in ConversationType.allCases {
            if type.isService {
                let desk = ConversationID(type: type, target: "desk")
                self.ask(.putAccount(Self.app, ServiceAccount(desk, operators: ["mallory"])))
            }
            if type.needsAccount {
                self.ask(.setAccount(Self.app, ConversationID(type: type, target: "mallory"), isDeclared: true))
            }
            guard !type.targetIsPeer else { continue }
            self.ask(
                .putConversation(
                    ConversationRecord(
                        app: Self.app, conversation: Self.place(type), name: "Place", portrait: nil,
                        members: [
                            Member("alice"), Member("carol", role: .owner), Member("mallory", role: .admin),
                        ])))
        }
        for user: UserID in ["alice", "mallory"] { self.tell(user, .hello(Self.hello(user, device: "phone"))) }
        self.tell("alice", .registerPush(Self.registration))
        self.tell("alice", .request(4, .registerVoIP(Self.voIP)))
        self.tell("alice", .request(1, .enterRoom(Self.place(.chatRoom), history: 0)))
        self.tell("mallory", .request(1, .enterRoom(Self.place(.chatRoom), history: 0)))
        for type in ConversationType.allCases {
            let draft = MessageDraft(
                clientMessageID: ClientMessageID("old-\(type.rawValue)"), conversation: Self.place(type),
                objectName: .text, content: #"{"content":"old"}"#)
            guard case .accepted(let accepted, _)? = self.ask(.send(UserKey(app: Self.app, user: "mallory"), draft))
            else {
                Issue.record("nothing was sent in \(type)")
                continue
            }
            self.old[type] = accepted.messageID
        }
        if !isBlocked { self.tell("mallory", .request(2, .watch(["alice"]))) }
        let head = self.server.unread(of: Self.alice).head
        self.tell("alice", .ack(.init(stored: head, settled: [.init(upTo: head, disposition: .shown)])))
        for type in ConversationType.allCases where type != .chatRoom {
            let seen = ConversationID(type: type, target: type.targetIsPeer ? "mallory" : "place")
            self.tell("alice", .markRead(seen, upTo: head))
        }
        if isBlocked { self.tell("alice", .request(3, .setBlocked("mallory", true))) }
        if isDeskBlocked { self.tell("alice", .request(5, .setBlocked("desk", true))) }
        // Who watches is not told that they are blocked: they go on watching.
        if isBlocked { self.tell("mallory", .request(2, .watch(["alice"]))) }
        self.settleAll()
        switch whereabouts {
        case .inForeground: break
        case .inBackground: self.tell("alice", .runState(.background(remainingMilliseconds: 600_000)))
        case .gone:
            self.tell("alice", .runState(.suspending))
            self.outputs += self.server.hangUp(Self.session(of: "alice"), at: self.now)
        }
    }

    private static func session(of user: UserID) -> SessionID { Self.sessions[user] ?? SessionID(0) }

    /// Alice's phone has everything there is.
    private mutating func settleAll() {
        let head = self.server.unread(of: Self.alice).head
        self.tell("alice", .ack(.init(stored: head, settled: [.init(upTo: head, disposition: .shown)])))
    }

    private mutating func tell(_ user: UserID, _ frame: ClientFrame) {
        self.outputs += self.server.receive(frame, on: Self.session(of: user), at: self.now)
    }

    @discardableResult
    private mutating func ask(_ command: APICommand) -> APIResult? {
        let (answer, outputs) = self.server.request(command, at: self.now)
        self.outputs += outputs
        return answer
    }

    private mutating func pass(_ milliseconds: Int64) {
        let end = self.now.monotonic + milliseconds
        while let next = self.server.nextDeadline, next <= end {
            self.move(to: max(next, self.now.monotonic))
            self.outputs += self.server.handle(.timeReached, at: self.now)
        }
        self.move(to: end)
    }

    private mutating func move(to moment: Int64) {
        self.now = Now(monotonic: moment, wall: Self.start.wall + moment)
    }

    /// Makes the attempt, and lets two minutes pass, in which Alice's phone settles nothing. In between she comes to the foreground, which
    /// those who watch her would see.
    mutating func reached(by attempt: Attempt) -> Reached {
        let head = self.server.unread(of: Self.alice).head
        self.outputs.removeAll()
        switch attempt {
        case .frame(.hello(let hello)):
            self.outputs += self.server.receive(.hello(hello), on: SessionID(3), at: self.now)
        case .frame(let frame):
            self.tell("mallory", frame)
            // With which a sign-out is carried out.
            self.tell("mallory", .ping(9))
        case .command(let command): self.ask(command)
        }
        self.pass(60_000)
        self.tell("alice", .runState(.background(remainingMilliseconds: 600_000)))
        self.tell("alice", .runState(.foreground))
        self.pass(60_000)
        var reached = Reached()
        for output in self.outputs {
            switch output {
            case .push(let request): if let ring = Self.ring(request) { reached.rings.append(ring) }
            case .write(Self.session(of: "alice"), let frame):
                switch frame {
                case .entry, .page, .signal: reached.heard.append(frame)
                default: break  // tidy: the rest is about the connection
                }
            case .write(_, .signal(let signal)): if Self.tells(signal) { reached.seen.append(signal) }
            case .fault(let text): Issue.record("\(attempt): \(text)")
            case .write, .close, .probe, .reply, .stored: break
            }
        }
        if let report = self.server.read(.readUnread(Self.alice, nil))?.unread { reached.counts = report.counts }
        reached.entries = self.server.log(of: Self.alice).filter { $0.position > head }
        return reached
    }

    /// The recall of what was shown before replaces it without a sound; everything else that is no silent push rings.
    private static func ring(_ request: APNsRequest) -> String? {
        if request.pushType == .voip { return "call" }
        guard request.pushType == .alert, let payload = try? JSONValue(parsing: request.payload) else { return nil }
        return payload["aps"]?["interruption-level"] == "passive" ? nil : "\(payload["aps"] ?? .null)"
    }

    private static func tells(_ signal: Signal) -> Bool {
        switch signal {
        case .presence(let presence): presence.id == "alice"
        case .receipt(_, let reader, _, _): reader == "alice"
        case .typing, .room: false
        }
    }
}

extension LogEntry {
    /// It is from Mallory's doing, and tells of it without counting, ringing or mentioning.
    fileprivate var isHushed: Bool {
        switch self.body {
        case .message(let message): message == message.hushed
        case .recall, .edit, .change: true
        case .read, .custom, .deletion, .conversationSettings, .personSettings, .blocked, .unknown: false
        }
    }
}

private let kinds = Whereabouts.allCases.flatMap { whereabouts in
    ConversationType.allCases.map { (whereabouts, $0) }
}

@Suite struct `Somebody blocked, by whatever they try` {
    private static func attempts(_ bench: BlockBench, in type: ConversationType) -> [Attempt] {
        Attempt.all(in: BlockBench.place(type), old: bench.old[type] ?? MessageID(rawValue: 0))
    }

    @Test(arguments: kinds)
    func `neither rings, counts nor mentions, and arrives only where a third person has brought both together`(
        whereabouts: Whereabouts, type: ConversationType
    ) {
        let bench = BlockBench(whereabouts)
        for attempt in Self.attempts(bench, in: type) {
            var run = BlockBench(whereabouts)
            let reached = run.reached(by: attempt)
            let name = "\(attempt)"
            #expect(reached.rings == [], "\(name)")
            #expect(reached.counts == UnreadCounts(), "\(name)")
            #expect(reached.seen == [], "\(name)")
            if type.targetIsPeer {
                #expect(reached.entries == [], "\(name)")
                #expect(reached.heard == [], "\(name)")
            }
            #expect(reached.entries.filter { !$0.isHushed } == [], "\(name)")
            for frame in reached.heard {
                switch frame {
                case .entry(let entry): #expect(entry.isHushed, "\(name): \(entry)")
                case .signal(.room(let message)):
                    #expect(message.mentions == .none, "\(name)")
                default: Issue.record("\(name): \(frame)")
                }
            }
            // What creates or adds is refused: nothing of Mallory's making has Alice in it.
            if case .create? = attempt.action { #expect(reached.entries == [], "\(name)") }
        }
    }

    /// Otherwise the matrix would find nothing, whatever the server does.
    @Test func `would ring, count, mention, arrive, type and see her in every kind of conversation without the block`()
    {
        var rings: Set<ConversationType> = []
        var counts: Set<ConversationType> = []
        var mentions: Set<ConversationType> = []
        var arrives: Set<ConversationType> = []
        var (typing, seen, created, calls) = (0, 0, 0, 0)
        for (whereabouts, type) in kinds {
            let bench = BlockBench(whereabouts, isBlocked: false)
            for attempt in Self.attempts(bench, in: type) {
                var run = BlockBench(whereabouts, isBlocked: false)
                let reached = run.reached(by: attempt)
                calls += reached.rings.count { $0 == "call" }
                if reached.rings.contains(where: { $0 != "call" }) { rings.insert(type) }
                if reached.counts.unread > 0 { counts.insert(type) }
                if reached.counts.mentions > 0 { mentions.insert(type) }
                if !reached.heard.isEmpty { arrives.insert(type) }
                for case .signal(.typing) in reached.heard { typing += 1 }
                seen += reached.seen.count
                if case .create? = attempt.action, !reached.entries.isEmpty { created += 1 }
            }
        }
        let all = Set(ConversationType.allCases)
        #expect(rings == all.subtracting([.chatRoom]))
        #expect(counts == all.subtracting([.chatRoom]))
        #expect(mentions == [.group, .discussion])
        #expect(arrives == all)
        #expect(typing > 0 && seen > 0 && created > 0 && calls > 0)
    }

    @Test(arguments: Whereabouts.allCases)
    func `reaches her in every kind of conversation where the backend sends past the block`(whereabouts: Whereabouts) {
        let bench = BlockBench(whereabouts)
        for type in ConversationType.allCases {
            for attempt in Self.attempts(bench, in: type) {
                guard case .command(.send(let sender, let draft, [], _)) = attempt else { continue }
                var (blocked, open) = (BlockBench(whereabouts), BlockBench(whereabouts, isBlocked: false))
                let reached = blocked.reached(by: .command(.send(sender, draft, past: .blocks)))
                let expected = open.reached(by: attempt)
                #expect(reached.rings.count == expected.rings.count, "\(type) \(draft)")
                #expect(reached.counts == expected.counts, "\(type) \(draft)")
                #expect(reached.entries.map(\.body.flags) == expected.entries.map(\.body.flags), "\(type) \(draft)")
            }
        }
    }

    /// Blocks are against the account: nobody can know who of its operators has written (docs/inside/decisions/0040-accounts.md).
    @Test(arguments: Whereabouts.allCases)
    func `reaches her as an account they operate unless she has blocked it, and she is told nothing of them`(
        whereabouts: Whereabouts
    ) {
        for type in ConversationType.allCases where type.isService {
            var draft = MessageDraft(
                clientMessageID: "as-the-desk", conversation: BlockBench.place(type), objectName: .text,
                content: #"{"content":"hey"}"#)
            let ofTheBackend = draft
            draft.account = "desk"
            var (bench, backend) = (BlockBench(whereabouts), BlockBench(whereabouts))
            let reached = bench.reached(by: .frame(.send(draft)))
            let expected = backend.reached(
                by: .command(.send(UserKey(app: BlockBench.app, user: "desk"), ofTheBackend)))
            #expect(reached.entries.map(\.body.flags) == [.normal], "\(type)")
            #expect(reached.rings.count == 1 && expected.rings.count == 1, "\(type)")
            #expect(reached.counts.unread == 1 && reached.counts == expected.counts, "\(type)")
            #expect("\(reached)".contains("desk") && !"\(reached)".contains("mallory"), "\(type): \(reached)")

            var blocked = BlockBench(whereabouts, isDeskBlocked: true)
            let refused = blocked.reached(by: .frame(.send(draft)))
            #expect(refused.entries == [] && refused.heard == [], "\(type)")
            #expect(refused.rings == [] && refused.counts == UnreadCounts(), "\(type)")
        }
    }

    /// A new kind of frame, request, change or command has to be tried, too.
    @Test func `tries every kind there is`() {
        let bench = BlockBench(.inForeground)
        let attempts = ConversationType.allCases.flatMap { Self.attempts(bench, in: $0) }
        var frames: Set<FrameKind> = []
        var commands: Set<CommandKind> = []
        var requests: [Bool: Set<RequestKind>] = [:]
        var actions: [Bool: Set<ActionKind>] = [:]
        for attempt in attempts {
            var isFrame = false
            switch attempt {
            case .frame(let frame):
                isFrame = true
                frames.insert(FrameKind(frame))
            case .command(let command): commands.insert(CommandKind(command))
            }
            if let request = attempt.request { requests[isFrame, default: []].insert(RequestKind(request)) }
            if let action = attempt.action { actions[isFrame, default: []].insert(ActionKind(action)) }
        }
        #expect(frames == Set(FrameKind.allCases))
        #expect(commands == Set(CommandKind.allCases).subtracting(CommandKind.ofTheBackendAlone))
        for isFrame in [true, false] {
            #expect(requests[isFrame] == Set(RequestKind.allCases))
            #expect(actions[isFrame] == Set(ActionKind.allCases))
        }
    }
}

extension LogEntry.Body {
    fileprivate var flags: MessageFlags? { if case .message(let message) = self { message.flags } else { nil } }
}

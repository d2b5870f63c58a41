import APNsModel
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

/// A server core on a virtual clock, with a store in memory as its disk. Effects are told as lines, so that a test reads like a log.
struct ServerBench {
    static let app: AppID = "shop"
    static let started: Int64 = 1_800_000_000_000
    static let topic = "com.example.shop"

    /// Nothing waits for what the person does elsewhere, or because many alerts come.
    static let plain: ServerSettings = {
        var settings = ServerSettings()
        settings.activeElsewhereTime = 0
        settings.stormLimit = 0
        settings.badgePushesPerHour = 0
        return settings
    }()

    var core: ServerCore
    let store = MemoryStore()
    var opening: StoreOpening
    var now = Now(monotonic: 1_000, wall: ServerBench.started)
    /// Commands the store has not carried out yet, while it is held.
    var waiting: [(id: StoreRequestID, command: StoreCommand)] = []
    var isStoreHeld = false
    /// The store stops before it answers what is known of a message.
    var isTraceHeld = false
    /// What the store says to the next commands about conversations, settings and recalls: its own rules are not ours.
    var script: [StoreResult] = []
    /// The store cannot read what a sign-out needs.
    var isSignOutUnreadable = false
    /// What the store says to the next recall, whose id is the command's.
    var recalled: (recall: Recall, message: Message, deliveries: [Delivery], shown: [LegID])?
    /// Entries at the end of people's logs of which the store knows nothing.
    var entries: [UserID: [LogEntry]] = [:]
    /// Everything that was written to connections.
    var frames: [ServerFrame] = []
    private var wasScripted = false
    /// What people have set before they are loaded.
    var settings: [UserID: AllSettings] = [:]
    /// Pushes whose answer is open, oldest first.
    var pushes: [(id: PushID, device: DeviceKey, request: APNsRequest)] = []
    /// Pushes to tokens and channels that a backend has named, oldest first.
    var passed: [(id: PushID, request: APNsRequest)] = []
    var broadcasts: [(id: PushID, broadcast: APNsBroadcast)] = []
    var replies: [APIResult] = []
    /// What whoever watches is told.
    var reports: [ServerReport] = []
    /// The messages in the order in which they were handed to the store: `m1`, `m2`, …
    var messages: [MessageID] = []
    /// `j1`, `j2`, … in the same way.
    var jobs: [PushJobID] = []
    var sessions: UInt64 = 0
    var texts = 0

    init(settings: ServerSettings = ServerBench.plain, seed: UInt64 = 7, isOpen: Bool = true) {
        self.core = ServerCore(settings: settings, seed: seed)
        self.opening = self.store.open()
        guard isOpen else { return }
        _ = self.run(.opened(self.opening))
        // Past the restart grace.
        _ = self.pass(settings.restartGraceTime)
    }

    /// A new process on what the store has synced; what was not carried out is lost.
    @discardableResult
    mutating func crash(settings: ServerSettings = ServerBench.plain) -> [String] {
        self.core = ServerCore(settings: settings, seed: 8)
        self.waiting = []
        self.pushes = []
        self.opening = self.store.open()
        return self.run(.opened(self.opening))
    }

    static func key(_ user: UserID) -> UserKey { UserKey(app: Self.app, user: user) }

    static func device(_ user: UserID, _ device: DeviceID = "phone") -> DeviceKey {
        DeviceKey(user: Self.key(user), device: device)
    }

    static func token(_ user: UserID, _ device: DeviceID = "phone") -> PushToken {
        PushToken(
            "\(user)/\(device)".utf8.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined())
    }

    static func registration(_ user: UserID, _ device: DeviceID = "phone") -> PushRegistration {
        PushRegistration(token: Self.token(user, device), environment: .production, topic: Self.topic)
    }
}

// Doing.
extension ServerBench {
    /// Hands in one event, lets the store answer what it can, and tells everything that was done, in order.
    @discardableResult
    mutating func run(_ event: ServerEvent) -> [String] {
        var lines: [String] = []
        self.take(self.core.handle(event, at: self.now), &lines)
        self.answer(&lines)
        return lines
    }

    /// Lets time pass.
    @discardableResult
    mutating func pass(_ milliseconds: Int64) -> [String] {
        let end = self.now.monotonic + milliseconds
        var lines: [String] = []
        while let next = self.core.nextDeadline, next <= end {
            self.move(to: max(next, self.now.monotonic))
            lines += self.run(.timeReached)
        }
        self.move(to: end)
        return lines
    }

    private mutating func move(to monotonic: Int64) {
        self.now.wall += monotonic - self.now.monotonic
        self.now.monotonic = monotonic
    }

    /// Lets the store carry out what waits.
    @discardableResult
    mutating func releaseStore() -> [String] {
        self.isStoreHeld = false
        var lines: [String] = []
        self.answer(&lines)
        return lines
    }

    /// Lets the store carry out what waits, and the server die before it hears of it.
    mutating func carryOutUnheard() {
        for (_, command) in self.waiting { _ = try? self.store.apply(command, epoch: self.opening.epoch) }
        self.waiting = []
    }

    /// Lets the store carry out the next of what waits, and no more.
    @discardableResult
    mutating func answerNext() -> [String] {
        var lines: [String] = []
        self.answerNext(&lines)
        return lines
    }

    private mutating func answer(_ lines: inout [String]) {
        while !self.isStoreHeld, !self.waiting.isEmpty {
            if self.isTraceHeld, case .trace? = self.waiting.first?.command { return }
            self.answerNext(&lines)
        }
    }

    private mutating func answerNext(_ lines: inout [String]) {
        let (id, command) = self.waiting.removeFirst()
        if self.isSignOutUnreadable, Self.signsOut(command) {
            return self.take(self.core.handle(.stored(id, .unreadable(nil, "damaged")), at: self.now), &lines)
        }
        guard var result = try? self.store.apply(command, epoch: self.opening.epoch) else {
            return lines.append("stale epoch")
        }
        if let scripted = self.script.first, Self.isScripted(command, scripted) {
            result = self.script.removeFirst()
            self.wasScripted = true
        }
        // The store knows nothing of the entries of a script.
        if self.wasScripted, case .advance = command { result = .done }
        self.amend(&result, of: command)
        self.take(self.core.handle(.stored(id, result), at: self.now), &lines)
    }

    private static func signsOut(_ command: StoreCommand) -> Bool {
        switch command {
        case .signOut: true
        case .changeAccount(_, let change, _): change.endOfLegs != nil
        default: false
        }
    }

    /// Puts in what the store does not know.
    private mutating func amend(_ result: inout StoreResult, of command: StoreCommand) {
        switch (command, result) {
        case (.recall(let operation), _):
            guard let (scripted, message, deliveries, shown) = self.recalled else { return }
            var recall = scripted
            recall.id = operation.id
            self.wasScripted = true
            result = .recalled(recall, of: message, deliveries: deliveries, shown: shown)
        case (.loadUser(let key), .user(var record)):
            record.settings = self.settings[key.user] ?? record.settings
            record.head = max(record.head, self.entries[key.user]?.last?.position ?? 0)
            result = .user(record)
        case (.readLog(let key, let after, _, _), .page(var page)):
            page.entries += (self.entries[key.user] ?? []).filter { $0.position > max(after, page.head) }
            page.head = max(page.head, page.entries.last?.position ?? 0)
            result = .page(page)
        default: break
        }
    }

    /// Asks the store without the core.
    func read(_ command: StoreCommand) -> StoreResult? { try? self.store.apply(command, epoch: self.opening.epoch) }

    /// A message as it was accepted.
    func stored(_ id: MessageID) -> Message? {
        guard case .trace(let trace)? = self.read(.trace(Self.app, id)) else { return nil }
        return trace?.message
    }

    /// Reads how many messages of a person are unread.
    func unread(of user: UserID) -> Int? { self.read(.readUnread(Self.key(user), nil))?.unread?.counts.unread }

    private static func isScripted(_ command: StoreCommand, _ result: StoreResult) -> Bool {
        switch command {
        case .change, .recall, .edit, .delete, .setConversationSettings, .setConversationState, .endLevel,
            .setPersonSettings, .setBlocked,
            .acceptCustom, .readConversation, .readHistory, .readSettings,
            .readReceipts:
            return true
        case .setPushState, .setVoIPToken:
            guard case .taken = result else { return false }
            return true
        case .accept, .putConversation, .signIn, .signOut, .setDeviceStatus, .advance, .markRead, .keepLeg, .endLeg,
            .receipt, .compareLog, .loadUser, .changeAccount, .readAccount, .readLog, .trace, .readLegs, .readUnread,
            .setObjectNames, .readObjectNames, .mayWrite, .readRestrictions, .setAccount, .putAccount, .readAccounts,
            .setFollowing, .readFollowers, .readFollowing, .readPeople, .setProfiles, .readProfiles, .readKept,
            .readMedia, .readMediaUses, .changeControl, .readControl, .readAudit, .createPush, .stepPush, .changePush,
            .readPush, .readMessage,
            .readPushes, .countAudience, .readPushRecipient, .setLabels, .readLabels, .readConversations,
            .readConversationList, .readStorageUse, .registerInstallations:
            return false
        case .once(_, let command): return Self.isScripted(command, result)
        }
    }

    /// Connects a device and leaves it in the given state. The session is the bench's next number.
    @discardableResult
    mutating func connect(
        _ user: UserID, _ device: DeviceID = "phone", _ run: ReportedRunState = .foreground, after: LogPosition = 0,
        platform: String = "ios", tokenUntil expiresAt: Int64 = .max, issuedAt: Int64? = nil
    ) -> (session: SessionID, lines: [String]) {
        self.sessions += 1
        let session = SessionID(self.sessions)
        let hello = ClientFrame.Hello(
            versions: 1...1, token: "t", device: device, platform: platform, runState: run, after: after)
        let token = CheckedToken(
            user: Self.key(user), expiresAt: expiresAt == .max ? 1 << 53 : Self.started + expiresAt,
            issuedAt: issuedAt.map { Self.started + $0 })
        let verdict = TokenVerdict.valid(token, extensionToken: "x")
        return (session, self.run(.connected(session, hello, verdict)))
    }

    /// A device that has registered for pushes and is gone.
    mutating func goneDevice(_ user: UserID, _ device: DeviceID = "phone") {
        let session = self.connect(user, device).session
        self.run(.frame(session, .registerPush(Self.registration(user, device))))
        self.run(.frame(session, .runState(.suspending)))
        self.run(.disconnected(session))
    }

    /// Sends a text from a person by the API.
    @discardableResult
    mutating func say(
        _ text: String = "hi", from sender: UserID = "alice", to conversation: ConversationID,
        flags: MessageFlags = .normal, mentions: Mentions = .none, lifetime: Int64? = nil
    ) -> [String] {
        var draft = self.draft(text, conversation, flags)
        draft.mentions = mentions
        draft.lifetimeMilliseconds = lifetime
        return self.run(.api(APIRequestID(0), .send(Self.key(sender), draft)))
    }

    /// Asks something on a connection.
    @discardableResult
    mutating func ask(_ session: SessionID, _ number: RequestNumber, _ request: ClientRequest) -> [String] {
        self.run(.frame(session, .request(number, request)))
    }

    /// The payload of the push that was handed over last.
    var payload: JSONValue? { self.pushes.last.flatMap { try? JSONValue(parsing: $0.request.payload) } }

    mutating func draft(
        _ text: String = "hi", _ conversation: ConversationID, _ flags: MessageFlags = .normal
    ) -> MessageDraft {
        self.texts += 1
        return MessageDraft(
            clientMessageID: ClientMessageID("c\(self.texts)"), conversation: conversation, objectName: .text,
            content: "{\"content\":\"\(text)\"}", flags: flags)
    }

    /// Answers the oldest open push.
    @discardableResult
    mutating func answerPush(_ outcome: APNsOutcome) -> [String] {
        guard !self.pushes.isEmpty else { return ["no push is open"] }
        return self.run(.pushEnded(self.pushes.removeFirst().id, outcome))
    }

    /// The APNs client reports whether it sends: to one topic, or to all.
    @discardableResult
    mutating func report(_ state: LaneState, topic: String? = nil) -> [String] {
        self.run(.laneReported(Self.app, .production, topic: topic, state))
    }

    /// APNs takes the oldest open push.
    @discardableResult
    mutating func acceptPush() -> [String] {
        self.answerPush(.accepted(apnsID: self.pushes.first?.request.apnsID ?? "", uniqueID: nil))
    }
}

extension ConversationID {
    static func direct(_ peer: String) -> ConversationID { ConversationID(type: .direct, target: peer) }
    static func room(_ id: String) -> ConversationID { ConversationID(type: .chatRoom, target: id) }
    static func group(_ id: String) -> ConversationID { ConversationID(type: .group, target: id) }
}

extension [String] {
    /// The lines that are not about the store.
    var outside: [String] { self.filter { !$0.hasPrefix("store ") } }
    /// The lines about ends.
    var ends: [String] { self.filter { $0.hasPrefix("store end ") } }
}

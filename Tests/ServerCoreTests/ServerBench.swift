import APNsModel
import ServerCore
import StoreModel
import TidingsModel

/// A server core on a virtual clock, with the reference store as its disk. Effects are told as lines, so that a test reads like a log.
struct ServerBench {
    static let app: AppID = "shop"
    static let started: Int64 = 1_800_000_000_000
    static let topic = "com.example.shop"

    var core: ServerCore
    var store = ReferenceStore()
    var opening: StoreOpening
    var now = Now(monotonic: 1_000, wall: ServerBench.started)
    /// Commands the store has not carried out yet, while it is held.
    var waiting: [(id: StoreRequestID, command: StoreCommand)] = []
    var isStoreHeld = false
    /// Pushes whose answer is open, oldest first.
    var pushes: [(id: PushID, request: APNsRequest)] = []
    var replies: [ApiResult] = []
    /// The messages in the order in which they were handed to the store: `m1`, `m2`, …
    var messages: [MessageID] = []
    var sessions: UInt64 = 0
    var texts = 0

    init(settings: ServerSettings = ServerSettings(), seed: UInt64 = 7, isOpen: Bool = true) {
        self.core = ServerCore(settings: settings, seed: seed)
        self.opening = self.store.open()
        guard isOpen else { return }
        _ = self.run(.opened(self.opening))
        // Past the restart grace.
        _ = self.pass(settings.restartGraceTime)
    }

    /// A new process on what the store has synced; what was not carried out is lost.
    @discardableResult
    mutating func crash(settings: ServerSettings = ServerSettings()) -> [String] {
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

    private mutating func answer(_ lines: inout [String]) {
        while !self.isStoreHeld, !self.waiting.isEmpty {
            let (id, command) = self.waiting.removeFirst()
            guard let result = try? self.store.apply(command, epoch: self.opening.epoch) else {
                lines.append("stale epoch")
                continue
            }
            self.take(self.core.handle(.stored(id, result), at: self.now), &lines)
        }
    }

    /// Connects a device and leaves it in the given state. The session is the bench's next number.
    @discardableResult
    mutating func connect(
        _ user: UserID, _ device: DeviceID = "phone", _ run: ReportedRunState = .foreground, after: LogPosition = 0
    ) -> (session: SessionID, lines: [String]) {
        self.sessions += 1
        let session = SessionID(self.sessions)
        let hello = ClientFrame.Hello(
            versions: 1...1, token: "t", device: device, platform: "ios", runState: run, after: after)
        let verdict = TokenVerdict.valid(Self.key(user), extensionToken: "x")
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
        flags: MessageFlags = .normal
    ) -> [String] {
        self.run(.api(ApiRequestID(0), .send(Self.key(sender), self.draft(text, conversation, flags))))
    }

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
        self.run(.pushEnded(self.pushes.removeFirst().id, outcome))
    }

    /// APNs takes the oldest open push.
    @discardableResult
    mutating func acceptPush() -> [String] {
        self.answerPush(.accepted(apnsID: self.pushes[0].request.apnsID ?? "", uniqueID: nil))
    }
}

extension ConversationID {
    static func direct(_ peer: String) -> ConversationID { ConversationID(type: .direct, target: peer) }
    static func group(_ id: String) -> ConversationID { ConversationID(type: .group, target: id) }
}

extension [String] {
    /// The lines that are not about the store.
    var outside: [String] { self.filter { !$0.hasPrefix("store ") } }
    /// The lines about ends.
    var ends: [String] { self.filter { $0.hasPrefix("store end ") } }
}

// Telling.
extension ServerBench {
    private mutating func take(_ effects: [ServerEffect], _ lines: inout [String]) {
        for effect in effects {
            switch effect {
            case .store(let id, let command):
                self.waiting.append((id, command))
                lines.append("store " + self.tell(command))
            case .write(let session, let frame): lines.append("s\(session.rawValue) ← " + self.tell(frame))
            case .close(let session): lines.append("close s\(session.rawValue)")
            case .probe(let session): lines.append("probe s\(session.rawValue)")
            case .push(let id, _, let request):
                self.pushes.append((id, request))
                lines.append("push " + self.tell(request))
            case .reply(_, let result):
                self.replies.append(result)
                lines.append("reply " + self.tell(result))
            case .raiseAlarm(_, let alarm): lines.append("alarm \(alarm)")
            case .clearAlarm: lines.append("alarm over")
            case .stopForStoreFailure(let reason): lines.append("stop: \(reason)")
            case .drained: lines.append("drained")
            case .flagBug(let text): lines.append("BUG: \(text)")
            }
        }
    }

    private func name(_ message: MessageID) -> String {
        "m\((self.messages.firstIndex(of: message) ?? -1) + 1)"
    }

    private func name(_ leg: LegID) -> String {
        "\(self.name(leg.message)) \(leg.user.user)/\(leg.device?.rawValue ?? "-")"
    }

    private mutating func tell(_ command: StoreCommand) -> String {
        switch command {
        case .accept(let message, _):
            self.messages.append(message.id)
            return "accept \(self.name(message.id))"
        case .putConversation(let record): return "conversation \(record.conversation)"
        case .signIn(let key, _, _): return "sign in \(key.user.user)/\(key.device)"
        case .signOut(let key, _): return "sign out \(key.user.user)/\(key.device)"
        case .setPushState(let key, let state): return "token of \(key.user.user)/\(key.device) is \(Self.name(state))"
        case .advance(let key, let settled, let decided):
            let cursors = [settled.map { "settled \($0)" }, decided.map { "decided \($0)" }].compactMap(\.self)
            return "cursor \(key.user.user)/\(key.device) \(cursors.joined(separator: ", "))"
        case .markRead(let user, let conversation, let upTo, _): return "read \(user.user) \(conversation) \(upTo)"
        case .keepLeg(let open): return "keep \(self.name(open.leg)) \(open.wait.rawValue) after \(open.attempts)"
        case .endLeg(let ended):
            switch ended.end {
            case .accepted: return "end \(self.name(ended.leg)) accepted"
            default:
                return "end \(self.name(ended.leg)) \(ended.end.name)" + (ended.end.detail.map { " \($0)" } ?? "")
            }
        case .receipt(let leg, let receipt, _): return "receipt \(self.name(leg)) \(receipt.rawValue)"
        case .loadUser(let user): return "load \(user.user)"
        case .readLog(let user, let after, let limit): return "log \(user.user) after \(after), \(limit)"
        case .trace(_, let message): return "trace \(self.name(message))"
        }
    }

    private static func name(_ state: PushState) -> String {
        switch state {
        case .none: "none"
        case .registered: "registered"
        case .quarantined(_, _, let reason): "quarantined \(reason)"
        case .dead(let timestamp): "dead \(timestamp)"
        }
    }

    private func tell(_ frame: ServerFrame) -> String {
        switch frame {
        case .welcome(let welcome): "welcome head \(welcome.head) unread \(welcome.unread)"
        case .sendAccepted(let accepted):
            "accepted \(accepted.clientMessageID) \(self.name(accepted.messageID)) at \(accepted.position)"
        case .sendRefused(let id, let problem): "refused \(id) \(problem)"
        case .entry(let entry): "entry " + self.tell(entry)
        case .page(let page): "page [\(page.entries.map(self.tell).joined(separator: ", "))] head \(page.head)"
        case .pong(let number): "pong \(number)"
        case .problem(let problem, let isFatal): (isFatal ? "fatal " : "problem ") + problem.code.rawValue
        case .reconnect(let after): "reconnect after \(after)"
        }
    }

    private func tell(_ entry: LogEntry) -> String {
        switch entry.body {
        case .message(let message): "\(entry.position) \(self.name(message.id))"
        case .read(let conversation, let upTo): "\(entry.position) read \(conversation) \(upTo)"
        case .custom(let message): "\(entry.position) custom \(self.name(message.id))"
        case .recall(let recall): "\(entry.position) recall \(self.name(recall.message))"
        }
    }

    private func tell(_ request: APNsRequest) -> String {
        let payload = try? JSONValue(parsing: request.payload)
        let info = payload.flatMap { PushInfo(userInfo: $0) }
        let token = request.token.rawValue
        let name = stride(from: 0, to: token.count, by: 2).compactMap { offset -> Character? in
            let start = token.index(token.startIndex, offsetBy: offset)
            return UInt8(token[start..<token.index(start, offsetBy: 2)], radix: 16).map {
                Character(Unicode.Scalar($0))
            }
        }
        let badge = payload?["aps"]?["badge"]?.intValue ?? -1
        return
            "\(info.map { self.name($0.message) } ?? "?") to \(String(name)) badge \(badge)@\(info?.badgePosition ?? 0)"
    }

    private func tell(_ result: ApiResult) -> String {
        switch result {
        case .accepted(let accepted): "accepted \(self.name(accepted.messageID))"
        case .done: "done"
        case .refused(let problem): "refused \(problem.code.rawValue) \(problem.field)"
        case .trace(let trace): "trace of \(trace.map { self.name($0.message.id) } ?? "nothing")"
        case .page(let page): "page of \(page.entries.count)"
        }
    }
}

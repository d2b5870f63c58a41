import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreModel
import TidingsModel

/// A connection of a hostile client: no phone is behind it, and nobody answers its probes.
struct HostileSession {
    var user: UserID
    var device: DeviceID
    var life: Int
    var unanswered: Set<ClientMessageID> = []
}

struct HostileClients {
    var sessions: OrderedDictionary<SessionID, HostileSession> = [:]
    var lastSession = World.firstHostileSession
    var lastDevice = 0
    var lastMessage = 0
    /// Their own messages, newest last.
    var accepted: [MessageID] = []
    /// Their requests about groups they are not in; each is to be refused.
    var aboutGroups: [ClientRequest] = []
}

// Two people of the app with valid user tokens and clients of their own, who send the server whatever its protocol can express: made-up
// devices and push tokens, floods, ids of others. Others may notice nothing of them but their messages.
extension World {
    /// Sessions of phones are numbered from 1 on by their connections.
    static let firstHostileSession: UInt64 = 1 << 32
    static let hostilePeople: [UserID] = ["mallory", "mallet"]
    static let hostileSessionsMax = 6

    /// Tighter limits than an operator's, so that floods of a few hundred frames meet them; no person of the World
    /// does.
    static func limitHostileClients(_ limits: inout RateLimits) {
        for scope in [RateScope.connection, .person] {
            limits[scope, .messages] = RateLimit(perSecond: 2, burst: 80)
            limits[scope, .signals] = RateLimit(perSecond: 4, burst: 120)
            limits[scope, .requests] = RateLimit(perSecond: 20, burst: 400)
        }
    }

    static let madeUpAtOnce = 12

    /// With the app's client key, which stands in its binary.
    static let anonymousHostile = UserID("\(UserID.anonymousPrefix)mallory")

    var hostilePeople: [UserID] {
        Self.hostilePeople + (self.options.population.hasAnonymousPeople ? [Self.anonymousHostile] : [])
    }

    static func isHostile(_ user: UserID) -> Bool {
        self.hostilePeople.contains(user) || user == self.anonymousHostile
    }

    mutating func hostileActs() {
        guard !self.hasHealed else { return }
        self.beginDraw(of: .hostile)
        self.plan(.hostileActs, after: self.chance.number(5_000...40_000) * Night.slowness(at: self.time))
        guard self.server != nil, self.happens() else { return }
        self.emit(.reached(.hostileActs))
        let kind = self.chance.number(0...9)
        switch kind {
        case 0...2: self.makeUpDevices(Int(self.chance.number(1...Int64(Self.madeUpAtOnce))))
        case 3...4: self.writeToMadeUpDevices()
        case 5...6: self.flood()
        case 7: self.reviseOthers()
        case 8: self.writeToEverybody()
        default: self.recallOwnAndSync()
        }
    }

    // MARK: Connections

    private mutating func connectHostile(_ user: UserID, as device: DeviceID) -> SessionID? {
        if self.hostile.sessions.count >= Self.hostileSessionsMax { self.hangUpHostile(self.hostile.sessions.keys[0]) }
        guard self.server != nil else { return nil }
        self.hostile.lastSession += 1
        let session = SessionID(self.hostile.lastSession)
        self.hostile.sessions[session] = HostileSession(user: user, device: device, life: self.life)
        let hello = ClientFrame.Hello(
            versions: ProtocolVersion.supported, token: user.rawValue, device: device, platform: "none",
            runState: .foreground, after: 0)
        self.appendTrace("\(user) connects as \(device)")
        let checked = CheckedToken(user: UserKey(app: Self.app, user: user), expiresAt: 1 << 53)
        self.handle(
            ServerEvent.connected(session, hello, .valid(checked, extensionToken: "\(session.rawValue)")))
        return self.hostile.sessions[session] == nil ? nil : session
    }

    private mutating func hangUpHostile(_ session: SessionID) {
        guard let known = self.hostile.sessions.removeValue(forKey: session), known.life == self.life else { return }
        self.handle(ServerEvent.disconnected(session))
    }

    mutating func hangUpHostile() {
        for session in self.hostile.sessions.keys.elements { self.hangUpHostile(session) }
    }

    private mutating func hostileSession() -> SessionID? {
        if let session = self.drawn(self.hostile.sessions.keys.elements) { return session }
        guard let user = self.drawn(self.hostilePeople) else { return nil }
        return self.connectHostile(user, as: DeviceID("\(user)-phone"))
    }

    private mutating func sendHostileFrame(_ frame: ClientFrame, on session: SessionID) {
        guard let known = self.hostile.sessions[session], known.life == self.life else { return }
        if case .send(let draft) = frame { self.hostile.sessions[session]?.unanswered.insert(draft.clientMessageID) }
        self.handle(ServerEvent.frame(session, frame))
    }

    mutating func handleHostileFrame(_ frame: ServerFrame, on session: SessionID) {
        guard self.hostile.sessions[session] != nil else { return }
        switch frame {
        case .sendAccepted(let accepted):
            self.hostile.sessions[session]?.unanswered.remove(accepted.clientMessageID)
            self.hostile.accepted.append(accepted.messageID)
        case .sendRefused(let id, let problem):
            self.hostile.sessions[session]?.unanswered.remove(id)
            self.emit(.hostile(.refused(problem.code)))
        case .answer(_, .refused(let problem)), .problem(let problem, _): self.emit(.hostile(.refused(problem.code)))
        // A history is read from the person's own log, which has nothing of it.
        case .answer(_, .history([], hasMore: false)): return
        case .answer(let number, _):
            let place = Int(number) - Self.firstAboutGroups
            if self.hostile.aboutGroups.indices.contains(place) {
                self.emit(.hostile(.granted(self.hostile.aboutGroups[place])))
            }
        case .page(let page): for entry in page.entries { self.emit(.hostile(.toldEntry(entry))) }
        case .welcome, .entry, .pong, .reconnect, .signal, .tokenExpiring: break
        }
    }

    // MARK: What they do

    private mutating func makeUpDevices(_ count: Int) {
        guard let user = self.drawn(Self.hostilePeople) else { return }
        self.appendTrace("\(user) makes up \(count) devices")
        for _ in 0..<count {
            self.hostile.lastDevice += 1
            let device = DeviceID("made-up-\(self.hostile.lastDevice)")
            guard let session = self.connectHostile(user, as: device) else { return }
            let token = (0..<4).map { _ in
                Hexadecimal.text(UInt64.random(in: .min ... .max, using: &self.chance))
            }
            self.hostileWaits.append((session, PushToken(token.joined())))
        }
        // The server takes frames once the store has signed the device in.
        self.plan(.hostileRegisters(life: self.life), after: 2_000)
    }

    mutating func registerMadeUpDevices() {
        let waits = self.hostileWaits
        self.hostileWaits = []
        for (session, token) in waits {
            let registration = PushRegistration(
                token: token, environment: .sandbox, topic: Self.bundle.rawValue)
            self.sendHostileFrame(.registerPush(registration), on: session)
            self.sendHostileFrame(.runState(.suspending), on: session)
        }
    }

    private mutating func writeToMadeUpDevices() {
        guard let session = self.connectHostile("mallet", as: "mallet-phone") else { return }
        self.appendTrace("mallet writes to mallory")
        self.hostileDrafts.append((session, self.hostileDraft(to: ConversationID(type: .direct, target: "mallory"))))
        self.plan(.hostileWrites(life: self.life), after: 2_000)
    }

    /// Sends the drafts that waited until the store has signed the device in.
    mutating func writeHostileDrafts() {
        let drafts = self.hostileDrafts
        self.hostileDrafts = []
        for (session, draft) in drafts { self.sendHostileFrame(.send(draft), on: session) }
    }

    private mutating func hostileDraft(to conversation: ConversationID) -> MessageDraft {
        self.hostile.lastMessage += 1
        let name = "h\(self.hostile.lastMessage)"
        return Self.draft(name, to: conversation, saying: "hostile \(name)")
    }

    private mutating func flood() {
        guard let session = self.hostileSession(), let user = self.hostile.sessions[session]?.user else { return }
        let person = self.drawn(self.people) ?? user
        let direct = ConversationID(type: .direct, target: person.rawValue)
        let message = self.anyMessage()
        let kind = self.chance.number(0...7)
        // One connection has few messages under way at a time: what bounds them all is the person's limit.
        let own = self.hostile.sessions.elements.filter { $0.value.user == user }.map(\.key)
        self.appendTrace("\(user) floods, kind \(kind)")
        for number in 0..<250 {
            switch kind {
            case 0:
                let draft = self.hostileDraft(to: ConversationID(type: .direct, target: "mallory"))
                self.sendHostileFrame(.send(draft), on: own[number % own.count])
            case 1: self.sendHostileFrame(.typing(direct, isTyping: number.isMultiple(of: 2)), on: session)
            case 2: self.sendHostileFrame(.opened(message), on: session)
            case 3: self.sendHostileFrame(.opened(MessageID(rawValue: message.rawValue &+ UInt64(number))), on: session)
            case 4: self.sendHostileFrame(.sync(after: LogPosition(number), limit: .max), on: session)
            case 5: self.sendHostileFrame(.markRead(direct, upTo: LogPosition.max - LogPosition(number)), on: session)
            case 6: self.sendHostileFrame(.request(RequestNumber(number + 1), .receipts(message)), on: session)
            default: self.sendHostileFrame(.ack(.init(stored: LogPosition(number) * 1_000, settled: [])), on: session)
            }
        }
    }

    /// The number of the first question about a group of others: no others are numbered from there on.
    private static let firstAboutGroups = 1_000_000

    private mutating func reviseOthers() {
        guard let session = self.hostileSession() else { return }
        let message = self.anyMessage()
        self.appendTrace("a hostile client revises \(message)")
        let requests: [ClientRequest] = [
            .recall(message), .edit(message, content: #"{"content":"not theirs"}"#), .receipts(message),
        ]
        for (number, request) in requests.enumerated() {
            self.sendHostileFrame(.request(RequestNumber(1_000 + number), request), on: session)
        }
        for group in self.groups {
            self.hostile.aboutGroups = [
                .change(group, .rename("not theirs")), .change(group, .remove(self.people)),
                .change(group, .setRole("mallory", .owner)), .change(group, .dissolve),
                .history(group, before: nil, limit: 100),
                .conversation(group), .signOutDevice(self.phones[0].device),
            ]
            for (number, request) in self.hostile.aboutGroups.enumerated() {
                self.sendHostileFrame(.request(RequestNumber(Self.firstAboutGroups + number), request), on: session)
            }
            self.sendHostileFrame(.send(self.hostileDraft(to: group)), on: session)
        }
    }

    private mutating func anyMessage() -> MessageID {
        self.drawn(self.phones)?.disk.store.rows.messages.elements.last?.key ?? MessageID(rawValue: 1)
    }

    /// Has a person block one of them, who goes on writing in every kind of conversation, to that person and to another one, and as each
    /// account.
    private mutating func writeToEverybody() {
        guard let session = self.hostileSession(), let user = self.hostile.sessions[session]?.user,
            let person = self.drawn(self.people), let other = self.drawn(self.people)
        else { return }
        self.appendTrace("\(person) blocks \(user), who goes on writing")
        self.callAPI(.request(Self.app, actor: person, .setBlocked(user, true)))
        for target in [person, other] + self.anonymousPeople.prefix(1) {
            for type in ConversationType.allCases {
                let draft = self.hostileDraft(to: ConversationID(type: type, target: target.rawValue))
                self.hostileDrafts.append((session, draft))
            }
            for account in self.accounts.known.keys {
                var draft = self.hostileDraft(to: ConversationID(type: account.type, target: target.rawValue))
                draft.account = UserID(account.target)
                self.hostileDrafts.append((session, draft))
            }
        }
        self.plan(.hostileWrites(life: self.life), after: 5_000)
    }

    /// One of them recalls a message, and looks at it from a device that was never there.
    private mutating func recallOwnAndSync() {
        guard let message = self.hostile.accepted.last, let session = self.hostileSession() else { return }
        self.appendTrace("a hostile client recalls \(message) and reads on")
        self.sendHostileFrame(.request(1, .recall(message)), on: session)
        self.sendHostileFrame(.sync(after: 0, limit: 200), on: session)
    }
}

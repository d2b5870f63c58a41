// tidy: long because it makes each kind of command there is.
import StoreMachine
import StoreModel
import TidingsModel

/// Commands about a few people, devices and groups in two apps, sensible and senseless ones mixed. Names are more often than not ones
/// that were used before, so that commands meet.
struct CommandGenerator {
    var random: SplitMix64
    private var lastID: UInt64 = 1000
    private(set) var clock: Int64 = 1_800_000_000_000

    private(set) var made: [Message] = []
    /// Whose level last got an end, and where.
    private var levelled: (UserKey, ConversationID)?
    /// Who blocked whom last.
    private(set) var blocked: (UserKey, UserID)?
    /// What somebody blocked last said in a group.
    private var ofBlockedMember: Message?
    private var banned: (user: UserKey, room: ConversationID)?
    /// Who was muted or removed last, and where.
    private(set) var muted: (user: UserKey, conversation: ConversationID)?
    /// Who does not let everybody add them.
    private var reserved: UserKey?
    private var signedIn: [DeviceKey] = []
    private var commands = 0
    /// The last accounts of the shop of which something was said, and that people follow.
    var account: ServiceAccount?
    var followed: ConversationID?

    /// The jobs, what their steps may have sent, and the aliases are in CommandGenerator+Pushes.swift.
    var jobs: [(app: AppID, id: PushJobID)] = []
    var pushed: [(app: AppID, job: PushJobID, id: MessageID)] = []
    /// Whether the newest job has a local time, and how many commands have led through its passes.
    var isJobLocal = false
    var passTurns = 0

    /// As `isAboutControl`, about push jobs.
    private let isAboutPushes: Bool

    /// Most commands are about apps and operators: among all the others they would not meet.
    private let isAboutControl: Bool

    init(seed: UInt64) {
        self.random = SplitMix64(seed: seed)
        self.isAboutControl = seed % 8 == 5
        self.isAboutPushes = seed % 8 == 3
    }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.random) }

    mutating func chance(_ percent: Int) -> Bool { self.number(0..<100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[self.number(0..<elements.count)] }

    mutating func app() -> AppID { self.chance(85) ? "shop" : "club" }

    mutating func user() -> UserID { self.pick(["ada", "ada", "bo", "bo", "cy", "dee", "eve"]) }

    mutating func userKey() -> UserKey { UserKey(app: self.app(), user: self.user()) }

    /// The next ones, mostly.
    mutating func ids(_ count: Int) -> [MessageID] {
        let first = self.chance(95) ? self.lastID + 1 : self.lastID
        self.lastID = first + UInt64(count) - (count > 0 ? 1 : 0)
        return (0..<count).map { MessageID(rawValue: first + UInt64($0)) }
    }

    mutating func deviceKey() -> DeviceKey {
        if !self.signedIn.isEmpty, self.chance(60) { return self.pick(self.signedIn) }
        return DeviceKey(user: self.userKey(), device: self.chance(80) ? "phone" : "pad")
    }

    private mutating func membersConversation() -> ConversationID {
        ConversationID(
            type: self.pick([.group, .group, .group, .discussion, .chatRoom]), target: self.chance(90) ? "team" : "hall"
        )
    }

    mutating func conversation() -> ConversationID {
        self.chance(45)
            ? ConversationID(
                type: self.pick([.direct, .direct, .direct, .system, .customerService, .publicService]),
                target: self.user().rawValue)
            : self.membersConversation()
    }

    private mutating func messageID() -> MessageID {
        if !self.made.isEmpty, self.chance(75) { return self.pick(self.made).id }
        return MessageID(rawValue: self.chance(50) ? self.lastID : UInt64(self.number(1000..<Int(self.lastID) + 2)))
    }

    mutating func earlier() -> Message {
        !self.made.isEmpty && self.chance(90) ? self.pick(self.made) : self.message()
    }

    mutating func position() -> LogPosition { LogPosition(self.number(0..<9)) }

    mutating func time() -> Int64 {
        self.clock += Int64(self.number(0..<500))
        return self.clock
    }

    private mutating func leg() -> LegID {
        let device: DeviceID? = self.chance(85) ? self.pick(["phone", "pad"]) : nil
        return LegID(message: self.messageID(), user: self.userKey(), device: device)
    }

    mutating func message() -> Message {
        if self.chance(92) { self.lastID += UInt64(self.number(1..<4)) }
        var flags = MessageFlags.normal
        if self.chance(20) { flags.remove(.counted) }
        if self.chance(10) { flags.remove(.stored) }
        let id = self.chance(95) ? MessageID(rawValue: self.lastID) : self.messageID()
        let isLong = self.chance(10)
        var app = self.app()
        var sender = self.user()
        var conversation = self.conversation()
        var isOfBlocked = false
        if let (key, user) = self.blocked, self.chance(15) {
            let direct = ConversationID(type: .direct, target: key.user.rawValue)
            (app, sender, conversation) = (key.app, user, self.chance(60) ? direct : self.membersConversation())
            isOfBlocked = true
        }
        if let (key, room) = self.banned, self.chance(30) { (app, sender, conversation) = (key.app, key.user, room) }
        if let (key, place) = self.muted, self.chance(15) { (app, sender, conversation) = (key.app, key.user, place) }
        let isDirected = !conversation.type.targetIsPeer && self.chance(25)
        var message = Message(
            id: id, app: app, sender: sender, conversation: conversation,
            clientMessageID: ClientMessageID("c\(self.number(0..<40))"), objectName: self.objectName(),
            content: isLong ? String(repeating: "tidings ", count: 100) : self.shortContent(), flags: flags,
            pushText: self.chance(30) ? "psst" : nil, sentAt: self.time(), mentions: self.mentions(),
            recipients: isDirected ? self.users(1..<3) : [], expiresAt: self.chance(10) ? self.time() : nil,
            push: self.chance(10) ? self.pushOptions() : nil)
        // Sent again, as it was.
        if let earlier = self.made.last, self.chance(6) {
            message = earlier
            message.id = id
        }
        self.made.append(message)
        if isOfBlocked, !conversation.type.targetIsPeer { self.ofBlockedMember = message }
        if self.made.count > 6 { self.made.removeFirst() }
        return message
    }

    mutating func objectName() -> ObjectName {
        self.chance(70) ? .text : self.pick(["RC:ImgMsg", "my:Card", "my:Poll"])
    }

    mutating func users(_ count: Range<Int>) -> [UserID] {
        Set((0..<self.number(count)).map { _ in self.user() }).sorted()
    }

    private mutating func mentions() -> Mentions {
        self.chance(70) ? .none : self.chance(30) ? .everyone : .users(self.users(1..<3))
    }

    private mutating func pushState() -> PushState {
        let registration = PushRegistration(
            token: self.chance(85) ? "ab12" : "cd34", environment: self.chance(85) ? .sandbox : .production,
            topic: "com.example")
        switch self.number(0..<6) {
        case 0: return .none
        case 1: return .quarantined(registration, at: self.time(), reason: "BadDeviceToken")
        case 2: return .dead(timestamp: self.time())
        default: return .registered(registration, at: self.time(), wasAccepted: self.chance(40))
        }
    }

    mutating func end() -> LegEnd {
        self.pick([
            .ownDevice, .noDevice, .signedOut, .notNotifiable, .settled(.shown), .settled(.notified),
            .settled(.appHandled), .settled(.leftToApp), .settled(.suppressed(.providerMissing)), .readElsewhere,
            .recalled, .expired, .muted, .disabled, .noToken, .blocked, .tokenQuarantined(reason: "", status: 0),
            .tokenQuarantined(reason: "BadDeviceToken", status: 400),
            .accepted(apnsID: "A-1"), .tokenDead(timestamp: -5),
            .rejected(reason: "TooBig"),
        ])
    }

    mutating func next() -> StoreCommand {
        if self.chance(6) { return .readKept(self.idempotencyKey(), at: self.time()) }
        if self.chance(12) { return self.once() }
        return self.plain()
    }

    mutating func plain() -> StoreCommand {
        if self.isAboutControl, self.chance(65) { return self.nextAboutControl() }
        if self.isAboutPushes, self.chance(75) { return self.nextAboutPushes() }
        self.commands += 1
        // At first there is a team, more often than not.
        if self.commands <= 2, self.chance(70) {
            return .change(
                ConversationOperation(
                    app: "shop", conversation: ConversationID(type: .group, target: "team"),
                    action: .create(name: "Team", portrait: nil, members: self.users(1..<5)), actor: self.user(),
                    at: self.time()))
        }
        if self.commands <= 4, self.chance(50) { return self.signIn() }
        if self.commands == 5, self.chance(40) {
            let room = ConversationID(type: .chatRoom, target: "team")
            return .putConversation(
                ConversationRecord(app: "shop", conversation: room, name: "Hall", members: self.users(0..<4)))
        }
        // Who is banned tries to come back, or few runs would see them refused.
        if self.banned != nil, self.chance(8) { return .change(self.operation()) }
        switch self.number(0..<192) {
        case 0..<34:
            return .accept(
                message: self.message(), senderDevice: self.chance(50) ? "phone" : nil, room: self.roomAccess(),
                past: self.chance(8) ? [.blocks, .ban] : [], push: self.chance(8) ? self.pushOptions() : nil)
        case 34..<39: return self.putConversation()
        case 39..<45: return self.signIn()
        case 45..<47: return .signOut(self.deviceKey(), at: self.time())
        case 47..<56:
            let settled = self.chance(70) ? self.position() : nil
            return .advance(self.deviceKey(), settled: settled, decided: self.chance(50) ? self.position() : nil)
        case 56..<65:
            let message = self.earlier()
            let user = message.conversation.type.targetIsPeer ? UserID(message.conversation.target) : self.user()
            return .markRead(
                self.chance(70) ? UserKey(app: message.app, user: user) : self.userKey(),
                self.chance(70) ? message.conversation(seenBy: user) : self.conversation(), upTo: self.position(),
                at: self.time())
        case 65..<70:
            return .keepLeg(
                OpenLeg(
                    leg: self.leg(), position: self.position(), wait: self.pick(LegWait.allCases),
                    apnsID: self.chance(50) ? "A-2" : nil, attempts: self.number(0..<4),
                    notBefore: self.chance(50) ? self.time() : nil, steps: self.steps()))
        case 70..<75:
            return .endLeg(EndedLeg(leg: self.leg(), end: self.end(), at: self.time(), steps: self.steps()))
        case 75..<77: return .receipt(self.leg(), self.pick([.shown, .opened]), at: self.time())
        case 77..<117: return self.nextAboutConversations()
        case 117..<127:
            let about = self.chance(40) ? self.pushState().registration : nil
            let (key, state) = (self.deviceKey(), self.pushState())
            // Drawn from what is there, so that the other commands stay as they were.
            if about == nil, case .dead = state { return .setDeviceStatus(key, Self.reportedStatus(self.clock)) }
            return .setPushState(key, state, about: about)
        case 127..<129:
            let names: [ObjectName] = self.chance(30) ? [] : ["my:Poll", "my:Card", "my:Poll"]
            return .setObjectNames(self.app(), self.chance(90) ? Array(names.dropLast(self.number(0..<3))) : [""])
        case 135..<138: return .changeAccount(self.userKey(), self.accountChange(), at: self.time())
        case 138: return .readAccount(self.userKey())
        case 129..<135: return self.declareAccount()
        case 139..<143: return self.setProfiles()
        case 143: return self.readProfiles()
        case 171..<177: return self.readMedia()
        case 177..<183: return self.setVoIPToken()
        case 183..<192: return self.nextAboutAccounts()
        default: return self.nextQuestion()
        }
    }

    private static func reportedStatus(_ clock: Int64) -> ReportedStatus {
        let isEven = clock % 2 == 0
        let status = DeviceStatus(
            authorization: isEven ? .authorized : .denied, alert: isEven, sound: true, badge: true, lockScreen: true,
            notificationCenter: clock % 3 == 0, backgroundRefresh: .available,
            iconNumber: DeviceStatus.IconNumber.allCases[Int(clock.magnitude % 3)], isLowPowerModeOn: isEven,
            timeZone: "Europe/Berlin", languages: isEven ? [] : ["de", "en-GB"], appVersion: "1.2",
            systemVersion: "17.4", model: isEven ? "" : "iPhone16,1")
        return ReportedStatus(status, at: clock, offSince: isEven ? nil : clock - 5)
    }

    private mutating func setVoIPToken() -> StoreCommand {
        let registration = PushRegistration(
            token: self.pick(["ab12", "cd34"]), environment: .production, topic: "com.example.voip")
        let token = self.chance(80) ? VoIPToken(registration, at: self.time()) : nil
        return .setVoIPToken(self.deviceKey(), token, about: self.chance(15) ? registration : nil)
    }

    private mutating func setProfiles() -> StoreCommand {
        let profiles = self.users(0..<4).map { user in
            let name = self.chance(95) ? self.pick([nil, "Ann", "Desk", "d e s k", "Desk"]) : ""
            return UserProfile(
                user,
                Profile(name: name, portrait: self.chance(30) ? (name == nil ? Self.media[0].reference : "p") : nil))
        }
        return .setProfiles(self.app(), profiles, isOwn: self.chance(70))
    }

    mutating func signIn() -> StoreCommand {
        let key = self.deviceKey()
        self.signedIn.append(key)
        return .signIn(
            key, platform: self.pick(["ios", "linux"]),
            tokenIssuedAt: self.chance(90) ? self.clock - Int64(self.number(0..<1_000)) : nil,
            at: self.time())
    }

    private mutating func nextQuestion() -> StoreCommand {
        if let (key, room) = self.banned, self.chance(20) {
            return .readHistory(key, room, before: nil, limit: 3, room: self.roomAccess())
        }
        switch self.number(0..<12) {
        case 9: return .readAccounts(self.app(), limit: self.number(1..<4))
        case 10:
            if let (key, user) = self.blocked, self.chance(40) {
                return .mayWrite(
                    UserKey(app: key.app, user: user), .init(type: .direct, target: key.user.rawValue),
                    room: self.roomAccess())
            }
            if let (key, place) = self.muted, self.chance(80) { return .mayWrite(key, place, room: self.roomAccess()) }
            return .mayWrite(self.userKey(), self.conversation(), room: self.roomAccess())
        case 11:
            return .readRestrictions(
                self.pick([.bans, .mutes, .invitations]), self.app(), self.membersConversation(),
                asked: self.chance(60) ? self.user() : nil, at: self.time())
        case 6: return .readUnread(self.userKey(), self.chance(80) ? self.conversation() : nil)
        case 7:
            let app = self.app()
            return self.clock % 2 == 0 ? .readStorageUse(app) : .readObjectNames(app)
        case 8:
            let message = self.earlier()
            return .readReceipts(message.app, message.id, asked: self.chance(50) ? message.sender : nil)
        case 0: return .loadUser(self.userKey())
        case 1:
            return .readLog(
                self.userKey(), after: self.position(), limit: self.number(0..<8),
                frameBytesMax: self.pick([.max, 0, 600, 1_200]))
        case 2:
            let (app, id) = (self.app(), self.messageID())
            if self.clock % 3 == 0 { return .readMessage(app, id) }
            return self.clock % 2 == 0 ? .readLegs(self.legQuestion(app, id)) : .trace(app, id)
        case 3:
            return .readConversation(
                self.app(), self.membersConversation(), asked: self.chance(70) ? self.user() : nil, at: self.time())
        case 4:
            let user = self.userKey()
            return self.clock % 2 == 0 ? .readStorageUse(user.app) : .readSettings(user)
        default:
            if let (key, room) = self.banned, self.chance(75) {
                let user = self.chance(70) ? key : self.userKey()
                return .readHistory(user, room, before: nil, limit: 3, room: self.roomAccess())
            }
            if self.chance(15) { return self.readRoom() }
            let message = self.earlier()
            return .readHistory(
                UserKey(app: message.app, user: self.user()),
                self.chance(60) ? message.conversation : self.conversation(),
                before: self.chance(40) ? message.id : nil, limit: self.chance(90) ? self.number(1..<6) : 0,
                room: self.roomAccess())
        }
    }

    private mutating func putConversation() -> StoreCommand {
        let members = self.users(0..<5).map { id in
            Member(id, role: self.chance(20) ? .admin : .member, nickname: self.chance(20) ? "Nick" : nil)
        }
        return .putConversation(
            ConversationRecord(
                app: self.app(),
                conversation: self.chance(95) ? self.membersConversation() : self.conversation(),
                name: self.pick(["Team", "The team"]), portrait: self.chance(20) ? "https://example.com/p" : nil,
                members: members, push: self.chance(25) ? self.pushOptions().nonEmpty : nil))
    }

    mutating func pushOptions() -> PushOptions {
        PushOptions(
            title: self.chance(40) ? "Desk" : nil,
            subtitle: self.chance(20) ? .localized(key: "FROM", arguments: ["Ada"]) : nil,
            text: self.chance(20) ? "News" : nil, sound: self.chance(60) ? self.pick(["a.caf", "b.caf"]) : nil,
            interruptionLevel: self.chance(30) ? .passive : nil, threadID: self.chance(30) ? "desk" : nil,
            imageURL: self.chance(30) ? self.pick(Self.media).reference : nil,
            custom: self.chance(30) ? JSONObject([("order", .int(self.number(0..<9)))]) : nil)
    }
}

extension CommandGenerator {
    private mutating func nextAboutConversations() -> StoreCommand {
        switch self.number(0..<40) {
        case 0..<14: return .change(self.operation())
        case 14..<18: return self.recall()
        case 18..<21:
            let message = self.ofBlocked() ?? self.ofMuted() ?? self.earlier()
            return .edit(
                EditOperation(
                    app: self.chance(90) ? message.app : self.app(), message: message.id,
                    actor: self.actor(about: message),
                    content: self.pick([message.content, "ho", "ho", "", self.mediaContent()]),
                    window: Int64(self.number(0..<4_000)), room: self.roomAccess(), at: self.time()))
        case 21..<26: return self.deletion()
        case 26..<30: return self.chance(50) ? self.conversationSettings() : self.conversationState()
        case 30:
            let (key, conversation) =
                self.chance(80)
                ? self.levelled ?? (self.userKey(), self.conversation()) : (self.userKey(), self.conversation())
            return .endLevel(key, conversation, at: self.time() + Int64(self.number(0..<400)))
        case 31..<33:
            let (key, settings) = (self.userKey(), self.personSettings())
            if settings.mayBeAddedBy ?? .everybody != .everybody { self.reserved = key }
            return .setPersonSettings(key, settings, at: self.time())
        case 33..<37:
            var (key, user) = (self.userKey(), self.user())
            if self.chance(40), let message = self.made.last(where: \.conversation.type.targetIsPeer) {
                key = UserKey(app: message.app, user: UserID(message.conversation.target))
                user = message.sender
            }
            self.blocked = (key, user)
            return .setBlocked(key, user, self.chance(80), at: self.time())
        default: return self.custom()
        }
    }

    private mutating func operation() -> ConversationOperation {
        if let (key, room) = self.banned, self.chance(25) {
            let joins = self.chance(50)
            return ConversationOperation(
                app: key.app, conversation: room, action: joins ? .join : .add([key.user]),
                actor: joins ? key.user : nil,
                at: self.time())
        }
        // Who is blocked tries to bring in the one who blocks.
        if let (key, user) = self.blocked, self.chance(12) {
            let members = [key.user, self.user()]
            return ConversationOperation(
                app: key.app, conversation: self.membersConversation(),
                action: self.chance(40) ? .create(name: "Team", portrait: nil, members: members) : .add(members),
                actor: user, policy: .init(create: .anyone, join: .anyone, add: .members), at: self.time())
        }
        // Who is to be asked is brought in, and answers.
        if let key = self.reserved, self.chance(25) {
            let action: ConversationAction =
                switch self.number(0..<6) {
                case 0:
                    .create(name: "Team", portrait: self.pick([nil, "p"]), members: [key.user, self.user()].sorted())
                case 1, 2: .add(Set([key.user, self.user()]).sorted())
                case 3: .join
                case 4: .decline
                default: .withdraw([key.user])
                }
            let answers = action == .join || action == .decline
            return ConversationOperation(
                app: key.app, conversation: self.membersConversation(), action: action,
                actor: answers ? key.user : self.user(),
                policy: .init(create: .anyone, join: .nobody, add: .members), at: self.time())
        }
        // Who has said something in a group is muted there, or removed.
        if self.chance(16), let said = self.made.last(where: { !$0.conversation.type.targetIsPeer }) {
            self.muted = (UserKey(app: said.app, user: said.sender), said.conversation)
            return ConversationOperation(
                app: said.app, conversation: said.conversation,
                action: self.chance(70) ? .mute([said.sender], until: nil) : .remove([said.sender]), actor: nil,
                at: self.time())
        }
        let (app, action) = (self.app(), self.action())
        var conversation = self.membersConversation()
        if case .mute(let users, _) = action, let user = users.first {
            self.muted = (UserKey(app: app, user: user), conversation)
        }
        if case .ban(let users, _) = action, self.chance(90) {
            conversation = ConversationID(type: .chatRoom, target: "team")
            if let user = users.first { self.banned = (UserKey(app: app, user: user), conversation) }
        }
        return ConversationOperation(
            app: app, conversation: conversation, action: action,
            actor: self.chance(60) ? self.user() : nil, membersMax: self.chance(80) ? 3_000 : 2,
            policy: self.chance(80) ? nil : .init(create: .backend, join: .nobody, add: .members), at: self.time())
    }

    private mutating func actor(about message: Message) -> UserID? {
        self.chance(50) ? message.sender : self.chance(70) ? self.user() : nil
    }

    private mutating func deletion() -> StoreCommand {
        let message = self.earlier()
        let user = self.chance(40) ? message.sender : self.user()
        var messages = [message.id]
        if self.chance(30) { messages.append(self.messageID()) }
        if self.chance(8) { messages = [] }
        let conversation = self.chance(90) ? message.conversation(seenBy: user) : self.conversation()
        return .delete(
            UserKey(app: message.app, user: user), Deletion(conversation: conversation, messages: messages),
            at: self.time())
    }

    private mutating func action() -> ConversationAction {
        switch self.number(0..<23) {
        case 17, 18: .mute(self.users(0..<3), until: self.chance(40) ? nil : self.clock + Int64(self.number(0..<3_000)))
        case 19: .unmute(self.users(0..<3))
        case 20: .setOnlyAdminsWrite(self.chance(50))
        case 21: .withdraw(self.users(0..<3))
        case 22: .decline
        case 0, 1: .create(name: "Team", portrait: self.chance(30) ? "p" : nil, members: self.users(0..<5))
        case 2, 3: .add(self.users(0..<3))
        case 4: .join
        case 5: .remove(self.users(0..<3))
        case 6, 7: .leave
        case 8: .rename(self.pick(["Team", "Crew", ""]))
        case 9: .setPortrait(self.chance(50) ? "q" : nil)
        case 10: .setRole(self.user(), self.pick(MemberRole.allCases))
        case 11: .setNickname(self.user(), self.pick([nil, "Nick", "Nack"]))
        case 12, 13: .ban(self.users(0..<3), until: self.chance(50) ? nil : self.clock + Int64(self.number(0..<2_000)))
        case 14: .unban(self.users(0..<3))
        default: self.chance(40) ? .dissolve : .join
        }
    }

    private mutating func recall() -> StoreCommand {
        var message = self.earlier()
        if let said = self.ofBlockedMember, self.chance(30) { message = said }
        if self.chance(90) { self.lastID += 1 }
        return .recall(
            RecallOperation(
                id: MessageID(rawValue: self.lastID), app: self.chance(90) ? message.app : self.app(),
                message: message.id, actor: self.actor(about: message), window: Int64(self.number(0..<4_000)),
                room: self.roomAccess(), at: self.time()))
    }

    private mutating func conversationSettings() -> StoreCommand {
        let settings = ConversationSettings(
            level: self.pick([nil, .blocked, .blocked, .mentions, .all]),
            levelUntil: self.chance(40) ? self.time() + Int64(self.number(0..<300)) : nil)
        let key = self.userKey()
        let conversation = self.conversation()
        if settings.levelUntil != nil { self.levelled = (key, conversation) }
        return .setConversationSettings(key, conversation, settings, at: self.clock)
    }

    private mutating func personSettings() -> PersonSettings {
        var settings = PersonSettings(hidesContent: self.chance(20), language: self.pick([nil, "de", "zh-Hans"]))
        if self.chance(60) { settings.levels[self.pick([.direct, .group, .system])] = self.pick([.blocked, .all]) }
        if self.chance(30) {
            settings.quietHours = QuietHours(
                start: self.pick([1_320, 1_440]), end: 420, weekdays: [1, 7], timeZone: "Europe/Berlin",
                manner: self.pick([.defer, .drop]))
        }
        if self.chance(50) { settings.mayBeAddedBy = self.pick(AddingConsent.allCases) }
        return settings
    }

    private mutating func custom() -> StoreCommand {
        if self.chance(90) { self.lastID += 1 }
        let message = CustomMessage(
            id: MessageID(rawValue: self.lastID), title: self.chance(50) ? "Tidings" : nil, content: "c",
            contentType: self.chance(50) ? "text" : nil, extras: JSONObject([("n", .int(self.number(0..<9)))]),
            sentAt: self.time(), expiresAt: self.chance(30) ? self.time() + 1 : nil)
        return .acceptCustom(
            CustomOperation(
                app: self.app(), message: message, recipients: self.users(0..<3),
                clientMessageID: ClientMessageID("x\(self.number(0..<2))")))
    }
}

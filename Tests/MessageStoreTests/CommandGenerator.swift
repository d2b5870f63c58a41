import StoreModel
import TidingsModel

/// A small seeded generator (SplitMix64): the same seed gives the same commands everywhere.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var value = self.state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}

/// Commands about a few people, devices and groups in two apps, sensible and senseless ones mixed.
struct CommandGenerator {
    var random: SeededGenerator
    private var lastID: UInt64 = 1000
    private var clock: Int64 = 1_800_000_000_000

    init(seed: UInt64) { self.random = SeededGenerator(state: seed) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self.random) }

    mutating func chance(_ percent: Int) -> Bool { self.number(0..<100) < percent }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[self.number(0..<elements.count)] }

    private mutating func app() -> AppID { self.chance(85) ? "shop" : "club" }

    private mutating func user() -> UserID { self.pick(["ada", "bo", "cy", "dee", "eve"]) }

    private mutating func userKey() -> UserKey { UserKey(app: self.app(), user: self.user()) }

    private mutating func deviceKey() -> DeviceKey {
        DeviceKey(user: self.userKey(), device: self.pick(["phone", "pad"]))
    }

    private mutating func membersConversation() -> ConversationID {
        ConversationID(type: self.pick([.group, .group, .discussion, .chatRoom]), target: self.pick(["team", "hall"]))
    }

    private mutating func conversation() -> ConversationID {
        self.chance(55)
            ? ConversationID(type: self.pick([.direct, .direct, .system, .pushService]), target: self.user().rawValue)
            : self.membersConversation()
    }

    private mutating func messageID() -> MessageID {
        MessageID(rawValue: self.chance(85) ? self.lastID : UInt64(self.number(1000..<Int(self.lastID) + 2)))
    }

    private mutating func position() -> LogPosition { LogPosition(self.number(0..<9)) }

    private mutating func time() -> Int64 {
        self.clock += Int64(self.number(0..<500))
        return self.clock
    }

    private mutating func leg() -> LegID {
        let device: DeviceID? = self.chance(85) ? self.pick(["phone", "pad"]) : nil
        return LegID(message: self.messageID(), user: self.userKey(), device: device)
    }

    private mutating func message() -> Message {
        if self.chance(92) { self.lastID += UInt64(self.number(1..<4)) }
        var flags = MessageFlags.normal
        if self.chance(20) { flags.remove(.counted) }
        if self.chance(10) { flags.remove(.stored) }
        let id = self.chance(95) ? MessageID(rawValue: self.lastID) : self.messageID()
        let isLong = self.chance(10)
        return Message(
            id: id, app: self.app(), sender: self.user(), conversation: self.conversation(),
            clientMessageID: ClientMessageID("c\(self.number(0..<12))"), objectName: .text,
            content: isLong ? String(repeating: "tidings ", count: 100) : "{\"content\":\"héllo\"}", flags: flags,
            pushText: self.chance(30) ? "psst" : nil, sentAt: self.time())
    }

    private mutating func pushState() -> PushState {
        let registration = PushRegistration(
            token: self.pick(["ab12", "cd34"]), environment: self.pick([.sandbox, .production]), topic: "com.example")
        switch self.number(0..<4) {
        case 0: return .none
        case 1: return .quarantined(registration, at: self.time(), reason: "BadDeviceToken")
        case 2: return .dead(timestamp: self.time())
        default: return .registered(registration, at: self.time())
        }
    }

    private mutating func end() -> LegEnd {
        self.pick([
            .ownDevice, .noDevice, .signedOut, .notNotifiable, .settled(.shown), .settled(.appHandled),
            .settled(.leftToApp), .settled(.suppressed(.providerMissing)), .readElsewhere, .recalled, .expired, .muted,
            .noToken, .tokenQuarantined, .accepted(apnsID: "A-1"), .tokenDead(timestamp: -5),
            .rejected(reason: "TooBig"),
        ])
    }

    /// The next command.
    mutating func next() -> StoreCommand {
        switch self.number(0..<100) {
        case 0..<34: return .accept(message: self.message(), senderDevice: self.chance(50) ? "phone" : nil)
        case 34..<42: return self.putConversation()
        case 42..<50: return .signIn(self.deviceKey(), platform: self.pick(["ios", "linux"]), at: self.time())
        case 50..<53: return .signOut(self.deviceKey(), at: self.time())
        case 53..<57: return .setPushState(self.deviceKey(), self.pushState())
        case 57..<64:
            let settled = self.chance(70) ? self.position() : nil
            return .advance(self.deviceKey(), settled: settled, decided: self.chance(50) ? self.position() : nil)
        case 64..<73:
            return .markRead(self.userKey(), self.conversation(), upTo: self.position(), at: self.time())
        case 73..<79:
            return .keepLeg(
                OpenLeg(
                    leg: self.leg(), position: self.position(), wait: self.pick(LegWait.allCases),
                    apnsID: self.chance(50) ? "A-2" : nil, attempts: self.number(0..<4),
                    notBefore: self.chance(50) ? self.time() : nil))
        case 79..<86: return .endLeg(EndedLeg(leg: self.leg(), end: self.end(), at: self.time()))
        case 86..<89: return .receipt(self.leg(), self.pick([.shown, .opened]), at: self.time())
        case 89..<92: return .loadUser(self.userKey())
        case 92..<96: return .readLog(self.userKey(), after: self.position(), limit: self.number(0..<8))
        default: return .trace(self.app(), self.messageID())
        }
    }

    private mutating func putConversation() -> StoreCommand {
        let members = (0..<self.number(0..<5)).map { _ in self.user() }
        return .putConversation(
            ConversationRecord(
                app: self.app(),
                conversation: self.chance(95) ? self.membersConversation() : self.conversation(),
                name: self.pick(["Team", "The team"]), members: members))
    }
}

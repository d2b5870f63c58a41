import APNsModel
import ClientCore
import OrderedCollections
import PhoneCore
import ServerCore
import StoreMachine
import StoreModel
import TidingsModel

@testable import World

/// Facts of a run that nobody ran, told to one promise. What the store says is said by the real one, in memory.
struct Story {
    var checkers: Checkers
    private let store = MemoryStore()
    private var epoch: UInt64 = 0
    private var wall = World.wallStart
    private var messages: UInt32 = 0

    init(_ checker: some Checker) {
        self.checkers = Checkers([checker])
        self.epoch = self.store.open().epoch
        self.emit(.serverStarted)
        for key in [ann1, ann2, bob1] { self.commit(.signIn(key, platform: "ios", at: self.wall)) }
    }

    /// The names of the promises that did not hold, in the order found.
    var broken: [String] { self.checkers.violations.map(\.promise) }

    mutating func emit(_ fact: Fact) {
        self.checkers.observe(fact, at: Now(monotonic: self.wall - World.wallStart, wall: self.wall))
    }

    mutating func wait(_ milliseconds: Int64) { self.wall += milliseconds }

    var now: Int64 { self.wall }

    /// The store carries a command out, and the server's core hears of it.
    @discardableResult
    mutating func commit(_ command: StoreCommand, isHeard: Bool = true) -> StoreResult {
        guard let result = try? self.store.apply(command, epoch: self.epoch) else { return .failed("no owner") }
        self.emit(.committed(command, result))
        if isHeard { self.emit(.heard) }
        return result
    }

    /// A message that is not accepted yet.
    mutating func message(
        from sender: UserID = "bob", to conversation: ConversationID = toAnn, mentions: Mentions = .none,
        flags: MessageFlags = .normal
    ) -> Message {
        self.messages += 1
        return Message(
            id: MessageID(wallMilliseconds: self.wall, node: 1, counter: self.messages), app: World.app,
            sender: sender, conversation: conversation, clientMessageID: ClientMessageID("c\(self.messages)"),
            objectName: .text, content: "{\"content\":\"\(self.messages)\"}", flags: flags, pushText: nil,
            sentAt: self.wall, mentions: mentions)
    }

    /// A message bob's phone has sent.
    mutating func accept(_ message: Message) { self.commit(.accept(message: message, senderDevice: "bob-1")) }

    /// A message is accepted; by default from bob to ann.
    mutating func accepted(
        from sender: UserID = "bob", to conversation: ConversationID = toAnn, mentions: Mentions = .none,
        flags: MessageFlags = .normal
    ) -> Message {
        let message = self.message(from: sender, to: conversation, mentions: mentions, flags: flags)
        self.accept(message)
        return message
    }

    mutating func recall(_ message: Message, isHeard: Bool = true) -> Recall? {
        let operation = RecallOperation(
            id: MessageID(wallMilliseconds: self.wall, node: 2, counter: 1), app: World.app, message: message.id,
            actor: message.sender, window: 120_000, at: self.wall)
        guard case .recalled(let recall, _, _, _) = self.commit(.recall(operation), isHeard: isHeard) else {
            return nil
        }
        return recall
    }

    mutating func end(_ message: MessageID, on key: DeviceKey, as end: LegEnd) {
        let leg = LegID(message: message, user: key.user, device: key.device)
        self.commit(.endLeg(EndedLeg(leg: leg, end: end, at: self.wall)))
    }

    /// The server hands a push to APNs.
    ///
    /// - Parameters:
    ///   - counted: the places of other messages it counts.
    ///   - badge: the number it brings, and the place that was computed at.
    mutating func push(
        _ message: Message, at position: LogPosition = 1, to key: DeviceKey = ann1, title: PushLine = "bob",
        text: String? = nil,
        counted: [LogPosition] = [], badge: (number: Int, place: LogPosition)? = nil, options: PushOptions? = nil
    ) {
        var info = PushInfo(
            message: message.id, position: position, badgePosition: badge?.place ?? position, recipientTag: "tag",
            text: text.map { PushInfo.Text(title: title, body: .text($0)) })
        info.counted = counted
        let thread = options?.threadID ?? message.conversation(seenBy: key.user.user).description
        var aps: [(String, JSONValue)] = [("alert", .string("New message")), ("thread-id", .string(thread))]
        if let badge { aps.append(("badge", .int(Int64(badge.number)))) }
        if let level = options?.interruptionLevel { aps.append(("interruption-level", .string(level.rawValue))) }
        let custom = (options?.custom?.members ?? []).map { ($0.key, $0.value) }
        let payload = JSONValue.members([("aps", .members(aps)), (PushInfo.key, info.dictionary)] + custom)
        self.emit(
            .pushed(
                SentPush(
                    APNsRequest(
                        token: "00", topic: "com.example.chat", collapseID: message.id.description, apnsID: "apns-1",
                        payload: Array(payload.text.utf8), environment: .sandbox)), to: key))
    }

    /// The disk of a phone that has its person's whole log.
    func disk(of key: DeviceKey) -> WorldDisk {
        var disk = WorldDisk()
        let log = self.store.dump().people.first { $0.record.key == key.user }?.log ?? []
        _ = disk.carryOut(.write(log, for: key.user.user))
        return disk
    }

    /// Everything has healed; the phones have what they are said to have, by default everything and the right number.
    mutating func checkEnding(_ disks: [DeviceKey: WorldDisk] = [:], icons: [DeviceKey: Int] = [:]) {
        self.checkers.checkEnding(self.ending(disks, icons: icons))
    }

    /// Store and phones as they are, or as they are said to be.
    func ending(_ disks: [DeviceKey: WorldDisk] = [:], icons: [DeviceKey: Int] = [:]) -> Ending {
        let phones = [ann1, ann2, bob1].map { key in
            let disk = disks[key] ?? self.disk(of: key)
            return Ending.Phone(key: key, disk: disk, icon: icons[key] ?? disk.store.counts().unread)
        }
        return Ending(store: self.store.dump(), phones: phones)
    }
}

private func key(_ user: UserID, _ device: DeviceID) -> DeviceKey {
    DeviceKey(user: UserKey(app: World.app, user: user), device: device)
}

let ann1 = key("ann", "ann-1")
let ann2 = key("ann", "ann-2")
let bob1 = key("bob", "bob-1")
/// As bob sees it.
let toAnn = ConversationID(type: .direct, target: "ann")
/// As ann sees it.
let withBob = ConversationID(type: .direct, target: "bob")
let team = ConversationID(type: .group, target: "team")
/// The two of them.
let teamRecord = ConversationRecord(app: World.app, conversation: team, name: "Team", members: ["ann", "bob"])

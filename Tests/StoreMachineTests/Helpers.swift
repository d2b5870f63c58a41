import StoreMachine
import StoreModel
import TidingsModel

let ada = UserKey(app: "shop", user: "ada")
let bo = UserKey(app: "shop", user: "bo")
let phone = DeviceKey(user: bo, device: "phone")
let team = ConversationID(type: .group, target: "team")
let toAda = ConversationID(type: .direct, target: "ada")

struct EndedTwice: Error {}

/// A store in memory that was opened, and what to say to it. A copy is the same store.
struct Opened {
    let store = MemoryStore()
    private(set) var opening: StoreOpening

    init() { self.opening = self.store.open() }

    init(sending message: Message) throws {
        self.init()
        _ = try self.send(message)
    }

    /// What the next owner finds, which goes on with the store.
    mutating func open() -> StoreOpening {
        self.opening = self.store.open()
        return self.opening
    }

    mutating func apply(_ command: StoreCommand) throws -> StoreResult {
        try self.store.apply(command, epoch: self.opening.epoch)
    }

    /// Accepts a message and returns who got it where.
    mutating func send(_ message: Message) throws -> [Delivery] {
        guard case .accepted(let deliveries, _, _) = try self.apply(.accept(message: message, senderDevice: nil)) else {
            return []
        }
        return deliveries
    }

    /// Does something with the team, as somebody or as the backend.
    mutating func change(
        _ action: ConversationAction, by actor: UserID? = nil, in conversation: ConversationID = team,
        membersMax: Int = 3_000
    ) throws -> StoreResult {
        try self.apply(
            .change(
                ConversationOperation(
                    app: "shop", conversation: conversation, action: action, actor: actor, membersMax: membersMax,
                    at: 5)))
    }

    /// Recalls a message within 1,000 milliseconds.
    mutating func recall(_ message: UInt64, as id: UInt64, by actor: UserID?, at: Int64 = 100) throws -> StoreResult {
        try self.apply(
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: id), app: "shop", message: MessageID(rawValue: message), actor: actor,
                    window: 1_000, at: at)))
    }

    /// Edits a message within 1,000 milliseconds.
    mutating func edit(_ message: UInt64, _ content: String, by actor: UserID?, at: Int64 = 100) throws -> StoreResult {
        try self.apply(
            .edit(
                EditOperation(
                    app: "shop", message: MessageID(rawValue: message), actor: actor, content: content, window: 1_000,
                    at: at)))
    }

    mutating func delete(_ messages: [UInt64], of key: UserKey, in conversation: ConversationID) throws -> StoreResult {
        let ids = messages.map { MessageID(rawValue: $0) }
        return try self.apply(.delete(key, Deletion(conversation: conversation, messages: ids), at: 100))
    }

    mutating func level(
        _ level: NotificationLevel?, until: Int64? = nil, of conversation: ConversationID, for key: UserKey = bo
    ) throws -> StoreResult {
        try self.apply(
            .setConversationSettings(key, conversation, ConversationSettings(level: level, levelUntil: until), at: 100))
    }

    /// The newest entry of somebody's log.
    func last(of key: UserKey) -> LogEntry.Body? { self.person(key)?.log.last?.body }

    func person(_ key: UserKey) -> StoreDump.Person? { self.store.dump().people.first { $0.record.key == key } }

    /// What is unread for somebody: without muted conversations, with them, and mentions.
    func counts(_ key: UserKey) -> [Int] {
        let counts = self.person(key)?.counts ?? UnreadCounts()
        return [counts.unread, counts.unreadWithMuted, counts.mentions]
    }

    var storedTeam: StoredConversation? {
        self.store.dump().conversations.first { $0.record.conversation == team }
    }

    /// How the legs of a device have ended, by their messages.
    func ends(of device: DeviceID, of user: UserKey) throws -> [UInt64: LegEnd] {
        let ended = self.store.dump().messages.flatMap(\.ended).filter {
            $0.leg.user == user && $0.leg.device == device
        }
        return try Dictionary(ended.map { ($0.leg.message.rawValue, $0.end) }) { _, _ in throw EndedTwice() }
    }

    /// The one end of a message's on a device.
    func ended(_ message: UInt64) throws -> EndedLeg? {
        let trace = self.store.dump().messages.first { $0.id == MessageID(rawValue: message) }
        return trace?.ended.first { $0.leg.device != nil }
    }

    mutating func user(_ key: UserKey) throws -> UserRecord? {
        guard case .user(let record) = try self.apply(.loadUser(key)) else { return nil }
        return record
    }
}

func message(
    _ id: UInt64, from sender: UserID = "ada", in conversation: ConversationID = .init(type: .direct, target: "bo"),
    client: String? = nil, flags: MessageFlags = .normal, app: AppID = "shop", mentions: Mentions = .none,
    recipients: [UserID] = []
) -> Message {
    Message(
        id: MessageID(rawValue: id), app: app, sender: sender, conversation: conversation,
        clientMessageID: ClientMessageID(client ?? "c\(id)"), objectName: .text, content: "hi", flags: flags,
        pushText: nil, sentAt: Int64(id) * 10, mentions: mentions, recipients: recipients)
}

func at(_ position: LogPosition, _ user: UserID, unread: Int = 0, wasUnread: Bool = false) -> Delivery {
    Delivery(user: user, position: position, unread: unread, wasUnread: wasUnread)
}

func group(_ members: [UserID], _ conversation: ConversationID = team) -> StoreCommand {
    .putConversation(ConversationRecord(app: "shop", conversation: conversation, name: "Team", members: members))
}

/// The last change that was made; nil for none.
func made(_ result: StoreResult) -> MadeChange? {
    if case .changed(let changes, _) = result { changes.last } else { nil }
}

/// A refusal for the code and field; its words are for people.
func refused(_ result: StoreResult) -> String {
    guard case .refused(let problem) = result else { return "\(result)" }
    return problem.field.isEmpty ? problem.code.rawValue : "\(problem.code.rawValue) \(problem.field)"
}

let hall = ConversationID(type: .chatRoom, target: "hall")
let circle = ConversationID(type: .discussion, target: "circle")

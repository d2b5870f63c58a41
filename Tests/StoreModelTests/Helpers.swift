import StoreModel
import TidingsModel

let ada = UserKey(app: "shop", user: "ada")
let bo = UserKey(app: "shop", user: "bo")
let phone = DeviceKey(user: bo, device: "phone")
let team = ConversationID(type: .group, target: "team")
let toAda = ConversationID(type: .direct, target: "ada")

/// A store opened once, and what to say to it.
struct Opened {
    var store = ReferenceStore()
    let opening: StoreOpening

    init() { self.opening = self.store.open() }

    mutating func apply(_ command: StoreCommand) throws -> StoreResult {
        try self.store.apply(command, epoch: self.opening.epoch)
    }

    /// Accepts a message and returns who got it where.
    mutating func send(_ message: Message) throws -> [Delivery] {
        guard case .accepted(let deliveries) = try self.apply(.accept(message: message, senderDevice: nil)) else {
            return []
        }
        return deliveries
    }

    mutating func user(_ key: UserKey) throws -> UserRecord? {
        guard case .user(let record) = try self.apply(.loadUser(key)) else { return nil }
        return record
    }
}

func message(
    _ id: UInt64, from sender: UserID = "ada", in conversation: ConversationID = .init(type: .direct, target: "bo"),
    client: String? = nil, flags: MessageFlags = .normal, app: AppID = "shop"
) -> Message {
    Message(
        id: MessageID(rawValue: id), app: app, sender: sender, conversation: conversation,
        clientMessageID: ClientMessageID(client ?? "c\(id)"), objectName: .text, content: "hi", flags: flags,
        pushText: nil, sentAt: Int64(id) * 10)
}

func at(_ position: LogPosition, _ user: UserID, unread: Int = 0) -> Delivery {
    Delivery(user: user, position: position, unread: unread)
}

func group(_ members: [UserID], _ conversation: ConversationID = team) -> StoreCommand {
    .putConversation(ConversationRecord(app: "shop", conversation: conversation, name: "Team", members: members))
}

import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

/// A phone with one app: its core, what survives the app's processes, and the processes themselves.
struct WorldPhone {
    let person: UserID
    let device: DeviceID
    var core: PhoneCore
    var disk = WorldDisk()
    var group = WorldAppGroup()
    /// The app's process, and its extension's, while they live.
    var processes: OrderedDictionary<ProcessID, WorldProcess> = [:]
    /// The courier's number of this phone's connection; nil while offline.
    var courier: UInt64?
    /// What the phone tells the courier keeps its order.
    var courierArrival: Int64 = 0
    /// A token was asked for and has not come.
    var awaitsToken = false
    var isOnline = true
    var timerAt: Int64?
    /// How often a message rang, by the phone's own records.
    var rings: [String: Int] = [:]
    var nextQuery: QueryNumber = 1
    /// What a query's answer is for.
    var posting: [QueryNumber: MessageID] = [:]
    var nextTask: BackgroundTaskNumber = 1
}

/// One process of the app; an extension has no client.
struct WorldProcess {
    var client: ClientCore?
    var isSuspended = false
    /// What arrived while it was suspended, in order.
    var waiting: [ClientEvent] = []
    var timerAt: Int64?
    var task: BackgroundTaskNumber?
}

/// The app's private store: what a new process of the app finds.
struct WorldDisk {
    var log: [LogEntry] = []
    var settled: LogPosition = 0
    var outbox: OrderedDictionary<ClientMessageID, MessageDraft> = [:]
    var reads: OrderedDictionary<ConversationID, LogPosition> = [:]
    /// Positions of unread messages by conversation.
    private(set) var unread: [ConversationID: Set<LogPosition>] = [:]

    var stored: LogPosition { LogPosition(self.log.count) }
    var unreadCount: Int { self.unread.values.reduce(0) { $0 + $1.count } }  // tidy: order does not leave: it is a sum

    /// Writes entries; only what continues the log without a gap is taken.
    mutating func write(_ entries: [LogEntry], person: UserID) {
        for entry in entries where entry.position == self.stored + 1 {
            self.log.append(entry)
            switch entry.body {
            case .message(let message):
                let conversation = message.conversation(seenBy: person)
                if message.sender != person, message.flags.contains(.counted),
                    entry.position > self.reads[conversation] ?? 0
                {
                    self.unread[conversation, default: []].insert(entry.position)
                }
            case .read(let conversation, let upTo):
                self.read(conversation, upTo: upTo)
                if self.reads[conversation] ?? 0 <= upTo { self.reads[conversation] = nil }
            case .custom, .recall, .edit, .deletion, .conversationSettings, .personSettings, .blocked, .change,
                .unknown:
                break
            }
        }
    }

    mutating func read(_ conversation: ConversationID, upTo position: LogPosition) {
        self.unread[conversation] = self.unread[conversation]?.filter { $0 > position }
    }

    /// Where the newest unread message stands, of the conversation that comes first.
    var newestUnread: (conversation: ConversationID, position: LogPosition)? {
        let conversations = self.unread.filter { !$0.value.isEmpty }.keys.sorted()
        guard let first = conversations.first, let position = self.unread[first]?.max() else { return nil }
        return (first, position)
    }
}

/// The files app and extension share.
struct WorldAppGroup {
    var ledger = Ledger()
    var badge: Badge?
    var recipient: Recipient?
}

import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

/// The SDK of a scenario: what its processes hold, what survives them, and a small server.
struct SDKHost {
    static let app: AppID = "scenario"
    /// The recipient tag of the person who is signed in.
    static let tag = "alice-here"
    /// How long the server waits for a message to be settled before it pushes: its background deadline (DESIGN §4).
    static let ackDeadline: Int64 = 5_000

    let setup: SDKSetup
    var client: ClientCore?
    /// Its process; one on its way out has it still when it is told (ios-delivery.md §2.2).
    var process: ProcessID?
    var isSuspended = false
    var waiting: [ClientEvent] = []
    /// What follows now, in order.
    var queue: [ClientEvent] = []
    var isOffline: Bool
    var kit: KitMachine
    /// Its work at the notification centre, and what it was answered while it was suspended.
    var center = NotificationCenterQueue()
    var lastCenterWork: NotificationCenterQueue.Number = 0
    var waitingCenter: [NotificationCenterQueue.Event] = []
    /// The calls the file says an answer for.
    var callsAnsweredByFile: Set<CallbackNumber> = []
    /// The wakes of actions that are at work, with the calls they answer, and how many actions there were.
    var openActions: [WakeNumber: KitMachine.Call?] = [:]
    var actions: UInt64 = 0
    var task: UInt64?
    var tasks: UInt64 = 0

    // What survives the process.
    private(set) var store: ReferenceLocalStore
    var ledger = Ledger()
    var badge: Badge?
    var recipient: Recipient?
    var screens = NavigationState(selectedTab: 0, stacks: [[], []])

    // The server.
    var log: [LogEntry] = []
    var labels: [MessageID: String] = [:]
    /// The ids of messages the ledger knows before they come.
    var reserved: [String: MessageID] = [:]
    /// When the app's info providers answer for a message.
    var names: [MessageID: NamesTime] = [:]
    var connection: ConnectionNumber?
    var isWelcome = false
    /// Pushes to people who were signed in before, for their ids.
    var strangers = 0
    var opened: Set<MessageID> = []
    var unsettled: Set<LogPosition> = []

    init(setup: SDKSetup, major: Int) {
        self.setup = setup
        self.kit = KitMachine(KitMachine.Settings(major: major))
        self.isOffline = setup.isOffline
        self.store = Self.store(setup, position: setup.position)
        // What was there before the case: nothing that anybody would be told of.
        for position in 0..<setup.position { self.log.append(LogEntry(position: position + 1, body: .unknown)) }
    }

    /// What the phone holds when the steps begin, where the file says it: whatever the app wrote on the way there.
    ///
    /// - Parameter wall: wall milliseconds.
    mutating func beginSteps(wall: Int64) {
        switch self.setup.badge {
        case .stored(let badge)?: self.badge = badge
        case .missing?: self.badge = nil
        case nil: break
        }
        if let position = self.setup.phonePosition {
            self.store = Self.store(self.setup, position: position)
            self.recipient?.position = position
        }
        for (index, known) in self.setup.ledger.enumerated() {
            let sent = self.messages.first { self.labels[$0] == known.label }
            let id = sent ?? MessageID(wallMilliseconds: wall, node: 3, counter: UInt32(index))
            self.reserved[known.label] = id
            self.ledger.restore(
                id,
                Ledger.Entry(
                    holder: known.holder, claimedAt: wall - known.age, isShown: known.state != .claimed,
                    isRecalled: known.state == .recalled))
        }
    }

    /// A store that has a part of the log, all of it settled, and what was set before the case.
    private static func store(_ setup: SDKSetup, position: LogPosition) -> ReferenceLocalStore {
        var store = ReferenceLocalStore()
        _ = store.carryOut(.skip(after: 0, upTo: position))
        _ = store.carryOut(.settle(upTo: position))
        let levels = setup.levels.mapValues { ConversationSettings(level: $0) }
        let person = PersonSettings(language: setup.language)
        _ = store.carryOut(.replaceSettings(AllSettings(person: person, conversations: levels)))
        return store
    }

    mutating func carryOut(_ command: LocalStoreCommand) -> LocalStoreOutcome {
        self.store.carryOut(command).counting(self.setup.unread)
    }

    var storedPosition: LogPosition { self.store.stored }

    /// Unread messages outside muted conversations, with those from before the case.
    var unread: Int { self.store.unread + self.setup.unread }

    /// The core of a new process, with what the store holds.
    func newClient(isForeground: Bool) -> ClientCore {
        let settings = ClientCore.Settings(
            app: Self.app, person: self.setup.person, device: "phone", platform: "ios", words: self.setup.words)
        var restored = self.store.restored()
        restored.unread = self.unread
        return ClientCore(settings: settings, restored: restored, isForeground: isForeground, seed: 1)
    }

    /// The messages of the log, oldest first.
    private var messages: [MessageID] {
        self.log.compactMap { entry in
            if case .message(let message) = entry.body { message.id } else { nil }
        }
    }

    var head: LogPosition { LogPosition(self.log.count) }

    var welcome: ServerFrame {
        .welcome(
            ServerFrame.Welcome(
                version: 1, serverTime: 0, head: self.head, unread: UInt32(self.unread),
                heartbeatMilliseconds: 3_600_000, frameBytesMax: 65_536, recipientTag: Self.tag,
                extensionToken: "extension"))
    }

    /// The push of an entry, as the server makes it (DESIGN §5).
    ///
    /// - Parameter other: whose message it is, if not the message of the person who is signed in.
    func push(of entry: LogEntry, to other: UserID? = nil) -> JSONObject? {
        let person = other ?? self.setup.person
        guard case .message(let message) = entry.body else { return nil }
        let conversation = message.conversation(seenBy: person)
        guard PushRule.sends(message, to: person, level: other == nil ? self.level(of: conversation) : .all) else {
            return nil
        }
        let info = PushInfo(
            message: message.id, position: entry.position, badgePosition: self.head,
            recipientTag: other.map { "\($0)-here" } ?? Self.tag,
            text: PushInfo.Text(title: conversation.target, body: MessageSummary.text(of: message, in: self.words)))
        var payload = JSONObject([
            (
                "aps",
                [
                    // Shown where no extension can check whose phone it is: it says nothing (DESIGN §7).
                    "alert": ["body": .string(self.words.neutral)], "badge": .int(self.unreadAtServer),
                    "sound": "default", "thread-id": .string(conversation.description),
                    "category": .string(PushInfo.category), "mutable-content": 1,
                ]
            )
        ])
        if let notification = try? NotificationPayload(message: message, seenBy: person, at: entry.position) {
            payload[NotificationPayload.key] = .object(notification.dictionary)
        }
        payload[PushInfo.key] = info.dictionary
        return payload
    }

    func level(of conversation: ConversationID) -> NotificationLevel { self.setup.levels[conversation] ?? .all }

    func position(of id: MessageID) -> LogPosition? { self.store.position(of: id) }

    /// What the server counts: what was there at the start and every counted message since that was not read.
    private var unreadAtServer: Int {
        var all = Self.store(self.setup, position: 0)
        _ = all.carryOut(.write(self.log, for: self.setup.person))
        for read in self.store.reads { _ = all.carryOut(.markRead(read.key, upTo: read.value)) }
        return all.unread + self.setup.unread
    }
}

extension LocalStoreOutcome {
    func counting(_ before: Int) -> LocalStoreOutcome {
        switch self {
        case .counted(let unread): return .counted(unread + before)
        case .written(var written):
            written.unread += before
            return .written(written)
        case .done, .custom: return self
        }
    }
}

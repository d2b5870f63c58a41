import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

/// The SDK of a scenario: what its processes hold, what survives them, and a small server.
struct SDKHost {
    static let app: AppID = "scenario"
    static let tag = "alice-here"
    /// How long the server waits for a message to be settled before it pushes: its background deadline (DESIGN §4).
    static let ackDeadline: Int64 = 5_000

    let setup: SDKSetup
    /// The app's process while it lives.
    var client: ClientCore?
    /// Its process; one on its way out has it still when it is told (ios-delivery.md §2.2).
    var process: ProcessID?
    var isSuspended = false
    /// What came while it was suspended.
    var waiting: [ClientEvent] = []
    /// What follows now, in order.
    var queue: [ClientEvent] = []
    /// Whether the server cannot be reached.
    var isOffline: Bool
    /// Whether it answers arrivals in front and wakes as the kit does; otherwise as the file says.
    var answersAsKit = false
    var task: UInt64?
    var tasks: UInt64 = 0

    // What survives the process.
    var disk: SDKDisk
    var ledger = Ledger()
    var badge: Badge?
    var recipient: Recipient?
    var taps = TapLog()
    var screens = NavigationState(selectedTab: 0, stacks: [[], []])

    // The server.
    var log: [LogEntry] = []
    var labels: [MessageID: String] = [:]
    var connection: ConnectionNumber?
    var isWelcome = false
    /// Written live and not settled yet, by position.
    var unsettled: Set<LogPosition> = []

    init(setup: SDKSetup) {
        self.setup = setup
        self.isOffline = setup.isOffline
        self.disk = SDKDisk(unread: setup.unread)
        for level in setup.levels where level.value == .blocked { self.disk.muted.insert(level.key) }
    }

    /// The core of a new process, with what the disk holds.
    func newClient(isForeground: Bool) -> ClientCore {
        let settings = ClientCore.Settings(
            app: Self.app, person: self.setup.person, device: "phone", platform: "ios")
        return ClientCore(
            settings: settings,
            restored: ClientCore.Restored(
                stored: self.disk.stored, settled: self.disk.settled, unread: self.disk.unread,
                levels: self.setup.levels, hasCustomMessages: !self.disk.waitingCustom.isEmpty),
            isForeground: isForeground, seed: 1)
    }

    var head: LogPosition { LogPosition(self.log.count) }

    var welcome: ServerFrame {
        .welcome(
            ServerFrame.Welcome(
                version: 1, serverTime: 0, head: self.head, unread: UInt32(self.disk.unread),
                heartbeatMilliseconds: 3_600_000, frameBytesMax: 65_536, recipientTag: Self.tag,
                extensionToken: "extension"))
    }

    /// The push of an entry, as the server makes it (DESIGN §5).
    func push(of entry: LogEntry) -> JSONObject? {
        guard case .message(let message) = entry.body, message.flags.contains(.notified),
            message.sender != self.setup.person
        else { return nil }
        let conversation = message.conversation(seenBy: self.setup.person)
        guard self.setup.levels[conversation] != .blocked else { return nil }
        let info = PushInfo(
            message: message.id, position: entry.position, badgePosition: self.head, recipientTag: Self.tag)
        var payload = JSONObject([
            (
                "aps",
                [
                    "alert": [
                        "title": .string(
                            conversation.type.targetIsPeer ? message.sender.rawValue : conversation.target),
                        "body": .string(Gate.text(message)),
                    ], "badge": .int(self.unreadAtServer), "sound": "default", "mutable-content": 1,
                    "thread-id": .string(conversation.description),
                ]
            )
        ])
        if let notification = try? NotificationPayload(message: message, seenBy: self.setup.person) {
            payload[NotificationPayload.key] = .object(notification.dictionary)
        }
        payload[PushInfo.key] = info.dictionary
        return payload
    }

    /// What the server counts: what was there at the start and every counted message since that was not read.
    private var unreadAtServer: Int {
        var all = SDKDisk(unread: self.setup.unread)
        all.muted = self.disk.muted
        all.write(self.log, person: self.setup.person)
        for read in self.disk.read { all.markRead(read.key, upTo: read.value) }
        return all.unread
    }
}

/// The SDK's local store in a scenario.
struct SDKDisk {
    private(set) var stored: LogPosition = 0
    var settled: LogPosition = 0
    private(set) var unread: Int
    var muted: Set<ConversationID> = []
    private(set) var read: OrderedDictionary<ConversationID, LogPosition> = [:]
    private(set) var waitingCustom: [CustomMessage] = []
    private var counted: [Counted] = []

    /// An unread message.
    private struct Counted {
        var message: MessageID
        var conversation: ConversationID
        var position: LogPosition
    }

    init(unread: Int) { self.unread = unread }

    mutating func write(_ entries: [LogEntry], person: UserID) {
        for entry in entries where entry.position == self.stored + 1 {
            self.stored = entry.position
            switch entry.body {
            case .message(let message):
                let conversation = message.conversation(seenBy: person)
                guard message.sender != person, message.flags.contains(.counted), !self.muted.contains(conversation)
                else { continue }
                self.counted.append(
                    Counted(message: message.id, conversation: conversation, position: entry.position))
                self.unread += 1
            case .read(let conversation, let position): self.markRead(conversation, upTo: position)
            case .custom(let message): self.waitingCustom.append(message)
            case .recall(let recall): self.forget { $0.message == recall.message }
            }
        }
    }

    /// The server has trimmed its log.
    mutating func skip(after position: LogPosition, upTo end: LogPosition) {
        if self.stored == position { self.stored = end }
    }

    mutating func markRead(_ conversation: ConversationID, upTo position: LogPosition) {
        self.read[conversation] = position
        self.forget { $0.conversation == conversation && $0.position <= position }
    }

    /// Messages that count as unread no longer.
    private mutating func forget(_ isMeant: (Counted) -> Bool) {
        let before = self.counted.count
        self.counted.removeAll(where: isMeant)
        self.unread -= before - self.counted.count
    }

    /// The custom messages that wait, which wait no longer.
    mutating func takeCustom() -> [CustomMessage] {
        defer { self.waitingCustom = [] }
        return self.waitingCustom
    }
}

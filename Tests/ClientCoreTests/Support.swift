import TidingsModel

@testable import ClientCore

/// A moment: seconds on both clocks, the wall one far from zero.
func at(_ seconds: Double) -> Now {
    let milliseconds = Int64(seconds * 1_000)
    return Now(monotonic: milliseconds, wall: 1_800_000_000_000 + milliseconds)
}

let alice: UserID = "alice"
let bob: UserID = "bob"
let withBob = ConversationID(type: .direct, target: "bob")
let team = ConversationID(type: .group, target: "team")

func id(_ number: UInt64) -> MessageID { MessageID(rawValue: number) }

/// A message of bob's to alice, or to the team.
func message(
    _ number: UInt64, from sender: UserID = bob, in type: ConversationType = .direct, flags: MessageFlags = .normal,
    content: String = #"{"content":"hi"}"#, objectName: ObjectName = .text, pushText: String? = nil
) -> Message {
    let target = type.targetIsPeer ? (sender == alice ? "bob" : "alice") : "team"
    return Message(
        id: id(number), app: "demo", sender: sender, conversation: ConversationID(type: type, target: target),
        clientMessageID: ClientMessageID("c\(number)"), objectName: objectName, content: content, flags: flags,
        pushText: pushText, sentAt: 1_800_000_000_000)
}

func entry(_ position: LogPosition, _ message: Message) -> LogEntry {
    LogEntry(position: position, body: .message(message))
}

/// A plain entry: message number 100 + position.
func entry(_ position: LogPosition) -> LogEntry { entry(position, message(100 + position)) }

/// The pending change for a level of a conversation.
func level(_ conversation: ConversationID, _ level: NotificationLevel) -> PendingSettingsChange {
    .conversation(conversation, ConversationSettings(level: level))
}

func draft(_ name: String, to conversation: ConversationID = withBob) -> MessageDraft {
    MessageDraft(
        clientMessageID: ClientMessageID(name), conversation: conversation, objectName: .text,
        content: #"{"content":"hi"}"#)
}

func welcome(
    head: LogPosition = 0, heartbeat: UInt32 = 30_000, version: UInt32 = 1, serverTime: Int64 = 0
) -> ServerFrame {
    .welcome(
        ServerFrame.Welcome(
            version: version, serverTime: serverTime, head: head, unread: 0, heartbeatMilliseconds: heartbeat,
            frameBytesMax: 65_536, recipientTag: "tag", extensionToken: "extension"))
}

func hello(_ state: ReportedRunState = .foreground, token: String = "token", after: LogPosition = 0) -> ClientFrame {
    .hello(
        ClientFrame.Hello(
            versions: 1...1, token: token, device: "phone", platform: "test", runState: state, after: after))
}

func ack(_ stored: LogPosition, _ settled: (LogPosition, Disposition)...) -> ClientFrame {
    .ack(
        ClientFrame.Ack(
            stored: stored, settled: settled.map { ClientFrame.Settlement(upTo: $0.0, disposition: $0.1) }))
}

func recipient(_ position: LogPosition = 0) -> ClientEffect {
    .storeRecipient(Recipient(tag: "tag", extensionToken: "extension", position: position))
}

extension ClientCore {
    /// A core of alice's that has said nothing yet.
    static func fresh(_ restored: Restored = Restored(), isForeground: Bool = true) -> ClientCore {
        ClientCore(
            settings: Settings(app: "demo", person: alice, device: "phone", platform: "test"), restored: restored,
            isForeground: isForeground, seed: 7)
    }

    /// Asks for a connection, which opens.
    mutating func openConnection(_ number: ConnectionNumber = 1, at now: Now = at(0)) {
        _ = self.handle(.connectRequested, at: now)
        _ = self.handle(.tokenProvided("token"), at: now)
        _ = self.handle(.connectionOpened(number), at: now)
    }

    /// A core whose first connection was welcomed.
    static func online(
        _ restored: Restored = Restored(), head: LogPosition? = nil, heartbeat: UInt32 = 30_000
    ) -> ClientCore {
        var core = Self.fresh(restored)
        core.goOnline(1, head: head ?? restored.stored, heartbeat: heartbeat, at: at(0))
        return core
    }

    /// Asks for a connection and answers everything up to the welcome.
    mutating func goOnline(
        _ number: ConnectionNumber, head: LogPosition, heartbeat: UInt32 = 30_000, at now: Now
    ) {
        self.openConnection(number, at: now)
        _ = self.handle(.frameReceived(number, welcome(head: head, heartbeat: heartbeat)), at: now)
    }

    /// A core in the background since second 10 with the kit attached, its connection alive.
    static func inBackground(kit: KitSettings? = KitSettings(), remaining: Int64? = nil) -> ClientCore {
        // A heartbeat so slow that the deadlines of the stay stand alone.
        var core = Self.online(heartbeat: 600_000)
        _ = core.handle(.kitConfigured(kit), at: at(0))
        _ = core.handle(.appDidEnterBackground(remainingMilliseconds: remaining), at: at(10))
        return core
    }

    /// Loses the connection and comes back on another one; returns the effects of the welcome.
    mutating func reconnect(_ number: ConnectionNumber, head: LogPosition = 0, at now: Now) -> [ClientEffect] {
        _ = self.handle(.connectionClosed(number - 1, reason: "lost"), at: now)
        self.openConnection(number, at: now)
        return self.handle(.frameReceived(number, welcome(head: head)), at: now)
    }

    /// Hears a live entry and has it stored; returns the effects of the storing.
    mutating func hear(
        _ entry: LogEntry, on connection: ConnectionNumber = 1, unread: Int = 1, at now: Now
    ) -> [ClientEffect] {
        let stores = self.handle(.frameReceived(connection, .entry(entry)), at: now)
        guard stores == [.storeEntries([entry])] else { return stores }
        return self.handle(.entriesStored(upTo: entry.position, unread: unread), at: now)
    }
}

extension [ClientEffect] {
    /// The same without the numbers of push registrations.
    var unnumbered: [ClientEffect] {
        self.map { effect in
            guard case .sendFrame(let connection, .registerPush(let registration, _)) = effect else { return effect }
            return .sendFrame(connection, .registerPush(registration))
        }
    }
}

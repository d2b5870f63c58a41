import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

/// The app's private store: what a new process of the app finds. It keeps what the SDK's local store keeps, by the same rules.
struct WorldDisk: Hashable {
    /// A message as it reads on this phone.
    struct Item: Hashable {
        var conversation: ConversationID
        var position: LogPosition
        var sender: UserID
        var sentAt: Int64
        var content: String
        var isRecalled = false
    }

    /// How far a conversation is read here.
    private struct Reading: Hashable {
        let conversation: ConversationID
        var upTo: LogPosition = 0
        /// Unread messages and where they stand, oldest first.
        var unread: OrderedDictionary<MessageID, LogPosition> = [:]
        /// Whether it is muted: then they do not count.
        var isMuted: Bool
    }

    /// What is known of a conversation with members.
    struct Info: Hashable {
        var version: UInt64
        var members: [Member]
        /// Whether nothing is missing: nothing that was said of it was passed over.
        var isKnown: Bool
    }

    /// What the log says is set, from an entry on.
    struct Past: Hashable {
        var position: LogPosition
        var settings: AllSettings
    }

    /// What a writing has led to.
    struct Written {
        /// Conversations with members among the entries whose members are not known for sure, sorted.
        var incomplete: [ConversationID] = []
    }

    private(set) var log: [LogEntry] = []
    private(set) var messages: OrderedDictionary<MessageID, Item> = [:]
    private(set) var infos: OrderedDictionary<ConversationID, Info> = [:]
    var settled: LogPosition = 0
    var outbox: OrderedDictionary<ClientMessageID, MessageDraft> = [:]
    /// Reading positions that the log has not confirmed.
    private(set) var reads: OrderedDictionary<ConversationID, LogPosition> = [:]
    /// What the person has set, as the log has it.
    private(set) var confirmed = AllSettings() { didSet { self.countAnew() } }
    /// What was set at each entry of the log that changed it.
    private var history: [Past] = []
    /// What was set on this phone and the log has not confirmed, by `SettingsWish.key`.
    private(set) var wishes: OrderedDictionary<String, SettingsWish> = [:] { didSet { self.countAnew() } }
    /// Custom messages that were not handed over.
    private(set) var custom: [LogEntry] = []
    private var handedOver: LogPosition = 0
    private var readings: [Reading] = []
    /// Where a conversation's reading lies.
    private var places: [ConversationID: Int] = [:]
    /// Unread messages outside muted conversations. It is asked after every write, and kept rather than counted.
    private(set) var unreadCount = 0

    var stored: LogPosition { LogPosition(self.log.count) }
    /// What holds on this phone.
    var preferences: Preferences { Preferences(confirmed: self.confirmed, wishes: self.wishes.values.elements) }

    /// The log's length and `unreadCount` of a disk that is not to be copied.
    static func counts(of disk: inout WorldDisk) -> (stored: LogPosition, unread: Int) {
        (disk.stored, disk.unreadCount)
    }

    /// Conversations with unread messages, sorted, each with the position of the newest.
    var unreadConversations: [(conversation: ConversationID, newest: LogPosition)] {
        self.readings.compactMap { reading in reading.unread.values.last.map { (reading.conversation, $0) } }
            .sorted { $0.0 < $1.0 }
    }

    /// What held on this phone when its log ended here: the settings of the log, and over them what was set here since.
    func preferences(upTo position: LogPosition) -> Preferences {
        let settings = self.history.last { $0.position <= position }?.settings ?? AllSettings()
        return Preferences(confirmed: settings, wishes: self.wishes.values.elements)
    }

    // MARK: The log

    /// Writes entries; only what continues the log without a gap is taken.
    mutating func write(_ entries: [LogEntry], person: UserID) -> Written {
        var touched: OrderedSet<ConversationID> = []
        for entry in entries where entry.position == self.stored + 1 {
            self.log.append(entry)
            if let conversation = self.take(entry, person) { touched.append(conversation) }
        }
        guard !touched.isEmpty else { return Written() }
        return Written(incomplete: touched.elements.filter { self.infos[$0]?.isKnown != true }.sorted())
    }

    /// - Returns: the conversation with members that the entry tells of; nil for none.
    // tidy: long because it is one case per body.
    private mutating func take(_ entry: LogEntry, _ person: UserID) -> ConversationID? {
        switch entry.body {
        case .message(let message):
            self.insert(message, at: entry.position, person)
            return message.conversation.hasMembers ? message.conversation : nil
        case .read(let conversation, let upTo):
            self.markRead(conversation, upTo: upTo)
            self.confirmRead(conversation, upTo: upTo)
        case .custom: self.custom.append(entry)
        case .recall(let recall):
            guard let place = self.messages.index(forKey: recall.message) else { break }
            self.messages.values[place].isRecalled = true
            self.messages.values[place].content = "{}"
            self.countAsRead(recall.message, in: self.messages.values[place].conversation)
        case .edit(let edit):
            guard let place = self.messages.index(forKey: edit.message), !self.messages.values[place].isRecalled
            else { break }
            self.messages.values[place].content = edit.content
        case .deletion(let deletion):
            for message in deletion.messages {
                guard let item = self.messages.removeValue(forKey: message) else { continue }
                self.countAsRead(message, in: item.conversation)
            }
        case .conversationSettings, .personSettings, .blocked:
            self.confirmed.apply(entry.body)
            var settings = self.history.last?.settings ?? AllSettings()
            settings.apply(entry.body)
            self.history.append(Past(position: entry.position, settings: settings))
        case .change(let change):
            self.take(change, at: entry.position, person)
            return change.conversation
        case .unknown: break
        }
        return nil
    }

    private mutating func take(_ change: ConversationChange, at position: LogPosition, _ person: UserID) {
        self.apply(change)
        // Who comes back may have missed who else came and went, and who was there before.
        if change.adds(person) { self.infos[change.conversation]?.isKnown = false }
        guard change.removes(person) else { return }
        self.markRead(change.conversation, upTo: position)
        self.confirmRead(change.conversation, upTo: position)
        self.infos[change.conversation]?.isKnown = true
    }

    private mutating func insert(_ message: Message, at position: LogPosition, _ person: UserID) {
        let conversation = message.conversation(seenBy: person)
        let before = self.messages.count
        self.messages.updateValue(
            forKey: message.id,
            default: Item(
                conversation: conversation, position: position, sender: message.sender, sentAt: message.sentAt,
                content: message.content)
        ) { _ in }
        // It is there already.
        guard self.messages.count > before else { return }
        guard message.sender != person, message.flags.contains(.counted) else { return }
        let place = self.place(of: conversation)
        guard position > self.readings[place].upTo else { return }
        self.readings[place].unread[message.id] = position
        if !self.readings[place].isMuted { self.unreadCount += 1 }
    }

    // MARK: Reading

    private mutating func place(of conversation: ConversationID) -> Int {
        if let place = self.places[conversation] { return place }
        self.places[conversation] = self.readings.count
        self.readings.append(
            Reading(conversation: conversation, isMuted: self.preferences.isMuted(conversation)))
        return self.readings.count - 1
    }

    private mutating func countAsRead(_ message: MessageID, in conversation: ConversationID) {
        guard let place = self.places[conversation],
            self.readings[place].unread.removeValue(forKey: message) != nil, !self.readings[place].isMuted
        else { return }
        self.unreadCount -= 1
    }

    private mutating func markRead(_ conversation: ConversationID, upTo position: LogPosition) {
        let place = self.place(of: conversation)
        self.readings[place].upTo = max(self.readings[place].upTo, position)
        let before = self.readings[place].unread.count
        guard before > 0 else { return }
        self.readings[place].unread.removeAll { $0.value <= position }
        if !self.readings[place].isMuted { self.unreadCount -= before - self.readings[place].unread.count }
    }

    /// What is set has changed: another conversation may be muted.
    private mutating func countAnew() {
        let preferences = self.preferences
        self.unreadCount = 0
        for place in self.readings.indices {
            self.readings[place].isMuted = preferences.isMuted(self.readings[place].conversation)
            if !self.readings[place].isMuted { self.unreadCount += self.readings[place].unread.count }
        }
    }

    private mutating func confirmRead(_ conversation: ConversationID, upTo position: LogPosition) {
        if self.reads[conversation] ?? .max <= position { self.reads.removeValue(forKey: conversation) }
    }

    private mutating func apply(_ change: ConversationChange) {
        let known = self.infos[change.conversation]
        guard change.version > known?.version ?? 0 else { return }
        var isKnown = change.version == (known?.version ?? 0) + 1 && known?.isKnown == true
        if case .create = change.action { isKnown = true }
        let before = known.map { info in
            StoredConversation(
                record: ConversationRecord(
                    app: World.app, conversation: change.conversation, name: "", portrait: nil, members: info.members),
                version: info.version)
        }
        let after = change.applied(to: before, in: World.app)
        self.infos[change.conversation] = Info(
            version: change.version, members: after.record.members, isKnown: isKnown)
    }

    // MARK: What is no entry

    /// Remembers what the server has answered, unless what is there is newer.
    mutating func write(_ info: ConversationInfo) {
        guard self.infos[info.id]?.version ?? 0 <= info.version else { return }
        self.infos[info.id] = Info(version: info.version, members: info.members, isKnown: true)
    }

    /// Remembers a reading position until the log confirms it.
    mutating func writeRead(_ conversation: ConversationID, upTo position: LogPosition) {
        self.markRead(conversation, upTo: position)
        self.reads[conversation] = max(self.reads[conversation] ?? 0, position)
    }

    /// Remembers what the person has set until the log confirms it.
    mutating func write(_ wish: SettingsWish) { self.wishes[wish.key] = wish }

    /// Forgets a wish if it is still that one.
    ///
    /// - Parameter isKept: whether it is taken for what the log says.
    mutating func drop(_ wish: SettingsWish, isKept: Bool) {
        if isKept { wish.apply(to: &self.confirmed) }
        if self.wishes[wish.key] == wish { self.wishes.removeValue(forKey: wish.key) }
    }

    /// Takes settings for what the log says.
    mutating func write(_ all: AllSettings) { self.confirmed = all }

    /// Forgets everything but how far custom messages were handed over: who signs in again has the same log.
    mutating func forgetAll() {
        let mark = self.handedOver
        self = WorldDisk()
        self.handedOver = mark
    }

    /// Takes the custom messages that were not handed over yet, oldest first, and remembers it before it gives them away.
    ///
    /// - Parameter wall: the server's wall clock; nil if it is not known: what expires at some time stays, and all behind it.
    mutating func takeCustomMessages(wall: Int64?) -> [(position: LogPosition, message: CustomMessage)] {
        let mark = self.handedOver
        var taken: [(LogPosition, CustomMessage)] = []
        while case .custom(let message)? = self.custom.first?.body, let position = self.custom.first?.position {
            if wall == nil, message.expiresAt != nil { break }
            self.custom.removeFirst()
            guard position > mark else { continue }
            self.handedOver = position
            if !(wall.map { message.isExpired(at: $0) } ?? false) { taken.append((position, message)) }
        }
        return taken
    }
}

extension ConversationChange {
    /// Whether somebody who was no member is one through it.
    fileprivate func adds(_ user: UserID) -> Bool {
        switch self.action {
        case .add(let users): users.contains(user)
        case .join: self.by == user
        case .create, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban: false
        }
    }
}

extension ConversationID {
    /// Whether it is a group or discussion, whose members a phone wants to know.
    var hasMembers: Bool { self.type == .group || self.type == .discussion }
}

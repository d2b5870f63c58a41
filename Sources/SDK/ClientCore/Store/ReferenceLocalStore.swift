package import OrderedCollections
package import TidingsModel

/// The contract in memory, as a value: for the World and the scenarios. A randomized test holds it equal to the
/// shipped store.
package struct ReferenceLocalStore: Hashable, Sendable, LocalStoreContract {
    package struct Info: Hashable, Sendable {
        package var version: UInt64
        package var name: String?
        package var portrait: String?
        package var members: [Member] = []
        package var isDissolved = false
        package var onlyAdminsWrite = false
        package var isComplete: Bool
    }

    struct Reading: Hashable, Sendable {
        let conversation: ConversationID
        var upTo: LogPosition = 0
        /// Where the unread messages stand, oldest first.
        var unread: OrderedDictionary<MessageID, LogPosition> = [:]
        /// Muted conversations do not count.
        var isMuted: Bool
    }

    package internal(set) var stored: LogPosition = 0
    package private(set) var settled: LogPosition = 0
    package internal(set) var messages: OrderedDictionary<MessageID, StoredMessage> = [:]
    package internal(set) var infos: OrderedDictionary<ConversationID, Info> = [:]
    package private(set) var outbox: OrderedDictionary<ClientMessageID, MessageDraft> = [:]
    package internal(set) var reads: OrderedDictionary<ConversationID, LogPosition> = [:]
    package internal(set) var confirmed = AllSettings() { didSet { self.countAnew() } }
    package private(set) var pendingChanges: OrderedDictionary<String, PendingSettingsChange> = [:] {
        didSet { self.countAnew() }
    }
    package private(set) var told: Set<PendingSettingsChange> = []
    package internal(set) var custom: OrderedDictionary<LogPosition, CustomMessage> = [:]
    /// In the order of the log.
    var invited: [Invitation] = []
    package private(set) var origin: LogOrigin?
    private var owesSettings = false
    /// Custom messages up to here were handed over; `newest` is the newest id among them.
    private var handedOver: (position: LogPosition, newest: UInt64) {
        get { (self.handedOverPosition, self.handedOverNewest) }
        set { (self.handedOverPosition, self.handedOverNewest) = newValue }
    }
    private var handedOverPosition: LogPosition = 0
    private var handedOverNewest: UInt64 = 0
    /// The newest message read before the log began anew.
    var readBefore: [ConversationID: MessageID] = [:]
    var readings: [Reading] = []
    var places: [ConversationID: Int] = [:]
    /// Kept rather than counted, because it is asked after every write.
    package internal(set) var unread = 0

    package init() {}

    package mutating func carryOut(_ command: LocalStoreCommand) -> LocalStoreOutcome {
        switch command {
        case .write(let entries, let person): return .written(self.write(entries, for: person))
        case .skip(let position, let end):
            if self.stored == position, end > position {
                self.stored = end
                self.owesSettings = true
                // What changed in between is not known.
                for place in self.infos.values.indices { self.infos.values[place].isComplete = false }
            }
            return .written(.init(stored: self.stored, unread: self.unread))
        case .settle(let position): self.settled = position
        case .keepOutgoing(let draft):
            if self.outbox[draft.clientMessageID] == nil { self.outbox[draft.clientMessageID] = draft }
        case .removeOutgoing(let id): self.outbox[id] = nil
        case .markRead(let conversation, let position):
            self.markRead(conversation, upTo: position)
            self.reads[conversation] = max(self.reads[conversation] ?? 0, position)
            return .counted(self.unread)
        case .addPendingChange(let pendingChange):
            if let old = self.pendingChanges.updateValue(pendingChange, forKey: pendingChange.key) {
                self.told.remove(old)
            }
            return .counted(self.unread)
        case .markPendingChange(let pendingChange, let isTold):
            guard self.pendingChanges[pendingChange.key] == pendingChange else { break }
            if isTold { self.told.insert(pendingChange) } else { self.told.remove(pendingChange) }
        case .removePendingChange(let pendingChange, let isKept):
            if isKept { pendingChange.apply(to: &self.confirmed) }
            if self.pendingChanges[pendingChange.key] == pendingChange {
                self.pendingChanges.removeValue(forKey: pendingChange.key)
                self.told.remove(pendingChange)
            }
            return .counted(self.unread)
        case .replaceSettings(let all):
            self.confirmed = all
            self.owesSettings = false
            return .counted(self.unread)
        case .keepConversation(let info):
            guard self.infos[info.id]?.version ?? 0 <= info.version else { break }
            self.infos[info.id] = Info(
                version: info.version, name: info.name, portrait: info.portrait, members: info.members,
                isDissolved: info.isDissolved, onlyAdminsWrite: info.onlyAdminsWrite, isComplete: true)
        case .resetLog(let origin): self.resetLog(origin)
        case .keepOrigin(let origin): self.origin = origin
        case .takeCustomMessages(let wall): return .custom(self.takeCustomMessages(wall: wall))
        case .beginAnew, .forgetPerson:
            let mark = self.handedOver
            self = ReferenceLocalStore()
            self.handedOver = mark
        }
        return .done
    }

    private mutating func resetLog(_ origin: LogOrigin?) {
        for reading in self.readings {
            let read = self.messages.values.filter {
                $0.conversation == reading.conversation && $0.position <= reading.upTo
            }
            guard let newest = read.map(\.id).max() else { continue }
            self.readBefore[reading.conversation] = max(self.readBefore[reading.conversation] ?? newest, newest)
        }
        let last = max(self.messages.values.map(\.position).max() ?? 0, StoredMessage.beyondLog)
        for place in self.messages.values.indices where !self.messages.values[place].isOnlyHere {
            self.messages.values[place].position += last + 1
            self.messages.values[place].isOnlyHere = true
            self.messages.values[place].isUnread = false
        }
        for place in self.infos.values.indices {
            self.infos.values[place].version = 0
            self.infos.values[place].isComplete = false
        }
        (self.stored, self.settled, self.origin) = (0, 0, origin)
        (self.reads, self.custom, self.confirmed) = ([:], [:], AllSettings())
        self.invited = []
        self.told = []
        self.owesSettings = false
        (self.readings, self.places, self.unread) = ([], [:], 0)
        // Which custom messages were handed over tell their ids alone.
        self.handedOver.position = 0
    }

    // MARK: Custom messages

    private func waits(_ position: LogPosition, _ message: CustomMessage) -> Bool {
        position > self.handedOver.position && message.id.rawValue > self.handedOver.newest
    }

    private mutating func takeCustomMessages(wall: Int64?) -> [CustomMessage] {
        let before = self.handedOver
        var taken: [CustomMessage] = []
        while let (position, message) = self.custom.elements.first {
            if position > before.position, wall == nil, message.expiresAt != nil { break }
            self.custom.removeFirst()
            guard position > before.position else { continue }
            self.handedOver = (position, max(self.handedOver.newest, message.id.rawValue))
            // Those of before the log began anew come again: their ids are no newer than what was handed over.
            guard message.id.rawValue > before.newest else { continue }
            if !(wall.map { message.isExpired(at: $0) } ?? false) { taken.append(message) }
        }
        return taken
    }

    // MARK: Questions

    package func restored() -> ClientCore.Restored {
        ClientCore.Restored(
            stored: self.stored, settled: self.settled, outbox: self.outbox.values.elements,
            reads: self.reads.map { ClientCore.ReadPosition(conversation: $0.key, upTo: $0.value) }
                .sorted { $0.conversation < $1.conversation },
            unread: self.unread, preferences: self.confirmed, pendingChanges: self.pendingChanges.values.elements,
            told: self.told, hasCustomMessages: self.custom.contains { self.waits($0.key, $0.value) },
            origin: self.origin, owesSettings: self.owesSettings)
    }

    package func message(_ id: MessageID) -> StoredMessage? { self.messages[id] }

    package func preferences() -> Preferences {
        Preferences(confirmed: self.confirmed, pendingChanges: self.pendingChanges.values.elements, told: self.told)
    }

    package func counts() -> LocalUnreadCounts {
        var counts = LocalUnreadCounts()
        for reading in self.readings {
            let mentions = reading.unread.keys.count { self.messages[$0]?.mentionsMe == true }
            counts.add(
                .init(unread: reading.unread.count, mentions: mentions), of: reading.conversation,
                isMuted: reading.isMuted)
        }
        return counts
    }

    package func history(_ conversation: ConversationID, before: LogPosition?, limit: Int) -> [StoredMessage] {
        let all = self.messages.values.filter { $0.conversation == conversation }.sorted { $0.id < $1.id }
        // The message at the position or the next one after it; beyond the log a position says nothing about the order.
        let end = before.flatMap { place in
            all.filter { $0.position == place || ($0.position > place && !$0.isOnlyHere) }
                .min { $0.position < $1.position }?.id
        }
        let shown = all.filter { message in
            message.message.flags.contains(.stored) && end.map { message.id < $0 } ?? true
        }
        return Array(shown.suffix(limit))
    }

    package func conversations(wall: Int64) -> [ConversationSummary] {
        var newest: OrderedDictionary<ConversationID, StoredMessage> = [:]
        for message in self.messages.values where newest[message.conversation]?.id ?? message.id <= message.id {
            newest[message.conversation] = message
        }
        let counts = self.counts()
        let preferences = self.preferences()
        return newest.values.compactMap { last in
            let info = self.infos[last.conversation]
            return ConversationSummary(
                conversation: last.conversation, last: last,
                newest: {
                    self.messages.values.filter {
                        $0.conversation == last.conversation && $0.message.flags.contains(.stored)
                    }.map(\.id).max()
                }, count: counts.by[last.conversation] ?? LocalUnreadCounts.Count(),
                level: preferences.level(of: last.conversation, wall: wall),
                settings: preferences.current.conversations[last.conversation], name: info?.name,
                portrait: info?.portrait, isDissolved: info?.isDissolved ?? false)
        }.sorted(by: ConversationSummary.comesFirst)
    }

    package func newest(_ conversation: ConversationID) -> LogPosition? {
        self.messages.values.filter { $0.conversation == conversation && !$0.isOnlyHere }.map(\.position).max()
    }

    package func info(_ conversation: ConversationID) -> ConversationInfo? {
        self.infos[conversation].map { info in
            ConversationInfo(
                id: conversation, version: info.version, name: info.name ?? "", portrait: info.portrait,
                members: info.members, isDissolved: info.isDissolved, onlyAdminsWrite: info.onlyAdminsWrite)
        }
    }

    package func invitations() -> [Invitation] { self.invited }
}

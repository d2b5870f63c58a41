import OrderedCollections
import StoreModel
import TidingsModel

/// Everything that was behind when a round of deriving began, written in several transactions; with the last one the watermark is at
/// `target`.
struct DerivationRound {
    var target: JournalPosition
    /// Sorted by number, so that rows are written in the order of their keys.
    var people: [PersonState]
    var nextPerson = 0
}

/// How much one step of deriving writes, so that it takes about the configured time, its commit included.
struct DerivationPace {
    /// A row of the index, of revisions, or a log entry counts as one; a person's own rows as `rowsOfPerson`.
    private(set) var rows: Int
    private let rowsMax: Int
    /// Microseconds.
    private let wanted: Int

    /// So many rows of the index cost as much as what a person has besides log entries.
    static let rowsOfPerson = 8

    init(_ configuration: StoreMachine.Configuration) {
        self.rowsMax = configuration.derivationStepMax * Self.rowsOfPerson
        self.rows = self.rowsMax
        self.wanted = configuration.derivationStepMilliseconds * 1_000
    }

    /// - Parameter isBehind: more waits than should: the next step has full width, even if commands wait.
    mutating func adjust(after microseconds: Int, isBehind: Bool) {
        guard !isBehind, microseconds > 0 else { return self.rows = self.rowsMax }
        // No fewer than a sixteenth, or a slow disk's syncs would be most of what deriving does; at most twice as many as before, since
        // a short step says little.
        let fitting = min(self.rows * 2, self.rows * self.wanted / microseconds)
        self.rows = min(self.rowsMax, max(self.rowsMax / 16, fitting, 1))
    }
}

extension StoreMachine {
    /// Derives a part of what is behind, in one transaction.
    /// - Returns: false if nothing is behind.
    package func deriveStep() throws -> Bool {
        guard self.round != nil || self.tailRecords > 0 else { return false }
        var round = self.round ?? self.startRound()
        let (isDone, watermark) = try self.inTransaction {
            let isDone = try self.derive(&round)
            let watermark = isDone ? round.target : self.watermark
            try self.storeProgress(watermark)
            return (isDone, watermark)
        }
        self.watermark = watermark
        self.round = isDone ? nil : round
        if isDone {
            self.tokensInRound.removeAll()
            self.pushEntriesInRound = 0
            self.evict()
        }
        return true
    }

    /// The last step has left something to be derived.
    package var isInRound: Bool { self.round != nil }

    /// Fits the next step to the time that the last one took; without it each step has full width.
    package func adjustPace(after microseconds: Int) {
        self.pace.adjust(
            after: microseconds,
            isBehind: self.tailRecords >= 2 * self.configuration.tailRecordsMax || self.pushTailIsLong)
    }

    private func startRound() -> DerivationRound {
        let people = self.dirtyPeople.sorted { $0.number < $1.number }
        self.dirtyPeople.removeAll(keepingCapacity: true)
        self.pushEntriesInRound = self.pushEntriesInTail
        self.pushEntriesInTail = 0
        self.tokensInRound = self.tokenTail
        self.tokenTail.removeAll(keepingCapacity: true)
        self.roundNumber += 1
        return DerivationRound(target: self.next - 1, people: people)
    }

    /// Numbers first, which the rows of people mention; then what became of messages; people; the index.
    /// - Returns: whether everything up to the target is in this transaction or an earlier one.
    private func derive(_ round: inout DerivationRound) throws -> Bool {
        var rows = self.pace.rows
        try self.storeIdentities()
        try self.storeRevisions(&rows)
        try self.eraseTexts(&rows)
        guard rows > 0 else { return false }
        if round.nextPerson < round.people.count {
            repeat {
                let person = round.people[round.nextPerson]
                rows -= DerivationPace.rowsOfPerson + person.entriesToStore
                try self.reading(of: person) { try self.store(person) }
                round.nextPerson += 1
            } while rows > 0 && round.nextPerson < round.people.count
            return false
        }
        if !self.indexTail.isEmpty {
            let count = self.wholeRecords(inIndexTail: rows)
            try self.storeIndex(of: self.indexTail.prefix(count))
            if self.indexTail.count > count {
                self.indexed = self.indexTail[count - 1].record
                self.indexTail.removeFirst(count)
                return self.indexed >= round.target
            }
            self.indexTail.removeAll(keepingCapacity: true)
            self.acceptedTail.removeAll(keepingCapacity: true)
        }
        self.indexed = self.next - 1
        return true
    }

    /// Returns about how many rows end where a record ends. A step of a push has up to a thousand rows of one record, and what stands
    /// behind `indexed` after a crash is whole records.
    private func wholeRecords(inIndexTail rows: Int) -> Int {
        let tail = self.indexTail
        guard rows < tail.count else { return tail.count }
        let cut = tail[rows].record
        if let last = tail[..<rows].lastIndex(where: { $0.record != cut }) { return last + 1 }
        return tail[rows...].firstIndex { $0.record != cut } ?? tail.count
    }

    /// Returns the transaction that is due between two batches after `steps` others, so that waiting commands wait for no more than that.
    package func dueWork(after steps: Int) -> DueWork? {
        // Each step of a push brings up to a thousand people into memory, who leave it by this.
        if self.pushTailIsLong { return steps < 4 ? .deriving : nil }
        guard steps == 0 else { return nil }
        return self.tailIsLong ? .deriving : self.hasManyNew ? .storingNew : nil
    }

    package enum DueWork { case deriving, storingNew }

    /// So many people and conversations are new that their rows are due, before the next step takes long.
    private var hasManyNew: Bool {
        self.newVersions.count + self.newPeople.count / DerivationPace.rowsOfPerson
            >= max(1, self.configuration.derivationStepMax / 2)
            || self.membersInTail >= self.configuration.derivationStepMax * 64
    }

    package func storeNew() throws {
        try self.inTransaction {
            try self.storeIdentities()
            try self.storeProgress(self.watermark)
        }
    }

    /// Writes how far everything is derived, and the counts, in each transaction that derives something.
    private func storeProgress(_ watermark: JournalPosition) throws {
        try self.rows.put(
            .derived(
                watermark: watermark, indexed: self.indexed, lastMessageID: self.lastMessageID,
                storage: self.takeChangedStorage()))
    }

    /// Rows for new people and conversations, in the same transaction as the first row that mentions their number, or before. All of
    /// them: after a crash numbers are given from the highest that has a row.
    private func storeIdentities() throws {
        for person in self.newPeople { try self.rows.put(.newPerson(person.number, person.key)) }
        self.newPeople.removeAll(keepingCapacity: true)
        for (conversation, version, members, isNewMembership) in self.newVersions {
            if isNewMembership {
                try self.rows.put(.members(conversation: conversation.number, version: version, members))
            }
            if version == conversation.version { try self.rows.put(.conversation(conversation.row)) }
        }
        self.newVersions.removeAll(keepingCapacity: true)
        self.membersInTail = 0
    }

    private func prune(_ room: Int64, newest: MessageID?) throws {
        guard let limits = self.configuration.roomHistory, let newest else { return }
        let oldest = MessageID(wallMilliseconds: newest.wallMilliseconds - limits.ageMax, node: 0, counter: 0)
        try self.rows.put(.noRoomMessages(room: room, before: oldest, butNewest: limits.messagesMax))
    }

    /// Writes the state of messages, custom messages and chat rooms, as many rows as may be written. Written again after a crash, they come
    /// out the same.
    private func storeRevisions(_ rows: inout Int) throws {
        for (message, revision) in self.revisionTail.take(&rows) { try self.rows.put(.revision(message, revision)) }
        for (key, sent) in self.customTail.take(&rows) { try self.rows.put(.customMessage(key, sent)) }
        try self.storePushes(&rows)
        try self.storeAliases(&rows)
        try self.storeMediaUses(&rows)
        try self.storeFollowers(&rows)
        for room in self.roomTail.keys.sorted() where rows > 0 { try self.storeMessages(of: room, &rows) }
        for app in self.objectNamesTail.sorted() {
            try self.rows.put(.objectNames(app, self.objectNames[app] ?? []))
        }
        self.objectNamesTail.removeAll()
        try self.storeAccounts()
        try self.storeControl()
    }

    private func storeMessages(of room: Int64, _ rows: inout Int) throws {
        guard let tail = self.roomTail[room] else { return }
        let messages = tail.prefix(rows)
        rows -= messages.count
        for (record, message) in messages {
            try self.rows.put(.roomMessage(room: room, record: record, message))
        }
        try self.prune(room, newest: messages.last?.message)
        self.roomTail[room] = messages.count < tail.count ? Array(tail.dropFirst(messages.count)) : nil
    }

    /// One row per message for all its records in this part of the tail.
    private func storeIndex(of tail: ArraySlice<(message: MessageID, record: JournalPosition)>) throws {
        let sorted = tail.sorted {
            $0.message == $1.message ? $0.record < $1.record : $0.message < $1.message
        }
        let records = sorted.map(\.record)
        var start = 0
        while start < sorted.count {
            let message = sorted[start].message
            let end = sorted[start...].firstIndex { $0.message != message } ?? sorted.count
            try self.rows.put(.records(of: message, records[start..<end]))
            start = end
        }
    }
}

// What is behind leaves in the order in which it came: how many rows a step has may not depend on the order of a hash.
extension OrderedDictionary {
    /// Removes and returns the first elements, as many as there is room for.
    mutating func take(_ room: inout Int) -> [Element] {
        let taken = Array(self.elements.prefix(Swift.max(0, room)))
        self.removeFirst(taken.count)
        room -= taken.count
        return taken
    }
}

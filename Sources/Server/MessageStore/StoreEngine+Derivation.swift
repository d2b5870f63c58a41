import GRDB
import GRDBSQLite
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
    private let wanted: Duration

    /// So many rows of the index cost as much as what a person has besides log entries.
    static let rowsOfPerson = 8

    init(_ configuration: MessageStoreConfiguration) {
        self.rowsMax = configuration.derivationStepMax * Self.rowsOfPerson
        self.rows = self.rowsMax
        self.wanted = .milliseconds(configuration.derivationStepMilliseconds)
    }

    /// - Parameter isBehind: more waits than should: the next step has full width, even if commands wait.
    mutating func adjust(after elapsed: Duration, isBehind: Bool) {
        guard !isBehind, elapsed > .zero else { return self.rows = self.rowsMax }
        // No fewer than a sixteenth, or a slow disk's syncs would be most of what deriving does; at most twice as many as before, since
        // a short step says little.
        let fitting = Int(min(Double(self.rows * 2), Double(self.rows) * (self.wanted / elapsed)))
        self.rows = min(self.rowsMax, max(self.rowsMax / 16, fitting, 1))
    }
}

extension StoreEngine {
    /// Derives a part of what is behind, in one transaction.
    /// - Returns: false if nothing is behind, or a test stopped deriving.
    func deriveStep() throws -> Bool {
        guard self.round != nil || self.tailRecords > 0, self.mayStep() else { return false }
        let start = ContinuousClock.now
        var round = self.round ?? self.startRound()
        let (isDone, watermark) = try self.inTransaction {
            let isDone = try self.derive(&round)
            let watermark = isDone ? round.target : self.watermark
            try self.sql.setDerived.bind(watermark, self.indexed, self.lastMessageID.rawValue).run()
            return (isDone, watermark)
        }
        self.watermark = watermark
        self.round = isDone ? nil : round
        if isDone {
            self.tokensInRound.removeAll()
            self.pushEntriesInRound = 0
            self.evict()
        }
        self.pace.adjust(
            after: start.duration(to: .now),
            isBehind: self.tailRecords >= 2 * self.configuration.tailRecordsMax || self.pushTailIsLong)
        return true
    }

    private func mayStep() -> Bool {
        guard !self.isFrozen else { return false }
        self.stepNumber += 1
        self.isFrozen = !self.configuration.mayDerive(self.stepNumber)
        return !self.isFrozen
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

    /// So many people and conversations are new that their rows are due, before the next step takes long.
    var hasManyNew: Bool {
        self.newVersions.count + self.newPeople.count / DerivationPace.rowsOfPerson
            >= max(1, self.configuration.derivationStepMax / 2)
            || self.membersInTail >= self.configuration.derivationStepMax * 64
    }

    func storeNew() throws {
        guard self.mayStep() else { return }
        try self.inTransaction { try self.storeIdentities() }
    }

    /// Rows for new people and conversations, in the same transaction as the first row that mentions their number, or before. All of
    /// them: after a crash numbers are given from the highest that has a row.
    private func storeIdentities() throws {
        for person in self.newPeople {
            try self.sql.insertPerson.bind(
                person.number, person.key.app.rawValue, person.key.user.rawValue, Int64(Partition.of(person.key))
            ).run()
        }
        self.newPeople.removeAll(keepingCapacity: true)
        for (conversation, version, members, isNewMembership) in self.newVersions {
            try self.store(conversation, version, members, isNewMembership)
        }
        self.newVersions.removeAll(keepingCapacity: true)
        self.membersInTail = 0
    }

    private func store(
        _ conversation: MembersState, _ version: UInt64, _ members: [Int64], _ isNewMembership: Bool
    ) throws {
        var writer = ByteWriter()
        if isNewMembership {
            for member in members { writer.write(member) }
            try self.sql.insertMembership.bind(conversation.number, version, writer.bytes).run()
        }
        guard version == conversation.version else { return }
        self.sql.putConversation.bind(
            conversation.number, conversation.app.rawValue, conversation.conversation.type.rawValue,
            conversation.conversation.target)
        self.sql.putConversation.bind(
            at: 5, conversation.name, version, conversation.portrait, conversation.isDissolved)
        writer.removeAll()
        for (number, member) in conversation.ranks.sorted(by: { $0.key < $1.key }) {
            writer.write(number, member.role, member.nickname)
        }
        self.sql.putConversation.bind(at: 9, writer.bytes)
        writer.removeAll()
        if !conversation.bans.isEmpty { writer.write(conversation.bans) }
        self.sql.putConversation.bind(at: 10, writer.bytes.isEmpty ? nil : writer.bytes)
        writer.removeAll()
        if !conversation.mutes.isEmpty { writer.write(conversation.mutes) }
        self.sql.putConversation.bind(at: 11, writer.bytes.isEmpty ? nil : writer.bytes, conversation.onlyAdminsWrite)
        writer.removeAll()
        if !conversation.invited.isEmpty { writer.write(conversation.invited) }
        self.sql.putConversation.bind(at: 13, writer.bytes.isEmpty ? nil : writer.bytes)
        try self.sql.putConversation.bind(at: 14, conversation.push?.json.text).run()
    }

    private func prune(_ room: Int64, newest: MessageID?) throws {
        guard let limits = self.configuration.roomHistory, let newest else { return }
        let oldest = MessageID(wallMilliseconds: newest.wallMilliseconds - limits.ageMax, node: 0, counter: 0)
        try self.sql.pruneRoom.bind(room, limits.messagesMax, oldest.rawValue).run()
    }

    /// What became of messages, custom messages and chat rooms, as many rows as may be written. Written again after a crash they come
    /// out the same.
    private func storeRevisions(_ rows: inout Int) throws {
        // tidy: order does not leave: each row is its own
        while rows > 0, let (message, revision) = self.revisionTail.popFirst() {
            rows -= 1
            try self.sql.putRevision.bind(message.rawValue, revision.recalled, revision.edited).run()
        }
        // tidy: order does not leave: each row is its own
        while rows > 0, let (key, sent) = self.customTail.popFirst() {
            rows -= 1
            try self.sql.insertCustomMessage.bind(key.app.rawValue, key.id.rawValue, sent.id.rawValue, sent.at).run()
        }
        try self.storePushes(&rows)
        try self.storeAliases(&rows)
        try self.storeMediaUses(&rows)
        try self.storeFollowers(&rows)
        for room in self.roomTail.keys.sorted() where rows > 0 { try self.storeMessages(of: room, &rows) }
        for app in self.objectNamesTail.sorted() {
            try self.sql.deleteObjectNames.bind(app.rawValue).run()
            for name in self.objectNames[app] ?? [] {
                try self.sql.insertObjectName.bind(app.rawValue, name.rawValue).run()
            }
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
            try self.sql.insertRoomMessage.bind(room, record, message.rawValue).run()
        }
        try self.prune(room, newest: messages.last?.message)
        self.roomTail[room] = messages.count < tail.count ? Array(tail.dropFirst(messages.count)) : nil
    }

    /// One row per message for all its records in this part of the tail.
    private func storeIndex(of tail: ArraySlice<(message: MessageID, record: JournalPosition)>) throws {
        let sorted = tail.sorted {
            $0.message == $1.message ? $0.record < $1.record : $0.message < $1.message
        }
        var index = 0
        var writer = ByteWriter()
        while index < sorted.count {
            let (message, first) = sorted[index]
            var last = first
            writer.removeAll()
            index += 1
            while index < sorted.count, sorted[index].message == message {
                writer.number(sorted[index].record - last)
                last = sorted[index].record
                index += 1
            }
            try self.sql.insertIndex.bind(message.rawValue, first, writer.bytes).run()
        }
    }

    var mustCheckpoint: Bool { self.wal.pagesToWriteBack() >= self.configuration.checkpointPages }

    func checkpoint(_ database: Database) throws {
        guard self.mustCheckpoint else { return }
        let code = sqlite3_wal_checkpoint_v2(database.sqliteConnection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else {
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(database.sqliteConnection)))
        }
        self.wal.wasWrittenBack()
    }
}

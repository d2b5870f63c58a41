import GRDB
import GRDBSQLite
import StoreModel
import TidingsModel

/// Everything that was behind when a round of deriving began. It is written in several transactions; when the last one is
/// committed, the watermark stands at `target`.
struct DerivationRound {
    var target: JournalPosition
    /// Sorted by number, so that rows are written in the order of their keys.
    var people: [PersonState]
    var nextPerson = 0
}

/// How much of what is behind the next steps of deriving write, so that one takes about as long as told: its commit included, which
/// takes as long as the disk does.
struct DerivationPace {
    /// Of one step: a row of the index, of revisions, or a log entry of a person's is one; a person's own rows are `rowsOfPerson`.
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

    /// A step took so long.
    ///
    /// - Parameter isBehind: more waits than should: it is worked off at full width, whoever waits.
    mutating func took(_ elapsed: Duration, isBehind: Bool) {
        guard !isBehind, elapsed > .zero else { return self.rows = self.rowsMax }
        // No fewer than a sixteenth, or a slow disk's syncs would be most of what deriving does; at most twice as many as before, since
        // a short step says little.
        let fitting = Int(min(Double(self.rows * 2), Double(self.rows) * (self.wanted / elapsed)))
        self.rows = min(self.rowsMax, max(self.rowsMax / 16, fitting, 1))
    }
}

extension StoreEngine {
    /// Derives a part of what is behind, in one transaction.
    ///
    /// - Returns: false if nothing is behind, or a test stopped deriving.
    func deriveStep() throws -> Bool {
        guard self.round != nil || self.tailRecords > 0, self.mayStep() else { return false }
        let start = ContinuousClock.now
        var round = self.round ?? self.startRound()
        do {
            try self.begin()
            let isDone = try self.derive(&round)
            let watermark = isDone ? round.target : self.watermark
            self.sql.setDerived.bind(1, watermark)
            self.sql.setDerived.bind(2, self.indexed)
            self.sql.setDerived.bind(3, self.lastMessageID.rawValue)
            try self.sql.setDerived.run()
            try self.commit()
            self.watermark = watermark
            self.round = isDone ? nil : round
            if isDone {
                self.tokensInRound.removeAll()
                self.evict()
            }
            self.pace.took(
                start.duration(to: .now), isBehind: self.tailRecords >= 2 * self.configuration.tailRecordsMax)
            return true
        } catch {
            self.rollBack()
            throw error
        }
    }

    /// Asks a test whether this transaction comes about.
    private func mayStep() -> Bool {
        guard !self.isFrozen else { return false }
        self.stepNumber += 1
        self.isFrozen = !self.configuration.mayDerive(self.stepNumber)
        return !self.isFrozen
    }

    private func startRound() -> DerivationRound {
        let people = self.dirtyPeople.sorted { $0.number < $1.number }
        self.dirtyPeople.removeAll(keepingCapacity: true)
        self.tokensInRound = self.tokenTail
        self.tokenTail.removeAll(keepingCapacity: true)
        self.roundNumber += 1
        return DerivationRound(target: self.next - 1, people: people)
    }

    /// Numbers first, which the rows of people mention; then what became of messages; people; the index.
    ///
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
            try self.storeIndex(of: self.indexTail.prefix(rows))
            if self.indexTail.count > rows {
                self.indexed = self.indexTail[rows - 1].record
                self.indexTail.removeFirst(rows)
                return self.indexed >= round.target
            }
            self.indexTail.removeAll(keepingCapacity: true)
            self.acceptedTail.removeAll(keepingCapacity: true)
        }
        self.indexed = self.next - 1
        return true
    }

    /// So many people and conversations are new that their rows are due, lest the next step takes long.
    var hasManyNew: Bool {
        self.newVersions.count + self.newPeople.count / DerivationPace.rowsOfPerson
            >= max(1, self.configuration.derivationStepMax / 2)
            || self.membersInTail >= self.configuration.derivationStepMax * 64
    }

    /// Writes rows for new people and conversations, in a transaction of their own.
    func storeNew() throws {
        guard self.mayStep() else { return }
        do {
            try self.begin()
            try self.storeIdentities()
            try self.commit()
        } catch {
            self.rollBack()
            throw error
        }
    }

    /// Rows for new people and conversations, in the same transaction as the first row that mentions their number, or before. All of them:
    /// after a crash numbers are given from the highest that has a row.
    private func storeIdentities() throws {
        for person in self.newPeople {
            self.sql.insertPerson.bind(1, person.number)
            self.sql.insertPerson.bind(2, person.key.app.rawValue)
            self.sql.insertPerson.bind(3, person.key.user.rawValue)
            self.sql.insertPerson.bind(4, Int64(Partition.of(person.key)))
            try self.sql.insertPerson.run()
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
            for member in members { writer.signed(member) }
            self.sql.insertMembership.bind(1, conversation.number)
            self.sql.insertMembership.bind(2, version)
            self.sql.insertMembership.bind(3, writer.bytes)
            try self.sql.insertMembership.run()
        }
        guard version == conversation.version else { return }
        self.sql.putConversation.bind(1, conversation.number)
        self.sql.putConversation.bind(2, conversation.app.rawValue)
        self.sql.putConversation.bind(3, conversation.conversation.type.rawValue)
        self.sql.putConversation.bind(4, conversation.conversation.target)
        self.sql.putConversation.bind(5, conversation.name)
        self.sql.putConversation.bind(6, version)
        self.sql.putConversation.bind(7, conversation.portrait)
        self.sql.putConversation.bind(8, Int64(conversation.isDissolved ? 1 : 0))
        writer.removeAll()
        for (number, member) in conversation.ranks.sorted(by: { $0.key < $1.key }) {
            writer.signed(number)
            writer.rank(of: member)
        }
        self.sql.putConversation.bind(9, writer.bytes)
        writer.removeAll()
        if conversation.bans.isEmpty {
            self.sql.putConversation.bindNull(10)
        } else {
            writer.bans(conversation.bans)
            self.sql.putConversation.bind(10, writer.bytes)
        }
        try self.sql.putConversation.run()
    }

    /// Removes what nobody who enters a chat room gets any more.
    private func prune(_ room: Int64, newest: MessageID?) throws {
        guard let limits = self.configuration.roomHistory, let newest else { return }
        let oldest = MessageID(wallMilliseconds: newest.wallMilliseconds - limits.ageMax, node: 0, counter: 0)
        self.sql.pruneRoom.bind(1, room)
        self.sql.pruneRoom.bind(2, Int64(limits.messagesMax))
        self.sql.pruneRoom.bind(3, oldest.rawValue)
        try self.sql.pruneRoom.run()
    }

    /// Rows for what became of messages, for custom messages and for chat rooms, as many as may be written. Written again after a crash
    /// they come out the same.
    private func storeRevisions(_ rows: inout Int) throws {
        // tidy: order does not leave: each row is its own
        while rows > 0, let (message, revision) = self.revisionTail.popFirst() {
            rows -= 1
            self.sql.putRevision.bind(1, message.rawValue)
            self.sql.putRevision.bind(2, revision.recalled)
            self.sql.putRevision.bind(3, revision.edited)
            try self.sql.putRevision.run()
        }
        // tidy: order does not leave: each row is its own
        while rows > 0, let (key, sent) = self.customTail.popFirst() {
            rows -= 1
            self.sql.insertCustomMessage.bind(1, key.app.rawValue)
            self.sql.insertCustomMessage.bind(2, key.id.rawValue)
            self.sql.insertCustomMessage.bind(3, sent.id.rawValue)
            self.sql.insertCustomMessage.bind(4, sent.at)
            try self.sql.insertCustomMessage.run()
        }
        for room in self.roomTail.keys.sorted() where rows > 0 { try self.storeMessages(of: room, &rows) }
        for app in self.objectNamesTail.sorted() {
            self.sql.deleteObjectNames.bind(1, app.rawValue)
            try self.sql.deleteObjectNames.run()
            for name in self.objectNames[app] ?? [] {
                self.sql.insertObjectName.bind(1, app.rawValue)
                self.sql.insertObjectName.bind(2, name.rawValue)
                try self.sql.insertObjectName.run()
            }
        }
        self.objectNamesTail.removeAll()
        try self.storeAccounts()
    }

    private func storeMessages(of room: Int64, _ rows: inout Int) throws {
        guard let tail = self.roomTail[room] else { return }
        let messages = tail.prefix(rows)
        rows -= messages.count
        for (record, message) in messages {
            self.sql.insertRoomMessage.bind(1, room)
            self.sql.insertRoomMessage.bind(2, record)
            self.sql.insertRoomMessage.bind(3, message.rawValue)
            try self.sql.insertRoomMessage.run()
        }
        try self.prune(room, newest: messages.last?.message)
        self.roomTail[room] = messages.count < tail.count ? Array(tail.dropFirst(messages.count)) : nil
    }

    private func storeAccounts() throws {
        // tidy: order does not leave: each row is its own
        for account in self.accountsTail {
            let isDeclared = self.accounts[account.app]?.contains(account.conversation) == true
            let statement = isDeclared ? self.sql.insertAccount : self.sql.deleteAccount
            statement.bind(1, account.app.rawValue)
            statement.bind(2, account.conversation.type.rawValue)
            statement.bind(3, account.conversation.target)
            try statement.run()
        }
        self.accountsTail.removeAll()
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
            self.sql.insertIndex.bind(1, message.rawValue)
            self.sql.insertIndex.bind(2, first)
            self.sql.insertIndex.bind(3, writer.bytes)
            try self.sql.insertIndex.run()
        }
    }

    /// Whether the write-ahead log has grown so much since it was written back that it should be again.
    var mustCheckpoint: Bool { self.wal.pagesToWriteBack() >= self.configuration.checkpointPages }

    /// Writes the write-ahead log back into the database when it has grown.
    func checkpoint(_ database: Database) throws {
        guard self.mustCheckpoint else { return }
        let code = sqlite3_wal_checkpoint_v2(database.sqliteConnection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else {
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(database.sqliteConnection)))
        }
        self.wal.wasWrittenBack()
    }
}

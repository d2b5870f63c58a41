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

extension StoreEngine {
    /// Derives a part of what is behind, in one transaction.
    ///
    /// - Returns: false if nothing is behind, or a test stopped deriving.
    func deriveStep() throws -> Bool {
        guard !self.isFrozen, self.round != nil || self.tailRecords > 0 else { return false }
        self.stepNumber += 1
        guard self.configuration.mayDerive(self.stepNumber) else {
            self.isFrozen = true
            return false
        }
        var round = self.round ?? self.startRound()
        do {
            try self.begin()
            try self.storeIdentities()
            try self.storeRevisions()
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
            return true
        } catch {
            self.rollBack()
            throw error
        }
    }

    private func startRound() -> DerivationRound {
        let people = self.dirtyPeople.sorted { $0.number < $1.number }
        self.dirtyPeople.removeAll(keepingCapacity: true)
        self.tokensInRound = self.tokenTail
        self.tokenTail.removeAll(keepingCapacity: true)
        self.roundNumber += 1
        return DerivationRound(target: self.next - 1, people: people)
    }

    /// People first, then the index.
    ///
    /// - Returns: whether everything up to the target is in this transaction or an earlier one.
    private func derive(_ round: inout DerivationRound) throws -> Bool {
        if round.nextPerson < round.people.count {
            let end = min(round.people.count, round.nextPerson + self.configuration.derivationStepMax)
            for person in round.people[round.nextPerson..<end] { try self.store(person) }
            round.nextPerson = end
            return false
        }
        let step = self.configuration.derivationStepMax * 8
        if !self.indexTail.isEmpty {
            try self.storeIndex(of: self.indexTail.prefix(step))
            if self.indexTail.count > step {
                self.indexed = self.indexTail[step - 1].record
                self.indexTail.removeFirst(step)
                return self.indexed >= round.target
            }
            self.indexTail.removeAll(keepingCapacity: true)
            self.acceptedTail.removeAll(keepingCapacity: true)
        }
        self.indexed = self.next - 1
        return true
    }

    /// Rows for new people and conversations, in the same transaction as the first row that mentions their number.
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
            var writer = ByteWriter()
            if isNewMembership {
                for member in members { writer.signed(member) }
                self.sql.insertMembership.bind(1, conversation.number)
                self.sql.insertMembership.bind(2, version)
                self.sql.insertMembership.bind(3, writer.bytes)
                try self.sql.insertMembership.run()
            }
            guard version == conversation.version else { continue }
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
            try self.sql.putConversation.run()
        }
        self.newVersions.removeAll(keepingCapacity: true)
        self.membersInTail = 0
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

    /// Rows for what became of messages, for custom messages and for chat rooms. Written again after a crash they come out the same.
    private func storeRevisions() throws {
        for (message, revision) in self.revisionTail.sorted(by: { $0.key < $1.key }) {
            self.sql.putRevision.bind(1, message.rawValue)
            self.sql.putRevision.bind(2, revision.recalled)
            self.sql.putRevision.bind(3, revision.edited)
            try self.sql.putRevision.run()
        }
        self.revisionTail.removeAll(keepingCapacity: true)
        for (key, sent) in self.customTail {
            self.sql.insertCustomMessage.bind(1, key.app.rawValue)
            self.sql.insertCustomMessage.bind(2, key.id.rawValue)
            self.sql.insertCustomMessage.bind(3, sent.id.rawValue)
            self.sql.insertCustomMessage.bind(4, sent.at)
            try self.sql.insertCustomMessage.run()
        }
        self.customTail.removeAll(keepingCapacity: true)
        for (room, messages) in self.roomTail.sorted(by: { $0.key < $1.key }) {
            for (record, message) in messages {
                self.sql.insertRoomMessage.bind(1, room)
                self.sql.insertRoomMessage.bind(2, record)
                self.sql.insertRoomMessage.bind(3, message.rawValue)
                try self.sql.insertRoomMessage.run()
            }
            try self.prune(room, newest: messages.last?.message)
        }
        self.roomTail.removeAll(keepingCapacity: true)
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
    }

    private func store(_ person: PersonState) throws {
        person.applied = self.next - 1
        let update = self.sql.updatePerson
        update.bind(1, person.head)
        update.bind(2, Int64(person.counts.unread))
        update.bind(3, person.applied)
        update.bind(4, Int64(person.counts.unreadWithMuted))
        update.bind(5, Int64(person.counts.mentions))
        update.bind(6, Int64(person.signedIn))
        update.bind(7, person.number)
        try update.run()
        if person.settingsChanged { try self.storeSettings(of: person) }
        if person.accountChanged { try self.storeAccount(of: person) }
        for chunk in person.closedChunks { try self.store(chunk, of: person) }
        if person.chunkChanged { try self.store(person.chunk, of: person) }
        for number in person.changedConversations.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let state = person.conversations[number] { try self.store(state, of: number, of: person) }
        }
        for message in person.deleted.sorted() {
            self.sql.insertDeleted.bind(1, person.number)
            self.sql.insertDeleted.bind(2, message.rawValue)
            try self.sql.insertDeleted.run()
        }
        for (id, sent) in person.sent {
            let insert = self.sql.insertSentMessage
            insert.bind(1, person.number)
            insert.bind(2, id.rawValue)
            insert.bind(3, sent.id.rawValue)
            insert.bind(4, sent.at)
            try insert.run()
        }
        for receipt in person.receipts.sorted(by: <) {
            self.sql.insertReceipt.bind(1, person.number)
            self.sql.insertReceipt.bind(2, receipt.message.rawValue)
            self.sql.insertReceipt.bind(3, receipt.device)
            self.sql.insertReceipt.bind(4, receipt.receipt.rawValue)
            try self.sql.insertReceipt.run()
        }
        for id in person.changedDevices.sorted() {
            if let index = try self.deviceIndex(id, of: person), let device = person.devices?[index] {
                try self.store(device, of: person)
            } else {
                self.sql.deleteDevice.bind(1, person.number)
                self.sql.deleteDevice.bind(2, id.rawValue)
                try self.sql.deleteDevice.run()
            }
        }
        for leg in person.changedLegs.sorted() { try self.store(leg, person.openLegs?[leg], of: person) }
        self.entriesInTail -= person.entriesToStore
        person.isStored()
    }

    private func storeAccount(of person: PersonState) throws {
        self.sql.updateAccount.bind(1, Int64(person.account.isBanned ? 1 : 0))
        if let time = person.account.tokensNotBefore {
            self.sql.updateAccount.bind(2, time)
        } else {
            self.sql.updateAccount.bindNull(2)
        }
        self.sql.updateAccount.bind(3, person.number)
        try self.sql.updateAccount.run()
    }

    private func storeSettings(of person: PersonState) throws {
        var writer = ByteWriter()
        writer.settings(person.settings)
        self.sql.updateSettings.bind(2, person.number)
        try self.sql.updateSettings.run(blob: writer.bytes, at: 1)
    }

    private func store(
        _ state: PersonState.ConversationState, of number: ConversationNumber, of person: PersonState
    ) throws {
        let put = self.sql.putConversationState
        put.bind(1, person.number)
        put.bind(2, number.rawValue)
        put.bind(3, Int64(state.unread))
        put.bind(4, state.counted)
        put.bind(5, state.read)
        put.bind(6, Int64(state.mentions))
        if state.withdrawn.isEmpty {
            put.bindNull(7)
        } else {
            var writer = ByteWriter()
            var last: LogPosition = 0
            for position in state.withdrawn {
                writer.number(position - last)
                last = position
            }
            put.bind(7, writer.bytes)
        }
        put.bind(8, state.last)
        try put.run()
    }

    private func store(_ chunk: LogChunk, of person: PersonState) throws {
        self.sql.putChunk.bind(1, person.number)
        self.sql.putChunk.bind(2, chunk.first)
        self.sql.putChunk.bind(4, LogChunk.format)
        try self.sql.putChunk.run(blob: chunk.bytes, at: 3)
    }

    private func store(_ device: DeviceRecord, of person: PersonState) throws {
        let put = self.sql.putDevice
        put.bind(1, person.number)
        put.bind(2, device.key.device.rawValue)
        put.bind(3, device.platform)
        for column: Int32 in 5...9 { put.bindNull(column) }
        switch device.push {
        case .none: put.bind(4, Int64(0))
        case .registered(let registration, let at):
            put.bind(4, Int64(1))
            Self.bind(registration, at: at, to: put)
        case .quarantined(let registration, let at, let reason):
            put.bind(4, Int64(2))
            Self.bind(registration, at: at, to: put)
            put.bind(9, reason)
        case .dead(let timestamp):
            put.bind(4, Int64(3))
            put.bind(8, timestamp)
        }
        put.bind(10, device.settled)
        put.bind(11, device.decided)
        put.bind(12, device.since)
        put.bind(13, device.signedInAt)
        put.bind(14, Int64(device.isSignedOut ? 1 : 0))
        try put.run()
    }

    private static func bind(_ registration: PushRegistration, at: Int64, to put: SQLStatement) {
        put.bind(5, registration.token.rawValue)
        put.bind(6, registration.environment.rawValue)
        put.bind(7, registration.topic)
        put.bind(8, at)
    }

    private func store(_ leg: LegID, _ open: OpenLeg?, of person: PersonState) throws {
        guard let open else {
            self.sql.deleteOpenLeg.bind(1, person.number)
            self.sql.deleteOpenLeg.bind(2, leg.message.rawValue)
            self.sql.deleteOpenLeg.bind(3, leg.device?.rawValue ?? "")
            return try self.sql.deleteOpenLeg.run()
        }
        let put = self.sql.putOpenLeg
        put.bind(1, person.number)
        put.bind(2, leg.message.rawValue)
        put.bind(3, leg.device?.rawValue ?? "")
        put.bind(4, open.position)
        put.bind(5, open.wait.rawValue)
        put.bind(6, open.apnsID)
        put.bind(7, Int64(open.attempts))
        if let notBefore = open.notBefore { put.bind(8, notBefore) } else { put.bindNull(8) }
        try put.run()
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

    /// Writes the write-ahead log back into the database when it has grown.
    func checkpoint(_ database: Database) throws {
        guard self.wal.pages >= self.configuration.checkpointPages else { return }
        let code = sqlite3_wal_checkpoint_v2(database.sqliteConnection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else {
            throw SQLiteFailure(code: code, message: String(cString: sqlite3_errmsg(database.sqliteConnection)))
        }
    }
}

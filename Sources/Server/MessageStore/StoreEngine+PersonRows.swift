import StoreModel
import TidingsModel

// The rows of one person, as deriving writes them.
extension StoreEngine {
    /// Writes everything of a person that is behind.
    func store(_ person: PersonState) throws {
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
        if state.recalled.isEmpty {
            put.bindNull(7)
        } else {
            var writer = ByteWriter()
            var last: LogPosition = 0
            for position in state.recalled {
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
        put.bind(15, Int64(0))
        switch device.push {
        case .none: put.bind(4, Int64(0))
        case .registered(let registration, let at, let wasAccepted):
            put.bind(4, Int64(1))
            Self.bind(registration, at: at, to: put)
            put.bind(15, Int64(wasAccepted ? 1 : 0))
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
        if device.unpushed.isEmpty {
            put.bindNull(16)
        } else {
            var writer = ByteWriter()
            for id in device.unpushed.ids { writer.fixed(id.rawValue) }
            put.bind(16, writer.bytes)
        }
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
}

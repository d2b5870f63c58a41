import StoreModel
import TidingsModel

// The rows of one person, as deriving writes them.
extension StoreEngine {
    func store(_ person: PersonState) throws {
        person.applied = self.next - 1
        let update = self.sql.updatePerson
        update.bind(person.head, person.counts.unread, person.applied, person.counts.unreadWithMuted)
        try update.bind(at: 5, person.counts.mentions, person.signedIn, person.number).run()
        if person.settingsChanged { try self.storeSettings(of: person) }
        if person.accountChanged { try self.storeAccount(of: person) }
        if person.profileChanged {
            let profile = person.profile
            try self.sql.updateProfile.bind(profile.name, profile.portrait, person.number).run()
        }
        if person.labelsChanged {
            var labels = ByteWriter()
            if !person.labels.isEmpty { labels.write(person.labels) }
            try self.sql.updateLabels.bind(labels.bytes.isEmpty ? nil : labels.bytes, person.number).run()
        }
        for end in person.pushEnds.sorted() {
            try self.sql.insertPushEnd.bind(person.number, end.message.rawValue, end.device).run()
        }
        for job in person.pushesReached.sorted() {
            try self.sql.insertPushReached.bind(person.number, job.rawValue).run()
        }
        for chunk in person.closedChunks { try self.store(chunk, of: person) }
        if person.chunkChanged { try self.store(person.chunk, of: person) }
        for number in person.changedConversations.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let state = person.conversations[number] { try self.store(state, of: number, of: person) }
        }
        for message in person.deleted.sorted() {
            try self.sql.insertDeleted.bind(person.number, message.rawValue).run()
        }
        for (id, sent) in person.sent {
            let insert = self.sql.insertSentMessage
            try insert.bind(person.number, id.rawValue, sent.id.rawValue, sent.at).run()
        }
        for receipt in person.receipts.sorted(by: <) {
            try self.sql.insertReceipt.bind(
                person.number, receipt.message.rawValue, receipt.device, receipt.receipt.rawValue
            ).run()
        }
        for id in person.changedDevices.sorted() {
            if let index = try self.deviceIndex(id, of: person), let device = person.devices?[index] {
                try self.store(device, of: person)
            } else {
                try self.sql.deleteDevice.bind(person.number, id.rawValue).run()
            }
        }
        for leg in person.changedLegs.sorted() { try self.store(leg, person.openLegs?[leg], of: person) }
        self.entriesInTail -= person.entriesToStore
        person.clearChanges()
    }

    private func storeAccount(of person: PersonState) throws {
        let account = person.account
        try self.sql.updateAccount.bind(account.isBanned, account.tokensNotBefore, person.number).run()
    }

    private func storeSettings(of person: PersonState) throws {
        var writer = ByteWriter()
        writer.write(person.settings)
        var drafts = ByteWriter()
        if !person.draftRecords.isEmpty { drafts.write(person.draftRecords) }
        self.sql.updateSettings.bind(at: 2, drafts.bytes.isEmpty ? nil : drafts.bytes, person.number)
        try self.sql.updateSettings.run(blob: writer.bytes, at: 1)
        guard person.hasReplacedDraft else { return }
        // The row may follow the journal's text, which has left the file by then: the pages before have to leave it once more.
        person.hasReplacedDraft = false
        self.hasErased = true
    }

    private func store(
        _ state: PersonState.ConversationState, of number: ConversationNumber, of person: PersonState
    ) throws {
        let put = self.sql.putConversationState
        put.bind(person.number, number.rawValue, state.unread, state.counted)
        put.bind(at: 5, state.read, state.mentions)
        var writer = ByteWriter()
        var last: LogPosition = 0
        for position in state.recalled {
            writer.number(position - last)
            last = position
        }
        try put.bind(at: 7, writer.bytes.isEmpty ? nil : writer.bytes, state.last, state.hasWritten).run()
    }

    private func store(_ chunk: LogChunk, of person: PersonState) throws {
        self.sql.putChunk.bind(person.number, chunk.first)
        try self.sql.putChunk.run(blob: chunk.bytes, at: 3)
    }

    private func store(_ device: DeviceRecord, of person: PersonState) throws {
        let put = self.sql.putDevice
        put.bind(person.number, device.key.device.rawValue, device.platform)
        for column: Int32 in 5...9 { put.bind(at: column, nil as Int64?) }
        put.bind(at: 15, device.push.wasAccepted)
        switch device.push {
        case .none: put.bind(at: 4, 0)
        case .registered(let registration, let at, _):
            put.bind(at: 4, 1)
            Self.bind(registration, at: at, to: put)
        case .quarantined(let registration, let at, let reason):
            put.bind(at: 4, 2)
            Self.bind(registration, at: at, to: put)
            put.bind(at: 9, reason)
        case .dead(let timestamp):
            put.bind(at: 4, 3)
            put.bind(at: 8, timestamp)
        }
        put.bind(at: 10, device.settled, device.decided, device.since, device.signedInAt)
        put.bind(at: 14, device.isSignedOut)
        var unpushed = ByteWriter()
        for id in device.unpushed.ids { unpushed.write(id) }
        put.bind(at: 16, unpushed.bytes.isEmpty ? nil : unpushed.bytes)
        put.bind(at: 17, device.voIP?.registration.token.rawValue)
        var voIP = ByteWriter()
        if let token = device.voIP { voIP.write(token) }
        put.bind(at: 18, voIP.bytes.isEmpty ? nil : voIP.bytes)
        var status = ByteWriter()
        if let reported = device.status { status.write(reported) }
        try put.bind(at: 19, status.bytes.isEmpty ? nil : status.bytes).run()
    }

    private static func bind(_ registration: PushRegistration, at: Int64, to put: SQLStatement) {
        put.bind(at: 5, registration.token.rawValue, registration.environment.rawValue, registration.topic, at)
    }

    private func store(_ leg: LegID, _ open: OpenLeg?, of person: PersonState) throws {
        guard let open else {
            return try self.sql.deleteOpenLeg.bind(
                person.number, leg.message.rawValue, leg.device?.rawValue ?? ""
            ).run()
        }
        let put = self.sql.putOpenLeg
        put.bind(person.number, leg.message.rawValue, leg.device?.rawValue ?? "", open.position)
        put.bind(at: 5, open.wait.rawValue, open.apnsID, open.attempts, open.notBefore)
        var steps = ByteWriter()
        if !open.steps.isEmpty { steps.write(open.steps) }
        try put.bind(at: 9, open.pushJob?.rawValue, steps.bytes.isEmpty ? nil : steps.bytes).run()
    }
}

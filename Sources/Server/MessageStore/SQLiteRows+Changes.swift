import StoreMachine
import StoreModel
import TidingsModel

extension SQLiteRows {
    // tidy: long because it is one case per kind of row.
    func put(_ change: RowChange) throws {
        try self.begin()
        switch change {
        case .opening(let epoch, let identity, let next, let forgotten):
            try self.sql.setEpoch.bind(epoch, identity.id, identity.generation).run()
            try self.sql.insertOpening.bind(epoch, identity.opening, next).run()
            try self.sql.forgetOpenings.bind(forgotten).run()
        case .derived(let watermark, let indexed, let lastMessageID, let storage):
            try self.sql.setDerived.bind(watermark, indexed, lastMessageID.rawValue).run()
            for row in storage { try self.sql.putStorage.bind(row.app.rawValue, row.applied, row.use.encoded).run() }
        case .setAside(let person):
            try self.sql.insertSetAside.bind(person.number, person.key?.app.rawValue, person.key?.user.rawValue).run()
        case .objectNames(let app, let names): try self.put(names, of: app)
        case .account(let key, let account): try self.put(account, of: key)
        case .app(let app): try self.sql.putApp.bind(app.id.rawValue, app.json.text).run()
        case .ofOperator(let name, let record?): try self.sql.putOperator.bind(name, record.json.text).run()
        case .ofOperator(let name, nil): try self.sql.deleteOperator.bind(name).run()
        case .keyUse(let key, let at?): try self.sql.putKeyUse.bind(key.row.app, key.row.name, at).run()
        case .keyUse(let key, nil): try self.sql.deleteKeyUse.bind(key.row.app, key.row.name).run()
        case .audit(let record): try self.put(record)
        case .noAudit(let end): try self.sql.pruneAudit.bind(end).run()
        case .keptAnswer(_, let answer?): try self.put(answer)
        case .keptAnswer(let key, nil):
            try self.sql.forgetKeptAnswer.bind(key.app.rawValue, key.apiKey, key.text).run()
        case .newPerson(let number, let key):
            let partition = Int64(Partition.of(key))
            try self.sql.insertPerson.bind(number, key.app.rawValue, key.user.rawValue, partition).run()
            self.lastPerson = max(self.lastPerson, number)
        case .person(let number, let head, let counts, let signedIn, let applied):
            self.sql.updatePerson.bind(head, counts.unread, applied, counts.unreadWithMuted)
            try self.sql.updatePerson.bind(at: 5, counts.mentions, signedIn, number).run()
        case .settings(let person, let settings, let drafts):
            self.sql.updateSettings.bind(at: 2, drafts.isEmpty ? nil : drafts.encoded, person)
            try self.sql.updateSettings.run(blob: settings.encoded, at: 1)
        case .userAccount(let person, let account):
            try self.sql.updateAccount.bind(account.ban?.encoded, account.tokensNotBefore, person).run()
        case .profile(let person, let profile):
            try self.sql.updateProfile.bind(profile.name, profile.portrait, person).run()
        case .labels(let person, let labels):
            try self.sql.updateLabels.bind(labels.isEmpty ? nil : labels.encoded, person).run()
        case .chunk(let person, let chunk):
            self.sql.putChunk.bind(person, chunk.first)
            try self.sql.putChunk.run(blob: chunk.bytes, at: 3)
        case .conversationState(let person, let conversation, let state):
            try self.put(state, of: conversation, of: person)
        case .sentMessage(let person, let id, let sent):
            try self.sql.insertSentMessage.bind(person, id.rawValue, sent.id.rawValue, sent.at).run()
        case .device(let person, _, let device?): try self.put(device, of: person)
        case .device(let person, let id, nil): try self.sql.deleteDevice.bind(person, id.rawValue).run()
        case .openLeg(let person, _, let open?): try self.put(open, of: person)
        case .openLeg(let person, let leg, nil):
            try self.sql.deleteOpenLeg.bind(person, leg.message.rawValue, leg.device?.rawValue ?? "").run()
        case .fact(let fact, let holds): try self.put(fact, holds)
        case .alias(let key, let user?):
            try self.sql.putAlias.bind(key.app.rawValue, key.alias.rawValue, user.rawValue).run()
        case .alias(let key, nil): try self.sql.deleteAlias.bind(key.app.rawValue, key.alias.rawValue).run()
        case .members(let conversation, let version, let members):
            var writer = ByteWriter()
            for member in members { writer.signed(member) }
            try self.sql.insertMembership.bind(conversation, version, writer.bytes).run()
        case .conversation(let row): try self.put(row)
        case .roomMessage(let room, let record, let message):
            try self.sql.insertRoomMessage.bind(room, record, message.rawValue).run()
        case .noRoomMessages(let room, let oldest, let newest):
            try self.sql.pruneRoom.bind(room, newest, oldest.rawValue).run()
        case .records(let message, let positions): try self.put(positions, of: message)
        case .revision(let message, let revision):
            try self.sql.putRevision.bind(message.rawValue, revision.recalled, revision.edited).run()
        case .customMessage(let key, let sent):
            try self.sql.insertCustomMessage.bind(key.app.rawValue, key.id.rawValue, sent.id.rawValue, sent.at).run()
        case .mediaUse(let use):
            try self.sql.insertMediaUse.bind(use.media.rawValue, use.sender.rawValue, use.message.rawValue).run()
        case .push(let row): try self.put(row)
        case .pushStep(let number, let job, let record):
            try self.sql.insertPushStep.bind(job.rawValue, number, record).run()
        }
    }

    private func put(
        _ state: PersonState.ConversationState, of number: ConversationNumber, of person: Int64
    ) throws {
        let put = self.sql.putConversationState
        put.bind(person, number.rawValue, state.unread, state.counted)
        put.bind(at: 5, state.read, state.mentions)
        var writer = ByteWriter()
        var last: LogPosition = 0
        for position in state.recalled {
            writer.number(position - last)
            last = position
        }
        put.bind(at: 7, writer.bytes.isEmpty ? nil : writer.bytes, state.last, state.hasWritten, state.listed)
        try put.run()
    }

    private func put(_ device: DeviceRecord, of person: Int64) throws {
        let put = self.sql.putDevice
        put.bind(person, device.key.device.rawValue, device.platform)
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
        put.bind(at: 17, device.voIP?.registration.token.rawValue, device.voIP?.encoded, device.status?.encoded)
        try put.run()
    }

    private static func bind(_ registration: PushRegistration, at: Int64, to put: SQLStatement) {
        put.bind(at: 5, registration.token.rawValue, registration.environment.rawValue, registration.topic, at)
    }

    private func put(_ open: OpenLeg, of person: Int64) throws {
        let put = self.sql.putOpenLeg
        put.bind(person, open.leg.message.rawValue, open.leg.device?.rawValue ?? "", open.position)
        put.bind(at: 5, open.wait.rawValue, open.apnsID, open.attempts, open.notBefore)
        try put.bind(at: 9, open.pushJob?.rawValue, open.steps.isEmpty ? nil : open.steps.encoded).run()
    }

    private func put(_ row: ConversationRow) throws {
        let (put, stored) = (self.sql.putConversation, row.stored)
        let record = stored.record
        put.bind(
            row.number, record.app.rawValue, record.conversation.type.rawValue, record.conversation.target)
        put.bind(at: 5, record.name, stored.version, record.portrait, stored.isDissolved)
        var ranks = ByteWriter()
        for (number, member) in row.ranks.sorted(by: { $0.key < $1.key }) {
            ranks.write(number, member.role, member.nickname)
        }
        put.bind(
            at: 9, ranks.bytes, stored.bans.isEmpty ? nil : stored.bans.encoded,
            stored.mutes.isEmpty ? nil : stored.mutes.encoded, stored.onlyAdminsWrite)
        put.bind(at: 13, stored.invited.isEmpty ? nil : stored.invited.encoded, record.push?.json.text)
        try put.run()
        self.lastConversation = max(self.lastConversation, row.number)
    }

    private func put(_ positions: ArraySlice<JournalPosition>, of message: MessageID) throws {
        guard let first = positions.first else { return }
        var last = first
        self.distances.removeAll()
        for position in positions.dropFirst() {
            self.distances.number(position - last)
            last = position
        }
        try self.sql.insertIndex.bind(message.rawValue, first, self.distances.bytes).run()
    }

    private func put(_ push: PushRow) throws {
        let put = self.sql.putPush
        put.bind(push.id.rawValue, push.app.rawValue, push.record, push.state.rawValue)
        put.bind(at: 5, push.changedAt, push.cursor, push.steps, push.counts.encoded)
        try put.bind(at: 9, push.applied, push.pass).run()
    }
}

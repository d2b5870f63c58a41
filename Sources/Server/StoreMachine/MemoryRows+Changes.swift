import StoreModel
import TidingsModel

extension MemoryRows {
    // tidy: long because it is one case per kind of row.
    package func put(_ change: RowChange) throws {
        try self.makeRoom()
        switch change {
        case .opening(let epoch, let identity, let next, let forgotten):
            self.changeStore { store in
                store.epoch = epoch
                store.identity = StoreIdentity(id: identity.id, generation: identity.generation)
            }
            self.write((number: identity.opening, next: next), epoch, in: self.openings)
            let openings = self.openings.all
            for old in openings.order[..<openings.place(after: forgotten)] { self.write(nil, old, in: self.openings) }
        case .derived(let watermark, let indexed, let lastMessageID, let storage):
            self.changeStore { ($0.watermark, $0.indexed, $0.lastMessageID) = (watermark, indexed, lastMessageID) }
            for row in storage { self.write(row, row.app, in: self.storage) }
        case .setAside(let person): self.write(person, person.number, in: self.setAside)
        case .objectNames(let app, let names):
            self.write(names.isEmpty ? nil : names, app, in: self.objectNames)
        case .account(let key, let account): self.write(account, key.app, key.conversation, in: self.accounts)
        case .app(let app): self.write(app, app.id, in: self.apps)
        case .ofOperator(let name, let record): self.write(record, name, in: self.operators)
        case .keyUse(let key, let time): self.write(time, key, 0, in: self.keyUses)
        case .audit(let record): self.write(record, record.number, in: self.audit)
        case .noAudit(let end):
            let all = self.audit.all
            for number in all.order[..<all.place(after: end)] { self.write(nil, number, in: self.audit) }
        case .keptAnswer(let key, let answer): self.write(answer, key)
        case .newPerson(let number, let key):
            self.write(PersonRow(number: number, key: key), number, in: self.people)
            self.write(number, key.app, key.user, in: self.personNumbers)
        case .person(let number, let head, let counts, let signedIn, let applied):
            self.changePerson(number) {
                ($0.head, $0.counts, $0.signedIn, $0.applied) = (head, counts, signedIn, applied)
            }
        case .settings(let number, let settings, let drafts):
            self.changePerson(number) { ($0.settings, $0.drafts) = (settings, drafts) }
        case .userAccount(let number, let account): self.changePerson(number) { $0.account = account }
        case .profile(let number, let profile): self.changePerson(number) { $0.profile = profile }
        case .labels(let number, let labels): self.changePerson(number) { $0.labels = labels }
        case .chunk(let person, let chunk): self.write(chunk, person, chunk.first, in: self.chunks)
        case .conversationState(let person, let number, var state):
            (state.isMuted, state.isChanged) = (false, false)
            self.write(state, person, number.rawValue, in: self.conversationStates)
        case .sentMessage(let person, let id, let message):
            if self.sentMessages[person, id] == nil { self.write(message, person, id, in: self.sentMessages) }
        case .device(let person, let id, let device): self.write(device, person, id)
        case .openLeg(let person, let leg, let open): self.write(open, person, leg, in: self.openLegs)
        case .fact(let fact, let holds):
            let (group, key) = fact.place
            self.write(holds ? () : nil, group, key, in: self.facts)
        case .alias(let key, let user): self.write(user, key.app, key.alias, in: self.aliases)
        case .members(let conversation, let version, let members):
            self.write(members, conversation, version, in: self.members)
        case .conversation(let row):
            self.write(row, row.number, in: self.conversations)
            let record = row.stored.record
            self.write(row.number, record.app, record.conversation, in: self.conversationNumbers)
        case .roomMessage(let room, let record, let message):
            self.write(message, room, record, in: self.roomMessages)
        case .noRoomMessages(let room, let oldest, let newest):
            let messages = self.roomMessages[room]
            let rest = messages.order.count - newest
            for (place, record) in messages.order.enumerated() where place < rest || messages.rows[place] < oldest {
                self.write(nil, room, record, in: self.roomMessages)
            }
        case .records(let message, let positions):
            guard let first = positions.first else { return }
            self.write(Array(positions), IndexKey(message: message, first: first), in: self.index)
        case .revision(let message, let revision): self.write(revision, message, in: self.revisions)
        case .customMessage(let key, let message):
            if self.customMessages[key.app, key.id] == nil {
                self.write(message, key.app, key.id, in: self.customMessages)
            }
        case .mediaUse(let mention):
            let key = MediaKey(media: mention.media, sender: mention.sender)
            self.write((), key, mention.message, in: self.mediaUses)
        case .push(let row): self.write(row, row.id, in: self.pushes)
        case .pushStep(let number, let job, let record): self.write(record, job, number, in: self.pushSteps)
        }
    }

    private func changePerson(_ number: Int64, _ change: (inout PersonRow) -> Void) {
        guard var row = self.people[number] else { return }
        change(&row)
        self.write(row, number, in: self.people)
    }

    private func write(_ device: DeviceRecord?, _ person: Int64, _ id: DeviceID) {
        let before = self.devices[person, id]
        self.write(device, person, id, in: self.devices)
        guard before?.tokens != device?.tokens else { return }
        if let before { for token in before.tokens { self.write(nil, token, before.key, in: self.tokens) } }
        if let device { for token in device.tokens { self.write((), token, device.key, in: self.tokens) } }
    }

    private func write(_ answer: KeptAnswer?, _ key: IdempotencyKey) {
        if let before = self.keptAnswer(key) { self.write(nil, key.app, before.place, in: self.keptAnswers) }
        if let answer { self.write(answer, key.app, answer.place, in: self.keptAnswers) }
        self.write(answer?.at, key.app, key, in: self.keptTimes)
    }
}

extension DeviceRecord {
    /// For pushes and for calls.
    fileprivate var tokens: [PushToken] {
        [self.push.registration?.token, self.voIP?.registration.token].compactMap(\.self)
    }
}

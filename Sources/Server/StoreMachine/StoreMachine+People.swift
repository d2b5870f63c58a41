import StoreModel
import TidingsModel

extension StoreMachine {
    func find(_ key: UserKey) throws -> PersonState? {
        if let last = self.lastFound, last.key == key { return last }
        if let person = self.peopleByKey[key] {
            person.lastUsed = self.roundNumber
            self.lastFound = person
            return person
        }
        return try Self.attributingDamage(to: nil, key) { try self.rows.person(key).map { try self.remember($0) } }
    }

    /// Finds a person or gives them a number.
    func intern(_ key: UserKey) throws -> PersonState {
        if let person = try self.find(key) { return person }
        self.lastPersonNumber += 1
        let person = PersonState(number: self.lastPersonNumber, key: key)
        person.devices = []
        person.openLegs = [:]
        person.sentHashes = []
        self.newPeople.append(person)
        self.count(in: key.app) { $0.people += 1 }
        self.remember(person)
        return person
    }

    /// For a number that some row or person in memory refers to.
    func person(_ number: Int64) throws -> PersonState {
        if let person = self.personInMemory(number) {
            person.lastUsed = self.roundNumber
            return person
        }
        return try Self.attributingDamage(to: number) {
            guard let row = try self.rows.person(number) else { throw StoredBytesFault.missing("person \(number)") }
            return try self.remember(row)
        }
    }

    func personInMemory(_ number: Int64) -> PersonState? {
        0..<Int64(self.peopleByNumber.count) ~= number ? self.peopleByNumber[Int(number)] : nil
    }

    func personWithName(_ number: Int64) throws -> PersonState {
        let person = try self.person(number)
        guard !person.key.app.rawValue.isEmpty else { throw StoredBytesFault.missing("the name of person \(number)") }
        return person
    }

    private func remember(_ row: PersonRow) throws -> PersonState {
        let chunk = row.chunk ?? LogChunk(first: row.head + 1)
        guard chunk.first > 0, chunk.end == row.head + 1 else {
            throw UnreadableRow(
                number: row.number, key: row.key,
                detail: StoredBytesFault.missing("entry \(row.head) of the log of \(row.key)").description)
        }
        let person = PersonState(
            number: row.number, key: row.key, head: row.head, counts: row.counts, settings: row.settings,
            account: row.account, profile: row.profile, applied: row.applied, signedIn: row.signedIn, chunk: chunk)
        person.draftRecords = row.drafts
        person.labels = row.labels
        // tidy: order does not leave: it is a sum
        for conversation in row.drafts.keys { person.draftBytes += row.settings.draftBytes(of: conversation) }
        self.remember(person)
        return person
    }

    private func remember(_ person: PersonState) {
        person.lastUsed = self.roundNumber
        self.peopleByKey[person.key] = person
        self.draftBytes += person.draftBytes
        while self.peopleByNumber.count <= Int(person.number) { self.peopleByNumber.append(nil) }
        self.peopleByNumber[Int(person.number)] = person
        // A person who comes into memory while a job goes through an app is not wanted there for long.
        if self.lastPushRound + 1 >= self.roundNumber { self.passing.append(person) }
    }

    /// So many that their rows are due before others': with them memory would grow by the audience of a push.
    package var pushTailIsLong: Bool {
        self.pushEntriesInTail + self.pushEntriesInRound >= self.configuration.pushEntriesInTailMax
    }

    /// Removes from memory the people who came with a push job, unless they were used since the round began.
    private func evictPassing() {
        guard !self.passing.isEmpty else { return }
        let isNew = Set(self.newPeople.map(\.number))
        self.passing = self.passing.filter { person in
            guard self.peopleByKey[person.key] === person else { return false }
            if person.isDirty || person.lastUsed == self.roundNumber || isNew.contains(person.number) { return true }
            self.drop(person)
            return false
        }
    }

    private func drop(_ person: PersonState) {
        self.peopleByKey[person.key] = nil
        self.peopleByNumber[Int(person.number)] = nil
        self.draftBytes -= person.draftBytes
    }

    /// Drops people who were not used lately when there are too many, or those with drafts when these are too long; never one
    /// whose rows are behind.
    func evict() {
        self.lastFound = nil
        self.evictPassing()
        self.evictPushes()
        if self.hasTooManyPeople || self.hasTooLongDrafts {
            for age in [2, 1, 0] where self.hasTooManyPeople || self.hasTooLongDrafts {
                let isAnybody = self.hasTooManyPeople
                // tidy: order does not leave: each is dropped by itself
                let old = self.peopleByKey.values.filter {
                    !$0.isDirty && $0.lastUsed + age <= self.roundNumber && (isAnybody || $0.draftBytes > 0)
                }
                let isNew = Set(self.newPeople.map(\.number))
                for person in old where !isNew.contains(person.number) { self.drop(person) }
            }
        }
        if self.conversations.count > self.configuration.cachedPeopleMax / 10, self.newVersions.isEmpty {
            self.conversations.removeAll()
            self.conversationsByNumber.removeAll()
        }
    }

    private var hasTooManyPeople: Bool { self.peopleByKey.count > self.configuration.cachedPeopleMax }
    private var hasTooLongDrafts: Bool { self.draftBytes > self.configuration.cachedDraftBytesMax }

    func sentMessage(_ id: ClientMessageID, by person: PersonState) throws -> PersonState.SentMessage? {
        try self.reading(of: person) { try self.storedMessage(id, by: person) }
    }

    private func storedMessage(_ id: ClientMessageID, by person: PersonState) throws -> PersonState.SentMessage? {
        if person.sentHashes == nil, !person.hasManySent { try self.loadSent(of: person) }
        if let hashes = person.sentHashes, !hashes.contains(id.fnv1a) { return nil }
        if let sent = person.sent[id] { return sent }
        return try self.rows.sentMessage(id, by: person.number)
    }

    private func loadSent(of person: PersonState) throws {
        let max = self.configuration.sentIDsInMemoryMax
        var hashes = Set(person.sent.keys.map(\.fnv1a))
        for (id, _) in try self.rows.sentMessages(by: person.number, limit: max + 1) { hashes.insert(id.fnv1a) }
        if hashes.count > max { person.hasManySent = true } else { person.sentHashes = hashes }
    }

    func conversationState(
        _ number: ConversationNumber, of person: PersonState
    ) throws -> PersonState.ConversationState? {
        if let state = person.conversations[number] { return state }
        return try self.reading(of: person) { try self.loadConversationState(number, of: person) }
    }

    private func loadConversationState(
        _ number: ConversationNumber, of person: PersonState
    ) throws -> PersonState.ConversationState? {
        guard var state = try self.rows.conversationState(number, of: person.number) else { return nil }
        guard state.listed <= state.last, state.last <= person.head else {
            throw StoredBytesFault.badValue("link in a log")
        }
        state.isMuted = try self.isMuted(number, for: person)
        person.conversations[number] = state
        return state
    }

    func stateOrNew(
        _ number: ConversationNumber, of person: PersonState
    ) throws -> PersonState.ConversationState {
        if let state = try self.conversationState(number, of: person) { return state }
        return PersonState.ConversationState(isMuted: try self.isMuted(number, for: person))
    }

    func isMuted(_ number: ConversationNumber, for person: PersonState) throws -> Bool {
        guard person.settings.mayMute else { return false }
        return person.settings.isMuted(try self.conversationID(of: number))
    }

    /// Returns the conversation's id as its readers see it.
    func conversationID(of number: ConversationNumber) throws -> ConversationID {
        guard let type = number.type else { throw StoredBytesFault.badValue("conversation number") }
        guard type.targetIsPeer else { return try self.conversation(number.number).conversation }
        return ConversationID(type: type, target: try self.personWithName(number.number).key.user.rawValue)
    }

    /// Nil if it cannot have entries.
    func number(of conversation: ConversationID, in app: AppID) throws -> ConversationNumber? {
        if conversation.type.targetIsPeer {
            let peer = try self.find(UserKey(app: app, user: UserID(conversation.target)))
            return peer.map { ConversationNumber(type: conversation.type, number: $0.number) }
        }
        return try self.find(conversation, in: app).map {
            ConversationNumber(type: conversation.type, number: $0.number)
        }
    }
}

// MARK: - Devices and legs

extension StoreMachine {
    /// Sorted.
    @discardableResult
    func devices(of person: PersonState) throws -> [DeviceRecord] {
        if let devices = person.devices { return devices }
        let devices = try self.reading(of: person) { try self.rows.devices(of: person.number, person.key) } ?? []
        person.devices = devices
        return devices
    }

    func deviceIndex(_ device: DeviceID, of person: PersonState) throws -> Int? {
        let devices = try self.devices(of: person)
        let place = person.devicePlace(device)
        return place < devices.count && devices[place].key.device == device ? place : nil
    }

    func device(_ key: DeviceKey) throws -> DeviceRecord? {
        guard let person = try self.find(key.user) else { return nil }
        return try self.deviceIndex(key.device, of: person).flatMap { person.devices?[$0] }
    }

    func openLegs(of person: PersonState) throws -> [LegID: OpenLeg] {
        if let legs = person.openLegs { return legs }
        let legs = try self.reading(of: person) { try self.rows.openLegs(of: person.number, person.key) } ?? [:]
        person.openLegs = legs
        return legs
    }
}

extension AllSettings {
    func draftBytes(of conversation: ConversationID) -> Int {
        self.conversations[conversation]?.draft?.text.utf8.count ?? 0
    }
}

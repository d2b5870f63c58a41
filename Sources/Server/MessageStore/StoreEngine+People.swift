import StoreModel
import TidingsModel

extension StoreEngine {
    func find(_ key: UserKey) throws -> PersonState? {
        if let last = self.lastFound, last.key == key { return last }
        if let person = self.peopleByKey[key] {
            person.lastUsed = self.roundNumber
            self.lastFound = person
            return person
        }
        self.sql.personByKey.bind(key.app.rawValue, key.user.rawValue)
        return try self.attributingDamage(to: nil, key) { try self.loadPerson(self.sql.personByKey) }
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
        self.remember(person)
        return person
    }

    /// For a number that some row or person in memory refers to.
    func person(_ number: Int64) throws -> PersonState {
        if let person = self.personInMemory(number) {
            person.lastUsed = self.roundNumber
            return person
        }
        self.sql.personByNumber.bind(number)
        return try self.attributingDamage(to: number) {
            guard let person = try self.loadPerson(self.sql.personByNumber) else {
                throw StoredBytesFault.missing("person \(number)")
            }
            return person
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

    private func loadPerson(_ statement: SQLStatement) throws -> PersonState? {
        guard try statement.step() else { return nil }
        let number = Int64(try statement.count(0))
        guard number <= self.lastPersonNumber else { throw StoredBytesFault.badValue("person's number") }
        let key = statement.userKey(1)
        return try self.attributingDamage(to: number, key) {
            try self.readPerson(statement, number: number, key: key)
        }
    }

    private func readPerson(_ statement: SQLStatement, number: Int64, key: UserKey) throws -> PersonState {
        let head = try statement.count(3)
        let applied = try statement.count(5)
        let counts = UnreadCounts(
            unread: Int(try statement.count(4)), unreadWithMuted: Int(try statement.count(6)),
            mentions: Int(try statement.count(7)))
        let signedIn = Int(try statement.count(9))
        var settings = AllSettings()
        if !statement.isNull(8) {
            var reader = ByteReader(statement.blob(8))
            settings = try reader.read()
        }
        let account = AccountState(
            isBanned: statement.int(10) != 0, tokensNotBefore: statement.isNull(11) ? nil : statement.int(11))
        let profile = Profile(name: statement.optionalText(12), portrait: statement.optionalText(13))
        var drafts: [ConversationID: JournalPosition] = [:]
        if !statement.isNull(14) {
            var reader = ByteReader(statement.blob(14))
            drafts = try reader.read()
        }
        var labels = PersonLabels()
        if !statement.isNull(15) {
            var reader = ByteReader(statement.blob(15))
            labels = try reader.read()
        }
        statement.reset()
        let last = try self.sql.lastChunk.bind(number).first {
            try LogChunk(first: try $0.count(0), stored: $0.blob(1))
        }
        let chunk = last ?? LogChunk(first: head + 1)
        guard chunk.first > 0, chunk.end == head + 1 else {
            throw StoredBytesFault.missing("entry \(head) of the log of \(key)")
        }
        let person = PersonState(
            number: number, key: key, head: head, counts: counts, settings: settings, account: account,
            profile: profile, applied: applied, signedIn: signedIn, chunk: chunk)
        person.draftRecords = drafts
        person.labels = labels
        // tidy: order does not leave: it is a sum
        for conversation in drafts.keys { person.draftBytes += person.settings.draftBytes(of: conversation) }
        self.remember(person)
        return person
    }

    private func remember(_ person: PersonState) {
        person.lastUsed = self.roundNumber
        self.peopleByKey[person.key] = person
        self.draftBytes += person.draftBytes
        while self.peopleByNumber.count <= Int(person.number) { self.peopleByNumber.append(nil) }
        self.peopleByNumber[Int(person.number)] = person
        // Whoever comes into memory while a job goes through an app is not wanted there for long.
        if self.lastPushRound + 1 >= self.roundNumber { self.passing.append(person) }
    }

    /// So many that their rows are due before others': with them memory would grow by the audience of a push.
    var pushTailIsLong: Bool {
        self.pushEntriesInTail + self.pushEntriesInRound >= self.configuration.pushEntriesInTailMax
    }

    /// Whoever came into memory with a push job leaves it, unless they were used since the round began.
    private func evictPassing() {
        guard !self.passing.isEmpty else { return }
        let isNew = Set(self.newPeople.map(\.number))
        self.passing = self.passing.filter { person in
            guard self.peopleByKey[person.key] === person, !person.isSetAside else { return false }
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
                let old = self.peopleByKey.values.filter {
                    !$0.isDirty && !$0.isSetAside && $0.lastUsed + age <= self.roundNumber
                        && (isAnybody || $0.draftBytes > 0)
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
        if let hashes = person.sentHashes, !hashes.contains(id.hashValue) { return nil }
        if let sent = person.sent[id] { return sent }
        return try self.sql.sentMessage.bind(person.number, id.rawValue).first {
            PersonState.SentMessage(id: MessageID(rawValue: $0.position(0)), at: $0.int(1))
        }
    }

    private func loadSent(of person: PersonState) throws {
        let max = self.configuration.sentIDsInMemoryMax
        var hashes = Set(person.sent.keys.map(\.hashValue))
        self.sql.sentIDs.bind(person.number, Int64(max + 1))
        while try self.sql.sentIDs.step() { hashes.insert(ClientMessageID(self.sql.sentIDs.text(0)).hashValue) }
        if hashes.count > max { person.hasManySent = true } else { person.sentHashes = hashes }
    }

    func conversationState(
        _ number: ConversationNumber, of person: PersonState
    ) throws -> PersonState.ConversationState? {
        if let state = person.conversations[number] { return state }
        guard !person.isSetAside else { return nil }
        return try self.reading(of: person) { try self.loadConversationState(number, of: person) }
    }

    private func loadConversationState(
        _ number: ConversationNumber, of person: PersonState
    ) throws -> PersonState.ConversationState? {
        let row = self.sql.conversationState.bind(person.number, number.rawValue)
        guard try row.step() else { return nil }
        var state = PersonState.ConversationState(
            unread: Int(try row.count(0)), mentions: Int(try row.count(3)), counted: try row.count(1),
            read: try row.count(2), last: try row.count(5), hasWritten: row.int(6) != 0)
        guard state.last <= person.head else { throw StoredBytesFault.badValue("link in a log") }
        var reader = ByteReader(row.blob(4))
        while !reader.isAtEnd { state.recalled.append((state.recalled.last ?? 0) &+ (try reader.number())) }
        row.reset()
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

    /// As its readers see it.
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

extension StoreEngine {
    /// Sorted.
    @discardableResult
    func devices(of person: PersonState) throws -> [DeviceRecord] {
        if let devices = person.devices { return devices }
        return try self.reading(of: person) { try self.loadDevices(of: person) }
    }

    private func loadDevices(of person: PersonState) throws -> [DeviceRecord] {
        let devices = try self.sql.devices.bind(person.number).all { row in
            DeviceRecord(
                key: DeviceKey(user: person.key, device: DeviceID(row.text(0))), platform: row.text(1),
                push: try Self.pushState(row), settled: try row.count(8), decided: try row.count(9),
                since: try row.count(10), signedInAt: row.int(11), isSignedOut: row.int(12) != 0,
                unpushed: try Self.unpushed(row), voIP: try Self.voIPToken(row), status: try Self.status(row, 16))
        }
        person.devices = devices
        return devices
    }

    private static func unpushed(_ row: SQLStatement) throws -> UnpushedMessages {
        var unpushed = UnpushedMessages()
        guard !row.isNull(14) else { return unpushed }
        var reader = ByteReader(row.blob(14))
        while !reader.isAtEnd { unpushed.insert(try reader.read()) }
        return unpushed
    }

    static func status(_ row: SQLStatement, _ column: Int32) throws -> ReportedStatus? {
        guard !row.isNull(column) else { return nil }
        var reader = ByteReader(row.blob(column))
        // By its type: as an optional it would be read with a byte that says whether it is there.
        let status: ReportedStatus = try reader.read()
        return status
    }

    private static func voIPToken(_ row: SQLStatement) throws -> VoIPToken? {
        guard !row.isNull(15) else { return nil }
        var reader = ByteReader(row.blob(15))
        let token: VoIPToken = try reader.read()
        return token
    }

    private static func pushState(_ row: SQLStatement) throws -> PushState {
        func registration() throws -> PushRegistration {
            guard let environment = PushEnvironment(rawValue: row.text(4)) else {
                throw StoredBytesFault.badValue("push environment")
            }
            return PushRegistration(token: PushToken(row.text(3)), environment: environment, topic: row.text(5))
        }
        switch row.int(2) {
        case 0: return .none
        case 1: return .registered(try registration(), at: row.int(6), wasAccepted: row.int(13) != 0)
        case 2: return .quarantined(try registration(), at: row.int(6), reason: row.text(7))
        case 3: return .dead(timestamp: row.int(6))
        default: throw StoredBytesFault.badValue("push state")
        }
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
        return try self.reading(of: person) { try self.loadOpenLegs(of: person) }
    }

    private func loadOpenLegs(of person: PersonState) throws -> [LegID: OpenLeg] {
        var legs: [LegID: OpenLeg] = [:]
        let row = self.sql.openLegs
        row.bind(person.number)
        while try row.step() {
            let device = row.text(1)
            let leg = LegID(
                message: MessageID(rawValue: row.position(0)), user: person.key,
                device: device.isEmpty ? nil : DeviceID(device))
            guard let wait = LegWait(rawValue: row.text(3)) else { throw StoredBytesFault.badValue("wait") }
            legs[leg] = OpenLeg(
                leg: leg, position: try row.count(2), wait: wait, apnsID: row.optionalText(4),
                attempts: Int(try row.count(5)), notBefore: row.isNull(6) ? nil : row.int(6),
                pushJob: row.isNull(7) ? nil : PushJobID(rawValue: row.position(7)),
                steps: try LegSteps(stored: row, 8))
        }
        person.openLegs = legs
        return legs
    }
}

extension LegSteps {
    fileprivate init(stored row: SQLStatement, _ column: Int32) throws(StoredBytesFault) {
        self.init()
        guard !row.isNull(column) else { return }
        var reader = ByteReader(row.blob(column))
        self = try reader.read()
        guard reader.isAtEnd else { throw .badValue("steps of a leg") }
    }
}

extension AllSettings {
    func draftBytes(of conversation: ConversationID) -> Int {
        self.conversations[conversation]?.draft?.text.utf8.count ?? 0
    }
}

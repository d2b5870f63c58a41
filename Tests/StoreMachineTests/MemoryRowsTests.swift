import Testing
import TidingsModel

@testable import StoreMachine
@testable import StoreModel

/// The contract of `Rows`, as rows in memory keep it: transactions, the order of what is read, and faults.
@Suite struct `Rows in memory` {
    private let rows = MemoryRows()
    private let ada = UserKey(app: "shop", user: "ada")
    private let bo = UserKey(app: "shop", user: "bo")
    private let shop = ConversationKey(app: "shop", conversation: ConversationID(type: .publicService, target: "news"))

    private func id(_ number: UInt64) -> MessageID { MessageID(rawValue: number) }

    private func putPeople(_ keys: UserKey...) throws {
        for (index, key) in keys.enumerated() { try self.rows.put(.newPerson(Int64(index) + 1, key)) }
    }

    private func device(_ name: DeviceID, _ push: PushState = .none, settled: LogPosition = 0) -> DeviceRecord {
        DeviceRecord(
            key: DeviceKey(user: self.ada, device: name), platform: "ios", push: push, settled: settled, decided: 0,
            since: 0, signedInAt: 5, isSignedOut: false)
    }

    private func registered(_ token: PushToken) -> PushState {
        .registered(PushRegistration(token: token, environment: .production, topic: "shop"), at: 5)
    }

    private func entry(_ record: JournalPosition) -> LogChunk.Entry {
        LogChunk.Entry(record: record, conversation: .none)
    }

    private func chunk(_ first: LogPosition, _ records: ClosedRange<JournalPosition>) -> LogChunk {
        var chunk = LogChunk(first: first)
        for record in records { chunk.append(self.entry(record)) }
        return chunk
    }

    private func kept(_ text: String, at: Int64) -> RowChange {
        let key = IdempotencyKey(app: "shop", apiKey: "main", text: text)
        return .keptAnswer(key, KeptAnswer(key: key, fingerprint: [], answer: .done, at: at))
    }

    private func storage(_ applied: JournalPosition) -> StorageRow { ("shop", applied, StorageUse()) }

    private func audit(_ number: Int64, _ name: String) -> RowChange {
        .audit(
            AuditRecord(
                number: number, at: 5, author: ControlAuthor(.ofOperator, name: name), action: "suspend", app: "shop",
                subject: ""))
    }

    // MARK: Transactions

    @Test func `shows what a transaction has put, and keeps it once it is committed`() throws {
        try self.putPeople(self.ada, self.bo)
        #expect(self.rows.allPeople() == [self.ada, self.bo])
        try self.rows.commit()
        self.rows.rollBack()
        self.rows.crash()
        #expect(self.rows.allPeople() == [self.ada, self.bo])
    }

    @Test func `takes back what was put, replaced and removed since the last commit`() throws {
        try self.putPeople(self.ada)
        try self.rows.append(.lost, at: 1)
        try self.rows.put(.derived(watermark: 1, indexed: 1, lastMessageID: self.id(7), storage: [self.storage(1)]))
        try self.rows.put(.profile(1, Profile(name: "Ada")))
        try self.rows.put(.alias(AliasKey(app: "shop", alias: "a"), "ada"))
        try self.rows.put(.device(1, "phone", self.device("phone", self.registered("aa"))))
        try self.rows.commit()

        try self.rows.append(.lost, at: 2)
        try self.rows.put(.derived(watermark: 2, indexed: 2, lastMessageID: self.id(8), storage: [self.storage(2)]))
        try self.rows.put(.newPerson(2, self.bo))
        try self.rows.put(.profile(1, Profile(name: "Adele")))
        try self.rows.put(.alias(AliasKey(app: "shop", alias: "a"), nil))
        try self.rows.put(.alias(AliasKey(app: "shop", alias: "a"), "bo"))
        try self.rows.put(.device(1, "phone", self.device("phone", self.registered("bb"))))
        try self.rows.put(.device(1, "phone", nil))
        self.rows.rollBack()

        #expect(self.rows.recordsBegin(from: 1) == 1)
        #expect(self.rows.recordsBegin(from: 2) == nil)
        #expect(self.rows.load().watermark == 1)
        #expect(self.rows.load().lastMessageID == self.id(7))
        #expect(self.rows.load().storage.map { $0.applied } == [1])
        #expect(self.rows.allPeople() == [self.ada])
        #expect(self.rows.person(1)?.profile == Profile(name: "Ada"))
        #expect(self.rows.alias(AliasKey(app: "shop", alias: "a")) == "ada")
        #expect(self.rows.devices(of: 1, self.ada) == [self.device("phone", self.registered("aa"))])
        #expect(self.rows.devices(with: "aa") == [DeviceKey(user: self.ada, device: "phone")])
        #expect(self.rows.devices(with: "bb") == [])
    }

    @Test func `loses an open transaction in a crash, and no other`() throws {
        try self.putPeople(self.ada)
        try self.rows.commit()
        try self.rows.put(.newPerson(2, self.bo))
        self.rows.crash()
        #expect(self.rows.allPeople() == [self.ada])
        try self.rows.put(.newPerson(2, self.bo))
        try self.rows.commit()
        #expect(self.rows.allPeople() == [self.ada, self.bo])
    }

    // MARK: The journal

    @Test func `reads records by their positions, and refuses one that does not follow`() throws {
        let second = JournalRecord.objectNames("shop", ["shop:order"])
        try self.rows.append(.lost, at: 1)
        try self.rows.append(second, at: 2)
        #expect(throws: StoredBytesFault.self) { try self.rows.append(.lost, at: 4) }
        #expect(try self.rows.record(at: 2) == second)
        var read: [JournalRecord] = []
        var position = self.rows.recordsBegin(from: 1)
        while let here = position {
            try self.rows.records(from: here) { record in
                read.append(record)
                return true
            }
            position = self.rows.recordsBegin(from: here + 1)
        }
        #expect(read == [.lost, second])
        for missing: JournalPosition in [0, 3] {
            #expect(throws: StoredBytesFault.missing("journal record \(missing)")) {
                try self.rows.record(at: missing)
            }
        }
    }

    @Test func `puts zeros in place of a text, and takes that back with its transaction`() throws {
        let record = { (content: String) in
            JournalRecord.edit(
                "shop",
                Edit(
                    message: self.id(1), conversation: ConversationID(type: .direct, target: "bo"), content: content,
                    at: 5),
                accepted: 1)
        }
        try self.rows.append(record("hi"), at: 1)
        try self.rows.commit()
        #expect(try self.rows.eraseTexts(of: [1]) == 1)
        #expect(try self.rows.record(at: 1) == record("\0\0"))
        self.rows.rollBack()
        #expect(try self.rows.record(at: 1) == record("hi"))
    }

    // MARK: Reading

    @Test func `reads a log from the chunk with an entry, whichever was put first`() throws {
        try self.putPeople(self.ada)
        for chunk in [self.chunk(4, 14...15), self.chunk(1, 11...13), self.chunk(6, 16...16)] {
            try self.rows.put(.chunk(1, chunk))
        }
        func records(from start: LogPosition, before end: LogPosition) throws -> [JournalPosition] {
            var records: [JournalPosition] = []
            try self.rows.entries(of: 1, from: start, before: end) { entry in
                records.append(entry.record)
                return entry.record < 16
            }
            return records
        }
        #expect(try records(from: 1, before: 7) == [11, 12, 13, 14, 15, 16])
        #expect(try records(from: 5, before: 6) == [14, 15])
        #expect(try records(from: 3, before: 4) == [11, 12, 13])
        #expect(try self.rows.chunk(of: 1, at: 5) { $0.record < 14 } == 4)
        #expect(try self.rows.chunk(of: 2, at: 5) { _ in true } == nil)
        #expect(self.rows.person(1)?.chunk?.first == 6)
    }

    @Test func `lists people by their ids, without those of whom nothing is known`() throws {
        try self.putPeople(
            self.bo, self.ada, UserKey(app: "shop", user: "eve"), UserKey(app: "other", user: "al"),
            UserKey(app: "shop", user: "di"))
        for number: Int64 in [1, 2, 4, 5] {
            try self.rows.put(
                .person(number, head: 1, counts: UnreadCounts(unread: 3), signedIn: 0, applied: 9))
        }
        func page(after: UserID?, _ limit: Int) -> [UserID] {
            self.rows.people(of: "shop", after: after, limit: limit).map(\.id)
        }
        #expect(page(after: nil, 9) == ["ada", "bo", "di"])
        #expect(page(after: "ada", 1) == ["bo"])
        #expect(page(after: "c", 9) == ["di"])
        #expect(
            self.rows.people(of: "other", after: nil, limit: 1) == [
                PersonSummary(id: "al", ban: nil, devices: 0, unread: 3)
            ])
    }

    @Test func `lists a person's conversations by their newest message, the newest first`() throws {
        for (number, listed) in [(1, 4), (2, 0), (3, 9), (4, 6)] as [(Int64, LogPosition)] {
            var state = Self.state(last: 9, listed: listed)
            (state.isMuted, state.isChanged) = (true, true)
            try self.rows.put(.conversationState(1, ConversationNumber(type: .group, number: number), state))
        }
        let page = self.rows.newestConversations(of: 1, before: 9, limit: 5)
        #expect(page.map(\.number.number) == [4, 1])
        #expect(page.map(\.listed) == [6, 4])
        #expect(self.rows.newestConversations(of: 1, before: 99, limit: 1).map(\.listed) == [9])
        #expect(
            self.rows.conversationState(page[0].number, of: 1)
                == Self.state(last: 9, listed: 6))
    }

    private static func state(last: LogPosition, listed: LogPosition) -> PersonState.ConversationState {
        var state = PersonState.ConversationState()
        (state.last, state.listed) = (last, listed)
        return state
    }

    @Test func `finds a message's records and the messages before an id, the greatest first`() throws {
        try self.rows.put(.records(of: self.id(5), [2, 9]))
        try self.rows.put(.records(of: self.id(3), [1]))
        try self.rows.put(.records(of: self.id(8), [4]))
        try self.rows.put(.records(of: self.id(5), [12]))
        #expect(self.rows.records(of: self.id(5)) == [2, 9, 12])
        #expect(self.rows.records(of: self.id(4)) == [])
        #expect(self.rows.messages(before: self.id(9), notBefore: self.id(4), limit: 9) == [8, 5].map(self.id))
        #expect(self.rows.messages(before: self.id(8), notBefore: self.id(0), limit: 1) == [self.id(5)])
    }

    @Test func `keeps the newest of a room's messages`() throws {
        for (record, message) in [(3, 30), (5, 10), (7, 40), (9, 50)] as [(JournalPosition, UInt64)] {
            try self.rows.put(.roomMessage(room: 1, record: record, self.id(message)))
        }
        func records(before: JournalPosition) throws -> [JournalPosition] {
            var records: [JournalPosition] = []
            try self.rows.roomMessages(of: 1, before: before) { record in
                records.append(record)
                return true
            }
            return records
        }
        #expect(try records(before: 9) == [7, 5, 3])
        try self.rows.put(.noRoomMessages(room: 1, before: self.id(20), butNewest: 3))
        #expect(try records(before: 99) == [9, 7])
    }

    @Test func `answers members by version, and throws where there are none`() throws {
        let team = ConversationKey(app: "shop", conversation: ConversationID(type: .group, target: "team"))
        let record = ConversationRecord(
            app: team.app, conversation: team.conversation, name: "Team", portrait: nil, members: [Member]())
        try self.rows.put(.members(conversation: 1, version: 2, [4, 5]))
        try self.rows.put(.members(conversation: 1, version: 4, [5]))
        try self.rows.put(
            .conversation(ConversationRow(number: 1, stored: .init(record: record, version: 5), ranks: [:])))
        #expect(try self.rows.members(of: 1, version: 3) == [4, 5])
        #expect(try self.rows.conversation(team)?.members == [5])
        #expect(throws: StoredBytesFault.missing("membership version 1 of conversation 1")) {
            try self.rows.members(of: 1, version: 1)
        }
    }

    @Test func `reads answers by their age, and audit records backwards`() throws {
        for (text, at) in [("b", 20), ("a", 20), ("c", 10), ("d", 30)] as [(String, Int64)] {
            try self.rows.put(self.kept(text, at: at))
        }
        try self.rows.put(self.kept("d", at: 5))
        #expect(self.rows.keptAnswers(of: "shop", upTo: 20, limit: 3).map(\.key.text) == ["d", "c", "a"])
        #expect(self.rows.keptAnswers(of: nil, upTo: .max, limit: .max).map(\.at) == [5, 10, 20, 20])
        #expect(self.rows.load().keptCounts == ["shop": 4])
        for (number, name) in [(1, "ann"), (2, "ben"), (3, "ann"), (4, "ann")] as [(Int64, String)] {
            try self.rows.put(self.audit(number, name))
        }
        try self.rows.put(.noAudit(upTo: 1))
        let question = AuditQuestion(actor: "ann")
        #expect(self.rows.audit(question, before: 4, after: 0, limit: 9).map(\.number) == [3])
        #expect(self.rows.audit(AuditQuestion(), before: 9, after: 2, limit: 1).map(\.number) == [4])
        #expect(self.rows.load().lastAudit == 4)
    }

    @Test func `counts followers, and knows who has work`() throws {
        try self.putPeople(self.ada, self.bo)
        for user: UserID in ["cy", "ada", "bo"] {
            try self.rows.put(.fact(.follower(FollowerKey(account: self.shop, user: user)), true))
        }
        try self.rows.put(.fact(.follower(FollowerKey(account: self.shop, user: "bo")), false))
        #expect(self.rows.followers(of: self.shop, after: nil, limit: 9) == ["ada", "cy"])
        #expect(self.rows.followers(of: self.shop, after: "ada", limit: 9) == ["cy"])
        #expect(self.rows.load().followerCounts == [self.shop: 2])
        #expect(!self.rows.has(.follower(FollowerKey(account: self.shop, user: "bo"))))
        for number: Int64 in [1, 2] {
            try self.rows.put(.person(number, head: 4, counts: UnreadCounts(), signedIn: 1, applied: 9))
        }
        try self.rows.put(.device(1, "phone", self.device("phone", settled: 4)))
        #expect(self.rows.pending() == [])
        try self.rows.put(.device(1, "pad", self.device("pad", settled: 3)))
        let leg = LegID(message: self.id(1), user: self.bo, device: nil)
        try self.rows.put(.openLeg(2, leg, OpenLeg(leg: leg, position: 4, wait: .grace)))
        #expect(self.rows.pending() == [self.ada, self.bo])
    }

    // MARK: Faults

    @Test func `fails in the middle of a transaction, once`() throws {
        self.rows.failAfterPuts = 2
        try self.rows.put(.newPerson(1, self.ada))
        try self.rows.append(.lost, at: 1)
        #expect(throws: MemoryRows.Fault.full) { try self.rows.put(.newPerson(2, self.bo)) }
        #expect(self.rows.isTransactionWhole)
        self.rows.rollBack()
        #expect(self.rows.allPeople() == [])
        #expect(self.rows.recordsBegin(from: 1) == nil)
        try self.rows.put(.newPerson(1, self.bo))
        try self.rows.commit()
        #expect(self.rows.allPeople() == [self.bo])
    }

    @Test func `loses the transaction of a commit that fails, once`() throws {
        self.rows.failNextCommit = true
        // Nothing is to be committed.
        try self.rows.commit()
        try self.putPeople(self.ada)
        #expect(throws: MemoryRows.Fault.notSynced) { try self.rows.commit() }
        #expect(!self.rows.isTransactionWhole)
        #expect(self.rows.allPeople() == [])
        self.rows.rollBack()
        #expect(self.rows.isTransactionWhole)
        try self.putPeople(self.bo)
        try self.rows.commit()
        #expect(self.rows.allPeople() == [self.bo])
    }

    @Test func `loses committed transactions where the disk lies`() throws {
        try self.putPeople(self.ada)
        try self.rows.commit()
        self.rows.loseUnsynced = true
        try self.rows.put(.newPerson(2, self.bo))
        try self.rows.commit()
        try self.rows.append(.lost, at: 1)
        self.rows.rollBack()
        #expect(self.rows.allPeople() == [self.ada, self.bo])
        self.rows.crash()
        #expect(self.rows.allPeople() == [self.ada])
    }

    @Test func `forgets faults that were not met, at a crash`() throws {
        (self.rows.failAfterPuts, self.rows.failNextCommit) = (0, true)
        self.rows.crash()
        try self.putPeople(self.ada)
        try self.rows.commit()
        #expect(self.rows.allPeople() == [self.ada])
    }
}

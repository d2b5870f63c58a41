import GRDB
import StoreMachine
import StoreModel
import TidingsModel

// Rows that are no person's, conversation's or message's.
extension SQLiteRows {
    func load() throws -> StoreRow {
        guard var store = try self.sql.loadStore.first({ try $0.store() }) else {
            throw StoredBytesFault.missing("the row of table store")
        }
        store.openings = try self.sql.openings.all { (number: try $0.count(0), next: try $0.count(1)) }
        let pages = try Int64.fetchOne(self.database, sql: "PRAGMA page_count") ?? 0
        let pageBytes = try Int64.fetchOne(self.database, sql: "PRAGMA page_size") ?? 0
        store.lastPerson = try self.single(self.sql.lastPersonNumber)
        store.lastConversation = try self.single(self.sql.lastConversationNumber)
        // Numbers are given without gaps, and no row is shorter than eight bytes.
        store.numberMax = pages * pageBytes / 8
        guard 0...store.numberMax ~= store.lastPerson, 0...store.numberMax ~= store.lastConversation else {
            throw StoredBytesFault.badValue("number of a person or conversation")
        }
        (self.lastPerson, self.lastConversation) = (store.lastPerson, store.lastConversation)
        store.setAside = try self.sql.allSetAside.all { row in
            SetAsidePerson(number: row.int(0), key: row.isNull(1) || row.isNull(2) ? nil : row.userKey(1))
        }
        for (app, name) in try self.sql.allObjectNames.all({ (AppID($0.text(0)), ObjectName($0.text(1))) }) {
            store.objectNames[app, default: []].append(name)
        }
        for (key, account) in try self.sql.allAccounts.all({ try $0.account() }) {
            store.accounts[key.app, default: [:]][key.conversation] = account
        }
        for (key, count) in try self.sql.followerCounts.all({ (try $0.conversationKey(), Int(try $0.count(3))) }) {
            store.followerCounts[key] = count
        }
        store.apps = try self.sql.allApps.all { try ManagedApp(stored: $0.text(0), "app") }
        store.operators = try self.sql.allOperators.all { try OperatorRecord(stored: $0.text(0), "operator") }
        store.keyUses = try Self.keyUses(self.sql.allKeyUses)
        store.lastAudit = try self.single(self.sql.lastAudit)
        store.unfinishedPushes = try self.sql.unfinishedPushes.all { (app: AppID($0.text(0)), id: $0.message(1)) }
        for (app, count) in try self.sql.keptCounts.all({ (AppID($0.text(0)), Int(try $0.count(1))) }) {
            store.keptCounts[app] = count
        }
        store.storage = try self.sql.allStorage.all { row in
            (AppID(row.text(0)), try row.count(1), try row.decoded(2, as: StorageUse.self) ?? StorageUse())
        }
        return store
    }

    private func single(_ statement: SQLStatement) throws -> Int64 { try statement.first { $0.int(0) } ?? 0 }

    static func keyUses(_ rows: SQLStatement) throws -> [KeyUse] {
        try rows.all { KeyUse(KeyUse.Key(app: $0.text(0), name: $0.text(1)), at: $0.int(2)) }
    }

    func pending() throws -> [UserKey] {
        do {
            return try self.sql.pending.all { $0.userKey(0) }
        } catch {
            guard StoreMachine.damage(error) != nil else { throw error }
            // One by one: those who cannot be read are noticed when they are needed.
            return try (0...self.lastPerson).flatMap { number in
                do {
                    return try self.sql.pendingPerson.bind(number).all { $0.userKey(0) }
                } catch {
                    guard StoreMachine.damage(error) != nil else { throw error }
                    return []
                }
            }
        }
    }

    // MARK: Audit and kept answers

    func audit(_ question: AuditQuestion, before end: Int64, after start: Int64, limit: Int) throws -> [AuditRecord] {
        var records: [AuditRecord] = []
        try self.rows(of: question, before: end, after: start).forEach { row in
            records.append(try AuditRecord(stored: row.text(0)))
            return records.count < limit
        }
        return records
    }

    /// Looks at no rows but those it finds: each kind of question has an index.
    private func rows(of question: AuditQuestion, before: Int64, after: Int64) -> SQLStatement {
        switch (question.app, question.actor) {
        case (nil, nil): self.sql.audit.bind(before, after)
        case (let app?, nil): self.sql.auditOfApp.bind(before, after, app.rawValue)
        case (nil, let actor?): self.sql.auditByActor.bind(before, after, actor)
        case (let app?, let actor?): self.sql.auditOfAppByActor.bind(before, after, app.rawValue, actor)
        }
    }

    func keptAnswer(_ key: IdempotencyKey) throws -> KeptAnswer? {
        try self.sql.keptAnswer.bind(key.app.rawValue, key.apiKey, key.text).first { try $0.keptAnswer() }
    }

    func keptAnswers(of app: AppID?, upTo end: Int64, limit: Int) throws -> [KeptAnswerKey] {
        let rows =
            app.map { self.sql.keptAnswers.bind($0.rawValue, end, limit) } ?? self.sql.allKeptAnswers.bind(end, limit)
        return try rows.all { KeptAnswerKey(at: $0.int(3), key: $0.idempotencyKey()) }
    }

    // MARK: Changes

    func put(_ account: ServiceAccount?, of key: ConversationKey) throws {
        let (app, type, id) = (key.app.rawValue, key.conversation.type.rawValue, key.conversation.target)
        guard let account else { return try self.sql.deleteAccount.bind(app, type, id).run() }
        var details = ByteWriter()
        details.write(account.owner, account.operators, account.audience)
        try self.sql.insertAccount.bind(app, type, id, details.bytes).run()
    }

    func put(_ names: [ObjectName], of app: AppID) throws {
        try self.sql.deleteObjectNames.bind(app.rawValue).run()
        for name in names { try self.sql.insertObjectName.bind(app.rawValue, name.rawValue).run() }
    }

    func put(_ record: AuditRecord) throws {
        let (app, actor) = (record.app?.rawValue, record.author.actor)
        try self.sql.putAudit.bind(record.number, app, actor, record.json.text).run()
    }

    func put(_ kept: KeptAnswer) throws {
        let row = self.sql.putKeptAnswer
        row.bind(kept.key.app.rawValue, kept.key.apiKey, kept.key.text, kept.fingerprint)
        switch kept.answer {
        case .done, .invited: row.bind(at: 5, kept.at, Int64?.none, Int64(0), false)
        case .accepted(let message, let sentAt, let isRepeat):
            row.bind(at: 5, kept.at, message.rawValue, sentAt, isRepeat)
        }
        var invited: [UInt8]?
        if case .invited(let users) = kept.answer { invited = users.encoded }
        try row.bind(at: 9, invited).run()
    }
}

extension SQLStatement {
    fileprivate func store() throws -> StoreRow {
        var store = StoreRow()
        (store.epoch, store.watermark, store.indexed) = (try self.count(0), try self.count(1), try self.count(2))
        store.lastMessageID = self.message(3)
        store.identity = StoreIdentity(id: self.text(4), generation: try self.count(5))
        return store
    }

    func conversationKey() throws -> ConversationKey {
        ConversationKey(
            app: AppID(self.text(0)),
            conversation: ConversationID(type: try self.conversationType(1), target: self.text(2)))
    }

    fileprivate func account() throws -> (ConversationKey, ServiceAccount) {
        let key = try self.conversationKey()
        var reader = ByteReader(self.blob(3))
        return (key, try reader.account(key.conversation))
    }

    fileprivate func keptAnswer() throws -> KeptAnswer {
        var answer: IdempotentAnswer =
            self.isNull(5) ? .done : .accepted(self.message(5), sentAt: self.int(6), isRepeat: self.int(7) != 0)
        if let invited = try self.decoded(8, as: [UserID].self) { answer = .invited(invited) }
        return KeptAnswer(
            key: self.idempotencyKey(), fingerprint: self.bytes(4), answer: answer, at: self.int(3))
    }

    fileprivate func idempotencyKey() -> IdempotencyKey {
        IdempotencyKey(app: AppID(self.text(0)), apiKey: self.text(1), text: self.text(2))
    }
}

extension AuditRecord {
    fileprivate init(stored text: String) throws(StoredBytesFault) {
        do throws(InvalidField) {
            try self.init(json: JSONFields(parsing: text.utf8, root: "record"))
        } catch {
            throw .badValue("record of a change: \(error)")
        }
    }
}

extension JSONCodable {
    fileprivate init(stored text: String, _ what: String) throws(StoredBytesFault) {
        do throws(InvalidField) { try self.init(line: text.utf8) } catch {
            throw .badValue("\(what): \(error)")
        }
    }
}

extension KeyUse.Key {
    /// Operators' keys are those of the empty app, which nobody has.
    var row: (app: String, name: String) {
        switch self {
        case .api(let app, let name): (app.rawValue, name)
        case .ofOperator(let name): ("", name)
        }
    }

    init(app: String, name: String) { self = app.isEmpty ? .ofOperator(name: name) : .api(AppID(app), name: name) }
}

import StoreModel
import TidingsModel

// Who has asked for what of apps and operators: records of the journal with the change they tell of, and rows derived behind it, of which the
// oldest fall away.
extension StoreEngine {
    /// Looks at no rows but those it finds: each kind of question has an index.
    func readAudit(_ question: AuditQuestion, limit: Int) throws -> StoreResult {
        var found = self.auditTail.reversed().filter { question.isAbout($0) }
        // Rows that the tail has, too, were written before a crash; and those that it pushes out are there still.
        let first = self.auditTail.first?.number ?? self.lastAudit + 1
        let oldest = self.lastAudit - Int64(AuditRecord.countMax)
        let rows = self.rows(of: question, before: min(question.before ?? first, first), after: oldest)
        defer { rows.reset() }
        while found.count <= limit, try rows.step() { found.append(try AuditRecord(stored: rows.text(0))) }
        return .audit(Array(found.prefix(limit)), hasMore: found.count > limit)
    }

    private func rows(of question: AuditQuestion, before: Int64, after: Int64) -> SQLStatement {
        switch (question.app, question.actor) {
        case (nil, nil): self.sql.audit.bind(before, after)
        case (let app?, nil): self.sql.auditOfApp.bind(before, after, app.rawValue)
        case (nil, let actor?): self.sql.auditByActor.bind(before, after, actor)
        case (let app?, let actor?): self.sql.auditOfAppByActor.bind(before, after, app.rawValue, actor)
        }
    }

    /// The oldest first.
    func allAudit() throws -> [AuditRecord] {
        guard case .audit(let records, _) = try self.readAudit(AuditQuestion(), limit: .max - 1) else { return [] }
        return records.reversed()
    }

    func loadAudit() throws { self.lastAudit = try self.single(self.sql.lastAudit) }

    func storeAudit() throws {
        guard !self.auditTail.isEmpty else { return }
        for record in self.auditTail {
            let (app, actor) = (record.app?.rawValue, record.author.actor)
            try self.sql.putAudit.bind(record.number, app, actor, record.json.text).run()
        }
        self.auditTail.removeAll()
        try self.sql.pruneAudit.bind(self.lastAudit - Int64(AuditRecord.countMax)).run()
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

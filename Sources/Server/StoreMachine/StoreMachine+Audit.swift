import StoreModel
import TidingsModel

// Who has asked for what of apps and operators: records of the journal with the change they tell of, and rows derived behind it, of which the
// oldest fall away.
extension StoreMachine {
    func readAudit(_ question: AuditQuestion, limit: Int) throws -> StoreResult {
        var found = self.auditTail.reversed().filter { question.isAbout($0) }
        // Rows that the tail has, too, were written before a crash; and those that it pushes out are there still.
        let first = self.auditTail.first?.number ?? self.lastAudit + 1
        let oldest = self.lastAudit - Int64(AuditRecord.countMax)
        if found.count <= limit {
            found += try self.rows.audit(
                question, before: min(question.before ?? first, first), after: oldest, limit: limit + 1 - found.count)
        }
        return .audit(Array(found.prefix(limit)), hasMore: found.count > limit)
    }

    /// The oldest first.
    func allAudit() throws -> [AuditRecord] {
        guard case .audit(let records, _) = try self.readAudit(AuditQuestion(), limit: .max - 1) else { return [] }
        return records.reversed()
    }

    func storeAudit() throws {
        guard !self.auditTail.isEmpty else { return }
        for record in self.auditTail { try self.rows.put(.audit(record)) }
        self.auditTail.removeAll()
        try self.rows.put(.noAudit(upTo: self.lastAudit - Int64(AuditRecord.countMax)))
    }
}

import Foundation
import GRDB
import Logging
import StoreMachine
import StoreModel
import TidingsModel

/// A new store made from the journal of another, past everything in it that cannot be read or applied.
final class StoreReplay {
    /// Records that are not in the new store, with the reason for each run of them.
    private(set) var lost: [(records: ClosedRange<JournalPosition>, why: String)] = []
    private(set) var records: UInt64 = 0

    private let rows: SQLiteRows
    private let logger: Logger
    private(set) var engine: StoreMachine
    /// Since the last commit.
    private var pending: [JournalRecord] = []
    /// The number of entries of steps of push jobs, which have a thousand people each.
    private var pendingEntries = 0

    private static let recordsAtOnce = 4_096

    /// - Parameter database: a new store's, with its tables.
    init(into database: Database, logger: Logger) throws {
        self.rows = try SQLiteRows(database, MessageStoreConfiguration())
        self.logger = logger
        self.engine = try Self.engine(self.rows, logger)
    }

    private static func engine(_ rows: SQLiteRows, _ logger: Logger) throws -> StoreMachine {
        try StoreMachine(rows: rows, configuration: StoreMachine.Configuration(), start: .reading)
    }

    func replayJournal(of source: Database) throws {
        var next: JournalPosition = 1
        try StoredJournal(source).forEachRow { row in
            switch row {
            case .unreadable(let why):
                self.appendLost(next...next, why)
            case .records(let first, let bytes):
                while next < first {
                    if self.lost.last?.records.contains(next) != true { self.appendLost(next...next, "is missing") }
                    try self.add(.lost)
                    next += 1
                }
                do {
                    try bytes.withUnsafeBytes { buffer in
                        try JournalRow.read(buffer) { record in
                            try self.add(record)
                            next += 1
                            return true
                        }
                    }
                } catch let fault as StoredBytesFault {
                    self.appendLost(next...next, fault.description)
                }
            }
        }
        // What could not be read at the end may have been one record or more: an id in it is not given again.
        if self.lost.last?.records.upperBound == next { try self.add(.lost) }
        try self.commit()
        while try self.engine.deriveStep() {}
        self.engine.logNotes(to: self.logger)
    }

    private func appendLost(_ records: ClosedRange<JournalPosition>, _ why: String) {
        if let last = self.lost.last, last.why == why, last.records.upperBound + 1 >= records.lowerBound {
            let end = max(last.records.upperBound, records.upperBound)
            self.lost[self.lost.count - 1].records = last.records.lowerBound...end
        } else {
            self.lost.append((records, why))
        }
    }

    private func add(_ record: JournalRecord) throws {
        self.records += 1
        self.pending.append(record)
        if case .pushStep(let step) = record { self.pendingEntries += step.users.count }
        if max(self.pending.count, self.pendingEntries) >= Self.recordsAtOnce { try self.commit() }
    }

    /// A record that cannot be applied is left out, and everything since the last commit is done again without it.
    private func commit() throws {
        let start = self.engine.next
        var index = 0
        while index < self.pending.count {
            do {
                while index < self.pending.count {
                    _ = try self.engine.write(self.pending[index])
                    index += 1
                }
            } catch {
                guard StoreMachine.damage(error) != nil else { throw error }
                let position = start + UInt64(index)
                self.appendLost(position...position, "cannot be applied: \(self.pending[index].subject): \(error)")
                self.pending[index] = .lost
                self.rows.rollBack()
                self.engine = try Self.engine(self.rows, self.logger)
                index = 0
            }
        }
        try self.rows.commit()
        self.pending.removeAll(keepingCapacity: true)
        self.pendingEntries = 0
        while self.engine.tailIsLong || self.engine.pushTailIsLong || self.engine.isInRound,
            try self.engine.deriveStep()
        {}
        self.engine.logNotes(to: self.logger)
    }

    /// Takes over the other store's epoch, openings, identity, kept answers, and when keys were used that there are. With records lost it is another generation, and no answer
    /// is given again: what it was for may be lost.
    func carryOver(from source: Database) throws {
        let row = try? Row.fetchOne(source, sql: "SELECT epoch, identity, generation FROM store")
        let openings = (try? Row.fetchAll(source, sql: "SELECT epoch, number, position FROM opening")) ?? []
        let answers = (try? Row.fetchAll(source, sql: "SELECT * FROM kept_answer")) ?? []
        let uses = (try? SQLiteRows.keyUses(SQLStatement(source, "SELECT app, name, at FROM key_use"))) ?? []
        guard let row else { return }
        let isWhole = self.lost.isEmpty
        try self.rows.database.inTransaction {
            try self.rows.database.execute(
                sql: "UPDATE store SET epoch = ?, identity = ?, generation = ?",
                arguments: [
                    row["epoch"] as Int64, row["identity"] as String,
                    isWhole ? row["generation"] as Int64 : Int64(UInt64.random(in: StoreIdentity.numbers)),
                ])
            // Without its openings no phone's log is taken for this store's.
            for opening in openings where isWhole {
                try self.rows.database.execute(
                    sql: "INSERT OR REPLACE INTO opening VALUES (?, ?, ?)",
                    arguments: [opening["epoch"] as Int64, opening["number"] as Int64, opening["position"] as Int64])
            }
            for kept in answers where isWhole {
                try self.rows.database.execute(
                    sql: "INSERT OR REPLACE INTO kept_answer VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: StatementArguments(kept.databaseValues))
            }
            for use in uses where self.engine.control.hasKey(use.key) {
                let (app, name) = use.key.row
                try self.rows.database.execute(
                    sql: "INSERT OR REPLACE INTO key_use VALUES (?, ?, ?)", arguments: [app, name, use.at])
            }
            return .commit
        }
    }
}

/// The rows of a journal in order, past those that cannot be read.
struct StoredJournal {
    enum Row {
        case records(first: JournalPosition, [UInt8])
        /// From here to the next row something cannot be read.
        case unreadable(String)
    }

    private let rows: SQLStatement

    init(_ database: Database) throws {
        self.rows = try SQLStatement(
            database, "SELECT position, records FROM journal WHERE position >= ? ORDER BY position LIMIT 1")
    }

    func forEachRow(_ body: (Row) throws -> Void) throws {
        var next: JournalPosition? = 1
        while let at = next {
            switch self.row(from: at) {
            case .success(.none): return
            case .success(.some(let row)):
                try body(.records(first: row.position, row.bytes))
                next = row.position + 1
            case .failure(let failure):
                try body(.unreadable(failure.message))
                next = self.readable(after: at)
            }
        }
    }

    private func row(from position: JournalPosition) -> Result<
        (position: JournalPosition, bytes: [UInt8])?, SQLiteFailure
    > {
        do {
            return .success(try self.rows.bind(position).first { (position: $0.position(0), bytes: $0.bytes(1)) })
        } catch {
            return .failure(error as? SQLiteFailure ?? SQLiteFailure(code: 0, message: "\(error)"))
        }
    }

    /// The first readable position behind a damaged one: looked for in ever longer steps, and then by halves.
    private func readable(after damaged: JournalPosition) -> JournalPosition? {
        var low = damaged
        var step: UInt64 = 1
        while step < 1 << 53 {
            let high = damaged + step
            if case .success(let row) = self.row(from: high) {
                var best = row?.position
                var top = high
                while low + 1 < top {
                    let middle = low + (top - low) / 2
                    if case .success(let found) = self.row(from: middle) {
                        top = middle
                        best = found?.position ?? best
                    } else {
                        low = middle
                    }
                }
                if let best { return best }
            } else {
                low = high
            }
            step *= 2
        }
        return nil
    }
}

extension JournalRecord {
    /// Whom or what it is about, for an operator.
    var subject: String {
        switch self {
        case .accept(let message, _, _, _, _): "message \(message.id) of \(message.app)/\(message.sender)"
        case .putConversation(let record, _): "conversation \(record.conversation) of \(record.app)"
        case .change(let app, let change): "conversation \(change.conversation) of \(app)"
        case .recall(let app, let recall, _): "recall of message \(recall.message) of \(app)"
        case .edit(let app, let edit, _): "edit of message \(edit.message) of \(app)"
        case .delete(let key, _, _, _), .conversationSettings(let key, _, _, _, _), .personSettings(let key, _, _),
            .blocked(let key, _, _, _), .markRead(let key, _, _, _):
            "person \(key)"
        case .custom(let operation): "custom message \(operation.message.id) of \(operation.app)"
        case .signIn(let device): "device \(device.key)"
        case .signOut(let key), .setPushState(let key, _), .setVoIPToken(let key, _),
            .deviceStatus(let key, _), .advance(let key, _, _):
            "device \(key)"
        case .keepLeg(let open): "person \(open.leg.user)"
        case .endLeg(let ended): "person \(ended.leg.user)"
        case .receipt(let leg, _, _, _): "person \(leg.user)"
        case .userAccount(let key, _), .profile(let key, _), .following(let key, _, _), .labels(let key, _, _):
            "person \(key)"
        case .push(let job): "push \(job.id) of \(job.app)"
        case .pushStep(let step): "a step of push \(step.job) of \(step.app)"
        case .pushChange(let record): "push \(record.job) of \(record.app)"
        case .account(let app, let account, _): "account \(account) of \(app)"
        case .objectNames(let app, _): "object names of \(app)"
        case .control(let entry):
            switch entry.record {
            case .app(let app)?: "app \(app.id)"
            case .ofOperator(let record)?: "operator \(record.name)"
            case .removedOperator(let name)?: "operator \(name)"
            case nil: "record \(entry.audit?.number ?? 0) of changes"
            }
        case .lost: "nothing"
        }
    }
}

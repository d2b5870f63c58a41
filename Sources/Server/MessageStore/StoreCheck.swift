import Foundation
import GRDB
package import Logging
import StoreModel
import TidingsModel

package struct StoreRebuildReport: Equatable, Sendable {
    package var records: UInt64
    /// One sentence for each.
    package var lost: [String]
    /// Where the old store is now.
    package var aside: String
}

extension StoreMaintenance {
    /// Compares what is derived with what the journal gives, on a copy beside the store: it needs about twice the size of the
    /// database for a while.
    /// - Returns: what is wrong, one sentence each.
    package static func check(path: String, logger: Logger) throws(MessageStoreError) -> [String] {
        let files = try StoreFiles(path: path)
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            return try Self.withDatabase(copy, of: path) { database in
                var findings = try Self.integrity(of: database)
                try Self.withReplay(of: database, in: folder, logger) { replay in
                    findings += replay.lost.map(Self.sentence)
                    do {
                        let engine = try StoreEngine(
                            database: database, configuration: MessageStoreConfiguration(), logger: logger,
                            start: .reading)
                        defer { engine.wal.detach(database) }
                        let aside = try engine.loadSetAside()
                        findings += aside.map {
                            "\($0.key.map { "person \($0)" } ?? "person number \($0.number)") is set aside"
                        }
                        findings += try StoreComparison(stored: engine, replayed: replay.engine).differences()
                    } catch {
                        guard let row = StoreEngine.damage(error) else { throw error }
                        findings.append("\(row)")
                    }
                }
                return findings
            }
        }
    }

    /// Makes a store anew from its journal. What is missing or cannot be applied is left out and named; then it is another generation
    /// of the store, and phones sync their logs again.
    package static func rebuild(path: String, logger: Logger) throws(MessageStoreError) -> StoreRebuildReport {
        let files = try StoreFiles(path: path)
        return try StoreFiles.withFolder(beside: path) { folder throws(MessageStoreError) in
            let copy = try files.copy(into: folder)
            let (records, lost) = try Self.withDatabase(copy, of: path) { database in
                try Self.withReplay(of: database, in: folder, logger) { replay in
                    try replay.carryOver(from: database)
                    return (replay.engine.next - 1, replay.lost.map(Self.sentence))
                }
            }
            let new = folder.appendingPathComponent("rebuilt.sqlite").path
            let aside = try files.moveAside(as: "before-rebuild")
            try StoreFile.rename(new, to: path)
            return StoreRebuildReport(records: records, lost: lost, aside: aside)
        }
    }

    private static func sentence(_ lost: (records: ClosedRange<JournalPosition>, why: String)) -> String {
        let first = lost.records.lowerBound
        let place = lost.records.count == 1 ? "record \(first)" : "records \(first) to \(lost.records.upperBound)"
        return "journal \(place): \(lost.why)"
    }

    private static func integrity(of database: Database) throws -> [String] {
        do {
            return try String.fetchAll(database, sql: "PRAGMA integrity_check(1000)").filter { $0 != "ok" }
                .map { "the file: \($0)" }
        } catch let error as DatabaseError {
            return ["the file: \(error.message ?? "\(error)")"]
        }
    }

    private static func withDatabase<Value>(
        _ copy: String, of path: String, _ body: (Database) throws -> Value
    ) throws(MessageStoreError) -> Value {
        do {
            let (queue, _) = try Schema.open(path: copy, configuration: MessageStoreConfiguration())
            let value = try queue.writeWithoutTransaction(body)
            try? queue.close()
            return value
        } catch {
            throw MessageStoreError(error, path: path).naming(path)
        }
    }

    private static func withReplay<Value>(
        of source: Database, in folder: URL, _ logger: Logger, _ body: (StoreReplay) throws -> Value
    ) throws -> Value {
        let (queue, _) = try Schema.open(
            path: folder.appendingPathComponent("rebuilt.sqlite").path, configuration: MessageStoreConfiguration())
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { database in
            let replay = try StoreReplay(into: database, logger: logger)
            defer { replay.engine.wal.detach(database) }
            try replay.replayJournal(of: source)
            return try body(replay)
        }
    }
}

struct StoreComparison {
    let stored: StoreEngine
    let replayed: StoreEngine

    /// More differences than this are not listed.
    static let differencesMax = 1_000

    func differences() throws -> [String] {
        var found: [String] = []
        for key in try self.replayed.allKeys() {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            found += try self.describing("person \(key)") { try self.differences(of: key) }
        }
        for number in try self.replayed.allConversationNumbers() {
            let wanted = try self.replayed.stored(try self.replayed.conversation(number))
            let record = wanted.record
            found += try self.describing("conversation \(record.conversation) of \(record.app)") {
                let known = try self.stored.find(record.conversation, in: record.app).map { try self.stored.stored($0) }
                return known == wanted ? [] : ["is not what the journal gives"]
            }
        }
        while try self.replayed.sql.allIndexed.step() {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            let id = MessageID(rawValue: self.replayed.sql.allIndexed.position(0))
            found += try self.describing("message \(id)") {
                try self.stored.records(of: id) == self.replayed.records(of: id)
                    ? [] : ["its index is not what the journal gives"]
            }
        }
        if self.stored.objectNames != self.replayed.objectNames {
            found.append("object names are not what the journal gives")
        }
        for wanted in try self.replayed.allPushJobs() {
            guard found.count < Self.differencesMax else { return found + ["and more"] }
            found += try self.describing("push \(wanted.id)") {
                try self.stored.push(wanted.id)?.job == wanted ? [] : ["is not what the journal gives"]
            }
        }
        if try self.stored.allAliases() != self.replayed.allAliases() {
            found.append("aliases are not what the journal gives")
        }
        let (known, wanted) = (self.stored.control, self.replayed.control)
        if known.apps.map(\.json) != wanted.apps.map(\.json) { found.append("apps are not what the journal gives") }
        if known.operators.map(\.json) != wanted.operators.map(\.json) {
            found.append("operators are not what the journal gives")
        }
        if try self.stored.allAudit() != self.replayed.allAudit() {
            found.append("records of changes are not what the journal gives")
        }
        return found
    }

    private func describing(_ subject: String, _ body: () throws -> [String]) throws -> [String] {
        do {
            return try body().map { "\(subject): \($0)" }
        } catch {
            guard let row = StoreEngine.damage(error) else { throw error }
            self.stored.sql.resetAll()
            return ["\(subject): cannot be read: \(row.detail)"]
        }
    }

    private func differences(of key: UserKey) throws -> [String] {
        guard let wanted = try self.replayed.find(key) else { return [] }
        guard let known = try self.stored.find(key) else { return wanted.head > 0 ? ["is missing"] : [] }
        guard !known.isSetAside else { return [] }
        var found: [String] = []
        func compare<Part: Equatable>(_ name: String, _ part: (StoreEngine, PersonState) throws -> Part) throws {
            if try part(self.stored, known) != part(self.replayed, wanted) {
                found.append("\(name) is not what the journal gives")
            }
        }
        try compare("the head of the log") { $1.head }
        try compare("the unread count") { $1.counts }
        try compare("what was set") { $1.settings }
        try compare("what the app calls the person") { $1.labels }
        try compare("the log") { engine, person in
            var entries: [[UInt64]] = []
            try engine.forEachEntry(of: person, after: 0) { entry in
                entries.append([
                    entry.position, entry.record, entry.counts ? 1 : 0, entry.mentions ? 1 : 0, UInt64(entry.unread),
                ])
                return true
            }
            return entries
        }
        try compare("the list of devices") { try $0.devices(of: $1) }
        try compare("what waits to be pushed") { engine, person in
            try engine.openLegs(of: person).values.sorted { $0.leg < $1.leg }
        }
        try compare("the reading of conversations") { try $0.cursors(of: $1) }
        try compare("the deleted messages") { try $0.deletedMessages(of: $1) }
        try compare("the sent messages") { try $0.sentMessages(of: $1) }
        try compare("which pushes have reached them") { try $0.pushesReached(of: $1) }
        return found
    }
}

extension StoreEngine {
    func allKeys() throws -> [UserKey] {
        Set(self.newPeople.map(\.key)).union(try self.sql.allPeople.all { $0.userKey(0) }).sorted()
    }

    func allConversationNumbers() throws -> [Int64] {
        Set(self.newVersions.map(\.conversation.number)).union(try self.sql.allConversations.all { $0.int(0) })
            .sorted()
    }

    func sentMessages(of person: PersonState) throws -> [String: UInt64] {
        var sent: [String: UInt64] = [:]
        self.sql.allSent.bind(person.number)
        while try self.sql.allSent.step() { sent[self.sql.allSent.text(0)] = self.sql.allSent.position(1) }
        for (id, message) in person.sent { sent[id.rawValue] = message.id.rawValue }
        return sent
    }
}

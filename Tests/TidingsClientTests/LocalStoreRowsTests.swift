import ClientCore
import Foundation
import GRDB
import Testing
import TidingsModel

@testable import TidingsClient

@Suite struct `A local store on SQLite` {
    /// How many sequences: `TIDINGS_SEQUENCES` asks for more than the short form has, `TIDINGS_SEED` for others.
    private static let count = Self.number("TIDINGS_SEQUENCES") ?? 300
    private static let firstSeed = Self.number("TIDINGS_SEED") ?? 0

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// In shares that run beside each other.
    @Test(arguments: 0..<4)
    func `answers like the one in memory when its process is killed, the phone full, and people sign out`(
        share: UInt64
    ) throws {
        for index in stride(from: share, to: Self.count, by: 4) {
            let seed = Self.firstSeed + index
            var generator = LocalStoreGenerator(seed: seed)
            let steps = generator.steps(25)
            let ids = generator.messageIDs
            guard let difference = try LocalStoreRun.difference(steps, ids) else { continue }
            let fewest = Self.fewest(steps, ids)
            let last = try LocalStoreRun.difference(fewest, ids) ?? difference
            Issue.record(
                """
                TIDINGS_SEQUENCES=1 TIDINGS_SEED=\(seed) replays: \(last)
                \(fewest.enumerated().map { "  \($0.offset + 1). \($0.element)" }.joined(separator: "\n"))
                """)
            return
        }
    }

    /// The steps without those that the difference does not need.
    private static func fewest(_ steps: [LocalStoreStep], _ ids: [MessageID]) -> [LocalStoreStep] {
        var steps = steps
        for index in steps.indices.reversed() {
            var fewer = steps
            fewer.remove(at: index)
            if (try? LocalStoreRun.difference(fewer, ids)) ?? nil != nil { steps = fewer }
        }
        return steps
    }
}

private struct LocalStoreRun {
    /// Everything a store can be asked, as far as a sequence can change it.
    struct Answers: Hashable {
        var restored: ClientCore.Restored
        var counts: LocalUnreadCounts
        var messages: [StoredMessage?]
        var known: [MessageID]
        var positions: [LogPosition?]
        var histories: [[StoredMessage]] = []
        var conversations: [ConversationSummary]
        var infos: [ConversationInfo?] = []
        var newest: [LogPosition?] = []
        var preferences: Preferences
        var invitations: [Invitation]

        init<Rows: LocalRows>(of store: LocalStoreMachine<Rows>, _ ids: [MessageID]) throws {
            self.restored = try store.restored()
            self.counts = try store.counts()
            // The others stand in the histories.
            let few = ids.indices.filter { $0 % 4 == 0 }.map { ids[$0] }
            self.messages = try few.map { try store.message($0) }
            self.known = try few.filter { try store.isKnown($0) }
            self.positions = try few.map { try store.position(of: $0) }
            self.conversations = try store.conversations(wall: 50)
            self.preferences = try store.preferences()
            self.invitations = try store.invitations()
            for conversation in LocalStoreGenerator.conversations {
                let newest = try store.history(conversation, before: nil, limit: 3)
                self.histories.append(newest)
                self.histories.append(
                    try store.history(conversation, before: newest.first?.position ?? 2, limit: 50))
                self.infos.append(try store.info(conversation))
                self.newest.append(try store.newest(conversation))
            }
        }

        func difference(to other: Answers) -> String {
            let pairs = zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children)
            return pairs.filter { "\($0.value)" != "\($1.value)" }.map { here, there in
                "\(here.label ?? "?") is \(here.value), should be \(there.value)"
            }.joined(separator: "\n")
        }
    }

    private let ids: [MessageID]
    private let root: URL
    private var person: UserID = LocalStoreGenerator.people[0]
    /// What each person's store should hold, and where it lies.
    private var references: [UserID: MemoryLocalStore] = [:]
    private var folders: [UserID: URL] = [:]
    private var store: LocalStore
    private var folderCount = 0

    private var reference: MemoryLocalStore {
        get { self.references[self.person] ?? MemoryLocalStore() }
        set { self.references[self.person] = newValue }
    }

    /// - Returns: the first difference, nil for none.
    static func difference(_ steps: [LocalStoreStep], _ ids: [MessageID]) throws -> String? {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        var run = try LocalStoreRun(ids, root: root)
        defer { try? run.store.close() }
        for (index, step) in steps.enumerated() {
            if let difference = try run.apply(step) { return "step \(index + 1), \(step): \(difference)" }
            guard index % 8 == 7 || index == steps.count - 1 else { continue }
            if let difference = try run.compare() { return "after step \(index + 1), \(step): \(difference)" }
        }
        try run.store.close()
        run.store = try LocalStore(file: run.store.file)
        return try run.compare().map { "opened again at the end: \($0)" }
    }

    private init(_ ids: [MessageID], root: URL) throws {
        self.ids = ids
        self.root = root
        let folder = root.appendingPathComponent("0")
        self.folders[self.person] = folder
        self.store = try LocalStore(file: folder.appendingPathComponent("store.sqlite"))
    }

    private func compare() throws -> String? {
        let here = try self.store.ask { try Answers(of: $0, self.ids) }
        let there = try Answers(of: self.reference, self.ids)
        return here == there ? nil : here.difference(to: there)
    }

    private mutating func newFolder() -> URL {
        self.folderCount += 1
        return self.root.appendingPathComponent("\(self.folderCount)")
    }

    private mutating func open() throws {
        let folder = self.folders[self.person] ?? self.newFolder()
        self.folders[self.person] = folder
        self.store = try LocalStore(file: folder.appendingPathComponent("store.sqlite"))
    }

    private mutating func apply(_ step: LocalStoreStep) throws -> String? {
        switch step.action {
        case .entries(let bodies, let ahead):
            let first = max(1, Int(self.reference.rows.log.stored) + 1 + ahead)
            let entries = bodies.enumerated().map { LogEntry(position: LogPosition(first + $0), body: $1) }
            return try self.carryOut(.write(entries, for: self.person), step.accident)
        case .skip(let far, let isHere):
            let end = self.reference.rows.log.stored
            return try self.carryOut(
                .skip(after: isHere ? end : end + 1, upTo: end + LogPosition(far)), step.accident)
        case .command(let command): return try self.carryOut(command, step.accident)
        case .restart:
            try self.store.close()
            try self.open()
        case .damage:
            try self.store.close()
            let handle = try FileHandle(forWritingTo: self.store.file)
            try handle.write(contentsOf: Data(repeating: 0xff, count: 64))
            try handle.close()
            try self.open()
            guard self.store.setAside != nil else { return "nobody noticed the damage" }
            _ = self.reference.carryOut(.beginAnew)
        case .signOut(let next):
            if let difference = try self.carryOut(.forgetPerson, nil) ?? self.compare() { return difference }
            try self.store.close()
            self.person = next
            try self.open()
        }
        return try self.compare()
    }

    // MARK: Accidents

    private mutating func carryOut(
        _ command: LocalStoreCommand, _ accident: LocalStoreStep.Accident?
    ) throws -> String? {
        guard let folder = self.folders[self.person] else { return nil }
        let copy = self.newFolder()
        let faults = LocalStoreFaults(accident, folder: folder, copy: copy)
        self.store.current.withLock { $0.queue?.add(transactionObserver: faults, extent: .observerLifetime) }
        var after = self.reference
        let expected = after.carryOut(command)
        do {
            let outcome = try withExtendedLifetime(faults) { try self.store.carryOut(command) }
            guard outcome == expected else { return "answers \(outcome), should answer \(expected)" }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL && accident == .full {
            faults.end()
            return try self.settle(command, after, isDone: false)
        }
        guard case .killed = accident else {
            self.reference = after
            return nil
        }
        let isDone = faults.isCommandDone
        faults.keep()
        try self.store.close()
        self.folders[self.person] = copy
        try self.open()
        guard self.store.setAside == nil else { return "takes itself for damaged after a kill" }
        return try self.settle(command, after, isDone: isDone)
    }

    /// What was answered or committed is there. Otherwise all is as before, but for how far custom messages were handed over, if the accident
    /// came after that was remembered: what had waited may be lost, and never comes twice.
    private mutating func settle(
        _ command: LocalStoreCommand, _ after: MemoryLocalStore, isDone: Bool
    ) throws -> String? {
        guard !isDone else {
            self.reference = after
            return try self.compare()
        }
        var rows = self.reference.rows
        let handedOver = try self.store.ask { $0.rows.handedOver }
        guard handedOver == rows.handedOver || handedOver == after.rows.handedOver else {
            return "remembers \(handedOver), should remember \(rows.handedOver) or \(after.rows.handedOver)"
        }
        rows.save(handedOver)
        self.reference = MemoryLocalStore(rows: rows)
        if let difference = try self.compare() { return difference }
        guard case .resetLog = command else { return nil }
        // The client hears of the other log again with its next welcome.
        guard try self.store.carryOut(command) == .done else { return "cannot begin its log anew after an accident" }
        self.reference = after
        return try self.compare()
    }
}

import Foundation
import GRDB
import GRDBSQLite
import Logging
import StoreMachine
import StoreModel
import Synchronization
import TidingsModel

/// The writer's thread and the queue in front of it. `@unchecked Sendable`: `waiting`, `stopping`, `isAsleep` and `isFinished` are
/// guarded by `condition`; the engine and the database belong to the thread alone, as does the rest.
final class StoreWriter: @unchecked Sendable {
    enum Work {
        case batch([StoreCommand], @Sendable ([StoreResult]) -> Void)
        case refusal(StaleEpoch, count: Int, @Sendable ([StoreResult]) -> Void)
        case dump(@Sendable (Result<StoreDump, MessageStoreError>) -> Void)
        case backup(path: String, @Sendable (Result<Void, MessageStoreError>) -> Void)
        case look(StoreLook)
    }

    enum Stop {
        /// Carry out what waits, derive, close.
        case close
        case abandon
    }

    let path: String
    /// The last record of the journal.
    let lastRecord = Atomic<JournalPosition>(0)
    private let configuration: MessageStoreConfiguration
    private let logger: Logger
    private let idle: TimeInterval
    private let state: StateFile
    private let eraseTime: TimeInterval
    private let condition = NSCondition()
    private var waiting: [Work] = []
    private var stopping: Stop?
    private var isAsleep = false
    private var isFinished = false
    /// Transactions of deriving that `mayDerive` was asked for.
    private var steps = 0
    /// Nothing is derived any more (a test's crash).
    private var isFrozen = false
    var backup: (copy: StoreBackup, completion: @Sendable (Result<Void, MessageStoreError>) -> Void)?

    private init(path: String, configuration: MessageStoreConfiguration, logger: Logger) {
        self.path = path
        self.configuration = configuration
        self.idle = TimeInterval(configuration.idleMilliseconds) / 1000
        self.eraseTime = TimeInterval(configuration.eraseMilliseconds) / 1000
        self.logger = logger
        self.state = StateFile(database: path, logger: logger)
    }

    /// Recovers the store on its thread and leaves the thread running.
    static func start(
        _ queue: DatabaseQueue, path: String, configuration: MessageStoreConfiguration, logger: Logger
    ) throws(MessageStoreError) -> (StoreWriter, StoreOpening) {
        let writer = StoreWriter(path: path, configuration: configuration, logger: logger)
        let started = DispatchSemaphore(value: 0)
        let opening = OpeningBox()
        let thread = Thread {
            // On Linux a name that is given before the start stays with Foundation.
            Thread.current.name = "tidings-store"
            writer.run(queue) { result in
                opening.result = result
                started.signal()
            }
        }
        thread.start()
        started.wait()
        guard let result = opening.result else {
            throw MessageStoreError(reason: .failed, path: path, detail: "the writer did not start")
        }
        return (writer, try result.get())
    }

    /// `@unchecked Sendable`: written before the semaphore is signalled, read after.
    private final class OpeningBox: @unchecked Sendable {
        var result: Result<StoreOpening, MessageStoreError>?
    }

    func enqueue(_ work: Work) {
        self.condition.lock()
        if self.isFinished || self.stopping != nil {
            self.condition.unlock()
            return self.refuse(work, because: "the store is closed")
        }
        self.waiting.append(work)
        if self.isAsleep { self.condition.broadcast() }
        self.condition.unlock()
    }

    func stop(_ stop: Stop, andWait: Bool) {
        self.condition.lock()
        if self.stopping == nil { self.stopping = stop }
        self.condition.broadcast()
        while andWait, !self.isFinished { self.condition.wait() }
        self.condition.unlock()
    }

    // MARK: The thread

    private func run(_ queue: DatabaseQueue, opened: (Result<StoreOpening, MessageStoreError>) -> Void) {
        do {
            let (rows, engine) = try queue.writeWithoutTransaction { database in
                let rows = try SQLiteRows(database, self.configuration)
                let engine = try self.makeEngine(rows, .opening(self.state.read(), drawn: .drawn()))
                engine.logNotes(to: self.logger)
                self.publish(engine.state)
                opened(
                    .success(
                        StoreOpening(
                            epoch: engine.epoch, lastMessageID: engine.lastMessageID, pending: engine.pendingAtOpening,
                            identity: engine.identity, control: engine.control,
                            pushJobs: engine.pushJobsAtOpening)))
                return (rows, engine)
            }
            self.loop(engine, rows, queue)
        } catch {
            opened(.failure(MessageStoreError(error, path: self.path)))
        }
        // The rows and their statements are gone by now, as closing requires.
        try? queue.close()
        self.condition.lock()
        self.isFinished = true
        let left = self.waiting
        self.waiting = []
        self.condition.broadcast()
        self.condition.unlock()
        for work in left { self.refuse(work, because: "the store is closed") }
    }

    /// People whose rows are found unreadable in recovery are set aside.
    private func makeEngine(
        _ rows: SQLiteRows, _ start: StoreMachine.Start, settingAside first: [SetAsidePerson] = []
    ) throws -> StoreMachine {
        var setAside = first
        while true {
            do {
                return try StoreMachine(
                    rows: rows, configuration: self.configuration.machine, start: start, settingAside: setAside)
            } catch {
                guard let person = Self.unreadablePerson(error),
                    !setAside.contains(where: { $0.number == person.number }),
                    setAside.count < StoreMachine.setAsideMax
                else { throw error }
                setAside.append(person)
            }
        }
    }

    private static func unreadablePerson(_ error: any Error) -> SetAsidePerson? {
        guard let row = StoreMachine.damage(error), let number = row.number else { return nil }
        return SetAsidePerson(number: number, key: row.key)
    }

    private func loop(_ first: StoreMachine, _ rows: SQLiteRows, _ queue: DatabaseQueue) {
        var engine = first
        var failure: String?
        var deriving = Deriving.whenIdle
        defer {
            self.endBackup(.failure(MessageStoreError(reason: .failed, path: self.path, detail: "the store is closed")))
        }
        var eraseAt: TimeInterval?
        while true {
            if failure == nil, engine.mustErase {
                eraseAt = eraseAt ?? TimeInterval.uptime + self.eraseTime
            } else {
                eraseAt = nil
            }
            let next = self.next(
                deriving: failure == nil && engine.tailRecords > 0 ? deriving : .never, eraseAt: eraseAt)
            do {
                defer { engine.logNotes(to: self.logger) }
                switch next {
                case .work(let work):
                    if let failure {
                        for work in work { self.refuse(work, because: failure) }
                        continue
                    }
                    try queue.writeWithoutTransaction { _ in
                        try self.carryOut(work, with: &engine, rows)
                        rows.wal.makeRoom()
                        if let now = try self.catchUp(&engine, rows) { deriving = now }
                        // A busy store never waits for work.
                        if let due = eraseAt, TimeInterval.uptime >= due { try engine.eraseAll() }
                        self.stepBackup()
                    }
                case .derive:
                    try queue.writeWithoutTransaction { _ in
                        try rows.checkpoint()
                        deriving = try self.derive(&engine, rows)
                    }
                case .copy: queue.writeWithoutTransaction { _ in self.stepBackup() }
                case .erase: try queue.writeWithoutTransaction { _ in try engine.eraseAll() }
                case .stop(.close) where failure == nil:
                    try queue.writeWithoutTransaction { _ in
                        while try self.derive(&engine, rows) != .never, engine.tailRecords > 0 {}
                        try rows.checkpoint()
                    }
                    return
                case .stop: return
                }
            } catch {
                failure = self.logStop(error)
                if case .stop = next { return }
            }
        }
    }

    private enum Deriving { case never, whenIdle, now }

    private enum Next {
        case work([Work])
        case derive
        case copy
        /// Texts that nobody may read have to leave the file.
        case erase
        case stop(Stop)
    }

    private func next(deriving: Deriving, eraseAt: TimeInterval?) -> Next {
        self.condition.lock()
        defer { self.condition.unlock() }
        var isIdle = false
        while true {
            if self.stopping == .abandon { return .stop(.abandon) }
            if !self.waiting.isEmpty {
                defer { self.waiting.removeAll(keepingCapacity: true) }
                return .work(self.waiting)
            }
            if let stopping = self.stopping { return .stop(stopping) }
            if self.backup != nil { return .copy }
            if let eraseAt, TimeInterval.uptime >= eraseAt { return .erase }
            self.isAsleep = true
            defer { self.isAsleep = false }
            switch deriving {
            case .now: return .derive
            case .whenIdle:
                if isIdle { return .derive }
                isIdle = !self.condition.wait(until: Date(timeIntervalSinceNow: self.idle))
            case .never:
                guard let eraseAt else {
                    self.condition.wait()
                    continue
                }
                _ = self.condition.wait(until: Date(timeIntervalSinceNow: max(0, eraseAt - TimeInterval.uptime)))
            }
        }
    }

    /// Does what is due between two batches. A checkpoint is enough at a time, unless people have to leave memory.
    private func catchUp(_ engine: inout StoreMachine, _ rows: SQLiteRows) throws -> Deriving? {
        if rows.mustCheckpoint {
            try rows.checkpoint()
            guard engine.pushTailIsLong else { return nil }
        }
        var (steps, deriving): (Int, Deriving?) = (0, nil)
        while deriving != .never, let due = engine.dueWork(after: steps) {
            switch due {
            case .deriving: deriving = try self.derive(&engine, rows)
            case .storingNew: if self.mayDerive() { try engine.storeNew() }
            }
            steps += 1
        }
        return deriving
    }

    private func mayDerive() -> Bool {
        guard !self.isFrozen else { return false }
        self.steps += 1
        self.isFrozen = !self.configuration.mayDerive(self.steps)
        return !self.isFrozen
    }

    /// One step. A person who cannot be written is set aside, and the step made anew.
    private func derive(_ engine: inout StoreMachine, _ rows: SQLiteRows) throws -> Deriving {
        guard self.mayDerive() else { return .never }
        do {
            let start = ContinuousClock.now
            guard try engine.deriveStep() else { return .whenIdle }
            engine.adjustPace(after: Int(start.duration(to: .now) / .microseconds(1)))
            return engine.isInRound ? .now : .whenIdle
        } catch {
            // A person who is set aside already is not at fault: the step would fail for ever.
            guard let person = Self.unreadablePerson(error), !engine.isSetAside(person.number) else { throw error }
            try self.replace(&engine, rows, settingAside: [person])
            return .now
        }
    }

    /// Replaces an engine whose state is void by one with the state of the last commit.
    private func replace(
        _ engine: inout StoreMachine, _ rows: SQLiteRows, settingAside people: [SetAsidePerson]
    ) throws {
        rows.rollBack()
        engine = try self.makeEngine(rows, .instead(of: engine), settingAside: people)
    }

    /// Carries out everything in one transaction and then hands out the results; a dump, a backup or a look waits for what stands before
    /// it.
    private func carryOut(_ work: [Work], with engine: inout StoreMachine, _ rows: SQLiteRows) throws {
        var start = 0
        while start < work.count {
            var end = start
            var batches: [[StoreCommand]] = []
            scan: while end < work.count {
                switch work[end] {
                case .batch(let commands, _): batches.append(commands)
                case .refusal: break
                case .dump, .backup, .look: break scan
                }
                end += 1
            }
            do {
                var results = try self.results(of: batches, &engine, rows)[...]
                self.publish(engine.state)
                for case let item in work[start..<end] {
                    switch item {
                    case .batch(_, let completion): completion(results.removeFirst())
                    case .refusal(let stale, _, _): self.refuse(item, because: stale.description)
                    case .dump, .backup, .look: break
                    }
                }
            } catch {
                let reason = MessageStoreError(error, path: self.path).description
                for item in work[start...] { self.refuse(item, because: reason) }
                throw error
            }
            if end < work.count {
                switch work[end] {
                case .dump(let completion):
                    completion(Result { try engine.dump() }.mapError { MessageStoreError($0, path: self.path) })
                case .backup(let path, let completion): self.beginBackup(path, rows.database, completion)
                case .look(let look): look.carryOut(with: engine, path: self.path)
                case .batch, .refusal: break
                }
                end += 1
            }
            start = end
        }
    }

    /// A record that could not be applied makes the state void: the person whose rows failed is set aside, or the command is refused,
    /// and all of it is done again from the last commit.
    private func results(
        of batches: [[StoreCommand]], _ engine: inout StoreMachine, _ rows: SQLiteRows
    ) throws -> [[StoreResult]] {
        var refused: Set<Int> = []
        var setAside: Set<Int64> = []
        while true {
            do {
                return try engine.carryOut(batches, refusing: refused)
            } catch let interrupted as InterruptedRecord {
                guard StoreMachine.damage(interrupted.cause) != nil, let command = interrupted.command else {
                    throw interrupted.cause
                }
                var people: [SetAsidePerson] = []
                if let person = Self.unreadablePerson(interrupted.cause), setAside.insert(person.number).inserted {
                    people.append(person)
                } else if !refused.insert(command).inserted {
                    throw interrupted.cause
                }
                try self.replace(&engine, rows, settingAside: people)
            }
        }
    }

    private func refuse(_ work: Work, because reason: String) {
        switch work {
        case .batch(let commands, let completion):
            completion(Array(repeating: .failed(reason), count: commands.count))
        case .refusal(let stale, let count, let completion):
            completion(Array(repeating: .failed(stale.description), count: count))
        case .dump(let completion):
            completion(.failure(MessageStoreError(reason: .failed, path: self.path, detail: reason)))
        case .backup(let path, let completion):
            completion(.failure(MessageStoreError(reason: .failed, path: path, detail: reason)))
        case .look(let look): look.refuse(reason)
        }
    }

    private func publish(_ state: StoreState) {
        self.state.write(state)
        self.lastRecord.store(state.held.position, ordering: .releasing)
    }

    private func logStop(_ error: any Error) -> String {
        let error = MessageStoreError(error, path: self.path)
        self.logger.critical("the store stopped", metadata: ["error": "\(error)"])
        return error.description
    }
}

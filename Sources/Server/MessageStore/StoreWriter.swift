import Foundation
import GRDB
import Logging
import StoreModel

/// The writer's thread and the queue in front of it.
///
/// `@unchecked Sendable`: `waiting`, `stopping`, `isAsleep` and `isFinished` are guarded by `condition`; the engine and the database
/// belong to the thread alone.
final class StoreWriter: @unchecked Sendable {
    enum Work {
        case batch([StoreCommand], @Sendable ([StoreResult]) -> Void)
        case refusal(StaleEpoch, count: Int, @Sendable ([StoreResult]) -> Void)
        case dump(@Sendable (Result<StoreDump, MessageStoreError>) -> Void)
    }

    enum Stop {
        /// Carry out what waits, derive, close.
        case close
        /// Close at once.
        case abandon
    }

    private let path: String
    private let logger: Logger
    private let idle: TimeInterval
    private let eraseTime: TimeInterval
    private let condition = NSCondition()
    private var waiting: [Work] = []
    private var stopping: Stop?
    private var isAsleep = false
    private var isFinished = false

    private init(path: String, configuration: MessageStoreConfiguration, logger: Logger) {
        self.path = path
        self.idle = TimeInterval(configuration.idleMilliseconds) / 1000
        self.eraseTime = TimeInterval(configuration.eraseMilliseconds) / 1000
        self.logger = logger
    }

    /// Recovers the store on its thread and leaves the thread running.
    static func start(
        _ queue: DatabaseQueue, path: String, configuration: MessageStoreConfiguration, logger: Logger
    ) throws(MessageStoreError) -> (StoreWriter, StoreOpening) {
        let writer = StoreWriter(path: path, configuration: configuration, logger: logger)
        let started = DispatchSemaphore(value: 0)
        let opening = OpeningBox()
        let thread = Thread {
            writer.live(queue, configuration: configuration) { result in
                opening.result = result
                started.signal()
            }
        }
        thread.name = "tidings-store"
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

    private func live(
        _ queue: DatabaseQueue, configuration: MessageStoreConfiguration,
        opened: (Result<StoreOpening, MessageStoreError>) -> Void
    ) {
        do {
            let engine = try queue.writeWithoutTransaction { database in
                let engine = try StoreEngine(database: database, configuration: configuration, logger: self.logger)
                let opening = StoreOpening(
                    epoch: engine.epoch, lastMessageID: engine.lastMessageID, pending: engine.pendingAtOpening)
                opened(.success(opening))
                return engine
            }
            self.loop(engine, queue)
            queue.writeWithoutTransaction { engine.wal.detach($0) }
        } catch {
            opened(.failure(self.storeError(error)))
        }
        // The engine and its statements are gone by now, as closing requires.
        try? queue.close()
        self.condition.lock()
        self.isFinished = true
        let left = self.waiting
        self.waiting = []
        self.condition.broadcast()
        self.condition.unlock()
        for work in left { self.refuse(work, because: "the store is closed") }
    }

    private func loop(_ engine: StoreEngine, _ queue: DatabaseQueue) {
        var failure: String?
        var deriving = Deriving.whenIdle
        var eraseAt: TimeInterval?
        while true {
            if failure == nil, engine.mustErase {
                eraseAt = eraseAt ?? Self.uptime + self.eraseTime
            } else {
                eraseAt = nil
            }
            let next = self.next(
                deriving: failure == nil && engine.tailRecords > 0 ? deriving : .never, eraseAt: eraseAt)
            switch next {
            case .work(let work):
                if failure == nil {
                    do {
                        try queue.writeWithoutTransaction { database in
                            try self.carryOut(work, with: engine)
                            engine.wal.makeRoom(database)
                            if engine.tailIsLong { deriving = try self.derive(engine, database) }
                            // A busy store never waits for work.
                            if let due = eraseAt, Self.uptime >= due { try engine.eraseAll(database) }
                        }
                    } catch {
                        failure = self.note(error)
                    }
                } else {
                    for work in work { self.refuse(work, because: failure ?? "") }
                }
            case .derive:
                do {
                    deriving = try queue.writeWithoutTransaction { try self.derive(engine, $0) }
                } catch {
                    failure = self.note(error)
                }
            case .erase:
                do {
                    try queue.writeWithoutTransaction { try engine.eraseAll($0) }
                } catch {
                    failure = self.note(error)
                }
            case .stop(.abandon): return
            case .stop(.close):
                guard failure == nil else { return }
                do {
                    try queue.writeWithoutTransaction { database in
                        while try engine.deriveStep() {}
                        try engine.checkpoint(database)
                    }
                } catch {
                    _ = self.note(error)
                }
                return
            }
        }
    }

    private enum Deriving { case never, whenIdle, now }

    private enum Next {
        case work([Work])
        case derive
        /// Texts that nobody may read have to leave the file.
        case erase
        case stop(Stop)
    }

    /// Seconds of a clock that nobody sets.
    private static var uptime: TimeInterval { ProcessInfo.processInfo.systemUptime }

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
            if let eraseAt, Self.uptime >= eraseAt { return .erase }
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
                _ = self.condition.wait(until: Date(timeIntervalSinceNow: max(0, eraseAt - Self.uptime)))
            }
        }
    }

    /// One step, then on with it as long as nothing is submitted.
    private func derive(_ engine: StoreEngine, _ database: Database) throws -> Deriving {
        let didStep = try engine.deriveStep()
        if engine.round == nil { try engine.checkpoint(database) }
        if engine.isFrozen { return .never }
        return didStep && engine.round != nil ? .now : .whenIdle
    }

    /// Carries out everything in one transaction and then hands out the results; a dump waits for what stands before it.
    private func carryOut(_ work: [Work], with engine: StoreEngine) throws {
        var start = 0
        while start < work.count {
            var end = start
            var batches: [[StoreCommand]] = []
            scan: while end < work.count {
                switch work[end] {
                case .batch(let commands, _): batches.append(commands)
                case .refusal: break
                case .dump: break scan
                }
                end += 1
            }
            do {
                var results = try engine.carryOut(batches)[...]
                for case let item in work[start..<end] {
                    switch item {
                    case .batch(_, let completion): completion(results.removeFirst())
                    case .refusal(let stale, _, _): self.refuse(item, because: stale.description)
                    case .dump: break
                    }
                }
            } catch {
                let reason = self.storeError(error).description
                for item in work[start...] { self.refuse(item, because: reason) }
                throw error
            }
            if end < work.count, case .dump(let completion) = work[end] {
                completion(Result { try engine.dump() }.mapError { self.storeError($0) })
                end += 1
            }
            start = end
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
        }
    }

    private func note(_ error: any Error) -> String {
        let error = self.storeError(error)
        self.logger.critical("the store stopped", metadata: ["error": "\(error)"])
        return error.description
    }

    private func storeError(_ error: any Error) -> MessageStoreError {
        switch error {
        case let error as MessageStoreError: error
        case let error as SQLiteFailure:
            MessageStoreError(reason: error.reason, path: self.path, detail: error.message)
        case let error as DatabaseError:
            MessageStoreError(
                reason: SQLiteFailure(code: error.extendedResultCode.rawValue, message: "").reason, path: self.path,
                detail: error.message ?? "")
        case let error as StoredBytesFault:
            MessageStoreError(reason: .damaged, path: self.path, detail: error.description)
        default: MessageStoreError(reason: .failed, path: self.path, detail: "\(error)")
        }
    }
}

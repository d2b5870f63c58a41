import Foundation
import MessageStore
import Requirements
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A store on SQLite` {
    /// `TIDINGS_SEQUENCES` asks for more sequences than the short form has, `TIDINGS_SEED` for others.
    private static let count = Self.number("TIDINGS_SEQUENCES") ?? UInt64(Fuzz.cases(2_000))
    private static let firstSeed = Self.number("TIDINGS_SEED") ?? 0

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test(arguments: 0..<8)
    func `answers like a store in memory, whatever happens to it between two commands`(share: UInt64) async throws {
        let folder = try TemporaryFolder()
        for index in stride(from: share, to: Self.count, by: 8) {
            let seed = Self.firstSeed + index
            let difference = try await self.difference(seed: seed, in: folder)
            #expect(difference == nil, "TIDINGS_SEQUENCES=1 TIDINGS_SEED=\(seed) replays: \(difference ?? "")")
            if difference != nil { return }
        }
    }

    /// Runs one sequence on both stores, closing or crashing the one on SQLite at random points, also in the middle of deriving.
    /// - Returns: the first difference.
    private func difference(seed: UInt64, in folder: TemporaryFolder) async throws -> String? {
        var generator = CommandGenerator(seed: seed)
        let memory = MemoryStore()
        folder.delete()
        var store: MessageStore?
        var openings: [UInt64] = []
        var left = 30
        while left > 0 || store != nil {
            guard let opened = store else {
                let opened = try MessageStore(
                    path: folder.path(), configuration: Self.configuration(&generator), logger: quiet)
                openings.append(opened.opening.identity.opening)
                let expected = memory.open(number: openings[openings.count - 1]).plain
                if opened.opening.plain != expected { return "opening is \(opened.opening), should be \(expected)" }
                store = opened
                // Whose log it is, as told by anybody who heard of it at any time.
                let questions = openings.flatMap { number in
                    ["ada", "bo", "cy"].flatMap { user in
                        [0, 1, 2, 5, 9].map {
                            StoreCommand.compareLog(
                                UserKey(app: "shop", user: UserID(user)), HeldLog(opening: number, position: $0))
                        }
                    }
                }
                let answers = try await opened.apply(questions)
                if try answers != memory.apply(questions, epoch: memory.epoch) { return "a log is another one" }
                continue
            }
            let batch = (0..<generator.number(1..<6)).map { _ in generator.next() }
            left -= batch.count
            let results = await Self.apply(batch, to: opened, split: generator.chance(30))
            let expected = try memory.apply(batch, epoch: memory.epoch)
            for (index, result) in results.enumerated() where result != expected[index] {
                return "\(batch[index]) gave \(result), should be \(expected[index])"
            }
            // A restart with probability 5 % after each command.
            guard left <= 0 || generator.chance(5 * batch.count) else { continue }
            if generator.chance(60) {
                let dump = try await opened.dump()
                if dump != memory.dump() { return "the store holds \(dump), should be \(memory.dump())" }
            }
            if generator.chance(50) { opened.close() } else { opened.abandon() }
            store = nil
        }
        let reopened = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        let dump = try await reopened.dump()
        reopened.close()
        return dump == memory.dump() ? nil : "reopened, the store holds \(dump), should be \(memory.dump())"
    }

    /// Bounds so small that rows, chunks, caches and derivation steps end within a few commands; deriving stops for good after some
    /// steps.
    private static func configuration(_ generator: inout CommandGenerator) -> MessageStoreConfiguration {
        var configuration = MessageStoreConfiguration()
        configuration.machine.tailRecordsMax = generator.number(1..<12)
        configuration.machine.derivationStepMax = generator.number(1..<3)
        configuration.idleMilliseconds = generator.chance(20) ? 0 : 1000
        configuration.machine.cachedPeopleMax = generator.number(1..<20)
        configuration.machine.cachedDraftBytesMax = generator.number(0..<20)
        configuration.machine.sentIDsInMemoryMax = generator.number(0..<4)
        configuration.machine.pushEntriesInTailMax = generator.number(1..<9)
        configuration.journalRowBytes = generator.number(100..<1000)
        configuration.machine.logChunkBytes = generator.number(1..<30)
        configuration.checkpointPages = generator.number(1..<40)
        let steps = generator.chance(50) ? generator.number(0..<12) : .max
        configuration.mayDerive = { $0 <= steps }
        return configuration
    }

    /// As one batch, or as one batch per command, which the writer may join.
    private static func apply(
        _ batch: [StoreCommand], to store: MessageStore, split: Bool
    ) async -> [StoreResult] {
        let parts = split ? batch.map { [$0] } : [batch]
        return await withCheckedContinuation { continuation in
            let answers = Answers(count: parts.count) { continuation.resume(returning: $0) }
            for (index, part) in parts.enumerated() { store.submit(part) { answers.take($0, at: index) } }
        }
    }
}

/// `@unchecked Sendable`: touched by the store's writer thread only.
final class Answers: @unchecked Sendable {
    private let count: Int
    private var parts: [[StoreResult]] = []
    private let done: @Sendable ([StoreResult]) -> Void

    init(count: Int, done: @escaping @Sendable ([StoreResult]) -> Void) {
        self.count = count
        self.done = done
    }

    func take(_ results: [StoreResult], at index: Int) {
        precondition(index == self.parts.count, "answers out of order")
        self.parts.append(results)
        if self.parts.count == self.count { self.done(self.parts.flatMap { $0 }) }
    }
}

import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A step of deriving` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func rows(_ table: String) throws -> Int {
        let database = try DatabaseQueue(path: self.folder.path())
        defer { try? database.close() }
        return try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? -1 }
    }

    /// Opens a store that derives after each batch, carries out the commands in one, and ends as a killed process after so many
    /// steps.
    /// - Returns: a store in memory that holds the same.
    private func crash(afterSteps steps: Int, _ batches: [[StoreCommand]]) async throws -> MemoryStore {
        var configuration = MessageStoreConfiguration()
        configuration.machine.derivationStepMax = 1
        configuration.machine.tailRecordsMax = 1
        configuration.mayDerive = { $0 <= steps }
        let store = try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        for batch in batches { #expect(try await store.apply(batch) == memory.apply(batch, epoch: 1)) }
        // Each batch is answered before the step after it: one more, to be sure that the last one was made.
        #expect(try await store.dump() == memory.dump())
        store.abandon()
        return memory
    }

    private func expectTheSame(as memory: MemoryStore) async throws {
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        #expect(again.opening.plain == memory.open())
        #expect(try await again.dump() == memory.dump())
        again.close()
        let closed = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await closed.dump() == memory.dump())
        closed.close()
    }

    @Test func `writes no more than its share of a hundred recalls`() async throws {
        let recalls: [StoreCommand] = (1...100).map { number in
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: 1_000 + number), app: "shop", message: MessageID(rawValue: number),
                    actor: nil, window: 0, at: 9))
        }
        let memory = try await self.crash(afterSteps: 1, [(1...100).map { accept(message($0)) } + recalls])
        #expect(try self.rows("message_revision") == 8)
        #expect(try self.rows("message_index") == 0)
        try await self.expectTheSame(as: memory)
    }

    @Test func `writes no more than its share of a chat room's messages`() async throws {
        let room = ConversationID(type: .chatRoom, target: "lobby")
        let record = ConversationRecord(app: "shop", conversation: room, name: "Lobby", members: ["ada"])
        let messages = (1...100).map { accept(message($0, to: "lobby", type: .chatRoom)) }
        let memory = try await self.crash(afterSteps: 2, [[.putConversation(record)] + messages])
        #expect(try self.rows("room_message") == 16)
        try await self.expectTheSame(as: memory)
    }

    @Test func `writes one person's rows when these are many`() async throws {
        let messages = (1...100).map { accept(message($0)) }
        let memory = try await self.crash(afterSteps: 1, [messages])
        #expect(try self.rows("person") == 2)
        #expect(try self.rows("person WHERE applied > 0") == 1)
        try await self.expectTheSame(as: memory)
    }

    @Test func `writes new groups before there is much else to write`() async throws {
        var configuration = MessageStoreConfiguration()
        configuration.machine.derivationStepMax = 8
        // It is never idle long enough to derive the rest.
        configuration.idleMilliseconds = 3_600_000
        let steps = Steps()
        configuration.mayDerive = { _ in
            steps.count += 1
            return true
        }
        let store = try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        for number in 1...20 {
            let commands: [StoreCommand] = [
                .putConversation(
                    ConversationRecord(
                        app: "shop", conversation: ConversationID(type: .group, target: "g\(number)"), name: "G",
                        members: ["ada", "bo"]))
            ]
            #expect(try await store.apply(commands) == memory.apply(commands, epoch: 1))
        }
        #expect(try await store.dump() == memory.dump())
        store.abandon()
        #expect(steps.count >= 4)
        #expect(try self.rows("conversation") >= 16)
        #expect(try self.rows("store WHERE watermark = 0") == 1)
        try await self.expectTheSame(as: memory)
    }

    @Test func `writes the log back between two batches, and not only when all is derived`() async throws {
        var configuration = MessageStoreConfiguration()
        configuration.checkpointPages = 16
        let store = try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
        for number in 1...400 { _ = try await store.apply([accept(message(UInt64(number)))]) }
        let size = try FileManager.default.attributesOfItem(atPath: self.folder.path() + "-wal")[.size] as? Int
        // At least one page of 4,120 bytes for each commit would be 1.6 MB.
        #expect(try #require(size) < 600_000)
        store.close()
    }
}

/// `@unchecked Sendable`: counted on the store's thread, read when that has ended.
private final class Steps: @unchecked Sendable {
    var count = 0
}

@Suite struct `The pace of deriving` {
    private static func pace() -> DerivationPace {
        var configuration = StoreMachine.Configuration()
        configuration.derivationStepMax = 100
        configuration.derivationStepMilliseconds = 2
        return DerivationPace(configuration)
    }

    @Test func `fits the steps to what they take`() {
        var pace = Self.pace()
        #expect(pace.rows == 800)
        pace.adjust(after: 4_000, isBehind: false)
        #expect(pace.rows == 400)
        pace.adjust(after: 1_000, isBehind: false)
        #expect(pace.rows == 800)
        pace.adjust(after: 1_000, isBehind: false)
        #expect(pace.rows == 800)
    }

    @Test func `grows at most twofold at a time, and never below a sixteenth`() {
        var pace = Self.pace()
        pace.adjust(after: 5_000_000, isBehind: false)
        #expect(pace.rows == 50)
        pace.adjust(after: 1, isBehind: false)
        #expect(pace.rows == 100)
    }

    @Test func `is full where more waits than should`() {
        var pace = Self.pace()
        pace.adjust(after: 5_000_000, isBehind: true)
        #expect(pace.rows == 800)
    }
}

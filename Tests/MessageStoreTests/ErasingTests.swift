import Foundation
import GRDB
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `A text that nobody may read any more` {
    private static let id = MessageID(rawValue: 1)

    private static func secret(_ id: UInt64, _ text: String) -> StoreCommand {
        var message = message(id, content: "{\"content\":\"\(text)\"}")
        message.pushText = "push of \(text)"
        message.mentions = id % 2 == 0 ? .none : .users(["bo"])
        if id > 1 { message.push = PushOptions(title: .text("title of \(text)"), sound: "a.caf") }
        return accept(message)
    }

    private static func edit(_ id: UInt64, _ text: String) -> StoreCommand {
        .edit(
            EditOperation(
                app: "shop", message: MessageID(rawValue: id), actor: nil, content: "{\"content\":\"\(text)\"}",
                window: 0, at: 9))
    }

    private static func recall(_ id: UInt64, as recall: UInt64) -> StoreCommand {
        .recall(
            RecallOperation(
                id: MessageID(rawValue: recall), app: "shop", message: MessageID(rawValue: id), actor: nil, window: 0,
                at: 9))
    }

    private static func found(_ words: [String], in folder: TemporaryFolder) throws -> [String] {
        var bytes = Data()
        for suffix in ["", "-wal", "-journal"] {
            bytes += (try? Data(contentsOf: URL(fileURLWithPath: folder.path() + suffix))) ?? Data()
        }
        return words.filter { bytes.range(of: Data($0.utf8)) != nil }
    }

    private static func draft(_ text: String?, for target: String) -> StoreCommand {
        .setConversationState(bo, ConversationID(type: .direct, target: target), .draft(text), at: 9)
    }

    private static let words = [
        "STAYS-1", "GOES-2", "GOES-3", "NOW-3", "GOES-4A", "GOES-4B", "GOES-4C", "STAYS-5", "GOES-6", "STAYS-6",
        "GOES-7",
    ]
    private static let commands: [StoreCommand] =
        [
            secret(1, "STAYS-1"), secret(2, "GOES-2"), secret(3, "GOES-3"), secret(4, "GOES-4A"), edit(3, "NOW-3"),
            edit(4, "GOES-4B"), secret(5, "STAYS-5"), edit(4, "GOES-4C"), recall(2, as: 8), recall(4, as: 9),
            draft("GOES-6", for: "ada"), draft("GOES-7", for: "cy"),
            .setConversationState(bo, ConversationID(type: .direct, target: "ada"), .pinned(true), at: 9),
            draft("STAYS-6", for: "ada"), draft(nil, for: "cy"),
        ]
    private static let left = ["STAYS-1", "NOW-3", "STAYS-5", "STAYS-6"]

    /// With the small step the file is emptied of such texts between any two rows that are derived.
    @Test(.timeLimit(.minutes(2)), arguments: [100, 4_000], [1, 1_000])
    func `is in no file once the time for it is over, and the store is open still`(
        rowBytes: Int, step: Int
    ) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.journalRowBytes = rowBytes
        configuration.machine.derivationStepMax = step
        configuration.idleMilliseconds = step == 1 ? 1 : 5
        configuration.eraseMilliseconds = step == 1 ? 1 : 20
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        for command in Self.commands { _ = try await store.apply([command]) }
        while try Self.found(Self.words, in: folder) != Self.left { try await Task.sleep(for: .milliseconds(5)) }
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(Self.commands, epoch: 1)
        #expect(try await store.dump() == memory.dump())
        // Once more, in a log that was cut before.
        _ = try await store.apply([Self.recall(5, as: 10)])
        _ = try await store.apply([Self.draft(nil, for: "ada")])
        while try Self.found(Self.words, in: folder) != ["STAYS-1", "NOW-3"] {
            try await Task.sleep(for: .milliseconds(5))
        }
        store.close()
    }

    @Test func `is in no file after a clean stop`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply(Self.commands)
        store.close()
        #expect(try Self.found(Self.words, in: folder) == Self.left)
    }

    @Test(arguments: [0, 1, 2, 3])
    func `goes after a crash, and leaves the state as it would have been`(steps: Int) async throws {
        let folder = try TemporaryFolder()
        var crashing = MessageStoreConfiguration()
        crashing.machine.derivationStepMax = 1
        crashing.idleMilliseconds = 1
        crashing.mayDerive = { $0 <= steps }
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(Self.commands, epoch: 1)
        let store = try MessageStore(path: folder.path(), configuration: crashing, logger: quiet)
        _ = try await store.apply(Self.commands)
        _ = try await store.dump()
        store.abandon()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await again.dump() == memory.dump())
        again.close()
        #expect(try Self.found(Self.words, in: folder) == Self.left)
        let third = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await third.dump() == memory.dump())
        third.close()
    }

    @Test func `leaves a journal from whose first record everything can be derived again`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply(Self.commands)
        let dump = try await store.dump()
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { database in
            let tables = try String.fetchAll(
                database,
                sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('journal', 'store')")
            for table in tables { try database.execute(sql: "DELETE FROM \"\(table)\"") }
            try database.execute(sql: "UPDATE store SET watermark = 0, indexed = 0, last_message = 0")
        }
        try database.close()
        let rebuilt = try MessageStore(path: folder.path(), logger: quiet)
        var again = try await rebuilt.dump()
        rebuilt.close()
        again.epoch = dump.epoch
        #expect(again == dump)
    }
}

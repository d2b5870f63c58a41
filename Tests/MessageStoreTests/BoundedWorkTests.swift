import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A message store that is asked too much` {
    private static let toAda = ConversationID(type: .direct, target: "ada")

    private static func records(_ path: String) throws -> Int {
        let database = try DatabaseQueue(path: path)
        defer { try? database.close() }
        return try database.read { database in
            let blobs = try Data.fetchAll(database, sql: "SELECT records FROM journal")
            var count = 0
            for blob in blobs {
                try blob.withUnsafeBytes { bytes in
                    try JournalRow.read(bytes) { record in
                        if case .receipt = record { count += 1 }
                        return true
                    }
                }
            }
            return count
        }
    }

    @Test func `keeps a receipt once, also after a crash and a restart, and none of a stranger's message`() async throws
    {
        let folder = try TemporaryFolder()
        let leg = LegID(message: MessageID(rawValue: 1), user: bo, device: "phone")
        let commands: [StoreCommand] =
            [
                .signIn(DeviceKey(user: bo, device: "phone"), platform: "ios", at: 1), accept(message(1)),
                accept(message(2, to: "cy")),
            ]
            + (0..<500).map { .receipt(leg, .opened, at: $0) } + [.receipt(leg, .shown, at: 5)]
            + (0..<500).map {
                .receipt(LegID(message: MessageID(rawValue: UInt64($0 + 2)), user: bo, device: "phone"), .opened, at: 5)
            }
        let memory = MemoryStore()
        for mayDerive in [false, true, true] {
            var configuration = MessageStoreConfiguration()
            configuration.mayDerive = { _ in mayDerive }
            let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
            _ = memory.open()
            let epoch = memory.epoch
            let wanted = try memory.apply(commands, epoch: epoch)
            #expect(try await store.apply(commands) == wanted)
            #expect(try await store.dump() == memory.dump())
            store.close()
        }
        #expect(try Self.records(folder.path()) == 2)
    }

    @Test func `counts what is left to read whichever way the cursor moves`() async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.machine.logChunkBytes = 64
        configuration.machine.tailRecordsMax = 100
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        func apply(_ commands: [StoreCommand]) async throws {
            let wanted = try memory.apply(commands, epoch: 1)
            #expect(try await store.apply(commands) == wanted)
        }
        // Most of the log is ada's; every tenth is cy's, and some are recalled.
        try await apply((1...1_000).map { accept(message(UInt64($0), from: $0 % 10 == 0 ? "cy" : "ada")) })
        try await apply(
            stride(from: 5, to: 1_000, by: 35).map {
                .recall(
                    RecallOperation(
                        id: MessageID(rawValue: UInt64(5_000 + $0)), app: "shop",
                        message: MessageID(rawValue: UInt64($0)),
                        actor: nil, window: 0, at: 9))
            })
        let toCy = ConversationID(type: .direct, target: "cy")
        try await apply((1...40).map { .markRead(bo, Self.toAda, upTo: $0, at: 9) })
        try await apply([40, 39, 500, 700, 701, 702, 990, 1_000].map { .markRead(bo, Self.toAda, upTo: $0, at: 9) })
        try await apply([1, 15, 800, 801, 900].map { .markRead(bo, toCy, upTo: $0, at: 9) })
        #expect(try await store.dump() == memory.dump())
        store.close()
    }

    @Test func `forgets the devices that signed out first, in the file too`() async throws {
        let folder = try TemporaryFolder()
        let commands: [StoreCommand] = (0..<60).flatMap { number -> [StoreCommand] in
            let device = DeviceKey(user: bo, device: DeviceID("d\(number)"))
            return [.signIn(device, platform: "ios", at: Int64(number)), .signOut(device, at: 99)]
        }
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        #expect(try await store.apply(commands) == memory.apply(commands, epoch: 1))
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        let count = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM device") }
        try database.close()
        #expect(count == DeviceRecord.signedOutMax + 1)
        let again = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await again.dump() == memory.dump())
        again.close()
    }

    @Test func `reads no more of a log than fits the frame, but at least one entry`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let text = String(repeating: "x", count: 30_000)
        _ = try await store.apply((1...20).map { accept(message(UInt64($0), content: text)) })
        func count(_ bytes: Int) async throws -> Int {
            guard
                case .page(let page)? = try await store.apply([.readLog(bo, after: 2, limit: 200, frameBytesMax: bytes)]
                ).first
            else { return -1 }
            #expect(page.head == 20)
            #expect(page.entries.map(\.position) == (0..<UInt64(page.entries.count)).map { $0 + 3 })
            return page.entries.count
        }
        #expect(try await count(262_144) == 4)
        #expect(try await count(0) == 1)
        #expect(try await count(.max) == 18)
        store.close()
    }
}

import Foundation
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `The write-ahead log` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func size() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: self.folder.path() + "-wal")
        return try #require(attributes[.size] as? Int)
    }

    @Test func `grows by many pages at a time, ahead of the commits`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        var sizes: [Int] = []
        for id: UInt64 in 1...300 {
            _ = try await store.apply([accept(message(id))])
            sizes.append(try self.size())
        }
        #expect(Set(sizes).count < 10)
        // As much again as there was, at most: a small store stays small.
        #expect(sizes[299] <= 2 * (sizes[0] + 300 * 4 * 4_120))
        store.close()
    }

    @Test func `is read up to its last commit after a crash`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        for id: UInt64 in 1...40 {
            #expect(
                try await store.apply([accept(message(id))]) == [try memory.apply(accept(message(id)), epoch: 1)])
        }
        // What a killed process leaves.
        let left = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: self.folder.path() + suffix, toPath: left.path() + suffix)
        }
        store.close()
        let log = try Data(contentsOf: URL(fileURLWithPath: left.path() + "-wal"))
        #expect(log.suffix(4_120).allSatisfy { $0 == 0 })
        let again = try MessageStore(path: left.path(), logger: quiet)
        #expect(again.opening.plain == memory.open())
        #expect(try await again.dump() == memory.dump())
        #expect(try await again.apply([accept(message(41))]) == [try memory.apply(accept(message(41)), epoch: 2)])
        again.close()
    }
}

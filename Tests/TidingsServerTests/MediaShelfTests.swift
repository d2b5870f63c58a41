import Foundation
import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `The key of a request that begins an upload` {
    private static let day: Int64 = 86_400_000

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")

    private func shelf() async throws -> MediaShelf {
        let shelf = MediaShelf(
            path: self.folder.path, limits: MediaLimits(), metrics: ServerMetrics(factory: PrometheusRegistry()))
        #expect(try await shelf.open(at: 0) == [])
        return shelf
    }

    private func upload(_ digit: Character, at time: Int64) -> MediaRecord {
        MediaRecord(
            id: MediaID(String(repeating: digit, count: 32)), app: "demo", owner: "alice", kind: .jpeg, bytes: 9,
            createdAt: time, request: MediaRecord.Request(apiKey: nil, key: "k"))
    }

    /// Which upload the key names: a repeat begins no other one.
    private func named(in shelf: MediaShelf) async throws -> MediaID? {
        guard case .earlier(let earlier) = try await shelf.create(self.upload("f", at: Self.day + 2)) else {
            return nil
        }
        return earlier.id
    }

    @Test func `names the newer upload, whatever becomes of the older one`() async throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let (old, new) = (self.upload("a", at: 1), self.upload("b", at: Self.day + 1))
        let shelf = try await self.shelf()
        for upload in [old, new] {
            guard case .new = try await shelf.create(upload) else { return #expect(Bool(false)) }
        }
        var whole = old
        whole.completedAt = Self.day + 1
        _ = try shelf.claim(old.id, of: "demo") { _ in true }
        try await shelf.write(whole)
        shelf.release(old.id)
        #expect(try await self.named(in: shelf) == new.id)
        // In whichever order they are read.
        #expect(try await self.named(in: try await self.shelf()) == new.id)
        try await shelf.remove(old.id, of: "demo", .deleted) { _ in true }
        #expect(try await self.named(in: shelf) == new.id)
    }
}

import Foundation
import HTTPTypes
import ServerCore
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `Open files of media` {
    private let path = NSTemporaryDirectory() + "tidings-\(UUID().uuidString)"

    @Test func `are as many as may be, one more is refused until one is closed`() async throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        let shelf = MediaShelf(
            path: self.path, limits: MediaLimits(), filesMax: 2, metrics: ServerMetrics(factory: PrometheusRegistry()))
        #expect(try await shelf.open(at: 0) == [])
        var files = [
            try await shelf.open("\(self.path)/one", .writing(from: 0)),
            try await shelf.open("\(self.path)/two", .writing(from: 0)),
        ]
        let refusal = APIProblem(
            .told(.unavailable), field: "media",
            rule: "must wait: 2 files are open, as many as the limit of open files allows",
            headers: [.retryAfter: "1"])
        await #expect(throws: refusal) { try await shelf.open("\(self.path)/one", .reading) }
        files.removeFirst()
        // One that is not there takes no place; the thread that has opened the other may hold it a moment longer.
        var failures = 0
        while failures < 3 {
            do {
                _ = try await shelf.open("\(self.path)/three", .reading)
                Issue.record("opened what is not there")
            } catch is MediaFailure {
                failures += 1
            } catch {
                #expect(failures == 0)
                await Task.yield()
            }
        }
        files.append(try await shelf.open("\(self.path)/one", .reading))
        #expect(files.count == 2)
        await #expect(throws: refusal) { try await shelf.open("\(self.path)/one", .reading) }
    }
}

@Suite struct `Files of a person` {
    private let path = NSTemporaryDirectory() + "tidings-\(UUID().uuidString)"

    @Test func `are as many as may be, however small, also after a restart`() async throws {
        defer { try? FileManager.default.removeItem(atPath: self.path) }
        var limits = MediaLimits()
        (limits.personFilesMax, limits.appFilesMax) = (2, 3)
        func shelf() async throws -> MediaShelf {
            let shelf = MediaShelf(
                path: self.path, limits: limits, metrics: ServerMetrics(factory: PrometheusRegistry()))
            #expect(try await shelf.open(at: 0) == [])
            return shelf
        }
        func create(_ digit: Character, of owner: UserID?, in shelf: MediaShelf) async throws {
            _ = try await shelf.create(
                MediaRecord(
                    id: MediaID(String(repeating: digit, count: 32)), app: "demo", owner: owner, kind: .jpeg, bytes: 4,
                    createdAt: 1))
        }
        let first = try await shelf()
        for digit in "ab" { try await create(digit, of: "alice", in: first) }
        await #expect(throws: MediaFault.self) { try await create("c", of: "alice", in: first) }
        let second = try await shelf()
        await #expect(throws: MediaFault.self) { try await create("c", of: "alice", in: second) }
        try await create("d", of: nil, in: second)
        await #expect(throws: MediaFault.self) { try await create("e", of: "bob", in: second) }
    }
}

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

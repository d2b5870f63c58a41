import ClientCore
import Foundation
import Requirements
import Testing
import TidingsModel

@testable import TidingsAppGroup

@Suite struct `Two extension processes and the app` {
    @Test(.requirement("S2.16")) func `race on ledger and badge 10,000 times without a lost count or a second ring`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let rounds = 10_000
        let group = try AppGroup(folder: folder, lockMilliseconds: 20_000)
        let roles = ["extension", "extension", "app1"]
        let racers = try roles.map { role in
            try Racer(arguments: [folder.path, role, "\(rounds)", "\(roles.count)"])
        }
        defer { for racer in racers { racer.stop() } }
        try group.update { $0.badge = Badge(server: 1) }
        let rung = try await withThrowingTaskGroup(of: [Int].self) { tasks in
            for racer in racers { tasks.addTask { try await racer.result() } }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
        #expect(rung.count == rounds)
        #expect(Set(rung) == Set(1...rounds), "each message rings")
        let (badge, shown) = try group.update { contents in
            (contents.badge?.shown, contents.ledger.all.suffix(Ledger.capacity).map(\.entry.isShown))
        }
        #expect(badge == 1 + racers.count * rounds)
        #expect(shown == Array(repeating: true, count: Ledger.capacity))
        #expect(!FileManager.default.fileExists(atPath: group.folder.path + "/ledger.records.damaged"))
    }
}

@Suite struct `Two extension processes with a message and its recall` {
    @Test func `leave nothing of the message to be read, whoever answers last`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let answers = folder.appendingPathComponent("answers")
        try Data().write(to: answers)
        let rounds = 600
        let racers = try ["answers", "recalls"].map { role in
            try Racer(arguments: [folder.path, role, "\(rounds)", "2"])
        }
        defer { for racer in racers { racer.stop() } }
        for racer in racers { _ = try await racer.result() }
        var last: [Int: Substring] = [:]
        var count = 0
        for line in try String(contentsOf: answers, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            last[try #require(Int(parts[0]))] = parts[1]
            count += 1
        }
        #expect(count == 2 * rounds)
        #expect(last.count == rounds)
        #expect(last.filter { $0.value != NotificationWords.english.recalled }.keys.sorted() == [])
    }
}

private final class Racer: Sendable {
    private let process: Locked<Process>
    private let output: Task<Data, any Error>

    init(arguments: [String]) throws {
        let pipe = Pipe()
        let process = Process()
        process.executableURL = try Self.executable()
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
        let handle = pipe.fileHandleForReading
        self.output = Task.detached { try handle.readToEnd() ?? Data() }
        self.process = Locked(process)
    }

    private static func executable() throws -> URL {
        #if os(Linux)
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            let folder = tests.deletingLastPathComponent()
        #else
            let tests = try #require(Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") })
            let folder = tests.bundleURL.deletingLastPathComponent()
        #endif
        let file = folder.appendingPathComponent("AppGroupRace")
        return try #require(FileManager.default.isExecutableFile(atPath: file.path) ? file : nil)
    }

    func result() async throws -> [Int] {
        let text = String(decoding: try await self.output.value, as: UTF8.self)
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    func stop() { self.process.withLock { if $0.isRunning { $0.terminate() } } }
}

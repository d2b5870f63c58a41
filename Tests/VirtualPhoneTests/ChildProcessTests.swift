import Foundation
import Synchronization
import Testing

@testable import VirtualPhone

@Suite struct `A child process` {
    private func sleeper(onEnd: @escaping @Sendable (ChildProcess.End) -> Void) throws -> ChildProcess {
        let script = NSTemporaryDirectory() + "/sleeper-" + UUID().uuidString
        try "#!/bin/sh\nexec sleep 600\n".write(toFile: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        return try ChildProcess.start(executable: script, environment: [:], output: "/dev/null") { end in
            try? FileManager.default.removeItem(atPath: script)
            onEnd(end)
        }
    }

    @Test func `stands still when it is suspended, goes on when resumed, and is gone when killed`() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: ChildProcess.End.self)
        let child = try self.sleeper { continuation.yield($0) }
        let id = Int(child.processIdentifier)
        #expect(await eventually { processState(id) == "S" })
        child.suspend()
        #expect(await eventually { processState(id) == "T" })
        child.resume()
        #expect(await eventually { processState(id) == "S" })
        child.suspend()
        child.kill()
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .signalled(9))
        #expect(processState(id) == nil)
        // Its number may belong to somebody else now: no signal is sent any more.
        child.kill()
    }

    @Test func `tells how it left by itself`() async throws {
        let (ends, continuation) = AsyncStream.makeStream(of: ChildProcess.End.self)
        _ = try ChildProcess.start(executable: "/bin/false", environment: [:], output: "/dev/null") {
            continuation.yield($0)
        }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .exited(status: 1))
    }

    @Test func `has nothing open that its phone has open`() async throws {
        let folder = try TemporaryFolder()
        let secret = folder.path + "/secret"
        try "x".write(toFile: secret, atomically: true, encoding: .utf8)
        let handle = try #require(FileHandle(forReadingAtPath: secret))
        defer { try? handle.close() }
        let (ends, continuation) = AsyncStream.makeStream(of: ChildProcess.End.self)
        let script = folder.path + "/list"
        try "#!/bin/sh\nls -l /proc/$$/fd\n".write(toFile: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        _ = try ChildProcess.start(
            executable: script, environment: ["PATH": "/usr/bin:/bin"], output: folder.path + "/output"
        ) { continuation.yield($0) }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == .exited(status: 0))
        let output = try String(contentsOfFile: folder.path + "/output", encoding: .utf8)
        #expect(output.contains("/dev/null"))
        #expect(!output.contains("secret"))
    }

    @Test func `that does not exist is an error that names it`() {
        #expect(throws: ChildProcess.Failure.self) {
            try ChildProcess.start(executable: "/nonexistent/app", environment: [:], output: "/dev/null") { _ in }
        }
    }
}

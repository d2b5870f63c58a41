import Foundation
import GRDB
import Logging
import StoreModel
import Synchronization
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A store that cannot be opened` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func reason(at path: String) -> MessageStoreError.Reason? {
        do {
            try MessageStore(path: path, logger: quiet).close()
            return nil
        } catch {
            #expect(error.path == path)
            #expect("\(error)".contains(path) && "\(error)".contains(error.remedy), "\(error)")
            return error.reason
        }
    }

    @Test func `says so when its folder is missing`() {
        #expect(self.reason(at: self.folder.path("nowhere/store.sqlite")) == .cannotOpen)
    }

    @Test func `says so when its path is a folder`() {
        #expect(self.reason(at: self.folder.url.path) == .cannotOpen)
    }

    @Test(.enabled(if: getuid() != 0, "the superuser may write everywhere"))
    func `says so when it may not write`() throws {
        try MessageStore(path: self.folder.path(), logger: quiet).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: self.folder.path())
        #expect(self.reason(at: self.folder.path()) == .cannotOpen)
    }

    @Test func `says so when the file is no database`() throws {
        try Data("From: ada\nTo: bo\n\nNot a database, but long enough to look at.".utf8)
            .write(to: self.folder.url.appendingPathComponent("store.sqlite"))
        #expect(self.reason(at: self.folder.path()) == .notAStore)
    }

    @Test func `leaves another program's database alone`() async throws {
        let other = try DatabaseQueue(path: self.folder.path())
        try await other.write { try $0.execute(sql: "CREATE TABLE recipe (name TEXT)") }
        try other.close()
        let before = try Data(contentsOf: self.folder.url.appendingPathComponent("store.sqlite"))
        #expect(self.reason(at: self.folder.path()) == .notAStore)
        #expect(try Data(contentsOf: self.folder.url.appendingPathComponent("store.sqlite")) == before)
    }

    @Test(arguments: [0, 1, 25, 99])
    func `leaves the file of an earlier or later build alone, says which, and what to do`(version: Int) async throws {
        let path = self.folder.path()
        try MessageStore(path: path, logger: quiet).close()
        let database = try DatabaseQueue(path: path)
        try await database.write { try $0.execute(sql: "PRAGMA user_version = \(version)") }
        try database.close()
        let before = try self.files()
        let refusal =
            "message store \(path) is of version \(version), and this build reads version 4: "
            + "start with a new file, or run the build that wrote this one"
        #expect(self.reason(at: path) == .otherVersion(found: version, read: 4))
        func refused(_ work: () throws -> Void) {
            #expect { try work() } throws: { "\($0)" == refusal }
        }
        refused { _ = try MessageStore(path: path, logger: quiet) }
        refused { _ = try StoreMaintenance.check(path: path, logger: quiet) }
        refused { _ = try StoreMaintenance.rebuild(path: path, logger: quiet) }
        #expect(try self.files() == before)
    }

    private func files() throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.url.path).reduce(into: [:]) { files, name in
            files[name] = try Data(contentsOf: self.folder.url.appendingPathComponent(name))
        }
    }

    @Test func `says so when another server has it`() throws {
        let first = try MessageStore(path: self.folder.path(), logger: quiet)
        #expect(self.reason(at: self.folder.path()) == .inUse)
        first.close()
        #expect(self.reason(at: self.folder.path()) == nil)
    }

    @Test(arguments: [
        // A row of a newer format, of an unknown kind of record, and one cut short.
        ("x'02'", "a journal row has format 2, this build reads format 1"),
        ("x'010100000063'", "a journal record has the unknown kind 99"),
        ("x'010900000001'", "a stored record ends too early"),
    ])
    func `says what it cannot read in the journal`(records: String, detail: String) async throws {
        try MessageStore(path: self.folder.path(), logger: quiet).close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "INSERT INTO journal VALUES (1, \(records))") }
        try database.close()
        #expect {
            try MessageStore(path: self.folder.path(), logger: quiet)
        } throws: { error in
            error as? MessageStoreError
                == MessageStoreError(reason: .damaged, path: self.folder.path(), detail: detail)
        }
    }
}

@Suite struct `A store whose disk fails` {
    @Test func `answers failed, keeps what it had, and takes nothing more`() async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.pagesMax = 60
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        let text = String(repeating: "x", count: 30_000)
        var accepted: UInt64 = 0
        var answers: [StoreResult] = []
        while accepted < 100 {
            // The first of the batch alone would fit the longest; the batch is all or nothing.
            answers = try await store.apply([
                accept(message(2 * accepted + 1, content: "small")), accept(message(2 * accepted + 2, content: text)),
            ])
            guard case .accepted = answers[0], case .accepted = answers[1] else { break }
            accepted += 1
        }
        let words =
            "message store \(folder.path()) cannot grow: the disk is full (database or disk is full): "
            + "make room on the disk, then start the server again"
        #expect(answers == [.failed(words), .failed(words)])
        #expect(accepted > 0)
        #expect(try await store.apply([.loadUser(bo)]) == [.failed(words)])
        store.close()
        let reopened = try MessageStore(path: folder.path(), logger: quiet)
        let dump = try await reopened.dump()
        #expect(dump.messages.count == Int(2 * accepted))
        #expect(dump.lastMessageID == MessageID(rawValue: 2 * accepted))
        reopened.close()
    }
}

@Suite struct `The sync before the ack` {
    @Test func `is switched on and read back`() throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        #expect(store.synchronous == 2)
        store.close()
    }

    @Test func `is demanded: a connection that reads back anything else is refused`() async throws {
        let folder = try TemporaryFolder()
        let database = try DatabasePool(path: folder.path())
        let error = try await database.writeWithoutTransaction { connection -> MessageStoreError? in
            do {
                _ = try Schema.check(connection, path: "a.sqlite", wanted: .full)
                return nil
            } catch let error as MessageStoreError {
                return error
            }
        }
        let expected = MessageStoreError.Reason.notSynced(wanted: "synchronous=2", found: "synchronous=1")
        #expect(error == MessageStoreError(reason: expected, path: "a.sqlite", detail: ""))
    }

    @Test func `is missed loudly when it is switched off`() throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.synchronous = .normal
        let lines = Lines()
        let logger = Logger(label: "test") { _ in LineLogger(lines: lines) }
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: logger)
        #expect(store.synchronous == 1)
        store.close()
        #expect(lines.all.withLock { $0 } == ["warning: acks are not durable"])
    }
}

final class Lines: Sendable {
    let all = Mutex<[String]>([])
}

struct LineLogger: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    init(lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        self.lines.all.withLock { $0.append("\(event.level): \(event.message)") }
    }
}

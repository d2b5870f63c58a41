import Foundation
import GRDB
import Testing

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A derived file` {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private var path: String { self.folder.path("derived") }

    private func file(_ id: Int = 0x5469_6478, version: Int = 3) -> DerivedFile {
        DerivedFile(path: self.path, applicationID: id, version: version, label: "tidings.test", cacheKilobytes: 64)
    }

    /// What is in it after one more line was written.
    private func write(_ line: String, _ file: DerivedFile) throws -> [String] {
        let (queue, before) = try file.open(making: "CREATE TABLE line (text TEXT NOT NULL)") {
            try String.fetchAll($0, sql: "SELECT text FROM line ORDER BY rowid")
        }
        try queue.write { try $0.execute(sql: "INSERT INTO line VALUES (?)", arguments: [line]) }
        try queue.close()
        return before + [line]
    }

    @Test func `is made once, for its owner alone, and read when it is opened again`() throws {
        #expect(!DerivedFile.exists(self.path) && DerivedFile.bytes(path: self.path) == 0)
        #expect(try self.write("a", self.file()) == ["a"])
        #expect(try self.write("b", self.file()) == ["a", "b"])
        #expect(DerivedFile.exists(self.path) && DerivedFile.bytes(path: self.path) > 0)
        let facts = try FileManager.default.attributesOfItem(atPath: self.path)
        #expect((facts[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
    }

    @Test func `of a newer version is neither opened nor changed`() throws {
        _ = try self.write("a", self.file(version: 4))
        let before = try Data(contentsOf: URL(fileURLWithPath: self.path))
        #expect(throws: DerivedFileError.newer(4)) { try self.write("b", self.file(version: 3)) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: self.path)) == before)
        #expect(try self.write("b", self.file(version: 4)) == ["a", "b"])
    }

    @Test func `that another program has made is neither opened nor changed`() throws {
        _ = try self.write("a", self.file(77))
        let database = try Data(contentsOf: URL(fileURLWithPath: self.path))
        for other in [database, Data("a text of somebody's".utf8), Data([1])] {
            try other.write(to: URL(fileURLWithPath: self.path))
            #expect(throws: DerivedFileError.notOwn) { try self.write("b", self.file()) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: self.path)) == other)
        }
    }

    @Test func `of which a crash has left the beginning is made anew`() throws {
        _ = try self.write("a", self.file())
        let head = try Data(contentsOf: URL(fileURLWithPath: self.path)).prefix(71)
        for rest in [Data(), Data(count: 4_096), Data(head)] {
            try rest.write(to: URL(fileURLWithPath: self.path))
            #expect(try self.write("b", self.file()) == ["b"])
        }
    }

    @Test func `that cannot be read is closed again`() throws {
        struct Fault: Error {}
        #expect(throws: Fault.self) {
            try self.file().open(making: "CREATE TABLE line (text TEXT NOT NULL)") { _ in throw Fault() }
        }
        // It belongs to one at a time.
        #expect(try self.write("a", self.file()) == ["a"])
    }

    @Test func `is moved and removed with what belongs to it`() throws {
        let other = self.folder.path("other")
        for suffix in DerivedFile.suffixes {
            try Data("new\(suffix)".utf8).write(to: URL(fileURLWithPath: self.path + suffix))
        }
        try Data("old".utf8).write(to: URL(fileURLWithPath: other))
        DerivedFile.move(path: self.path, to: other)
        #expect(!DerivedFile.exists(self.path))
        for suffix in DerivedFile.suffixes {
            #expect(try Data(contentsOf: URL(fileURLWithPath: other + suffix)) == Data("new\(suffix)".utf8))
        }
        DerivedFile.remove(path: other)
        #expect(!DerivedFile.suffixes.contains { DerivedFile.exists(other + $0) })
    }
}

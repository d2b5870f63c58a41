import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A store in whose place an older copy is put` {
    let folder: TemporaryFolder
    private let copy: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.copy = self.folder.path("copy.sqlite")
    }

    private func open() throws -> MessageStore { try MessageStore(path: self.folder.path(), logger: quiet) }

    private func isSame(_ store: MessageStore, _ opening: UInt64, _ position: LogPosition) async throws -> Bool {
        let answer = try await store.apply([.compareLog(bo, HeldLog(opening: opening, position: position))])
        return answer == [.isSameLog(true)]
    }

    /// Two messages, a copy made by the running store, two more; then the copy is put back and three others come.
    private func story(
        _ restore: (TemporaryFolder, String) throws -> Void
    ) async throws -> (before: StoreIdentity, after: MessageStore) {
        let first = try self.open()
        _ = try await first.apply([accept(message(1)), accept(message(2))])
        try await first.backUp(to: self.copy)
        _ = try await first.apply([accept(message(3)), accept(message(4))])
        let before = first.opening.identity
        first.close()
        try restore(self.folder, self.copy)
        let second = try self.open()
        _ = try await second.apply([accept(message(5)), accept(message(6)), accept(message(7))])
        return (before, second)
    }

    @Test func `is another generation of the same store, and knows whose log it is`() async throws {
        let (before, store) = try await self.story { folder, copy in
            folder.delete()
            try FileManager.default.copyItem(atPath: copy, toPath: folder.path())
        }
        let after = store.opening.identity
        #expect(after.id == before.id && after.id.count == 16)
        #expect(after.generation != before.generation)
        // The phone that stopped at the copy goes on; those that heard more, also those that were overtaken, begin anew.
        #expect(try await self.isSame(store, before.opening, 2))
        #expect(try await !self.isSame(store, before.opening, 3))
        #expect(try await !self.isSame(store, before.opening, 4))
        #expect(try await self.isSame(store, after.opening, 5))
        #expect(try await !self.isSame(store, after.opening, 6))
        #expect(try await !self.isSame(store, 77, 1))
        #expect(try await self.isSame(store, 77, 0))
        store.close()
    }

    @Test func `is told apart by phones also where the state file came back with it`() async throws {
        let state = StateFile.path(of: self.folder.path())
        let first = try self.open()
        _ = try await first.apply([accept(message(1)), accept(message(2))])
        first.close()
        let (old, oldState) = (
            try Data(contentsOf: URL(fileURLWithPath: self.folder.path())),
            try Data(contentsOf: URL(fileURLWithPath: state))
        )
        let second = try self.open()
        _ = try await second.apply([accept(message(3)), accept(message(4))])
        let lost = second.opening.identity
        second.close()
        self.folder.delete()
        try old.write(to: URL(fileURLWithPath: self.folder.path()))
        try oldState.write(to: URL(fileURLWithPath: state))
        let third = try self.open()
        _ = try await third.apply([accept(message(5)), accept(message(6)), accept(message(7))])
        // Nothing beside the database tells that it was restored; what the phone was told does.
        #expect(third.opening.identity.generation == lost.generation)
        #expect(try await !self.isSame(third, lost.opening, 4))
        #expect(try await self.isSame(third, first.opening.identity.opening, 2))
        third.close()
    }

    @Test func `by the command keeps what was there, and is another generation`() async throws {
        var aside: String?
        let (before, store) = try await self.story { folder, copy in
            aside = try StoreMaintenance.restore(path: folder.path(), from: copy, logger: quiet)
        }
        #expect(store.opening.identity.generation != before.generation)
        #expect(FileManager.default.fileExists(atPath: try #require(aside)))
        store.close()
    }

    @Test func `is not suspected after a stop or a crash`() async throws {
        var last: StoreIdentity?
        for round in 1...4 as ClosedRange<UInt64> {
            let store = try self.open()
            if let last {
                #expect(store.opening.identity.generation == last.generation && store.opening.identity.id == last.id)
                #expect(store.opening.identity.opening != last.opening)
                #expect(try await self.isSame(store, last.opening, round - 1))
            }
            last = store.opening.identity
            _ = try await store.apply([accept(message(round))])
            if round % 2 == 0 { store.close() } else { store.abandon() }
        }
    }

    @Test func `is taken for restored where the state file is gone`() async throws {
        let first = try self.open()
        first.close()
        try FileManager.default.removeItem(atPath: StateFile.path(of: self.folder.path()))
        let second = try self.open()
        #expect(second.opening.identity.generation != first.opening.identity.generation)
        second.close()
    }

    @Test func `has files for its owner alone`() async throws {
        let old = umask(0o022)
        defer { umask(old) }
        let store = try self.open()
        _ = try await store.apply([accept(message(1))])
        try await store.backUp(to: self.copy)
        for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite.state", "copy.sqlite"] {
            let mode = try FileManager.default.attributesOfItem(atPath: self.folder.path(name))[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(name)")
        }
        store.close()
    }

    @Test func `is copied, checked and made anew though a killed process has left its folder`() async throws {
        let store = try self.open()
        _ = try await store.apply([accept(message(1))])
        /// As a process that is killed leaves it, with a whole copy of all texts.
        func leave(beside name: String) throws -> String {
            let folder = self.folder.path(name) + ".tidings-work"
            try FileManager.default.createDirectory(atPath: folder + "/deep", withIntermediateDirectories: true)
            for file in ["copy.sqlite", "copy.sqlite-wal", "rebuilt.sqlite", "deep/copy.sqlite"] {
                try Data("half a database".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(file)"))
            }
            chmod(folder, 0o755)
            return folder
        }
        func isGone(_ folder: String) -> Bool { !FileManager.default.fileExists(atPath: folder) }
        var left = try leave(beside: "copy.sqlite")
        try await store.backUp(to: self.copy)
        #expect(isGone(left))
        store.close()
        left = try leave(beside: "copy2.sqlite")
        try StoreMaintenance.backUp(path: self.folder.path(), to: self.folder.path("copy2.sqlite"), logger: quiet)
        #expect(isGone(left))
        for path in [self.folder.path(), self.copy] {
            left = try leave(beside: path.split(separator: "/").last.map(String.init) ?? "")
            #expect(try StoreMaintenance.check(path: path, logger: quiet) == [])
            #expect(isGone(left))
        }
        left = try leave(beside: "store.sqlite")
        #expect(try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet).lost == [])
        #expect(isGone(left))
        left = try leave(beside: "store.sqlite")
        _ = try StoreMaintenance.restore(path: self.folder.path(), from: self.copy, logger: quiet)
        #expect(isGone(left))
        // Where none of these comes any more, the server removes it.
        left = try leave(beside: "store.sqlite")
        try self.open().close()
        #expect(isGone(left))
    }

    @Test func `is not worked on in a folder that another process uses, or that is none`() async throws {
        try self.open().close()
        let path = self.folder.path("store.sqlite.tidings-work")
        var other: WorkFolder? = try WorkFolder(beside: self.folder.path())
        #expect(other?.url.path == path)
        let error = #expect(throws: MessageStoreError.self) {
            try StoreMaintenance.check(path: self.folder.path(), logger: quiet)
        }
        #expect(error?.reason == .busy && error?.path == path)
        try self.open().close()
        #expect(FileManager.default.fileExists(atPath: path))
        other = nil
        #expect(!FileManager.default.fileExists(atPath: path))
        // Somebody's own file, or a link that leads to somebody's folder, is left alone.
        for make in [
            { try Data("mine".utf8).write(to: URL(fileURLWithPath: path)) },
            { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: self.folder.path("")) },
        ] as [() throws -> Void] {
            try make()
            let error = #expect(throws: MessageStoreError.self) {
                try StoreMaintenance.check(path: self.folder.path(), logger: quiet)
            }
            #expect(error?.reason == .cannotOpen && error?.path == path)
            #expect(FileManager.default.fileExists(atPath: self.folder.path()))
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func `has no backup under its name until the copy is whole`() throws {
        try self.open().close()
        var settings = Configuration()
        settings.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        let queue = try DatabaseQueue(path: self.folder.path(), configuration: settings)
        try queue.writeWithoutTransaction { database in
            let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
            try database.execute(sql: "CREATE TABLE bulk AS \(numbers) SELECT i, randomblob(2000) FROM n")
            let backup = try StoreBackup(of: database, to: self.copy)
            #expect(try !backup.step())
            #expect(!FileManager.default.fileExists(atPath: self.copy))
            #expect(!FileManager.default.fileExists(atPath: self.copy + "-journal"))
            while try !backup.step() {}
            #expect(FileManager.default.fileExists(atPath: self.copy))
            #expect(!FileManager.default.fileExists(atPath: self.copy + ".tidings-work"))
            // One that is broken off leaves nothing.
            let other = try StoreBackup(of: database, to: self.folder.path("other.sqlite"))
            #expect(try !other.step())
            other.abandon(4)
            let names = try FileManager.default.contentsOfDirectory(atPath: self.folder.path(""))
            #expect(!names.contains { $0.hasPrefix("other") })
        }
        try queue.close()
    }

    @Test func `is not backed up over a file that is there`() async throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: self.copy))
        let store = try self.open()
        await #expect(throws: MessageStoreError.self) { try await store.backUp(to: self.copy) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: self.copy)) == Data("mine".utf8))
        store.close()
        #expect(throws: MessageStoreError.self) {
            try StoreMaintenance.backUp(path: self.folder.path(), to: self.copy, logger: quiet)
        }
    }
}

@Suite struct `A damaged store` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private let cy = UserKey(app: "shop", user: "cy")
    private let all = ConversationRecord(
        app: "shop", conversation: team, name: "Team", members: ["ada", "bo", "cy"])

    private func fill() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply([
            .putConversation(self.all), accept(message(1)), accept(message(2, to: "cy")),
            accept(message(3, to: "team", type: .group)),
        ])
        store.close()
    }

    private func spoil(_ sql: String) throws {
        let database = try DatabaseQueue(path: self.folder.path())
        try database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    private func check() throws -> [String] { try StoreMaintenance.check(path: self.folder.path(), logger: quiet) }

    @Test func `refuses who cannot be read, and goes on for all others`() async throws {
        try await self.fill()
        try self.spoil("UPDATE person SET head = -1 WHERE user = 'bo'")
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let answers = try await store.apply([
            .loadUser(bo), accept(message(4, to: "cy")), accept(message(5, to: "team", type: .group)), .loadUser(bo),
            .readLog(self.cy, after: 0, limit: 9),
        ])
        guard case .unreadable = answers[0], case .accepted(let two, _, _) = answers[1],
            case .accepted(let group, _, _) = answers[2], case .unreadable(bo, _) = answers[3],
            case .page(let page) = answers[4]
        else {
            Issue.record("\(answers)")
            return
        }
        #expect(two.map(\.user) == ["ada", "cy"])
        #expect(group.map(\.user) == ["ada", "cy"], "the group's message goes to whoever can be read")
        #expect(page.head == 4)
        store.close()
        // It stays so after a stop, and what was not derived is in the journal.
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        guard case .unreadable(bo, _) = try await again.apply([.loadUser(bo)])[0] else {
            Issue.record("bo is not set aside")
            return
        }
        again.close()
        #expect(try self.check().contains("person shop/bo is set aside"))
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.lost == [])
        #expect(try self.check() == [])
        let rebuilt = try MessageStore(path: self.folder.path(), logger: quiet)
        guard case .page(let whole) = try await rebuilt.apply([.readLog(bo, after: 0, limit: 9)])[0] else {
            Issue.record("bo cannot be read")
            return
        }
        #expect(whole.head == 3 && whole.unread == 3)
        rebuilt.close()
    }

    @Test func `has pushes skip who is set aside`() async throws {
        try await self.fill()
        try self.spoil("UPDATE person SET head = -1 WHERE user = 'bo'")
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let answers = try await store.apply([
            accept(message(4, to: "team", type: .group)), created(.users(["bo", "cy"])), step(101...104),
        ])
        guard case .pushStep(let done)? = answers.last else { return #expect(Bool(false), "\(answers)") }
        #expect(done.deliveries.map(\.user) == ["cy"])
        #expect(done.job.counts.skipped == 1)
        store.close()
    }

    @Test func `sets aside whoever is new and cannot be written, and ends`() async throws {
        try await self.fill()
        let database = try DatabaseQueue(path: self.folder.path())
        let (root, size) = try await database.read { database in
            (
                try Int.fetchOne(
                    database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'person_log'"),
                try Int.fetchOne(database, sql: "PRAGMA page_size")
            )
        }
        try database.close()
        let url = URL(fileURLWithPath: self.folder.path())
        var bytes = try Data(contentsOf: url)
        // A page of no kind that there is.
        bytes[(try #require(root) - 1) * (try #require(size))] = 0xff
        try bytes.write(to: url)
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let answers = try await store.apply([accept(message(9, from: "dan", to: "eve"))])
        guard case .accepted = answers[0] else {
            Issue.record("\(answers)")
            return
        }
        store.close()
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        guard
            case .unreadable(UserKey(app: "shop", user: "dan"), _) = try await again.apply(
                [.loadUser(UserKey(app: "shop", user: "dan"))])[0]
        else {
            Issue.record("dan is not set aside")
            return
        }
        again.close()
    }

    @Test(arguments: [
        (
            "UPDATE person SET unread = unread + 1 WHERE user = 'bo'",
            "person shop/bo: the unread count is not what the journal gives"
        ),
        ("UPDATE conversation SET name = 'Other'", "conversation GRP:team of shop: is not what the journal gives"),
        (
            "DELETE FROM client_message WHERE id = 'c1'",
            "person shop/ada: the sent messages is not what the journal gives"
        ),
        ("UPDATE storage SET counts = zeroblob(10)", "counts of what apps keep are not what the journal gives"),
    ])
    func `is found by the check, and is whole after the rebuild`(sql: String, finding: String) async throws {
        try await self.fill()
        #expect(try self.check() == [])
        try self.spoil(sql)
        #expect(try self.check() == [finding])
        _ = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(try self.check() == [])
    }

    @Test func `whose journal has lost a record names it, keeps the rest, and is another generation`() async throws {
        let first = try MessageStore(path: self.folder.path(), logger: quiet)
        for number in 1...3 as ClosedRange<UInt64> { _ = try await first.apply([accept(message(number))]) }
        first.close()
        try self.spoil("UPDATE journal SET records = x'02' WHERE position = 2")
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.records == 3)
        #expect(report.lost == ["journal record 2: a journal row has format 2, this build reads format 1"])
        #expect(FileManager.default.fileExists(atPath: report.aside))
        let second = try MessageStore(path: self.folder.path(), logger: quiet)
        #expect(second.opening.identity.id == first.opening.identity.id)
        #expect(second.opening.identity.generation != first.opening.identity.generation)
        guard case .page(let page) = try await second.apply([.readLog(bo, after: 0, limit: 9)])[0] else { return }
        #expect(page.entries.map(\.position) == [1, 2])
        second.close()
    }
}

import Foundation
import GRDB
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

private let ann = ControlAuthor(.ofOperator, name: "ann", address: "192.0.2.1")

private func change(_ change: ControlChange) -> StoreCommand { .changeControl(.by(ann, change), at: 10) }

private func person(_ name: String) -> OperatorRecord {
    OperatorRecord(name: name, role: .administer, hashes: KeyHashes(Array(repeating: 2, count: 32)), createdAt: 3)
}

private let changes: [StoreCommand] = [
    change(.addOperator(person("ann"))), change(.addOperator(person("ben"))), change(.addOperator(person("ben"))),
]

@Suite struct `Records of changes in a store` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func open(derives: Bool = true) throws -> MessageStore {
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in derives }
        configuration.machine.tailRecordsMax = 1
        return try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
    }

    private static func expected(_ commands: [StoreCommand]) throws -> [AuditRecord] {
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(commands, epoch: 1)
        return memory.dump().audit
    }

    @Test(arguments: [true, false])
    func `are there after a crash, and go on where they ended`(derives: Bool) async throws {
        let store = try self.open(derives: derives)
        _ = try await store.apply(changes)
        store.abandon()
        let again = try self.open()
        #expect(try await again.dump().audit == (try Self.expected(changes)))
        _ = try await again.apply([change(.removeOperator(name: "ben"))])
        let all = try Self.expected(changes + [change(.removeOperator(name: "ben"))])
        #expect(all.map(\.number) == [1, 2, 3, 4])
        #expect(all.map(\.refusal) == [nil, nil, .exists, nil])
        #expect(try await again.dump().audit == all)
        again.close()
    }

    @Test func `are found by app and by actor, also those that are not rows yet`() async throws {
        let club = AuditedCall("club", action: "POST pushes", subject: "")
        let calls: [StoreCommand] =
            (0..<40).map { number in
                let author = number % 3 == 0 ? ControlAuthor(.ofOperator, name: "ben") : ann
                let call = AuditedCall(number % 2 == 0 ? "shop" : "club", action: "POST pushes", subject: "\(number)")
                return .changeControl(.by(author, .noteCall(call)), at: Int64(number))
            } + [change(.addOperator(person("ann")))]
        let store = try self.open(derives: true)
        _ = try await store.apply(calls)
        store.close()
        let again = try self.open(derives: false)
        let later: [StoreCommand] = [change(.noteCall(club)), change(.noteCall(club))]
        _ = try await again.apply(later)
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(calls + later, epoch: 1)
        for app in [nil, "shop", "club", "none"] as [AppID?] {
            for actor in [nil, "ann", "ben", "configuration"] {
                for before in [nil, 43, 42, 20, 1] as [Int64?] {
                    let question = StoreCommand.readAudit(
                        AuditQuestion(app: app, actor: actor, before: before), limit: 5)
                    #expect(try await again.apply([question]) == (try memory.apply([question], epoch: 1)))
                }
            }
        }
        again.close()
    }

    @Test func `are looked for by an index, whatever is asked`() throws {
        let database = try DatabaseQueue(path: self.folder.path())
        try self.open().close()
        try database.read { database in
            for (condition, index) in [
                ("", "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
                (" AND app = 'a'", "USING INDEX audit_app (app=? AND rowid>? AND rowid<?)"),
                (" AND actor = 'b'", "USING INDEX audit_actor (actor=? AND rowid>? AND rowid<?)"),
                (
                    " AND app = 'a' AND actor = 'b'",
                    "USING INDEX audit_app_actor (app=? AND actor=? AND rowid>? AND rowid<?)"
                ),
            ] {
                let plan = try Row.fetchAll(
                    database,
                    sql: "EXPLAIN QUERY PLAN SELECT record FROM audit WHERE number < 9 AND number > 1\(condition) "
                        + "ORDER BY number DESC")
                #expect(plan.map { $0["detail"] as String } == ["SEARCH audit \(index)"])
            }
        }
    }

    @Test func `are the same in a store that is made anew from its journal`() async throws {
        let store = try self.open()
        _ = try await store.apply(changes)
        let before = try await store.dump().audit
        store.close()
        #expect(before.count == 3)
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.lost == [])
        let rebuilt = try self.open()
        #expect(try await rebuilt.dump().audit == before)
        rebuilt.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "DELETE FROM audit WHERE number = 2") }
        try database.close()
        #expect(
            try StoreMaintenance.check(path: self.folder.path(), logger: quiet) == [
                "records of changes are not what the journal gives"
            ])
    }

    @Test func `push out those that are older than the newest hundred thousand`() async throws {
        let store = try self.open()
        _ = try await store.apply(changes)
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "UPDATE audit SET number = 100000 WHERE number = 3") }
        try database.close()
        let again = try self.open()
        _ = try await again.apply([change(.removeOperator(name: "ben"))])
        #expect(try await again.dump().audit.map(\.number) == [2, 3, 100_001])
        again.close()
        let left = try DatabaseQueue(path: self.folder.path())
        let numbers = try await left.read { try Int.fetchAll($0, sql: "SELECT number FROM audit ORDER BY number") }
        #expect(numbers == [2, 100_000, 100_001])
        try left.close()
    }
}

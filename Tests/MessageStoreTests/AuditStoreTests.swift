import Foundation
import GRDB
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
        configuration.tailRecordsMax = 1
        return try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
    }

    private static func expected(_ commands: [StoreCommand]) throws -> [AuditRecord] {
        var reference = ReferenceStore()
        _ = reference.open()
        _ = try reference.apply(commands, epoch: 1)
        return reference.dump().audit
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

    @Test func `push out those that are older than the newest hundred thousand`() async throws {
        let store = try self.open()
        _ = try await store.apply(changes)
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "UPDATE audit SET number = 100000 WHERE number = 3") }
        let again = try self.open()
        _ = try await again.apply([change(.removeOperator(name: "ben"))])
        #expect(try await again.dump().audit.map(\.number) == [2, 3, 100_001])
        again.close()
        let numbers = try await database.read { try Int.fetchAll($0, sql: "SELECT number FROM audit ORDER BY number") }
        #expect(numbers == [2, 100_000, 100_001])
        try database.close()
    }
}

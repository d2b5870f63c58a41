import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `The history of a quiet conversation` {
    private static let toCy = ConversationID(type: .direct, target: "cy")

    private static let commands: [StoreCommand] =
        [accept(message(1, from: "cy", to: "bo"))] + (2...201).map { accept(message($0)) }
        + [accept(message(202, from: "cy", to: "bo"))]

    private static func ids(_ results: [StoreResult]) -> [[UInt64]] {
        results.map { result in
            guard case .history(let messages, _) = result else { return [] }
            return messages.map(\.id.rawValue)
        }
    }

    private static func write(to path: String) async throws {
        var configuration = MessageStoreConfiguration()
        configuration.machine.logChunkBytes = 16
        configuration.machine.tailRecordsMax = 8
        let store = try MessageStore(path: path, configuration: configuration, logger: quiet)
        _ = try await store.apply(Self.commands)
        store.close()
    }

    @Test func `is read without a look at what lies between its messages`() async throws {
        let folder = try TemporaryFolder()
        try await Self.write(to: folder.path())
        let database = try DatabaseQueue(path: folder.path())
        let spoilt = try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE person_log SET entries = x'ff' WHERE position BETWEEN 30 AND 170
                    AND person = (SELECT number FROM person WHERE user = 'bo')
                    """)
            return database.changesCount
        }
        try database.close()
        #expect(spoilt > 20)
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let cy = MessageID(rawValue: 202)
        let results = try await store.apply([
            .readHistory(bo, Self.toCy, before: nil, limit: 9), .readHistory(bo, Self.toCy, before: nil, limit: 1),
            .readHistory(bo, Self.toCy, before: cy, limit: 1),
        ])
        #expect(Self.ids(results) == [[202, 1], [202], [1]])
        // What lies between could not be read.
        let walked = try await store.apply([.readLog(bo, after: 20, limit: 100)])
        #expect(walked.map { if case .unreadable = $0 { true } else { false } } == [true])
        store.close()
    }
}

import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `Drafts in the store's memory` {
    private func withEngine(
        in folder: TemporaryFolder, _ configuration: MessageStoreConfiguration, _ body: (StoreMachine) throws -> Void
    ) throws {
        let queue = try DatabaseQueue(path: folder.path())
        try queue.writeWithoutTransaction { database in
            try body(
                StoreMachine(
                    rows: SQLiteRows(database, configuration), configuration: configuration.machine,
                    start: .reading))
        }
        try queue.close()
    }

    @Test func `are no more than so many bytes, and go with the people who have them`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let people = (1...5).map { UserKey(app: "shop", user: UserID("writer\($0)")) }
        let text = String(repeating: "ä", count: 500)
        for key in people {
            _ = try await store.apply([
                .setConversationState(key, team, .draft("first"), at: 7),
                .setConversationState(key, team, .draft(text), at: 8),
                .setConversationState(key, .init(type: .direct, target: "ada"), .draft("gone"), at: 8),
                .setConversationState(key, .init(type: .direct, target: "ada"), .draft(nil), at: 9),
            ])
        }
        _ = try await store.apply([.setPersonSettings(bo, PersonSettings(language: "de"), at: 9)])
        store.close()
        var configuration = MessageStoreConfiguration()
        configuration.machine.cachedDraftBytesMax = 5_000
        try self.withEngine(in: folder, configuration) { engine in
            for key in people + [bo] { _ = try engine.find(key) }
            #expect(engine.draftBytes == 5_000)
            engine.evict()
            #expect(engine.peopleByKey.count == 6)
            // Any more is too much.
            engine.draftBytes += 1
            engine.evict()
            #expect(engine.draftBytes == 1)
            #expect(Array(engine.peopleByKey.keys) == [bo])
            let again = try engine.find(people[0])
            #expect(again?.settings.conversations[team]?.draft?.text == text)
            #expect(engine.draftBytes == 1_001)
        }
    }

    @Test func `are counted as they change`() throws {
        let folder = try TemporaryFolder()
        try MessageStore(path: folder.path(), logger: quiet).close()
        try self.withEngine(in: folder, MessageStoreConfiguration()) { engine in
            var counts: [Int] = []
            for text in ["four", "a longer one", nil, "ho"] {
                try engine.inTransaction {
                    _ = try engine.execute(.setConversationState(bo, team, .draft(text), at: 9))
                    counts.append(engine.draftBytes)
                }
            }
            #expect(counts == [4, 12, 0, 2])
        }
    }
}

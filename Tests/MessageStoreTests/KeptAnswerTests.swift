import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `An answer under an idempotency key` {
    private func once(_ command: StoreCommand, _ text: String = "k1", at: Int64 = 5) -> StoreCommand {
        let key = IdempotencyKey(app: "shop", apiKey: "backend", text: text)
        return .once(IdempotentRequest(key: key, fingerprint: [1], keptMax: 3, at: at), command)
    }

    private func isKept(_ store: MessageStore, _ text: String = "k1") async throws -> Bool {
        let key = IdempotencyKey(app: "shop", apiKey: "backend", text: text)
        guard case .kept(let kept) = try await store.apply([.readKept(key, at: 6)]).first else { return false }
        return kept != nil
    }

    @Test func `is there after a crash if what it answers for is, also where nothing is derived yet`() async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in false }
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        _ = try await store.apply([self.once(accept(message(1)))])
        store.abandon()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await self.isKept(again))
        guard case .kept(.some) = try await again.apply([self.once(accept(message(2)))]).first else {
            Issue.record("the message was accepted twice")
            return
        }
        again.close()
    }

    @Test func `is counted again when the store is opened`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply((1...3).map { self.once(accept(message($0)), "k\($0)") })
        store.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        guard case .refused(let problem) = try await again.apply([self.once(accept(message(4)), "k4")]).first else {
            Issue.record("a fourth key was taken")
            return
        }
        #expect(problem.code == .rateLimited)
        again.close()
    }

    @Test func `leaves the file when it is forgotten`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply((1...3).map { self.once(accept(message($0)), "k\($0)") })
        _ = try await store.apply([self.once(accept(message(4)), "k4", at: 5 + StoreRules.answerLifetime)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        #expect(try await database.read { try String.fetchAll($0, sql: "SELECT key FROM kept_answer") } == ["k4"])
    }

    @Test func `cannot be given again where it is damaged, and is counted and forgotten like others`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply((1...3).map { self.once(accept(message($0)), "k\($0)") })
        store.close()
        try await DatabaseQueue(path: folder.path()).write {
            try $0.execute(sql: "UPDATE kept_answer SET invited = x'FF' WHERE key = 'k1'")
        }
        let again = try MessageStore(path: folder.path(), logger: quiet)
        let results = try await again.apply([
            self.once(accept(message(1)), "k1"), self.once(accept(message(4)), "k4"),
            self.once(accept(message(4)), "k4", at: 5 + StoreRules.answerLifetime),
            self.once(accept(message(5)), "k1", at: 6 + StoreRules.answerLifetime),
        ])
        let kinds = results.map { "\($0)".prefix { $0 != "(" } }
        #expect(kinds == ["unreadable", "refused", "accepted", "accepted"])
        again.close()
    }

    @Test func `goes over into a store that is rebuilt whole`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([self.once(accept(message(1)))])
        store.close()
        _ = try StoreMaintenance.rebuild(path: folder.path(), logger: quiet)
        let rebuilt = try MessageStore(path: folder.path(), logger: quiet)
        #expect(try await self.isKept(rebuilt))
        rebuilt.close()
    }
}

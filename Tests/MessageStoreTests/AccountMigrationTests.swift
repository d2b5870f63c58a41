import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `A store file of version 18` {
    @Test func `opens with its accounts, of which nothing is said, and keeps what is from now on`() async throws {
        let folder = try TemporaryFolder()
        let help = ConversationID(type: .customerService, target: "help")
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply([.setAccount("shop", help, isDeclared: true)])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion18); PRAGMA user_version = 18") }
        try database.close()

        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        let all = StoreCommand.readAccounts("shop")
        #expect(try await migrated.apply([all]) == [.accounts([AccountInfo(ServiceAccount(help))])])
        let news = ConversationID(type: .publicService, target: "news")
        let full = ServiceAccount(news, owner: "ada", operators: ["bo", "cy"], audience: .followers)
        var message = message(1, from: "news", to: "bo", type: .publicService)
        message.expiresAt = 99
        _ = try await migrated.apply([
            .putAccount("shop", full), .setFollowing(bo, news, true),
            .accept(message: message, senderDevice: "phone", author: "cy"),
        ])
        migrated.close()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        #expect(
            try await again.apply([all]) == [
                .accounts([AccountInfo(ServiceAccount(help)), AccountInfo(full, followers: 1)])
            ])
        guard case .trace(let trace?) = try await again.apply([.trace("shop", message.id)]).first else {
            return #expect(Bool(false), "it is there")
        }
        #expect(trace.author == "cy")
        #expect(trace.message == message)
        again.close()
    }
}

import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `The history of a chat room` {
    private static let hall = ConversationID(type: .chatRoom, target: "hall")

    private static func message(_ seconds: Int64) -> StoreCommand {
        let at = MessageID.epochMilliseconds + seconds * 1_000
        let id = MessageID(wallMilliseconds: at, node: 0, counter: 0)
        return .accept(
            message: Message(
                id: id, app: "shop", sender: "ada", conversation: Self.hall,
                clientMessageID: ClientMessageID("c\(seconds)"), objectName: .text, content: "{}", flags: .normal,
                pushText: nil, sentAt: at), senderDevice: nil)
    }

    private static func kept(
        _ seconds: [Int64], _ limits: StoreMachine.Configuration.RoomHistory?
    ) async throws -> (read: [Int64], rows: Int) {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.machine.roomHistory = limits
        let room = ConversationRecord(app: "shop", conversation: Self.hall, name: "Hall", members: [])
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        _ = try await store.apply([.putConversation(room)] + seconds.map(Self.message))
        store.close()
        let again = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        let results = try await again.apply([
            .readHistory(UserKey(app: "shop", user: "bo"), Self.hall, before: nil, limit: 100)
        ])
        again.close()
        guard case .history(let messages, _)? = results.first else { return ([], -1) }
        let database = try DatabaseQueue(path: folder.path())
        let rows = try await database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM room_message") ?? -1 }
        try database.close()
        return (messages.map { ($0.sentAt - MessageID.epochMilliseconds) / 1_000 }, rows)
    }

    @Test func `loses what is beyond its number when it is derived`() async throws {
        let kept = try await Self.kept([1, 2, 3, 4, 5], .init(messagesMax: 3, ageMax: 1_000_000))
        #expect(kept.read == [5, 4, 3])
        #expect(kept.rows == 3)
    }

    @Test func `loses what is too much older than its newest message`() async throws {
        let kept = try await Self.kept([1, 2, 100, 160], .init(messagesMax: 100, ageMax: 60_000))
        #expect(kept.read == [160, 100])
        #expect(kept.rows == 2)
    }

    @Test func `is kept whole where nobody has set a limit`() async throws {
        let kept = try await Self.kept([1, 2, 100_000], nil)
        #expect(kept.read == [100_000, 2, 1])
    }
}

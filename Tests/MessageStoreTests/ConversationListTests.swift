import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `The list of an app's conversations, on the disk` {
    @Test(arguments: [true, false])
    func `is told by rows and by what they do not have yet`(derives: Bool) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in derives }
        let memory = MemoryStore()
        // The second time everything of the first is in rows, or in the journal alone.
        for round in 0..<2 {
            let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
            _ = memory.open()
            let epoch = memory.epoch
            var commands: [StoreCommand] = []
            for number in 0..<40 {
                let id = ConversationID(
                    type: [.group, .discussion, .chatRoom][number % 3], target: "c\(100 + number * 7 % 40)")
                let members = (0..<(number + round) % 5).map { UserID("u\($0)") }
                commands.append(
                    .putConversation(
                        ConversationRecord(
                            app: number % 4 == 0 ? "club" : "shop", conversation: id, name: "Nr. \(number * round)",
                            members: members)))
                guard (number + round) % 6 == 0 else { continue }
                commands.append(
                    .change(
                        ConversationOperation(app: "shop", conversation: id, action: .dissolve, actor: nil, at: 2)))
            }
            #expect(try await store.apply(commands) == memory.apply(commands, epoch: epoch))
            for app in ["shop", "club"] as [AppID] {
                let places = [
                    nil, ConversationID(type: .chatRoom, target: "c139"),
                    ConversationID(type: .discussion, target: "c"),
                    ConversationID(type: .group, target: "c120"), ConversationID(type: .group, target: "zzz"),
                ]
                for after in places {
                    for limit in [0, 1, 7, 100] {
                        let question = [StoreCommand.readConversations(app, after: after, limit: limit)]
                        #expect(try await store.apply(question) == memory.apply(question, epoch: epoch))
                    }
                }
            }
            store.close()
        }
    }
}

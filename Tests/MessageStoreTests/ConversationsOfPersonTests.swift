import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `The conversations of one person, on the disk` {
    @Test(arguments: [true, false])
    func `are told by rows and by what they do not have yet`(derives: Bool) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in derives }
        let memory = MemoryStore()
        // The second time everything of the first is in rows, or in the journal alone.
        for round in 0..<2 {
            let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
            _ = memory.open()
            let epoch = memory.epoch
            var commands: [StoreCommand] = [
                .putConversation(
                    ConversationRecord(app: "shop", conversation: team, name: "Team", members: ["bo", "u1", "u2"])),
                .setProfiles("shop", [UserProfile("u3", Profile(name: "U \(round)"))], isOwn: false),
            ]
            for number in 0..<60 {
                let id = UInt64(1_000 * (round + 1) + number)
                let sender = UserID("u\(number * (7 + round) % 23)")
                var said =
                    number % 9 == 0
                    ? message(id, from: "u1", to: team.target, type: .group) : message(id, from: sender)
                if number % 4 == 0 { said.flags = [.stored, .notified, .unlisted] }
                commands.append(accept(said))
            }
            commands.append(
                .setConversationState(bo, ConversationID(type: .direct, target: "u5"), .pinned(true), at: 9))
            let deletion = Deletion(
                conversation: team, messages: [MessageID(rawValue: UInt64(1_000 * (round + 1) + 54))])
            commands.append(.delete(bo, deletion, at: 10))
            #expect(try await store.apply(commands) == memory.apply(commands, epoch: epoch))
            for key in [bo, UserKey(app: "shop", user: "u1"), UserKey(app: "shop", user: "nobody")] {
                for before in [nil, 1, 17, 40, 10_000] as [LogPosition?] {
                    for limit in [0, 1, 7, 100] {
                        let question = [StoreCommand.readConversationList(key, before: before, limit: limit)]
                        #expect(try await store.apply(question) == memory.apply(question, epoch: epoch))
                    }
                }
            }
            store.close()
        }
    }
}

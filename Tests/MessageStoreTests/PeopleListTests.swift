import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `The list of an app's people, on the disk` {
    private static func names(_ result: [StoreResult]) -> [String] {
        guard case .people(let people, let hasMore)? = result.first else { return ["no list"] }
        return people.map { "\($0.id) \($0.devices) \($0.unread)" } + (hasMore ? ["…"] : [])
    }

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
                let user = UserKey(app: number % 4 == 0 ? "club" : "shop", user: UserID("u\(100 + number * 7 % 40)"))
                commands.append(.signIn(DeviceKey(user: user, device: "phone"), platform: "ios", at: 1))
                if (number + round) % 3 == 0 {
                    commands.append(.signOut(DeviceKey(user: user, device: "phone"), at: 2))
                }
                if number % 5 == 0 {
                    commands.append(accept(message(UInt64(1_000 * (round + 1) + number), to: user.user.rawValue)))
                }
            }
            #expect(try await store.apply(commands) == memory.apply(commands, epoch: epoch))
            for app in ["shop", "club"] as [AppID] {
                for after in [nil, "u105", "u120", "zzz"] as [UserID?] {
                    for limit in [0, 1, 7, 100] {
                        let question = [StoreCommand.readPeople(app, after: after, limit: limit)]
                        let wanted = try Self.names(memory.apply(question, epoch: epoch))
                        #expect(try await Self.names(store.apply(question)) == wanted)
                    }
                }
            }
            store.close()
        }
    }
}

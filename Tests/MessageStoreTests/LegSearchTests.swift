import GRDB
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

@Suite struct `A search for legs, on the disk` {
    private static let questions: [StoreCommand] = {
        var questions: [StoreCommand] = []
        for user in [nil, "ada", "bo", "nobody"] as [UserID?] {
            for looks in [1, 3, 1_000] {
                for before in [nil, 2, 9, 1_500] as [UInt64?] {
                    questions.append(
                        .readLegs(LegQuestion(app: "shop", user: user, before: before, looksMax: looks)))
                }
                var question = LegQuestion(app: "shop", user: user, looksMax: looks)
                (question.oldest, question.newest) = (MessageID(rawValue: 1_003), MessageID(rawValue: 2_004))
                questions.append(.readLegs(question))
            }
        }
        return questions + [.readLegs(LegQuestion(app: "club", looksMax: 1_000))]
    }()

    private static func commands(_ round: UInt64) -> [StoreCommand] {
        let phone = DeviceKey(user: bo, device: "phone")
        var commands: [StoreCommand] = []
        for number: UInt64 in 1...12 {
            let id = 1_000 * round + number
            if number == 4 { commands.append(.signIn(phone, platform: "ios", at: 1)) }
            if number == 11 { commands.append(.signOut(phone, at: 2)) }
            commands.append(
                number % 4 == 3 ? accept(message(id, from: "bo", to: "ada")) : accept(message(id)))
            let leg = LegID(message: MessageID(rawValue: id), user: bo, device: "phone")
            switch number % 3 {
            case 0: commands.append(.endLeg(EndedLeg(leg: leg, end: .muted, at: 5, steps: everyStep)))
            case 1: commands.append(.keepLeg(OpenLeg(leg: leg, position: number, wait: .grace, steps: everyStep)))
            default: commands.append(.endLeg(EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: 6)))
            }
            commands.append(.receipt(leg, .shown, at: 7))
        }
        // Of a message that nobody knows.
        let unknown = LegID(message: MessageID(rawValue: 1_000 * round + 99), user: bo, device: "phone")
        return commands + [.endLeg(EndedLeg(leg: unknown, end: .muted, at: 8))]
    }

    @Test(arguments: [true, false])
    func `is answered by rows and by what they do not have yet`(derives: Bool) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.mayDerive = { _ in derives }
        let memory = MemoryStore()
        // The second time everything of the first is in rows, or in the journal alone.
        for round: UInt64 in 1...2 {
            let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
            _ = memory.open()
            let commands = Self.commands(round)
            #expect(try await store.apply(commands) == memory.apply(commands, epoch: memory.epoch))
            for question in Self.questions {
                let wanted = try memory.apply([question], epoch: memory.epoch)
                #expect(try await store.apply([question]) == wanted, "\(question)")
            }
            store.close()
        }
    }

    @Test func `has something to find in these`() throws {
        let memory = MemoryStore()
        _ = memory.open()
        _ = try memory.apply(Self.commands(1), epoch: memory.epoch)
        func found(_ user: UserID?) throws -> Int {
            let question = StoreCommand.readLegs(LegQuestion(app: "shop", user: user, looksMax: 1_000))
            guard case .legs(let page) = try memory.apply(question, epoch: memory.epoch) else { return 0 }
            return page.messages.count { !$0.isEmpty }
        }
        #expect(try found(nil) > 5)
        #expect(try found("bo") > 5)
    }
}

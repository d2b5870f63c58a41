import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

// One push job of a desk, and people with a phone each: `u0`, `u1`, ….

let desk = ConversationID(type: .pushService, target: "desk")
let jobID = MessageID(rawValue: 100)

func created(_ audience: PushAudience = .everybody, _ text: String = "Sale!", id: PushJobID = jobID)
    -> StoreCommand
{
    var template = message(0, from: "desk", to: "desk", type: .pushService, content: "{\"content\":\"\(text)\"}")
    template.pushText = "push of \(text)"
    template.push = PushOptions(title: .text("title of \(text)"), sound: "a.caf")
    return .createPush(
        PushJob(
            id: id, app: "shop", account: desk, body: .message(template), audience: audience,
            lifetimeMilliseconds: 60_000, ratePerSecond: 5, createdAt: 10))
}

func step(_ ids: ClosedRange<UInt64>, at: Int64 = 50, of id: PushJobID = jobID) -> StoreCommand {
    .stepPush("shop", id, ids: ids.map { MessageID(rawValue: $0) }, at: at)
}

func user(_ number: Int) -> UserKey { UserKey(app: "shop", user: UserID("u\(number)")) }

func signIn(_ count: Int) -> [StoreCommand] {
    (0..<count).map { .signIn(DeviceKey(user: user($0), device: "phone"), platform: "ios", at: 1) }
}

/// Applies commands to the store as to one in memory, with a crash after each half and after some steps of deriving.
///
/// - Returns: what both hold.
func carryOut(_ halves: [[StoreCommand]], in folder: TemporaryFolder, derivations steps: Int) async throws -> StoreDump
{
    var configuration = MessageStoreConfiguration()
    configuration.machine.derivationStepMax = 1
    configuration.machine.tailRecordsMax = 1
    configuration.idleMilliseconds = 1
    configuration.mayDerive = { $0 <= steps }
    let memory = MemoryStore()
    for commands in halves {
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        #expect(store.opening.plain == memory.open())
        for command in commands {
            let expected = try memory.apply(command, epoch: memory.epoch)
            #expect(try await store.apply([command]) == [expected])
        }
        #expect(try await store.dump() == memory.dump())
        store.abandon()
    }
    let again = try MessageStore(path: folder.path(), logger: quiet)
    #expect(again.opening.plain == memory.open())
    #expect(try await again.dump() == memory.dump())
    again.close()
    #expect(try StoreMaintenance.check(path: folder.path(), logger: quiet) == [])
    return memory.dump()
}

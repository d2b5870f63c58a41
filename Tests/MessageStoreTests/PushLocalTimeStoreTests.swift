import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore

private let desk = ConversationID(type: .pushService, target: "desk")
private let jobID = MessageID(rawValue: 100)

private func created(_ audience: PushAudience = .everybody, _ text: String = "Sale!", id: PushJobID = jobID)
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

private func step(_ ids: ClosedRange<UInt64>, at: Int64 = 50, of id: PushJobID = jobID) -> StoreCommand {
    .stepPush("shop", id, ids: ids.map { MessageID(rawValue: $0) }, at: at)
}

private func user(_ number: Int) -> UserKey { UserKey(app: "shop", user: UserID("u\(number)")) }

private func signIn(_ count: Int) -> [StoreCommand] {
    (0..<count).map { .signIn(DeviceKey(user: user($0), device: "phone"), platform: "ios", at: 1) }
}

@Suite struct `A store file of version 21` {
    @Test func `opens with its jobs, which have no passes`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        _ = try await store.apply(signIn(2) + [created(), step(101...101)])
        var dump = try await store.dump()
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        try await database.write { try $0.execute(sql: "\(backToVersion21); PRAGMA user_version = 21") }
        try database.close()
        let migrated = try MessageStore(path: folder.path(), logger: quiet)
        let other = try await migrated.dump()
        dump.epoch = other.epoch
        #expect(other == dump)
        #expect(other.pushes.map(\.pass) == [0])
        migrated.close()
    }
}

@Suite struct `A push at a local time in the store` {
    private static let nine = PushLocalTime(
        text: "2026-12-01T09:00", timeZone: "Europe/Berlin",
        passes: [
            .init(at: 20, timeZones: ["Asia/Shanghai"]), .init(at: 30, timeZones: ["Europe/Berlin"]),
            .init(at: 40, timeZones: ["America/Lima"]),
        ])

    private static let commands: [StoreCommand] = {
        var commands = signIn(3)
        for (number, zone) in ["America/Lima", "Asia/Shanghai"].enumerated() {
            let status = DeviceStatus(
                authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
                notificationCenter: true, backgroundRefresh: .available, timeZone: zone)
            commands.append(
                .setDeviceStatus(DeviceKey(user: user(number), device: "phone"), ReportedStatus(status, at: 5)))
        }
        guard case .createPush(var job) = created() else { return commands }
        job.localTime = Self.nine
        commands.append(.createPush(job))
        for pass in 0..<3 {
            let first = 101 + UInt64(pass) * 10
            commands.append(.changePush("shop", jobID, .start, at: 20))
            commands.append(step(first...(first + 5)))
        }
        return commands
    }()

    @Test(arguments: Array(0...24))
    func `reaches each person once, wherever a crash has stopped it`(steps: Int) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.derivationStepMax = 1
        configuration.tailRecordsMax = 1
        configuration.idleMilliseconds = 1
        configuration.mayDerive = { $0 <= steps }
        var reference = ReferenceStore()
        let half = Self.commands.count - 3
        for commands in [Self.commands.prefix(half), Self.commands.dropFirst(half)] {
            let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
            #expect(store.opening.plain == reference.open())
            for command in commands {
                let expected = try reference.apply(command, epoch: reference.epoch)
                #expect(try await store.apply([command]) == [expected])
            }
            #expect(try await store.dump() == reference.dump())
            store.abandon()
        }
        let dump = reference.dump()
        #expect(dump.pushes.map(\.state) == [.done] && dump.pushes.map(\.counts.recipients) == [3])
        #expect(dump.pushesReached == [jobID: ["u0", "u1", "u2"]])
    }
}

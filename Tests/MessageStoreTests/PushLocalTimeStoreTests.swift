import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A push at a local time in the store` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private static let nine = PushLocalTime(
        text: "2026-12-01T09:00", timeZone: "Europe/Berlin",
        passes: [
            .init(at: 20, timeZones: ["Asia/Shanghai"]), .init(at: 30, timeZones: ["Europe/Berlin"]),
            .init(at: 40, timeZones: ["America/Lima"]),
        ])

    private static func report(_ number: Int, _ zone: String) -> StoreCommand {
        let status = DeviceStatus(
            authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available, timeZone: zone)
        return .setDeviceStatus(DeviceKey(user: user(number), device: "phone"), ReportedStatus(status, at: 5))
    }

    private static func createdLocally() -> StoreCommand {
        guard case .createPush(var job) = created() else { return created() }
        job.localTime = Self.nine
        return .createPush(job)
    }

    private static func pass(_ number: UInt64, _ count: UInt64 = 6) -> [StoreCommand] {
        let first = 101 + number * 10
        return [.changePush("shop", jobID, .start, at: 20), step(first...(first + count - 1))]
    }

    /// Three people, of whom the third has told no zone.
    private static let prepared = signIn(3) + [Self.report(0, "America/Lima"), Self.report(1, "Asia/Shanghai")]

    private static let complete: [[StoreCommand]] = [
        Self.prepared + [Self.createdLocally()] + Self.pass(0) + Self.pass(1).prefix(1),
        Self.pass(1).suffix(1) + Self.pass(2),
    ]
    private static let recalled: [[StoreCommand]] = [
        Self.prepared + [Self.createdLocally()] + Self.pass(0) + Self.pass(1),
        [.changePush("shop", jobID, .recall, at: 35), step(121...122), step(131...132)],
    ]

    private func check() throws -> [String] { try StoreMaintenance.check(path: self.folder.path(), logger: quiet) }

    @Test(arguments: Array(0...24))
    func `reaches each person once, wherever a crash has stopped it`(steps: Int) async throws {
        let dump = try await carryOut(Self.complete, in: self.folder, derivations: steps)
        #expect(dump.pushes.map(\.state) == [.done] && dump.pushes.map(\.counts.recipients) == [3])
        #expect(dump.people.filter { $0.reachedBy == [jobID] }.map(\.record.key.user) == ["u0", "u1", "u2"])
    }

    @Test(arguments: Array(0...24))
    func `is taken back between two passes, wherever a crash has stopped it`(steps: Int) async throws {
        let dump = try await carryOut(Self.recalled, in: self.folder, derivations: steps)
        #expect(dump.pushes.map(\.state) == [.recalled])
        #expect(dump.pushes.map { [$0.pass, $0.counts.recipients, $0.counts.recalled] } == [[2, 2, 2]])
    }

    @Test func `can be derived again from the journal's first record`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(Self.complete[0] + Self.complete[1].prefix(1))
        let dump = try await store.dump()
        #expect(dump.pushes.map(\.pass) == [2] && dump.pushes.map(\.sendAt) == [40])
        store.close()
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.lost == [])
        let rebuilt = try MessageStore(path: self.folder.path(), logger: quiet)
        #expect(rebuilt.opening.pushJobs == dump.pushes)
        var again = try await rebuilt.dump()
        again.epoch = dump.epoch
        #expect(again == dump)
        guard case .pushStep(let last)? = try await rebuilt.apply(Self.pass(2)).last else {
            return #expect(Bool(false), "it is carried out")
        }
        #expect(last.deliveries.map(\.user) == ["u0"] && last.isDone)
        rebuilt.close()
    }

    @Test func `is compared with the journal`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(Self.complete[0])
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "DELETE FROM push_reached; UPDATE push_job SET pass = 2") }
        try database.close()
        let findings = try self.check()
        #expect(findings.contains("push \(jobID): is not what the journal gives"), "\(findings)")
        #expect(
            findings.contains("person shop/u1: which pushes have reached them is not what the journal gives"),
            "\(findings)")
    }

    @Test func `passes over somebody whose device cannot be read`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(Self.prepared + [Self.report(2, "Asia/Shanghai")])
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { database in
            try database.execute(
                sql: """
                    UPDATE device SET status = x'ff'
                    WHERE person = (SELECT number FROM person WHERE user = 'u1')
                    """)
        }
        try database.close()
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        let answers = try await again.apply([Self.createdLocally()] + Self.pass(0))
        guard case .pushStep(let done)? = answers.last else { return #expect(Bool(false), "\(answers)") }
        #expect(done.deliveries.map(\.user) == ["u2"])
        #expect(done.job.state == .scheduled && done.job.pass == 1)
        again.close()
    }

    /// Whoever is in another pass is looked at forty times.
    @Test func `looks at people in other zones without having them in memory`() throws {
        try MessageStore(path: self.folder.path(), logger: quiet).close()
        let queue = try DatabaseQueue(path: self.folder.path())
        try queue.writeWithoutTransaction { database in
            let rows = try SQLiteRows(database, MessageStoreConfiguration())
            let first = try StoreMachine(
                rows: rows, configuration: StoreMachine.Configuration(), start: .reading)
            let people = (0..<1_000).map { Self.report($0, $0 % 100 == 0 ? "Asia/Shanghai" : "America/Lima") }
            _ = try first.carryOut([signIn(1_000) + people + [Self.createdLocally()]])
            while try first.deriveStep() {}
            let engine = try StoreMachine(
                rows: rows, configuration: StoreMachine.Configuration(), start: .reading)
            let results = try engine.carryOut([Self.pass(0, 100)])
            guard case .pushStep(let done)? = results[0].last else { return #expect(Bool(false), "\(results)") }
            #expect(done.ids.count == 10 && done.job.counts.lookedAt == 1_001)
            // They, and the account.
            #expect(engine.peopleByKey.count == 11)
        }
        try queue.close()
    }
}

import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

private func leg(_ message: UInt64, _ number: Int) -> LegID {
    LegID(message: MessageID(rawValue: message), user: user(number), device: "phone")
}

private func end(_ message: UInt64, _ number: Int, isRepeated: Bool = false) -> StoreCommand {
    .endLeg(
        EndedLeg(leg: leg(message, number), end: .accepted(apnsID: "A"), at: 60, pushJob: jobID, isRepeated: isRepeated)
    )
}

@Suite struct `A push job in the store` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func check() throws -> [String] { try StoreMaintenance.check(path: self.folder.path(), logger: quiet) }

    /// Ten people; the job is half done, and some of it has come to its end.
    private static let half: [StoreCommand] =
        signIn(10) + [created(), step(101...104), end(101, 0), .receipt(leg(101, 0), .shown, at: 70)]
    private static let rest: [StoreCommand] = [
        end(101, 0), end(102, 1, isRepeated: true), .receipt(leg(101, 0), .shown, at: 71),
        .receipt(leg(102, 1), .opened, at: 71), step(105...108), step(109...112),
    ]

    @Test(arguments: Array(0...24))
    func `goes on where a crash has stopped it, and counts nothing twice`(steps: Int) async throws {
        let dump = try await carryOut([Self.half, Self.rest], in: self.folder, derivations: steps)
        let job = try #require(dump.pushes.first)
        #expect(job.state == .done && job.steps == 3)
        #expect(job.counts.recipients == 10 && job.counts.ends == ["accepted": 2])
        #expect(job.counts.repeated == 1 && job.counts.shown == 1 && job.counts.opened == 1)
    }

    /// More messages than one transaction of deriving puts into the index, all of one record.
    @Test(arguments: Array(0...24))
    func `finds each message of a step, wherever a crash has stopped its deriving`(steps: Int) async throws {
        var configuration = MessageStoreConfiguration()
        configuration.machine.derivationStepMax = 1
        configuration.machine.tailRecordsMax = 1
        configuration.mayDerive = { $0 <= steps }
        let memory = MemoryStore()
        _ = memory.open()
        let commands = signIn(12) + [created(), step(101...112)]
        _ = try memory.apply(commands, epoch: 1)
        let store = try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
        _ = try await store.apply(commands)
        // Behind each of these a step is derived.
        for _ in 0...24 { _ = try await store.apply([.loadUser(user(0))]) }
        store.abandon()
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await again.dump() == memory.dump())
        again.close()
        #expect(try self.check() == [])
    }

    @Test func `costs one record a step, without what it says`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let text = String(repeating: "x", count: 10_000)
        _ = try await store.apply(signIn(1_000) + [created(.everybody, text)])
        #expect(try await store.apply([step(1_001...2_000)]).count == 1)
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        defer { try? database.close() }
        let blobs = try await database.read {
            try Data.fetchAll($0, sql: "SELECT records FROM journal ORDER BY position")
        }
        var kinds: [String: Int] = [:]
        for blob in blobs {
            try blob.withUnsafeBytes { bytes in
                try JournalRow.read(bytes) { record in
                    kinds["\(record)".prefix { $0 != "(" }.description, default: 0] += 1
                    return true
                }
            }
        }
        #expect(kinds == ["signIn": 1_000, "push": 1, "pushStep": 1])
        // Each person costs their id and a byte or two.
        #expect((blobs.last?.count ?? 0) < 8_000)
    }

    @Test func `can be derived again from the journal's first record`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(
            Self.half + Self.rest + [
                .changePush("shop", jobID, .recall, at: 80), step(201...203),
                .setLabels(user(1), .aliases(["boss"])), .setLabels(user(2), .aliases(["boss"])),
                .setLabels(user(2), .tags(["gold"])),
            ])
        let dump = try await store.dump()
        store.close()
        #expect(try self.check() == [])
        let report = try StoreMaintenance.rebuild(path: self.folder.path(), logger: quiet)
        #expect(report.lost == [])
        let rebuilt = try MessageStore(path: self.folder.path(), logger: quiet)
        #expect(rebuilt.opening.pushJobs == dump.pushes)
        var again = try await rebuilt.dump()
        again.epoch = dump.epoch
        #expect(again == dump)
        rebuilt.close()
    }

    @Test(arguments: [0, 24])
    func `is for the one person whom its alias names byte by byte`(steps: Int) async throws {
        let names: [Alias] = ["caf\u{e9}", "cafe\u{301}"]
        let labels = [1, 2].map { StoreCommand.setLabels(user($0), .aliases([names[$0 - 1]])) }
        let dump = try await carryOut(
            [labels, [created(.alias(names[1])), step(101...104)]], in: self.folder, derivations: steps)
        #expect(dump.aliases == ["shop": [names[0]: "u1", names[1]: "u2"]])
        #expect(dump.messages.map { $0.deliveries.map(\.user) } == [["u2"]])
    }

    @Test func `is compared with the journal`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(Self.half + [.setLabels(user(1), .aliases(["boss"]))])
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { database in
            try database.execute(
                sql: "UPDATE push_job SET cursor = 9; UPDATE alias SET user = 'u2'; UPDATE person SET labels = NULL")
        }
        try database.close()
        let findings = try self.check()
        #expect(findings.contains("push \(jobID): is not what the journal gives"), "\(findings)")
        #expect(findings.contains("aliases are not what the journal gives"), "\(findings)")
        #expect(
            findings.contains("person shop/u1: what the app calls the person is not what the journal gives"),
            "\(findings)")
    }

    @Test func `passes over somebody whose rows cannot be read`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        _ = try await store.apply(signIn(4))
        store.close()
        let database = try DatabaseQueue(path: self.folder.path())
        try await database.write { try $0.execute(sql: "UPDATE person SET head = -1 WHERE user = 'u1'") }
        try database.close()
        let again = try MessageStore(path: self.folder.path(), logger: quiet)
        let answers = try await again.apply([created(), step(101...110)])
        guard case .pushStep(let done) = answers[1] else { Issue.record("\(answers)"); return }
        #expect(done.deliveries.map(\.user) == ["u0", "u2", "u3"])
        // The account became known with the job.
        #expect(done.isDone && done.job.counts.lookedAt == 5)
        again.close()
    }

    /// However many people there are: those of the last steps, and the round of deriving they are in.
    @Test func `has few people in memory`() throws {
        try MessageStore(path: self.folder.path(), logger: quiet).close()
        var configuration = MessageStoreConfiguration()
        configuration.machine.pushEntriesInTailMax = 100
        let queue = try DatabaseQueue(path: self.folder.path())
        try queue.writeWithoutTransaction { database in
            let rows = try SQLiteRows(database, configuration)
            let first = try StoreMachine(rows: rows, configuration: configuration.machine, start: .reading)
            _ = try first.carryOut([signIn(3_000) + [created()]])
            while try first.deriveStep() {}
            let engine = try StoreMachine(rows: rows, configuration: configuration.machine, start: .reading)
            var most = 0
            for number: UInt64 in 0..<60 {
                let from = 10_000 + number * 50
                let results = try engine.carryOut([[step(from...(from + 49))]])
                guard case .pushStep(let done) = results[0][0] else { Issue.record("\(results)"); return }
                #expect(done.ids.count == 50)
                while engine.pushTailIsLong, try engine.deriveStep() {}
                most = max(most, engine.peopleByKey.count)
            }
            #expect(most <= 400, "\(most) people were in memory")
            #expect(try engine.push(jobID)?.job.counts.recipients == 3_000)
        }
        try queue.close()
    }

    @Test func `takes many short steps to few people among many, as a store in memory does`() async throws {
        var configuration = MessageStoreConfiguration()
        configuration.machine.pushEntriesInTailMax = 1
        let memory = MemoryStore()
        let people = signIn(100) + [75, 76, 99].map { .setLabels(user($0), .tags(["gold"])) }
        let steps = (0..<12).map { step(UInt64(200 + $0)...UInt64(200 + $0)) }
        let counts = (0..<4).map {
            StoreCommand.countAudience("shop", .not(.tag("gold")), after: $0 * 30, limit: 30)
        }
        // Once with people in memory, and once with their rows alone.
        for commands in [people, [created(.tag("gold"))] + steps + counts] {
            let store = try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
            _ = memory.open()
            let expected = try memory.apply(commands, epoch: memory.epoch)
            #expect(try await store.apply(commands) == expected)
            #expect(try await store.dump() == memory.dump())
            store.close()
        }
        let job = try #require(memory.dump().pushes.first)
        #expect(job.state == .done && job.counts.recipients == 3 && job.counts.lookedAt == 101)
    }

    @Test func `sends to an audience of names without looking at others`() async throws {
        let store = try MessageStore(path: self.folder.path(), logger: quiet)
        let named: [UserID] = ["u3", "zed", "u7"]
        let results = try await store.apply(signIn(10) + [created(.users(named)), step(101...109)])
        guard case .pushStep(let done)? = results.last else { Issue.record("\(results)"); return }
        #expect(done.job.counts.lookedAt == 3 && done.isDone)
        #expect(done.deliveries.map(\.user) == ["u3", "u7", "zed"])
        store.close()
    }
}

@Suite struct `What a push job said` {
    private static func found(_ words: [String], in folder: TemporaryFolder) throws -> [String] {
        var bytes = Data()
        for suffix in ["", "-wal", "-journal"] {
            bytes += (try? Data(contentsOf: URL(fileURLWithPath: folder.path() + suffix))) ?? Data()
        }
        return words.filter { bytes.range(of: Data($0.utf8)) != nil }
    }

    private static let commands: [StoreCommand] =
        signIn(3) + [
            created(.everybody, "GOES-1"), created(.everybody, "STAYS-2", id: MessageID(rawValue: 200)),
            step(101...103), step(201...203, of: MessageID(rawValue: 200)),
            .edit(
                EditOperation(
                    app: "shop", message: MessageID(rawValue: 201), actor: nil, content: "GOES-3", window: 0, at: 9)),
            .edit(
                EditOperation(
                    app: "shop", message: MessageID(rawValue: 201), actor: nil, content: "STAYS-3", window: 0, at: 9)),
            // One of many: what it said is said to others.
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: 301), app: "shop", message: MessageID(rawValue: 202), actor: nil,
                    window: 0, at: 9)),
            .changePush("shop", jobID, .recall, at: 10), step(302...305),
        ]

    @Test(arguments: [0, 1, 4, 1_000])
    func `leaves the file when all of it was recalled, also after a crash`(steps: Int) async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.machine.derivationStepMax = 1
        configuration.idleMilliseconds = 1
        configuration.mayDerive = { $0 <= steps }
        let memory = MemoryStore()
        _ = memory.open()
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        #expect(try await store.apply(Self.commands) == memory.apply(Self.commands, epoch: 1))
        #expect(try await store.dump() == memory.dump())
        store.abandon()
        let again = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await again.dump() == memory.dump())
        again.close()
        #expect(try Self.found(["GOES-1", "STAYS-2", "GOES-3", "STAYS-3"], in: folder) == ["STAYS-2", "STAYS-3"])
        let third = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await third.dump() == memory.dump())
        third.close()
        #expect(try StoreMaintenance.check(path: folder.path(), logger: quiet) == [])
    }
}

@Suite struct `A record of a push job` {
    @Test func `has the number of its kind, and is read as it was written`() throws {
        guard case .createPush(let job) = created(.any([.tag("gold"), .not(.alias("boss"))])) else { return }
        var custom = job
        custom.body = .custom(
            CustomMessage(
                id: MessageID(rawValue: 0), title: "t", content: "{}", extras: JSONObject([("n", .int(1))]), sentAt: 0))
        custom.audience = .all([.everybody, .users(["ada"])])
        let nine = PushLocalTime(
            text: "2026-12-01T09:00", timeZone: "Europe/Berlin",
            passes: [
                .init(at: 5, timeZones: ["Asia/Shanghai", "Asia/Tokyo"]), .init(at: 6, timeZones: ["Europe/Berlin"]),
            ])
        var (local, localCustom) = (job, custom)
        (local.localTime, localCustom.localTime) = (nine, nine)
        var step = PushStepRecord(app: "shop", job: job.id, at: 5, isCustom: false)
        step.isLast = true
        (step.cursor, step.lookedAt, step.skipped, step.withoutDevice) = (9, 4, 1, 2)
        (step.ids, step.users) = ([MessageID(rawValue: 3), MessageID(rawValue: 1 << 60)], ["ada", "bo"])
        custom.audience = .all([custom.audience, .devices([.init(user: "ada", device: "pad")])])
        var toDevices = step
        toDevices.devices = [[], ["pad", "phone"]]
        let state = PushStateRecord(app: "shop", job: job.id, state: .recalling, cursor: 3, changedAt: 4)
        let leg = leg(3, 1)
        let records: [(JournalRecord, UInt8)] = [
            (.push(job.asNew), 30), (.push(custom.asNew), 30), (.push(local.asNew), 30),
            (.push(localCustom.asNew), 30), (.pushStep(step), 31), (.pushStep(toDevices), 31),
            (.pushChange(state), 32),
            (.endLeg(EndedLeg(leg: leg, end: .muted, at: 6, pushJob: job.id, isRepeated: true)), 22),
            (.endLeg(EndedLeg(leg: leg, end: .muted, at: 6)), 21),
            (.endLeg(EndedLeg(leg: leg, end: .muted, at: 6, pushJob: job.id, isRepeated: true, steps: everyStep)), 22),
            (.endLeg(EndedLeg(leg: leg, end: .muted, at: 6, steps: everyStep)), 22),
            (.keepLeg(OpenLeg(leg: leg, position: 1, wait: .inFlight, pushJob: job.id, steps: everyStep)), 20),
            (.keepLeg(OpenLeg(leg: leg, position: 1, wait: .inFlight, steps: everyStep)), 20),
            (.receipt(leg, .shown, at: 7, job: job.id), 23), (.receipt(leg, .shown, at: 7), 23),
            (.labels(bo, PersonLabels(aliases: ["a"], tags: ["b"]), removed: ["c"]), 33),
            (.keepLeg(OpenLeg(leg: leg, position: 1, wait: .inFlight, pushJob: job.id)), 20),
            (.keepLeg(OpenLeg(leg: leg, position: 1, wait: .inFlight)), 19),
        ]
        for (record, kind) in records {
            // A byte of format, four of length, the kind.
            #expect(try bytesReadBack(record)[5] == kind)
        }
    }
}

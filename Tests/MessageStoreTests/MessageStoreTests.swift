import Foundation
import GRDB
import StoreModel
import Testing
import TidingsModel

@testable import MessageStore
@testable import StoreMachine

@Suite struct `A store that is opened again` {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func open(_ configuration: MessageStoreConfiguration = MessageStoreConfiguration()) throws -> MessageStore {
        try MessageStore(path: self.folder.path(), configuration: configuration, logger: quiet)
    }

    @Test func `has kept what it answered before it was killed`() async throws {
        let first = try self.open()
        let accepted = try await first.apply([accept(message(7))])
        first.abandon()
        let second = try self.open()
        #expect(second.opening.lastMessageID == MessageID(rawValue: 7))
        let page = try await second.apply([.readLog(bo, after: 0, limit: 10)])
        #expect(
            page == [.page(LogPage(entries: [LogEntry(position: 1, body: .message(message(7)))], head: 1, unread: 1))])
        // A retry of the sender, who may not have heard the answer, makes no second message.
        let retried = try await second.apply([accept(message(8, client: "c7"))])
        #expect(retried == [.duplicate(MessageID(rawValue: 7), sentAt: message(7).sentAt)])
        #expect(
            accepted == [
                .accepted(deliveries: [
                    Delivery(user: "ada", position: 1, unread: 0), Delivery(user: "bo", position: 1, unread: 1),
                ])
            ])
        second.close()
    }

    @Test(arguments: 0..<24)
    func `is the same wherever a crash cut its deriving short`(steps: Int) async throws {
        var configuration = MessageStoreConfiguration()
        configuration.machine.derivationStepMax = 1
        configuration.machine.tailRecordsMax = 4
        configuration.machine.logChunkBytes = 8
        configuration.mayDerive = { $0 <= steps }
        let first = try self.open(configuration)
        let memory = MemoryStore()
        _ = memory.open()
        for command in Self.story {
            #expect(try await first.apply([command]) == [try memory.apply(command, epoch: 1)])
        }
        first.abandon()
        let second = try self.open()
        #expect(memory.open() == second.opening.plain)
        #expect(try await second.dump() == memory.dump())
        // What was loaded is as it was, also who is muted where.
        let more = [accept(message(21)), accept(message(22, to: "team", type: .group))]
        #expect(try await second.apply(more) == memory.apply(more, epoch: 2))
        second.close()
        // Closed in good order this time: everything was derived, and it is still the same.
        let third = try self.open()
        #expect(memory.open() == third.opening.plain)
        #expect(try await third.dump() == memory.dump())
        #expect(try await third.apply([accept(message(23))]) == [try memory.apply(accept(message(23)), epoch: 3)])
        third.close()
    }

    /// A little of everything that is derived.
    private static let story: [StoreCommand] = {
        let phone = DeviceKey(user: bo, device: "phone")
        let record = ConversationRecord(app: "shop", conversation: team, name: "Team", members: ["ada", "bo", "cy"])
        let leg = LegID(message: MessageID(rawValue: 2), user: bo, device: "phone")
        let cy = UserKey(app: "shop", user: "cy")
        let pad = DeviceKey(user: cy, device: "pad")
        let tokenless = LegID(message: MessageID(rawValue: 2), user: cy, device: "pad")
        return [
            .signIn(phone, platform: "ios", at: 1), .signIn(pad, platform: "ios", at: 1), .putConversation(record),
            accept(message(1)),
            accept(message(2, to: "team", type: .group)), .keepLeg(OpenLeg(leg: leg, position: 2, wait: .inFlight)),
            .markRead(bo, ConversationID(type: .direct, target: "ada"), upTo: 1, at: 5),
            .advance(phone, settled: 1, decided: 2), accept(message(3, from: "cy", to: "team", type: .group)),
            .endLeg(EndedLeg(leg: leg, end: .accepted(apnsID: "A"), at: 6)), .receipt(leg, .shown, at: 7),
            .endLeg(EndedLeg(leg: tokenless, end: .noToken, at: 6)), .signIn(pad, platform: "ipados", at: 7),
            accept(message(4, from: "bo", to: "ada")), .signOut(phone, at: 8),
        ] + Self.revisions
    }()

    /// Messages that are recalled, deleted and edited, read up to before those, in conversations that are muted and left.
    private static let revisions: [StoreCommand] = {
        let toAda = ConversationID(type: .direct, target: "ada")
        func recall(_ message: UInt64, as id: UInt64) -> StoreCommand {
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: id), app: "shop", message: MessageID(rawValue: message), actor: nil,
                    window: 0,
                    at: 9))
        }
        func change(_ action: ConversationAction, by user: UserID) -> StoreCommand {
            .change(ConversationOperation(app: "shop", conversation: team, action: action, actor: user, at: 9))
        }
        var mention = message(14, to: "team", type: .group)
        mention.mentions = .users(["bo"])
        return [
            accept(message(11)), accept(message(12)), accept(message(13)), accept(mention),
            .delete(bo, Deletion(conversation: toAda, messages: [MessageID(rawValue: 12)]), at: 9), recall(13, as: 15),
            .markRead(bo, toAda, upTo: 5, at: 9), .setConversationSettings(bo, toAda, .init(level: .blocked), at: 9),
            .edit(
                EditOperation(
                    app: "shop", message: MessageID(rawValue: 11), actor: nil, content: "ho", window: 0, at: 9)),
            accept(message(16)), .setPersonSettings(bo, PersonSettings(levels: [.group: .blocked]), at: 9),
            recall(14, as: 17), .markRead(bo, team, upTo: 4, at: 9), change(.setNickname("bo", "B"), by: "bo"),
            change(.leave, by: "bo"), .readHistory(bo, toAda, before: nil, limit: 9),
        ]
    }()

    @Test func `names the people with push work`() async throws {
        let first = try self.open()
        let cy = UserKey(app: "shop", user: "cy")
        let leg = LegID(message: MessageID(rawValue: 9), user: cy, device: "pad")
        _ = try await first.apply([
            .signIn(DeviceKey(user: bo, device: "phone"), platform: "ios", at: 1),
            .signIn(DeviceKey(user: ada, device: "phone"), platform: "ios", at: 1), accept(message(1)),
            .advance(DeviceKey(user: ada, device: "phone"), settled: nil, decided: 1),
            .keepLeg(OpenLeg(leg: leg, position: 1, wait: .throttled)),
        ])
        first.abandon()
        let second = try self.open()
        #expect(
            second.opening.plain == StoreOpening(epoch: 2, lastMessageID: MessageID(rawValue: 1), pending: [bo, cy]))
        second.close()
        let third = try self.open()
        #expect(
            third.opening.plain == StoreOpening(epoch: 3, lastMessageID: MessageID(rawValue: 1), pending: [bo, cy]))
        third.close()
    }

    @Test func `refuses batches of an owner before`() async throws {
        try self.open().close()
        let store = try self.open()
        #expect(store.opening.epoch == 2)
        await #expect(throws: StaleEpoch(presented: 1, current: 2)) {
            try await store.apply([accept(message(1))], epoch: 1)
        }
        let answers = await withCheckedContinuation { continuation in
            store.submit([accept(message(1))], epoch: 1) { continuation.resume(returning: $0) }
        }
        #expect(answers == [.failed("\(StaleEpoch(presented: 1, current: 2))")])
        let user = try await store.apply([.loadUser(bo)], epoch: 2)
        #expect(user == [.user(UserRecord(key: bo, head: 0, unread: 0, devices: [], openLegs: []))])
        store.close()
    }
}

@Suite struct `A store with many callers` {
    @Test func `answers each in the order of their batches`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        // Eight senders write to one person at once; each waits for nothing.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender: UInt64 in 1...8 {
                group.addTask {
                    let results = await withCheckedContinuation { continuation in
                        let answers = Answers(count: 50) { continuation.resume(returning: $0) }
                        for index in 0..<50 {
                            let id = sender * 1000 + UInt64(index)
                            let text = message(id, from: UserID("sender\(sender)"))
                            store.submit([accept(text)]) { answers.take($0, at: index) }
                        }
                    }
                    let own = results.map { result -> LogPosition in
                        guard case .accepted(let deliveries, _, _) = result else { return 0 }
                        return deliveries.first { $0.user != "bo" }?.position ?? 0
                    }
                    #expect(own == Array(1...50))
                }
            }
            try await group.waitForAll()
        }
        let results = try await store.apply([.readLog(bo, after: 0, limit: 1000)])
        guard case .page(let page) = results[0] else { return #expect(Bool(false), "\(results)") }
        #expect(page.entries.map(\.position) == Array(1...400))
        #expect(page.unread == 400)
        store.close()
    }

    @Test func `answers what comes after it was closed`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        store.close()
        let closed = StoreResult.failed("the store is closed")
        #expect(try await store.apply([.loadUser(ada), .loadUser(bo)]) == [closed, closed])
        await #expect(throws: MessageStoreError.self) { try await store.dump() }
    }

    @Test func `carries out what was submitted before it is closed`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let results = await withCheckedContinuation { continuation in
            let answers = Answers(count: 20) { continuation.resume(returning: $0) }
            for index in 0..<20 { store.submit([accept(message(UInt64(index) + 1))]) { answers.take($0, at: index) } }
            store.close()
        }
        let isAccepted = results.map { if case .accepted = $0 { true } else { false } }
        #expect(isAccepted == Array(repeating: true, count: 20))
    }
}

@Suite struct `A large group` {
    @Test func `costs one journal record a message, whoever reads it`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let members = (1...3000).map { UserID("member\($0)") }
        let record = ConversationRecord(app: "shop", conversation: team, name: "Team", members: members)
        #expect(try await store.apply([.putConversation(record)]) == [.done])
        let results = try await store.apply([
            accept(message(1, from: "member1", to: "team", type: .group)),
            accept(message(2, from: "member2", to: "team", type: .group)),
        ])
        guard case .accepted(let deliveries, _, _) = results[1] else { return #expect(Bool(false), "\(results)") }
        #expect(deliveries.map(\.user) == members.sorted())
        #expect(deliveries.allSatisfy { $0.position == 2 })
        #expect(deliveries.count { $0.unread == 2 } == 2998)
        // None of them has a device: that is told of each but the sender, and costs no record.
        guard case .trace(let trace?) = try await store.apply([.trace("shop", MessageID(rawValue: 2))])[0] else {
            return #expect(Bool(false), "no trace")
        }
        #expect(trace.ended.map(\.leg.user.user) == members.filter { $0 != "member2" }.sorted())
        #expect(trace.ended.allSatisfy { $0.end == .noDevice && $0.leg.device == nil })
        let read = try await store.apply([.readMessage("shop", MessageID(rawValue: 2))])
        #expect(read == [.trace(MessageTrace(of: trace.subject))])
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        let counts = try await database.read { database in
            try ["journal", "person_log", "membership"].map {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0)")
            }
        }
        // Two transactions made two rows of the journal: the group itself, and the two messages.
        #expect(counts == [2, 3000, 1])
    }

    @Test func `has one row for its members until they are others`() async throws {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.machine.tailRecordsMax = 1
        let store = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        func change(_ action: ConversationAction) -> StoreCommand {
            .change(ConversationOperation(app: "shop", conversation: team, action: action, actor: nil, at: 9))
        }
        let commands: [StoreCommand] = [
            change(.create(name: "Team", portrait: nil, members: ["ada", "bo", "cy"])), change(.rename("Crew")),
            change(.setRole("ada", .owner)), accept(message(1, to: "team", type: .group)), change(.add(["dee"])),
            change(.setNickname("bo", "B")), accept(message(2, to: "team", type: .group)),
        ]
        for command in commands {
            #expect(try await store.apply([command]) == [try memory.apply(command, epoch: 1)])
        }
        store.close()
        let database = try DatabaseQueue(path: folder.path())
        let versions = try await database.read { try Int.fetchAll($0, sql: "SELECT version FROM membership") }
        try database.close()
        #expect(versions == [1, 4])
        let again = try MessageStore(path: folder.path(), logger: quiet)
        _ = memory.open()
        #expect(try await again.dump() == memory.dump())
        again.close()
    }

    @Test(arguments: [0, 1, 3, 6])
    func `has its message and its recall in every log, wherever a kill cut the deriving short`(steps: Int)
        async throws
    {
        let folder = try TemporaryFolder()
        var configuration = MessageStoreConfiguration()
        configuration.idleMilliseconds = 0
        configuration.mayDerive = { $0 <= steps }
        let members = (1...3000).map { UserID("member\($0)") }
        let first = try MessageStore(path: folder.path(), configuration: configuration, logger: quiet)
        let memory = MemoryStore()
        _ = memory.open()
        let commands: [StoreCommand] = [
            .putConversation(ConversationRecord(app: "shop", conversation: team, name: "Team", members: members)),
            accept(message(1, from: "member1", to: "team", type: .group)),
            accept(message(2, from: "member2", to: "team", type: .group)),
            .recall(
                RecallOperation(
                    id: MessageID(rawValue: 3), app: "shop", message: MessageID(rawValue: 1), actor: "member1",
                    window: 9,
                    at: message(1).sentAt)),
        ]
        // One command a batch, so that deriving gets its turns between them.
        for command in commands {
            #expect(try await first.apply([command]) == [try memory.apply(command, epoch: 1)])
        }
        first.abandon()
        let database = try DatabaseQueue(path: folder.path())
        let rows = try await database.read { try Data.fetchAll($0, sql: "SELECT records FROM journal") }
        try database.close()
        // The group, two messages, the recall: one record each.
        #expect(try rows.map { try $0.withUnsafeBytes { try JournalRow.count($0) } }.reduce(0, +) == 4)
        let second = try MessageStore(path: folder.path(), logger: quiet)
        #expect(second.opening.plain == memory.open())
        #expect(try await second.dump() == memory.dump())
        second.close()
    }

    @Test func `with too many members is refused and nothing is changed`() async throws {
        let folder = try TemporaryFolder()
        let store = try MessageStore(path: folder.path(), logger: quiet)
        let members = (0...3000).map { UserID("member\($0)") }
        let record = ConversationRecord(app: "shop", conversation: team, name: "Team", members: members)
        #expect(
            try await store.apply([.putConversation(record)])
                == [.refused(.init(InvalidField(field: "members", rule: "must be at most 3000, got 3001")))])
        #expect(try await store.dump().conversations == [])
        store.close()
    }
}

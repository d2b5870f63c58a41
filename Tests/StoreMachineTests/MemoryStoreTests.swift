import StoreMachine
import StoreModel
import Testing
import TidingsModel

@Suite struct `A store in memory` {
    /// One person in memory, and nothing that waits long for being derived, in the smallest steps.
    private static var tight: StoreMachine.Configuration {
        var limits = StoreMachine.Configuration()
        (limits.cachedPeopleMax, limits.tailRecordsMax, limits.derivationStepMax) = (1, 1, 1)
        limits.logChunkBytes = 8
        return limits
    }

    private let rows = MemoryRows()
    private let store: MemoryStore

    init() { self.store = MemoryStore(rows: self.rows, configuration: Self.tight) }

    private static func hello(_ id: UInt64, from sender: UserID = "ada", to peer: String = "bo") -> StoreCommand {
        .accept(
            message: Message(
                id: MessageID(rawValue: id), app: "shop", sender: sender,
                conversation: ConversationID(type: .direct, target: peer), clientMessageID: ClientMessageID("c\(id)"),
                objectName: .text, content: "hi", flags: .normal, pushText: nil, sentAt: Int64(id)),
            senderDevice: nil)
    }

    /// What a store without limits and faults has after the commands, opened so many times.
    private static func dump(after commands: [StoreCommand], openings: Int) throws -> StoreDump {
        let store = MemoryStore()
        for _ in 0..<openings { _ = store.open() }
        _ = try store.apply(commands, epoch: store.epoch)
        return store.dump()
    }

    @Test func `recovers at each opening, however far it has derived`() throws {
        let commands = (1...12).map { Self.hello($0, from: $0 % 2 == 0 ? "ada" : "cy", to: "p\($0 % 5)") }
        for (index, command) in commands.enumerated() {
            let opening = self.store.open()
            #expect(opening.epoch == UInt64(index) + 1)
            _ = try self.store.apply(command, epoch: opening.epoch)
            for _ in 0..<(index % 4) { _ = try self.store.deriveStep() }
        }
        #expect(self.store.dump() == (try Self.dump(after: commands, openings: commands.count)))
        try self.store.derive()
        #expect(try !self.store.deriveStep())
        #expect(self.store.dump() == (try Self.dump(after: commands, openings: commands.count)))
    }

    @Test func `refuses the batches of an earlier opening`() throws {
        let first = self.store.open()
        _ = self.store.open()
        #expect(throws: StaleEpoch(presented: 1, current: 2)) {
            try self.store.apply([Self.hello(1)], epoch: first.epoch)
        }
        #expect(self.store.dump() == (try Self.dump(after: [], openings: 2)))
    }

    @Test func `keeps nothing of a batch that fails, and stands still until it is opened`() throws {
        let epoch = self.store.open().epoch
        _ = try self.store.apply(Self.hello(1), epoch: epoch)
        try self.store.derive()
        for number: UInt64 in 2...3 {
            if number == 2 { self.rows.failAfterPuts = 1 } else { self.rows.failNextCommit = true }
            let fault: MemoryRows.Fault = number == 2 ? .full : .notSynced
            #expect(throws: fault) {
                try self.store.apply([Self.hello(2), Self.hello(3)], epoch: self.store.epoch)
            }
            #expect(throws: MemoryStore.Stopped.self) { try self.store.apply(Self.hello(4), epoch: self.store.epoch) }
            #expect(throws: MemoryStore.Stopped.self) { try self.store.derive() }
            #expect(self.store.dump() == (try Self.dump(after: [Self.hello(1)], openings: Int(number) - 1)))
            #expect(self.store.open().lastMessageID == MessageID(rawValue: 1))
        }
        _ = try self.store.apply([Self.hello(2), Self.hello(3)], epoch: self.store.epoch)
        #expect(self.store.dump() == (try Self.dump(after: (1...3).map { Self.hello($0) }, openings: 3)))
    }

    @Test func `loses no batch where deriving fails, at whichever change`() throws {
        let commands = (1...4).map { Self.hello($0, to: "p\($0)") }
        for puts in 0..<40 {
            let store = MemoryStore(configuration: Self.tight)
            _ = store.open()
            _ = try store.apply(commands, epoch: store.epoch)
            store.rows.failAfterPuts = puts
            do { try store.derive() } catch { #expect(error as? MemoryRows.Fault == .full) }
            _ = store.open()
            #expect(store.dump() == (try Self.dump(after: commands, openings: 2)))
        }
    }

    @Test func `counts open legs of those in memory and of those in rows`() throws {
        let epoch = self.store.open().epoch
        for number in 1...3 as ClosedRange<UInt64> {
            let key = DeviceKey(user: UserKey(app: "shop", user: UserID("p\(number)")), device: "phone")
            let leg = LegID(message: MessageID(rawValue: number), user: key.user, device: key.device)
            _ = try self.store.apply(
                [
                    .signIn(key, platform: "ios", at: 1), Self.hello(number, to: key.user.user.rawValue),
                    .keepLeg(OpenLeg(leg: leg, position: 1, wait: .grace)),
                ], epoch: epoch)
        }
        #expect(self.store.openLegCount == 3)
        try self.store.derive()
        #expect(self.store.openLegCount == 3)
    }
}

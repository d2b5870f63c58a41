import PhoneCore
import StoreModel
import Testing
import TidingsModel

@testable import World

/// A checker that cannot fail checks nothing: each is shown what it must find.
@Suite struct `A checker` {
    private let message = Message(
        id: MessageID(wallMilliseconds: 1_800_000_000_000, node: 1, counter: 0), app: World.app, sender: "p0",
        conversation: ConversationID(type: .direct, target: "p1"), clientMessageID: "c", objectName: .text,
        content: "hi", flags: .normal, pushText: nil, sentAt: 1_800_000_000_000)

    private func phone(_ index: Int, holding copies: Int) -> WorldPhone {
        var phone = WorldPhone(
            person: UserID("p\(index)"), device: DeviceID("phone-\(index)"), core: PhoneCore(version: 17))
        for copy in 0..<copies {
            phone.disk.write(
                [LogEntry(position: LogPosition(copy + 1), body: .message(self.message))], person: phone.person)
        }
        return phone
    }

    private func store(holding: Bool, ends: [(DeviceID, LegEnd)] = []) throws -> ReferenceStore {
        var store = ReferenceStore()
        let epoch = store.open().epoch
        guard holding else { return store }
        _ = try store.apply(.accept(message: self.message, senderDevice: "phone-0"), epoch: epoch)
        for (device, end) in ends {
            let user = UserKey(app: World.app, user: device == "phone-0" ? "p0" : "p1")
            let leg = LegID(message: self.message.id, user: user, device: device)
            _ = try store.apply(.endLeg(EndedLeg(leg: leg, end: end, at: 0)), epoch: epoch)
        }
        return store
    }

    @Test func `finds an acknowledged message that the store lost`() throws {
        var checkers = Checkers()
        checkers.acknowledge(self.message)
        var store = try self.store(holding: false)
        checkers.checkDurable(store: &store, phones: [], app: World.app)
        #expect(checkers.violations.map(\.promise) == ["P1"])
    }

    @Test func `finds a message that a phone lost or has twice`() throws {
        var store = try self.store(holding: true)
        for copies in [0, 2] {
            var checkers = Checkers()
            checkers.acknowledge(self.message)
            checkers.checkDurable(store: &store, phones: [self.phone(1, holding: copies)], app: World.app)
            #expect(!checkers.violations.isEmpty)
            #expect(checkers.violations.allSatisfy { $0.promise == "P1" })
        }
    }

    @Test func `is silent when all is well`() throws {
        var checkers = Checkers()
        checkers.acknowledge(self.message)
        var store = try self.store(holding: true, ends: [("phone-0", .ownDevice), ("phone-1", .settled(.shown))])
        let phones = [self.phone(0, holding: 1), self.phone(1, holding: 1)]
        checkers.checkDurable(store: &store, phones: phones, app: World.app)
        checkers.checkLegs(store: &store, phones: phones, app: World.app)
        #expect(checkers.violations == [])
    }

    @Test func `finds a leg without an end`() throws {
        var checkers = Checkers()
        checkers.acknowledge(self.message)
        var store = try self.store(holding: true, ends: [("phone-0", .ownDevice)])
        checkers.checkLegs(
            store: &store, phones: [self.phone(0, holding: 1), self.phone(1, holding: 1)], app: World.app)
        #expect(checkers.violations.map(\.promise) == ["P6"])
    }

    @Test func `finds a leg that counts as settled on a phone without the message`() throws {
        var checkers = Checkers()
        checkers.acknowledge(self.message)
        var store = try self.store(holding: true, ends: [("phone-1", .settled(.shown))])
        checkers.checkLegs(store: &store, phones: [self.phone(1, holding: 0)], app: World.app)
        #expect(checkers.violations.map(\.promise) == ["P2"])
    }

    @Test func `finds the second ring, not the second entry of the list`() {
        var checkers = Checkers()
        var phone = self.phone(1, holding: 0)
        let ring = PresentationRecord(identifier: "m", isRemote: true, banner: true, list: true, reason: .system)
        let quiet = PresentationRecord(identifier: "m", isRemote: true, list: true, replaced: true, reason: .passive)
        checkers.rang(ring, on: &phone)
        checkers.rang(quiet, on: &phone)
        #expect(checkers.violations == [])
        checkers.rang(ring, on: &phone)
        #expect(checkers.violations.map(\.promise) == ["P3"])
    }
}

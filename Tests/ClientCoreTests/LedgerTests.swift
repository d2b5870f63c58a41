import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A ledger of what has rung` {
    private let app = Ledger.Holder.kit(process: 1)
    private let later = Ledger.Holder.kit(process: 2)

    @Test func `lets exactly one of two claim`() {
        for (first, second) in [(self.app, Ledger.Holder.pushExtension), (.pushExtension, self.app)] {
            var ledger = Ledger()
            #expect(ledger.claim(id(1), by: first, wall: 0) == .granted)
            #expect(ledger.claim(id(1), by: second, wall: 1) == .heldByAnother)
            ledger.markShown(id(1), by: first, wall: 2)
            #expect(ledger.claim(id(1), by: second, wall: 100_000) == .alreadyShown)
            #expect(ledger.claim(id(1), by: first, wall: 100_000) == .alreadyShown)
        }
    }

    @Test func `gives a message back that was claimed and not shown`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        ledger.release(id(1), by: .pushExtension)
        #expect(ledger.claim(id(1), by: .pushExtension, wall: 1) == .heldByAnother)
        ledger.release(id(1), by: self.app)
        #expect(ledger.claim(id(1), by: .pushExtension, wall: 1) == .granted)
    }

    @Test func `does not give back what was shown`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        ledger.markShown(id(1), by: self.app, wall: 0)
        ledger.release(id(1), by: self.app)
        #expect(ledger.claim(id(1), by: .pushExtension, wall: 1) == .alreadyShown)
    }

    @Test func `settles a dead app's claim by the delivered list`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        #expect(ledger.claim(id(1), by: self.later, wall: 1) == .lookAtDelivered)
        var shown = ledger
        #expect(shown.claim(id(1), by: self.later, isDelivered: true, wall: 1) == .alreadyShown)
        #expect(ledger.claim(id(1), by: self.later, isDelivered: false, wall: 1) == .granted)
    }

    @Test func `remembers what it found in the delivered list: cleared by the person, it rings no second time`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        for message in [id(1), id(2)] {
            #expect(ledger.claim(message, by: self.later, isDelivered: true, wall: 6_000) == .alreadyShown)
            #expect(ledger.claim(message, by: self.later, isDelivered: false, wall: 6_000) == .alreadyShown)
        }
    }

    @Test func `believes a claim as long as its owner can be at work`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        #expect(ledger.claim(id(1), by: .pushExtension, wall: 4_999) == .heldByAnother)
        #expect(ledger.claim(id(1), by: .pushExtension, wall: 5_000) == .lookAtDelivered)
        _ = ledger.claim(id(2), by: .pushExtension, wall: 0)
        #expect(ledger.claim(id(2), by: self.app, wall: 29_999) == .heldByAnother)
        #expect(ledger.claim(id(2), by: self.app, wall: 30_000) == .lookAtDelivered)
        // A clock that stepped back is no reason to wait.
        #expect(ledger.claim(id(2), by: self.app, wall: -1) == .lookAtDelivered)
    }

    @Test func `recovers after a crash: what is in the delivered list was shown, the rest may ring again`() {
        var ledger = Ledger()
        for number in UInt64(1)...3 { _ = ledger.claim(id(number), by: self.app, wall: 0) }
        ledger.markShown(id(3), by: self.app, wall: 0)
        #expect(ledger.unsettled(process: 2, wall: 1) == [id(1), id(2)])
        ledger.recover(delivered: [id(1)], process: 2, wall: 1)
        #expect(ledger.claim(id(1), by: self.later, wall: 2) == .alreadyShown)
        #expect(ledger.claim(id(2), by: self.later, wall: 2) == .granted)
        #expect(ledger.claim(id(3), by: self.later, wall: 2) == .alreadyShown)
    }

    @Test func `forgets the oldest, and comes back the same from its stored form`() {
        var ledger = Ledger()
        let most = UInt64(Ledger.capacity + Ledger.slack)
        for number in 1...most + 1 { _ = ledger.claim(id(number), by: self.app, wall: 0) }
        #expect(ledger[id(most + 1 - UInt64(Ledger.capacity))] == nil)
        #expect(ledger[id(most + 2 - UInt64(Ledger.capacity))] != nil)
        #expect(ledger.all.count == Ledger.capacity)
        #expect(Ledger(restoring: ledger.all) == ledger)
    }

    @Test func `forgets what is older than anything APNs still keeps`() {
        var ledger = Ledger()
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        _ = ledger.claim(id(2), by: self.app, wall: Ledger.ageMaxMilliseconds)
        #expect(ledger[id(1)] != nil)
        _ = ledger.claim(id(3), by: self.app, wall: Ledger.ageMaxMilliseconds + 1)
        #expect(ledger[id(1)] == nil)
        #expect(ledger[id(2)] != nil)
    }

    @Test func `says what has to be stored, and comes back the same from it`() {
        var ledger = Ledger()
        #expect(ledger.drainChanges() == .init(isReset: true, messages: []))
        _ = ledger.claim(id(1), by: self.app, wall: 0)
        _ = ledger.claim(id(2), by: .pushExtension, wall: 1)
        ledger.markShown(id(2), by: .pushExtension, wall: 2)
        ledger.release(id(1), by: self.app)
        let changes = ledger.drainChanges()
        #expect(changes == .init(isReset: false, messages: [id(1), id(2), id(2), id(1)]))
        #expect(ledger.drainChanges() == .init())
        var again = Ledger()
        for message in changes.messages { again.restore(message, ledger[message]) }
        #expect(again == ledger)
    }
}

@Suite struct `The number on the icon` {
    @Test func `is the server's count plus other senders' pushes`() {
        var badge = Badge(server: 3, position: 10)
        badge.pushedByAnother(isRecall: false)
        #expect(badge.shown == 4)
        badge.pushedByAnother(isRecall: true)
        badge.pushedByAnother(isRecall: true)
        #expect(badge.shown == 2)
    }

    @Test func `never goes below nothing, also when the server's count falls`() {
        var badge = Badge(server: 2, position: 10)
        for _ in 0..<5 { badge.pushedByAnother(isRecall: true) }
        #expect(badge.shown == 0)
        badge.pushed(absolute: 1, position: 11)
        #expect(badge == Badge(server: 1, foreign: -1, position: 11))
        badge.pushed(absolute: 5, position: 12)
        #expect(badge.shown == 4)
    }

    @Test func `takes an absolute number only from a later position`() {
        var badge = Badge(server: 3, foreign: 1, position: 10)
        let first = badge.pushed(absolute: 9, position: 10)
        #expect(!first)
        let second = badge.pushed(absolute: 9, position: 9)
        #expect(!second)
        #expect(badge.shown == 4)
        let third = badge.pushed(absolute: 5, position: 11)
        #expect(third)
        #expect(badge.shown == 6)
    }

    @Test(.requirement("S2.17")) func `counts anew when the app resigns active`() {
        var badge = Badge(server: 3, foreign: 2, position: 10)
        badge.resigned(unread: 1, position: 8)
        #expect(badge == Badge(server: 1, foreign: 0, position: 8))
    }

    @Test func `follows the kit's notification, but not an older one`() {
        var badge = Badge(server: 3, foreign: 2, position: 10)
        badge.posted(unread: 4, position: 11)
        #expect(badge == Badge(server: 4, foreign: 2, position: 11))
        badge.posted(unread: 1, position: 9)
        #expect(badge.shown == 6)
    }
}

import ClientCore
import Testing
import TidingsModel

/// design.md §5: the receipt `opened`.
@Suite struct `A notification that was opened` {
    private func told(_ effects: [ClientEffect]) -> [ClientEffect] {
        effects.filter {
            guard case .sendFrame(_, .opened) = $0 else { return false }
            return true
        }
    }

    @Test func `is told to the server once, by however many callback paths its tap is heard of`() {
        var core = ClientCore.online()
        #expect(core.handle(.notificationOpened(id(7)), at: at(1)) == [.sendFrame(1, .opened(id(7)))])
        #expect(core.handle(.notificationOpened(id(7)), at: at(2)) == [])
        #expect(core.handle(.notificationOpened(id(8)), at: at(2)) == [.sendFrame(1, .opened(id(8)))])
    }

    @Test func `before the connection stands is told after the welcome`() {
        var core = ClientCore.fresh()
        _ = core.handle(.connectRequested, at: at(0))
        #expect(self.told(core.handle(.notificationOpened(id(7)), at: at(0))) == [])
        _ = core.handle(.tokenProvided("token"), at: at(0))
        _ = core.handle(.connectionOpened(1), at: at(0))
        let effects = core.handle(.frameReceived(1, welcome()), at: at(0))
        #expect(self.told(effects) == [.sendFrame(1, .opened(id(7)))])
    }

    @Test func `is told again after a lost connection unless a later heartbeat was answered`() {
        for isConfirmed in [true, false] {
            var core = ClientCore.online()
            _ = core.handle(.notificationOpened(id(7)), at: at(1))
            #expect(core.handle(.deadlineReached, at: at(31)).contains(.sendFrame(1, .ping(1))))
            if isConfirmed { _ = core.handle(.frameReceived(1, .pong(1)), at: at(32)) }
            _ = core.handle(.connectionClosed(1, reason: "reset"), at: at(33))
            _ = core.handle(.deadlineReached, at: at(40))
            _ = core.handle(.connectionOpened(2), at: at(40))
            let effects = core.handle(.frameReceived(2, welcome()), at: at(40))
            #expect(self.told(effects) == (isConfirmed ? [] : [.sendFrame(2, .opened(id(7)))]))
        }
    }

    @Test func `by a person who has signed out is told by nobody`() {
        var core = ClientCore.fresh()
        _ = core.handle(.notificationOpened(id(7)), at: at(0))
        _ = core.handle(.signOutRequested, at: at(1))
        _ = core.handle(.tokenProvided("token"), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(1))
        #expect(self.told(core.handle(.frameReceived(1, welcome()), at: at(1))) == [])
        #expect(self.told(core.handle(.notificationOpened(id(8)), at: at(2))) == [])
    }

    @Test func `is one of at most 256 that are remembered`() {
        var receipts = OpenedReceipts()
        for number in 1...UInt64(OpenedReceipts.capacity + 1) { _ = receipts.insert(id(number)) }
        #expect(receipts.waiting.first == id(2))
        #expect(receipts.waiting.count == OpenedReceipts.capacity)
        let isForgotten = receipts.insert(id(1))
        let isNew = receipts.insert(id(200))
        #expect(isForgotten)
        #expect(!isNew)
    }
}

import Requirements
import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A log without gaps` {
    @Test func `takes a live entry that follows, and drops one it has`() {
        var core = ClientCore.online()
        #expect(core.handle(.frameReceived(1, .entry(entry(1))), at: at(1)) == [.storeEntries([entry(1)])])
        #expect(core.handle(.frameReceived(1, .entry(entry(1))), at: at(1)) == [])
        #expect(core.handle(.frameReceived(1, .entry(entry(2))), at: at(1)) == [.storeEntries([entry(2)])])
    }

    @Test func `asks for what is missing, once`() {
        var core = ClientCore.online()
        #expect(
            core.handle(.frameReceived(1, .entry(entry(3))), at: at(1)) == [.sendFrame(1, .sync(after: 0, limit: 200))])
        #expect(core.handle(.frameReceived(1, .entry(entry(4))), at: at(1)) == [])
        let page = ServerFrame.Page(after: 0, entries: (1...4).map { entry($0) }, head: 4, unread: 4)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(2)) == [.storeEntries((1...4).map { entry($0) })])
    }

    @Test func `asks page by page until it has reached the head`() {
        var core = ClientCore.online(head: 3)
        let first = ServerFrame.Page(after: 0, entries: [entry(1), entry(2)], head: 3, unread: 3)
        #expect(
            core.handle(.frameReceived(1, .page(first)), at: at(1))
                == [.storeEntries([entry(1), entry(2)]), .sendFrame(1, .sync(after: 2, limit: 200))])
        let last = ServerFrame.Page(after: 2, entries: [entry(3)], head: 3, unread: 3)
        #expect(core.handle(.frameReceived(1, .page(last)), at: at(1)) == [.storeEntries([entry(3)])])
    }

    @Test func `takes a page that starts later, because the server trims its log`() {
        var core = ClientCore.online(head: 9)
        let page = ServerFrame.Page(after: 0, entries: [entry(8), entry(9)], head: 9, unread: 2)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1)).contains(.storeEntries([entry(8), entry(9)])))
    }

    @Test func `does not ask in circles when a page brings nothing`() {
        var core = ClientCore.online(head: 9)
        let page = ServerFrame.Page(after: 0, entries: [], head: 9, unread: 2)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1))
                == [.skipEntries(after: 0, upTo: 9), .sendFrame(1, .request(1, .settings))])
        #expect(core.handle(.frameReceived(1, .page(page)), at: at(1)) == [])
        var late = ClientCore.online(head: 9)
        let old = ServerFrame.Page(after: 3, entries: [], head: 9, unread: 2)
        #expect(late.handle(.frameReceived(1, .page(old)), at: at(1)) == [])
    }

    @Test func `has caught up with a log that is trimmed up to its head, once the store says so`() {
        var core = ClientCore.online(head: 9)
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: nil), at: at(1))
        let page = ServerFrame.Page(after: 0, entries: [], head: 9, unread: 0)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1))
                == [.skipEntries(after: 0, upTo: 9), .sendFrame(1, .request(1, .settings))])
        #expect(
            core.handle(.entriesStored(upTo: 9, unread: 0), at: at(1))
                == [.sendFrame(1, ack(9)), .finishWake(1, .noData)])
        #expect(core.storedPosition == 9)
        #expect(core.handle(.frameReceived(1, .entry(entry(10))), at: at(2)) == [.storeEntries([entry(10)])])
    }

    @Test func `asks for what was written while it heard that the rest is trimmed`() {
        var core = ClientCore.online(head: 9)
        #expect(core.handle(.frameReceived(1, .entry(entry(10))), at: at(1)) == [])
        let page = ServerFrame.Page(after: 0, entries: [], head: 9, unread: 0)
        #expect(
            core.handle(.frameReceived(1, .page(page)), at: at(1))
                == [
                    .skipEntries(after: 0, upTo: 9), .sendFrame(1, .request(1, .settings)),
                    .sendFrame(1, .sync(after: 9, limit: 200)),
                ])
    }

    @Test func `begins anew when the server's log is another one`() {
        var core = ClientCore.fresh(.init(stored: 50, settled: 50))
        core.openConnection()
        let effects = core.handle(.frameReceived(1, welcome(head: 2)), at: at(0))
        #expect(effects.suffix(2) == [.resetLog(nil), .sendFrame(1, .sync(after: 0, limit: 200))])
    }

    /// Connects with a log of an origin and hears a welcome.
    private func welcomed(
        holding position: LogPosition, by greeting: (inout ServerFrame.Welcome) -> Void
    ) -> [ClientEffect] {
        let origin = LogOrigin(storeID: "0123456789abcdef", generation: 5, opening: 7)
        var core = ClientCore.fresh(.init(stored: position, settled: position, origin: origin))
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.tokenProvided("token"), at: at(0))
        guard case .sendFrame(_, .hello(let hello)) = core.handle(.connectionOpened(1), at: at(0)).last else {
            return []
        }
        #expect(hello.opening == 7 && hello.after == position)
        guard case .welcome(var frame) = welcome(head: 9) else { return [] }
        (frame.storeID, frame.generation, frame.opening) = ("0123456789abcdef", 5, 8)
        greeting(&frame)
        return core.handle(.frameReceived(1, .welcome(frame)), at: at(0))
    }

    @Test func `goes on in the log of the same store, whichever start of the server it is`() {
        let effects = self.welcomed(holding: 4) { _ in }
        #expect(effects.contains(.storeOrigin(LogOrigin(storeID: "0123456789abcdef", generation: 5, opening: 8))))
        #expect(effects.last == .sendFrame(1, .sync(after: 4, limit: 200)))
    }

    @Test(arguments: 0..<3)
    func `begins anew when a copy was put back, also one that has overtaken it`(way: Int) {
        let effects = self.welcomed(holding: 4) { welcome in
            switch way {
            case 0: welcome.generation = 6
            case 1: welcome.storeID = "fedcba9876543210"
            default: welcome.isOtherLog = true
            }
        }
        let origin = LogOrigin(
            storeID: way == 1 ? "fedcba9876543210" : "0123456789abcdef", generation: way == 0 ? 6 : 5, opening: 8)
        #expect(effects.suffix(2) == [.resetLog(origin), .sendFrame(1, .sync(after: 0, limit: 200))])
        #expect(!effects.contains { if case .sendFrame(_, .ack) = $0 { true } else { false } })
    }

    @Test func `hears again what the device could not store`() {
        var core = ClientCore.online()
        _ = core.handle(.frameReceived(1, .entry(entry(1))), at: at(1))
        #expect(core.handle(.storeFailed(reason: "disk full"), at: at(1)).contains(.close(1)))
        _ = core.handle(.deadlineReached, at: at(2))
        _ = core.handle(.connectionOpened(2), at: at(2))
        let effects = core.handle(.frameReceived(2, welcome(head: 1)), at: at(2))
        #expect(effects.last == .sendFrame(2, .sync(after: 0, limit: 200)))
    }
}

@Suite struct `A local store that is damaged` {
    @Test func `is set aside; what only the device knows is written again, and the log is synced from its start`() {
        var core = ClientCore.online(.init(stored: 4, settled: 4))
        _ = core.handle(.settingRequested(level(team, .blocked)), at: at(1))
        _ = core.handle(.settingRequested(level(withBob, .mentions)), at: at(1))
        _ = core.handle(.markReadRequested(withBob, upTo: 4), at: at(1))
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.sendRequested(draft("c2", to: team)), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let effects = core.handle(.storeDamaged(reason: "torn"), at: at(2))
        #expect(
            effects.prefix(8) == [
                .setStoreAside, .storeOutgoing(draft("c1")), .storeOutgoing(draft("c2", to: team)),
                .storeRead(withBob, upTo: 4), .storeSettings(AllSettings()), .storePendingChange(level(team, .blocked)),
                .storePendingChange(level(withBob, .mentions)), .close(1),
            ])
        #expect(core.unreadCount == 0)
        for name in ["c1", "c2"] {
            #expect(core.handle(.outgoingStored(ClientMessageID(name)), at: at(2)) == [])
        }
        _ = core.handle(.deadlineReached, at: at(3))
        #expect(core.handle(.connectionOpened(2), at: at(3)) == [.sendFrame(2, hello(after: 0))])
        let welcomed = core.handle(.frameReceived(2, welcome(head: 4)), at: at(3))
        #expect(
            welcomed.suffix(4) == [
                .sendFrame(2, .sync(after: 0, limit: 200)), .sendFrame(2, .markRead(withBob, upTo: 4)),
                .sendFrame(2, .send(draft("c1"))), .sendFrame(2, .send(draft("c2", to: team))),
            ])
        let entries = (1...4).map { entry($0) }
        _ = core.handle(.frameReceived(2, .page(.init(after: 0, entries: entries, head: 4, unread: 0))), at: at(4))
        let settings = core.handle(.entriesStored(upTo: 4, unread: 0), at: at(4)).filter {
            if case .sendFrame(2, .request) = $0 { true } else { false }
        }
        #expect(
            settings == [
                .sendFrame(2, .request(3, .setConversationSettings(team, ConversationSettings(level: .blocked)))),
                .sendFrame(2, .request(4, .setConversationSettings(withBob, ConversationSettings(level: .mentions)))),
            ])
    }
}

@Suite struct `An ack in the foreground` {
    @Test(.requirement("S0.2")) func `settles as shown what is stored, after it is stored`() {
        var core = ClientCore.online()
        #expect(
            core.hear(entry(1), at: at(1)) == [
                .publishEntries([entry(1)]), .sendFrame(1, ack(1, (1, .shown))), .storeSettled(upTo: 1),
            ])
    }

    @Test(.requirement("S0.4")) func `asks the app once what it calls who writes there, for the pushes to come`() {
        var core = ClientCore.online()
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        func learned(_ entry: LogEntry) -> [ClientEffect] {
            core.hear(entry, at: at(1)).filter { if case .learnNames = $0 { true } else { false } }
        }
        #expect(learned(entry(1)) == [.learnNames(NameQuestion(sender: bob, group: nil))])
        #expect(learned(entry(2)) == [])
        #expect(learned(entry(3, message(103, in: .group))) == [.learnNames(NameQuestion(sender: bob, group: team))])
        #expect(learned(entry(4, message(104, from: alice))) == [])
        // Without the kit there is nobody to ask.
        var alone = ClientCore.online()
        #expect(!alone.hear(entry(1), at: at(1)).contains(.learnNames(NameQuestion(sender: bob, group: nil))))
    }

    @Test func `is one number for a whole page`() {
        var core = ClientCore.online(head: 200)
        let entries = (1...200).map { entry(LogPosition($0)) }
        let page = ServerFrame.Page(after: 0, entries: entries, head: 200, unread: 9)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(1))
        #expect(
            core.handle(.entriesStored(upTo: 200, unread: 9), at: at(1)).contains(
                .sendFrame(1, ack(200, (200, .shown)))))
    }

    @Test func `is said again on the next connection until a pong proves that it arrived`() {
        var core = ClientCore.online()
        _ = core.hear(entry(1), at: at(1))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        _ = core.handle(.deadlineReached, at: at(3))
        _ = core.handle(.connectionOpened(2), at: at(3))
        let again = core.handle(.frameReceived(2, welcome(head: 1)), at: at(3))
        #expect(again.contains(.sendFrame(2, ack(1, (1, .shown)))))
        _ = core.handle(.deadlineReached, at: at(33))
        _ = core.handle(.frameReceived(2, .pong(1)), at: at(34))
        _ = core.handle(.connectionClosed(2, reason: "lost"), at: at(35))
        _ = core.handle(.deadlineReached, at: at(36))
        _ = core.handle(.connectionOpened(3), at: at(36))
        let effects = core.handle(.frameReceived(3, welcome(head: 1)), at: at(36))
        #expect(effects.contains(.sendFrame(3, ack(1))))
    }

    @Test func `of an earlier process's undecided entries follows the first welcome`() {
        var core = ClientCore.fresh(.init(stored: 7, settled: 4))
        core.openConnection()
        let effects = core.handle(.frameReceived(1, welcome(head: 7)), at: at(0))
        #expect(effects.contains(.sendFrame(1, ack(7, (7, .shown)))))
    }
}

@Suite struct `A conversation that is read` {
    @Test func `is told to the server, and again until the log confirms it`() {
        var core = ClientCore.online(.init(stored: 4, settled: 4))
        #expect(
            core.handle(.markReadRequested(withBob, upTo: 4), at: at(1)) == [
                .storeRead(withBob, upTo: 4), .clearNotifications(withBob, upTo: 4),
                .sendFrame(1, .markRead(withBob, upTo: 4)),
            ])
        #expect(core.handle(.markReadRequested(withBob, upTo: 3), at: at(1)) == [])
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        _ = core.handle(.deadlineReached, at: at(3))
        _ = core.handle(.connectionOpened(2), at: at(3))
        #expect(
            core.handle(.frameReceived(2, welcome(head: 4)), at: at(3)).contains(
                .sendFrame(2, .markRead(withBob, upTo: 4))))
        let read = LogEntry(position: 5, body: .read(conversation: withBob, upTo: 4))
        _ = core.handle(.frameReceived(2, .entry(read)), at: at(4))
        #expect(
            core.handle(.entriesStored(upTo: 5, unread: 0), at: at(4)) == [
                .publishEntries([read]), .clearNotifications(withBob, upTo: 4),
                .sendFrame(2, ack(5, (5, .suppressed(.notNotifiable)))), .storeSettled(upTo: 5),
            ])
        #expect(core.unreadCount == 0)
    }
}

import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `What a client holds in memory` {
    @Test func `grows with what waits, and shrinks with each answer`() {
        var core = ClientCore.online()
        var load = ClientLoad()
        #expect(core.load == load)
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        _ = core.handle(.requestSubmitted(1, .recall(id(3))), at: at(1))
        (load.outbox, load.requests) = (1, 1)
        #expect(core.load == load)
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        _ = core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2))
        _ = core.handle(.frameReceived(1, .answer(1, .done(1))), at: at(2))
        #expect(core.load == ClientLoad())
    }

    @Test func `counts a message until its notification is decided, and a wake until it is answered`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.wakeBegan(7, remainingMilliseconds: nil), at: at(11))
        #expect(core.load.decisions == 1)
        #expect(core.load.unsettled == 1)
        #expect(core.load.wakes == 1)
        _ = core.handle(.deadlineReached, at: at(100))
        #expect(core.load.wakes == 0)
    }

    @Test func `does not grow with what was missed: all of it waits for one thing, the app in the foreground`() {
        // An earlier process has stored a thousand entries, and a page brings more; a read and a change of settings between them.
        var core = ClientCore.fresh(.init(stored: 1_000, settled: 10), isForeground: false)
        _ = core.handle(.kitConfigured(KitSettings()), at: at(0))
        _ = core.handle(.connectRequested, at: at(0))
        _ = core.handle(.wakeBegan(1, remainingMilliseconds: 30_000), at: at(1))
        _ = core.handle(.tokenProvided("token"), at: at(1))
        _ = core.handle(.connectionOpened(1), at: at(1))
        _ = core.handle(.frameReceived(1, welcome(head: 1_006, heartbeat: 600_000)), at: at(2))
        let entries = [
            entry(1_001), LogEntry(position: 1_002, body: .read(conversation: withBob, upTo: 1)), entry(1_003),
            entry(1_004, message(204, from: alice)), LogEntry(position: 1_005, body: .unknown), entry(1_006),
        ]
        let page = ServerFrame.Page(after: 1_000, entries: entries, head: 1_006, unread: 2)
        _ = core.handle(.frameReceived(1, .page(page)), at: at(3))
        _ = core.handle(.entriesStored(upTo: 1_006, unread: 2), at: at(3))
        // The person's own message goes along: there is no leg of it.
        #expect(core.load.unsettled == 1)
        #expect(core.settledPosition == 10)
        _ = core.handle(.appWillEnterForeground, at: at(4))
        let effects = core.reconnect(2, head: 1_006, at: at(5))
        #expect(effects.contains(.sendFrame(2, ack(1_006, (1_006, .shown)))))
        #expect(core.load.unsettled == 0)
    }

    @Test func `counts each message about which somebody is asked`() {
        var core = ClientCore.inBackground()
        for position in 1...3 as ClosedRange<LogPosition> { _ = core.hear(entry(position), at: at(11)) }
        #expect(core.load.unsettled == 3)
        _ = core.handle(.namesResolved(id(102), ResolvedNames(user: nil)), at: at(12))
        #expect(core.load.unsettled == 3)
        #expect(
            core.handle(.namesResolved(id(101), ResolvedNames(user: nil)), at: at(12)).contains(
                .sendFrame(1, ack(3, (2, .suppressed(.providerMissing))))))
        #expect(core.load.unsettled == 1)
    }
}

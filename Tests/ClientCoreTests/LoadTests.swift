import ClientCore
import Testing
import TidingsModel

@Suite struct `What a client holds in memory` {
    @Test func `grows with what waits, and shrinks with each answer`() {
        var core = ClientCore.online()
        var load = ClientLoad()
        #expect(core.load == load)
        _ = core.handle(.sendWished(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        _ = core.handle(.requestWished(1, .recall(id(3))), at: at(1))
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
}

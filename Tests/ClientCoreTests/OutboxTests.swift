import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A message on its way to the server` {
    @Test func `is stored before it is sent`() {
        var core = ClientCore.online()
        #expect(core.handle(.sendRequested(draft("c1")), at: at(1)) == [.storeOutgoing(draft("c1"))])
        #expect(core.handle(.outgoingStored("c1"), at: at(1)) == [.sendFrame(1, .send(draft("c1")))])
    }

    @Test func `waits for a connection`() {
        var core = ClientCore.fresh()
        _ = core.handle(.sendRequested(draft("c1")), at: at(0))
        #expect(core.handle(.outgoingStored("c1"), at: at(0)) == [])
        core.openConnection()
        #expect(core.handle(.frameReceived(1, welcome()), at: at(0)).last == .sendFrame(1, .send(draft("c1"))))
    }

    @Test func `is sent again on the next connection, with the same id, until it is accepted`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        _ = core.handle(.connectionClosed(1, reason: "lost"), at: at(2))
        _ = core.handle(.deadlineReached, at: at(3))
        _ = core.handle(.connectionOpened(2), at: at(3))
        #expect(core.handle(.frameReceived(2, welcome()), at: at(3)).last == .sendFrame(2, .send(draft("c1"))))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        let sent = Message(
            id: id(9), app: "demo", sender: alice, conversation: withBob, clientMessageID: "c1", objectName: .text,
            content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 77)
        #expect(
            core.handle(.frameReceived(2, .sendAccepted(accepted)), at: at(4))
                == [
                    .removeOutgoing("c1"), .finishSend("c1", .accepted(sent)),
                    .sendFrame(2, .sync(after: 0, limit: 200)),
                ])
        #expect(core.handle(.frameReceived(2, .sendAccepted(accepted)), at: at(4)) == [])
    }

    @Test func `as an account is the account's, and in no log of the person's`() {
        var core = ClientCore.online()
        let place = ConversationID(type: .customerService, target: "bob")
        var asHelp = draft("c1", to: place)
        asHelp.account = "help"
        _ = core.handle(.sendRequested(asHelp), at: at(1))
        #expect(core.handle(.outgoingStored("c1"), at: at(1)) == [.sendFrame(1, .send(asHelp))])
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        let sent = Message(
            id: id(9), app: "demo", sender: "help", conversation: place, clientMessageID: "c1", objectName: .text,
            content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 77)
        #expect(
            core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2)) == [
                .removeOutgoing("c1"), .finishSend("c1", .accepted(sent)),
            ])
    }

    @Test func `stands in lists whatever it says: only a push may stand in none`() {
        var core = ClientCore.online()
        var unlisted = draft("c1")
        unlisted.flags = [.stored, .notified, .unlisted]
        _ = core.handle(.sendRequested(unlisted), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        let sent = core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2)).compactMap {
            effect -> MessageFlags? in
            if case .finishSend(_, .accepted(let message)) = effect { message.flags } else { nil }
        }
        #expect(sent == [[.stored, .notified]])
    }

    @Test func `survives a restart of the app`() {
        var core = ClientCore.fresh(.init(outbox: [draft("c1"), draft("c2", to: team)]))
        core.goOnline(1, head: 0, at: at(0))
        #expect(core.waitingToBeSent == ["c1", "c2"])
    }

    @Test func `is not overtaken by the next one in its conversation, but by one in another`() {
        var core = ClientCore.online()
        for name in ["c1", "c2"] {
            _ = core.handle(.sendRequested(draft(name)), at: at(1))
            let effects = core.handle(.outgoingStored(ClientMessageID(name)), at: at(1))
            #expect(effects.isEmpty == (name == "c2"))
        }
        _ = core.handle(.sendRequested(draft("c3", to: team)), at: at(1))
        #expect(core.handle(.outgoingStored("c3"), at: at(1)) == [.sendFrame(1, .send(draft("c3", to: team)))])
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        #expect(
            core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2)).last
                == .sendFrame(1, .send(draft("c2"))))
    }

    @Test func `is tried again when the server is busy, and given up when it is refused`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let busy = ServerFrame.Problem(code: .unavailable, rule: "try again")
        #expect(core.handle(.frameReceived(1, .sendRefused("c1", busy)), at: at(2)) == [])
        #expect(core.nextDeadline == 3_000)
        #expect(core.handle(.deadlineReached, at: at(3)) == [.sendFrame(1, .send(draft("c1")))])
        let refused = ServerFrame.Problem(code: .invalidField, field: "conversation.target", rule: "is unknown")
        #expect(
            core.handle(.frameReceived(1, .sendRefused("c1", refused)), at: at(4))
                == [.removeOutgoing("c1"), .finishSend("c1", .refused(refused))])
    }

    @Test func `goes on with the next one in its conversation when one is refused`() {
        var core = ClientCore.online()
        for name in ["c1", "c2"] {
            _ = core.handle(.sendRequested(draft(name)), at: at(1))
            _ = core.handle(.outgoingStored(ClientMessageID(name)), at: at(1))
        }
        let refused = ServerFrame.Problem(code: .invalidField, field: "content", rule: "is too long")
        #expect(
            core.handle(.frameReceived(1, .sendRefused("c1", refused)), at: at(2)) == [
                .removeOutgoing("c1"), .finishSend("c1", .refused(refused)), .sendFrame(1, .send(draft("c2"))),
            ])
    }

    @Test func `is sent again on the same connection if the server forgets to answer`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        #expect(core.nextDeadline == 16_000)
        #expect(core.handle(.deadlineReached, at: at(16)) == [.sendFrame(1, .send(draft("c1")))])
    }

    @Test func `is in the log once, though both the answer and the log tell of it`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 1)
        let effects = core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2))
        guard case .storeEntries(let entries)? = effects.last else {
            Issue.record("the own message was not stored: \(effects)")
            return
        }
        #expect(core.handle(.frameReceived(1, .entry(entries[0])), at: at(2)) == [])
    }

    @Test func `is looked for in the log when its answer does not say where it stands`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 0)
        #expect(
            core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2)).last
                == .sendFrame(1, .sync(after: 0, limit: 200)))
    }

    @Test func `is given up when the device cannot keep it`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        let effects = core.handle(.storeFailed(reason: "disk full"), at: at(1))
        // Told as lost, so that the next start must not send it.
        #expect(
            Array(effects.prefix(2)) == [.removeOutgoing("c1"), .finishSend("c1", .abandoned(reason: "disk full"))])
    }

    @Test func `counts once, though it is requested twice`() {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        #expect(core.handle(.sendRequested(draft("c1")), at: at(1)) == [])
    }
}

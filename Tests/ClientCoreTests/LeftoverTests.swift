import ClientCore
import Testing
import TidingsModel

private let mute = level(withBob, .blocked)
private let loud = level(withBob, .all)
private let refusal = ServerFrame.Problem(code: .notAMember, rule: "is no member")

/// What concerns what the store holds though it is over.
private func forgetting(_ effects: [ClientEffect]) -> [ClientEffect] {
    effects.filter {
        switch $0 {
        case .removeOutgoing, .removePendingChange, .addPendingChange: true
        default: false
        }
    }
}

/// Found by the World: a full store kept a message that was refused, and the next start sent it all the same, past one that was
/// written later; another kept a pending change that was long fulfilled.
@Suite struct `What a full store could not forget` {
    /// A core that was told that a message is refused, and whose store could not forget it.
    private func refused() -> ClientCore {
        var core = ClientCore.online()
        _ = core.handle(.sendRequested(draft("c1")), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        #expect(
            core.handle(.frameReceived(1, .sendRefused("c1", refusal)), at: at(2))
                == [.removeOutgoing("c1"), .finishSend("c1", .refused(refusal))])
        #expect(core.handle(.leftBehind(.outgoing("c1"), reason: "disk full"), at: at(2)).contains(.close(1)))
        return core
    }

    @Test func `of its outbox is forgotten at the next welcome, until the store does it`() {
        var core = self.refused()
        #expect(forgetting(core.reconnect(2, at: at(5))) == [.removeOutgoing("c1")])
        #expect(core.handle(.leftBehind(.outgoing("c1"), reason: "disk full"), at: at(6)).contains(.close(2)))
        #expect(forgetting(core.reconnect(3, at: at(9))) == [.removeOutgoing("c1")])
        #expect(forgetting(core.reconnect(4, at: at(12))) == [])
    }

    @Test func `of its outbox stays when it is sent once more`() {
        var core = self.refused()
        _ = core.handle(.sendRequested(draft("c1")), at: at(3))
        _ = core.handle(.outgoingStored("c1"), at: at(3))
        #expect(forgetting(core.reconnect(2, at: at(5))) == [])
    }

    /// A core that was told that a conversation is muted already, and whose store could not forget that it was requested.
    private func fulfilled() -> ClientCore {
        var core = ClientCore.online()
        _ = core.handle(.settingRequested(mute), at: at(1))
        #expect(core.handle(.frameReceived(1, .answer(1, .done(0))), at: at(1)) == [.addPendingChange(mute)])
        #expect(core.handle(.leftBehind(.pendingChange(mute), reason: "disk full"), at: at(1)).contains(.close(1)))
        return core
    }

    @Test func `of what was set is taken for what the log says`() {
        var core = self.fulfilled()
        #expect(forgetting(core.reconnect(2, at: at(5))) == [.addPendingChange(mute)])
        #expect(forgetting(core.reconnect(3, at: at(9))) == [])
    }

    @Test func `of what was set waits for the log, and is dropped when that says something else`() {
        var core = self.fulfilled()
        // Another device has set something else.
        let entry = LogEntry(position: 1, body: .conversationSettings(withBob, ConversationSettings(level: .all)))
        #expect(forgetting(core.reconnect(2, head: 1, at: at(5))) == [])
        let page = ServerFrame.Page(after: 0, entries: [entry], head: 1, unread: 0)
        #expect(core.handle(.frameReceived(2, .page(page)), at: at(5)) == [.storeEntries([entry])])
        #expect(forgetting(core.handle(.entriesStored(upTo: 1, unread: 0), at: at(5))) == [.removePendingChange(mute)])
    }

    @Test func `of what was set is forgotten, too, when the last page of the log brings nothing new`() {
        var core = self.fulfilled()
        _ = core.handle(.sendRequested(draft("c1")), at: at(2))
        _ = core.handle(.outgoingStored("c1"), at: at(2))
        #expect(forgetting(core.reconnect(2, head: 1, at: at(5))) == [])
        let page = ServerFrame.Page(after: 0, entries: [entry(1)], head: 1, unread: 1)
        #expect(core.handle(.frameReceived(2, .page(page)), at: at(5)) == [.storeEntries([entry(1)])])
        // The message was accepted before the connection was lost; where it stands, the answer to its repeat does not say.
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(7), sentAt: 0, position: 0)
        #expect(
            core.handle(.frameReceived(2, .sendAccepted(accepted)), at: at(5))
                .contains(.sendFrame(2, .sync(after: 1, limit: 200))))
        #expect(forgetting(core.handle(.entriesStored(upTo: 1, unread: 1), at: at(5))) == [])
        let last = ServerFrame.Page(after: 1, entries: [], head: 1, unread: 1)
        #expect(core.handle(.frameReceived(2, .page(last)), at: at(5)) == [.addPendingChange(mute)])
    }

    @Test func `of what was set is left alone when it is set anew`() {
        var core = self.fulfilled()
        _ = core.handle(.settingRequested(loud), at: at(2))
        #expect(forgetting(core.reconnect(2, at: at(5))) == [])
    }

    @Test func `goes with the person who signs out`() {
        var core = self.refused()
        _ = core.handle(.signOutRequested, at: at(3))
        #expect(forgetting(core.reconnect(2, at: at(5))) == [])
    }
}

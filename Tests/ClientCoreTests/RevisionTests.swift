import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `A message that is changed afterwards` {
    private let text = #"{"content":"new"}"#

    /// In the background, its notification shown.
    private func shown() -> ClientCore {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        _ = core.handle(.ringClaimed(id(101), .granted), at: at(11))
        _ = core.handle(.notificationPosted(id(101), .shown), at: at(11))
        return core
    }

    @Test func `keeps the notification it has when it is edited`() {
        var core = self.shown()
        let edit = LogEntry(
            position: 2, body: .edit(Edit(message: id(101), conversation: withBob, content: self.text, at: 9)))
        #expect(
            core.hear(edit, at: at(12)) == [
                .publishEntries([edit]), .sendFrame(1, ack(2, (2, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 2),
            ])
    }

    @Test func `is shown with its new text when it is edited before it is shown`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        _ = core.hear(
            LogEntry(
                position: 2, body: .edit(Edit(message: id(101), conversation: withBob, content: self.text, at: 9))),
            at: at(11))
        _ = core.handle(.namesResolved(id(101), ResolvedNames(user: "Bob")), at: at(11))
        guard case .postNotification(let shown)? = core.handle(.ringClaimed(id(101), .granted), at: at(11)).first
        else {
            Issue.record("nothing was posted")
            return
        }
        #expect(shown.body == "new")
    }

    @Test func `loses its notification and its count when the person deletes it on another device`() {
        var core = self.shown()
        let deletion = LogEntry(
            position: 2, body: .deletion(Deletion(conversation: withBob, messages: [id(90), id(101)])))
        #expect(
            core.hear(deletion, unread: 0, at: at(12)) == [
                .publishEntries([deletion]), .markRecalled(id(90)), .recallNotification(id(90), replacement: nil),
                .markRecalled(id(101)), .recallNotification(id(101), replacement: nil),
                .lowerBadge(unread: 0, position: 2),
                .sendFrame(1, ack(2, (2, .suppressed(.notNotifiable)))), .storeSettled(upTo: 2),
            ])
    }

    @Test func `is not shown when the person deletes it before`() {
        var core = ClientCore.inBackground()
        _ = core.hear(entry(1), at: at(11))
        let deletion = LogEntry(position: 2, body: .deletion(Deletion(conversation: withBob, messages: [id(101)])))
        #expect(
            core.hear(deletion, unread: 0, at: at(11)) == [
                .publishEntries([deletion]), .markRecalled(id(101)), .recallNotification(id(101), replacement: nil),
                .lowerBadge(unread: 0, position: 2), .sendFrame(1, ack(2, (2, .suppressed(.recalled)))),
                .storeSettled(upTo: 2),
            ])
    }

    @Test func `is settled without a word when its time is over, also where the app shows by itself`() {
        for kit in [KitSettings(), nil] {
            var core = ClientCore.inBackground(kit: kit)
            var late = message(101)
            late.expiresAt = at(12).wall
            #expect(
                core.hear(entry(1, late), at: at(12)) == [
                    .publishEntries([entry(1, late)]), .sendFrame(1, ack(1, (1, .suppressed(.expired)))),
                    .storeSettled(upTo: 1),
                ])
        }
    }

    @Test func `of one's own has in the log what the sender asked for`() {
        var core = ClientCore.online()
        var draft = draft("c1", to: team)
        draft.mentions = .users([bob])
        draft.recipients = [bob]
        draft.lifetimeMilliseconds = 60_000
        _ = core.handle(.sendRequested(draft), at: at(1))
        _ = core.handle(.outgoingStored("c1"), at: at(1))
        let accepted = ServerFrame.SendAccepted(clientMessageID: "c1", messageID: id(9), sentAt: 77, position: 1)
        let own = Message(
            id: id(9), app: "demo", sender: alice, conversation: team, clientMessageID: "c1", objectName: .text,
            content: draft.content, flags: .normal, pushText: nil, sentAt: 77, mentions: .users([bob]),
            recipients: [bob], expiresAt: 60_077)
        #expect(
            core.handle(.frameReceived(1, .sendAccepted(accepted)), at: at(2)) == [
                .removeOutgoing("c1"), .finishSend("c1", .accepted(own)), .storeEntries([entry(1, own)]),
            ])
    }
}

@Suite struct `A change of a conversation's members` {
    private func change(_ action: ConversationAction, by actor: UserID?) -> LogEntry {
        LogEntry(
            position: 1, body: .change(.init(conversation: team, version: 4, action: action, by: actor, at: 9)))
    }

    @Test func `rings nowhere`() {
        var core = ClientCore.inBackground()
        let entry = self.change(.rename("The team"), by: bob)
        #expect(
            core.hear(entry, at: at(11)) == [
                .publishEntries([entry]), .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))),
                .storeSettled(upTo: 1),
            ])
    }

    @Test(arguments: [(ConversationAction.leave, alice), (.remove([alice, "carol"]), bob)])
    func `takes the person's notifications and count away when they are out`(
        action: ConversationAction, actor: UserID
    ) {
        var core = ClientCore.inBackground()
        let entry = self.change(action, by: actor)
        #expect(
            core.hear(entry, unread: 0, at: at(11)) == [
                .publishEntries([entry]), .clearNotifications(team, upTo: 1), .lowerBadge(unread: 0, position: 1),
                .sendFrame(1, ack(1, (1, .suppressed(.notNotifiable)))), .storeSettled(upTo: 1),
            ])
    }

    @Test func `ends what the person has read there and the server was not told`() {
        var core = ClientCore.fresh(.init(reads: [.init(conversation: team, upTo: 1)]))
        core.goOnline(1, head: 1, at: at(0))
        _ = core.hear(self.change(.leave, by: alice), at: at(1))
        #expect(
            !core.reconnect(2, head: 1, at: at(2)).contains(.sendFrame(2, .markRead(team, upTo: 1))))
    }

    @Test func `leaves them when somebody else is out`() {
        var core = ClientCore.inBackground()
        #expect(!core.hear(self.change(.leave, by: bob), at: at(11)).contains(.clearNotifications(team, upTo: 1)))
    }
}

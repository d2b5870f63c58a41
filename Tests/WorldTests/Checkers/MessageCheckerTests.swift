import ClientCore
import OrderedCollections
import StoreModel
import Testing
import TidingsModel

@testable import World

/// A checker that cannot fail checks nothing: each is shown what it must find, and what it must let pass.
@Suite struct `The promise that what is acknowledged lasts` {
    @Test func `finds a message that the store never had, or has not under the API's name`() {
        var story = Story(DurableChecker())
        let message = story.message()
        story.emit(.acknowledged(message, to: bob1))
        story.emit(.apiAccepted(message.id))
        #expect(story.broken == ["P1", "P1"])
    }

    @Test func `finds a message that was accepted twice`() {
        var story = Story(DurableChecker())
        var message = story.accepted()
        message.id = MessageID(rawValue: message.id.rawValue + 1)
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: [])))
        #expect(story.broken == ["P1"])
    }

    @Test func `finds a phone that lacks an entry, or has another one`() {
        var story = Story(DurableChecker())
        let message = story.accepted()
        var other = WorldDisk()
        var changed = message
        changed.content = "{}"
        _ = other.carryOut(.write([LogEntry(position: 1, body: .message(changed))], for: "ann"))
        story.checkEnding([ann1: WorldDisk(), ann2: other])
        // One has neither entry nor message, the other both and both wrong.
        #expect(story.broken == ["P1", "P1", "P1", "P1"])
    }

    @Test func `lets an expired custom message have left its place only`() {
        var story = Story(DurableChecker())
        let custom = CustomMessage(
            id: MessageID(rawValue: 9), content: "{}", sentAt: story.now, expiresAt: story.now + 5)
        story.commit(
            .acceptCustom(
                CustomOperation(app: World.app, message: custom, recipients: ["ann"], clientMessageID: "x")))
        var disk = WorldDisk()
        _ = disk.carryOut(.write([LogEntry(position: 1, body: .unknown)], for: "ann"))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["P1"])
        story.wait(5)
        story.emit(.heard)
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["P1"])
    }

    @Test func `wants messages as they were last revised`() {
        var story = Story(DurableChecker())
        let edited = story.accepted()
        let before = story.disk(of: ann1)
        let edit = EditOperation(
            app: World.app, message: edited.id, actor: "bob", content: "{\"content\":\"new\"}", window: 1_000,
            at: story.now)
        story.commit(.edit(edit))
        let recalled = story.accepted()
        _ = story.recall(recalled)
        let deleted = story.accepted()
        story.commit(.delete(ann1.user, Deletion(conversation: withBob, messages: [deleted.id]), at: story.now))
        story.emit(.acknowledged(edited, to: bob1))
        story.checkEnding()
        #expect(story.broken == [])
        // The log is too short, the first text is the old one; the other messages need not be there.
        story.checkEnding([ann1: before])
        #expect(story.broken == ["P1", "P1"])
    }

    @Test func `lets a phone have the bare place of what was recalled, deleted or edited over, and of nothing else`() {
        var story = Story(DurableChecker())
        let kept = story.accepted()
        let recalled = story.accepted()
        let deleted = story.accepted()
        _ = story.recall(recalled)
        story.commit(.delete(ann1.user, Deletion(conversation: withBob, messages: [deleted.id]), at: story.now))
        func disk(_ bare: Set<LogPosition>) -> WorldDisk {
            let whole = story.disk(of: ann1).log
            var disk = WorldDisk()
            let entries = whole.map {
                bare.contains($0.position) ? LogEntry(position: $0.position, body: .unknown) : $0
            }
            _ = disk.carryOut(.write(entries, for: "ann"))
            return disk
        }
        story.checkEnding([ann1: disk([2, 3])])
        #expect(story.broken == [])
        story.checkEnding([ann1: disk([1])])
        // Neither the entry nor the message is there.
        #expect(story.broken == ["P1", "P1"])
        _ = kept
    }
}

@Suite struct `The promise that messages keep their order` {
    private func draft(_ message: Message) -> MessageDraft {
        MessageDraft(
            clientMessageID: message.clientMessageID, conversation: message.conversation, objectName: .text,
            content: message.content)
    }

    @Test func `finds one that overtook another of its device`() {
        var story = Story(OrderChecker())
        let (first, second) = (story.message(), story.message())
        story.emit(.written(self.draft(first), by: bob1))
        story.emit(.written(self.draft(second), by: bob1))
        story.accept(second)
        story.accept(first)
        story.checkEnding()
        #expect(story.broken == ["order"])
    }

    @Test func `lets them pass in the order they were written`() {
        var story = Story(OrderChecker())
        for message in [story.message(), story.message()] {
            story.emit(.written(self.draft(message), by: bob1))
            story.accept(message)
        }
        story.checkEnding()
        #expect(story.broken == [])
    }

    @Test func `finds a log in another order than that of acceptance`() {
        var story = Story(OrderChecker())
        let (first, second) = (story.accepted(), story.accepted())
        var disk = WorldDisk()
        let entries = [LogEntry(position: 1, body: .message(second)), LogEntry(position: 2, body: .message(first))]
        _ = disk.carryOut(.write(entries, for: "ann"))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["order"])
    }
}

@Suite struct `The promise that the blocked are not heard` {
    @Test func `finds a message that was accepted all the same, and the log it is in`() {
        var story = Story(BlockChecker())
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        let message = story.message()
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: [])))
        var disk = story.disk(of: ann1)
        _ = disk.carryOut(.write([LogEntry(position: 2, body: .message(message))], for: "ann"))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["block", "block"])
    }

    @Test(arguments: ConversationType.allCases.filter(\.targetIsPeer))
    func `finds a message of every kind, and what was edited or recalled all the same`(type: ConversationType) {
        var story = Story(BlockChecker())
        var message = story.message(to: ConversationID(type: type, target: "ann"))
        // As the backend's, before she blocked him.
        if type.needsAccount { story.commit(.setAccount(World.app, message.conversation, isDeclared: true)) }
        story.commit(.accept(message: message, senderDevice: nil))
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        let edit = Edit(message: message.id, conversation: message.conversation, content: "{}", at: story.now)
        let asked = EditOperation(
            app: World.app, message: message.id, actor: "bob", content: "{}", window: 1_000, at: story.now)
        story.emit(.committed(.edit(asked), .noted(.edit(edit), deliveries: [])))
        let recall = Recall(
            id: MessageID(rawValue: 9), message: message.id, conversation: message.conversation, sender: "bob",
            at: story.now)
        let operation = RecallOperation(
            id: recall.id, app: World.app, message: message.id, actor: "bob", window: 1_000, at: story.now)
        story.emit(.committed(.recall(operation), .recalled(recall, of: message, deliveries: [], shown: [])))
        #expect(story.broken == ["block", "block"])
        message = story.message(to: message.conversation)
        story.emit(.committed(.accept(message: message, senderDevice: "bob-1"), .accepted(deliveries: [])))
        #expect(story.broken.count == (type.isForBackend ? 4 : 3))
    }

    @Test func `finds what is loud in a group, rings from there, and brings the blocker into another one`() {
        var story = Story(BlockChecker())
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        story.commit(.putConversation(teamRecord))
        let loud = story.message(to: team)
        let deliveries = [Delivery(user: "ann", position: 2, unread: 1), Delivery(user: "bob", position: 1, unread: 0)]
        story.emit(.committed(.accept(message: loud, senderDevice: "bob-1"), .accepted(deliveries: deliveries)))
        #expect(story.broken == ["block"])
        let hushed = story.accepted(to: team)
        story.push(hushed, to: ann1)
        #expect(story.broken == ["block", "block"])
        let change = ConversationOperation(
            app: World.app, conversation: ConversationID(type: .group, target: "new"),
            action: .create(name: "New", portrait: nil, members: ["ann"]), actor: "bob", at: story.now)
        let made = ConversationChange(
            conversation: change.conversation, version: 1, action: change.action, by: "bob", at: story.now)
        story.emit(.committed(.change(change), .changed([MadeChange(made)])))
        #expect(story.broken == ["block", "block", "block"])
        var disk = story.disk(of: ann1)
        _ = disk.carryOut(.write([LogEntry(position: 3, body: .message(loud))], for: "ann"))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["block", "block", "block", "block"])
    }

    @Test func `lets pass what was sent before and after, and to a group`() {
        var story = Story(BlockChecker())
        _ = story.accepted()
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        story.commit(.putConversation(teamRecord))
        _ = story.accepted(to: team)
        story.commit(.setBlocked(ann1.user, "bob", false, at: story.now))
        _ = story.accepted()
        story.checkEnding()
        #expect(story.broken == [])
    }
}

@Suite struct `The promise that what is answered done is done` {
    @Test func `finds a request that the store never carried out`() {
        var story = Story(RequestChecker())
        let message = story.accepted()
        story.emit(.asked(1, .recall(message.id), by: bob1))
        story.emit(.answered(1, .answered(.done(3)), to: bob1))
        #expect(story.broken == ["P1"])
    }

    @Test func `lets pass one that it did, and one whose outcome is unknown`() {
        var story = Story(RequestChecker())
        let message = story.accepted()
        for number in 1...2 as ClosedRange<RequestNumber> {
            story.emit(.asked(number, .recall(message.id), by: bob1))
        }
        story.emit(.answered(1, .unknown, to: bob1))
        _ = story.recall(message)
        story.emit(.answered(2, .answered(.done(3)), to: bob1))
        #expect(story.broken == [])
    }

    @Test func `finds a refusal without a reason`() {
        var story = Story(RequestChecker())
        let draft = MessageDraft(clientMessageID: "c", conversation: toAnn, objectName: .text, content: "{}")
        let blocked = ServerFrame.Problem(code: .blocked, field: "conversation.target", rule: "must not have blocked")
        story.emit(.refused(draft, blocked, to: bob1))
        story.emit(.refused(draft, .init(code: .unavailable, field: "send", rule: "must wait"), to: bob1))
        #expect(story.broken == ["P1", "P1"])
        var due = Story(RequestChecker())
        due.commit(.setBlocked(ann1.user, "bob", true, at: due.now))
        due.emit(.refused(draft, blocked, to: bob1))
        #expect(due.broken == [])
    }
}

@Suite struct `The promise that custom messages come once and in the foreground` {
    private func sent(_ story: inout Story, _ counter: UInt32, lifetime: Int64? = nil) -> CustomMessage {
        let message = CustomMessage(
            id: MessageID(wallMilliseconds: story.now, node: 3, counter: counter), content: "{}", sentAt: story.now,
            expiresAt: lifetime.map { story.now + $0 })
        story.commit(
            .acceptCustom(
                CustomOperation(
                    app: World.app, message: message, recipients: ["bob"],
                    clientMessageID: ClientMessageID("x\(counter)"))))
        return message
    }

    private func handedOver(_ message: CustomMessage, at position: LogPosition, isInForeground: Bool = true) -> Fact {
        .handedOver([(position: position, message: message)], isInForeground: isInForeground, on: bob1)
    }

    @Test func `finds one that came in the background, twice, or too late`() {
        var story = Story(CustomChecker())
        let (first, second) = (self.sent(&story, 1), self.sent(&story, 2))
        story.emit(self.handedOver(second, at: 2, isInForeground: false))
        story.emit(self.handedOver(second, at: 2))
        story.emit(self.handedOver(first, at: 1))
        // The first was passed over, too.
        #expect(story.broken == ["custom", "custom", "custom", "custom"])
    }

    @Test func `finds one that came when it had expired, but for the time a phone's clock may be behind`() {
        var story = Story(CustomChecker())
        let (first, second) = (self.sent(&story, 1, lifetime: 1_000), self.sent(&story, 2, lifetime: 1_000))
        story.wait(10_999)
        story.emit(self.handedOver(first, at: 1))
        #expect(story.broken == [])
        story.wait(1)
        story.emit(self.handedOver(second, at: 2))
        #expect(story.broken == ["custom"])
    }

    @Test func `finds one that was passed over before it had expired, and lets one pass that had`() {
        var story = Story(CustomChecker())
        _ = self.sent(&story, 1, lifetime: 1_000)
        let second = self.sent(&story, 2)
        story.wait(1_000)
        story.emit(self.handedOver(second, at: 2))
        #expect(story.broken == [])
        #expect(story.checkers.marks[.expiredCustom] == 1)
        _ = self.sent(&story, 3, lifetime: 1_000)
        let fourth = self.sent(&story, 4)
        story.wait(999)
        story.emit(self.handedOver(fourth, at: 4))
        #expect(story.broken == ["custom"])
    }

    @Test func `excuses one that never came only if it had expired when everybody looked`() {
        var story = Story(CustomChecker())
        _ = self.sent(&story, 1, lifetime: 1_000)
        let second = self.sent(&story, 2, lifetime: 2_000)
        story.wait(1_000)
        story.emit(.readingProbeEnded([]))
        story.wait(5_000)
        story.emit(self.handedOver(second, at: 2))
        story.checkEnding()
        #expect(story.broken == [])
        var late = Story(CustomChecker())
        _ = self.sent(&late, 1, lifetime: 1_000)
        late.wait(999)
        late.emit(.readingProbeEnded([]))
        late.wait(5_000)
        late.checkEnding()
        #expect(late.broken == ["custom"])
    }

    @Test func `finds one that never came`() {
        var story = Story(CustomChecker())
        let (first, second) = (self.sent(&story, 1), self.sent(&story, 2))
        story.emit(self.handedOver(first, at: 1))
        story.checkEnding()
        #expect(story.broken == ["custom"])
        story.emit(self.handedOver(second, at: 2))
        story.checkEnding()
        #expect(story.broken == ["custom"])
    }
}

import ClientCore
import OrderedCollections
import StoreModel
import Testing
import TidingsModel

@testable import World

@Suite struct `The promise that the badge is right` {
    @Test func `finds a phone that counts otherwise, and an icon that says something else`() {
        var story = Story(BadgeChecker())
        _ = story.accepted()
        _ = story.accepted()
        story.judge()
        #expect(story.broken == [])
        story.judge([ann1: WorldDisk()], icons: [ann2: 1])
        #expect(story.broken == ["P4", "P4"])
    }

    @Test func `does not count what is silenced`() {
        var story = Story(BadgeChecker())
        _ = story.accepted()
        story.commit(
            .setConversationSettings(ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now))
        story.judge(icons: [ann1: 0, ann2: 0])
        #expect(story.broken == [])
    }
}

@Suite struct `The promise that all phones agree` {
    @Test func `finds what was not told`() {
        var story = Story(ConvergenceChecker())
        _ = story.accepted()
        var disk = story.disk(of: ann1)
        disk.write(.hidesContent(true))
        disk.writeRead(withBob, upTo: 1)
        disk.outbox["c"] = MessageDraft(
            clientMessageID: "c", conversation: withBob, objectName: .text, content: "{}")
        story.judge([ann1: disk])
        #expect(story.broken == ["converge", "converge", "converge"])
    }

    @Test func `finds it when everybody has looked at the app, too, and not at the end alone`() {
        var story = Story(ConvergenceChecker())
        var late = Story(DurableChecker())
        _ = (story.accepted(), late.accepted())
        story.tell(.looked(story.ending()))
        late.tell(.looked(late.ending()))
        #expect(story.broken + late.broken == [])
        var disk = story.disk(of: ann1)
        disk.write(.hidesContent(true))
        story.tell(.looked(story.ending([ann1: disk])))
        #expect(story.broken == ["converge"])
        late.tell(.looked(late.ending([ann1: WorldDisk()])))
        #expect(late.broken == ["P1"])
    }

    @Test func `finds other settings than the store's`() {
        var story = Story(ConvergenceChecker())
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        var disk = story.disk(of: ann1)
        disk.write(AllSettings())
        story.judge([ann1: disk])
        #expect(story.broken == ["converge"])
    }

    @Test func `finds a phone that is sure of the wrong members`() {
        var story = Story(ConvergenceChecker())
        let create = ConversationAction.create(name: "Team", portrait: nil, members: ["bob"])
        story.commit(
            .change(ConversationOperation(app: World.app, conversation: team, action: create, actor: "ann", at: 1)))
        var disk = story.disk(of: ann1)
        story.judge([ann1: disk])
        #expect(story.broken == [])
        disk.write(
            ConversationInfo(
                id: team, version: 1, name: "Team", portrait: nil, members: [Member("ann", role: .owner)],
                isDissolved: false))
        story.judge([ann1: disk])
        #expect(story.broken == ["converge"])
    }
}

@Suite struct `A phone's disk` {
    private func written(_ bodies: [LogEntry.Body]) -> (WorldDisk, [ConversationID]) {
        var disk = WorldDisk()
        let entries = bodies.enumerated().map { LogEntry(position: LogPosition($0.offset + 1), body: $0.element) }
        let incomplete = disk.write(entries, person: "ann").incomplete
        return (disk, incomplete)
    }

    @Test func `counts what is unread outside muted conversations, and not what was recalled, deleted or read`() {
        var story = Story(DurableChecker())
        let messages = (0..<4).map { _ in story.message() }
        let recall = Recall(
            id: MessageID(rawValue: 1), message: messages[0].id, conversation: withBob, sender: "bob", at: 0)
        let deletion = Deletion(conversation: withBob, messages: [messages[1].id])
        var (disk, _) = self.written(
            messages.map { .message($0) } + [.recall(recall), .deletion(deletion)])
        #expect(disk.unreadCount == 2)
        disk.writeRead(withBob, upTo: 3)
        #expect(disk.unreadCount == 1)
        let wish = SettingsWish.conversation(withBob, ConversationSettings(level: .blocked))
        disk.write(wish)
        #expect(disk.unreadCount == 0)
        // What comes while it is muted counts as soon as it is not.
        _ = disk.write([LogEntry(position: 7, body: .message(story.message()))], person: "ann")
        #expect(disk.unreadCount == 0)
        disk.drop(wish, isKept: false)
        #expect(disk.unreadCount == 2)
    }

    @Test func `asks for members it cannot be sure of: of a group it joins midway, and after coming back`() {
        let change = { (version: UInt64, action: ConversationAction) -> LogEntry.Body in
            .change(ConversationChange(conversation: team, version: version, action: action, by: "bob", at: 1))
        }
        #expect(self.written([change(5, .add(["ann"]))]).1 == [team])
        #expect(self.written([change(1, .create(name: "T", portrait: nil, members: ["ann"]))]).1 == [])
        #expect(self.written([change(5, .remove(["ann"]))]).1 == [])
        #expect(self.written([change(5, .remove(["ann"])), change(6, .add(["ann"]))]).1 == [team])
    }

    @Test func `hands custom messages over once, in order`() {
        let custom = { (number: UInt64) -> LogEntry.Body in
            .custom(CustomMessage(id: MessageID(rawValue: number), content: "{}", sentAt: 0))
        }
        var (disk, _) = self.written([custom(7), custom(8)])
        #expect(disk.takeCustomMessages(wall: 0).map(\.message.id.rawValue) == [7, 8])
        #expect(disk.takeCustomMessages(wall: 0).isEmpty)
    }
}

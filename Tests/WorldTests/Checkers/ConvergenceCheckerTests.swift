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
        story.checkEnding()
        #expect(story.broken == [])
        story.checkEnding([ann1: WorldDisk()], icons: [ann2: 1])
        #expect(story.broken == ["P4", "P4"])
    }

    @Test func `does not count what is silenced`() {
        var story = Story(BadgeChecker())
        _ = story.accepted()
        story.commit(
            .setConversationSettings(ann1.user, withBob, ConversationSettings(level: .blocked), at: story.now))
        story.checkEnding(icons: [ann1: 0, ann2: 0])
        #expect(story.broken == [])
    }
}

@Suite struct `The promise that all phones agree` {
    @Test func `finds what was not told`() {
        var story = Story(ConvergenceChecker())
        _ = story.accepted()
        var disk = story.disk(of: ann1)
        _ = disk.carryOut(.addPendingChange(.hidesContent(true)))
        _ = disk.carryOut(.markRead(withBob, upTo: 1))
        let draft = MessageDraft(clientMessageID: "c", conversation: withBob, objectName: .text, content: "{}")
        _ = disk.carryOut(.keepOutgoing(draft))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["converge", "converge", "converge"])
    }

    @Test func `finds it when everybody has looked at the app, too, and not at the end alone`() {
        var story = Story(ConvergenceChecker())
        var late = Story(DurableChecker())
        _ = (story.accepted(), late.accepted())
        story.emit(.looked(story.ending()))
        late.emit(.looked(late.ending()))
        #expect(story.broken + late.broken == [])
        var disk = story.disk(of: ann1)
        _ = disk.carryOut(.addPendingChange(.hidesContent(true)))
        story.emit(.looked(story.ending([ann1: disk])))
        #expect(story.broken == ["converge"])
        late.emit(.looked(late.ending([ann1: WorldDisk()])))
        #expect(late.broken == ["P1"])
    }

    @Test func `finds other settings than the store's`() {
        var story = Story(ConvergenceChecker())
        story.commit(.setBlocked(ann1.user, "bob", true, at: story.now))
        var disk = story.disk(of: ann1)
        _ = disk.carryOut(.replaceSettings(AllSettings()))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["converge"])
    }

    @Test func `finds a phone that is sure of the wrong members`() {
        var story = Story(ConvergenceChecker())
        let create = ConversationAction.create(name: "Team", portrait: nil, members: ["bob"])
        story.commit(
            .change(ConversationOperation(app: World.app, conversation: team, action: create, actor: "ann", at: 1)))
        var disk = story.disk(of: ann1)
        story.checkEnding([ann1: disk])
        #expect(story.broken == [])
        let info = ConversationInfo(
            id: team, version: 1, name: "Team", portrait: nil, members: [Member("ann", role: .owner)],
            isDissolved: false)
        _ = disk.carryOut(.keepConversation(info))
        story.checkEnding([ann1: disk])
        #expect(story.broken == ["converge"])
    }
}

@Suite struct `A phone's store` {
    private func written(_ bodies: [LogEntry.Body]) -> (MemoryLocalStore, [ConversationID]) {
        var store = MemoryLocalStore()
        let entries = bodies.enumerated().map { LogEntry(position: LogPosition($0.offset + 1), body: $0.element) }
        guard case .written(let written) = store.carryOut(.write(entries, for: "ann")) else { return (store, []) }
        return (store, written.incomplete)
    }

    @Test func `counts what is unread outside muted conversations, and not what was recalled, deleted or read`() {
        var story = Story(DurableChecker())
        let messages = (0..<4).map { _ in story.message() }
        let recall = Recall(
            id: MessageID(rawValue: 1), message: messages[0].id, conversation: withBob, sender: "bob", at: 0)
        let deletion = Deletion(conversation: withBob, messages: [messages[1].id])
        var (store, _) = self.written(
            messages.map { .message($0) } + [.recall(recall), .deletion(deletion)])
        #expect(store.counts().unread == 2)
        #expect(store.carryOut(.markRead(withBob, upTo: 3)) == .counted(1))
        // A reading position never goes back.
        #expect(store.carryOut(.markRead(withBob, upTo: 1)) == .counted(1))
        let pendingChange = PendingSettingsChange.conversation(withBob, ConversationSettings(level: .blocked))
        #expect(store.carryOut(.addPendingChange(pendingChange)) == .counted(0))
        // What comes while it is muted counts as soon as it is not.
        _ = store.carryOut(.write([LogEntry(position: 7, body: .message(story.message()))], for: "ann"))
        #expect(store.counts().unread == 0)
        #expect(store.carryOut(.removePendingChange(pendingChange, isKept: false)) == .counted(2))
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
        var (store, _) = self.written([custom(7), custom(8)])
        guard case .custom(let messages) = store.carryOut(.takeCustomMessages(wall: 0)) else {
            Issue.record("nothing was handed over")
            return
        }
        #expect(messages.map(\.id.rawValue) == [7, 8])
        #expect(store.carryOut(.takeCustomMessages(wall: 0)) == .custom([]))
    }
}

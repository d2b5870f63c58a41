import Testing
import TidingsModel

@testable import ClientCore

@Suite struct `What is known on a phone` {
    private let withBob = ConversationID(type: .direct, target: "bob")

    private func message(_ id: UInt64) -> Message {
        Message(
            id: MessageID(rawValue: id), app: "demo", sender: "bob",
            conversation: ConversationID(type: .direct, target: "alice"), clientMessageID: ClientMessageID("c\(id)"),
            objectName: .text, content: #"{"content":"hi"}"#, flags: .normal, pushText: nil, sentAt: 5)
    }

    private func entry(_ position: LogPosition, _ id: UInt64) -> LogEntry {
        LogEntry(position: position, body: .message(self.message(id)))
    }

    private func store(_ entries: [LogEntry]) -> MemoryLocalStore {
        var store = MemoryLocalStore()
        _ = store.carryOut(.write(entries, for: "alice"))
        return store
    }

    @Test func `is a message whose entry was written, read or not, and also when it was recalled`() {
        var store = self.store([self.entry(1, 101), self.entry(2, 102)])
        _ = store.carryOut(.markRead(self.withBob, upTo: 1))
        let recall = Recall(
            id: MessageID(rawValue: 103), message: MessageID(rawValue: 102), conversation: self.withBob, sender: "bob",
            at: 6)
        _ = store.carryOut(.write([LogEntry(position: 3, body: .recall(recall))], for: "alice"))
        #expect((101...103).map { store.isKnown(MessageID(rawValue: $0)) } == [true, true, false])
    }

    @Test func `is nothing that the server has trimmed, though its position is below the stored one`() {
        var store = self.store([self.entry(1, 101)])
        #expect(
            store.carryOut(.skip(after: 1, upTo: 5))
                == .written(LocalStoreOutcome.Written(stored: 5, unread: 1)))
        _ = store.carryOut(.write([self.entry(6, 106)], for: "alice"))
        // A push of the message at position 3 rings: it never came.
        #expect((101...106).map { store.isKnown(MessageID(rawValue: $0)) } == [true, false, false, false, false, true])
    }

    @Test func `is what the server has lost, which stands in no log`() {
        var store = self.store([self.entry(1, 101), self.entry(2, 102)])
        _ = store.carryOut(.resetLog(nil))
        _ = store.carryOut(.write([self.entry(1, 101)], for: "alice"))
        #expect(store.isKnown(MessageID(rawValue: 102)))
        #expect(store.position(of: MessageID(rawValue: 102)) == nil)
        #expect(store.position(of: MessageID(rawValue: 101)) == 1)
    }

    @Test func `counts a recalled message as read, and says of an edited one what it says now`() {
        var store = self.store([self.entry(1, 101), self.entry(2, 102)])
        let recall = Recall(
            id: MessageID(rawValue: 103), message: MessageID(rawValue: 101), conversation: self.withBob, sender: "bob",
            at: 6)
        #expect(
            store.carryOut(.write([LogEntry(position: 3, body: .recall(recall))], for: "alice"))
                == .written(.init(stored: 3, unread: 1)))
        #expect(store.message(MessageID(rawValue: 101))?.isUnread == false)
        #expect(store.message(MessageID(rawValue: 101))?.isRecalled == true)
        let edit = Edit(
            message: MessageID(rawValue: 102), conversation: self.withBob, content: #"{"content":"hello"}"#, at: 7)
        #expect(
            store.carryOut(.write([LogEntry(position: 4, body: .edit(edit))], for: "alice"))
                == .written(.init(stored: 4, unread: 1)))
        #expect(store.message(MessageID(rawValue: 102))?.message.content == #"{"content":"hello"}"#)
        #expect(store.message(MessageID(rawValue: 102))?.isEdited == true)
    }

    @Test func `counts no change as told to a server whose log is another one`() {
        var store = self.store([self.entry(1, 101)])
        let hides = PendingSettingsChange.hidesContent(true)
        _ = store.carryOut(.addPendingChange(hides))
        _ = store.carryOut(.markPendingChange(hides, isTold: true))
        #expect(store.restored().told == [hides])
        _ = store.carryOut(.resetLog(nil))
        #expect(store.restored().told == [])
        #expect(store.restored().pendingChanges == [hides])
    }

    @Test func `is nothing that was deleted, and nothing after the store was begun anew`() {
        var store = self.store([self.entry(1, 101), self.entry(2, 102)])
        let deletion = Deletion(conversation: self.withBob, messages: [MessageID(rawValue: 101)])
        _ = store.carryOut(.write([LogEntry(position: 3, body: .deletion(deletion))], for: "alice"))
        #expect(!store.isKnown(MessageID(rawValue: 101)))
        _ = store.carryOut(.beginAnew)
        #expect(!store.isKnown(MessageID(rawValue: 102)))
    }

    @Test func `tells the core the same of every store`() {
        let command = LocalStoreCommand.write([self.entry(1, 101)], for: "alice")
        let group = ConversationID(type: .group, target: "team")
        let written = LocalStoreOutcome.Written(
            stored: 1, unread: 2, incomplete: [group], reads: [.init(conversation: self.withBob, upTo: 1)])
        #expect(
            command.events(after: .written(written)) == [
                .entriesStored(upTo: 1, unread: 2), .conversationsIncomplete([group]),
                .markReadRequested(self.withBob, upTo: 1),
            ])
        #expect(command.failure(reason: "full") == .storeFailed(reason: "full"))
        let hides = PendingSettingsChange.hidesContent(true)
        #expect(
            LocalStoreCommand.removePendingChange(hides, isKept: true).failure(reason: "full")
                == .leftBehind(.pendingChange(hides), reason: "full"))
        #expect(
            LocalStoreCommand.removeOutgoing("o").failure(reason: "full") == .leftBehind(.outgoing("o"), reason: "full")
        )
        let draft = MessageDraft(clientMessageID: "o", conversation: self.withBob, objectName: .text, content: "x")
        #expect(LocalStoreCommand.keepOutgoing(draft).events(after: .done) == [.outgoingStored("o")])
        #expect(LocalStoreCommand.settle(upTo: 1).events(after: .done) == [])
        #expect(LocalStoreCommand.addPendingChange(hides).events(after: .counted(3)) == [.unreadCounted(3)])
    }
}

import Foundation
import GRDB
import Testing
import TidingsAppGroup
import TidingsModel

@testable import ClientCore
@testable import TidingsClient

@Suite final class `The local store` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
    private var file: URL { self.folder.appendingPathComponent("store.sqlite") }
    private let withBob = ConversationID(type: .direct, target: "bob")

    deinit { try? FileManager.default.removeItem(at: self.folder) }

    private func entry(_ position: LogPosition, flags: MessageFlags = .normal, from sender: UserID = "bob") -> LogEntry
    {
        let target = sender == "alice" ? "bob" : "alice"
        return LogEntry(
            position: position,
            body: .message(
                Message(
                    id: MessageID(rawValue: .max - 1_000 + position), app: "demo", sender: sender,
                    conversation: ConversationID(type: .direct, target: target),
                    clientMessageID: ClientMessageID("c\(position)"), objectName: .text,
                    content: #"{"content":"\#(position)"}"#, flags: flags, pushText: position == 2 ? "push" : nil,
                    sentAt: 5)))
    }

    @Test func `lists no conversation for a push without one, and keeps it in the history`() throws {
        let store = try LocalStore(file: self.file)
        let push: MessageFlags = [.stored, .notified, .unlisted]
        _ = try store.writeEntries([self.entry(1, flags: push)], person: "alice")
        #expect(try store.conversations(wall: 0) == [])
        #expect(try store.history(self.withBob, before: nil, limit: 9).map(\.position) == [1])
        _ = try store.writeEntries([self.entry(2), self.entry(3, flags: push)], person: "alice")
        #expect(try store.conversations(wall: 0).map(\.last.position) == [2])
        #expect(try store.newestInHistory(self.withBob) == MessageID(rawValue: .max - 998))
    }

    @Test func `gives back what was written, also after it was opened anew`() throws {
        var store = try LocalStore(file: self.file)
        let written = try store.writeEntries((1...3).map { self.entry($0) }, person: "alice")
        #expect(written.stored == 3)
        #expect(written.unread == 3)
        _ = try store.carryOut(.settle(upTo: 2))
        let draft = MessageDraft(
            clientMessageID: "out", conversation: self.withBob, objectName: .text, content: "x", pushText: "p")
        try store.writeOutgoing(draft)
        #expect(try store.writeRead(self.withBob, upTo: 2) == 1)
        let mute = PendingSettingsChange.conversation(self.withBob, ConversationSettings(level: .blocked))
        #expect(try store.writePendingChange(mute) == 0)
        store = try LocalStore(file: self.file)
        #expect(store.setAside == nil)
        #expect(
            try store.restored()
                == ClientCore.Restored(
                    stored: 3, settled: 2, outbox: [draft], reads: [.init(conversation: self.withBob, upTo: 2)],
                    unread: 0, pendingChanges: [mute]))
        #expect(try store.counts().unreadWithMuted == 1)
        let history = try store.history(self.withBob, before: nil, limit: 2)
        #expect(history.map(\.position) == [2, 3])
        #expect(history.first.map { LogEntry(position: $0.position, body: .message($0.message)) } == self.entry(2))
        #expect(try store.history(self.withBob, before: 2, limit: 9).map(\.position) == [1])
    }

    private func draft(_ id: ClientMessageID) -> MessageDraft {
        MessageDraft(clientMessageID: id, conversation: self.withBob, objectName: .text, content: "x")
    }

    private func outbox(_ store: LocalStore) throws -> [ClientMessageID] {
        try store.restored().outbox.map(\.clientMessageID)
    }

    @Test func `sends nothing again that has ended while it could not write`() throws {
        var store = try LocalStore(file: self.file)
        for id in ["refused", "waits", "accepted"] as [ClientMessageID] { try store.writeOutgoing(self.draft(id)) }
        try store.refuseRemovals(true)
        try store.removeOutgoing("refused")
        try store.removeOutgoing("accepted")
        // What was never written is nothing to forget.
        try store.removeOutgoing("never")
        #expect(try self.outbox(store) == ["waits"])
        // As after the end of the process, the phone still full.
        store = try LocalStore(file: self.file)
        #expect(try self.outbox(store) == ["waits"])
        _ = try store.carryOut(.settle(upTo: 1))
        store = try LocalStore(file: self.file)
        #expect(try self.outbox(store) == ["waits"])
        #expect(try store.outboxRows() == 3)
        // Room again: the next write takes them out, and a new message may have the id of an old one.
        try store.refuseRemovals(false)
        try store.writeOutgoing(self.draft("refused"))
        #expect(try store.outboxRows() == 2)
        store = try LocalStore(file: self.file)
        #expect(try self.outbox(store) == ["waits", "refused"])
    }

    @Test func `forgets with a damaged store what had ended in it`() throws {
        let store = try LocalStore(file: self.file)
        try store.writeOutgoing(self.draft("refused"))
        try store.refuseRemovals(true)
        try store.removeOutgoing("refused")
        _ = try store.renew()
        // The new one counts from the beginning.
        try store.writeOutgoing(self.draft("waits"))
        #expect(try self.outbox(store) == ["waits"])
        #expect(try self.outbox(LocalStore(file: self.file)) == ["waits"])
    }

    @Test func `notes what has ended in a file that never grows, and says when that is full`() throws {
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        let file = self.folder.appendingPathComponent("x.ended")
        var ended = EndedSends(file: file)
        let size = try Data(contentsOf: file).count
        for number in 1...Int64(EndedSends.max) { try ended.append(number) }
        try ended.append(1)
        #expect(throws: CocoaError.self) { try ended.append(9_999) }
        #expect(ended.numbers.last == 9_999)
        #expect(EndedSends(file: file).numbers == Array(1...Int64(EndedSends.max)))
        // A slot that was written in part is none, and is not written over.
        var bytes = try Data(contentsOf: file)
        bytes[17] ^= 1
        bytes.replaceSubrange(48..<bytes.count, with: Data(count: bytes.count - 48))
        try bytes.write(to: file)
        var torn = EndedSends(file: file)
        #expect(torn.numbers == [1, 3])
        try torn.append(4)
        #expect(EndedSends(file: file).numbers == [1, 3, 4])
        try torn.removeAll()
        #expect(EndedSends(file: file).numbers == [])
        #expect(try Data(contentsOf: file).count == size)
    }

    @Test func `never writes past a gap, so that a failed write is fetched again`() throws {
        let store = try LocalStore(file: self.file)
        #expect(try store.writeEntries([self.entry(1)], person: "alice").stored == 1)
        #expect(try store.writeEntries([self.entry(3)], person: "alice").stored == 1)
        #expect(try store.writeEntries([self.entry(2), self.entry(3)], person: "alice").stored == 3)
        #expect(try store.history(self.withBob, before: nil, limit: 9).map(\.position) == [1, 2, 3])
    }

    @Test func `takes an entry once`() throws {
        let store = try LocalStore(file: self.file)
        _ = try store.writeEntries([self.entry(1), self.entry(2)], person: "alice")
        let again = try store.writeEntries([self.entry(1), self.entry(2), self.entry(3)], person: "alice")
        #expect(again.stored == 3)
        #expect(again.unread == 3)
    }

    @Test func `counts neither own messages nor those that do not count nor those read elsewhere`() throws {
        let store = try LocalStore(file: self.file)
        _ = try store.writeEntries(
            [self.entry(1, from: "alice"), self.entry(2, flags: .stored), self.entry(3), self.entry(4)],
            person: "alice")
        #expect(try store.counts().unread == 2)
        let read = LogEntry(position: 5, body: .read(conversation: self.withBob, upTo: 3))
        #expect(try store.writeEntries([read], person: "alice").unread == 1)
    }

    @Test func `confirms a reading position by the log`() throws {
        let store = try LocalStore(file: self.file)
        _ = try store.writeEntries([self.entry(1)], person: "alice")
        _ = try store.writeRead(self.withBob, upTo: 1)
        _ = try store.writeEntries(
            [LogEntry(position: 2, body: .read(conversation: self.withBob, upTo: 1))], person: "alice")
        #expect(try store.restored().reads == [])
    }

    @Test func `has nothing to tell of reading where the person is out`() throws {
        let bench = try StoreBench()
        try bench.appendText("a")
        _ = try bench.store.writeRead(team, upTo: 1)
        _ = try bench.change(7, .remove(["alice"]))
        #expect(try bench.store.restored().reads == [])
        #expect(try bench.store.counts().unread == 0)
    }

    @Test func `sets a damaged file aside and begins anew`() throws {
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try Data(repeating: 0x5a, count: 8_192).write(to: self.file)
        let store = try LocalStore(file: self.file)
        #expect(try store.restored() == ClientCore.Restored())
        let aside = try #require(store.setAside)
        #expect(try Data(contentsOf: aside) == Data(repeating: 0x5a, count: 8_192))
    }

    @Test(arguments: [
        "PRAGMA user_version = 4", "PRAGMA user_version = 0", "PRAGMA user_version = -1",
        "DROP TABLE message; PRAGMA user_version = 0",
    ])
    func `sets a file of another version aside and begins anew`(change: String) throws {
        do {
            let store = try LocalStore(file: self.file)
            _ = try store.writeEntries([self.entry(1)], person: "alice")
            #expect(try store.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 3)
            try store.close()
        }
        let before = try DatabaseQueue(path: self.file.path)
        try before.write { try $0.execute(sql: change) }
        try before.close()
        let store = try LocalStore(file: self.file)
        #expect(store.setAside?.lastPathComponent == "store.sqlite.damaged")
        #expect(try store.restored() == ClientCore.Restored())
        #expect(try store.writeEntries([self.entry(1)], person: "alice").stored == 1)
        try store.close()
        let again = try LocalStore(file: self.file)
        #expect(again.setAside == nil)
        #expect(try again.restored().stored == 1)
    }

    @Test func `makes its tables in a file that is still empty`() throws {
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try Data().write(to: self.file)
        let store = try LocalStore(file: self.file)
        #expect(store.setAside == nil)
        #expect(try store.writeEntries([self.entry(1)], person: "alice").stored == 1)
    }

    @Test func `sets a file aside whose pages are damaged`() throws {
        do {
            let store = try LocalStore(file: self.file)
            for position in LogPosition(1)...200 { _ = try store.writeEntries([self.entry(position)], person: "alice") }
            try store.close()
        }
        let handle = try FileHandle(forWritingTo: self.file)
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: 4_096)
        try handle.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 4_096))
        try handle.close()
        let store = try LocalStore(file: self.file)
        #expect(store.setAside != nil)
        #expect(try store.restored() == ClientCore.Restored())
    }

    @Test func `forgets the log and keeps what waits to be sent`() throws {
        let store = try LocalStore(file: self.file)
        _ = try store.writeEntries([self.entry(1)], person: "alice")
        let draft = MessageDraft(clientMessageID: "out", conversation: self.withBob, objectName: .text, content: "x")
        try store.writeOutgoing(draft)
        try store.resetLog(nil)
        #expect(try store.restored() == ClientCore.Restored(outbox: [draft]))
        try store.forgetAll()
        #expect(try store.restored() == ClientCore.Restored())
    }

    @Test func `keeps what the server has lost, in its place between what it has`() throws {
        let store = try LocalStore(file: self.file)
        func writeMessages(_ ids: [UInt64]) throws -> LocalStore.Written {
            try store.writeEntries(
                ids.enumerated().map { index, id in
                    guard case .message(var message) = self.entry(LogPosition(index + 1)).body else {
                        return self.entry(LogPosition(index + 1))
                    }
                    message.id = MessageID(rawValue: id)
                    message.clientMessageID = ClientMessageID("c\(id)")
                    return LogEntry(position: LogPosition(index + 1), body: .message(message))
                }, person: "alice")
        }
        func history(_ before: LogPosition? = nil, _ limit: Int = 50) throws -> [StoredMessage] {
            try store.history(self.withBob, before: before, limit: limit)
        }
        let first = LogOrigin(storeID: "0123456789abcdef", generation: 1, opening: 2)
        _ = try store.carryOut(.keepOrigin(first))
        #expect(try writeMessages([1, 2, 3, 4]).unread == 4)
        #expect(try store.writeRead(self.withBob, upTo: 2) == 2)
        let second = LogOrigin(storeID: "0123456789abcdef", generation: 7, opening: 8)
        for _ in 1...2 {
            // A second time before anything came, as after a crash.
            try store.resetLog(second)
            #expect(try store.restored() == ClientCore.Restored(origin: second))
            #expect(try history().map(\.id.rawValue) == [1, 2, 3, 4])
            #expect(try history().allSatisfy(\.isOnlyHere))
        }
        let written = try writeMessages([1, 2, 5, 6, 7])
        #expect(written.unread == 3, "what was read stays read")
        #expect(written.reads == [ClientCore.ReadPosition(conversation: self.withBob, upTo: 2)])
        let all = try history()
        #expect(all.map(\.id.rawValue) == [1, 2, 3, 4, 5, 6, 7])
        #expect(all.filter(\.isOnlyHere).map(\.id.rawValue) == [3, 4])
        #expect(all.filter { !$0.isOnlyHere }.map(\.position) == [1, 2, 3, 4, 5])
        #expect(try store.conversations(wall: 0).map(\.last.id.rawValue) == [7])
        // Page by page, whatever stands at the edge.
        var paged: [UInt64] = []
        var before: LogPosition?
        while case let page = try history(before, 2), let last = page.first {
            paged = page.map(\.id.rawValue) + paged
            before = last.position
        }
        #expect(paged == [1, 2, 3, 4, 5, 6, 7])
        // The server was restored once more, from the lost line: nothing is there twice.
        try store.resetLog(first)
        _ = try writeMessages([1, 2, 3, 4])
        #expect(try history().map(\.id.rawValue) == [1, 2, 3, 4, 5, 6, 7])
        #expect(try history().filter(\.isOnlyHere).map(\.id.rawValue) == [5, 6, 7])
    }
}

extension LocalStore {
    /// From now on the database refuses to take anything out of the outbox, as a full phone does.
    func refuseRemovals(_ refuses: Bool) throws {
        try self.current.withLock { current in
            try current.queue?.write { database in
                try database.execute(
                    sql: refuses
                        ? """
                        CREATE TRIGGER refuse BEFORE DELETE ON outbox
                        BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END
                        """ : "DROP TRIGGER refuse")
            }
        }
    }

    func outboxRows() throws -> Int? {
        try self.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox") }
    }
}

import ClientCore
import Foundation
import Testing
import TidingsModel

@testable import TidingsClient

@Suite struct `The local store` {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
    private var file: URL { self.folder.appendingPathComponent("store.sqlite") }
    private let withBob = ConversationID(type: .direct, target: "bob")

    private func entry(_ position: LogPosition, flags: MessageFlags = .normal, from sender: UserID = "bob") -> LogEntry
    {
        let target = sender == "alice" ? "bob" : "alice"
        return LogEntry(
            position: position,
            body: .message(
                Message(
                    id: MessageID(rawValue: .max - position), app: "demo", sender: sender,
                    conversation: ConversationID(type: .direct, target: target),
                    clientMessageID: ClientMessageID("c\(position)"), objectName: .text,
                    content: #"{"content":"\#(position)"}"#, flags: flags, pushText: position == 2 ? "push" : nil,
                    sentAt: 5)))
    }

    @Test func `gives back what was written, also after it was opened anew`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        var store = try LocalStore(file: self.file)
        let written = try store.write((1...3).map { self.entry($0) }, person: "alice")
        #expect(written.stored == 3)
        #expect(written.unread == 3)
        try store.writeSettled(2)
        let draft = MessageDraft(
            clientMessageID: "out", conversation: self.withBob, objectName: .text, content: "x", pushText: "p")
        try store.writeOutgoing(draft)
        #expect(try store.writeRead(self.withBob, upTo: 2) == 1)
        let mute = SettingsWish.conversation(self.withBob, ConversationSettings(level: .blocked))
        #expect(try store.write(mute) == 0)
        store = try LocalStore(file: self.file)
        #expect(store.setAside == nil)
        #expect(
            try store.restored()
                == ClientCore.Restored(
                    stored: 3, settled: 2, outbox: [draft], reads: [.init(conversation: self.withBob, upTo: 2)],
                    unread: 0, wishes: [mute]))
        #expect(try store.counts().unreadWithMuted == 1)
        let history = try store.history(self.withBob, before: nil, limit: 2)
        #expect(history.map(\.position) == [2, 3])
        #expect(history.first.map { LogEntry(position: $0.position, body: .message($0.message)) } == self.entry(2))
        #expect(try store.history(self.withBob, before: 2, limit: 9).map(\.position) == [1])
    }

    @Test func `never writes past a gap, so that a failed write is fetched again`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try LocalStore(file: self.file)
        #expect(try store.write([self.entry(1)], person: "alice").stored == 1)
        #expect(try store.write([self.entry(3)], person: "alice").stored == 1)
        #expect(try store.write([self.entry(2), self.entry(3)], person: "alice").stored == 3)
        #expect(try store.history(self.withBob, before: nil, limit: 9).map(\.position) == [1, 2, 3])
    }

    @Test func `takes an entry once`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try LocalStore(file: self.file)
        _ = try store.write([self.entry(1), self.entry(2)], person: "alice")
        let again = try store.write([self.entry(1), self.entry(2), self.entry(3)], person: "alice")
        #expect(again.stored == 3)
        #expect(again.unread == 3)
    }

    @Test func `counts neither own messages nor those that do not count nor those read elsewhere`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try LocalStore(file: self.file)
        _ = try store.write(
            [self.entry(1, from: "alice"), self.entry(2, flags: .stored), self.entry(3), self.entry(4)],
            person: "alice")
        #expect(try store.counts().unread == 2)
        let read = LogEntry(position: 5, body: .read(conversation: self.withBob, upTo: 3))
        #expect(try store.write([read], person: "alice").unread == 1)
    }

    @Test func `confirms a reading position by the log`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try LocalStore(file: self.file)
        _ = try store.write([self.entry(1)], person: "alice")
        _ = try store.writeRead(self.withBob, upTo: 1)
        _ = try store.write([LogEntry(position: 2, body: .read(conversation: self.withBob, upTo: 1))], person: "alice")
        #expect(try store.restored().reads == [])
    }

    @Test func `has nothing to tell of reading where the person is out`() throws {
        let bench = try StoreBench()
        try bench.say("a")
        _ = try bench.store.writeRead(team, upTo: 1)
        _ = try bench.change(7, .remove(["alice"]))
        #expect(try bench.store.restored().reads == [])
        #expect(try bench.store.count().unread == 0)
    }

    @Test func `sets a damaged file aside and begins anew`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        try Data(repeating: 0x5a, count: 8_192).write(to: self.file)
        let store = try LocalStore(file: self.file)
        #expect(try store.restored() == ClientCore.Restored())
        let aside = try #require(store.setAside)
        #expect(try Data(contentsOf: aside) == Data(repeating: 0x5a, count: 8_192))
    }

    @Test func `sets a file aside whose pages are damaged`() throws {
        defer { try? FileManager.default.removeItem(at: self.folder) }
        do {
            let store = try LocalStore(file: self.file)
            for position in LogPosition(1)...200 { _ = try store.write([self.entry(position)], person: "alice") }
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
        defer { try? FileManager.default.removeItem(at: self.folder) }
        let store = try LocalStore(file: self.file)
        _ = try store.write([self.entry(1)], person: "alice")
        let draft = MessageDraft(clientMessageID: "out", conversation: self.withBob, objectName: .text, content: "x")
        try store.writeOutgoing(draft)
        try store.resetLog()
        #expect(try store.restored() == ClientCore.Restored(outbox: [draft]))
        try store.forgetAll()
        #expect(try store.restored() == ClientCore.Restored())
    }
}

import Foundation
import GRDB
import Logging
import MessageStore
import StoreModel
import TidingsModel

#if canImport(Glibc)
    import Glibc
#endif

/// A store in a folder of its own, and messages for it.
final class StoreRig {
    let folder: URL
    private(set) var store: MessageStore
    private var lastID: UInt64 = 0

    static let app: AppID = "shop"
    static let reader = UserKey(app: StoreRig.app, user: "reader")

    init(_ configuration: MessageStoreConfiguration = MessageStoreConfiguration()) throws {
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidings-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        self.store = try Self.open(self.folder, configuration)
    }

    private static func open(
        _ folder: URL, _ configuration: MessageStoreConfiguration = MessageStoreConfiguration()
    ) throws -> MessageStore {
        let quiet = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
        return try MessageStore(
            path: folder.appendingPathComponent("store.sqlite").path, configuration: configuration, logger: quiet)
    }

    /// Closes the store in good order, so that everything is derived.
    func close() { self.store.close() }

    func reopen() throws { self.store = try Self.open(self.folder) }

    func remove() {
        self.store.close()
        try? FileManager.default.removeItem(at: self.folder)
    }

    /// The next message.
    func message(from sender: UserID, to conversation: ConversationID) -> StoreCommand {
        self.lastID += 1
        return .accept(
            message: Message(
                id: MessageID(rawValue: self.lastID), app: Self.app, sender: sender, conversation: conversation,
                clientMessageID: ClientMessageID("c\(self.lastID)"), objectName: .text,
                content: #"{"content":"See you at seven?"}"#, flags: .normal, pushText: nil,
                sentAt: 1_800_000_000_000 + Int64(self.lastID)),
            senderDevice: nil)
    }

    /// Gives the reader messages, in turn from as many people as there are conversations.
    func fill(messages: Int, conversations: Int) async throws {
        let reader = ConversationID(type: .direct, target: Self.reader.user.rawValue)
        var left = messages
        var number = 0
        while left > 0 {
            let batch = (0..<min(left, 1_000)).map { _ in
                number += 1
                return self.message(from: UserID("sender\(number % conversations)"), to: reader)
            }
            _ = try await self.store.apply(batch)
            left -= batch.count
        }
    }

    /// A group of so many members, "member0" and on.
    func makeGroup(members: Int) async throws -> ConversationID {
        let group = ConversationID(type: .group, target: "group")
        let record = ConversationRecord(
            app: Self.app, conversation: group, name: "Group", members: (0..<members).map { UserID("member\($0)") })
        _ = try await self.store.apply([.putConversation(record)])
        return group
    }

    /// What is unread for the reader, as the store answers it.
    func unread() async throws -> Int {
        let answer = try await self.store.apply([.readUnread(Self.reader, nil)]).first
        guard case .unread(let report)? = answer else { return -1 }
        return report.counts.unread
    }

    /// 1,000 batches of 10 messages.
    func batches() -> [[StoreCommand]] {
        let peer = ConversationID(type: .direct, target: Self.reader.user.rawValue)
        return (0..<1_000).map { batch in
            (0..<10).map { self.message(from: UserID("sender\((batch * 10 + $0) % 100)"), to: peer) }
        }
    }

    /// How many bytes the journal takes for each of these batches.
    static let journalBytes: [Int] = {
        guard let rig = try? StoreRig() else { return [] }
        defer { rig.remove() }
        let done = DispatchSemaphore(value: 0)
        for batch in rig.batches() {
            rig.store.submit(batch) { _ in done.signal() }
            done.wait()
        }
        rig.close()
        let database = try? DatabaseQueue(path: rig.store.path)
        let rows = try? database?.read {
            try Int.fetchAll($0, sql: "SELECT length(records) FROM journal ORDER BY position")
        }
        return rows ?? []
    }()
}

/// The least a durable store could do: append bytes to a file and sync them.
final class AppendLog {
    private let file: Int32
    private let path: String

    init() throws {
        self.path =
            FileManager.default.temporaryDirectory.appendingPathComponent("tidings-log-\(UUID().uuidString)").path
        self.file = open(self.path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
        guard self.file >= 0 else { throw CocoaError(.fileNoSuchFile) }
    }

    func append(_ bytes: [UInt8]) -> Bool {
        let written = bytes.withUnsafeBytes { write(self.file, $0.baseAddress, $0.count) }
        #if canImport(Glibc)
            return written == bytes.count && fdatasync(self.file) == 0
        #else
            return written == bytes.count && fsync(self.file) == 0
        #endif
    }

    deinit {
        close(self.file)
        unlink(self.path)
    }
}

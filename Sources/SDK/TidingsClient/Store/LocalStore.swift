import ClientCore
import Foundation
import GRDB
import TidingsModel

/// One person's messages, log position, outbox and reading positions on this device (DESIGN §7: private to the app).
///
/// A store that cannot be opened or is damaged is set aside under another name and begun anew; the log is synced again.
final class LocalStore: Sendable {
    let queue: DatabaseQueue
    let file: URL
    /// Where a damaged store was put when this one was opened; nil if nothing was wrong.
    let setAside: URL?

    /// Opens or makes the store.
    ///
    /// - Throws: an error of the file system or of SQLite if even a new store cannot be made.
    init(file: URL) throws {
        self.file = file
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            self.queue = try Self.open(file)
            self.setAside = nil
        } catch let error as DatabaseError where Self.isDamage(error) {
            self.setAside = try Self.putAside(file)
            self.queue = try Self.open(file)
        }
    }

    private static func open(_ file: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        try StoreSchema.migrator.migrate(queue)
        try queue.read { database in
            let verdict = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
            guard verdict == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: verdict) }
        }
        return queue
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB
    }

    private static func putAside(_ file: URL) throws -> URL {
        let aside = file.appendingPathExtension("damaged")
        for suffix in ["", "-wal", "-shm"] {
            let from = file.path + suffix
            let to = aside.path + suffix
            try? FileManager.default.removeItem(atPath: to)
            if FileManager.default.fileExists(atPath: from) {
                try FileManager.default.moveItem(atPath: from, toPath: to)
            }
        }
        return aside
    }

    /// Closes the file; the store cannot be used any more.
    func close() throws { try self.queue.close() }

    // MARK: For the core

    /// What the core starts with.
    func restored() throws -> ClientCore.Restored {
        try self.queue.read { database in
            let drafts = try Row.fetchAll(database, sql: "SELECT * FROM outbox ORDER BY number").compactMap(Self.draft)
            let reads = try Row.fetchAll(database, sql: "SELECT * FROM pendingRead ORDER BY type, target")
                .compactMap { row -> ClientCore.ReadPosition? in
                    guard let conversation = Self.conversation(row) else { return nil }
                    return ClientCore.ReadPosition(conversation: conversation, upTo: LogPosition(row["upTo"] as Int64))
                }
            var levels: [ConversationID: NotificationLevel] = [:]
            for row in try Row.fetchAll(database, sql: "SELECT * FROM conversation WHERE level <> 'all'") {
                guard let conversation = Self.conversation(row) else { continue }
                levels[conversation] = NotificationLevel(rawValue: row["level"])
            }
            return ClientCore.Restored(
                stored: try Self.number("stored", in: database), settled: try Self.number("settled", in: database),
                outbox: drafts, reads: reads, unread: try Self.unread(in: database), levels: levels,
                hasCustomMessages: try self.hasCustomMessages(in: database))
        }
    }

    /// Writes entries of the log in one transaction. Entries that are there already change nothing, and what would leave a
    /// gap is not written: after a failed write the log is asked for again from where it ends.
    ///
    /// - Returns: the position the store has reached, and the unread messages outside muted conversations.
    func write(_ entries: [LogEntry], person: UserID) throws -> (stored: LogPosition, unread: Int) {
        try self.queue.write { database in
            var stored = try Self.number("stored", in: database)
            for entry in entries where entry.position == stored + 1 {
                switch entry.body {
                case .message(let message):
                    try Self.insert(message, at: entry.position, person: person, in: database)
                case .read(let conversation, let upTo):
                    try Self.markRead(conversation, upTo: upTo, in: database)
                    try database.execute(
                        sql: "DELETE FROM pendingRead WHERE type = ? AND target = ? AND upTo <= ?",
                        arguments: [conversation.type.rawValue, conversation.target, Int64(upTo)])
                case .custom(let message): try Self.insert(message, at: entry.position, in: database)
                case .recall(let recall): try Self.withdraw(recall, in: database)
                }
                stored = entry.position
            }
            try Self.set("stored", stored, in: database)
            return (stored, try Self.unread(in: database))
        }
    }

    /// The server has trimmed its log: if the store ends at the one position, it goes on after the other. Anywhere else nothing
    /// changes: the entries before the gap were not written, and are asked for again.
    func skip(after position: LogPosition, upTo end: LogPosition) throws {
        try self.queue.write { database in
            guard try Self.number("stored", in: database) == position, end > position else { return }
            try Self.set("stored", end, in: database)
        }
    }

    /// Remembers that everything up to here was settled.
    func writeSettled(_ position: LogPosition) throws {
        try self.queue.write { try Self.set("settled", position, in: $0) }
    }

    /// Writes a message that waits to be sent.
    func writeOutgoing(_ draft: MessageDraft) throws {
        try self.queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO outbox (clientMessageID, type, target, objectName, content, flags, pushText)
                    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (clientMessageID) DO NOTHING
                    """,
                arguments: [
                    draft.clientMessageID.rawValue, draft.conversation.type.rawValue, draft.conversation.target,
                    draft.objectName.rawValue, draft.content, Int64(draft.flags.rawValue), draft.pushText,
                ])
        }
    }

    /// Forgets a message that was accepted or refused.
    func removeOutgoing(_ id: ClientMessageID) throws {
        try self.queue.write {
            try $0.execute(sql: "DELETE FROM outbox WHERE clientMessageID = ?", arguments: [id.rawValue])
        }
    }

    /// Remembers a reading position until the log confirms it. Returns the unread messages outside muted conversations.
    func writeRead(_ conversation: ConversationID, upTo position: LogPosition) throws -> Int {
        try self.queue.write { database in
            try Self.markRead(conversation, upTo: position, in: database)
            try database.execute(
                sql: """
                    INSERT INTO pendingRead (type, target, upTo) VALUES (?, ?, ?)
                    ON CONFLICT (type, target) DO UPDATE SET upTo = max(upTo, excluded.upTo)
                    """,
                arguments: [conversation.type.rawValue, conversation.target, Int64(position)])
            return try Self.unread(in: database)
        }
    }

    /// How loud a conversation may be. Returns the unread messages outside muted conversations.
    func writeLevel(_ conversation: ConversationID, _ level: NotificationLevel) throws -> Int {
        try self.queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO conversation (type, target, level) VALUES (?, ?, ?)
                    ON CONFLICT (type, target) DO UPDATE SET level = excluded.level
                    """,
                arguments: [conversation.type.rawValue, conversation.target, level.rawValue])
            return try Self.unread(in: database)
        }
    }

    /// Forgets the log, which is another one from now on; what waits to be sent stays.
    func resetLog() throws {
        try self.forgetLog()
        try self.forgetHandOver()
    }

    private func forgetLog() throws {
        try self.queue.write { database in
            try database.execute(
                sql: """
                    DELETE FROM message; DELETE FROM pendingRead; DELETE FROM position; DELETE FROM custom;
                    UPDATE conversation SET readUpTo = 0
                    """)
        }
    }

    /// Forgets everything but how far custom messages were handed over: the person who signs in again has the same log.
    func forgetAll() throws {
        try self.forgetLog()
        try self.queue.write { try $0.execute(sql: "DELETE FROM outbox; DELETE FROM conversation") }
    }

    // MARK: For the app

    /// Messages of a conversation, oldest first: the newest `limit` before a position.
    func history(_ conversation: ConversationID, before: LogPosition?, limit: Int) throws -> [StoredMessage] {
        try self.queue.read { database in
            let end = before.map { Int64(clamping: $0) } ?? .max
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM message WHERE type = ? AND target = ? AND position < ?
                    ORDER BY position DESC LIMIT ?
                    """,
                arguments: [conversation.type.rawValue, conversation.target, end, limit]
            ).reversed().compactMap(Self.message)
        }
    }

    /// The person's conversations, the one with the newest message first.
    func conversations() throws -> [ConversationSummary] {
        try self.queue.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT m.*, (SELECT count(*) FROM message u WHERE u.isUnread AND u.type = m.type
                        AND u.target = m.target) AS unread, ifnull(c.level, 'all') AS level
                    FROM message m LEFT JOIN conversation c ON c.type = m.type AND c.target = m.target
                    WHERE m.position IN (SELECT max(position) FROM message GROUP BY type, target)
                    ORDER BY m.position DESC
                    """
            ).compactMap { row in
                guard let last = Self.message(row), let conversation = Self.conversation(row) else { return nil }
                return ConversationSummary(
                    conversation: conversation, last: last, unread: row["unread"],
                    level: NotificationLevel(rawValue: row["level"]) ?? .all)
            }
        }
    }

    /// The position of the newest message of a conversation; nil if there is none.
    func newest(_ conversation: ConversationID) throws -> LogPosition? {
        try self.queue.read { database in
            try Int64.fetchOne(
                database, sql: "SELECT max(position) FROM message WHERE type = ? AND target = ?",
                arguments: [conversation.type.rawValue, conversation.target]
            ).map { LogPosition($0) }
        }
    }

    /// Where a message stands in the log; nil if it is not there.
    func position(of id: MessageID) throws -> LogPosition? {
        try self.queue.read { database in
            try Int64.fetchOne(
                database, sql: "SELECT position FROM message WHERE id = ?",
                arguments: [Int64(bitPattern: id.rawValue)]
            ).map { LogPosition($0) }
        }
    }

    /// Unread messages outside muted conversations, and the position they were counted at.
    func count() throws -> (unread: Int, stored: LogPosition) {
        try self.queue.read { (try Self.unread(in: $0), try Self.number("stored", in: $0)) }
    }

    /// Whether a message is there.
    func contains(_ id: MessageID) throws -> Bool {
        try self.queue.read { database in
            try Bool.fetchOne(
                database, sql: "SELECT EXISTS (SELECT 1 FROM message WHERE id = ?)",
                arguments: [Int64(bitPattern: id.rawValue)]) ?? false
        }
    }

    /// Unread messages, with or without muted conversations (S2.12).
    func unread(includingMuted: Bool) throws -> Int {
        try self.queue.read { database in
            guard includingMuted else { return try Self.unread(in: database) }
            return try Int.fetchOne(database, sql: "SELECT count(*) FROM message WHERE isUnread") ?? 0
        }
    }

    // MARK: Rows

    private static func insert(
        _ message: Message, at position: LogPosition, person: UserID, in database: Database
    ) throws {
        let conversation = message.conversation(seenBy: person)
        let readUpTo =
            try Int64.fetchOne(
                database, sql: "SELECT readUpTo FROM conversation WHERE type = ? AND target = ?",
                arguments: [conversation.type.rawValue, conversation.target]) ?? 0
        let isUnread = message.sender != person && message.flags.contains(.counted) && Int64(position) > readUpTo
        try database.execute(
            sql: """
                INSERT INTO message (position, id, app, sender, type, target, sentTarget, clientMessageID, objectName,
                    content, flags, pushText, sentAt, isUnread)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                Int64(position), Int64(bitPattern: message.id.rawValue), message.app.rawValue, message.sender.rawValue,
                conversation.type.rawValue, conversation.target, message.conversation.target,
                message.clientMessageID.rawValue, message.objectName.rawValue, message.content,
                Int64(message.flags.rawValue), message.pushText, message.sentAt, isUnread,
            ])
    }

    private static func markRead(
        _ conversation: ConversationID, upTo position: LogPosition, in database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO conversation (type, target, readUpTo) VALUES (:type, :target, :upTo)
                ON CONFLICT (type, target) DO UPDATE SET readUpTo = max(readUpTo, excluded.readUpTo)
                """,
            arguments: ["type": conversation.type.rawValue, "target": conversation.target, "upTo": Int64(position)])
        try database.execute(
            sql: "UPDATE message SET isUnread = 0 WHERE isUnread AND type = ? AND target = ? AND position <= ?",
            arguments: [conversation.type.rawValue, conversation.target, Int64(position)])
    }

    private static func unread(in database: Database) throws -> Int {
        try Int.fetchOne(
            database,
            sql: """
                SELECT count(*) FROM message m LEFT JOIN conversation c ON c.type = m.type AND c.target = m.target
                WHERE m.isUnread AND ifnull(c.level, 'all') <> 'blocked'
                """) ?? 0
    }

    static func number(_ name: String, in database: Database) throws -> LogPosition {
        LogPosition(
            try Int64.fetchOne(database, sql: "SELECT value FROM position WHERE name = ?", arguments: [name]) ?? 0)
    }

    private static func set(_ name: String, _ value: LogPosition, in database: Database) throws {
        try database.execute(
            sql:
                "INSERT INTO position (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            arguments: [name, Int64(value)])
    }

    private static func conversation(_ row: Row) -> ConversationID? {
        guard let type = ConversationType(rawValue: row["type"]) else { return nil }
        return ConversationID(type: type, target: row["target"])
    }

    private static func draft(_ row: Row) -> MessageDraft? {
        guard let conversation = Self.conversation(row) else { return nil }
        return MessageDraft(
            clientMessageID: ClientMessageID(row["clientMessageID"] as String), conversation: conversation,
            objectName: ObjectName(row["objectName"] as String), content: row["content"],
            flags: MessageFlags(rawValue: UInt8(truncatingIfNeeded: row["flags"] as Int64)), pushText: row["pushText"])
    }

    private static func message(_ row: Row) -> StoredMessage? {
        guard let conversation = Self.conversation(row) else { return nil }
        let message = Message(
            id: MessageID(rawValue: UInt64(bitPattern: row["id"])), app: AppID(row["app"] as String),
            sender: UserID(row["sender"] as String),
            conversation: ConversationID(type: conversation.type, target: row["sentTarget"]),
            clientMessageID: ClientMessageID(row["clientMessageID"] as String),
            objectName: ObjectName(row["objectName"] as String), content: row["content"],
            flags: MessageFlags(rawValue: UInt8(truncatingIfNeeded: row["flags"] as Int64)),
            pushText: row["pushText"], sentAt: row["sentAt"])
        return StoredMessage(
            message: message, conversation: conversation, position: LogPosition(row["position"] as Int64),
            isUnread: row["isUnread"], isRecalled: row["recalledAt"] != nil)
    }
}

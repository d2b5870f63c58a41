import ClientCore
import Foundation
import GRDB
import TidingsModel

// How far the log was followed, what the person has set, and what waits to be sent or handed over.
extension DatabaseRows {
    var log: LocalLog {
        get throws {
            guard let row = try self.row("SELECT * FROM log") else { return LocalLog() }
            var log = LocalLog()
            (log.stored, log.settled, log.owesSettings) = (row["stored"], row["settled"], row["owesSettings"])
            log.origin = (row["store"] as String?).map { store in
                LogOrigin(
                    storeID: store, generation: UInt64(bitPattern: row["generation"] as Int64),
                    opening: UInt64(bitPattern: row["opening"] as Int64))
            }
            return log
        }
    }

    func save(_ log: LocalLog) throws {
        try self.execute(
            """
            INSERT OR REPLACE INTO log (one, stored, settled, owesSettings, store, generation, opening)
            VALUES (1, ?, ?, ?, ?, ?, ?)
            """,
            [
                log.stored, log.settled, log.owesSettings, log.origin?.storeID,
                log.origin.map { Int64(bitPattern: $0.generation) }, log.origin.map { Int64(bitPattern: $0.opening) },
            ])
    }

    // MARK: Settings

    var settings: AllSettings {
        get throws {
            var all = AllSettings()
            for row in try self.rows("SELECT * FROM setting") {
                guard let conversation = ConversationID(row) else { continue }
                var own = ConversationSettings(
                    level: (row["level"] as String?).flatMap { NotificationLevel(rawValue: $0) },
                    levelUntil: row["levelUntil"])
                own.pinnedAt = row["pinnedAt"]
                own.isArchived = row["isArchived"]
                own.hiddenUpTo = row["hiddenUpTo"]
                if let draft = row["draft"] as String? {
                    own.draft = ConversationDraft(text: draft, writtenAt: row["draftAt"] ?? 0)
                }
                all.conversations[conversation] = own
            }
            if let person: String = try self.value("SELECT value FROM person", []) {
                all.person = JSONValue.value(of: person, as: PersonSettings.self) ?? PersonSettings()
            }
            all.blocked = try UserID.fetchAll(self.database, sql: "SELECT user FROM blocked ORDER BY user")
            return all
        }
    }

    func replaceSettings(_ all: AllSettings) throws {
        try self.execute("DELETE FROM setting; DELETE FROM blocked")
        for (conversation, settings) in all.conversations { try self.save(settings, of: conversation) }
        try self.save(all.person)
        for user in all.blocked { try self.saveBlocked(user, true) }
    }

    func save(_ settings: ConversationSettings, of conversation: ConversationID) throws {
        guard settings != ConversationSettings() else {
            return try self.execute("DELETE FROM setting WHERE type = ? AND target = ?", conversation.key)
        }
        try self.execute(
            """
            INSERT OR REPLACE INTO setting
            (type, target, level, levelUntil, pinnedAt, isArchived, hiddenUpTo, draft, draftAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            conversation.key + [
                settings.level?.rawValue, settings.levelUntil, settings.pinnedAt, settings.isArchived,
                settings.hiddenUpTo, settings.draft?.text, settings.draft?.writtenAt,
            ])
    }

    func save(_ settings: PersonSettings) throws {
        try self.execute("INSERT OR REPLACE INTO person (one, value) VALUES (1, ?)", [JSONValue.column(settings)])
    }

    func saveBlocked(_ user: UserID, _ isBlocked: Bool) throws {
        try self.execute(
            isBlocked
                ? "INSERT INTO blocked (user) VALUES (?) ON CONFLICT DO NOTHING" : "DELETE FROM blocked WHERE user = ?",
            [user])
    }

    var pendingChanges: [LocalPendingChange] {
        get throws {
            try self.rows("SELECT value, isTold FROM wish ORDER BY number").compactMap { row in
                JSONValue.value(of: row["value"], as: PendingSettingsChange.self)
                    .map { LocalPendingChange($0, isTold: row["isTold"]) }
            }
        }
    }

    func save(_ pendingChange: LocalPendingChange) throws {
        try self.execute(
            """
            INSERT INTO wish (name, value, isTold) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value, isTold = excluded.isTold
            """, [pendingChange.change.key, JSONValue.column(pendingChange.change), pendingChange.isTold])
    }

    func removePendingChange(_ key: String) throws { try self.execute("DELETE FROM wish WHERE name = ?", [key]) }

    // MARK: Outbox

    var outbox: [MessageDraft] {
        get throws {
            try self.rows("SELECT * FROM outbox ORDER BY number").compactMap { row -> MessageDraft? in
                guard !self.ended.contains(row["number"]), let conversation = ConversationID(row) else { return nil }
                return MessageDraft(
                    clientMessageID: row["clientMessageID"], conversation: conversation, objectName: row["objectName"],
                    content: row["content"], flags: row["flags"], pushText: row["pushText"], mentions: row["mentions"],
                    recipients: [UserID](column: row["recipients"]), lifetimeMilliseconds: row["lifetime"],
                    push: PushOptions(stored: row["push"] as String?), account: row["account"])
            }
        }
    }

    func insert(_ draft: MessageDraft) throws {
        // Its row has ended and could not be removed: nothing would be stored in its place.
        if let number = try self.number(of: draft.clientMessageID), self.ended.contains(number) {
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "an ended message of this id is still there")
        }
        try self.execute(
            """
            INSERT INTO outbox (clientMessageID, type, target, objectName, content, flags, pushText, mentions,
                recipients, lifetime, push, account)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (clientMessageID) DO NOTHING
            """,
            [
                draft.clientMessageID, draft.conversation.type.rawValue, draft.conversation.target, draft.objectName,
                draft.content, draft.flags, draft.pushText, draft.mentions, draft.recipients.column,
                draft.lifetimeMilliseconds, draft.push?.json.text, draft.account,
            ])
    }

    func removeDraft(_ id: ClientMessageID) throws {
        try self.execute("DELETE FROM outbox WHERE clientMessageID = ?", [id])
    }

    func number(of draft: ClientMessageID) throws -> Int64? {
        try self.value("SELECT number FROM outbox WHERE clientMessageID = ?", [draft])
    }

    // MARK: Custom messages

    func customMessages(after position: LogPosition) throws -> [LocalCustomMessage] {
        try self.rows(
            "SELECT * FROM custom WHERE position > ? ORDER BY position", [Int64(clamping: position)]
        ).map { row in
            LocalCustomMessage(
                CustomMessage(
                    id: row["id"], title: row["title"], content: row["content"], contentType: row["contentType"],
                    extras: (try? JSONValue(parsing: row["extras"] as String))?.objectValue ?? JSONObject(),
                    sentAt: row["sentAt"], expiresAt: row["expiresAt"]), at: row["position"])
        }
    }

    func save(_ custom: LocalCustomMessage) throws {
        let message = custom.message
        try self.execute(
            """
            INSERT INTO custom (position, id, title, content, contentType, extras, sentAt, expiresAt)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """,
            [
                custom.position, message.id, message.title, message.content, message.contentType,
                JSONValue.object(message.extras).text, message.sentAt, message.expiresAt,
            ])
    }

    func removeCustomMessages(upTo position: LogPosition) throws {
        try self.execute("DELETE FROM custom WHERE position <= ?", [Int64(clamping: position)])
    }

    var handedOver: LocalHandOver {
        let words = (try? String(contentsOf: self.handOverFile, encoding: .utf8))?.split(separator: " ") ?? []
        let newest = words.dropFirst().first.flatMap { UInt64($0) } ?? 0
        return LocalHandOver(
            position: words.first.flatMap { LogPosition($0) } ?? 0, newest: MessageID(rawValue: newest))
    }

    func save(_ handedOver: LocalHandOver) throws {
        let words = "\(handedOver.position) \(handedOver.newest.rawValue)"
        try Data(words.utf8).write(to: self.handOverFile, options: .atomic)
    }
}

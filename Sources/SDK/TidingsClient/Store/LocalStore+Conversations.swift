import GRDB
import TidingsModel

// Names, portraits and members of conversations: from the log's changes, and from what the server answers.
extension LocalStore {
    func info(_ conversation: ConversationID) throws -> ConversationInfo? {
        try self.read { database in
            guard let row = try Self.infoRow(conversation, in: database) else { return nil }
            return ConversationInfo(
                id: conversation, version: row["version"], name: row["name"] ?? "", portrait: row["portrait"],
                members: try Self.members(conversation, in: database), isDissolved: row["isDissolved"],
                onlyAdminsWrite: row["onlyAdminsWrite"])
        }
    }

    func nickname(of user: UserID, in conversation: ConversationID) throws -> String? {
        try self.read { database in
            let nickname = try String?.fetchOne(
                database, sql: "SELECT nickname FROM member WHERE type = ? AND target = ? AND user = ?",
                arguments: conversation.key + [user])
            return nickname ?? nil
        }
    }

    func writeInfo(_ info: ConversationInfo) throws {
        try self.write { database in
            let known = try Self.infoRow(info.id, in: database)
            guard known?["version"] ?? 0 <= info.version else { return }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO info
                        (type, target, version, name, portrait, isDissolved, onlyAdminsWrite, isKnown)
                    VALUES (?, ?, ?, ?, ?, ?, ?, 1)
                    """,
                arguments: info.id.key + [
                    info.version, info.name, info.portrait, info.isDissolved, info.onlyAdminsWrite,
                ])
            try Self.replace(try Self.members(info.id, in: database), by: info.members, of: info.id, in: database)
        }
    }

    /// An entry that does not follow the known version is applied as far as it goes by itself; the rest is requested
    /// from the server.
    static func applyChange(_ change: ConversationChange, in database: Database) throws {
        let conversation = change.conversation
        let known = try Self.infoRow(conversation, in: database)
        let version: UInt64 = known?["version"] ?? 0
        guard change.version > version else { return }
        var isKnown = change.version == version + 1 && (known?["isKnown"] ?? false)
        if case .create = change.action { isKnown = true }
        try database.execute(
            sql: """
                INSERT INTO info (type, target, version, isKnown) VALUES (?, ?, ?, ?)
                ON CONFLICT (type, target) DO UPDATE SET version = excluded.version, isKnown = excluded.isKnown
                """, arguments: conversation.key + [change.version, isKnown])
        switch change.action {
        case .create(let name, let portrait, _):
            try Self.setInfo("name", to: name, of: conversation, in: database)
            try Self.setInfo("portrait", to: portrait, of: conversation, in: database)
            fallthrough
        case .add, .join, .remove, .leave, .setRole, .setNickname, .ban, .unban, .mute, .unmute:
            let members = try Self.members(conversation, in: database)
            try Self.replace(members, by: change.members(after: members), of: conversation, in: database)
        case .rename(let name): try Self.setInfo("name", to: name, of: conversation, in: database)
        case .setPortrait(let portrait): try Self.setInfo("portrait", to: portrait, of: conversation, in: database)
        case .dissolve: try Self.setInfo("isDissolved", to: true, of: conversation, in: database)
        case .setOnlyAdminsWrite(let isOn):
            try Self.setInfo("onlyAdminsWrite", to: isOn, of: conversation, in: database)
        case .invite, .decline, .withdraw: break
        }
    }

    // MARK: Invitations

    /// In the order of the log.
    func invitations() throws -> [Invitation] {
        try self.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM invitation ORDER BY position").compactMap { row in
                ConversationID(row).map {
                    Invitation(id: $0, name: row["name"], portrait: row["portrait"], by: row["inviter"], at: row["at"])
                }
            }
        }
    }

    static func applyInvitation(
        _ change: ConversationChange, at position: LogPosition, of person: UserID, in database: Database
    ) throws {
        switch change.invitation(of: person) {
        case .made(let invitation)?:
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO invitation (type, target, position, name, portrait, inviter, at)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: invitation.id.key + [
                    position, invitation.name, invitation.portrait, invitation.by, invitation.at,
                ])
        case .ended(let conversation)?: try Self.endInvitation(to: conversation, in: database)
        case nil: break
        }
    }

    static func endInvitation(to conversation: ConversationID, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM invitation WHERE type = ? AND target = ?", arguments: conversation.key)
    }

    static func isKnown(_ conversation: ConversationID, in database: Database) throws -> Bool {
        try Self.infoRow(conversation, in: database)?["isKnown"] ?? false
    }

    static func markKnown(_ isKnown: Bool, _ conversation: ConversationID, in database: Database) throws {
        try Self.setInfo("isKnown", to: isKnown, of: conversation, in: database)
    }

    // MARK: Rows

    private static func infoRow(_ conversation: ConversationID, in database: Database) throws -> Row? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM info WHERE type = ? AND target = ?", arguments: conversation.key)
    }

    private static func setInfo(
        _ column: String, to value: (any DatabaseValueConvertible)?, of conversation: ConversationID,
        in database: Database
    ) throws {
        try database.execute(
            sql: "UPDATE info SET \(column) = ? WHERE type = ? AND target = ?", arguments: [value] + conversation.key)
    }

    private static func members(_ conversation: ConversationID, in database: Database) throws -> [Member] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM member WHERE type = ? AND target = ? ORDER BY user",
            arguments: conversation.key
        ).map { row in
            Member(
                row["user"], role: MemberRole(rawValue: row["role"]) ?? .member, nickname: row["nickname"],
                mute: row["isMuted"] ? Mute(until: row["mutedUntil"]) : nil)
        }
    }

    /// Writes only differences: a change in a big group is mostly about one member.
    private static func replace(
        _ before: [Member], by after: [Member], of conversation: ConversationID, in database: Database
    ) throws {
        let (old, new) = (Set(before), Set(after))
        for member in before where !new.contains(member) {
            try database.execute(
                sql: "DELETE FROM member WHERE type = ? AND target = ? AND user = ?",
                arguments: conversation.key + [member.id])
        }
        for member in after where !old.contains(member) {
            try database.execute(
                sql: """
                    INSERT INTO member (type, target, user, role, nickname, isMuted, mutedUntil)
                    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                    """,
                arguments: conversation.key + [
                    member.id, member.role.rawValue, member.nickname, member.mute != nil, member.mute?.until,
                ])
        }
    }
}

import GRDB
import TidingsModel

// Names, portraits and members of conversations: from the log's changes, and from what the server answers.
extension LocalStore {
    /// A conversation as far as it is known here; nil if nothing is.
    func info(_ conversation: ConversationID) throws -> ConversationInfo? {
        try self.read { database in
            guard let row = try Self.infoRow(conversation, in: database) else { return nil }
            return ConversationInfo(
                id: conversation, version: UInt64(row["version"] as Int64), name: row["name"] ?? "",
                portrait: row["portrait"], members: try Self.members(conversation, in: database),
                isDissolved: row["isDissolved"])
        }
    }

    /// What a member is called in a conversation; nil if it is not known.
    func nickname(of user: UserID, in conversation: ConversationID) throws -> String? {
        try self.read { database in
            let nickname = try String?.fetchOne(
                database, sql: "SELECT nickname FROM member WHERE type = ? AND target = ? AND user = ?",
                arguments: [conversation.type.rawValue, conversation.target, user.rawValue])
            return nickname ?? nil
        }
    }

    /// Remembers what the server has answered, unless what is there is newer.
    func write(_ info: ConversationInfo) throws {
        try self.write { database in
            let known = try Self.infoRow(info.id, in: database)
            guard UInt64(known?["version"] as Int64? ?? 0) <= info.version else { return }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO info (type, target, version, name, portrait, isDissolved, isKnown)
                    VALUES (?, ?, ?, ?, ?, ?, 1)
                    """,
                arguments: [
                    info.id.type.rawValue, info.id.target, Int64(info.version), info.name, info.portrait,
                    info.isDissolved,
                ])
            try Self.replace(info.members, of: info.id, in: database)
        }
    }

    /// An entry of the log. One that does not follow what is known is taken as far as it says something for itself; the rest
    /// is asked of the server.
    static func apply(_ change: ConversationChange, in database: Database) throws {
        let known = try Self.infoRow(change.conversation, in: database)
        let version = UInt64(known?["version"] as Int64? ?? 0)
        guard change.version > version else { return }
        var isKnown = change.version == version + 1 && (known?["isKnown"] ?? false)
        if case .create = change.action { isKnown = true }
        try database.execute(
            sql: """
                INSERT INTO info (type, target, version, isKnown) VALUES (?, ?, ?, ?)
                ON CONFLICT (type, target) DO UPDATE SET version = excluded.version, isKnown = excluded.isKnown
                """,
            arguments: [
                change.conversation.type.rawValue, change.conversation.target, Int64(change.version), isKnown,
            ])
        try Self.apply(change.action, by: change.by, to: change.conversation, in: database)
    }

    private static func apply(
        _ action: ConversationAction, by actor: UserID?, to conversation: ConversationID, in database: Database
    ) throws {
        switch action {
        case .create(let name, let portrait, let members):
            try Self.set("name", to: name, of: conversation, in: database)
            try Self.set("portrait", to: portrait, of: conversation, in: database)
            let owner = actor.map { [Member($0, role: .owner)] } ?? []
            try Self.replace(
                members.filter { $0 != actor }.map { Member($0) } + owner, of: conversation, in: database)
        case .add(let users): for user in users { try Self.insert(Member(user), of: conversation, in: database) }
        case .join: if let actor { try Self.insert(Member(actor), of: conversation, in: database) }
        case .remove(let users): for user in users { try Self.remove(user, from: conversation, in: database) }
        case .leave:
            guard let actor else { return }
            let wasOwner = try Self.members(conversation, in: database).contains { $0.id == actor && $0.role == .owner }
            try Self.remove(actor, from: conversation, in: database)
            if wasOwner { try Self.findOwner(of: conversation, in: database) }
        case .rename(let name): try Self.set("name", to: name, of: conversation, in: database)
        case .setPortrait(let portrait): try Self.set("portrait", to: portrait, of: conversation, in: database)
        case .setRole(let user, let role): try Self.setRole(role, of: user, in: conversation, in: database)
        case .setNickname(let user, let nickname):
            try database.execute(
                sql: "UPDATE member SET nickname = ? WHERE type = ? AND target = ? AND user = ?",
                arguments: [nickname, conversation.type.rawValue, conversation.target, user.rawValue])
        case .dissolve: try Self.set("isDissolved", to: 1, of: conversation, in: database)
        // Rooms put their changes into nobody's log.
        case .ban, .unban: break
        }
    }

    /// Whether name and members are known for sure.
    static func isKnown(_ conversation: ConversationID, in database: Database) throws -> Bool {
        try Self.infoRow(conversation, in: database)?["isKnown"] ?? false
    }

    /// Whether name and members count as known, whatever the log has told.
    static func markKnown(_ isKnown: Bool, _ conversation: ConversationID, in database: Database) throws {
        try Self.set("isKnown", to: isKnown ? 1 : 0, of: conversation, in: database)
    }

    // MARK: Rows

    private static func infoRow(_ conversation: ConversationID, in database: Database) throws -> Row? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM info WHERE type = ? AND target = ?",
            arguments: [conversation.type.rawValue, conversation.target])
    }

    private static func set(
        _ column: String, to value: (any DatabaseValueConvertible)?, of conversation: ConversationID,
        in database: Database
    ) throws {
        try database.execute(
            sql: "UPDATE info SET \(column) = ? WHERE type = ? AND target = ?",
            arguments: [value, conversation.type.rawValue, conversation.target])
    }

    private static func members(_ conversation: ConversationID, in database: Database) throws -> [Member] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM member WHERE type = ? AND target = ? ORDER BY user",
            arguments: [conversation.type.rawValue, conversation.target]
        ).map { row in
            Member(
                UserID(row["user"] as String), role: MemberRole(rawValue: row["role"]) ?? .member,
                nickname: row["nickname"])
        }
    }

    private static func replace(_ members: [Member], of conversation: ConversationID, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM member WHERE type = ? AND target = ?",
            arguments: [conversation.type.rawValue, conversation.target])
        for member in members { try Self.insert(member, of: conversation, in: database) }
    }

    private static func insert(_ member: Member, of conversation: ConversationID, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO member (type, target, user, role, nickname) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
            arguments: [
                conversation.type.rawValue, conversation.target, member.id.rawValue, member.role.rawValue,
                member.nickname,
            ])
    }

    private static func remove(_ user: UserID, from conversation: ConversationID, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM member WHERE type = ? AND target = ? AND user = ?",
            arguments: [conversation.type.rawValue, conversation.target, user.rawValue])
    }

    private static func setRole(
        _ role: MemberRole, of user: UserID, in conversation: ConversationID, in database: Database
    ) throws {
        if role == .owner {
            try database.execute(
                sql: "UPDATE member SET role = 'admin' WHERE type = ? AND target = ? AND role = 'owner'",
                arguments: [conversation.type.rawValue, conversation.target])
        }
        try database.execute(
            sql: "UPDATE member SET role = ? WHERE type = ? AND target = ? AND user = ?",
            arguments: [role.rawValue, conversation.type.rawValue, conversation.target, user.rawValue])
    }

    /// When the owner goes, the next admin, then the member with the smallest id, becomes owner (`ConversationAction.leave`).
    private static func findOwner(of conversation: ConversationID, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE member SET role = 'owner' WHERE type = ?1 AND target = ?2 AND user = (
                    SELECT user FROM member WHERE type = ?1 AND target = ?2 ORDER BY role <> 'admin', user LIMIT 1)
                """,
            arguments: [conversation.type.rawValue, conversation.target])
    }
}

extension ConversationChange {
    /// Whether somebody who was no member is one through it.
    func adds(_ user: UserID) -> Bool {
        switch self.action {
        case .add(let users): users.contains(user)
        case .join: self.by == user
        case .create, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban: false
        }
    }
}

import ClientCore
import GRDB
import TidingsModel

// What was read, names and members, and invitations.
extension DatabaseRows {
    var readings: [LocalReading] {
        get throws { try self.rows("SELECT * FROM reading").compactMap(Self.reading) }
    }

    func reading(of conversation: ConversationID) throws -> LocalReading {
        try self.row("SELECT * FROM reading WHERE type = ? AND target = ?", conversation.key).flatMap(Self.reading)
            ?? LocalReading(conversation)
    }

    func save(_ reading: LocalReading) throws {
        try self.execute(
            "INSERT OR REPLACE INTO reading (type, target, upTo, pending, readBefore) VALUES (?, ?, ?, ?, ?)",
            reading.conversation.key + [reading.upTo, reading.pending, reading.readBefore])
    }

    private static func reading(_ row: Row) -> LocalReading? {
        ConversationID(row).map {
            LocalReading($0, upTo: row["upTo"], pending: row["pending"], readBefore: row["readBefore"])
        }
    }

    // MARK: Names and members

    var infos: [ConversationID: LocalInfo] {
        get throws {
            try self.rows("SELECT * FROM info").compactMap(Self.info)
                .reduce(into: [:]) { $0[$1.conversation] = $1 }
        }
    }

    func info(_ conversation: ConversationID) throws -> LocalInfo? {
        try self.row("SELECT * FROM info WHERE type = ? AND target = ?", conversation.key).flatMap(Self.info)
    }

    func save(_ info: LocalInfo) throws {
        try self.execute(
            """
            INSERT OR REPLACE INTO info (type, target, version, name, portrait, isDissolved, onlyAdminsWrite, isComplete)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            info.conversation.key + [
                info.version, info.name, info.portrait, info.isDissolved, info.onlyAdminsWrite, info.isComplete,
            ])
    }

    func markInfosIncomplete(ofAnotherLog: Bool) throws {
        try self.execute("UPDATE info SET isComplete = 0\(ofAnotherLog ? ", version = 0" : "")")
    }

    private static func info(_ row: Row) -> LocalInfo? {
        guard let conversation = ConversationID(row) else { return nil }
        var info = LocalInfo(conversation)
        (info.version, info.name, info.portrait) = (row["version"], row["name"], row["portrait"])
        info.isDissolved = row["isDissolved"]
        info.onlyAdminsWrite = row["onlyAdminsWrite"]
        info.isComplete = row["isComplete"]
        return info
    }

    func members(of conversation: ConversationID) throws -> [Member] {
        try self.rows("SELECT * FROM member WHERE type = ? AND target = ? ORDER BY user", conversation.key).map { row in
            Member(
                row["user"], role: MemberRole(rawValue: row["role"]) ?? .member, nickname: row["nickname"],
                mute: row["isMuted"] ? Mute(until: row["mutedUntil"]) : nil)
        }
    }

    /// Writes only differences: a change in a big group is mostly about one member.
    func replaceMembers(_ before: [Member], by after: [Member], of conversation: ConversationID) throws {
        let (old, new) = (Set(before), Set(after))
        for member in before where !new.contains(member) {
            try self.execute(
                "DELETE FROM member WHERE type = ? AND target = ? AND user = ?", conversation.key + [member.id])
        }
        for member in after where !old.contains(member) {
            try self.execute(
                """
                INSERT INTO member (type, target, user, role, nickname, isMuted, mutedUntil)
                VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                conversation.key + [
                    member.id, member.role.rawValue, member.nickname, member.mute != nil, member.mute?.until,
                ])
        }
    }

    func nickname(of user: UserID, in conversation: ConversationID) throws -> String? {
        try self.value(
            "SELECT nickname FROM member WHERE type = ? AND target = ? AND user = ?", conversation.key + [user])
    }

    // MARK: Invitations

    var invitations: [Invitation] {
        get throws {
            try self.rows("SELECT * FROM invitation ORDER BY number").compactMap { row in
                ConversationID(row).map {
                    Invitation(id: $0, name: row["name"], portrait: row["portrait"], by: row["inviter"], at: row["at"])
                }
            }
        }
    }

    func save(_ invitation: Invitation) throws {
        try self.execute(
            "INSERT OR REPLACE INTO invitation (type, target, name, portrait, inviter, at) VALUES (?, ?, ?, ?, ?, ?)",
            invitation.id.key + [invitation.name, invitation.portrait, invitation.by, invitation.at])
    }

    func removeInvitation(to conversation: ConversationID) throws {
        try self.execute("DELETE FROM invitation WHERE type = ? AND target = ?", conversation.key)
    }
}

import TidingsModel

extension ConversationID {
    var json: JSONValue { ["type": .string(self.type.rawValue), "target": .string(self.target)] }
}

extension ConversationInfo {
    var json: JSONValue {
        [
            "conversation": self.id.json, "version": .int(self.version), "name": .string(self.name),
            "portrait": .optional(self.portrait), "push": self.push?.json ?? .null,
            "is_dissolved": .bool(self.isDissolved),
            "members": .array(
                self.members.map { member in
                    [
                        "user": .string(member.id.rawValue), "role": .string(member.role.rawValue),
                        "nickname": .optional(member.nickname), "is_muted": .bool(member.mute != nil),
                        "muted_until": .optional(member.mute?.until),
                    ]
                }),
            "only_admins_write": .bool(self.onlyAdminsWrite),
        ]
    }
}

extension Message {
    var json: JSONValue {
        [
            "message_id": .string(self.id.description), "sender": .string(self.sender.rawValue),
            "conversation": self.conversation.json, "object_name": .string(self.objectName.rawValue),
            "client_message_id": .string(self.clientMessageID.rawValue), "content": .string(self.content),
            "counted": .bool(self.flags.contains(.counted)), "notified": .bool(self.flags.contains(.notified)),
            "push_text": .optional(self.pushText), "push": self.push?.json ?? .null, "sent_at": .int(self.sentAt),
            "mentions": self.mentions.json,
            "recipients": JSONValue(self.recipients), "expires_at": .optional(self.expiresAt),
        ]
    }
}

extension Mentions {
    fileprivate var json: JSONValue {
        switch self {
        case .none: .null
        case .users(let users): ["users": JSONValue(users)]
        case .everyone: ["everyone": true]
        }
    }
}

extension AllSettings {
    var json: JSONValue {
        [
            "levels": .members(
                self.person.levels.sorted { $0.key < $1.key }.map { ($0.key.rawValue, .string($0.value.rawValue)) }),
            "quiet_hours": self.person.quietHours?.json ?? .null, "hides_content": .bool(self.person.hidesContent),
            "language": .optional(self.person.language),
            "may_be_added_by": .string((self.person.mayBeAddedBy ?? .everybody).rawValue),
            "conversations": .array(
                self.conversations.sorted { $0.key < $1.key }.map { conversation, settings in
                    [
                        "conversation": conversation.json, "level": .optional(settings.level?.rawValue),
                        "level_until": .optional(settings.levelUntil),
                    ]
                }),
            "blocked": JSONValue(self.blocked),
        ]
    }
}

extension QuietHours {
    fileprivate var json: JSONValue {
        [
            "start": .int(self.start), "end": .int(self.end), "weekdays": .array(self.weekdays.map { .int($0) }),
            "time_zone": .string(self.timeZone), "manner": .string(self.manner.rawValue),
        ]
    }
}

extension JSONValue {
    init(_ users: [UserID]) { self = .array(users.map { .string($0.rawValue) }) }
}

package import TidingsModel

/// What a store refuses, and in which words. Every store refuses the same things with the same words.
package enum StoreRules {
    /// The conversation of an accepted message must exist: group, discussion and chat room are made by `putConversation` first.
    package static func unknownConversation(_ conversation: ConversationID) -> InvalidField {
        InvalidField(
            field: "conversation.target",
            rule: "must name \(Self.kind(conversation.type)) that exists in this app, got \"\(conversation.target)\"")
    }

    /// Only a member may send to a group or discussion.
    package static func notAMember(of conversation: ConversationID) -> InvalidField {
        InvalidField(
            field: "conversation.target",
            rule: "must name \(Self.kind(conversation.type)) the sender is a member of, got \"\(conversation.target)\"")
    }

    /// A message id is given once.
    package static func usedMessageID(_ id: MessageID) -> InvalidField {
        InvalidField(field: "message.id", rule: "must be new, but \(id) is taken")
    }

    /// Cursors and tokens belong to devices that have signed in.
    package static func unknownDevice(_ key: DeviceKey) -> InvalidField {
        InvalidField(field: "device", rule: "must have signed in before, got \"\(key.device)\"")
    }

    /// A cursor stays within the log.
    package static func pastHead(field: String, head: LogPosition, got position: LogPosition) -> InvalidField {
        InvalidField(field: field, rule: "must not be past the head of the log, which is \(head), got \(position)")
    }

    /// Only a conversation the person has entries of can be read; a chat room never has any.
    package static func nothingToRead(_ conversation: ConversationID) -> InvalidField {
        InvalidField(
            field: "conversation", rule: "must have an entry in this person's log, got \(conversation)")
    }

    /// Checks a conversation before it is stored.
    ///
    /// - Returns: what is wrong with it, or nil: it must be a group, discussion or chat room, its target and members valid ids,
    ///   and it may have at most `ConversationRecord.membersMax` members.
    package static func fault(in record: ConversationRecord) -> InvalidField? {
        if record.conversation.type.targetIsPeer {
            return InvalidField(
                field: "conversation.type",
                rule: "must be DS, GRP or CHRM to have members, got \(record.conversation.type.rawValue)")
        }
        let max = ConversationRecord.membersMax
        if record.members.count > max {
            return InvalidField(field: "members", rule: "must be at most \(max), got \(record.members.count)")
        }
        do throws(InvalidField) {
            _ = try UserID.validated(record.conversation.target, field: "conversation.target")
            for member in record.members { _ = try UserID.validated(member.rawValue, field: "members") }
            return nil
        } catch {
            return error
        }
    }

    private static func kind(_ type: ConversationType) -> String {
        switch type {
        case .group: "a group"
        case .discussion: "a discussion"
        case .chatRoom: "a chat room"
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService: "a person"
        }
    }
}

/// A batch came from an owner that is not the owner any more (DESIGN §3 "Owner"). Nothing of it was carried out.
package struct StaleEpoch: Error, Hashable, Sendable, CustomStringConvertible {
    /// The epoch the batch carried.
    package var presented: UInt64
    /// The epoch of the present owner.
    package var current: UInt64

    /// An error from its parts.
    package init(presented: UInt64, current: UInt64) {
        self.presented = presented
        self.current = current
    }

    /// One sentence with both epochs.
    package var description: String {
        "the batch carries epoch \(self.presented), but the store has been opened again since, with epoch \(self.current)"
    }
}

package import TidingsModel

/// Every store refuses the same things with the same words.
package enum StoreRules {
    /// Groups, discussions and chat rooms are made by `putConversation` first.
    package static func unknownConversation(_ conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .unknownConversation, field: "conversation.target",
            rule: "must name \(Self.kind(conversation.type)) that exists in this app, got \"\(conversation.target)\"")
    }

    /// For sending to a group or discussion.
    package static func notAMember(of conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .notAMember, field: "conversation.target",
            rule: "must name \(Self.kind(conversation.type)) the sender is a member of, got \"\(conversation.target)\"")
    }

    /// For asking about a conversation, or changing it.
    package static func notAMember(_ user: UserID, of conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .notAMember, field: "conversation.target",
            rule:
                "must name \(Self.kind(conversation.type)) with the member \"\(user)\", got \"\(conversation.target)\"")
    }

    package static func strangerAmongRecipients(_ user: UserID) -> ServerFrame.Problem {
        .init(
            code: .invalidField, field: "recipients", rule: "must be members of the conversation, \"\(user)\" is none")
    }

    static func blocked(by user: UserID, field: String) -> ServerFrame.Problem {
        .init(
            code: .blocked, field: field,
            rule: "must not name who has blocked the one who brings them in, \"\(user)\" has")
    }

    package static func blocked(by user: UserID) -> ServerFrame.Problem {
        .init(
            code: .blocked, field: "conversation.target",
            rule: "must name a person who accepts messages, \"\(user)\" has blocked the sender")
    }

    package static func usedMessageID(_ id: MessageID) -> ServerFrame.Problem {
        .init(code: .invalidField, field: "message.id", rule: "must be new, but \(id) is taken")
    }

    /// Another message under the same client message id would be lost, and its sender told that it was accepted.
    /// `first` is the accepted message as it reads now; `isRevised`: its first content is no longer known; `isBySame`: both have the
    /// same author, or none. nil if it
    /// is the same message.
    package static func fault(
        inRepeat message: Message, of first: Message, isRevised: Bool, isBySame: Bool = true
    ) -> ServerFrame.Problem? {
        let isSame =
            isBySame && message.conversation == first.conversation && message.objectName == first.objectName
            && (isRevised || message.content == first.content)
        guard !isSame else { return nil }
        return .init(
            code: .invalidField, field: "client_message_id",
            rule: "must be new: \"\(message.clientMessageID)\" was another message of this person, \(first.id)")
    }

    package static func unknownDevice(_ key: DeviceKey) -> ServerFrame.Problem {
        .init(code: .invalidField, field: "device", rule: "must have signed in before, got \"\(key.device)\"")
    }

    package static func pastHead(field: String, head: LogPosition, got position: LogPosition) -> ServerFrame.Problem {
        .init(
            code: .invalidField, field: field,
            rule: "must not be past the head of the log, which is \(head), got \(position)")
    }

    /// A person can read only a conversation they have entries of; a chat room never has any.
    package static func nothingToRead(_ conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .invalidField, field: "conversation",
            rule: "must have an entry in this person's log, got \(conversation)")
    }

    /// nil if it is a group, discussion or chat room with valid ids, names that are not too long, and at most
    /// `ConversationRecord.membersMax` members, one of them its owner. Other than in `ConversationAction` the name
    /// may be empty.
    package static func fault(in record: ConversationRecord) -> ServerFrame.Problem? {
        Self.problem { () throws(InvalidField) in
            try Self.checkKind(of: record.conversation)
            try InvalidField.check(record.members.count, atMost: ConversationRecord.membersMax, "members")
            _ = try UserID.validated(record.conversation.target, field: "conversation.target")
            if !record.name.isEmpty { try DisplayName.check(record.name, field: "name", lettersMax: nil) }
            try Self.check(portrait: record.portrait)
            try record.push?.validate()
            for member in record.members {
                _ = try UserID.validated(member.id.rawValue, field: "members")
                try Self.check(nickname: member.nickname)
            }
            try InvalidField.check(
                record.members.count(where: { $0.role == .owner }) <= 1, "members", "must have at most one owner")
        }
    }

    static func checkKind(of conversation: ConversationID) throws(InvalidField) {
        guard conversation.type.targetIsPeer else { return }
        throw InvalidField(
            field: "conversation.type",
            rule: "must be DS, GRP or CHRM to have members, got \(conversation.type.rawValue)")
    }

    static func check(portrait: String?) throws(InvalidField) {
        let bytes = portrait?.utf8.count ?? 0
        try InvalidField.check(bytes, atMost: ConversationRecord.portraitBytesMax, "portrait", unit: " bytes")
    }

    static func check(nickname: String?) throws(InvalidField) {
        if let nickname { try DisplayName.check(nickname, field: "nickname") }
    }

    static func kind(_ type: ConversationType) -> String {
        switch type {
        case .group: "a group"
        case .discussion: "a discussion"
        case .chatRoom: "a chat room"
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService: "a person"
        }
    }
}

/// A batch of an earlier owner (design.md §3 "Owner"); nothing of it was carried out.
package struct StaleEpoch: Error, Hashable, Sendable, CustomStringConvertible {
    package var presented: UInt64
    package var current: UInt64

    package init(presented: UInt64, current: UInt64) {
        self.presented = presented
        self.current = current
    }

    package var description: String {
        "the batch carries epoch \(self.presented), but the store has been opened again since, with epoch \(self.current)"
    }
}

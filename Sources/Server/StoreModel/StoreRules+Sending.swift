package import TidingsModel

/// The standing of a person who wants to write to a conversation, as a store knows it.
package enum Standing: Hashable, Sendable {
    /// `isBlocked`: the target refuses them. `hasAccount`: one of the two is an account of the conversation's kind.
    case toPerson(isBlocked: Bool, hasAccount: Bool)
    /// There is no such group, discussion or chat room, or it was dissolved.
    case toNothing
    case toMembers(isMember: Bool, isBanned: Bool, silence: Silence? = nil)

    /// For what a mute does not keep anybody from: hearing, and taking back what they have written.
    package var withoutSilence: Standing {
        guard case .toMembers(let isMember, let isBanned, _) = self else { return self }
        return .toMembers(isMember: isMember, isBanned: isBanned)
    }
}

/// The refusals that a message of the app's backend goes past.
package struct PastRefusals: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It reaches people who have blocked the sender as it reaches others.
    package static let blocks = PastRefusals(rawValue: 1 << 0)
    /// Its sender may be banned.
    package static let ban = PastRefusals(rawValue: 1 << 1)
}

// Who may write where: for a send, an edit and a recall.
extension StoreRules {
    /// Checks the kind, then blocks, bans, membership and mutes. `conversation` is as the writer sees it. The backend
    /// (`isBackend`) may write to kinds people may not, and to chat rooms it is not in; a block (unless it `ignoresBlocks`), a
    /// ban, membership and a mute hold for the person in whose name it writes. Who is blocked by some members of a group may write to it:
    /// for these the message is hushed.
    package static func refusal(
        in conversation: ConversationID, isBackend: Bool, _ standing: Standing, room: RoomAccess,
        ignoresBlocks: Bool = false
    ) -> ServerFrame.Problem? {
        if conversation.type.isForBackend, !isBackend { return Self.isForBackend(conversation.type) }
        switch standing {
        case .toPerson(let isBlocked, let hasAccount):
            if conversation.type.needsAccount, !hasAccount { return Self.noAccount(conversation.type) }
            return isBlocked && !ignoresBlocks ? Self.blocked(by: UserID(conversation.target)) : nil
        case .toNothing: return Self.unknownConversation(conversation)
        case .toMembers(isMember: _, isBanned: true, silence: _): return Self.banned(from: conversation)
        case .toMembers(isMember: let isMember, isBanned: false, let silence):
            if !isMember {
                guard conversation.type == .chatRoom, room.isOpen else { return Self.notAMember(of: conversation) }
                guard isBackend || room.isInside else { return Self.notInside(conversation) }
            }
            return silence.map { Self.muted(in: conversation, $0) }
        }
    }

    /// Hearing a chat room, or reading there.
    package static func refusal(
        toEnter conversation: ConversationID, _ standing: Standing, room: RoomAccess
    ) -> ServerFrame.Problem? {
        Self.refusal(
            in: conversation, isBackend: false, standing.withoutSilence,
            room: RoomAccess(isOpen: room.isOpen, isInside: true, at: room.at))
    }

    /// Who has blocked the acting person is not brought into a conversation by them. `action` is what was decided: it names those
    /// who come in, besides the one who creates. The backend's own acts ask nobody.
    package static func refusal(
        bringingIn action: ConversationAction, by actor: UserID?,
        hasBlocked: (_ user: UserID, _ actor: UserID) throws -> Bool
    ) rethrows -> ServerFrame.Problem? {
        guard let actor, let (field, users) = action.broughtIn else { return nil }
        return try users.first { try $0 != actor && hasBlocked($0, actor) }.map { Self.blocked(by: $0, field: field) }
    }

    static func isForBackend(_ type: ConversationType) -> ServerFrame.Problem {
        .init(
            code: .notAllowed, field: "conversation.type",
            rule: "must be PR, GRP, DS or CHRM, or CS, MC or MP with an account: \(type.rawValue) is the backend's")
    }

    /// Service kinds have an account on one side.
    static func noAccount(_ type: ConversationType) -> ServerFrame.Problem {
        .init(
            code: .notAllowed, field: "conversation.target",
            rule:
                "must be, or be written to by, an account of kind \(type.rawValue) that the app's backend has declared")
    }

    package static let bannedPerson = ServerFrame.Problem(
        code: .disabled, field: "token", rule: "names a person whom the app has banned")

    package static let bannedUser = ServerFrame.Problem(code: .disabled, field: "user", rule: "must not be banned")

    /// Refuses what the backend writes in the name of a banned person, or says that one has written as an account: they cannot connect to
    /// write it. An account of the same id is another.
    package static func refusal(
        _ message: Message, ofPerson sender: AccountState?, author: AccountState? = nil, past: PastRefusals,
        among accounts: Accounts?
    ) -> ServerFrame.Problem? {
        guard !past.contains(.ban) else { return nil }
        func refusal(_ field: String, of person: AccountState?) -> ServerFrame.Problem? {
            guard person?.isBanned(at: message.sentAt) == true else { return nil }
            return .init(code: .disabled, field: field, rule: "must not be banned, unless the message says ignores_ban")
        }
        if let refused = refusal("author", of: author) { return refused }
        let account = ConversationID(type: message.conversation.type, target: message.sender.rawValue)
        guard !message.conversation.type.isForBackend, accounts?[account] == nil else { return nil }
        return refusal("sender", of: sender)
    }

    static func banned(from conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .banned, field: "conversation.target",
            rule: "must name a chat room one is not banned from, got \"\(conversation.target)\"")
    }

    static func muted(in conversation: ConversationID, _ silence: Silence) -> ServerFrame.Problem {
        let why =
            switch silence {
            case .muted(nil): "the sender is muted there"
            case .muted(let until?): "the sender is muted there until \(until)"
            case .onlyAdminsWrite: "only owner and admins write there"
            }
        return .init(
            code: .muted, field: "conversation.target",
            rule:
                "must name \(Self.kind(conversation.type)) the sender may write to, got \"\(conversation.target)\": \(why)"
        )
    }

    static func notInside(_ conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .notAMember, field: "conversation.target",
            rule: "must name a chat room this connection has entered, got \"\(conversation.target)\"")
    }
}

extension ConversationType {
    package var isForBackend: Bool {
        switch self {
        case .system, .pushService: true
        case .direct, .discussion, .group, .customerService, .appPublicService, .publicService, .chatRoom: false
        }
    }

    /// One of its two sides is an account that the backend has declared.
    package var needsAccount: Bool {
        switch self {
        case .customerService, .appPublicService, .publicService: true
        case .direct, .discussion, .group, .system, .pushService, .chatRoom: false
        }
    }
}

extension ConversationAction {
    /// Whom the action makes members without their doing, and in which field of a request they are named.
    fileprivate var broughtIn: (field: String, users: [UserID])? {
        switch self {
        case .create(_, _, let members): ("members", members)
        case .add(let users): ("users", users)
        case .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .mute,
            .unmute, .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            nil
        }
    }
}

extension Message {
    /// The message for a person who had blocked its sender when it was stored, in a conversation that both are in: it is in their history,
    /// and neither counts, rings nor mentions. Their phone needs no other facts: it goes by the same flags.
    package var hushed: Message {
        var message = self
        message.flags.subtract([.counted, .notified])
        message.mentions = .none
        return message
    }

    /// `content` is what it says since it was edited; nil if it was not. `isGone`: it was recalled, or deleted by the
    /// reader, and says nothing.
    package func revised(content: String?, isGone: Bool) -> Message {
        guard isGone || content != nil else { return self }
        var message = self
        message.content = isGone ? "" : content ?? ""
        // They were written for the old content.
        message.pushText = nil
        if let push = message.push { message.push = isGone ? nil : push.withoutWords }
        return message
    }
}

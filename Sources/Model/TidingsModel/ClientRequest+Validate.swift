extension ClientRequest {
    /// The most messages one answer to `.history` or `.enterRoom` may bring.
    public static let historyMax: UInt32 = 100
    /// The most people one `.watch` or `.unwatch` may name.
    public static let watchedMax = 200
    /// The most people one `.profiles` may name.
    public static let profilesMax = 100
    /// The most tags a person may have.
    public static let tagsMax = 100

    /// Throws `InvalidField` for an id, name, text, time or number that breaks its rule; the rest needs the store.
    public func validate() throws(InvalidField) {
        switch self {
        case .change(let conversation, let action):
            try conversation.validate(hasMembers: true)
            try action.validate()
        case .recall: break
        case .edit(_, let content):
            guard !content.isEmpty else { throw InvalidField(field: "content", rule: "must not be empty") }
            try InvalidField.check(content.utf8.count, atMost: MessageDraft.contentBytesMax, "content", unit: " bytes")
        case .delete(let deletion):
            try deletion.conversation.validate()
            try InvalidField.check(deletion.messages.count, in: 1...Deletion.messagesMax, "messages")
        case .setConversationSettings(let conversation, let settings):
            try conversation.validate()
            try settings.validate()
        case .setConversationState(let conversation, let change):
            try conversation.validate()
            try change.validate()
        case .setPersonSettings(let settings): try settings.validate()
        case .setBlocked(let user, _): _ = try UserID.validated(user.rawValue, field: "user")
        case .conversation(let conversation): try conversation.validate(hasMembers: true)
        case .settings, .devices, .following: break
        case .signOutDevice(let device): _ = try DeviceID.validated(device.rawValue, field: "device")
        case .history(let conversation, _, let limit):
            try conversation.validate()
            try InvalidField.check(limit, in: 1...Self.historyMax, "limit")
        case .enterRoom(let room, let history):
            try room.validateRoom()
            try InvalidField.check(history, in: 0...Self.historyMax, "history")
        case .exitRoom(let room): try room.validateRoom()
        case .receipts: break
        case .watch(let users), .unwatch(let users):
            try InvalidField.check(users.count, in: 1...Self.watchedMax, "users")
            for user in users { _ = try UserID.validated(user.rawValue, field: "users") }
        case .renewToken(let token):
            guard !token.isEmpty else { throw InvalidField(field: "token", rule: "must not be empty") }
        case .setProfile(let profile): try profile.validate()
        case .profiles(let users):
            try InvalidField.check(users.count, in: 1...Self.profilesMax, "users")
            for user in users { _ = try UserID.validated(user.rawValue, field: "users") }
        case .setFollowing(let account, _):
            try InvalidField.check(
                account.type.isService, "account.type", "must be CS, SYS, MC, MP or PH, got \(account.type.rawValue)")
            _ = try UserID.validated(account.target, field: "account.target")
        case .setTags(let tags):
            try InvalidField.check(Set(tags).count, atMost: Self.tagsMax, "tags")
            for tag in tags { _ = try UserID.validated(tag, field: "tags") }
        case .registerVoIP(let registration):
            guard let topic = registration?.topic else { return }
            try InvalidField.check(
                topic.hasSuffix(PushRegistration.voIPSuffix) && topic != PushRegistration.voIPSuffix, "topic",
                "must be a bundle identifier and \(PushRegistration.voIPSuffix), got \"\(topic)\"")
        }
    }
}

extension ConversationID {
    /// Checks the target, and on demand that the kind has members; throws `InvalidField`.
    public func validate(hasMembers: Bool = false) throws(InvalidField) {
        try InvalidField.check(
            !hasMembers || !self.type.targetIsPeer, "conversation.type",
            "must be DS, GRP or CHRM: others have no members")
        _ = try UserID.validated(self.target, field: "conversation.target")
    }

    fileprivate func validateRoom() throws(InvalidField) {
        try InvalidField.check(self.type == .chatRoom, "conversation.type", "must be CHRM, got \(self.type.rawValue)")
        try self.validate()
    }
}

extension ConversationAction {
    /// The longest portrait, in bytes of UTF-8.
    public static let portraitBytesMax = 1_024

    /// Checks names, portraits and ids, and throws `InvalidField`; the server decides how many members there may be.
    public func validate() throws(InvalidField) {
        switch self {
        case .create(let name, let portrait, let members):
            try Self.check(name: name)
            try Self.check(portrait: portrait)
            for member in members { _ = try UserID.validated(member.rawValue, field: "members") }
        case .add(let users), .remove(let users), .ban(let users, _), .unban(let users), .mute(let users, _),
            .unmute(let users), .withdraw(let users):
            guard !users.isEmpty else { throw InvalidField(field: "users", rule: "must not be empty") }
            for user in users { _ = try UserID.validated(user.rawValue, field: "users") }
            try GivenTime.check(self.until, "until")
        case .rename(let name): try Self.check(name: name)
        case .setPortrait(let portrait): try Self.check(portrait: portrait)
        case .setRole(let user, _): _ = try UserID.validated(user.rawValue, field: "user")
        case .setNickname(let user, let nickname):
            _ = try UserID.validated(user.rawValue, field: "user")
            guard let nickname else { return }
            try DisplayName.check(nickname, field: "nickname")
        case .invite:
            throw InvalidField(field: "action", rule: "must be add: who may not be added is invited by that")
        case .join, .leave, .dissolve, .setOnlyAdminsWrite, .decline: break
        }
    }

    /// When a ban or mute ends.
    private var until: Int64? {
        switch self {
        case .ban(_, let until), .mute(_, let until): until
        case .create, .add, .remove, .unban, .unmute, .withdraw, .rename, .setPortrait, .setRole, .setNickname, .invite,
            .join, .leave, .dissolve, .setOnlyAdminsWrite, .decline:
            nil
        }
    }

    private static func check(name: String) throws(InvalidField) {
        try DisplayName.check(name, field: "name", lettersMax: nil)
    }

    private static func check(portrait: String?) throws(InvalidField) {
        guard let portrait else { return }
        try InvalidField.check(portrait.utf8.count, in: 1...Self.portraitBytesMax, "portrait", unit: " bytes")
    }
}

extension ConversationSettings {
    /// Throws `InvalidField` for an end without a level, and for what is not set along with the level; the server checks that the end is
    /// in the future.
    public func validate() throws(InvalidField) {
        try InvalidField.check(
            self == self.levelAlone, "settings",
            "must be a level: pins, archive, hiding and drafts are changed one by one")
        guard let until = self.levelUntil else { return }
        guard self.level != nil else { throw InvalidField(field: "level_until", rule: "needs a level") }
        try GivenTime.check(until, "level_until")
    }
}

extension PersonSettings {
    /// The longest language tag, in bytes (RFC 5646 §4.4.1).
    public static let languageBytesMax = 35

    /// Throws `InvalidField` for quiet hours or a language; only a time-zone database knows the zone.
    public func validate() throws(InvalidField) {
        try self.quietHours?.validate()
        guard let language = self.language else { return }
        try InvalidField.check(
            (1...Self.languageBytesMax).contains(language.utf8.count) && language.utf8.allSatisfy(Self.isTag),
            "language", "must be a BCP 47 tag of 1 to \(Self.languageBytesMax) letters, digits and hyphens")
    }

    /// RFC 5646 §2.1.
    private static func isTag(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

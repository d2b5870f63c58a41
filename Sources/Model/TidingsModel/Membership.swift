/// The rights of a member of a group, discussion or chat room.
public enum MemberRole: String, Hashable, Sendable, CaseIterable, JSONWritable {
    /// At most one; may do everything, also dissolve.
    case owner
    /// May add and remove members, rename, set others' nicknames and recall others' messages.
    case admin
    /// May write, leave, and set their own nickname.
    case member
}

/// A mute: a person may not write in a conversation, nor change their earlier messages there.
public struct Mute: Hashable, Sendable {
    /// When it ends by itself, wall milliseconds since 1970; nil for when it is lifted.
    public var until: Int64?

    /// A mute until a time, by default until it is lifted.
    public init(until: Int64? = nil) { self.until = until }

    /// Returns true if it holds at a moment of the wall clock.
    public func holds(at wall: Int64) -> Bool { self.until.map { $0 > wall } ?? true }
}

/// An invitation into a group or discussion, for a person who may not be added without their consent. Until they join, they get nothing
/// else of it.
public struct Invitation: Hashable, Sendable, Identifiable {
    /// The conversation.
    public var id: ConversationID
    /// Its name, at the time of the invitation.
    public var name: String
    /// Its image at that time, a URL; nil for none.
    public var portrait: String?
    /// Who invites.
    public var by: UserID
    /// Wall milliseconds since 1970.
    public var at: Int64

    /// An invitation from its parts.
    public init(id: ConversationID, name: String, portrait: String? = nil, by: UserID, at: Int64) {
        self.id = id
        self.name = name
        self.portrait = portrait
        self.by = by
        self.at = at
    }
}

/// A change of a person's invitations.
public enum InvitationChange: Hashable, Sendable {
    case made(Invitation)
    /// The person is a member now, has declined, or it was withdrawn.
    case ended(ConversationID)
}

/// One member of a group, discussion or chat room.
public struct Member: Hashable, Sendable, Identifiable {
    /// The person.
    public var id: UserID
    /// The member's rights.
    public var role: MemberRole
    /// The member's name in this conversation; nil for their own name. See `DisplayName`.
    public var nickname: String?
    /// That they may not write; nil if they may. It may have ended meanwhile (`Mute.holds`).
    public var mute: Mute?

    /// A member from their parts.
    public init(_ id: UserID, role: MemberRole = .member, nickname: String? = nil, mute: Mute? = nil) {
        self.id = id
        self.role = role
        self.nickname = nickname
        self.mute = mute
    }
}

/// An action on a conversation that has members.
public enum ConversationAction: Hashable, Sendable {
    /// The person who creates it becomes its owner beside these members; one created by the backend has none.
    case create(name: String, portrait: String?, members: [UserID])
    /// By owner, admin, in a discussion every member, or the backend. A person who may not be added without their consent
    /// (`PersonSettings.mayBeAddedBy`) is invited instead, by `invite`; the backend asks nobody.
    case add([UserID])
    /// Discussions and chat rooms; also a group, for a person who is invited.
    case join
    /// By owner, admin (no owner and no other admin), or the backend.
    case remove([UserID])
    /// When the owner leaves, the next admin, then the member with the smallest id, becomes owner.
    case leave
    /// By owner, admin, in a discussion every member, or the backend.
    case rename(String)
    /// A URL; nil for none. By those who may rename.
    case setPortrait(String?)
    /// By the owner or the backend. A new owner makes the old one an admin.
    case setRole(UserID, MemberRole)
    /// nil for their own name. By the member, owner, admin, or the backend.
    case setNickname(UserID, String?)
    /// Nobody can write any more; what was written stays readable. By the owner or the backend.
    case dissolve
    /// From a chat room, until a time in wall milliseconds since 1970; nil for until it is lifted. By those who may
    /// remove.
    case ban([UserID], until: Int64?)
    /// By those who may ban.
    case unban([UserID])
    /// They may neither write nor edit, until a time in wall milliseconds since 1970; nil for until it is lifted. It outlasts their
    /// membership, so that nobody escapes it by leaving. By owner, admin (no owner and no other admin), or the backend.
    case mute([UserID], until: Int64?)
    /// By those who may mute.
    case unmute([UserID])
    /// Sets if only owner and admins may write. By owner, admin, or the backend.
    case setOnlyAdminsWrite(Bool)
    /// Into the conversation of that name and portrait. Nobody requests it: `create` and `add` make it. An invited person sees only
    /// themselves here, and nothing else of the conversation until they join.
    case invite([UserID], name: String, portrait: String?)
    /// By an invited person.
    case decline
    /// Invitations. By the inviter, an owner or admin, or the backend; and by the person who dissolves the conversation.
    case withdraw([UserID])

    /// The people it names.
    public var people: [UserID] {
        switch self {
        case .create(_, _, let members): members
        case .add(let users), .remove(let users), .ban(let users, _), .unban(let users), .mute(let users, _),
            .unmute(let users), .invite(let users, _, _), .withdraw(let users):
            users
        case .setRole(let user, _), .setNickname(let user, _): [user]
        case .join, .leave, .rename, .setPortrait, .dissolve, .setOnlyAdminsWrite, .decline: []
        }
    }

    /// The name on the wire.
    public var name: String {
        switch self {
        case .create: "create"
        case .add: "add"
        case .join: "join"
        case .remove: "remove"
        case .leave: "leave"
        case .rename: "rename"
        case .setPortrait: "set_portrait"
        case .setRole: "set_role"
        case .setNickname: "set_nickname"
        case .dissolve: "dissolve"
        case .ban: "ban"
        case .unban: "unban"
        case .mute: "mute"
        case .unmute: "unmute"
        case .setOnlyAdminsWrite: "only_admins_write"
        case .invite: "invite"
        case .decline: "decline"
        case .withdraw: "withdraw"
        }
    }
}

/// Something that changed in a conversation with members, as its members' logs tell it. Never counted, never rung.
public struct ConversationChange: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The membership version after it: 1 for the first, then one more for each change.
    public var version: UInt64
    /// The action. `create`, `add` and `remove` name those who were not, or were, members before, sorted.
    public var action: ConversationAction
    /// Who did it; nil for the app's backend.
    public var by: UserID?
    /// Wall milliseconds since 1970.
    public var at: Int64

    /// A change from its parts.
    public init(conversation: ConversationID, version: UInt64, action: ConversationAction, by: UserID?, at: Int64) {
        self.conversation = conversation
        self.version = version
        self.action = action
        self.by = by
        self.at = at
    }

    /// Returns true if `user` is no longer a member after it.
    public func removes(_ user: UserID) -> Bool {
        switch self.action {
        case .leave: self.by == user
        case .remove(let users), .ban(let users, _): users.contains(user)
        case .create, .add, .join, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .unban, .mute, .unmute,
            .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            false
        }
    }

    package func adds(_ user: UserID) -> Bool {
        switch self.action {
        case .add(let users): users.contains(user)
        case .join: self.by == user
        case .create, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .mute,
            .unmute, .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            false
        }
    }

    /// The people whom it invites, or whose invitation it ends while they are no members: they are told of it.
    package var invitees: [UserID] {
        switch self.action {
        case .invite(let users, _, _), .withdraw(let users): users
        case .decline: [self.by].compactMap { $0 }
        case .create, .add, .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban,
            .unban, .mute, .unmute, .setOnlyAdminsWrite:
            []
        }
    }

    /// Returns its change to a person's invitation there; nil for none.
    package func invitation(of user: UserID) -> InvitationChange? {
        switch self.action {
        case .invite(let users, let name, let portrait):
            guard users.contains(user), let by = self.by else { return nil }
            return .made(Invitation(id: self.conversation, name: name, portrait: portrait, by: by, at: self.at))
        case .withdraw, .decline: return self.invitees.contains(user) ? .ended(self.conversation) : nil
        case .create, .add, .join: return self.adds(user) ? .ended(self.conversation) : nil
        case .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban, .unban, .mute, .unmute,
            .setOnlyAdminsWrite:
            return nil
        }
    }

    /// Returns the change as one person's log tells it: an invited person learns of nobody else.
    package func seen(by user: UserID) -> ConversationChange {
        var change = self
        switch self.action {
        case .invite(let users, let name, let portrait):
            if users.contains(user) { change.action = .invite([user], name: name, portrait: portrait) }
        case .withdraw(let users): if users.contains(user) { change.action = .withdraw([user]) }
        case .create, .add, .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban,
            .unban, .mute, .unmute, .setOnlyAdminsWrite, .decline:
            break
        }
        return change
    }

    /// The one rule for the server's store and the phones'. Sorted by id, each once, before and after.
    package func members(after members: [Member]) -> [Member] {
        var members = members
        switch self.action {
        case .create(_, _, let users):
            members = []
            members.insert(users)
            if let owner = self.by {
                members.insert([owner])
                members.setRole(.owner, of: owner)
            }
        case .add(let users): members.insert(users)
        case .join: members.insert([self.by].compactMap { $0 })
        case .remove(let users), .ban(let users, _): members.remove(Set(users))
        case .leave: members.remove(Set([self.by].compactMap { $0 }))
        case .setRole(let user, let role): members.setRole(role, of: user)
        case .setNickname(let user, let nickname):
            if let index = members.firstIndex(where: { $0.id == user }) { members[index].nickname = nickname }
        case .mute(let users, let until): members.setMute(Mute(until: until), of: Set(users))
        case .unmute(let users): members.setMute(nil, of: Set(users))
        case .rename, .setPortrait, .dissolve, .unban, .setOnlyAdminsWrite, .invite, .decline, .withdraw: break
        }
        return members
    }
}

extension Array where Element == Member {
    fileprivate mutating func insert(_ users: [UserID]) {
        var known = Set(self.map(\.id))
        self += users.filter { known.insert($0).inserted }.map { Member($0) }
        self.sort { $0.id < $1.id }
    }

    /// If the owner leaves, the next admin, or else the member with the smallest id, becomes owner.
    fileprivate mutating func remove(_ leaving: Set<UserID>) {
        let hadOwner = self.contains { leaving.contains($0.id) && $0.role == .owner }
        self.removeAll { leaving.contains($0.id) }
        guard hadOwner, let next = self.firstIndex(where: { $0.role == .admin }) ?? self.indices.first else { return }
        self[next].role = .owner
    }

    fileprivate mutating func setMute(_ mute: Mute?, of users: Set<UserID>) {
        for index in self.indices where users.contains(self[index].id) { self[index].mute = mute }
    }

    /// A new owner makes the old one an admin.
    fileprivate mutating func setRole(_ role: MemberRole, of user: UserID) {
        for index in self.indices {
            if self[index].id == user {
                self[index].role = role
            } else if role == .owner, self[index].role == .owner {
                self[index].role = .admin
            }
        }
    }
}

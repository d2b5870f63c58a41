package import TidingsModel

package struct ConversationPolicy: Hashable, Sendable {
    package enum Creation: String, Hashable, Sendable, CaseIterable {
        case anyone
        case backend
    }

    /// Who may join by themselves; who may hear a chat room, with `nobody` only its members.
    package enum Joining: String, Hashable, Sendable, CaseIterable {
        case anyone
        case nobody
    }

    package enum Adding: String, Hashable, Sendable, CaseIterable {
        case members
        /// Owner and admins.
        case admins
        case backend
    }

    package var create: Creation
    package var join: Joining
    package var add: Adding

    package init(create: Creation, join: Joining, add: Adding) {
        self.create = create
        self.join = join
        self.add = add
    }

    package static let group = ConversationPolicy(create: .anyone, join: .nobody, add: .admins)
    /// A discussion's id is the invitation.
    package static let discussion = ConversationPolicy(create: .anyone, join: .anyone, add: .members)
    package static let chatRoom = ConversationPolicy(create: .anyone, join: .anyone, add: .admins)

    package static func standard(for type: ConversationType) -> ConversationPolicy {
        switch type {
        case .discussion: .discussion
        case .chatRoom: .chatRoom
        case .group, .direct, .customerService, .system, .appPublicService, .publicService, .pushService: .group
        }
    }
}

/// How the reader or writer stands to a chat room, as far as the server core knows; unused for other kinds.
package struct RoomAccess: Hashable, Sendable {
    /// Anybody who is not banned may come in; otherwise only members.
    package var isOpen: Bool
    /// They hear the room just now. A member need not.
    package var isInside: Bool
    /// Wall milliseconds: decides whether a ban has ended.
    package var at: Int64

    package init(isOpen: Bool = true, isInside: Bool = true, at: Int64 = 0) {
        self.isOpen = isOpen
        self.isInside = isInside
        self.at = at
    }
}

/// A ban: a person may not enter a chat room. A mute, by which they may not write in a conversation, has the same parts.
package struct Ban: Hashable, Sendable {
    package var user: UserID
    /// Wall milliseconds; nil for as long as nobody lifts it.
    package var until: Int64?

    package init(user: UserID, until: Int64?) {
        self.user = user
        self.until = until
    }

    package func holds(at wall: Int64) -> Bool { self.until.map { $0 > wall } ?? true }
}

extension [Ban] {
    package func hold(_ user: UserID, at wall: Int64) -> Bool {
        self.contains { $0.user == user && $0.holds(at: wall) }
    }

    /// Bans people. Bans that have ended are forgotten.
    package mutating func set(_ users: [UserID], until: Int64?, at wall: Int64) {
        self.lift(users, at: wall)
        // tidy: order does not leave: these are a list, and sorted below.
        self += users.map { Ban(user: $0, until: until) }
        self.sort { $0.user < $1.user }
    }

    package mutating func lift(_ users: [UserID], at wall: Int64) {
        let users = Set(users)
        self.removeAll { users.contains($0.user) || !$0.holds(at: wall) }
    }
}

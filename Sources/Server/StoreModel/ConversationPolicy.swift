package import TidingsModel

/// Who may make a conversation of a kind, come into one by its id, and add people. The backend may always.
package struct ConversationPolicy: Hashable, Sendable {
    /// Who may make one.
    package enum Creation: String, Hashable, Sendable, CaseIterable {
        case anyone
        case backend
    }

    /// Who may come in by themselves. Of a chat room also who may hear it: with `nobody` its members alone.
    package enum Joining: String, Hashable, Sendable, CaseIterable {
        case anyone
        case nobody
    }

    /// Who may add people.
    package enum Adding: String, Hashable, Sendable, CaseIterable {
        /// Every member.
        case members
        /// Owner and admins.
        case admins
        case backend
    }

    /// Who may make one.
    package var create: Creation
    /// Who may come in.
    package var join: Joining
    /// Who may add people.
    package var add: Adding

    /// A policy from its parts.
    package init(create: Creation, join: Joining, add: Adding) {
        self.create = create
        self.join = join
        self.add = add
    }

    /// What holds for a group unless an operator says otherwise: who is in it is its owner's and admins' business.
    package static let group = ConversationPolicy(create: .anyone, join: .nobody, add: .admins)
    /// The same for a discussion: its id is the invitation.
    package static let discussion = ConversationPolicy(create: .anyone, join: .anyone, add: .members)
    /// The same for a chat room: a public place.
    package static let chatRoom = ConversationPolicy(create: .anyone, join: .anyone, add: .admins)

    /// What holds for a kind unless an operator says otherwise.
    package static func standard(for type: ConversationType) -> ConversationPolicy {
        switch type {
        case .discussion: .discussion
        case .chatRoom: .chatRoom
        case .group, .direct, .customerService, .system, .appPublicService, .publicService, .pushService: .group
        }
    }
}

/// How who writes to a chat room or reads there stands to it, as far as the server core knows; of no interest for other kinds.
package struct RoomAccess: Hashable, Sendable {
    /// Anybody who is not banned may come in; otherwise the room is its members' alone.
    package var isOpen: Bool
    /// They hear the room just now. Who is a member need not.
    package var isInside: Bool
    /// Wall milliseconds: whether a ban has ended.
    package var at: Int64

    /// A standing from its parts; by default of somebody in an open room, in which no ban has ended.
    package init(isOpen: Bool = true, isInside: Bool = true, at: Int64 = 0) {
        self.isOpen = isOpen
        self.isInside = isInside
        self.at = at
    }
}

/// Somebody who may not come into a chat room.
package struct Ban: Hashable, Sendable {
    /// The person.
    package var user: UserID
    /// Until when, in wall milliseconds; nil for as long as nobody lifts it.
    package var until: Int64?

    /// A ban from its parts.
    package init(user: UserID, until: Int64?) {
        self.user = user
        self.until = until
    }

    /// Whether it holds at a time, in wall milliseconds.
    package func holds(at wall: Int64) -> Bool { self.until.map { $0 > wall } ?? true }
}

extension [Ban] {
    /// Whether somebody is banned at a time, in wall milliseconds.
    package func hold(_ user: UserID, at wall: Int64) -> Bool {
        self.contains { $0.user == user && $0.holds(at: wall) }
    }
}

package import TidingsModel

/// Who may do what with a conversation that has members, and what comes of it; every store uses these.
package enum ConversationRules {
    package enum Decision: Hashable, Sendable {
        case refused(ServerFrame.Problem)
        case nothing
        /// `ConversationChange.action`.
        case action(ConversationAction)
    }

    /// Checks in this order: fields, whether the conversation exists, membership, who may, whether it changes
    /// anything, how many members it would have. `known` is nil if there never was a conversation of that name.
    package static func decide(_ operation: ConversationOperation, known: StoredConversation?) -> Decision {
        if let fault = Self.fault(in: operation) { return .refused(fault) }
        if case .create(let name, let portrait, let members) = operation.action {
            if operation.actor != nil, operation.policy.create == .backend {
                return Self.notAllowed("must be done by the app's backend: people make none of this kind here")
            }
            guard known == nil else { return .refused(Self.exists(operation.conversation)) }
            let others = Set(members).subtracting([operation.actor].compactMap { $0 })
            if let fault = Self.tooMany(others.count + (operation.actor == nil ? 0 : 1), operation) {
                return .refused(fault)
            }
            return .action(.create(name: name, portrait: portrait, members: others.sorted()))
        }
        guard let known, !known.isDissolved else {
            return .refused(StoreRules.unknownConversation(operation.conversation))
        }
        let members = known.record.members
        let actor = operation.actor.map { id in members.member(id) ?? Member(id) }
        if let actor, members.member(actor.id) == nil, ![.join, .decline].contains(operation.action) {
            return .refused(StoreRules.notAMember(actor.id, of: operation.conversation))
        }
        return Self.decide(operation, by: actor, in: known)
    }

    private static func decide(
        _ operation: ConversationOperation, by actor: Member?, in known: StoredConversation
    ) -> Decision {
        let record = known.record
        let type = record.conversation.type
        let isRanked = actor.map { $0.role != .member } ?? true
        let mayShape = isRanked || type == .discussion
        let mayRule = actor.map { $0.role == .owner } ?? true
        switch operation.action {
        case .create: return .nothing
        case .add(let users):
            if let fault = Self.adding(by: actor, operation.policy.add) { return fault }
            return Self.add(Set(users), operation, to: known)
        case .join:
            guard let actor else { return Self.notAllowed("must be done by a person") }
            return Self.join(actor.id, operation, known)
        case .remove(let users):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            return Self.remove(Set(users), by: actor, from: record)
        case .ban(let users, let until):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            return Self.restrict(
                Set(users), until: until, by: actor, at: operation.at, beside: known.bans, in: record, "banned"
            ) { .ban($0, until: until) }
        case .unban(let users):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            let banned = Set(users).intersection(known.bans.map(\.user))
            return banned.isEmpty ? .nothing : .action(.unban(banned.sorted()))
        case .mute(let users, let until):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            return Self.restrict(
                Set(users), until: until, by: actor, at: operation.at, beside: known.mutes, in: record, "muted"
            ) { .mute($0, until: until) }
        case .unmute(let users):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            let muted = Set(users).intersection(known.mutes.map(\.user))
            return muted.isEmpty ? .nothing : .action(.unmute(muted.sorted()))
        case .setOnlyAdminsWrite(let isOn):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            return known.onlyAdminsWrite == isOn ? .nothing : .action(.setOnlyAdminsWrite(isOn))
        case .invite: return Self.notAllowed("must be add: who may not be added is invited by that")
        case .decline:
            guard let actor else { return Self.notAllowed("must be done by a person") }
            return known.invitee(actor.id) == nil ? .nothing : .action(.decline)
        case .withdraw(let users): return Self.withdraw(Set(users), by: actor, isRanked: isRanked, known)
        case .leave:
            guard actor != nil else { return Self.notAllowed("must be done by a person") }
            return .action(.leave)
        case .rename(let name):
            guard mayShape else { return Self.notAllowed("must be done by an owner or admin") }
            return record.name == name ? .nothing : .action(.rename(name))
        case .setPortrait(let portrait):
            guard mayShape else { return Self.notAllowed("must be done by an owner or admin") }
            return record.portrait == portrait ? .nothing : .action(.setPortrait(portrait))
        case .setRole(let user, let role):
            guard mayRule else { return Self.notAllowed("must be done by the owner") }
            return Self.ifMember(user, of: record) { $0.role == role ? .nothing : .action(.setRole(user, role)) }
        case .setNickname(let user, let nickname):
            guard isRanked || actor?.id == user else {
                return Self.notAllowed("must be done by the member, an owner or admin")
            }
            return Self.ifMember(user, of: record) {
                $0.nickname == nickname ? .nothing : .action(.setNickname(user, nickname))
            }
        case .dissolve:
            guard mayRule else { return Self.notAllowed("must be done by the owner") }
            return .action(.dissolve)
        }
    }

    private static func add(
        _ users: Set<UserID>, _ operation: ConversationOperation, to known: StoredConversation
    ) -> Decision {
        let members = known.record.members
        let new = users.subtracting(members.map(\.id)).sorted()
        guard !new.isEmpty else { return .nothing }
        if let banned = new.first(where: { known.bans.hold($0, at: operation.at) }) {
            return .refused(
                .init(code: .banned, field: "users", rule: "must not name who is banned, \"\(banned)\" is: unban first")
            )
        }
        return Self.tooMany(members.count + new.count, operation).map { .refused($0) } ?? .action(.add(new))
    }

    /// The backend always may.
    private static func adding(by actor: Member?, _ policy: ConversationPolicy.Adding) -> Decision? {
        guard let actor else { return nil }
        switch policy {
        case .members: return nil
        case .admins: return actor.role == .member ? Self.notAllowed("must be done by an owner or admin") : nil
        case .backend: return Self.notAllowed("must be done by the app's backend")
        }
    }

    private static func join(
        _ user: UserID, _ operation: ConversationOperation, _ known: StoredConversation
    ) -> Decision {
        let members = known.record.members
        guard members.member(user) == nil else { return .nothing }
        guard operation.policy.join == .anyone || known.invitee(user) != nil else {
            return Self.notAllowed("must be added by others: nobody comes in here by themselves")
        }
        if known.bans.hold(user, at: operation.at) { return .refused(StoreRules.banned(from: operation.conversation)) }
        return Self.tooMany(members.count + 1, operation).map { .refused($0) } ?? .action(.join)
    }

    private static func remove(_ users: Set<UserID>, by actor: Member?, from record: ConversationRecord) -> Decision {
        if let fault = Self.outranked(users, by: actor, in: record) { return fault }
        // A chat room has hearers who are no members: they are removed as well.
        let gone =
            record.conversation.type == .chatRoom
            ? users.sorted() : record.members.map(\.id).filter { users.contains($0) }
        return gone.isEmpty ? .nothing : .action(.remove(gone))
    }

    /// Nobody removes the owner, nor an admin another one.
    private static func outranked(_ users: Set<UserID>, by actor: Member?, in record: ConversationRecord) -> Decision? {
        let gone = record.members.filter { users.contains($0.id) }
        if gone.contains(where: { $0.role == .owner }) {
            return Self.notAllowed("must not name the owner, who can only leave")
        }
        if actor?.role == .admin, gone.contains(where: { $0.role == .admin && $0.id != actor?.id }) {
            return Self.notAllowed("must not name another admin")
        }
        return nil
    }

    private static func restrict(
        _ users: Set<UserID>, until: Int64?, by actor: Member?, at wall: Int64, beside known: [Ban],
        in record: ConversationRecord, _ word: String, _ action: ([UserID]) -> ConversationAction
    ) -> Decision {
        if let fault = Self.outranked(users, by: actor, in: record) { return fault }
        let bans = known.filter { $0.holds(at: wall) }
        if let fault = Self.tooMany(users, beside: bans, word) { return fault }
        let isSo = users.allSatisfy { bans.contains(Ban(user: $0, until: until)) }
        return isSo ? .nothing : .action(action(users.sorted()))
    }

    private static func tooMany(_ users: Set<UserID>, beside bans: [Ban], _ word: String) -> Decision? {
        let count = bans.count { !users.contains($0.user) } + users.count
        guard count > Self.bansMax else { return nil }
        return .refused(
            .init(
                code: .invalidField, field: "users",
                rule: "must leave at most \(Self.bansMax) people \(word), got \(count)"))
    }

    private static func withdraw(
        _ users: Set<UserID>, by actor: Member?, isRanked: Bool, _ known: StoredConversation
    ) -> Decision {
        let gone = known.invited.filter { users.contains($0.user) }
        guard isRanked || gone.allSatisfy({ $0.by == actor?.id }) else {
            return Self.notAllowed("must be done by whoever invited, an owner or admin")
        }
        return gone.isEmpty ? .nothing : .action(.withdraw(gone.map(\.user)))
    }

    /// For owner, admins and the backend.
    package static func restrictions(
        _ kind: RestrictionKind, in conversation: ConversationID, known: StoredConversation?, asked: UserID?,
        at wall: Int64
    ) -> StoreResult {
        guard let known else { return .refused(StoreRules.unknownConversation(conversation)) }
        if let asked {
            guard let member = known.record.members.member(asked) else {
                return .refused(StoreRules.notAMember(asked, of: conversation))
            }
            guard member.role != .member else {
                let rule = "must be asked by an owner or admin"
                return .refused(.init(code: .notAllowed, field: "actor", rule: rule))
            }
        }
        return switch kind {
        case .bans: .bans(known.bans.filter { $0.holds(at: wall) })
        case .mutes: .bans(known.mutes.filter { $0.holds(at: wall) })
        case .invitations: .invited(known.invited)
        }
    }

    /// Also of mutes.
    package static let bansMax = 3_000
    package static let invitedMax = 3_000

    private static func ifMember(
        _ user: UserID, of record: ConversationRecord, _ decide: (Member) -> Decision
    ) -> Decision {
        guard let member = record.members.member(user) else {
            return .refused(StoreRules.notAMember(user, of: record.conversation))
        }
        return decide(member)
    }

    // MARK: Refusals

    private static func fault(in operation: ConversationOperation) -> ServerFrame.Problem? {
        StoreRules.problem { () throws(InvalidField) in
            try StoreRules.checkKind(of: operation.conversation)
            _ = try UserID.validated(operation.conversation.target, field: "conversation.target")
            switch operation.action {
            case .create(let name, let portrait, let members):
                try DisplayName.check(name, field: "name", lettersMax: nil)
                try StoreRules.check(portrait: portrait)
                try Self.check(members)
            case .add(let users), .remove(let users): try Self.check(users)
            case .ban(let users, let until):
                try Self.checkRoom(operation.conversation)
                try Self.check(users)
                if let until, until <= operation.at {
                    throw InvalidField(
                        field: "until", rule: "must be in the future, after \(operation.at), got \(until)")
                }
            case .unban(let users):
                try Self.checkRoom(operation.conversation)
                try Self.check(users)
            case .mute(let users, let until):
                try Self.check(users)
                if let until, until <= operation.at {
                    throw InvalidField(
                        field: "until", rule: "must be in the future, after \(operation.at), got \(until)")
                }
            case .unmute(let users), .withdraw(let users), .invite(let users, _, _): try Self.check(users)
            case .rename(let name): try DisplayName.check(name, field: "name", lettersMax: nil)
            case .setPortrait(let portrait): try StoreRules.check(portrait: portrait)
            case .setNickname(_, let nickname): try StoreRules.check(nickname: nickname)
            case .join, .leave, .setRole, .dissolve, .setOnlyAdminsWrite, .decline: break
            }
        }
    }

    private static func checkRoom(_ conversation: ConversationID) throws(InvalidField) {
        guard conversation.type != .chatRoom else { return }
        throw InvalidField(
            field: "conversation.type", rule: "must be CHRM for a ban, got \(conversation.type.rawValue)")
    }

    private static func check(_ members: [UserID]) throws(InvalidField) {
        for user in members { _ = try UserID.validated(user.rawValue, field: "members") }
    }

    private static func tooMany(_ count: Int, _ operation: ConversationOperation) -> ServerFrame.Problem? {
        count <= operation.membersMax
            ? nil : .init(InvalidField(field: "members", rule: "must be at most \(operation.membersMax), got \(count)"))
    }

    private static func exists(_ conversation: ConversationID) -> ServerFrame.Problem {
        .init(
            code: .exists, field: "conversation.target",
            rule: "must be new, but there is or was \(StoreRules.kind(conversation.type)) \"\(conversation.target)\"")
    }

    private static func notAllowed(_ rule: String) -> Decision {
        .refused(.init(code: .notAllowed, field: "action", rule: rule))
    }
}

extension ConversationChange {
    /// `known` is nil for `create`.
    package func applied(to known: StoredConversation?, in app: AppID) -> StoredConversation {
        var after =
            known
            ?? StoredConversation(
                record: ConversationRecord(app: app, conversation: self.conversation, name: "", members: [UserID]()),
                version: 0)
        after.version = self.version
        switch self.action {
        case .create(let name, let portrait, _): (after.record.name, after.record.portrait) = (name, portrait)
        case .rename(let name): after.record.name = name
        case .setPortrait(let portrait): after.record.portrait = portrait
        case .dissolve: after.isDissolved = true
        case .ban(let users, let until): after.bans.set(users, until: until, at: self.at)
        case .unban(let users): after.bans.lift(users, at: self.at)
        case .mute(let users, let until): after.mutes.set(users, until: until, at: self.at)
        case .unmute(let users): after.mutes.lift(users, at: self.at)
        case .setOnlyAdminsWrite(let isOn): after.onlyAdminsWrite = isOn
        case .invite(let users, _, _): after.invite(users, by: self.by, at: self.at)
        case .decline, .withdraw: after.invited.removeAll { self.invitees.contains($0.user) }
        case .add, .join, .remove, .leave, .setRole, .setNickname: break
        }
        // Mutes are kept beside the members: they outlast a membership.
        if !self.action.isAboutMutes { after.record.members = self.members(after: after.record.members) }
        after.endInvitationsOfMembers()
        return after
    }
}

extension ConversationAction {
    fileprivate var isAboutMutes: Bool {
        switch self {
        case .mute, .unmute: true
        case .create, .add, .join, .remove, .leave, .rename, .setPortrait, .setRole, .setNickname, .dissolve, .ban,
            .unban, .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            false
        }
    }
}

extension StoredConversation {
    /// Members named by the backend are no longer banned, nor asked. Who may write stays as it is.
    package static func put(
        _ record: ConversationRecord, version: UInt64, over known: StoredConversation?
    ) -> StoredConversation {
        var after = known ?? StoredConversation(record: record, version: version)
        (after.record, after.version, after.isDissolved) = (record, version, false)
        after.bans.removeAll { record.members.member($0.user) != nil }
        after.endInvitationsOfMembers()
        return after
    }

    package func invitee(_ user: UserID) -> Invitee? { self.invited.first { $0.user == user } }

    fileprivate mutating func invite(_ users: [UserID], by: UserID?, at: Int64) {
        guard let by else { return }
        // tidy: order does not leave: these are a list, and sorted below.
        self.invited += users.map { Invitee(user: $0, by: by, at: at) }
        self.invited.sort { $0.user < $1.user }
    }

    fileprivate mutating func endInvitationsOfMembers() {
        guard !self.invited.isEmpty else { return }
        self.invited.removeAll { self.record.members.member($0.user) != nil }
    }
}

extension Array where Element == Member {
    /// The members must be sorted by id.
    package func member(_ id: UserID) -> Member? {
        let place = self.sortedPlace { $0.id < id }
        return place < self.count && self[place].id == id ? self[place] : nil
    }
}

package import TidingsModel

/// Who may do what with a conversation that has members, and what comes of it. Pure: every store asks these.
package enum ConversationRules {
    /// What an operation comes to.
    package enum Decision: Hashable, Sendable {
        /// It is refused.
        case refused(ServerFrame.Problem)
        /// It is so already.
        case nothing
        /// It is carried out: `ConversationChange.action`.
        case action(ConversationAction)
    }

    /// Decides about an operation. The checks, in this order: fields, whether there is such a conversation, membership, who may,
    /// whether it changes anything, how many members it would have.
    ///
    /// - Parameter known: the conversation as it is, or nil if there never was one of that name.
    package static func decide(_ operation: ConversationOperation, known: StoredConversation?) -> Decision {
        if let fault = Self.fault(in: operation) { return .refused(fault) }
        if case .create(let name, let portrait, let members) = operation.action {
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
        if let actor, members.member(actor.id) == nil, operation.action != .join {
            return .refused(StoreRules.notAMember(actor.id, of: operation.conversation))
        }
        return Self.decide(operation, by: actor, in: known.record)
    }

    private static func decide(
        _ operation: ConversationOperation, by actor: Member?, in record: ConversationRecord
    ) -> Decision {
        let type = record.conversation.type
        let isRanked = actor.map { $0.role != .member } ?? true
        let mayShape = isRanked || type == .discussion
        let mayRule = actor.map { $0.role == .owner } ?? true
        switch operation.action {
        case .create: return .nothing
        case .add(let users):
            guard mayShape else { return Self.notAllowed("must be done by an owner or admin") }
            return Self.add(Set(users), operation, to: record)
        case .join:
            guard let actor else { return Self.notAllowed("must be done by a person") }
            guard type != .group else { return Self.notAllowed("must be a discussion or chat room to be joined") }
            return Self.join(actor.id, operation, record)
        case .remove(let users):
            guard isRanked else { return Self.notAllowed("must be done by an owner or admin") }
            return Self.remove(Set(users), by: actor, from: record)
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
        case .ban, .unban: return Self.notAllowed("is not known to this server")
        }
    }

    private static func add(
        _ users: Set<UserID>, _ operation: ConversationOperation, to record: ConversationRecord
    ) -> Decision {
        let new = users.subtracting(record.members.map(\.id)).sorted()
        guard !new.isEmpty else { return .nothing }
        return Self.tooMany(record.members.count + new.count, operation).map { .refused($0) } ?? .action(.add(new))
    }

    private static func join(
        _ user: UserID, _ operation: ConversationOperation, _ record: ConversationRecord
    ) -> Decision {
        guard record.members.member(user) == nil else { return .nothing }
        return Self.tooMany(record.members.count + 1, operation).map { .refused($0) } ?? .action(.join)
    }

    private static func remove(
        _ users: Set<UserID>, by actor: Member?, from record: ConversationRecord
    ) -> Decision {
        let gone = record.members.filter { users.contains($0.id) }
        if gone.contains(where: { $0.role == .owner }) {
            return Self.notAllowed("must not name the owner, who can only leave")
        }
        if actor?.role == .admin, gone.contains(where: { $0.role == .admin && $0.id != actor?.id }) {
            return Self.notAllowed("must not name another admin")
        }
        return gone.isEmpty ? .nothing : .action(.remove(gone.map(\.id)))
    }

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
            let nameBytes = 1...ConversationRecord.nameBytesMax
            switch operation.action {
            case .create(let name, let portrait, let members):
                try StoreRules.check(name, field: "name", bytes: nameBytes)
                try StoreRules.check(portrait: portrait)
                try Self.check(members)
            case .add(let users), .remove(let users), .ban(let users, _), .unban(let users): try Self.check(users)
            case .rename(let name): try StoreRules.check(name, field: "name", bytes: nameBytes)
            case .setPortrait(let portrait): try StoreRules.check(portrait: portrait)
            case .setNickname(_, let nickname): try StoreRules.check(nickname: nickname)
            case .join, .leave, .setRole, .dissolve: break
            }
        }
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
    /// The conversation after this change.
    ///
    /// - Parameters:
    ///   - known: the conversation before; nil for `create`.
    ///   - app: the app it belongs to.
    package func applied(to known: StoredConversation?, in app: AppID) -> StoredConversation {
        var record =
            known?.record
            ?? ConversationRecord(app: app, conversation: self.conversation, name: "", members: [UserID]())
        var isDissolved = known?.isDissolved ?? false
        switch self.action {
        case .create(let name, let portrait, let members):
            let owner = self.by.map { [Member($0, role: .owner)] } ?? []
            record = ConversationRecord(
                app: app, conversation: self.conversation, name: name, portrait: portrait,
                members: owner + members.map { Member($0) })
        case .add(let users): record.members.insert(users)
        case .join: record.members.insert([self.by].compactMap { $0 })
        case .remove(let users): record.members.remove(Set(users))
        case .leave: record.members.remove(Set([self.by].compactMap { $0 }))
        case .rename(let name): record.name = name
        case .setPortrait(let portrait): record.portrait = portrait
        case .setRole(let user, let role): record.members.setRole(role, of: user)
        case .setNickname(let user, let nickname):
            if let index = record.members.firstIndex(where: { $0.id == user }) {
                record.members[index].nickname = nickname
            }
        case .dissolve: isDissolved = true
        case .ban, .unban: break
        }
        return StoredConversation(record: record, version: self.version, isDissolved: isDissolved)
    }
}

/// Members sorted by id.
extension Array where Element == Member {
    /// The member with an id. The members must be sorted, as a `ConversationRecord`'s are.
    package func member(_ id: UserID) -> Member? {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < self.count && self[low].id == id ? self[low] : nil
    }

    fileprivate mutating func insert(_ users: [UserID]) {
        let known = Set(self.map(\.id))
        self += users.filter { !known.contains($0) }.map { Member($0) }
        self.sort { $0.id < $1.id }
    }

    /// If the owner goes, the next admin, or else the member with the smallest id, becomes owner.
    fileprivate mutating func remove(_ users: Set<UserID>) {
        let hadOwner = self.contains { users.contains($0.id) && $0.role == .owner }
        self.removeAll { users.contains($0.id) }
        guard hadOwner, let next = self.firstIndex(where: { $0.role == .admin }) ?? self.indices.first else { return }
        self[next].role = .owner
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

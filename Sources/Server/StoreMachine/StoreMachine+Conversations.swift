import StoreModel
import TidingsModel

extension StoreMachine {
    /// Nil for a conversation without members.
    func find(_ conversation: ConversationID, in app: AppID) throws -> MembersState? {
        guard !conversation.type.targetIsPeer else { return nil }
        let key = ConversationKey(app: app, conversation: conversation)
        return try self.conversations[key] ?? self.rows.conversation(key).map { self.remember($0) }
    }

    func conversation(_ number: Int64) throws -> MembersState {
        if let known = self.conversationsByNumber[number] { return known }
        guard let row = try self.rows.conversation(number) else {
            throw StoredBytesFault.missing("conversation \(number)")
        }
        return self.remember(row)
    }

    func names(of message: Message) throws -> MessageNames {
        let sender = try self.readablePerson(UserKey(app: message.app, user: message.sender))
        let conversation = try self.find(message.conversation, in: message.app)
        let nickname = sender.flatMap { conversation?.ranks[$0.number]?.nickname }
        return MessageNames(
            conversation: conversation?.name ?? "", sender: nickname ?? sender?.profile.name ?? "",
            portrait: sender?.profile.portrait)
    }

    /// Finds a person; nil if their rows cannot be read. A log with their messages stays readable: they have no name then.
    func readablePerson(_ key: UserKey) throws -> PersonState? {
        do {
            return try self.find(key)
        } catch {
            guard Self.damage(error) != nil else { throw error }
            return nil
        }
    }

    private func remember(_ row: ConversationRow) -> MembersState {
        let conversation = MembersState(number: row.number, row.stored, members: row.members, ranks: row.ranks)
        self.remember(conversation)
        return conversation
    }

    private func remember(_ conversation: MembersState) {
        let key = ConversationKey(app: conversation.app, conversation: conversation.conversation)
        self.conversations[key] = conversation
        self.conversationsByNumber[conversation.number] = conversation
    }

    /// In the order of their ids.
    func members(of conversation: MembersState, version: UInt64) throws -> [Int64] {
        if conversation.version == version { return conversation.members }
        if let new = self.newVersions.first(where: { $0.conversation === conversation && $0.version == version }) {
            return new.members
        }
        return try self.rows.members(of: conversation.number, version: version)
    }

    func stored(_ conversation: MembersState) throws -> StoredConversation {
        if conversation.record == nil {
            conversation.record = conversation.record(
                with: try conversation.members.map { number in
                    var member = conversation.ranks[number] ?? Member("")
                    member.id = try self.personWithName(number).key.user
                    return member
                })
        }
        guard let record = conversation.record else { throw StoredBytesFault.missing("a conversation") }
        return conversation.stored(record)
    }

    func readConversation(
        _ conversation: ConversationID, of app: AppID, for user: UserID?, at wall: Int64
    ) throws -> StoreResult {
        guard let known = try self.find(conversation, in: app) else {
            return .refused(StoreRules.unknownConversation(conversation))
        }
        if let user {
            let person = try self.find(UserKey(app: app, user: user))
            guard let person, known.memberSet.contains(person.number) else {
                return .refused(StoreRules.notAMember(user, of: conversation))
            }
        }
        return .conversation(try self.stored(known).info(at: wall))
    }
}

// MARK: - Who may write

extension StoreMachine {
    /// - Parameter wall: wall milliseconds: whether a ban has ended.
    func standing(
        of user: UserID, in conversation: ConversationID, of app: AppID, at wall: Int64
    ) throws -> Standing {
        guard conversation.type.targetIsPeer else {
            guard let known = try self.find(conversation, in: app), !known.isDissolved else { return .toNothing }
            let person = try self.find(UserKey(app: app, user: user))
            let isMember = person.map { known.memberSet.contains($0.number) } ?? false
            return .toMembers(
                isMember: isMember, isBanned: known.bans.hold(user, at: wall),
                silence: known.silence(
                    of: user, role: isMember ? person.flatMap { known.ranks[$0.number]?.role } : nil, at: wall))
        }
        let peer = UserKey(app: app, user: UserID(conversation.target))
        return .toPerson(
            isBlocked: try self.settings(of: peer).blocked.contains(user),
            hasAccount: StoreRules.hasAccount(user, in: conversation, among: self.accounts[app]))
    }

    func mayWrite(_ key: UserKey, _ conversation: ConversationID, room: RoomAccess) throws -> StoreResult {
        let standing = try self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
        let refusal = StoreRules.refusal(in: conversation, isBackend: false, standing, room: room)
        return refusal.map { .refused($0) } ?? .done
    }

    func readRestrictions(
        _ kind: RestrictionKind, _ conversation: ConversationID, of app: AppID, asked: UserID?, at wall: Int64
    ) throws -> StoreResult {
        let known = try self.find(conversation, in: app).map { try self.stored($0) }
        return ConversationRules.restrictions(kind, in: conversation, known: known, asked: asked, at: wall)
    }
}

// MARK: - Commands

extension StoreMachine {
    func putConversation(_ record: ConversationRecord) throws -> StoreResult {
        if let fault = StoreRules.fault(in: record) { return .refused(fault) }
        let earlier = try self.find(record.conversation, in: record.app)
        if let earlier, !earlier.isDissolved, try self.stored(earlier).record == record { return .done }
        return try self.write(.putConversation(record, version: (earlier?.version ?? 0) + 1))
    }

    func changeConversation(_ operation: ConversationOperation) throws -> StoreResult {
        let known = try self.find(operation.conversation, in: operation.app)
        if case .setNickname(_, let name?) = operation.action, operation.actor != nil,
            let fault = StoreRules.fault(
                inOwnName: name, field: "nickname", accountNames: try self.accountNames(in: operation.app))
        {
            return .refused(fault)
        }
        let stored = try known.map { try self.stored($0) }
        switch ConversationRules.decide(operation, known: stored) {
        case .refused(let problem): return .refused(problem)
        case .nothing: return .changed([])
        case .action(let action):
            if let refusal = try StoreRules.refusal(
                bringingIn: action, by: operation.actor,
                hasBlocked: { user, actor in
                    try self.settings(of: UserKey(app: operation.app, user: user)).blocked.contains(actor)
                })
            {
                return .refused(refusal)
            }
            let planned = try ConversationRules.plan(action, of: operation, known: stored) { user, actor in
                try self.mayAdd(UserKey(app: operation.app, user: user), by: actor)
            }
            switch planned {
            case .failure(let problem): return .refused(problem)
            case .success(let plan): return try self.write(plan, of: operation, version: known?.version ?? 0)
            }
        }
    }

    private func mayAdd(_ key: UserKey, by actor: UserID) throws -> Bool {
        try ConversationRules.mayAdd(try self.settings(of: key).person, hasWritten: try self.hasWritten(key, to: actor))
    }

    private func hasWritten(_ key: UserKey, to other: UserID) throws -> Bool {
        guard let person = try self.find(key), let peer = try self.find(UserKey(app: key.app, user: other)) else {
            return false
        }
        let number = ConversationNumber(type: .direct, number: peer.number)
        return try self.conversationState(number, of: person)?.hasWritten ?? false
    }

    /// - Parameter version: of the conversation before it; 0 if there was none.
    private func write(
        _ plan: ConversationRules.Plan, of operation: ConversationOperation, version: UInt64
    ) throws -> StoreResult {
        var made: [MadeChange] = []
        for (index, action) in plan.actions.enumerated() {
            let change = ConversationChange(
                conversation: operation.conversation, version: version + UInt64(index) + 1, action: action,
                by: operation.actor, at: operation.at)
            if case .changed(let changes, _) = try self.write(.change(operation.app, change)) { made += changes }
        }
        return .changed(made, invited: plan.invited)
    }
}

// MARK: - Applying

extension StoreMachine {
    func applyConversation(_ record: ConversationRecord, version: UInt64) throws {
        let known = try self.find(record.conversation, in: record.app)
        if let known, known.version >= version { return }
        try self.setConversation(
            .put(record, version: version, over: try known.map { try self.stored($0) }), over: known)
    }

    func applyChange(
        _ change: ConversationChange, in app: AppID, at position: JournalPosition
    ) throws -> StoreResult {
        let known = try self.find(change.conversation, in: app)
        let conversation: MembersState
        let before: [Int64]
        if let known, known.version >= change.version {
            // Applied again after a crash: the conversation's row is ahead already, the people's rows may not be.
            conversation = known
            before = change.version > 1 ? try self.members(of: known, version: change.version - 1) : []
        } else {
            before = known?.members ?? []
            conversation = try self.setConversation(
                change.applied(to: try known.map { try self.stored($0) }, in: app), over: known)
        }
        if change.conversation.type == .chatRoom { return .changed([MadeChange(change)]) }
        let remaining = Set(try self.members(of: conversation, version: change.version))
        let invitees = try change.invitees.map { try self.intern(UserKey(app: app, user: $0)).number }
        let number = ConversationNumber(type: change.conversation.type, number: conversation.number)
        let people = try remaining.union(before).union(invitees).map { try self.person($0) }.sorted {
            $0.key.user < $1.key.user
        }
        var deliveries: [Delivery] = []
        deliveries.reserveCapacity(people.count)
        for person in people where position > person.applied {
            var state = try self.stateOrNew(number, of: person)
            if !remaining.contains(person.number) {
                person.count(-state.unread, mentions: -state.mentions, in: &state)
                state.recalled = []
                state.read = person.head + 1
            }
            person.setState(state, of: number)
            deliveries.append(self.append(.init(record: position, conversation: number), to: person))
        }
        return .changed([MadeChange(change, deliveries)])
    }

    @discardableResult
    private func setConversation(_ stored: StoredConversation, over known: MembersState?) throws -> MembersState {
        let record = stored.record
        let earlier: [UserID: Int64] =
            if let known { Dictionary(zip(try self.stored(known).record.members.map(\.id), known.members)) { $1 } } else
            { [:] }
        var members: [Int64] = []
        members.reserveCapacity(record.members.count)
        var ranks: [Int64: Member] = [:]
        for member in record.members {
            let number = try earlier[member.id] ?? self.intern(UserKey(app: record.app, user: member.id)).number
            members.append(number)
            if member.isRanked { ranks[number] = member }
        }
        let isNewMembership = known.map { $0.members != members } ?? true
        let conversation: MembersState
        if let known {
            conversation = known
            known.update(stored, members: members, ranks: ranks)
        } else {
            self.lastConversationNumber += 1
            conversation = MembersState(
                number: self.lastConversationNumber, stored, members: members, ranks: ranks)
            self.remember(conversation)
            self.count(in: record.app) { $0.conversations += 1 }
        }
        conversation.record = record
        self.newVersions.append((conversation, stored.version, members, isNewMembership))
        self.membersInTail += isNewMembership ? members.count : 0
        return conversation
    }
}

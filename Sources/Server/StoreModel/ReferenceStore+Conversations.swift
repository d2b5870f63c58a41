import TidingsModel

extension ReferenceStore {
    mutating func putConversation(_ record: ConversationRecord) -> StoreResult {
        if let fault = StoreRules.fault(in: record) { return .refused(fault) }
        let key = ConversationKey(app: record.app, conversation: record.conversation)
        let earlier = self.conversations[key]
        if let earlier, earlier.stored.record == record, !earlier.stored.isDissolved { return .done }
        self.conversations[key] = Conversation(
            .put(record, version: (earlier?.stored.version ?? 0) + 1, over: earlier?.stored),
            messages: earlier?.messages ?? [])
        self.makePeopleKnown(in: key)
        return .done
    }

    mutating func changeConversation(_ operation: ConversationOperation) -> StoreResult {
        let key = ConversationKey(app: operation.app, conversation: operation.conversation)
        let known = self.conversations[key]
        if case .setNickname(_, let name?) = operation.action, operation.actor != nil,
            let fault = StoreRules.fault(
                inOwnName: name, field: "nickname", accountNames: self.accountNames(in: operation.app))
        {
            return .refused(fault)
        }
        let action: ConversationAction
        switch ConversationRules.decide(operation, known: known?.stored) {
        case .refused(let problem): return .refused(problem)
        case .nothing: return .changed([])
        case .action(let decided): action = decided
        }
        if let refusal = StoreRules.refusal(
            bringingIn: action, by: operation.actor,
            hasBlocked: { self.hasBlocked($1, UserKey(app: operation.app, user: $0)) })
        {
            return .refused(refusal)
        }
        switch ConversationRules.plan(
            action, of: operation, known: known?.stored,
            mayAdd: { self.mayAdd(UserKey(app: operation.app, user: $0), by: $1) })
        {
        case .failure(let problem): return .refused(problem)
        case .success(let plan):
            let made = plan.actions.map { self.make($0, of: operation, key) }
            return .changed(made, invited: plan.invited)
        }
    }

    private func mayAdd(_ key: UserKey, by actor: UserID) -> Bool {
        ConversationRules.mayAdd(
            self.settings(of: key).person,
            hasWritten: self.people.read(key) {
                $0.cursors[ConversationID(type: .direct, target: actor.rawValue)]?.hasWritten ?? false
            } ?? false)
    }

    private mutating func make(
        _ action: ConversationAction, of operation: ConversationOperation, _ key: ConversationKey
    ) -> MadeChange {
        let known = self.conversations[key]
        let change = ConversationChange(
            conversation: operation.conversation, version: (known?.stored.version ?? 0) + 1, action: action,
            by: operation.actor, at: operation.at)
        let conversation = Conversation(
            change.applied(to: known?.stored, in: operation.app), messages: known?.messages ?? [])
        self.conversations[key] = conversation
        self.makePeopleKnown(in: key)
        if operation.conversation.type == .chatRoom { return MadeChange(change) }
        for user in change.invitees { _ = self.people.place(making: UserKey(app: operation.app, user: user)) }
        let told = conversation.members.union(known?.members ?? []).union(change.invitees)
        let deliveries = told.sorted().map { user in
            self.appendChange(to: user, change, in: operation.app, isMember: conversation.members.contains(user))
        }
        return MadeChange(change, deliveries)
    }

    private mutating func makePeopleKnown(in key: ConversationKey) {
        for member in self.conversations[key]?.stored.record.members ?? [] {
            _ = self.people.place(making: UserKey(app: key.app, user: member.id))
        }
    }

    /// Somebody who is no longer a member has nothing unread there.
    private mutating func appendChange(
        to user: UserID, _ change: ConversationChange, in app: AppID, isMember: Bool
    ) -> Delivery {
        let key = UserKey(app: app, user: user)
        return self.people[self.people.place(making: key)].append(.change(change.seen(by: user)), of: user) { person in
            let cursor = person.cursors[change.conversation] ?? Cursor()
            person.cursors[change.conversation] = cursor
            guard !isMember else { return }
            person.count(change.conversation, unread: -cursor.unread, mentions: -cursor.mentions)
            person.cursors[change.conversation] = Cursor(upTo: person.head + 1)
        }
    }

    func restrictions(
        _ kind: RestrictionKind, _ conversation: ConversationID, of app: AppID, asked: UserID?, at wall: Int64
    ) -> StoreResult {
        let known = self.conversations[ConversationKey(app: app, conversation: conversation)]?.stored
        return ConversationRules.restrictions(kind, in: conversation, known: known, asked: asked, at: wall)
    }

    func conversations(of app: AppID, after: ConversationID?, limit: Int) -> StoreResult {
        let known = self.conversations.keys.filter { key in
            key.app == app && after.map { key.conversation > $0 } ?? true
        }.map(\.conversation).sorted()
        // tidy: order does not leave: it is sorted
        let page = known.prefix(limit).compactMap { id in
            self.conversations[ConversationKey(app: app, conversation: id)].map { conversation in
                ListedConversation(
                    id: id, name: conversation.stored.record.name, portrait: conversation.stored.record.portrait,
                    members: conversation.stored.record.members.count, isDissolved: conversation.stored.isDissolved)
            }
        }
        return .conversations(page, hasMore: known.count > page.count)
    }

    func conversationList(of key: UserKey, before: LogPosition?, limit: Int) -> StoreResult {
        var entries: [ConversationID: [(position: LogPosition, id: MessageID)]] = [:]
        for entry in self.people.read(key, { $0.log }) ?? [] {
            guard case .message(let message) = entry.body else { continue }
            entries[message.conversation(seenBy: key.user), default: []].append((entry.position, message.id))
        }
        let settings = self.people.read(key) { $0.settings } ?? AllSettings()
        let cursors = self.people.read(key) { $0.cursors } ?? [:]
        // tidy: order does not leave: they are sorted
        let all = entries.compactMap { id, own -> PersonalConversation? in
            guard let place = own.last?.position, before.map({ place < $0 }) ?? true else { return nil }
            let cursor = cursors[id] ?? Cursor()
            let card = self.card(of: id, in: key.app)
            let newest = own.suffix(StoreRules.newestLooksMax).reversed().lazy
                .compactMap { self.present($0.id, to: key) }.first
            return PersonalConversation(
                id: id, place: place, name: card.name, portrait: card.portrait, isDissolved: card.isDissolved,
                unread: cursor.unread, mentions: cursor.mentions, isMuted: settings.isMuted(id),
                settings: settings.conversations[id]?.withoutDraft ?? ConversationSettings(),
                newest: newest.map { .init($0) })
        }.sorted { $0.place > $1.place }
        return .conversationList(Array(all.prefix(limit)), hasMore: all.count > limit)
    }

    private func card(
        of id: ConversationID, in app: AppID
    ) -> (name: String?, portrait: String?, isDissolved: Bool) {
        if id.type.targetIsPeer {
            let profile = self.people.read(UserKey(app: app, user: UserID(id.target))) { $0.profile }
            return (profile?.name, profile?.portrait, false)
        }
        let stored = self.conversations[ConversationKey(app: app, conversation: id)]?.stored
        return (
            stored.flatMap { $0.record.name.isEmpty ? nil : $0.record.name }, stored?.record.portrait,
            stored?.isDissolved ?? false
        )
    }

    func conversation(
        _ conversation: ConversationID, of app: AppID, for user: UserID?, at wall: Int64
    ) -> StoreResult {
        guard let known = self.conversations[ConversationKey(app: app, conversation: conversation)] else {
            return .refused(StoreRules.unknownConversation(conversation))
        }
        if let user, !known.members.contains(user) { return .refused(StoreRules.notAMember(user, of: conversation)) }
        return .conversation(known.stored.info(at: wall))
    }
}

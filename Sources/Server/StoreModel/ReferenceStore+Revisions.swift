package import TidingsModel

extension ReferenceStore {
    mutating func recall(_ operation: RecallOperation) -> StoreResult {
        guard let accepted = self.messages[operation.message], accepted.message.app == operation.app else {
            return .refused(StoreRules.unknownMessage(operation.message))
        }
        let message = accepted.message
        let role = operation.actor.flatMap { self.role(of: $0, in: message) }
        let standing = self.standing(of: message.sender, in: message.conversation, of: message.app, at: operation.at)
        let isOperator = StoreRules.isOperator(
            operation.actor, ofSenderOf: message, among: self.accounts[message.app])
        if let answer = StoreRules.decide(
            operation, about: message, role: role, isOperator: isOperator, isRecalled: accepted.isRecalled, standing)
        {
            return answer
        }
        if self.isUsed(operation.id) { return .refused(StoreRules.usedMessageID(operation.id)) }
        let erased = message.revised(content: nil, isGone: true)
        self.messages[message.id]?.message = erased
        self.messages[message.id]?.isRecalled = true
        self.messages[message.id]?.content = nil
        self.messages[message.id]?.recall = operation.id
        if let job = message.pushJob { self.pushes[job]?.job.counts.recalled += 1 }
        self.lastMessageID = max(self.lastMessageID, operation.id)
        var recall = Recall(
            id: operation.id, message: message.id, conversation: message.conversation,
            sender: isOperator ? message.sender : operation.actor ?? message.sender, at: operation.at)
        let deliveries = accepted.deliveries.map { delivery in
            recall.conversation = message.conversation(seenBy: delivery.user)
            let place = self.people.place(making: UserKey(app: message.app, user: delivery.user))
            let before = self.people[place].counts.unread
            var told = self.people[place].append(.recall(recall), of: delivery.user) {
                $0.uncount(message, at: delivery.position, of: delivery.user)
            }
            told.wasUnread = told.unread < before
            if told.wasUnread { self.people[place].wereUnread.insert(told.position) }
            told.isHushed = delivery.isHushed
            if told.isHushed { self.people[place].hushed.insert(told.position) }
            return told
        }
        recall.conversation = message.conversation
        self.keepTrace(of: .recall(recall, app: message.app), id: recall.id, deliveries)
        let hushed = Set(deliveries.filter(\.isHushed).map(\.user))
        let shown = (self.ended[message.id] ?? Ends()).sorted
            .filter { $0.leg.user.app == message.app && $0.end.mayBeShown && !hushed.contains($0.leg.user.user) }
            .map(\.leg)
        return .recalled(recall, of: erased, deliveries: deliveries, shown: shown)
    }

    private func role(of user: UserID, in message: Message) -> MemberRole? {
        self.conversations[ConversationKey(app: message.app, conversation: message.conversation)]?
            .stored.record.members.member(user)?.role
    }

    mutating func edit(_ operation: EditOperation) -> StoreResult {
        if let fault = StoreRules.fault(inContent: operation.content) { return .refused(fault) }
        guard let accepted = self.messages[operation.message], accepted.message.app == operation.app else {
            return .refused(StoreRules.unknownMessage(operation.message))
        }
        let message = accepted.message
        let standing = self.standing(of: message.sender, in: message.conversation, of: message.app, at: operation.at)
        if let answer = StoreRules.decide(
            operation, about: message,
            isOperator: StoreRules.isOperator(
                operation.actor, ofSenderOf: message, among: self.accounts[message.app]),
            isOfOther: accepted.device == nil || operation.actor != accepted.writer, isRecalled: accepted.isRecalled,
            content: message.content, standing)
        {
            return answer
        }
        if operation.actor != nil, let refusal = self.refusalToStrangers(message) { return .refused(refusal) }
        self.messages[message.id]?.message = message.revised(content: operation.content, isGone: false)
        self.messages[message.id]?.content = operation.content
        var edit = Edit(
            message: message.id, conversation: message.conversation, content: operation.content, at: operation.at)
        let deliveries = accepted.deliveries.map { delivery in
            edit.conversation = message.conversation(seenBy: delivery.user)
            return self.appendEntry(to: delivery.user, .edit(edit), in: message.app) { person in
                person.lastEdits[message.id] = person.head + 1
            }
        }
        edit.conversation = message.conversation
        return .noted(.edit(edit.seenByRecipient(of: message, deliveries)), deliveries: deliveries)
    }

    mutating func delete(_ key: UserKey, _ deletion: Deletion) -> StoreResult {
        let deletion = Deletion(conversation: deletion.conversation, messages: Set(deletion.messages).sorted())
        if let fault = StoreRules.fault(in: deletion) { return .refused(fault) }
        var found: [(message: Message, position: LogPosition)] = []
        // tidy: order does not leave: these messages are the deletion's, which are sorted
        for id in deletion.messages {
            guard let accepted = self.messages[id], accepted.message.app == key.app,
                accepted.message.conversation(seenBy: key.user) == deletion.conversation,
                let delivery = accepted.deliveries.first(where: { $0.user == key.user })
            else { return .refused(StoreRules.unknownMessage(id, field: "messages")) }
            if self.people.read(key, { $0.deleted.contains(id) }) == true {
                return .refused(StoreRules.deletedMessage(id))
            }
            found.append((accepted.message, delivery.position))
        }
        let recalled = Set(deletion.messages.filter { self.messages[$0]?.isRecalled == true })
        let delivery = self.appendEntry(to: key.user, .deletion(deletion), in: key.app) { person in
            for (message, position) in found {
                if !recalled.contains(message.id) { person.uncount(message, at: position, of: key.user) }
                person.deleted.insert(message.id)
            }
        }
        return .noted(.deletion(deletion), deliveries: [delivery])
    }

    private mutating func appendEntry(
        to user: UserID, _ body: LogEntry.Body, in app: AppID, _ change: (inout Person) -> Void
    ) -> Delivery {
        let key = UserKey(app: app, user: user)
        return self.people[self.people.place(making: key)].append(body, of: user, after: change)
    }
}

extension ReferenceStore.Person {
    fileprivate mutating func uncount(_ message: Message, at position: LogPosition, of user: UserID) {
        let conversation = message.conversation(seenBy: user)
        guard ReferenceStore.counts(message, for: user), !self.hushed.contains(position),
            position > self.cursors[conversation]?.upTo ?? 0, !self.deleted.contains(message.id)
        else { return }
        self.count(conversation, unread: -1, mentions: message.mentions.include(user) ? -1 : 0)
    }
}

extension LegEnd {
    /// A recall is sent to such devices (design.md §5 "Recall").
    package var mayBeShown: Bool {
        switch self {
        case .accepted, .settled(.shown): true
        case .ownDevice, .noDevice, .signedOut, .disabled, .notNotifiable, .blocked, .settled, .readElsewhere,
            .recalled, .expired,
            .muted, .quietHours, .noToken, .tokenQuarantined, .tokenDead, .rejected:
            false
        }
    }
}

extension Edit {
    /// Of a push's message, which is in nobody's log but its recipient's: as they see it. Of any other as its sender does.
    package func seenByRecipient(of message: Message, _ deliveries: [Delivery]) -> Edit {
        guard message.pushJob != nil, let recipient = deliveries.first?.user else { return self }
        var edit = self
        edit.conversation = message.conversation(seenBy: recipient)
        return edit
    }
}

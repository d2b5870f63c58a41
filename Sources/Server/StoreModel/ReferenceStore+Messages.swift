import TidingsModel

/// Accepting messages, and reading them.
extension ReferenceStore {
    mutating func accept(_ message: Message, from device: DeviceID?) -> StoreResult {
        let sender = UserKey(app: message.app, user: message.sender)
        let sentKey = SentKey(sender: sender, clientMessageID: message.clientMessageID)
        if let earlier = self.sent[sentKey], let first = self.messages[earlier] {
            return .duplicate(earlier, sentAt: first.message.sentAt)
        }
        if self.isUsed(message.id) { return .refused(StoreRules.usedMessageID(message.id)) }
        if let fault = StoreRules.fault(in: message.objectName, registered: self.objectNames[message.app] ?? []) {
            return .refused(fault)
        }
        let recipients: [UserID]
        switch self.recipients(of: message) {
        case .success(let users): recipients = users
        case .failure(let problem): return .refused(problem)
        }
        let deliveries = recipients.map { self.deliver(message, to: $0) }
        self.messages[message.id] = Accepted(message: message, device: device, deliveries: deliveries)
        for user in recipients where user != message.sender { self.endWithoutDevice(message, user) }
        self.sent[sentKey] = message.id
        if message.conversation.type == .chatRoom {
            let key = ConversationKey(app: message.app, conversation: message.conversation)
            self.conversations[key]?.messages.append(message.id)
        }
        self.lastMessageID = max(self.lastMessageID, message.id)
        return .accepted(
            deliveries: deliveries, conversationName: self.name(of: message.conversation, in: message.app))
    }

    func isUsed(_ id: MessageID) -> Bool { self.messages[id] != nil || self.others[id] != nil }

    /// The present name of a group, discussion or chat room; empty for other kinds.
    func name(of conversation: ConversationID, in app: AppID) -> String {
        self.conversations[ConversationKey(app: app, conversation: conversation)]?.stored.record.name ?? ""
    }

    /// Keeps the life of a withdrawal or custom message.
    mutating func keep(_ subject: MessageTrace.Subject, of id: MessageID, _ deliveries: [Delivery]) {
        self.others[id] = Other(
            subject: subject,
            deliveries: deliveries.map { Delivery(user: $0.user, position: $0.position, unread: $0.unread) })
    }

    mutating func setObjectNames(_ names: [ObjectName], of app: AppID) -> StoreResult {
        let names = Set(names).sorted()
        if let fault = StoreRules.fault(in: names) { return .refused(fault) }
        self.objectNames[app] = names.isEmpty ? nil : names
        return .done
    }

    /// Who gets an entry, sorted; or why nobody does.
    private func recipients(of message: Message) -> Result<[UserID], ServerFrame.Problem> {
        let target = message.conversation.target
        if message.conversation.type.targetIsPeer {
            let peer = UserKey(app: message.app, user: UserID(target))
            if message.conversation.type == .direct,
                self.people[peer]?.settings.blocked.contains(message.sender) == true
            {
                return .failure(StoreRules.blocked(by: peer.user))
            }
            return .success(Set([message.sender, peer.user]).sorted())
        }
        let key = ConversationKey(app: message.app, conversation: message.conversation)
        guard let conversation = self.conversations[key], !conversation.stored.isDissolved else {
            return .failure(StoreRules.unknownConversation(message.conversation))
        }
        if message.conversation.type == .chatRoom { return .success([]) }
        guard conversation.members.contains(message.sender) else {
            return .failure(StoreRules.notAMember(of: message.conversation))
        }
        if let stranger = message.recipients.first(where: { !conversation.members.contains($0) }) {
            return .failure(StoreRules.strangerAmongRecipients(stranger))
        }
        return .success(
            message.recipients.isEmpty
                ? conversation.stored.record.members.map(\.id) : Set(message.recipients + [message.sender]).sorted())
    }

    private mutating func deliver(_ message: Message, to user: UserID) -> Delivery {
        let key = UserKey(app: message.app, user: user)
        let counts = Self.counts(message, for: user)
        return self.people[key, default: Person()].append(.message(message), of: user) {
            $0.count(
                message.conversation(seenBy: user), unread: counts ? 1 : 0,
                mentions: counts && message.mentions.include(user) ? 1 : 0)
        }
    }

    /// Nobody waits for the message there, and nobody else would say so after a crash (DESIGN P6).
    private mutating func endWithoutDevice(_ message: Message, _ user: UserID) {
        let key = UserKey(app: message.app, user: user)
        guard self.people[key]?.devices.values.contains(where: { !$0.isSignedOut }) != true else { return }
        let leg = LegID(message: message.id, user: key, device: nil)
        self.keepEnd(EndedLeg(leg: leg, end: .noDevice, at: message.sentAt))
    }

    static func counts(_ message: Message, for user: UserID) -> Bool {
        message.sender != user && message.flags.contains(.counted)
    }

    mutating func markRead(_ key: UserKey, _ conversation: ConversationID, upTo: LogPosition) -> StoreResult {
        guard let cursor = self.people[key]?.cursors[conversation], let head = self.people[key]?.head,
            let unread = self.people[key]?.counts.unread
        else {
            return .refused(StoreRules.nothingToRead(conversation))
        }
        guard upTo <= head else {
            return .refused(StoreRules.pastHead(field: "up_to", head: head, got: upTo))
        }
        guard upTo > cursor.upTo else { return .read(position: nil, unread: unread) }
        let left = self.unread(of: key, in: conversation, after: upTo)
        self.people[key]?.count(
            conversation, unread: left.unread - cursor.unread, mentions: left.mentions - cursor.mentions)
        self.people[key]?.cursors[conversation]?.upTo = upTo
        let delivery = self.people[key]?.append(.read(conversation: conversation, upTo: upTo), of: key.user)
        return .read(position: delivery?.position, unread: delivery?.unread ?? 0)
    }

    /// What counts as unread beyond a position; by itself, so that nobody holds the log while it grows.
    private func unread(
        of key: UserKey, in conversation: ConversationID, after position: LogPosition
    ) -> (unread: Int, mentions: Int) {
        guard let person = self.people[key] else { return (0, 0) }
        var left = (unread: 0, mentions: 0)
        for entry in person.log[Int(position)...] {
            guard case .message(let message) = entry.body, Self.counts(message, for: key.user),
                message.conversation(seenBy: key.user) == conversation, !person.deleted.contains(message.id),
                self.messages[message.id]?.isRecalled == false
            else { continue }
            left.unread += 1
            if message.mentions.include(key.user) { left.mentions += 1 }
        }
        return left
    }

    mutating func accept(_ operation: CustomOperation) -> StoreResult {
        if let fault = StoreRules.fault(in: operation) { return .refused(fault) }
        let customKey = CustomKey(app: operation.app, clientMessageID: operation.clientMessageID)
        if let earlier = self.custom[customKey] { return .duplicate(earlier.id, sentAt: earlier.at) }
        let id = operation.message.id
        if self.isUsed(id) { return .refused(StoreRules.usedMessageID(id)) }
        self.custom[customKey] = CustomSent(id: id, at: operation.message.sentAt)
        self.lastMessageID = max(self.lastMessageID, id)
        let deliveries = Set(operation.recipients).sorted().map { user in
            self.people[UserKey(app: operation.app, user: user), default: Person()]
                .append(.custom(operation.message), of: user)
        }
        self.keep(.custom(operation.message, app: operation.app), of: id, deliveries)
        return .accepted(deliveries: deliveries)
    }
}

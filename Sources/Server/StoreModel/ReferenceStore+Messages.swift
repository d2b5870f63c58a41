import TidingsModel

extension ReferenceStore {
    mutating func accept(
        _ message: Message, from device: DeviceID?, room: RoomAccess, ignoresBlocks: Bool, push: PushOptions?,
        by author: UserID?
    ) -> StoreResult {
        let sender = UserKey(app: message.app, user: message.sender)
        let sentKey = SentKey(sender: sender, clientMessageID: message.clientMessageID)
        if let earlier = self.sent[sentKey], let first = self.messages[earlier] {
            if let fault = StoreRules.fault(
                inRepeat: message, of: first.message, isRevised: first.isRecalled || first.content != nil,
                isBySame: author == first.author)
            {
                return .refused(fault)
            }
            return .duplicate(earlier, sentAt: first.message.sentAt)
        }
        if self.isUsed(message.id) { return .refused(StoreRules.usedMessageID(message.id)) }
        if let fault = StoreRules.fault(in: message.objectName, registered: self.objectNames[message.app] ?? []) {
            return .refused(fault)
        }
        let recipients: [UserID]
        if let refusal = self.refusal(message, by: author, isBackend: device == nil) { return .refused(refusal) }
        let standing = self.standing(of: message.sender, in: message.conversation, of: message.app, at: message.sentAt)
        if let refusal = StoreRules.refusal(
            in: message.conversation, isBackend: device == nil || author != nil, standing, room: room,
            ignoresBlocks: ignoresBlocks)
        {
            return .refused(refusal)
        }
        switch self.recipients(of: message) {
        case .success(let users): recipients = users
        case .failure(let problem): return .refused(problem)
        }
        let place = ConversationKey(app: message.app, conversation: message.conversation)
        var message = message
        message.fillPush(conversation: self.conversations[place]?.stored.record.push, app: push)
        // Shared by all logs.
        let body = LogEntry.Body.message(message)
        // People become known in this order: pushes go through them in it.
        _ = self.people.place(making: sender)
        if message.conversation.type.targetIsPeer {
            _ = self.people.place(making: UserKey(app: message.app, user: UserID(message.conversation.target)))
        }
        let deliveries = recipients.map { user in
            !ignoresBlocks && self.hasBlocked(message.sender, UserKey(app: message.app, user: user))
                ? self.deliver(message.hushed, .message(message.hushed), to: user, isHushed: true)
                : self.deliver(message, body, to: user)
        }
        if device != nil, message.conversation.type == .direct {
            self.people[self.people.place(making: sender)].cursors[message.conversation]?.hasWritten = true
        }
        self.messages[message.id] = Accepted(
            message: message, device: device, deliveries: deliveries, author: author)
        self.sent[sentKey] = message.id
        if message.conversation.type == .chatRoom { self.conversations[place]?.messages.append(message.id) }
        self.lastMessageID = max(self.lastMessageID, message.id)
        return .accepted(deliveries: deliveries, names: self.names(of: message), push: message.sharedPush)
    }

    func isUsed(_ id: MessageID) -> Bool {
        self.messages[id] != nil || self.others[id] != nil || self.pushes[id] != nil
    }

    func names(of message: Message) -> MessageNames {
        let conversation = self.conversations[ConversationKey(app: message.app, conversation: message.conversation)]
        let nickname = conversation?.stored.record.members.first { $0.id == message.sender }?.nickname
        var names = self.names(ofSender: message.sender, in: message.app)
        names.conversation = conversation?.stored.record.name ?? ""
        if let nickname { names.sender = nickname }
        return names
    }

    /// Where it has no nickname.
    func names(ofSender sender: UserID, in app: AppID) -> MessageNames {
        let profile = self.profile(of: sender, in: app).profile
        return MessageNames(sender: profile.name ?? "", portrait: profile.portrait)
    }

    func profile(of user: UserID, in app: AppID) -> UserProfile {
        UserProfile(user, self.people.read(UserKey(app: app, user: user)) { $0.profile } ?? Profile())
    }

    /// Sorted by account.
    func accountNames(in app: AppID) -> [String] { self.accounts(of: app).compactMap(\.profile.name) }

    mutating func setProfiles(_ profiles: [UserProfile], of app: AppID, isOwn: Bool) -> StoreResult {
        if let fault = StoreRules.fault(in: profiles, isOwn: isOwn, accountNames: self.accountNames(in: app)) {
            return .refused(fault)
        }
        for profile in profiles where self.profile(of: profile.id, in: app).profile != profile.profile {
            self.people[self.people.place(making: UserKey(app: app, user: profile.id))].profile = profile.profile
        }
        return .done
    }

    mutating func keepTrace(of subject: MessageTrace.Subject, id: MessageID, _ deliveries: [Delivery]) {
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

    /// `wall` decides whether a ban has ended.
    func standing(of user: UserID, in conversation: ConversationID, of app: AppID, at wall: Int64) -> Standing {
        guard conversation.type.targetIsPeer else {
            let known = self.conversations[ConversationKey(app: app, conversation: conversation)]
            guard let known, !known.stored.isDissolved else { return .toNothing }
            let role = known.members.contains(user) ? known.stored.record.members.member(user)?.role : nil
            return .toMembers(
                isMember: role != nil, isBanned: known.stored.bans.hold(user, at: wall),
                silence: known.stored.silence(of: user, role: role, at: wall))
        }
        let peer = UserKey(app: app, user: UserID(conversation.target))
        return .toPerson(
            isBlocked: self.hasBlocked(user, peer),
            hasAccount: StoreRules.hasAccount(user, in: conversation, among: self.accounts[app]))
    }

    func hasBlocked(_ user: UserID, _ person: UserKey) -> Bool {
        self.people.read(person) { $0.settings.blocked.contains(user) } ?? false
    }

    func mayWrite(_ key: UserKey, _ conversation: ConversationID, room: RoomAccess) -> StoreResult {
        let standing = self.standing(of: key.user, in: conversation, of: key.app, at: room.at)
        let refusal = StoreRules.refusal(in: conversation, isBackend: false, standing, room: room)
        return refusal.map { .refused($0) } ?? .done
    }

    private func recipients(of message: Message) -> Result<[UserID], ServerFrame.Problem> {
        let target = message.conversation.target
        if message.conversation.type.targetIsPeer {
            let peer = UserID(target)
            if peer == message.sender { return .success([peer]) }
            return .success(peer < message.sender ? [peer, message.sender] : [message.sender, peer])
        }
        let key = ConversationKey(app: message.app, conversation: message.conversation)
        guard let conversation = self.conversations[key] else {
            return .failure(StoreRules.unknownConversation(message.conversation))
        }
        if message.conversation.type == .chatRoom { return .success([]) }
        if let stranger = message.recipients.first(where: { !conversation.members.contains($0) }) {
            return .failure(StoreRules.strangerAmongRecipients(stranger))
        }
        return .success(
            message.recipients.isEmpty
                ? conversation.stored.record.members.map(\.id) : Set(message.recipients + [message.sender]).sorted())
    }

    mutating func deliver(
        _ message: Message, _ body: LogEntry.Body, to user: UserID, isHushed: Bool = false
    ) -> Delivery {
        let key = UserKey(app: message.app, user: user)
        let place = self.people.place(making: key)
        let counts = Self.counts(message, for: user)
        var delivery = self.people[place].append(body, of: user) {
            $0.count(
                message.conversation(seenBy: user), unread: counts ? 1 : 0,
                mentions: counts && message.mentions.include(user) ? 1 : 0)
        }
        if isHushed {
            delivery.isHushed = true
            self.people[place].hushed.insert(delivery.position)
        }
        // No device waits for the message, and nothing else would record that after a crash (design.md P6).
        if user != message.sender, !self.people[place].isSignedIn {
            let leg = LegID(message: message.id, user: key, device: nil)
            self.keepEnd(EndedLeg(leg: leg, end: .noDevice, at: message.sentAt))
        }
        return delivery
    }

    static func counts(_ message: Message, for user: UserID) -> Bool {
        message.sender != user && message.flags.contains(.counted)
    }

    mutating func markRead(_ key: UserKey, _ conversation: ConversationID, upTo: LogPosition) -> StoreResult {
        guard let place = self.people.place(of: key), let cursor = self.people[place].cursors[conversation] else {
            return .refused(StoreRules.nothingToRead(conversation))
        }
        let head = self.people[place].head
        guard upTo <= head else {
            return .refused(StoreRules.pastHead(field: "up_to", head: head, got: upTo))
        }
        guard upTo > cursor.upTo else { return .read(position: nil, unread: self.people[place].counts.unread) }
        let left = self.unread(of: key.user, at: place, in: conversation, after: upTo)
        self.people[place].count(
            conversation, unread: left.unread - cursor.unread, mentions: left.mentions - cursor.mentions)
        self.people[place].cursors[conversation]?.upTo = upTo
        let delivery = self.people[place].append(.read(conversation: conversation, upTo: upTo), of: key.user)
        return .read(position: delivery.position, unread: delivery.unread)
    }

    /// Separate from the caller, so that nobody holds the log while it grows.
    private func unread(
        of user: UserID, at place: Int, in conversation: ConversationID, after position: LogPosition
    ) -> (unread: Int, mentions: Int) {
        var left = (unread: 0, mentions: 0)
        for index in self.people[place].log.indices.dropFirst(Int(position)) {
            guard case .message(let message) = self.people[place].log[index].body, Self.counts(message, for: user),
                message.conversation(seenBy: user) == conversation,
                !self.people[place].deleted.contains(message.id), self.messages[message.id]?.isRecalled == false
            else { continue }
            left.unread += 1
            if message.mentions.include(user) { left.mentions += 1 }
        }
        return left
    }

    mutating func acceptCustom(_ operation: CustomOperation) -> StoreResult {
        if let fault = StoreRules.fault(in: operation) { return .refused(fault) }
        let customKey = CustomKey(app: operation.app, clientMessageID: operation.clientMessageID)
        if let earlier = self.custom[customKey] { return .duplicate(earlier.id, sentAt: earlier.at) }
        let id = operation.message.id
        if self.isUsed(id) { return .refused(StoreRules.usedMessageID(id)) }
        self.custom[customKey] = CustomSent(id: id, at: operation.message.sentAt)
        self.lastMessageID = max(self.lastMessageID, id)
        let body = LogEntry.Body.custom(operation.message)
        let deliveries = Set(operation.recipients).sorted().map { user in
            let place = self.people.place(making: UserKey(app: operation.app, user: user))
            return self.people[place].append(body, of: user)
        }
        self.keepTrace(of: .custom(operation.message, app: operation.app), id: id, deliveries)
        return .accepted(deliveries: deliveries)
    }
}

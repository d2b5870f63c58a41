import OrderedCollections
import StoreModel
import TidingsModel

// Who watches a person is told when that person comes and goes, and how far the person gets with what the watcher writes to
// them alone. Of interest now and never again: a connection that ends watches nobody, and the next one asks anew.
extension ServerCore {
    /// A session wants to hear of people. Whoever is watched already is watched once.
    mutating func watch(
        _ users: [UserID], _ asked: Asked, _ effects: inout [ServerEffect]
    ) throws(ServerFrame.Problem) {
        guard case .session(let id, _) = asked.requester, let session = self.sessions[id] else {
            throw ServerFrame.Problem(code: .notAllowed, field: "request", rule: "must come on a connection")
        }
        let wanted = session.watched.union(users)
        let max = self.settings.watchedPerSessionMax
        guard wanted.count <= max else {
            throw ServerFrame.Problem(
                code: .notAllowed, field: "users",
                rule: "must be at most \(max) people watched by a connection, got \(wanted.count)")
        }
        self.sessions[id]?.watched = wanted
        var people: [Presence] = []
        for user in Set(users).sorted() {
            let key = UserKey(app: asked.app, user: user)
            self.watchers[key, default: []].append(id)
            people.append(self.presence(of: key, for: session.device.user.user))
        }
        self.answer(asked.requester, .presence(people), &effects)
    }

    /// A session wants to hear of people no longer.
    mutating func unwatch(_ users: [UserID], _ asked: Asked) throws(ServerFrame.Problem) {
        guard case .session(let id, _) = asked.requester else {
            throw ServerFrame.Problem(code: .notAllowed, field: "request", rule: "must come on a connection")
        }
        for user in users {
            self.sessions[id]?.watched.remove(user)
            self.forgetWatcher(id, of: UserKey(app: asked.app, user: user))
        }
    }

    /// Takes a session from those who watch somebody; who is watched by nobody is forgotten.
    mutating func forgetWatcher(_ session: SessionID, of user: UserKey) {
        self.watchers[user]?.remove(session)
        if self.watchers[user]?.isEmpty == true { self.watchers.removeValue(forKey: user) }
    }

    /// Whether a person is there, as another may know: who is blocked by the person never sees them.
    private func presence(of key: UserKey, for watcher: UserID) -> Presence {
        let away = Presence(id: key.user, isOnline: false)
        guard let slot = self.slots[key], !self.people[slot].settings.blocked.contains(watcher) else { return away }
        return self.people[slot].presence
    }

    /// A device has come to the foreground or left it: tells those who watch its person if that changes what they know.
    mutating func tellPresence(_ slot: Int, before: Bool, _ now: Now, _ effects: inout [ServerEffect]) {
        let isOnline = self.people[slot].isOnline
        guard isOnline != before else { return }
        self.people[slot].lastSeenAt = isOnline ? nil : now.wall
        for (session, watcher) in self.watchers(of: slot) {
            effects.append(.write(session, .signal(.presence(self.presence(of: self.people[slot].key, for: watcher)))))
        }
    }

    /// A person has got, or read, messages that others wrote to them alone: tells the authors who watch the person.
    func tellReceipt(
        _ kind: ReceiptKind, upTo message: MessageID, from author: UserID, in type: ConversationType, _ slot: Int,
        _ effects: inout [ServerEffect]
    ) {
        let reader = self.people[slot].key.user
        let conversation = ConversationID(type: type, target: reader.rawValue)
        for (session, watcher) in self.watchers(of: slot) where watcher == author {
            effects.append(.write(session, .signal(.receipt(conversation, reader, kind, upTo: message))))
        }
    }

    /// The sessions that watch a person and may, each with who is behind it, in the order in which they began.
    private func watchers(of slot: Int) -> [(session: SessionID, watcher: UserID)] {
        (self.watchers[self.people[slot].key] ?? []).compactMap { id in
            guard let watcher = self.sessions[id]?.device.user.user,
                !self.people[slot].settings.blocked.contains(watcher)
            else { return nil }
            return (id, watcher)
        }
    }

    /// Messages of a device were settled: of each author who wrote to the person alone, the newest has arrived.
    mutating func noteArrivals(_ arrivals: [ArrivedMessage], _ slot: Int, _ effects: inout [ServerEffect]) {
        var newest: OrderedDictionary<ArrivedMessage.Origin, MessageID> = [:]
        for arrival in arrivals { newest[arrival.origin] = arrival.message }
        for (origin, message) in newest {
            self.tellReceipt(.delivered, upTo: message, from: origin.author, in: origin.type, slot, &effects)
        }
    }

    /// A watched person has read a conversation with one other: which message the cursor stands at, only the log knows.
    mutating func noteReading(
        _ user: UserKey, _ conversation: ConversationID, upTo: LogPosition, _ effects: inout [ServerEffect]
    ) {
        guard conversation.type.targetIsPeer, upTo > 0, self.watchers[user] != nil,
            self.storeBacklog < self.settings.storeBacklogMax
        else { return }
        self.ask(
            .readLog(user, after: upTo - 1, limit: 1), for: .errand(.readReceipt(user, conversation)), &effects)
    }

    /// The log has said at what a read cursor stands.
    func tellReading(
        _ user: UserKey, _ conversation: ConversationID, _ page: LogPage, _ effects: inout [ServerEffect]
    ) {
        guard let slot = self.slots[user], case .message(let message)? = page.entries.first?.body,
            message.conversation(seenBy: user.user) == conversation
        else { return }
        self.tellReceipt(
            .read, upTo: message.id, from: UserID(conversation.target), in: conversation.type, slot, &effects)
    }
}

/// A message that has arrived on a device of the person it was written to alone.
struct ArrivedMessage: Hashable, Sendable {
    struct Origin: Hashable, Sendable {
        var author: UserID
        var type: ConversationType
    }

    var origin: Origin
    var message: MessageID
}

extension Person {
    /// The app is in the foreground on one of the devices.
    var isOnline: Bool { self.devices.contains { $0.lease.isInForeground } }

    /// What those who watch the person are told.
    var presence: Presence {
        let isOnline = self.isOnline
        return Presence(id: self.key.user, isOnline: isOnline, lastSeenAt: isOnline ? nil : self.lastSeenAt)
    }
}

extension Leg {
    /// What has arrived with it, if it is a message that another wrote to the person alone.
    func arrival(at user: UserID) -> ArrivedMessage? {
        guard case .message(let shared) = self.subject, shared.message.conversation.type.targetIsPeer,
            shared.message.sender != user
        else { return nil }
        return ArrivedMessage(
            origin: .init(author: shared.message.sender, type: shared.message.conversation.type),
            message: shared.message.id)
    }
}

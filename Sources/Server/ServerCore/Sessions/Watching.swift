import OrderedCollections
import StoreModel
import TidingsModel

// Watchers are told when a person comes and goes, and how far the person gets with their one-to-one messages. Nothing is stored: the next
// connection has to watch anew.
extension ServerCore {
    mutating func watch(_ users: [UserID], _ asked: Asked) throws(ServerFrame.Problem) {
        let id = try asked.session()
        guard let session = self.turn.sessions[id] else { return }
        let wanted = session.watched.union(users)
        let max = self.turn.settings.watchedPerSessionMax
        guard wanted.count <= max else {
            throw ServerFrame.Problem(
                code: .notAllowed, field: "users",
                rule: "must be at most \(max) people watched by a connection, got \(wanted.count)")
        }
        self.turn.sessions[id]?.watched = wanted
        var people: [Presence] = []
        for user in Set(users).sorted() {
            let key = UserKey(app: asked.app, user: user)
            self.turn.sessions.watchers[key, default: []].append(id)
            people.append(self.presence(of: key, for: session.device.user.user))
        }
        self.answer(asked, .presence(people))
    }

    mutating func unwatch(_ users: [UserID], _ asked: Asked) throws(ServerFrame.Problem) {
        let id = try asked.session()
        for user in users {
            self.turn.sessions[id]?.watched.remove(user)
            self.turn.sessions.removeWatcher(id, of: UserKey(app: asked.app, user: user))
        }
    }

    /// A person who has blocked the watcher is never seen.
    private func presence(of key: UserKey, for watcher: UserID) -> Presence {
        let away = Presence(id: key.user, isOnline: false)
        guard let slot = self.slots[key], !self.people[slot].state.settings.blocked.contains(watcher) else {
            return away
        }
        return self.people[slot].presence
    }

    /// Only the log knows at which message the read cursor of a one-to-one conversation stands.
    mutating func requestReadReceipt(_ user: UserKey, _ conversation: ConversationID, upTo: LogPosition) {
        guard conversation.type.targetIsPeer, upTo > 0, self.turn.sessions.watchers[user] != nil,
            self.turn.store.backlog < self.turn.settings.storeBacklogMax
        else { return }
        self.turn.ask(.readLog(user, after: upTo - 1, limit: 1), for: .readReceipt(user, conversation))
    }

    mutating func sendReadReceipt(_ user: UserKey, _ conversation: ConversationID, _ page: LogPage) {
        guard let slot = self.slots[user], case .message(let message)? = page.entries.first?.body,
            message.conversation(seenBy: user.user) == conversation
        else { return }
        self.people[slot].state.sendReceipt(
            .read, upTo: message.id, from: UserID(conversation.target), in: conversation.type, &self.turn)
    }
}

struct ArrivedMessage: Hashable, Sendable {
    struct Origin: Hashable, Sendable {
        var author: UserID
        var type: ConversationType
    }

    var origin: Origin
    var message: MessageID
}

extension Person {
    var isOnline: Bool { self.devices.contains { $0.lease.isInForeground } }

    var presence: Presence {
        let isOnline = self.isOnline
        return Presence(id: self.state.key.user, isOnline: isOnline, lastSeenAt: isOnline ? nil : self.state.lastSeenAt)
    }

    /// Tells watchers if a device that came to the foreground or left it changes what they know.
    mutating func sendPresence(before: Bool, _ turn: inout Turn) {
        let isOnline = self.isOnline
        guard isOnline != before else { return }
        self.state.lastSeenAt = isOnline ? nil : turn.now.wall
        let presence = Presence(id: self.state.key.user, isOnline: isOnline, lastSeenAt: self.state.lastSeenAt)
        for (session, _) in self.state.watchers(&turn) { turn.emit(.write(session, .signal(.presence(presence)))) }
    }
}

extension PersonState {
    /// Only sessions that the person has not blocked, in the order in which they began.
    fileprivate func watchers(_ turn: inout Turn) -> [(session: SessionID, watcher: UserID)] {
        (turn.sessions.watchers[self.key] ?? []).compactMap { id in
            guard let watcher = turn.sessions[id]?.device.user.user, !self.settings.blocked.contains(watcher) else {
                return nil
            }
            return (id, watcher)
        }
    }

    /// The person received or read one-to-one messages: tells their authors who watch the person.
    fileprivate func sendReceipt(
        _ kind: ReceiptKind, upTo message: MessageID, from author: UserID, in type: ConversationType, _ turn: inout Turn
    ) {
        let conversation = ConversationID(type: type, target: self.key.user.rawValue)
        for (session, watcher) in self.watchers(&turn) where watcher == author {
            turn.emit(.write(session, .signal(.receipt(conversation, self.key.user, kind, upTo: message))))
        }
    }

    /// Sends receipts: for each author of one-to-one messages, the newest has arrived.
    func sendDeliveryReceipts(_ arrivals: [ArrivedMessage], _ turn: inout Turn) {
        var newest: OrderedDictionary<ArrivedMessage.Origin, MessageID> = [:]
        for arrival in arrivals { newest[arrival.origin] = arrival.message }
        for (origin, message) in newest {
            self.sendReceipt(.delivered, upTo: message, from: origin.author, in: origin.type, &turn)
        }
    }
}

extension Leg {
    func arrival(at user: UserID) -> ArrivedMessage? {
        guard case .message(let shared) = self.subject, shared.message.conversation.type.targetIsPeer,
            shared.message.sender != user
        else { return nil }
        return ArrivedMessage(
            origin: .init(author: shared.message.sender, type: shared.message.conversation.type),
            message: shared.message.id)
    }
}

import OrderedCollections
import StoreModel
import TidingsModel

/// A chat room of an app.
struct RoomKey: Hashable, Sendable {
    let app: AppID
    let room: ConversationID
}

// A chat room is heard by the connections that have entered it, and by nobody else: its messages stand in nobody's log and are
// never pushed (S0.17). Who comes in gets the newest ones.
extension ServerCore {
    /// A session wants to hear a room. It does from its history on, so that nothing is missed between the two.
    mutating func enterRoom(
        _ room: ConversationID, history: Int, _ asked: Asked, _ effects: inout [ServerEffect]
    ) throws(ServerFrame.Problem) {
        guard case .session(let id, _) = asked.requester, let session = self.sessions[id] else {
            throw ServerFrame.Problem(code: .notAllowed, field: "request", rule: "must come on a connection")
        }
        try Self.checkRoom(room)
        let max = self.settings.roomsPerSessionMax
        guard session.rooms.contains(room) || session.rooms.count < max else {
            throw ServerFrame.Problem(
                code: .notAllowed, field: "conversation", rule: "must be one of at most \(max) rooms of a connection")
        }
        let history = min(history, self.settings.roomHistoryMax)
        self.ask(
            .readHistory(session.device.user, room, before: nil, limit: Swift.max(1, history)),
            for: .errand(.enterRoom(asked, room, history: history)), by: asked.asker, &effects)
    }

    private static func checkRoom(_ room: ConversationID) throws(ServerFrame.Problem) {
        guard room.type != .chatRoom else { return }
        throw ServerFrame.Problem(
            code: .invalidField, field: "conversation.type", rule: "must be CHRM, got \(room.type.rawValue)")
    }

    /// The room's newest messages are there: from now on the session hears it.
    mutating func finishEnter(
        _ room: ConversationID, history: Int, _ asked: Asked, _ messages: [Message], hasMore: Bool, _ now: Now,
        _ effects: inout [ServerEffect]
    ) {
        if case .session(let id, _) = asked.requester, let session = self.sessions[id],
            session.rooms.contains(room) || session.rooms.count < self.settings.roomsPerSessionMax
        {
            self.sessions[id]?.rooms.append(room)
            self.rooms[RoomKey(app: asked.app, room: room), default: []].append(id)
        }
        let (recent, hasMore) = self.recent(messages, hasMore: hasMore, now)
        let newest = self.fitting(Array(recent.prefix(history)))
        self.answer(
            asked.requester, .history(newest, hasMore: hasMore || newest.count < recent.count), &effects)
    }

    /// The part of a history that is handed over: of a chat room what is not too old, of everything else all.
    ///
    /// - Parameter messages: of one conversation, newest first.
    func recent(_ messages: [Message], hasMore: Bool, _ now: Now) -> (messages: [Message], hasMore: Bool) {
        guard messages.first?.conversation.type == .chatRoom else { return (messages, hasMore) }
        let recent = messages.prefix { $0.sentAt > now.wall - self.settings.roomHistoryAge }
        return (Array(recent), hasMore && recent.count == messages.count)
    }

    /// A session hears a room no longer.
    mutating func exitRoom(_ room: ConversationID, _ asked: Asked) throws(ServerFrame.Problem) {
        try Self.checkRoom(room)
        guard case .session(let id, _) = asked.requester else {
            throw ServerFrame.Problem(code: .notAllowed, field: "request", rule: "must come on a connection")
        }
        self.sessions[id]?.rooms.remove(room)
        self.leave(RoomKey(app: asked.app, room: room), id)
    }

    /// Takes a session out of a room; a room nobody hears is forgotten.
    mutating func leave(_ room: RoomKey, _ session: SessionID) {
        self.rooms[room]?.remove(session)
        if self.rooms[room]?.isEmpty == true { self.rooms.removeValue(forKey: room) }
    }

    /// A message was accepted: if it is a room's, everybody who hears it gets it, but the connection it came from.
    func tellRoom(_ message: Message, from sender: SessionID?, _ effects: inout [ServerEffect]) {
        guard message.conversation.type == .chatRoom else { return }
        for session in self.rooms[RoomKey(app: message.app, room: message.conversation)] ?? [] where session != sender {
            effects.append(.write(session, .signal(.room(message))))
        }
    }
}

import OrderedCollections
import StoreModel
import TidingsModel

struct RoomKey: Hashable, Sendable {
    let app: AppID
    let room: ConversationID
}

// Only connections that have entered a chat room hear it: its messages are in nobody's log and are never pushed (S0.17).
extension ServerCore {
    /// The session hears the room from its history on, so that nothing is missed between the two.
    mutating func enterRoom(_ room: ConversationID, history: Int, _ asked: Asked) throws(ServerFrame.Problem) {
        let id = try asked.session()
        guard let session = self.turn.sessions[id] else { return }
        try Self.checkChatRoom(room)
        let max = self.turn.settings.roomsPerSessionMax
        guard session.rooms.contains(room) || session.rooms.count < max else {
            throw ServerFrame.Problem(
                code: .notAllowed, field: "conversation", rule: "must be one of at most \(max) rooms of a connection")
        }
        let history = min(history, self.turn.settings.roomHistoryMax)
        self.turn.sessions[id]?.entering.append(room)
        self.turn.ask(
            .readHistory(session.device.user, room, before: nil, limit: Swift.max(1, history), room: self.roomAccess()),
            for: .clientRequest(.enterRoom(room, history: UInt32(history)), asked), by: asked.asker)
    }

    private static func checkChatRoom(_ room: ConversationID) throws(ServerFrame.Problem) {
        guard room.type != .chatRoom else { return }
        throw ServerFrame.Problem(
            code: .invalidField, field: "conversation.type", rule: "must be CHRM, got \(room.type.rawValue)")
    }

    mutating func endEntering(_ room: ConversationID, _ asked: Asked) {
        guard case .session(let id, _) = asked.requester,
            let place = self.turn.sessions[id]?.entering.firstIndex(of: room)
        else { return }
        self.turn.sessions[id]?.entering.remove(at: place)
    }

    func roomAccess() -> RoomAccess {
        RoomAccess(isOpen: self.turn.settings.chatRoomPolicy.join == .anyone, at: self.turn.now.wall)
    }

    /// One that has just asked to come in is inside: the store answers that first.
    func roomAccess(_ conversation: ConversationID, of session: Session) -> RoomAccess {
        guard conversation.type == .chatRoom else { return RoomAccess() }
        var access = self.roomAccess()
        access.isInside = session.rooms.contains(conversation) || session.entering.contains(conversation)
        return access
    }

    mutating func finishEnter(
        _ room: ConversationID, history: Int, _ asked: Asked, _ found: (messages: [Message], hasMore: Bool)
    ) {
        self.endEntering(room, asked)
        if case .session(let id, _) = asked.requester, let session = self.turn.sessions[id],
            session.rooms.contains(room) || session.rooms.count < self.turn.settings.roomsPerSessionMax
        {
            self.turn.sessions[id]?.rooms.append(room)
            self.turn.sessions.hearers[RoomKey(app: asked.app, room: room), default: []].append(id)
        }
        self.answer(asked, self.recent(found, limit: history))
    }

    /// Returns what fits of a conversation's messages, newest first: of a chat room's those that are not too old.
    func recent(_ found: (messages: [Message], hasMore: Bool), limit: Int = .max) -> ClientAnswer {
        let now = self.turn.now
        let isRoom = found.messages.first?.conversation.type == .chatRoom
        let recent = found.messages.prefix { !isRoom || $0.sentAt > now.wall - self.turn.settings.roomHistoryAge }
        let newest = self.fitting(Array(recent.prefix(limit)))
        let hasMore = found.hasMore && recent.count == found.messages.count
        return .history(newest, hasMore: hasMore || newest.count < recent.count)
    }

    mutating func exitRoom(_ room: ConversationID, _ asked: Asked) throws(ServerFrame.Problem) {
        try Self.checkChatRoom(room)
        let id = try asked.session()
        self.turn.sessions[id]?.rooms.remove(room)
        self.turn.sessions.removeHearer(id, from: RoomKey(app: asked.app, room: room))
    }

    /// People who may no longer hear a changed chat room are removed and told so on all their connections.
    mutating func putOut(_ change: ConversationChange, in app: AppID) {
        guard change.conversation.type == .chatRoom else { return }
        let room = change.conversation
        switch change.action {
        case .ban(let users, _):
            let gone = Set(users)
            self.putOut(of: room, in: app, .banned, "must be one this person is not banned from") {
                gone.contains($0)
            }
        case .remove(let users):
            let gone = Set(users)
            self.putOut(of: room, in: app, .notAMember, Self.putOutRule) { gone.contains($0) }
        case .leave:
            self.putOut(of: room, in: app, .notAMember, "must be one this person has not left") {
                $0 == change.by
            }
        case .dissolve:
            self.putOut(of: room, in: app, .unknownConversation, "must be one that was not dissolved") { _ in
                true
            }
        case .create, .add, .join, .rename, .setPortrait, .setRole, .setNickname, .unban, .mute, .unmute,
            .setOnlyAdminsWrite, .invite, .decline, .withdraw:
            break
        }
    }

    private static let putOutRule = "must be one this person was not put out of"

    /// A chat room for members alone is heard only by those the backend names.
    mutating func followPut(_ record: ConversationRecord) {
        guard record.conversation.type == .chatRoom, self.turn.settings.chatRoomPolicy.join == .nobody else { return }
        self.putOut(of: record.conversation, in: record.app, .notAMember, Self.putOutRule) {
            record.members.member($0) == nil
        }
    }

    private mutating func putOut(
        of room: ConversationID, in app: AppID, _ code: ServerFrame.Problem.Code, _ rule: String,
        _ isGone: (UserID) -> Bool
    ) {
        let problem = ServerFrame.Problem(code: code, field: "conversation", rule: rule)
        let key = RoomKey(app: app, room: room)
        for id in self.turn.sessions.hearers[key] ?? [] {
            guard let user = self.turn.sessions[id]?.device.user.user, isGone(user) else { continue }
            self.turn.sessions[id]?.rooms.remove(room)
            self.turn.sessions.removeHearer(id, from: key)
            self.turn.emit(.write(id, .problem(problem, isFatal: false)))
        }
    }

    mutating func sendToRoom(_ message: Message, from sender: SessionID?) {
        guard message.conversation.type == .chatRoom else { return }
        // Nothing else of a chat room's message reaches beyond those who look at it.
        let mayHush = message.mentions != .none
        for session in self.turn.sessions.hearers[RoomKey(app: message.app, room: message.conversation)] ?? []
        where session != sender {
            let isHushed = mayHush && self.hasBlocked(message.sender, session)
            self.turn.emit(.write(session, .signal(.room(isHushed ? message.hushed : message))))
        }
    }

    private func hasBlocked(_ sender: UserID, _ session: SessionID) -> Bool {
        guard let user = self.turn.sessions[session]?.device.user, let slot = self.slots[user] else { return false }
        return self.people[slot].state.settings.blocked.contains(sender)
    }
}

import OrderedCollections
import TidingsModel

/// The connections: those that wait for their sign-in and those that are welcomed, which rooms they hear, and whom they watch.
struct Sessions: Sendable {
    var openings: [SessionID: Opening] = [:]
    private var welcomed: [SessionID: Session] = [:]
    /// In the order in which the sessions came in.
    var hearers: [RoomKey: OrderedSet<SessionID>] = [:]
    /// By the watched person, in the order in which watching began.
    var watchers: [UserKey: OrderedSet<SessionID>] = [:]

    var count: Int { self.openings.count + self.welcomed.count }
    /// Those that are welcomed.
    var ids: [SessionID] { self.welcomed.keys.sorted() }

    subscript(id: SessionID) -> Session? {
        @inline(__always) get { self.welcomed[id] }
        @inline(__always) _modify { yield &self.welcomed[id] }
    }

    func contains(_ id: SessionID) -> Bool { self.welcomed[id] != nil || self.openings[id] != nil }

    mutating func remove(_ id: SessionID) -> Session? {
        self.openings.removeValue(forKey: id)
        guard let ended = self.welcomed.removeValue(forKey: id) else { return nil }
        let app = ended.device.user.app
        for room in ended.rooms { self.removeHearer(id, from: RoomKey(app: app, room: room)) }
        for user in ended.watched { self.removeWatcher(id, of: UserKey(app: app, user: user)) }
        return ended
    }

    mutating func removeHearer(_ id: SessionID, from room: RoomKey) {
        self.hearers[room]?.remove(id)
        if self.hearers[room]?.isEmpty == true { self.hearers.removeValue(forKey: room) }
    }

    mutating func removeWatcher(_ id: SessionID, of user: UserKey) {
        self.watchers[user]?.remove(id)
        if self.watchers[user]?.isEmpty == true { self.watchers.removeValue(forKey: user) }
    }
}

extension Turn {
    mutating func forget(_ session: SessionID) {
        guard let ended = self.sessions.remove(session) else { return }
        self.emit(.report(.device(ended.device, .disconnected)))
    }
}

import OrderedCollections
import StoreModel
import TidingsModel

// There is one event loop and one writer for everybody, so a client's frames are counted for its connection, its person and its app, and
// refused once one of the three has had its share (docs/server/protocol.md "Limits").

struct RateRefusal: Hashable, Sendable {
    let scope: RateScope
    let kind: RateKind
    let wait: Int64

    func problem(_ field: String) -> ServerFrame.Problem {
        ServerFrame.Problem(
            code: .rateLimited, field: field,
            rule: "must wait: the limit of \(self.kind.rawValue) by \(self.scope.rawValue) is reached",
            retryAfterMilliseconds: UInt32(clamping: self.wait))
    }
}

extension ServerCore {
    /// The smallest frame counts as this many bytes: reading it costs more than its bytes.
    package static let frameBytesMin = 128

    /// Milliseconds between two problems that tell a connection its frames are dropped.
    static let problemInterval: Int64 = 1_000

    private static func kind(of frame: ClientFrame) -> RateKind? {
        switch frame {
        case .send: .messages
        case .request, .sync, .markRead, .registerPush: .requests
        case .opened, .typing, .runState: .signals
        case .hello, .ack, .ping, .signOut, .deviceStatus: nil
        }
    }

    /// Refuses or drops a frame over its limits, and closes a connection that goes on all the same. Frames that say
    /// where the app is and what it holds are counted but never dropped: an unneeded push would follow.
    mutating func admitFrame(_ frame: ClientFrame, bytes: Int, from session: SessionID, _ known: Session) -> Bool {
        guard
            let refusal = self.charge(Self.kind(of: frame), bytes: max(bytes, Self.frameBytesMin), session, known)
        else { return true }
        self.turn.emit(.countRefusal(refusal.scope, refusal.kind))
        let limit = self.turn.settings.limits[.connection, .refusals]
        if known.buckets.wait(.refusals, 1, limit, at: self.turn.now.monotonic) != nil {
            self.turn.emit(.countRefusal(.connection, .refusals))
            self.endSession(session, because: refusal.problem(frame.field))
            return false
        }
        self.turn.sessions[session]?.buckets.consume(.refusals, 1, limit, at: self.turn.now.monotonic)
        let problem = refusal.problem(frame.field)
        switch frame {
        case .send(let draft):
            self.awaitRepeat(draft, problem, session)
            self.turn.emit(.write(session, .sendRefused(draft.clientMessageID, problem)))
        case .request(let number, _): self.turn.emit(.write(session, .answer(number, .refused(problem))))
        case .registerPush(_, let number?): self.turn.emit(.write(session, .answer(number, .refused(problem))))
        case .sync, .markRead, .registerPush(_, nil):
            self.turn.emit(.write(session, .problem(problem, isFatal: false)))
        case .opened, .typing: self.reportDroppedFrame(problem, to: session)
        case .runState, .ack, .ping, .deviceStatus, .signOut, .hello: return true
        }
        return false
    }

    /// Rate limited itself, because each of these frames costs the client nothing.
    mutating func reportDroppedFrame(_ problem: ServerFrame.Problem, to session: SessionID) {
        let now = self.turn.now
        guard let known = self.turn.sessions[session], known.problemAt.map({ now.monotonic >= $0 }) ?? true else {
            return
        }
        self.turn.sessions[session]?.problemAt = now.monotonic + Self.problemInterval
        self.turn.emit(.write(session, .problem(problem, isFatal: false)))
    }

    /// Takes from the buckets of connection, person and app, or from none of them.
    private mutating func charge(
        _ kind: RateKind?, bytes: Int, _ session: SessionID, _ known: Session
    ) -> RateRefusal? {
        let app = known.device.user.app
        let at = self.turn.now.monotonic
        let limits = self.turn.settings.limits(of: app)
        let person = self.people[known.slot].state.buckets
        let ofApp = self.turn.shares.apps[app]?.buckets ?? RateBuckets()
        // One after the other, without an array: every frame comes here.
        if let kind {
            if let refusal = Self.refusal(of: kind, 1, known.buckets, .connection, limits, at) { return refusal }
            if let refusal = Self.refusal(of: kind, 1, person, .person, limits, at) { return refusal }
            if let refusal = Self.refusal(of: kind, 1, ofApp, .app, limits, at) { return refusal }
        }
        if let refusal = Self.refusal(of: .bytes, bytes, known.buckets, .connection, limits, at) { return refusal }
        if let refusal = Self.refusal(of: .bytes, bytes, person, .person, limits, at) { return refusal }
        if let refusal = Self.refusal(of: .bytes, bytes, ofApp, .app, limits, at) { return refusal }
        // Only the deliveries of earlier ones are known.
        if kind == .messages || kind == .requests {
            if let refusal = Self.refusal(of: .deliveries, 1, person, .person, limits, at) { return refusal }
            if let refusal = Self.refusal(of: .deliveries, 1, ofApp, .app, limits, at) { return refusal }
        }
        self.turn.sessions[session]?.buckets.consume(kind, bytes: bytes, .connection, limits, at: at)
        self.people[known.slot].state.buckets.consume(kind, bytes: bytes, .person, limits, at: at)
        self.turn.shares.apps[app, default: .init()].buckets.consume(kind, bytes: bytes, .app, limits, at: at)
        return nil
    }

    /// Static: a method would be handed a copy of the whole core.
    private static func refusal(
        of kind: RateKind, _ cost: Int, _ buckets: RateBuckets, _ scope: RateScope, _ limits: RateLimits, _ at: Int64
    ) -> RateRefusal? {
        buckets.wait(kind, cost, limits[scope, kind], at: at).map { RateRefusal(scope: scope, kind: kind, wait: $0) }
    }

    /// Counts deliveries once they are known: a message in a large group costs what it touches. `user` is nil for the
    /// app's backend.
    mutating func countDeliveries(_ count: Int, by user: UserKey?, in app: AppID) {
        guard count > 0 else { return }
        if let user, let slot = self.slots[user] {
            self.people[slot].state.buckets.consume(
                .deliveries, count, self.turn.settings.limits(of: app)[.person, .deliveries],
                at: self.turn.now.monotonic)
        }
        self.turn.shares.apps[app, default: .init()].buckets.consume(
            .deliveries, count, self.turn.settings.limits(of: app)[.app, .deliveries], at: self.turn.now.monotonic)
    }

    /// A chat room's message enters no log; it counts by the hearers it is written to.
    mutating func countDeliveries(of message: Message, _ deliveries: [Delivery], by writer: UserKey?) {
        var count = deliveries.count
        if message.conversation.type == .chatRoom {
            let hearers = self.turn.sessions.hearers[RoomKey(app: message.app, room: message.conversation)]?.count ?? 0
            count += (hearers + Self.hearersPerDelivery - 1) / Self.hearersPerDelivery
        }
        self.countDeliveries(count, by: writer, in: message.app)
    }

    mutating func countDeliveries(_ count: Int, by asked: Asked) {
        guard let asker = asked.asker else { return }
        if case .person(let user) = asker {
            self.countDeliveries(count, by: user, in: asked.app)
        } else {
            self.countDeliveries(count, by: nil, in: asked.app)
        }
    }

    /// Nothing is stored for a hearer, so this many count as one entry in a log.
    private static let hearersPerDelivery = 10

    /// Counts what the HTTP API asks for the app, and what a phone's extension asks also for its person (`slot`).
    /// Throws `rate_limited`.
    mutating func admitCommand(
        _ kind: RateKind, of app: AppID, slot: Int? = nil, _ field: String
    ) throws(ServerFrame.Problem) {
        let at = self.turn.now.monotonic
        let limits = self.turn.settings.limits(of: app)
        let ofApp = self.turn.shares.apps[app]?.buckets ?? RateBuckets()
        var refusal = Self.refusal(of: kind, 1, ofApp, .app, limits, at)
        if kind == .messages { refusal = refusal ?? Self.refusal(of: .deliveries, 1, ofApp, .app, limits, at) }
        if let slot {
            refusal = refusal ?? Self.refusal(of: kind, 1, self.people[slot].state.buckets, .person, limits, at)
        }
        if let refusal {
            self.turn.emit(.countRefusal(refusal.scope, refusal.kind))
            throw refusal.problem(field)
        }
        self.turn.shares.apps[app, default: .init()].buckets.consume(kind, 1, limits[.app, kind], at: at)
        if let slot { self.people[slot].state.buckets.consume(kind, 1, limits[.person, kind], at: at) }
    }
}

extension ClientFrame {
    fileprivate var field: String {
        switch self {
        case .hello: "hello"
        case .send: "send"
        case .ack: "ack"
        case .runState: "run_state"
        case .registerPush: "push_registration"
        case .sync: "sync"
        case .markRead: "mark_read"
        case .deviceStatus: "device_status"
        case .opened: "opened"
        case .request: "request"
        case .typing: "typing"
        case .ping: "ping"
        case .signOut: "sign_out"
        }
    }
}

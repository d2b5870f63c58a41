import APNsClientCore
import APNsCore
import APNsModel
import DequeModule
import ServerCore
import TidingsModel

/// The APNs client of one life of the server: its dispatcher, and what the shell around that keeps.
struct WorldPool {
    typealias RequestID = APNsDispatcher.RequestID
    typealias ConnectionID = APNsDispatcher.ConnectionID

    var dispatcher: APNsDispatcher
    /// What is drawn where the shell draws jitter.
    var chance: SplitMix64
    /// The requests that have not ended.
    var requests: [RequestID: (push: PushID, request: APNsRequest)] = [:]
    /// The newest attempt at each connection that has not ended.
    var links: [ConnectionID: UInt64] = [:]
    /// The provider token in use.
    var token = ProviderTokenFacts.absent
    var tokensMinted = 0
    /// When the dispatcher wants to be woken.
    var wakeAt: Int64?
    /// What arose while another event was handled.
    var later: Deque<APNsDispatcher.Event> = []
    var isHandling = false

    init(chance: SplitMix64) {
        // As the server's shell tells its client: the server's core judges refused tokens.
        var configuration = APNsDispatcher.Configuration()
        configuration.badTokensMax = nil
        self.dispatcher = APNsDispatcher(configuration: configuration)
        self.chance = chance
    }

    mutating func jitter() -> Int64 { self.chance.number(0...999) }
}

// The server's APNs client. It does what the client's shell does with each effect, neither more nor less; only bytes, sockets and
// signatures are missing.
extension World {
    /// How long a request may take, and how long an attempt to connect, in milliseconds: the client's defaults.
    private static let requestDeadline: Int64 = 30_000
    static let connectTimeout: Int64 = 10_000
    private static let addresses = ["17.188.143.1", "17.188.143.2"]

    /// The longest time until a new connection is open, in milliseconds: the name, TCP and TLS to and fro, the first request and its
    /// answer, before which no other one goes out on it.
    var connectingTime: Int64 { 7 * self.options.faults.latencyMax }

    /// The server's process has ended: its sockets are closed, and nobody knows any more what was under way.
    mutating func closePool() {
        guard let pool = self.pool else { return }
        self.pool = nil
        self.emit(.pool(.lost))
        for number in pool.links.values.sorted() { self.hangUp(number) }
    }

    /// The server hands a push to its client.
    mutating func send(_ request: APNsRequest, for push: PushID) {
        self.appendTrace("push \(request.collapseID ?? "-") to \(request.token)")
        do throws(InvalidField) {
            try request.validate()
        } catch {
            self.checkers.foundBug("a push breaks a rule of APNs: \(error)")
        }
        self.lastRequest += 1
        let id = APNsDispatcher.RequestID(self.lastRequest)
        self.pool?.requests[id] = (push, request)
        self.emit(.pool(.asked(id.rawValue)))
        // An alert is worth nothing after its expiration; 0 means one attempt at APNs's.
        let now = self.serverNow
        let left = request.expiration.flatMap { $0 > 0 ? $0 * 1_000 - now.wall : nil } ?? Self.requestDeadline
        let ask = APNsDispatcher.Ask(
            topic: request.topic, token: request.token, bytes: request.payload.count,
            deadline: now.monotonic + min(left, Self.requestDeadline))
        self.handle(APNsDispatcher.Event.sendRequested(id, ask))
    }

    /// Hands one event to the dispatcher and performs its effects; events that arise meanwhile wait their turn.
    mutating func handle(_ event: APNsDispatcher.Event) {
        guard self.pool?.isHandling == false else {
            self.pool?.later.append(event)
            return
        }
        self.pool?.isHandling = true
        self.handleNow(event)
        while let next = self.pool?.later.popFirst() { self.handleNow(next) }
        self.pool?.isHandling = false
    }

    private mutating func handleNow(_ event: APNsDispatcher.Event) {
        var effects = self.scratch.pool.borrow()
        defer { self.scratch.pool.giveBack(&effects) }
        let now = self.serverNow
        self.pool?.dispatcher.handle(event, at: now, into: &effects)
        for effect in effects { self.perform(effect) }
    }

    private mutating func perform(_ effect: APNsDispatcher.Effect) {
        switch effect {
        case .resolve(let id): self.resolve(id)
        case .connect(let id, _): self.connect(id)
        case .openStream(let id, let stream, let request): self.open(stream, on: id, for: request)
        case .resetStream(let id, let stream):
            guard let number = self.pool?.links[id] else { return }
            self.write(.reset(stream: stream), to: number)
        case .ping(let id):
            guard let number = self.pool?.links[id] else { return }
            self.write(.ping, to: number)
        case .close(let id, let cause):
            guard let number = self.pool?.links.removeValue(forKey: id) else { return }
            if cause == .silence { self.emit(.reached(.silenceFound)) }
            self.hangUp(number)
        case .mintToken: self.mintToken()
        case .finish(let id, let outcome): self.finish(id, outcome)
        case .wake(let at):
            let at = max(at, self.time)
            guard self.pool?.wakeAt != at else { return }
            self.pool?.wakeAt = at
            self.agenda.plan(.poolTimer(life: self.life), at: at)
        case .warn(let text): self.appendTrace("the APNs client warns: \(text)")
        case .reportLane(let topic, let state):
            self.appendTrace("the APNs client says \(topic ?? "all topics"): \(state)")
            self.plan(
                .server(life: self.life, .laneReported(Self.app, .sandbox, topic: topic, state)), after: 0)
        // A server's end is no shutdown here: it crashes.
        case .finishShutdown: break
        }
    }

    private mutating func resolve(_ id: APNsDispatcher.ConnectionID) {
        var answer = APNsDispatcher.Event.resolved(id, Self.addresses)
        if self.apnsFault == .noName {
            self.emit(.reached(.namesUnresolved))
            answer = .resolveFailed(id, "no such name", jitter: self.pool?.jitter() ?? 0)
        }
        self.plan(.pool(life: self.life, answer), after: self.latencyToApple())
    }

    /// Signs a provider token: with the time that the server's own clock shows.
    private mutating func mintToken() {
        self.pool?.tokensMinted += 1
        let number = self.pool?.tokensMinted ?? 0
        let token = ProviderTokenFacts.read(
            keyID: Self.keyID, teamID: Self.teamID, issuedAt: self.serverNow.wall / 1_000, signatureHolds: true,
            text: "bearer world-\(self.life)-\(number)")
        self.pool?.token = token
        if number > 1 { self.emit(.reached(.tokensRenewed)) }
        self.handle(APNsDispatcher.Event.tokenMinted)
    }

    private mutating func open(
        _ stream: Int64, on id: APNsDispatcher.ConnectionID, for request: APNsDispatcher.RequestID
    ) {
        guard let sent = self.pool?.requests[request]?.request, let token = self.pool?.token else { return }
        // A connection that is not there any more has ended, and the dispatcher will hear of it.
        guard let number = self.pool?.links[id], self.links[number]?.phase == .open else {
            self.handle(APNsDispatcher.Event.windowOpened(id, by: Int64(sent.payload.count)))
            return self.handle(APNsDispatcher.Event.streamNotTaken(id, stream: stream))
        }
        self.write(.request(stream: stream, number: request.rawValue, sent, token), to: number)
    }

    private mutating func finish(_ id: APNsDispatcher.RequestID, _ outcome: APNsOutcome) {
        let end = PoolEnd(outcome)
        self.emit(.pool(.ended(id.rawValue, end)))
        guard let (push, _) = self.pool?.requests.removeValue(forKey: id) else { return }
        if end == .accepted, self.apnsFault == nil { self.apnsOutage.worked(at: self.time) }
        if end != .accepted { self.appendTrace("request \(id.rawValue) ends: \(outcome)") }
        // The server's loop hears of it after what it is at.
        self.plan(.server(life: self.life, .pushEnded(push, outcome)), after: 0)
    }
}

extension PoolEnd {
    init(_ outcome: APNsOutcome) {
        switch outcome {
        case .accepted: self = .accepted
        case .refused: self = .refused
        case .unknownOutcome: self = .unknown
        case .notSent, .stopped: self = .notSent
        }
    }
}

import APNsClientCore
import APNsCore
import APNsModel
import DequeModule
import OrderedCollections
import ServerCore
import TidingsModel

/// One of the server's APNs clients: its dispatcher, and what the shell around that keeps. A class, so that an event changes it where it lies.
final class WorldPool {
    typealias RequestID = APNsDispatcher.RequestID
    typealias ConnectionID = APNsDispatcher.ConnectionID

    /// Never used twice in a run, so that what is late for a client that is closed finds nobody.
    let number: UInt64
    let client: PushClient
    let identity: AppleIdentity
    /// It gets no more pushes, and is closed with its last answer.
    var isRetired = false
    var dispatcher: APNsDispatcher
    /// The generator where the shell draws jitter.
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
    /// The events that arose while another one was handled.
    var later: Deque<APNsDispatcher.Event> = []
    var isHandling = false

    init(_ number: UInt64, _ client: PushClient, _ identity: AppleIdentity, chance: SplitMix64) {
        self.number = number
        self.client = client
        self.identity = identity
        // As the server's shell tells its client: the server's core judges refused tokens.
        var configuration = APNsDispatcher.Configuration()
        configuration.badTokensMax = nil
        self.dispatcher = APNsDispatcher(configuration: configuration)
        self.chance = chance
    }

    func jitter() -> Int64 { self.chance.number(0...999) }
}

// The server's APNs clients. Each does what the client's shell does with each effect, neither more nor less; only bytes, sockets and
// signatures are missing.
extension World {
    /// How long a request may take, and how long an attempt to connect, in milliseconds: the client's defaults.
    private static let requestDeadline: Int64 = 30_000
    static let connectTimeout: Int64 = 10_000
    private static let addresses = ["17.188.143.1", "17.188.143.2"]

    /// The longest time until a new connection is open, in milliseconds: the name, TCP and TLS to and fro, the first request and its
    /// answer, before which no other one goes out on it.
    var connectingTime: Int64 { 7 * self.options.faults.latencyMax }

    /// The client that a push was given to.
    mutating func submitRequest(_ request: APNsRequest, for push: PushID, to pool: WorldPool) {
        self.lastRequest += 1
        let id = APNsDispatcher.RequestID(self.lastRequest)
        pool.requests[id] = (push, request)
        self.emit(.pool(.asked(id.rawValue, by: pool.client.credential)))
        // An alert is worth nothing after its expiration; 0 means one attempt at APNs's.
        let now = self.serverNow
        let left = request.expiration.flatMap { $0 > 0 ? $0 * 1_000 - now.wall : nil } ?? Self.requestDeadline
        let ask = APNsDispatcher.Ask(
            topic: request.topic, token: request.token, bytes: request.payload.count,
            deadline: now.monotonic + min(left, Self.requestDeadline))
        self.handle(APNsDispatcher.Event.sendRequested(id, ask), of: pool.number)
    }

    func jitter(of pool: UInt64) -> Int64 { self.senders?.pools[pool]?.jitter() ?? 0 }

    mutating func wakePool(_ number: UInt64) {
        guard let pool = self.senders?.pools[number], pool.wakeAt == self.time else { return }
        pool.wakeAt = nil
        self.handle(APNsDispatcher.Event.timePassed, of: number)
    }

    /// Hands one event to a client's dispatcher and performs its effects; events that arise meanwhile wait their turn.
    mutating func handle(_ event: APNsDispatcher.Event, of number: UInt64) {
        guard let pool = self.senders?.pools[number] else { return }
        guard !pool.isHandling else {
            pool.later.append(event)
            return
        }
        pool.isHandling = true
        self.handleNow(event, of: pool)
        while let next = pool.later.popFirst() { self.handleNow(next, of: pool) }
        pool.isHandling = false
    }

    private mutating func handleNow(_ event: APNsDispatcher.Event, of pool: WorldPool) {
        var effects = self.scratch.pool.borrow()
        defer { self.scratch.pool.giveBack(&effects) }
        let now = self.serverNow
        pool.dispatcher.handle(event, at: now, into: &effects)
        for effect in effects { self.perform(effect, of: pool) }
    }

    private mutating func perform(_ effect: APNsDispatcher.Effect, of pool: WorldPool) {
        switch effect {
        case .resolve(let id): self.resolve(id, of: pool)
        case .connect(let id, _): self.connect(id, of: pool)
        case .openStream(let id, let stream, let request): self.open(stream, on: id, for: request, of: pool)
        case .resetStream(let id, let stream):
            guard let number = pool.links[id] else { return }
            self.write(.reset(stream: stream), to: number)
        case .ping(let id):
            guard let number = pool.links[id] else { return }
            self.write(.ping, to: number)
        case .close(let id, let cause):
            guard let number = pool.links.removeValue(forKey: id) else { return }
            if cause == .silence { self.emit(.reached(.silenceFound)) }
            self.hangUp(number)
        case .mintToken: self.mintToken(of: pool)
        case .finish(let id, let outcome): self.finish(id, outcome, of: pool)
        case .wake(let at):
            let at = max(at, self.time)
            guard pool.wakeAt != at else { return }
            pool.wakeAt = at
            self.agenda.plan(.poolTimer(pool.number), at: at)
        case .warn(let text): self.appendTrace("the APNs client warns: \(text)")
        case .reportLane(let topic, let state):
            self.appendTrace("the APNs client says \(topic ?? "all topics"): \(state)")
            self.reportLanes(of: pool, topic, state)
        // Of one that is retired: a server's end is no shutdown here, it crashes.
        case .finishShutdown: self.forgetPool(pool)
        }
    }

    private mutating func resolve(_ id: APNsDispatcher.ConnectionID, of pool: WorldPool) {
        var answer = APNsDispatcher.Event.resolved(id, Self.addresses)
        if self.apnsFault == .noName {
            self.emit(.reached(.namesUnresolved))
            answer = .resolveFailed(id, "no such name", jitter: pool.jitter())
        }
        self.plan(.pool(pool.number, answer), after: self.latencyToApple())
    }

    /// Signs a provider token: with the time that the server's own clock shows. With a certificate there is none to sign.
    private mutating func mintToken(of pool: WorldPool) {
        if case .key(let keyID) = pool.identity {
            pool.tokensMinted += 1
            pool.token = ProviderTokenFacts.read(
                keyID: keyID, teamID: Self.teamID, issuedAt: self.serverNow.wall / 1_000, signatureHolds: true,
                text: "bearer world-\(pool.number)-\(pool.tokensMinted)")
            if pool.tokensMinted > 1 { self.emit(.reached(.tokensRenewed)) }
        }
        self.handle(APNsDispatcher.Event.tokenMinted, of: pool.number)
    }

    private mutating func open(
        _ stream: Int64, on id: APNsDispatcher.ConnectionID, for request: APNsDispatcher.RequestID, of pool: WorldPool
    ) {
        guard let sent = pool.requests[request]?.request else { return }
        // A connection that is not there any more has ended, and the dispatcher will hear of it.
        guard let number = pool.links[id], self.links[number]?.phase == .open else {
            self.handle(APNsDispatcher.Event.windowOpened(id, by: Int64(sent.payload.count)), of: pool.number)
            return self.handle(APNsDispatcher.Event.streamNotTaken(id, stream: stream), of: pool.number)
        }
        self.write(.request(stream: stream, number: request.rawValue, sent, pool.token), to: number)
    }

    private mutating func finish(_ id: APNsDispatcher.RequestID, _ outcome: APNsOutcome, of pool: WorldPool) {
        let end = PoolEnd(outcome)
        self.emit(.pool(.ended(id.rawValue, end)))
        guard let (push, request) = pool.requests.removeValue(forKey: id) else { return }
        if end == .accepted, self.apnsFault == nil { self.apnsOutage.worked(at: self.time) }
        if end != .accepted { self.appendTrace("request \(id.rawValue) ends: \(outcome)") }
        // Nothing but a revoked key makes a token invalid here.
        if case .refused(let refusal) = outcome, refusal.reason == .invalidProviderToken {
            self.emit(.reached(.revokedKeyRefusals))
        }
        if case .refused(let refusal) = outcome, [.badDeviceToken, .deviceTokenNotForTopic].contains(refusal.reason) {
            self.emit(.tokenRefused(request.token))
        }
        if end == .accepted { self.noteAccepted(by: pool, topic: request.topic) }
        // The server's loop hears of it after what it is at.
        self.plan(.server(life: self.life, .pushEnded(push, outcome)), after: 0)
        self.closeIfRetired(pool)
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

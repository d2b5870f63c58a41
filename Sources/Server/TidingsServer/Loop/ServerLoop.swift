import APNsModel
import Logging
import Metrics
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

/// The owner of all people of this server: the core, the gateway's connections and everything that leads to an event live on
/// one event loop (DESIGN §3 "Owner"). Carries effects out and decides nothing.
///
/// Work is done in ticks. What comes in during one turn of the event loop is handed to the core at once; store commands and
/// frames are collected and leave together at the end of the turn: one batch for the store, one write per connection.
///
/// `@unchecked Sendable`: every stored property that can change is used on `eventLoop` only; what may be called from elsewhere
/// says so and hops there first.
final class ServerLoop: @unchecked Sendable {
    /// Where everything happens.
    let eventLoop: any EventLoop
    /// The server's metrics.
    let metrics: ServerMetrics
    /// The largest message of a client, in bytes.
    let frameBytesMax: Int
    /// How many bytes may wait for a reader.
    let backlogBytesMax: Int
    /// Completed when the core is drained; fails if the store refused to write.
    let ended: EventLoopPromise<Void>

    /// Where it is told who signed in.
    let audit: AuditLog

    private let logger: Logger
    private let store: any BatchStore
    private let senders: [AppID: any PushSender]
    private let tokens: UserTokens
    private let gateway: ServerConfiguration.Gateway
    private let proxies: TrustedProxies
    private let readiness: Readiness

    private var core: ServerCore
    private var effects: [ServerEffect] = []
    private var waiting: CircularBuffer<ServerEvent> = []
    private var isBusy = false
    private var isTickScheduled = false
    private var isStopped = false
    private var now = Now(monotonic: 0, wall: 0)

    private var commands: [StoreCommand] = []
    private var commandIDs: [StoreRequestID] = []
    private var replies: [APIRequestID: EventLoopPromise<APIResult>] = [:]
    private var apiRequests: UInt64 = 0
    private var pushesInFlight = 0
    private var timer: Scheduled<Void>?
    private var timerDeadline = Int64.max

    private var connections: [SessionID: GatewayConnection] = [:]
    private var connectionsMade: UInt64 = 0
    /// What was encoded last, for those who get it, too.
    var fanOut = FanOutCache()
    private var unflushed: [GatewayConnection] = []
    private var unauthenticated = ConnectionDeadlines()
    private var lingering = ConnectionDeadlines()

    /// How long a client has to hang up after a close frame, in milliseconds.
    private static let lingerMilliseconds: Int64 = 1_000

    /// A loop whose core has no store yet; `open` starts it.
    ///
    /// - Parameters:
    ///   - audit: where it is told who signed in; `logger` if nil.
    ///   - seed: drawn by the caller; the jitter of back-offs comes from it.
    init(
        eventLoop: any EventLoop, configuration: ServerConfiguration, store: any BatchStore,
        senders: [AppID: any PushSender], tokens: UserTokens, metrics: ServerMetrics,
        readiness: Readiness = Readiness(), logger: Logger, audit: AuditLog? = nil, seed: UInt64
    ) {
        self.eventLoop = eventLoop
        self.metrics = metrics
        self.logger = logger
        self.audit = audit ?? AuditLog(logger)
        self.store = store
        self.senders = senders
        self.tokens = tokens
        self.gateway = configuration.gateway
        self.readiness = readiness
        self.frameBytesMax = configuration.gateway.frameBytesMax
        self.proxies = TrustedProxies(configuration.proxy.addresses)
        self.backlogBytesMax = configuration.gateway.backlogBytesMax
        self.core = ServerCore(settings: configuration.coreSettings, seed: seed)
        self.ended = eventLoop.makePromise(of: Void.self)
    }

    // MARK: - From any thread

    /// Hands the core what the store said when it was opened. From any thread.
    func open(_ opening: StoreOpening) { self.eventLoop.execute { self.receive(.opened(opening)) } }

    /// How many bytes are free on the store's disk. From any thread.
    func measured(free: Int64) {
        self.eventLoop.execute {
            self.metrics.storageFree.set(free)
            self.receive(.storageMeasured(free: free))
        }
    }

    /// Asks the core to stop; `ended` is completed when nothing is left to do. From any thread.
    func drain() { self.eventLoop.execute { self.receive(.drainRequested) } }

    /// Ends without draining. From any thread.
    func end() { self.eventLoop.execute { self.ended.succeed() } }

    /// Asks the core on behalf of the HTTP API. From any thread.
    func ask(_ command: APICommand) async -> APIResult {
        let promise = self.eventLoop.makePromise(of: APIResult.self)
        self.eventLoop.execute {
            guard !self.isStopped else { return promise.succeed(.refused(Self.stopping)) }
            self.apiRequests += 1
            let id = APIRequestID(self.apiRequests)
            self.replies[id] = promise
            self.receive(.api(id, command))
        }
        return (try? await promise.futureResult.get()) ?? .refused(Self.stopping)
    }

    /// Closes every connection and answers every open request. From any thread.
    func stop() async {
        try? await self.eventLoop.submit {
            self.isStopped = true
            self.timer?.cancel()
            for promise in self.replies.values { promise.succeed(.refused(Self.stopping)) }
            self.replies = [:]
            for connection in self.connections.values { connection.hangUp() }
            self.unauthenticated.cancel()
            self.lingering.cancel()
            self.ended.succeed()
        }.get()
    }

    private static let stopping = ServerFrame.Problem(code: .unavailable, rule: "the server is stopping; try again")

    // MARK: - Events

    /// Hands an event to the core and carries out what it wants done. Events that arise meanwhile wait for their turn, so that
    /// no list of effects is interrupted.
    func receive(_ event: ServerEvent) {
        self.eventLoop.assertInEventLoop()
        guard !self.isBusy else { return self.waiting.append(event) }
        self.beginTick()
        self.isBusy = true
        self.process(event)
        while let next = self.waiting.popFirst() { self.process(next) }
        self.isBusy = false
    }

    private func process(_ event: ServerEvent) {
        self.core.handle(event, at: self.now, into: &self.effects)
        for index in self.effects.indices { self.perform(self.effects[index]) }
        self.effects.removeAll(keepingCapacity: true)
    }

    private func perform(_ effect: ServerEffect) {
        switch effect {
        case .write(let session, let frame): self.connections[session]?.write(frame)
        case .close(let session): self.connections[session]?.close()
        case .turnAway(let session, let wait): self.connections[session]?.turnAway(afterMilliseconds: wait)
        case .probe(let session): self.connections[session]?.probe()
        case .store(let id, let command): self.collect(id, command)
        case .push(let id, let app, let request): self.push(id, app, request)
        case .readTimeZone(let name):
            self.waiting.append(.timeZoneRead(name, TimeZoneFacts(named: name, at: self.now.wall)))
        case .checkToken(let session, let number, let token):
            self.connections[session]?.renewal = number
            let verdict = self.tokens.verdict(on: token, device: nil, wallMilliseconds: self.now.wall)
            self.waiting.append(.tokenChecked(session, number, verdict))
        case .reply(let id, let result): self.replies.removeValue(forKey: id)?.succeed(result)
        case .raiseAlarm(let lane, let alarm):
            self.metrics.alarm(alarm)
            let words: [LogKey: String] = [.lane: "\(lane)", .pushAlarm: "\(alarm)"]
            let advice = alarm.advice.map { [LogKey.advice: $0] } ?? [:]
            self.logger.log(.error, "pushes wait", words.merging(advice) { first, _ in first })
        case .countEnd(let end): self.metrics.ended(end)
        case .countRefusedRegistration: self.metrics.registrationsRefused.increment()
        case .countRefusal(let scope, let kind): self.metrics.refused(scope, kind)
        case .clearAlarm(let lane): self.logger.log(.notice, "pushes go again", [.lane: "\(lane)"])
        case .storageChanged(let isFull, let free): self.storageChanged(isFull: isFull, free: free)
        case .stopForStoreFailure(let reason):
            self.logger.log(.critical, "the store stopped", [.reason: reason])
            self.ended.fail(StoreFailure(reason: reason))
        case .drained: self.ended.succeed()
        case .flagBug(let what):
            self.metrics.bugs.increment()
            self.logger.log(.error, "bug", [.bug: what])
        }
    }

    private func storageChanged(isFull: Bool, free: Int64) {
        self.metrics.storageFull.set(isFull ? 1 : 0)
        self.readiness.isStorageFull = isFull
        if isFull {
            self.logger.log(
                .error, "sends are refused: the disk is almost full",
                [.freeBytes: "\(free)", .field: "store.free_bytes_min"])
        } else {
            self.logger.log(.notice, "sends are taken again", [.freeBytes: "\(free)"])
        }
    }

    // MARK: - Ticks

    private func beginTick() {
        guard !self.isTickScheduled else { return }
        self.isTickScheduled = true
        self.now = Clocks.now()
        // Runs after all channels that are ready in this turn have been read.
        self.eventLoop.execute { self.endTick() }
    }

    private func endTick() {
        self.isTickScheduled = false
        self.submit()
        var index = 0
        // Cutting a reader off may write to others.
        while index < self.unflushed.count {
            self.unflushed[index].flush()
            index += 1
        }
        self.unflushed.removeAll(keepingCapacity: true)
        self.arm()
    }

    /// Notes that a connection has something to write at the end of the tick.
    func needsFlush(_ connection: GatewayConnection) {
        self.unflushed.append(connection)
        self.beginTick()
    }

    private func arm() {
        guard let deadline = self.core.nextDeadline, deadline < self.timerDeadline, !self.isStopped else { return }
        // An earlier deadline that has become needless only costs one `timeReached`.
        self.timer?.cancel()
        self.timerDeadline = deadline
        self.timer = self.eventLoop.scheduleTask(deadline: Clocks.deadline(deadline)) {
            self.timerDeadline = .max
            self.timer = nil
            self.receive(.timeReached)
        }
    }

    // MARK: - Store

    private func collect(_ id: StoreRequestID, _ command: StoreCommand) {
        if case .endLeg(let leg) = command { self.metrics.ended(leg.end) }
        self.commandIDs.append(id)
        self.commands.append(command)
    }

    private func submit() {
        guard !self.commands.isEmpty else { return }
        let ids = self.commandIDs
        let started = NIODeadline.now()
        self.metrics.storeBatch.record(ids.count)
        self.store.submit(self.commands) { results in
            self.eventLoop.execute { self.stored(ids, results, since: started) }
        }
        self.commandIDs = []
        self.commands = []
    }

    private func stored(_ ids: [StoreRequestID], _ results: [StoreResult], since started: NIODeadline) {
        self.metrics.storeTime.recordNanoseconds((NIODeadline.now() - started).nanoseconds)
        if case .failed = results.first { self.metrics.storeFailures.increment() }
        for (id, result) in zip(ids, results) {
            switch result {
            case .accepted: self.metrics.messagesAccepted.increment()
            case .duplicate: self.metrics.messagesRepeated.increment()
            case .done, .refused, .device, .read, .user, .page, .trace, .failed, .changed, .recalled, .noted, .taken,
                .userAccount, .conversation, .history, .settings, .receipts, .unread, .objectNames, .accounts, .bans,
                .isSameLog:
                break
            case .unreadable: self.metrics.storeUnreadable.increment()
            }
            self.receive(.stored(id, result))
        }
    }

    // MARK: - Pushes

    private func push(_ id: PushID, _ app: AppID, _ request: APNsRequest) {
        guard let sender = self.senders[app], sender.environment == request.environment else {
            self.metrics.pushed(.noCredential)
            return self.waiting.append(.credentialMissing(id))
        }
        self.pushesInFlight += 1
        self.metrics.pushesInFlight.set(self.pushesInFlight)
        sender.send(request) { outcome in self.eventLoop.execute { self.pushEnded(id, outcome) } }
    }

    private func pushEnded(_ id: PushID, _ outcome: APNsOutcome) {
        self.pushesInFlight -= 1
        self.metrics.pushesInFlight.set(self.pushesInFlight)
        switch outcome {
        case .accepted: self.metrics.pushed(.accepted)
        case .refused: self.metrics.pushed(.refused)
        case .unknownOutcome: self.metrics.pushed(.unknown)
        case .notSent, .stopped: self.metrics.pushed(.notSent)
        }
        self.receive(.pushEnded(id, outcome))
    }

    // MARK: - Connections

    /// Stops accepting for a while when there is no room for a connection in the process.
    func acceptPause() -> AcceptPause { AcceptPause(.gateway, metrics: self.metrics, logger: self.logger) }

    /// Takes a connection that was just accepted.
    ///
    /// - Returns: its handler; one that turns the client away if there are `gateway.connections_max` already.
    func connectionAccepted() -> GatewayConnection {
        self.connectionsMade += 1
        let isFull = self.isStopped || !self.makeRoom()
        let connection = GatewayConnection(id: SessionID(self.connectionsMade), server: self, isTurnedAway: isFull)
        guard !isFull else {
            self.metrics.connectionsRefused.increment()
            return connection
        }
        self.connections[connection.id] = connection
        self.metrics.connectionsAccepted.increment()
        self.metrics.connections.set(self.connections.count)
        self.unauthenticated.add(
            connection.id, after: Int64(self.gateway.unauthenticatedMilliseconds), on: self.eventLoop
        ) { id in
            self.connections[id]?.expire(milliseconds: self.gateway.unauthenticatedMilliseconds)
        }
        return connection
    }

    /// Whether there is room for one more connection. When all are taken, the one that has waited longest without a hello makes
    /// room: a client says hello within a moment, and connections that never do are to keep nobody out.
    private func makeRoom() -> Bool {
        guard self.connections.count >= self.gateway.connectionsMax else { return true }
        let limit = TimeAmount.milliseconds(Int64(self.gateway.unauthenticatedMilliseconds))
        guard let oldest = self.unauthenticated.first(where: { self.connections[$0]?.awaitsHello == true }),
            NIODeadline.now() - (oldest.deadline - limit) >= Self.helloTime
        else { return false }
        self.metrics.connectionsRefused.increment()
        self.connections[oldest.id]?.hangUp()
        return self.connections.count < self.gateway.connectionsMax
    }

    /// How long a connection may be without a hello even if others wait for its place.
    private static let helloTime = TimeAmount.seconds(1)

    /// A connection is open, and it is known where it comes from; behind a trusted proxy not before its handshake.
    func connectionOpened(_ id: SessionID, from address: SocketAddress?) {
        guard !self.proxies.contain(address.ip) else { return }
        self.receive(.accepted(id, from: NetworkAddress.owner(of: address)))
    }

    /// A connection is gone.
    ///
    /// - Parameter wasLive: the core knows it and was not told yet.
    func connectionEnded(_ id: SessionID, wasLive: Bool) {
        self.connections.removeValue(forKey: id)
        self.metrics.connections.set(self.connections.count)
        if wasLive { self.receive(.disconnected(id)) }
    }

    /// A handshake is good: where it comes from, and its id. Only a trusted proxy's word is taken for either. The connection may be
    /// turned away before this returns.
    func handshake(
        on id: SessionID, from peer: SocketAddress?, _ proxy: WebSocketHandshake.ProxyHeaders
    ) -> AuditLog.SignIn {
        let isTrusted = self.proxies.contain(peer.ip)
        let address = self.proxies.remote(peer: peer.ip, forwardedFor: proxy.forwardedFor)
        // Only now it is known whose connection this is.
        if isTrusted { self.receive(.accepted(id, from: address.network)) }
        return AuditLog.SignIn(
            address: address, requestID: RequestID.taken(over: proxy.requestID, isTrusted: isTrusted))
    }

    /// A client said hello: its token is checked, and the core told what was found.
    func hello(_ hello: ClientFrame.Hello, on connection: GatewayConnection) {
        let verdict = self.tokens.verdict(
            on: hello.token, device: hello.device, wallMilliseconds: Clocks.now().wall)
        // The core checks the id; one that is none is not for the log.
        if case .valid(let checked, _) = verdict,
            let device = try? DeviceID.validated(hello.device.rawValue, field: "")
        {
            connection.signIn?.device = DeviceKey(user: checked.user, device: device)
        }
        self.receive(.connected(connection.id, hello, verdict, from: connection.signIn?.address.network ?? ""))
    }

    /// Hangs up on a connection if the client has not done so in a second.
    func linger(_ id: SessionID) {
        self.lingering.add(id, after: Self.lingerMilliseconds, on: self.eventLoop) { id in
            self.connections[id]?.hangUp()
        }
    }
}

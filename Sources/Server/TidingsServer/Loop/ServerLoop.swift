import Logging
import Metrics
import NIOCore
import ServerCore
import StoreModel
import TidingsModel

/// The owner of all people of this server: the core, the gateway's connections and everything that leads to an event live on one
/// event loop (design.md §3 "Owner"). Carries effects out and decides nothing. Work is done in ticks. What comes in during one turn of
/// the event loop is handed to the core at once; store commands and frames are collected and leave together at the end of the turn:
/// one batch for the store, one write per connection. `@unchecked Sendable`: every stored property that can change is used on
/// `eventLoop` only; what may be called from elsewhere says so and hops there first.
final class ServerLoop: @unchecked Sendable {
    let eventLoop: any EventLoop
    let metrics: ServerMetrics
    let frameBytesMax: Int
    let backlogBytesMax: Int
    /// Completed when the core is drained; fails if the store refused to write.
    let ended: EventLoopPromise<Void>

    let audit: AuditLog
    let feed: EventFeed
    var reports: [ServerReport] = []

    let logger: Logger
    let store: any BatchStore
    let senders: PushSenders
    private let tokens: UserTokens
    private let gateway: ServerConfiguration.Gateway
    private let proxies: TrustedProxies
    private let readiness: Readiness

    private var core: ServerCore
    private var effects: [ServerEffect] = []
    private var waiting: CircularBuffer<ServerEvent> = []
    private var isBusy = false
    private var isTickScheduled = false
    private(set) var isStopped = false
    private(set) var now = Now(monotonic: 0, wall: 0)

    private var commands: [StoreCommand] = []
    private var commandIDs: [StoreRequestID] = []
    private var replies: [APIRequestID: EventLoopPromise<APIResult>] = [:]
    private var apiRequests: UInt64 = 0
    var pushesInFlight = 0
    private var timer: Scheduled<Void>?
    var queueTimer: RepeatedTask?
    private var timerDeadline = Int64.max

    private var connections: [SessionID: GatewayConnection] = [:]
    private var connectionsMade: UInt64 = 0
    var fanOut = FanOutCache()
    private var unflushed: [GatewayConnection] = []
    private var unauthenticated = ConnectionDeadlines()
    private var lingering = ConnectionDeadlines()

    /// How long a client has to hang up after a close frame.
    private static let lingerMilliseconds: Int64 = 1_000

    /// The core has no store until `open`. `seed` decides the jitter of back-offs.
    init(
        eventLoop: any EventLoop, configuration: ServerConfiguration, store: any BatchStore,
        senders: PushSenders, tokens: UserTokens, metrics: ServerMetrics,
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
        self.feed = EventFeed(eventLoop: eventLoop)
        self.followSenders()
        self.endFeedAtEnd()
    }

    // MARK: - From any thread

    /// From any thread.
    func open(_ opening: StoreOpening, histories: [AppID: AppHistory.Saved] = [:]) {
        self.feed.begin(epoch: opening.identity.opening, histories: histories)
        self.eventLoop.execute {
            for app in opening.control.apps { self.senders.follow(app, at: Clocks.now().wall) }
            self.receive(.opened(opening))
            self.measureQueues()
        }
    }

    /// On the loop.
    var queueLengths: [AppID: PushQueueLength] { self.core.queueLengths() }

    /// From any thread.
    func updateFreeBytes(_ free: Int64) {
        self.eventLoop.execute {
            self.metrics.storageFree.set(free)
            self.receive(.storageMeasured(free: free))
        }
    }

    /// `ended` is completed when nothing is left to do. From any thread.
    func drain() { self.eventLoop.execute { self.receive(.drainRequested) } }

    /// From any thread.
    func endWithoutDraining() { self.eventLoop.execute { self.ended.succeed() } }

    /// From any thread.
    func execute(_ command: APICommand) async -> APIResult {
        let promise = self.eventLoop.makePromise(of: APIResult.self)
        self.eventLoop.execute {
            guard !self.isStopped else { return promise.succeed(.refused(Self.stopping)) }
            self.replies[self.nextRequest] = promise
            self.askCore(command)
        }
        return (try? await promise.futureResult.get()) ?? .refused(Self.stopping)
    }

    /// Closes every connection and answers every open request. From any thread.
    func stop() async {
        try? await self.eventLoop.submit {
            self.isStopped = true
            self.timer?.cancel()
            self.queueTimer?.cancel()
            for promise in self.replies.values { promise.succeed(.refused(Self.stopping)) }
            self.replies = [:]
            for connection in self.connections.values { connection.hangUp() }
            self.unauthenticated.cancel()
            self.lingering.cancel()
            self.ended.succeed()
        }.get()
        await self.senders.close()
    }

    private static let stopping = ServerFrame.Problem(code: .unavailable, rule: "the server is stopping; try again")

    private var nextRequest: APIRequestID { APIRequestID(self.apiRequests + 1) }

    /// On the loop.
    func askCore(_ command: APICommand) {
        let id = self.nextRequest
        self.apiRequests += 1
        self.receive(.api(id, command))
    }

    // MARK: - Events

    /// Hands an event to the core and carries out its effects. Events that arise meanwhile wait for their turn, so that no list of
    /// effects is interrupted.
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
        for index in self.effects.indices { self.carryOut(self.effects[index]) }
        self.effects.removeAll(keepingCapacity: true)
    }

    private func carryOut(_ effect: ServerEffect) {
        self.collectReport(of: effect)
        switch effect {
        case .write(let session, let frame): self.connections[session]?.write(frame)
        case .close(let session): self.connections[session]?.close()
        case .turnAway(let session, let wait): self.connections[session]?.turnAway(afterMilliseconds: wait)
        case .probe(let session): self.connections[session]?.probe()
        case .store(let id, let command): self.enqueue(command, id)
        case .push(let id, let device, let request): self.sendPush(id, device.user.app, request, at: self.now)
        case .pass(let id, let app, let request): self.sendPush(id, app, request, at: self.now)
        case .broadcast(let id, let app, let broadcast): self.sendBroadcast(id, app, broadcast, at: self.now)
        case .manageChannels(let id, let app, let asked): self.manageChannels(id, app, asked, at: self.now)
        case .readTimeZone(let name):
            self.waiting.append(.timeZoneRead(name, TimeZoneFacts(named: name, at: self.now.wall)))
        case .checkToken(let session, let number, let token):
            self.connections[session]?.renewal = number
            let verdict = self.tokens.verdict(on: token, device: nil, wallMilliseconds: self.now.wall)
            self.waiting.append(.tokenChecked(session, number, verdict))
        case .reply(let id, let result): self.replies.removeValue(forKey: id)?.succeed(result)
        case .controlChanged(let change, let answer): self.follow(change, answer)
        case .noteAct(let act, let session): self.audit.logAct(act, self.connections[session]?.signIn)
        case .raiseAlarm(let lane, let alarm):
            self.metrics.countAlarm(alarm)
            let words: [LogKey: String] = [.lane: "\(lane)", .pushAlarm: "\(alarm)"]
            let advice = alarm.advice.map { [LogKey.advice: $0] } ?? [:]
            let isOne = if case .tokenRefused = alarm { true } else { false }
            self.logger.log(
                .error, isOne ? "APNs refuses a token" : "pushes wait", words.merging(advice) { first, _ in first })
        case .countEnd(let end): self.metrics.countEnd(end)
        case .countRefusedRegistration: self.metrics.registrationsRefused.increment()
        case .countRefusal(let scope, let kind): self.metrics.countRefusal(scope, kind)
        case .clearAlarm(let lane): self.logger.log(.notice, "pushes go again", [.lane: "\(lane)"])
        case .storageChanged(let isFull, let free): self.showStorage(isFull: isFull, free: free)
        case .stopForStoreFailure(let reason):
            self.logger.log(.critical, "the store stopped", [.reason: reason])
            self.ended.fail(StoreFailure(reason: reason))
        case .drained: self.ended.succeed()
        case .report: break
        case .flagBug(let what):
            self.metrics.bugs.increment()
            self.logger.log(.error, "bug", [.bug: what])
        }
    }

    private func follow(_ change: ControlChange, _ answer: ControlAnswer) {
        do throws(MasterKeys.Fault) {
            try self.tokens.registry.apply(change, answer)
            if case .app(let app) = answer { self.senders.follow(app, at: self.now.wall) }
            // Streams end with what has opened them: a key, a session, a role, an app that is not suspended.
            if answer != .noted { self.feed.wakeReaders() }
        } catch {
            self.metrics.bugs.increment()
            self.logger.log(.error, "bug", [.bug: "a secret that was sealed here cannot be opened: \(error)"])
        }
    }

    private func showStorage(isFull: Bool, free: Int64) {
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
        self.publishReports()
        self.submitCommands()
        var index = 0
        // Cutting a reader off may write to others.
        while index < self.unflushed.count {
            self.unflushed[index].flush()
            index += 1
        }
        self.unflushed.removeAll(keepingCapacity: true)
        self.armTimer()
    }

    /// Its output is flushed at the end of the tick.
    func needsFlush(_ connection: GatewayConnection) {
        self.unflushed.append(connection)
        self.beginTick()
    }

    private func armTimer() {
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

    private func enqueue(_ command: StoreCommand, _ id: StoreRequestID) {
        if case .endLeg(let leg) = command { self.metrics.countEnd(leg.end) }
        self.commandIDs.append(id)
        self.commands.append(command)
    }

    private func submitCommands() {
        guard !self.commands.isEmpty else { return }
        let ids = self.commandIDs
        let started = NIODeadline.now()
        self.metrics.storeBatch.record(ids.count)
        self.store.submit(self.commands) { results in
            self.eventLoop.execute { self.handleResults(results, of: ids, since: started) }
        }
        self.commandIDs = []
        self.commands = []
    }

    private func handleResults(_ results: [StoreResult], of ids: [StoreRequestID], since started: NIODeadline) {
        self.metrics.storeTime.recordNanoseconds((NIODeadline.now() - started).nanoseconds)
        if case .failed = results.first { self.metrics.storeFailures.increment() }
        for (id, result) in zip(ids, results) {
            if case .accepted = result { self.metrics.messagesAccepted.increment() }
            if case .pushStep(let step) = result { self.metrics.pushRecipients.increment(by: step.ids.count) }
            if case .duplicate = result { self.metrics.messagesRepeated.increment() }
            if case .unreadable = result { self.metrics.storeUnreadable.increment() }
            self.receive(.stored(id, result))
        }
    }

    // MARK: - Connections

    func makeAcceptPause() -> AcceptPause { AcceptPause(.gateway, metrics: self.metrics, logger: self.logger) }

    /// - Returns: the handler of a new connection; one that turns the client away if there are `gateway.connections_max` already.
    func makeConnection() -> GatewayConnection {
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

    /// When all connections are taken, the one that has waited longest without a hello makes room: a client says hello within a
    /// moment, and connections that never do must keep nobody out.
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

    /// Behind a trusted proxy it is known only after the handshake where a connection comes from.
    func connectionOpened(_ id: SessionID, from address: SocketAddress?) {
        guard !self.proxies.contain(address.ip) else { return }
        self.receive(.accepted(id, from: address.ip?.network ?? ""))
    }

    /// - Parameter wasLive: the core knows the session and was not told yet.
    func connectionEnded(_ id: SessionID, wasLive: Bool) {
        self.connections.removeValue(forKey: id)
        self.metrics.connections.set(self.connections.count)
        if wasLive { self.receive(.disconnected(id)) }
    }

    /// Only a trusted proxy's headers are believed. The connection may be turned away before this returns.
    func acceptHandshake(
        on id: SessionID, from peer: SocketAddress?, _ proxy: WebSocketHandshake.ProxyHeaders
    ) -> AuditLog.SignIn {
        let isTrusted = self.proxies.contain(peer.ip)
        let address = self.proxies.remote(peer: peer.ip, forwardedFor: proxy.forwardedFor)
        self.proxies.warn(
            of: peer.ip, forwardedFor: proxy.forwardedFor, hasProxyMarks: proxy.forwardedFor != nil, self.logger)
        // Only now it is known whose connection this is.
        if isTrusted { self.receive(.accepted(id, from: address.network)) }
        return AuditLog.SignIn(
            address: address, requestID: RequestID.make(from: proxy.requestID))
    }

    func handleHello(_ hello: ClientFrame.Hello, on connection: GatewayConnection) {
        let verdict = self.tokens.verdict(
            on: hello.token, device: hello.device, wallMilliseconds: Clocks.now().wall)
        // The core checks the id; an invalid one is not logged.
        if case .valid(let checked, _) = verdict,
            let device = try? DeviceID.validated(hello.device.rawValue, field: "")
        {
            connection.signIn?.device = DeviceKey(user: checked.user, device: device)
        }
        self.receive(.connected(connection.id, hello, verdict, from: connection.signIn?.address.network ?? ""))
    }

    /// Hangs up on a client that has not done so in a second.
    func scheduleHangUp(_ id: SessionID) {
        self.lingering.add(id, after: Self.lingerMilliseconds, on: self.eventLoop) { id in
            self.connections[id]?.hangUp()
        }
    }
}

import APNsClientCore
import APNsModel
import Foundation
import HTTP2Connection
import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import NIOSSL
import TidingsModel

/// The shell around the dispatcher: translates effects to bytes, sockets and promises, and what comes back to events.
///
/// It works in cycles: a burst of orders or of bytes is worked through at one time of the clock, then everything written
/// goes to the sockets and everybody hears of the ends. One engine serves one host.
///
/// `@unchecked Sendable`: `inbox` is guarded by its lock; every other variable is touched on `eventLoop` only.
final class APNsClientEngine: @unchecked Sendable {
    typealias RequestID = APNsDispatcher.RequestID
    typealias ConnectionID = APNsDispatcher.ConnectionID

    private enum Order {
        case send(PendingRequest), cancel(PendingRequest), cancelRun(OutcomeRun)
        indirect case replace(APNsClient.Credential, NIOSSLContext)
    }

    let eventLoop: any EventLoop
    let endpoint: APNsClient.Configuration.Endpoint
    let configuration: APNsClient.Configuration
    let session: ClientSession.Configuration
    let surroundings: APNsClient.Surroundings
    let logger: Logger
    private let inbox = NIOLockedValueBox<[Order]>([])
    /// The last burst's storage.
    private var orders: [Order] = []

    private(set) var credential: APNsClient.Credential
    private(set) var tls: NIOSSLContext
    let metrics: ClientMetrics
    private var core: APNsDispatcher
    private var later = CircularBuffer<(APNsDispatcher.Event, APNsClientAnswer?)>()
    private var effects: [APNsDispatcher.Effect] = []
    private var isHandling = false
    /// The time of this cycle; nil outside of one.
    private var cycleTime: Now?
    /// By the lower half of their numbers.
    private var requests: [PendingRequest?] = []
    private var freeRequests: [UInt32] = []
    private var requestsTaken: UInt32 = 0
    /// Requests that wait for room, in the order they came; some have ended meanwhile.
    private var line = CircularBuffer<PendingRequest>()
    /// In the order they were begun; a few.
    var connections: [ClientConnectionHandler] = []
    private var heads: PushHeads
    private var runs: [OutcomeRun] = []
    private var wake: Scheduled<Void>?
    private var shutdownPromises: [EventLoopPromise<Void>] = []
    private var isShutDown = false
    /// Hears which requests would be sent, by topic or (nil) all; on the loop.
    private var laneReport: (@Sendable (String?, LaneState) -> Void)?

    init(
        _ service: APNsClient.Configuration.Service, _ configuration: APNsClient.Configuration, tls: NIOSSLContext,
        logger: Logger, _ surroundings: APNsClient.Surroundings
    ) {
        var limits = surroundings.limits
        limits.connectionsMax = configuration.connectionsMax
        limits.streamsMax = configuration.streamsMax
        limits.queueMax = configuration.queueMax
        limits.badTokensMax = configuration.badTokensMax
        limits.retriesMax = configuration.retriesMax
        limits.providerFailuresMax = configuration.providerFailuresMax
        limits.breakerPauses = BackOff(first: configuration.outagePause, longest: configuration.outagePauseMax)
        var session = ClientSession.Configuration()
        switch service {
        case .push: break
        case .channels:
            limits.connectionsMax = 1
            // The list of 10,000 channels (APNs reference, section 17), with room for longer ids than Apple shows.
            session.bodyLimit = 4_194_304
        }
        self.core = APNsDispatcher(configuration: limits)
        self.heads = PushHeads(authority: configuration.endpoint(of: service).authority)
        self.session = session
        self.configuration = configuration
        self.endpoint = configuration.endpoint(of: service)
        self.credential = configuration.credential
        self.tls = tls
        self.metrics = ClientMetrics(
            name: configuration.name, environment: configuration.environment.rawValue, service: service.rawValue,
            factory: surroundings.metrics)
        var logger = logger
        logger[metadataKey: "apns_client"] = "\(configuration.name)"
        logger[metadataKey: "apns_environment"] = "\(configuration.environment.rawValue)"
        logger[metadataKey: "apns_credential"] = "\(configuration.credential.summary)"
        self.logger = logger
        self.surroundings = surroundings
        self.eventLoop = surroundings.eventLoop
    }

    static func jitter() -> Int64 { Int64.random(in: 0...999) }

    static func clocks() -> Now {
        Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    // MARK: From any thread

    func submit(_ request: PendingRequest) { self.post(.send(request)) }
    /// Ends a request that was submitted; changes nothing for one that has ended, or was not submitted yet.
    func cancel(_ request: PendingRequest) { self.post(.cancel(request)) }
    /// Ends all requests of a run; what is submitted for it later ends at once.
    func cancel(_ run: OutcomeRun) { self.post(.cancelRun(run)) }
    func replace(_ credential: APNsClient.Credential, _ tls: NIOSSLContext) { self.post(.replace(credential, tls)) }

    /// Many orders of one moment are taken together, and flushed together.
    private func post(_ order: Order) {
        let isFirst = self.inbox.withLockedValue { orders in
            orders.append(order)
            return orders.count == 1
        }
        if isFirst { self.eventLoop.execute { self.takeOrders() } }
    }

    func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void) {
        self.eventLoop.execute { self.laneReport = report }
    }

    func shutdown() async {
        let promise = self.eventLoop.makePromise(of: Void.self)
        self.eventLoop.execute {
            if self.isShutDown { return promise.succeed() }
            self.shutdownPromises.append(promise)
            self.handle(.shutdownRequested)
        }
        // The promise is never failed.
        try? await promise.futureResult.get()
    }

    // MARK: On the loop

    private func takeOrders() {
        var orders = self.orders
        self.orders = []
        self.inbox.withLockedValue { swap(&$0, &orders) }
        self.beginCycle()
        for order in orders {
            switch order {
            case .send(let request): self.register(request)
            case .cancel(let request): self.cancelNow(request)
            case .cancelRun(let run):
                run.isOver = true
                for case let request? in self.requests {
                    if case .run(let other)? = request.waiter, other === run { self.cancelNow(request) }
                }
            case .replace(let credential, let tls):
                self.credential = credential
                self.tls = tls
                self.handle(.credentialReplaced)
            }
        }
        orders.removeAll(keepingCapacity: true)
        self.orders = orders
        self.endCycle()
    }

    private func register(_ request: PendingRequest) {
        // Of use to nobody any more.
        if case .run(let run)? = request.waiter, run.isOver { return }
        let place = self.freeRequests.popLast() ?? UInt32(truncatingIfNeeded: self.requests.count)
        self.requestsTaken &+= 1
        request.id = RequestID(UInt64(self.requestsTaken) << 32 | UInt64(place))
        if Int(place) < self.requests.count {
            self.requests[Int(place)] = request
        } else {
            self.requests.append(request)
        }
        request.takenAt = self.now.monotonic
        if request.waits, !self.line.isEmpty || self.isFull {
            request.isInLine = true
            self.line.append(request)
        } else {
            self.handOver(request)
        }
    }

    private func cancelNow(_ request: PendingRequest) {
        guard let id = request.id, !request.isOver else { return }
        if request.isInLine { self.finish(id, .notSent("cancelled"), nil) } else { self.handle(.cancelled(id)) }
    }

    private func request(_ id: RequestID) -> PendingRequest? {
        let place = Int(id.rawValue & 0xffff_ffff)
        guard place < self.requests.count, let request = self.requests[place], request.id == id else { return nil }
        return request
    }

    private var isFull: Bool { self.core.openCount - self.core.inFlightCount >= self.configuration.queueMax }

    /// Its time begins now: a caller that waits for room waits as long as it likes.
    private func handOver(_ request: PendingRequest) {
        guard let id = request.id else { return }
        request.isInLine = false
        self.handle(.sendRequested(id, request.makeAsk(timeout: self.configuration.requestDeadline, at: self.now)))
    }

    private func takeFromLine() {
        while !self.isFull, let request = self.line.popFirst() {
            if !request.isOver { self.handOver(request) }
        }
    }

    /// Hands one event to the dispatcher and performs its effects; events that arise meanwhile wait their turn. Outside
    /// of a cycle it is one of its own.
    ///
    /// - Parameter answer: what `responded` was read from.
    func handle(_ event: APNsDispatcher.Event, answer: APNsClientAnswer? = nil) {
        self.eventLoop.assertInEventLoop()
        if self.isHandling { return self.later.append((event, answer)) }
        let isAlone = self.cycleTime == nil
        if isAlone { self.beginCycle() }
        self.isHandling = true
        self.handleNow(event, answer)
        while let (event, answer) = self.later.popFirst() { self.handleNow(event, answer) }
        self.isHandling = false
        if isAlone { self.endCycle() }
    }

    private func handleNow(_ event: APNsDispatcher.Event, _ answer: APNsClientAnswer?) {
        var effects: [APNsDispatcher.Effect] = []
        swap(&effects, &self.effects)
        self.core.handle(event, at: self.now, into: &effects)
        for effect in effects { self.perform(effect, answer) }
        effects.removeAll(keepingCapacity: true)
        self.effects = effects
    }

    // MARK: Cycles

    private var now: Now { self.cycleTime ?? self.surroundings.now() }

    /// Stops the clock until the cycle ends: all its events happen at one moment.
    func beginCycle() { if self.cycleTime == nil { self.cycleTime = self.surroundings.now() } }

    func endCycle() {
        guard self.cycleTime != nil else { return }
        self.takeFromLine()
        self.cycleTime = nil
        for connection in self.connections { connection.flush() }
        for run in self.runs { run.deliver() }
        self.runs.removeAll(keepingCapacity: true)
        let inFlight = self.core.inFlightCount
        let waiting = self.core.openCount - inFlight + self.line.count
        self.metrics.show(waiting: waiting, inFlight: inFlight, connections: self.connections.count)
    }

    private func perform(_ effect: APNsDispatcher.Effect, _ answer: APNsClientAnswer?) {
        switch effect {
        case .resolve(let id): self.resolve(id)
        case .connect(let id, let address): self.connect(id, to: address)
        case .openStream(let id, let stream, let request): self.open(stream, on: id, for: request)
        case .resetStream(let id, let stream): self.connection(id)?.reset(stream: stream)
        case .ping(let id): self.connection(id)?.ping()
        case .close(let id, let cause):
            guard let connection = self.connection(id) else { return }
            self.connections.removeAll { $0 === connection }
            self.metrics.closedConnection(cause.rawValue)
            self.logger.debug("connection \(id.rawValue) closed: \(cause.rawValue)")
            connection.close()
        case .mintToken: self.mintToken()
        case .finish(let id, let outcome): self.finish(id, outcome, answer)
        case .wake(let at):
            self.wake?.cancel()
            self.wake = self.eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(max(at, 0)) * 1_000_000)) {
                self.handle(.timePassed)
            }
        case .finishShutdown:
            self.wake?.cancel()
            self.isShutDown = true
            for promise in self.shutdownPromises { promise.succeed() }
            self.shutdownPromises = []
        case .warn(let text): self.logger.warning("\(text)")
        case .reportLane(let topic, let state): self.laneReport?(topic, state)
        }
    }

    /// The newest of a number: the dispatcher may try another address under the number of an attempt that failed.
    private func connection(_ id: ConnectionID) -> ClientConnectionHandler? { self.connections.last { $0.id == id } }

    private func finish(_ id: RequestID, _ outcome: APNsOutcome, _ answer: APNsClientAnswer?) {
        guard let request = self.request(id) else { return }
        request.isOver = true
        let place = UInt32(truncatingIfNeeded: id.rawValue)
        self.requests[Int(place)] = nil
        self.freeRequests.append(place)
        self.metrics.count(outcome)
        if case .accepted = outcome, let sentAt = request.sentAt {
            self.metrics.answered(after: self.now.monotonic - sentAt)
        }
        switch request.waiter {
        case .run(let run)?: if run.gather(request, outcome) { self.runs.append(run) }
        // One answer may end many requests, and the refusal says what there is to say.
        case .completion(let completion)?: completion(outcome, outcome.refusal == nil ? answer : nil)
        case nil: break
        }
    }

    private func open(_ stream: Int64, on id: ConnectionID, for request: RequestID) {
        guard let request = self.request(request) else { return }
        if request.sentAt == nil {
            let now = self.now.monotonic
            request.sentAt = now
            self.metrics.waited(now - request.takenAt)
        }
        // A connection that is not there any more has ended, and the dispatcher will hear of it.
        let opening = self.connection(id)?.open(stream: stream, request, &self.heads) ?? .notTaken
        if opening == .taken { return }
        self.handle(.windowOpened(id, by: Int64(request.payloadBytes)))
        let isLate = opening == .notTaken
        self.handle(isLate ? .streamNotTaken(id, stream: stream) : .streamNotSent(id, stream: stream))
    }

    private func mintToken() {
        switch self.credential {
        case .certificate:
            self.heads.authorize(nil)
            self.handle(.tokenMinted)
        case .token(let token):
            do {
                let now = self.now
                let shared = try self.surroundings.providerTokens.token(
                    of: token, inPlaceOf: self.heads.authorization?.value, at: now)
                self.heads.authorize(HeaderField("authorization", shared.authorization, .incremental))
                self.handle(shared.at == now ? .tokenMinted : .tokenShared(since: shared.at))
            } catch {
                self.handle(.tokenFailed("no provider token could be signed: \(error)", jitter: Self.jitter()))
            }
        }
    }
}

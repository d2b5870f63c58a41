import APNsClientCore
import APNsModel
import Foundation
import Logging
import Metrics
import NIOConcurrencyHelpers
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import TidingsModel

/// The shell around the dispatcher: translates effects to frames, sockets and promises, and what comes back to events.
///
/// `@unchecked Sendable`: `inbox` is guarded by its lock; every other variable is touched on `eventLoop` only.
final class ClientEngine: @unchecked Sendable {
    typealias RequestID = APNsDispatcher.RequestID
    typealias ConnectionID = APNsDispatcher.ConnectionID
    typealias Completion = @Sendable (APNsOutcome) -> Void

    private enum Order {
        case send(RequestID, APNsRequest, Completion)
        case cancel(RequestID)
    }

    private struct Inbox {
        var lastNumber: UInt64 = 0
        var orders: [Order] = []
    }

    let eventLoop: any EventLoop
    private let configuration: APNsClient.Configuration
    private let host: String
    private let tls: NIOSSLContext
    private let logger: Logger
    private let inbox = NIOLockedValueBox(Inbox())
    private let counters: OutcomeCounters
    private let now: @Sendable () -> Now

    private var core: APNsDispatcher
    private var events: [APNsDispatcher.Event] = []
    private var isHandling = false
    private var holdsFlush = false
    private var requests: [RequestID: (APNsRequest, Completion)] = [:]
    private var connections: [ConnectionID: ClientConnectionHandler] = [:]
    private var authorization = ""
    private var wake: Scheduled<Void>?
    private var shutdownPromises: [EventLoopPromise<Void>] = []
    private var isShutDown = false

    init(
        configuration: APNsClient.Configuration, tls: NIOSSLContext, logger: Logger, eventLoop: any EventLoop,
        now: @escaping @Sendable () -> Now
    ) {
        self.now = now
        var limits = APNsDispatcher.Configuration()
        limits.streamsMax = configuration.streamsMax
        limits.queueMax = configuration.queueMax
        limits.retriesMax = configuration.retriesMax
        self.core = APNsDispatcher(configuration: limits)
        self.configuration = configuration
        self.host = configuration.effectiveHost
        self.tls = tls
        var logger = logger
        logger[metadataKey: "apns_environment"] = "\(configuration.environment.rawValue)"
        logger[metadataKey: "apns_key_id"] = "\(configuration.credential.keyID)"
        self.logger = logger
        self.eventLoop = eventLoop
        self.counters = OutcomeCounters(environment: configuration.environment)
    }

    static func jitter() -> Int64 { Int64.random(in: 0...999) }

    /// Both clocks of this machine.
    static func clocks() -> Now {
        Now(
            monotonic: Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000),
            wall: Int64(Date().timeIntervalSince1970 * 1_000))
    }

    // MARK: From any thread

    /// A number for a request to come.
    func ticket() -> RequestID {
        self.inbox.withLockedValue { inbox in
            inbox.lastNumber += 1
            return RequestID(inbox.lastNumber)
        }
    }

    func submit(_ id: RequestID, _ request: APNsRequest, completion: @escaping Completion) {
        self.post(.send(id, request, completion))
    }

    func cancel(_ id: RequestID) { self.post(.cancel(id)) }

    /// Many orders of one moment are taken together, and flushed together.
    private func post(_ order: Order) {
        let isFirst = self.inbox.withLockedValue { inbox in
            inbox.orders.append(order)
            return inbox.orders.count == 1
        }
        if isFirst { self.eventLoop.execute { self.takeOrders() } }
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
        let orders = self.inbox.withLockedValue { inbox in
            defer { inbox.orders = [] }
            return inbox.orders
        }
        self.holdsFlush = true
        let now = self.now()
        for order in orders {
            switch order {
            case .cancel(let id): self.handle(.cancelled(id))
            case .send(let id, let request, let completion):
                self.requests[id] = (request, completion)
                var patience = self.configuration.requestDeadline
                // An alert is worth nothing after its expiration (apns.md §10); 0 means one attempt.
                if let expiration = request.expiration, expiration > 0 {
                    let (milliseconds, overflows) = expiration.multipliedReportingOverflow(by: 1_000)
                    if !overflows { patience = min(patience, milliseconds - now.wall) }
                }
                self.handle(.sendRequested(id, topic: request.topic, deadline: now.monotonic + patience))
            }
        }
        self.flush()
    }

    /// Hands one event to the dispatcher and performs its effects; events that arise meanwhile wait their turn.
    func handle(_ event: APNsDispatcher.Event) {
        self.eventLoop.preconditionInEventLoop()
        self.events.append(event)
        guard !self.isHandling else { return }
        self.isHandling = true
        var effects: [APNsDispatcher.Effect] = []
        var next = 0
        while next < self.events.count {
            effects.removeAll(keepingCapacity: true)
            self.core.handle(self.events[next], at: self.now(), into: &effects)
            next += 1
            for effect in effects { self.perform(effect) }
        }
        self.events.removeAll(keepingCapacity: true)
        self.isHandling = false
        if !self.holdsFlush { self.flush() }
    }

    /// Puts off flushing while a burst of frames or orders is worked through.
    func holdFlush() { self.holdsFlush = true }

    /// Hands everything written to the sockets.
    func flush() {
        self.holdsFlush = false
        for connection in self.connections.values { connection.flush() }
    }

    /// The connection's channel has ended.
    func forget(_ id: ConnectionID) { self.connections[id] = nil }

    private func perform(_ effect: APNsDispatcher.Effect) {
        switch effect {
        case .connect(let id): self.connect(id)
        case .openStream(let id, let stream, let request):
            guard let (push, _) = self.requests[request] else { return }
            self.connections[id]?.open(stream: stream, self.headers(push), body: push.payload)
        case .resetStream(let id, let stream): self.connections[id]?.reset(stream: stream)
        case .ping(let id): self.connections[id]?.ping()
        case .close(let id):
            guard let connection = self.connections.removeValue(forKey: id) else { return }
            connection.flush()
            connection.close()
        case .mintToken: self.mintToken()
        case .finish(let id, let outcome):
            guard let (_, completion) = self.requests.removeValue(forKey: id) else { return }
            self.counters.count(outcome)
            completion(outcome)
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
        }
    }

    private func mintToken() {
        do {
            let issuedAt = self.now().wall / 1_000
            self.authorization = try self.configuration.credential.authorization(issuedAt: issuedAt)
            self.handle(.tokenMinted)
        } catch {
            self.handle(.tokenFailed("no provider token could be signed: \(error)", jitter: Self.jitter()))
        }
    }

    /// What repeats on a connection is indexed, what differs from push to push is not (apns.md §3.6).
    private func headers(_ push: APNsRequest) -> HPACKHeaders {
        var headers = HPACKHeaders()
        headers.reserveCapacity(12)
        headers.add(name: ":method", value: "POST")
        headers.add(name: ":scheme", value: "https")
        headers.add(name: ":path", value: push.path, indexing: .nonIndexable)
        headers.add(name: ":authority", value: self.host)
        headers.add(name: "authorization", value: self.authorization)
        for (name, value) in push.headerFields {
            switch name {
            case "apns-topic", "apns-push-type", "apns-priority": headers.add(name: name, value: value)
            default: headers.add(name: name, value: value, indexing: .nonIndexable)
            }
        }
        return headers
    }

    // MARK: Connecting

    /// HTTP/2 without pushes. APNs may refuse many streams and change its SETTINGS often (apns.md §3.1): that is no
    /// attack.
    private static func http2() -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
        ]
        connection.controlFrameRateLimit.maximumCount = 10_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 10_000
        return NIOHTTP2Handler(mode: .client, connectionConfiguration: connection, streamConfiguration: stream)
    }

    private func connect(_ id: ConnectionID) {
        let handler = ClientConnectionHandler(
            id: id, engine: self, host: self.host, port: self.configuration.port,
            handshakeTimeout: .milliseconds(self.configuration.connectTimeout))
        self.connections[id] = handler
        let isAddress = (try? SocketAddress(ipAddress: self.host, port: 0)) != nil
        let serverName = isAddress ? nil : self.host
        let (tls, host, port) = (self.tls, self.host, self.configuration.port)
        let handlerBox = NIOLoopBound(handler, eventLoop: self.eventLoop)
        ClientBootstrap(group: self.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.milliseconds(self.configuration.connectTimeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName))
                    try pipeline.addHandler(Self.http2())
                    try pipeline.addHandler(handlerBox.value)
                }
            }
            .connect(host: host, port: port)
            .whenFailure { error in
                self.connections[id] = nil
                self.handle(
                    .connectFailed(id, ClientTLS.fault(error, host: host, port: port), jitter: Self.jitter()))
            }
    }
}

/// `apns_client_outcomes_total` by environment and result: accepted, refused, unknown or not_sent.
private struct OutcomeCounters {
    private let accepted: Counter
    private let refused: Counter
    private let unknown: Counter
    private let notSent: Counter

    init(environment: PushEnvironment) {
        func counter(_ result: String) -> Counter {
            Counter(
                label: "apns_client_outcomes_total",
                dimensions: [("environment", environment.rawValue), ("result", result)])
        }
        self.accepted = counter("accepted")
        self.refused = counter("refused")
        self.unknown = counter("unknown")
        self.notSent = counter("not_sent")
    }

    func count(_ outcome: APNsOutcome) {
        switch outcome {
        case .accepted: self.accepted.increment()
        case .refused: self.refused.increment()
        case .unknownOutcome: self.unknown.increment()
        case .notSent: self.notSent.increment()
        }
    }
}

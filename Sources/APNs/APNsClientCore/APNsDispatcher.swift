package import APNsModel
import DequeModule
import HeapModule
package import TidingsModel

/// Our side of APNs as a pure machine: which request goes out when and on which stream, and how each one ends.
///
/// One dispatcher serves one credential in one environment. Every request that comes in with `sendRequested` ends in
/// exactly one
/// `finish`. The shell opens connections, writes frames, signs provider tokens and keeps requests and promises in a
/// table by id.
package struct APNsDispatcher: Sendable {
    /// The limits and pauses, in milliseconds unless the name says otherwise.
    package struct Configuration: Sendable {
        /// How many connections at most, 1 or more.
        package var connectionsMax = 1
        /// How many streams at most on one connection, whatever APNs allows.
        package var streamsMax = 100
        /// How many requests may wait.
        package var queueMax = 10_000
        /// How many times a request is sent again at most.
        package var retriesMax = 3
        /// Pauses before a request is sent again.
        package var retryPauses = Backoff(first: 1_000, longest: 60_000)
        /// Pauses between attempts to connect.
        package var connectPauses = Backoff(first: 1_000, longest: 60_000)
        /// Pauses before a probe after a configuration fault.
        package var breakerPauses = Backoff(first: 30_000, longest: 600_000)
        /// PING after this long without a word from APNs.
        package var pingAfter: Int64 = 45_000
        /// How long the answer to a PING may take.
        package var pingDeadline: Int64 = 10_000
        /// After this long a connection is replaced, to follow DNS.
        package var connectionAgeMax: Int64 = 4 * 3_600_000
        /// How long a shutdown waits for answers.
        package var shutdownGrace: Int64 = 5_000
        /// When provider tokens are minted.
        package var token = ProviderTokenRule()

        /// The defaults.
        package init() {}
    }

    /// A request, numbered by the shell; a number is never used twice.
    package struct RequestID: Hashable, Sendable, Comparable {
        /// The number.
        package var rawValue: UInt64
        /// Names a request.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// A connection, numbered by the dispatcher from 1.
    package struct ConnectionID: Hashable, Sendable, Comparable {
        /// The number.
        package var rawValue: UInt64
        /// Names a connection.
        package init(_ rawValue: UInt64) { self.rawValue = rawValue }
        /// In the order of the numbers.
        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Why a connection did not come about.
    package enum ConnectFault: Hashable, Sendable {
        /// The address, the network or the server; worth another try.
        case unreachable(String)
        /// The server's certificate is not trusted, or it speaks no HTTP/2: a matter of configuration.
        case refused(String)
    }

    /// What happened. A jitter is drawn by the shell, 0 to 999.
    package enum Event: Equatable, Sendable {
        /// Somebody wants a push sent until `deadline` (monotonic).
        case sendRequested(RequestID, topic: String, deadline: Int64)
        /// Somebody has lost interest.
        case cancelled(RequestID)
        /// TCP and TLS stand.
        case connected(ConnectionID)
        /// They do not.
        case connectFailed(ConnectionID, ConnectFault, jitter: Int64)
        /// SETTINGS came with this many streams.
        case streamLimitAnnounced(ConnectionID, Int)
        /// A response is complete.
        case responded(ConnectionID, stream: Int64, APNsResponse, jitter: Int64)
        /// RST_STREAM with REFUSED_STREAM: certainly not processed (RFC 9113 §8.7).
        case streamRefused(ConnectionID, stream: Int64)
        /// RST_STREAM with another code.
        case streamReset(ConnectionID, stream: Int64, code: String)
        /// GOAWAY; the debug data is JSON, text or nothing (apns.md §3.3).
        case goAwayReceived(ConnectionID, lastStream: Int64, debugData: [UInt8], jitter: Int64)
        /// PING was answered.
        case pingAnswered(ConnectionID)
        /// The connection has ended.
        case connectionClosed(ConnectionID, cause: String, jitter: Int64)
        /// A provider token was signed and is used from now on.
        case tokenMinted
        /// None could be signed.
        case tokenFailed(String, jitter: Int64)
        /// The time of the last `wake` has come.
        case timePassed
        /// No more requests; the open ones get a moment.
        case shutdownRequested
    }

    /// What the shell shall do, in this order.
    package enum Effect: Equatable, Sendable {
        /// Resolve the name afresh and connect.
        case connect(ConnectionID)
        /// Send the request on this stream, with the current provider token. Streams come in rising order.
        case openStream(ConnectionID, stream: Int64, RequestID)
        /// RST_STREAM with CANCEL.
        case resetStream(ConnectionID, stream: Int64)
        /// PING.
        case ping(ConnectionID)
        /// Close; nothing is awaited any more.
        case close(ConnectionID)
        /// Sign a provider token, then report `tokenMinted` or `tokenFailed`.
        case mintToken
        /// The request has ended.
        case finish(RequestID, APNsOutcome)
        /// Report `timePassed` at this monotonic time; replaces an earlier wake.
        case wake(at: Int64)
        /// Everything has ended.
        case finishShutdown
        /// Tell the operator.
        case warn(String)
    }

    enum RequestState: Equatable, Sendable {
        case queued
        /// Until a monotonic time.
        case waiting(until: Int64)
        case inFlight(ConnectionID, stream: Int64, tokenGeneration: Int)
    }

    struct Request: Sendable {
        var topic: String
        var deadline: Int64
        var state: RequestState = .queued
        /// How many times it was sent.
        var tries = 0
        /// Whether a new provider token was tried for it.
        var triedNewToken = false
        /// The last refusal that led to a retry.
        var refusal: APNsResponse?
    }

    /// What a breaker stops: all of the credential, or one topic.
    enum Scope: Hashable, Sendable {
        case credential
        case topic(String)
    }

    struct Timer: Comparable, Sendable {
        enum Subject: Equatable, Sendable {
            case deadline(RequestID)
            case retry(RequestID)
            case connection(ConnectionID)
            case connect
            case shutdown
        }
        var at: Int64
        /// Breaks ties, so that equal times have an order.
        var number: UInt64
        var subject: Subject

        static func < (left: Timer, right: Timer) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Timer, right: Timer) -> Bool { left.number == right.number }
    }

    /// The limits it was made with.
    package let configuration: Configuration
    var tokenRule: ProviderTokenRule
    var requests: [RequestID: Request] = [:]
    /// Ids in the order of sending; ids that are gone from `requests` are skipped.
    var queue: Deque<RequestID> = []
    var queuedCount = 0
    /// Deadlines that came in rising order, which is the rule: cheaper than the heap, and emptied as requests end.
    var deadlines: Deque<(at: Int64, id: RequestID)> = []
    var timers: Heap<Timer> = []
    var timersMade: UInt64 = 0
    var wakeAt: Int64?
    var connections: [ConnectionID: ClientConnection] = [:]
    var connectionsMade: UInt64 = 0
    var connectFailures = 0
    var connectNotBefore: Int64 = .min
    var connectFault: String?
    var breakers: [Scope: Breaker] = [:]
    var isShuttingDown = false
    var isShutDown = false

    /// A dispatcher without requests and connections.
    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.tokenRule = configuration.token
    }

    /// How many requests have not ended.
    package var openCount: Int { self.requests.count }

    /// Handles one event and returns its effects.
    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        var effects: [Effect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    /// Handles one event; events about what has ended already are late and change nothing.
    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        switch event {
        case .sendRequested(let id, let topic, let deadline):
            self.accept(id, topic: topic, deadline: deadline, at: now, into: &effects)
        case .cancelled(let id): self.cancel(id, at: now, into: &effects)
        case .connected(let id): self.connected(id, at: now)
        case .connectFailed(let id, let fault, let jitter):
            self.connectFailed(id, fault, jitter: jitter, at: now, into: &effects)
        case .streamLimitAnnounced(let id, let limit):
            self.connections[id]?.lastHeard = now.monotonic
            self.connections[id]?.handle(.limitAnnounced(limit))
        case .responded(let id, let stream, let response, let jitter):
            self.responded(id, stream: stream, response, jitter: jitter, at: now, into: &effects)
        case .streamRefused(let id, let stream): self.streamRefused(id, stream: stream, at: now, into: &effects)
        case .streamReset(let id, let stream, let code):
            guard let request = self.connections[id]?.streams.removeValue(forKey: stream) else { break }
            self.finish(request, .unknownOutcome("APNs reset the stream: \(code)"), at: now, into: &effects)
            self.closeIfDrained(id, into: &effects)
        case .goAwayReceived(let id, let lastStream, let debugData, let jitter):
            self.goingAway(id, lastStream: lastStream, debugData: debugData, jitter: jitter, at: now, into: &effects)
        case .pingAnswered(let id):
            self.connections[id]?.lastHeard = now.monotonic
            self.connections[id]?.pingedAt = nil
        case .connectionClosed(let id, let cause, let jitter):
            self.connectionClosed(id, cause: cause, jitter: jitter, at: now, into: &effects)
        case .tokenMinted: _ = self.tokenRule.handle(.minted, at: now)
        case .tokenFailed(let cause, let jitter):
            _ = self.tokenRule.handle(.failed, at: now)
            guard self.tokenRule.usable(at: now) == nil else { break }
            self.trip(.credential, cause: cause, jitter: jitter, at: now, into: &effects)
        case .timePassed: self.timePassed(at: now, into: &effects)
        case .shutdownRequested: self.shutDown(at: now, into: &effects)
        }
        self.pump(at: now, into: &effects)
        self.settle(into: &effects)
    }

    // MARK: Time

    mutating func setTimer(_ subject: Timer.Subject, at: Int64) {
        self.timersMade += 1
        self.timers.insert(Timer(at: at, number: self.timersMade, subject: subject))
    }

    /// Asks to be woken for the earliest time that matters, and ends a shutdown when nothing is open.
    private mutating func settle(into effects: inout [Effect]) {
        if self.isShuttingDown, !self.isShutDown, self.requests.isEmpty {
            for id in self.connections.keys.sorted() { effects.append(.close(id)) }
            self.connections = [:]
            self.isShutDown = true
            self.timers = []
            effects.append(.finishShutdown)
        }
        while let first = self.deadlines.first, self.requests[first.id] == nil { self.deadlines.removeFirst() }
        let earliest = min(self.deadlines.first?.at ?? .max, self.timers.min?.at ?? .max)
        guard earliest < .max else { return }
        if let wakeAt = self.wakeAt, wakeAt <= earliest { return }
        self.wakeAt = earliest
        effects.append(.wake(at: earliest))
    }

    private mutating func timePassed(at now: Now, into effects: inout [Effect]) {
        self.wakeAt = nil
        while let first = self.deadlines.first, first.at <= now.monotonic {
            self.deadlines.removeFirst()
            self.deadlinePassed(first.id, at: now, into: &effects)
        }
        while let timer = self.timers.min, timer.at <= now.monotonic {
            self.timers.removeMin()
            switch timer.subject {
            case .deadline(let id): self.deadlinePassed(id, at: now, into: &effects)
            case .retry(let id):
                guard case .waiting(let until)? = self.requests[id]?.state, until <= now.monotonic else { continue }
                self.enqueue(id)
            case .connection(let id): self.inspect(id, at: now, into: &effects)
            case .connect: break  // The pump that follows connects.
            case .shutdown:
                for id in self.requests.keys.sorted() {
                    self.abandon(id, because: "shut down before the answer", at: now, into: &effects)
                }
            }
        }
    }
}

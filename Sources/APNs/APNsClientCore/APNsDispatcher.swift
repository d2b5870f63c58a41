import APNsModel
import DequeModule
import HeapModule
package import TidingsModel

/// Our side of APNs as a pure machine: which request goes out when and on which stream of which connection, and how
/// each one ends.
///
/// One dispatcher serves one credential in one environment. Every request that comes in with `sendRequested` ends in
/// exactly one `finish`. The shell resolves, opens connections, writes frames, signs provider tokens and keeps requests
/// and promises in a table by id.
package struct APNsDispatcher: Sendable {
    enum Scope: Hashable, Sendable {
        case credential
        case topic(String)
        case provider
    }

    struct Timer: Comparable, Sendable {
        enum Subject: Sendable {
            case deadline(RequestTable.Key)
            case retry(RequestTable.Key)
            case connection(ConnectionID)
            case token(PushToken)
            case pause
            case shutdown
        }
        var at: Int64
        /// Gives equal times an order.
        var number: UInt64
        var subject: Subject

        static func < (left: Timer, right: Timer) -> Bool { (left.at, left.number) < (right.at, right.number) }
        static func == (left: Timer, right: Timer) -> Bool { left.number == right.number }
    }

    package let configuration: Configuration
    var tokenRule: ProviderTokenRule
    var requests = RequestTable()
    /// In the order of acceptance; requests that have ended are skipped.
    var queue: Deque<RequestTable.Key> = []
    /// Deadlines that came in rising order, which is the rule: cheaper than the heap.
    var deadlines: Deque<(at: Int64, key: RequestTable.Key)> = []
    var timers: Heap<Timer> = []
    var timersMade: UInt64 = 0
    var wakeAt: Int64?
    /// In the order of their ids; a few.
    var connections: [ClientConnection] = []
    var connectionsMade: UInt64 = 0
    var hasAging = false
    var connectFailures = 0
    var connectNotBefore: Int64 = .min
    var connectFault: String?
    /// How many times the credential was replaced.
    var credential = 0
    /// Without closed ones.
    var breakers: [Scope: Breaker] = [:]
    /// In a row.
    var providerFailures = 0
    /// By topic, or (nil) of all; without what is usable.
    var reported: [String?: LaneState] = [:]
    /// Nil once a push was accepted: the environment is the right one, and only tokens are bad.
    var badTokens: Int? = 0
    /// By topic; nil once a push to it was accepted: the topic is the right one.
    var strayTokens: [String: Int?] = [:]
    var holds: [PushToken: TokenHold] = [:]
    var holdsMade: UInt64 = 0
    /// Monotonic, after `TooManyProviderTokenUpdates`.
    var sendNotBefore: Int64 = .min
    /// Since the last push that was accepted.
    var sendPauses = 0
    var isShuttingDown = false
    var isShutDown = false

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        self.tokenRule = configuration.token
    }

    /// Requests that have not ended.
    package private(set) var openCount = 0
    package private(set) var inFlightCount = 0
    var listedCount: Int { self.queue.count + self.deadlines.count + self.timers.count }

    package struct Load: Hashable, Sendable {
        package var requests = 0
        /// Entries of the lists, those of requests that have ended included.
        package var listed = 0
        /// The number of connections, including those that are being opened or drained.
        package var connections = 0
        package var heldTokens = 0

        package init() {}
    }

    package var load: Load {
        var load = Load()
        load.requests = self.requests.count
        load.listed = self.listedCount
        load.connections = self.connections.count
        load.heldTokens = self.holds.count
        return load
    }

    package mutating func handle(_ event: Event, at now: Now) -> [Effect] {
        var effects: [Effect] = []
        self.handle(event, at: now, into: &effects)
        return effects
    }

    /// Events about what has ended already are late and change nothing.
    package mutating func handle(_ event: Event, at now: Now, into effects: inout [Effect]) {
        let begin = effects.count
        switch event {
        case .sendRequested(let id, let ask): self.accept(id, ask, at: now, into: &effects)
        case .cancelled(let id):
            guard let place = self.requests.place(of: id) else { break }
            self.abandon(place, because: "cancelled", at: now, into: &effects)
        case .resolved(let id, let addresses): self.handleResolution(id, addresses, at: now, into: &effects)
        case .resolveFailed(let id, let cause, let jitter):
            self.handleResolveFailure(id, cause, jitter: jitter, at: now, into: &effects)
        case .connected(let id): self.handleConnected(id, at: now)
        case .connectFailed(let id, let fault, let jitter):
            self.handleConnectFailure(id, fault, jitter: jitter, at: now, into: &effects)
        case .streamLimitAnnounced(let id, let limit):
            guard let index = self.touchConnection(id, at: now) else { break }
            self.connections[index].isBehind = false
            self.connections[index].handle(.limitAnnounced(max(limit, 0)))
        case .windowOpened(let id, let bytes):
            guard let index = self.touchConnection(id, at: now) else { break }
            let window = self.connections[index].window
            self.connections[index].window = min(window + min(max(bytes, 0), .max / 2), ClientConnection.windowMax)
        case .responded(let id, let stream, let response, let jitter):
            self.handleResponse(id, stream: stream, response, jitter: jitter, at: now, into: &effects)
        case .streamRefused(let id, let stream):
            _ = self.touchConnection(id, at: now)
            self.resubmitUnprocessed(id, stream: stream, "APNs refused the stream", at: now, into: &effects)
        case .streamNotTaken(let id, let stream):
            guard let index = self.index(of: id) else { break }
            self.connections[index].isBehind = true
            guard let place = self.connections[index].streams.close(stream) else { break }
            // Nothing was tried: it does not count.
            self.requests[place]?.tries -= 1
            self.resubmit(place, because: "the connection is ending", at: now, into: &effects)
            self.closeIfDrained(id, into: &effects)
        case .streamNotSent(let id, let stream):
            self.resubmitUnprocessed(id, stream: stream, "the connection did not take it", at: now, into: &effects)
        case .streamReset(let id, let stream, let code):
            guard let index = self.touchConnection(id, at: now) else { break }
            guard let place = self.connections[index].streams.close(stream) else { break }
            let why = "APNs reset the stream: \(code)"
            self.finish(place, .unknownOutcome(why), fault: .provider, at: now, into: &effects)
            self.closeIfDrained(id, into: &effects)
        case .goAwayReceived(let id, let lastStream, let debugData, let jitter):
            self.handleGoAway(id, lastStream: lastStream, debugData: debugData, jitter: jitter, at: now, into: &effects)
        case .pingAnswered(let id):
            guard let index = self.touchConnection(id, at: now) else { break }
            self.connections[index].pingedAt = nil
        case .connectionClosed(let id, let cause, let jitter):
            self.handleConnectionClosed(id, cause: cause, jitter: jitter, at: now, into: &effects)
        case .tokenMinted: _ = self.tokenRule.handle(.minted, at: now)
        case .tokenShared(let since): _ = self.tokenRule.handle(.shared(since: since), at: now)
        case .tokenFailed(let cause, let jitter):
            _ = self.tokenRule.handle(.failed, at: now)
            guard self.tokenRule.usable(at: now) == nil else { break }
            self.trip(.credential, by: nil, cause: cause, jitter: jitter, at: now, into: &effects)
        case .credentialReplaced: self.handleCredentialReplaced(at: now, into: &effects)
        case .timePassed: self.handleTimePassed(at: now, into: &effects)
        case .shutdownRequested: self.shutDown(at: now, into: &effects)
        }
        self.pump(at: now, into: &effects)
        if self.hasAging { self.replaceAged(at: now, into: &effects) }
        self.settle(into: &effects)
        self.reportLanes(at: now, before: begin, into: &effects)
        // Kept here for the shell: to compute them it would copy the whole dispatcher.
        self.openCount = self.requests.count
        self.inFlightCount = self.requests.inFlightCount
    }

    // MARK: Time

    mutating func setTimer(_ subject: Timer.Subject, at: Int64) {
        self.timersMade += 1
        self.timers.insert(Timer(at: at, number: self.timersMade, subject: subject))
    }

    private mutating func settle(into effects: inout [Effect]) {
        if self.isShuttingDown, !self.isShutDown, self.requests.count == 0 {
            for connection in self.connections { effects.append(.close(connection.id, .shutdown)) }
            self.connections = []
            self.isShutDown = true
            self.timers = []
            effects.append(.finishShutdown)
        }
        while let first = self.deadlines.first, self.requests.place(of: first.key) == nil {
            self.deadlines.removeFirst()
        }
        self.compact()
        let earliest = min(self.deadlines.first?.at ?? .max, self.timers.min?.at ?? .max)
        guard earliest < .max else { return }
        if let wakeAt = self.wakeAt, wakeAt <= earliest { return }
        self.wakeAt = earliest
        effects.append(.wake(at: earliest))
    }

    /// Removes what ended requests have left in lists whose head is still alive.
    private mutating func compact() {
        let open = self.requests.count
        if self.queue.count > 2 * open + 1_024 { self.queue.removeAll { self.requests.place(of: $0) == nil } }
        if self.deadlines.count > 2 * open + 1_024 {
            self.deadlines.removeAll { self.requests.place(of: $0.key) == nil }
        }
        guard self.timers.count > 4 * (open + self.holds.count + self.connections.count) + 1_024 else { return }
        self.timers = Heap(
            self.timers.unordered.filter { timer in
                switch timer.subject {
                case .deadline(let key): self.requests.place(of: key) != nil
                case .retry(let key):
                    self.requests.place(of: key).map { self.requests[$0]?.state == .waiting(until: timer.at) } ?? false
                case .connection(let id): self.index(of: id).map { self.connections[$0].lookAt == timer.at } ?? false
                case .token(let token): self.holds[token]?.state == .waiting(until: timer.at)
                case .pause:
                    timer.at == self.connectNotBefore || timer.at == self.sendNotBefore
                        || self.breakers.values.contains { $0.until == timer.at }
                case .shutdown: true
                }
            })
    }

    private mutating func handleTimePassed(at now: Now, into effects: inout [Effect]) {
        self.wakeAt = nil
        while let first = self.deadlines.first, first.at <= now.monotonic {
            self.deadlines.removeFirst()
            self.handleDeadline(first.key, at: now, into: &effects)
        }
        while let timer = self.timers.min, timer.at <= now.monotonic {
            self.timers.removeMin()
            switch timer.subject {
            case .deadline(let key): self.handleDeadline(key, at: now, into: &effects)
            case .retry(let key):
                guard let place = self.requests.place(of: key),
                    case .waiting(let until)? = self.requests[place]?.state, until <= now.monotonic
                else { continue }
                self.enqueue(place)
            case .connection(let id): self.inspect(id, at: now, into: &effects)
            case .token(let token): self.startTokenProbe(token, at: now)
            case .pause: break  // The pump that follows goes on.
            case .shutdown:
                for place in self.requests.inOrder() {
                    self.abandon(place, because: "shut down before the answer", at: now, into: &effects)
                }
            }
        }
    }
}

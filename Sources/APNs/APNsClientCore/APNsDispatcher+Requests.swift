import APNsModel
import DequeModule
import TidingsModel

extension APNsDispatcher {
    mutating func accept(
        _ id: RequestID, topic: String, deadline: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard self.requests[id] == nil else { return effects.append(.warn("request \(id.rawValue) was sent twice")) }
        func refuse(_ why: String) { effects.append(.finish(id, .notSent(why))) }
        guard !self.isShuttingDown else { return refuse("the client is shut down") }
        guard deadline > now.monotonic else { return refuse("the deadline has passed") }
        if let cause = self.breakerRefusal(id, topic: topic, at: now) { return refuse("breaker open: \(cause)") }
        guard self.queuedCount < self.configuration.queueMax else {
            return refuse("the queue is full: \(self.configuration.queueMax) requests wait")
        }
        self.admit(id, topic: topic, at: now)
        self.requests[id] = Request(topic: topic, deadline: deadline)
        if let last = self.deadlines.last, last.at > deadline {
            self.setTimer(.deadline(id), at: deadline)
        } else {
            self.deadlines.append((deadline, id))
        }
        self.enqueue(id)
    }

    mutating func enqueue(_ id: RequestID, first: Bool = false) {
        self.requests[id]?.state = .queued
        self.queuedCount += 1
        if first { self.queue.prepend(id) } else { self.queue.append(id) }
    }

    /// Ends a request, whatever it was doing. Its stream has been dealt with.
    mutating func finish(_ id: RequestID, _ outcome: APNsOutcome, at now: Now, into effects: inout [Effect]) {
        guard let request = self.requests.removeValue(forKey: id) else { return }
        if request.state == .queued { self.queuedCount -= 1 }
        effects.append(.finish(id, outcome))
        guard !self.breakers.isEmpty else { return }
        for scope in [Scope.credential, .topic(request.topic)] {
            switch outcome {
            case .accepted, .refused: self.breakers[scope]?.handle(.healthy(id), at: now.monotonic)
            case .unknownOutcome, .notSent: self.breakers[scope]?.handle(.silent(id), at: now.monotonic)
            }
            if self.breakers[scope]?.state == .closed { self.breakers[scope] = nil }
        }
    }

    /// Sends what can be sent, and asks for what is missing: a provider token, a connection.
    mutating func pump(at now: Now, into effects: inout [Effect]) {
        while let id = self.queue.first {
            guard let request = self.requests[id], request.state == .queued else {
                self.queue.removeFirst()
                continue
            }
            guard let connection = self.connectionWithRoom() else {
                return self.wantConnection(at: now, into: &effects)
            }
            if !self.tokenRule.handle(.needed, at: now).isEmpty { effects.append(.mintToken) }
            guard let generation = self.tokenRule.usable(at: now) else { return }
            self.queue.removeFirst()
            self.queuedCount -= 1
            self.send(id, on: connection, tokenGeneration: generation, into: &effects)
        }
    }

    private mutating func send(
        _ id: RequestID, on connection: ConnectionID, tokenGeneration: Int, into effects: inout [Effect]
    ) {
        guard var carrier = self.connections.removeValue(forKey: connection) else { return }
        let stream = carrier.nextStream
        carrier.nextStream += 2
        carrier.streams[stream] = id
        // Stream ids end at 2^31 - 1 (RFC 9113 §5.1.1).
        if carrier.nextStream > 0x7fff_ffff { carrier.handle(.retired) }
        self.connections[connection] = carrier
        self.requests[id]?.state = .inFlight(connection, stream: stream, tokenGeneration: tokenGeneration)
        self.requests[id]?.tries += 1
        effects.append(.openStream(connection, stream: stream, id))
    }

    // MARK: Answers

    mutating func responded(
        _ connection: ConnectionID, stream: Int64, _ response: APNsResponse, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard self.connections[connection] != nil else { return }
        self.connections[connection]?.lastHeard = now.monotonic
        self.connections[connection]?.isProven = true
        self.connections[connection]?.handle(.answered)
        self.connectFailures = 0
        self.connectFault = nil
        // Reset by us before the answer came: it has ended already.
        guard let id = self.connections[connection]?.streams.removeValue(forKey: stream) else {
            return self.closeIfDrained(connection, into: &effects)
        }
        self.settleAnswer(id, on: connection, response, jitter: jitter, at: now, into: &effects)
        self.closeIfDrained(connection, into: &effects)
    }

    private mutating func settleAnswer(
        _ id: RequestID, on connection: ConnectionID, _ response: APNsResponse, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        let outcome = response.outcome(sentID: nil)
        guard case .refused(let reason, let status, _) = outcome else {
            return self.finish(id, outcome, at: now, into: &effects)
        }
        switch reason.reaction(status: status) {
        case .drop, .quarantine, .bug:
            self.finish(id, outcome, at: now, into: &effects)
        case .config:
            self.refuseForGood(id, reason, outcome, jitter: jitter, at: now, into: &effects)
        case .auth:
            self.renewToken(for: id, on: connection, reason, outcome, jitter: jitter, at: now, into: &effects)
        case .connection:
            self.retire(connection)
            self.retry(id, response, after: 0, at: now, into: &effects)
        case .backoff:
            let tries = self.requests[id]?.tries ?? 1
            let pause = response.retryAfter.map { min($0, 86_400) * 1_000 }
            let usual = self.configuration.retryPauses.pause(failures: tries, jitter: jitter)
            self.retry(id, response, after: pause ?? usual, at: now, into: &effects)
        }
    }

    /// A configuration fault: the request fails, and the breaker of the credential or of the topic opens.
    private mutating func refuseForGood(
        _ id: RequestID, _ reason: APNsReason, _ outcome: APNsOutcome, jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let topic = self.requests[id]?.topic else { return }
        let scope: Scope =
            switch reason {
            case .badTopic, .missingTopic, .topicDisallowed, .topicMismatch, .featureNotEnabled: .topic(topic)
            default: .credential
            }
        self.trip(scope, cause: reason.name, jitter: jitter, at: now, into: &effects)
        self.finish(id, outcome, at: now, into: &effects)
    }

    /// `ExpiredProviderToken`: a new token and a new connection, once; the old connection stays stuck (apns.md §4, §9).
    private mutating func renewToken(
        for id: RequestID, on connection: ConnectionID, _ reason: APNsReason, _ outcome: APNsOutcome, jitter: Int64,
        at now: Now, into effects: inout [Effect]
    ) {
        guard let request = self.requests[id], case .inFlight(_, _, let generation) = request.state else { return }
        self.retire(connection)
        guard !request.triedNewToken, self.tokenRule.canReplace(generation: generation, at: now) else {
            return self.refuseForGood(id, reason, outcome, jitter: jitter, at: now, into: &effects)
        }
        if !self.tokenRule.handle(.rejected(generation: generation), at: now).isEmpty { effects.append(.mintToken) }
        self.requests[id]?.triedNewToken = true
        self.enqueue(id, first: true)
    }

    /// Sends a refused request again after a pause, if tries and deadline allow; otherwise the refusal is its end.
    private mutating func retry(
        _ id: RequestID, _ response: APNsResponse, after pause: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let request = self.requests[id] else { return }
        let due = now.monotonic + pause
        guard request.tries <= self.configuration.retriesMax, due < request.deadline, !self.isShuttingDown else {
            return self.finish(id, response.outcome(sentID: nil), at: now, into: &effects)
        }
        self.requests[id]?.refusal = response
        guard pause > 0 else { return self.enqueue(id, first: true) }
        self.requests[id]?.state = .waiting(until: due)
        self.setTimer(.retry(id), at: due)
    }

    mutating func streamRefused(
        _ connection: ConnectionID, stream: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let id = self.connections[connection]?.streams.removeValue(forKey: stream) else { return }
        self.resubmit(id, because: "APNs refused the stream", at: now, into: &effects)
        self.closeIfDrained(connection, into: &effects)
    }

    /// A request that was certainly not processed goes out again, before those that came after it.
    mutating func resubmit(_ id: RequestID, because cause: String, at now: Now, into effects: inout [Effect]) {
        guard let request = self.requests[id] else { return }
        guard request.tries <= self.configuration.retriesMax, !self.isShuttingDown else {
            return self.finish(id, .notSent("\(cause), \(request.tries) times"), at: now, into: &effects)
        }
        self.enqueue(id, first: true)
    }

    // MARK: Ends before an answer

    mutating func deadlinePassed(_ id: RequestID, at now: Now, into effects: inout [Effect]) {
        guard let request = self.requests[id] else { return }
        if case .inFlight(let connection, _, _) = request.state {
            self.abandon(id, because: "no answer before the deadline", at: now, into: &effects)
            return self.suspect(connection, at: now, into: &effects)
        }
        if let refusal = request.refusal {
            return self.finish(id, refusal.outcome(sentID: nil), at: now, into: &effects)
        }
        let why = self.connectFault.map { "the deadline passed: \($0)" } ?? "the deadline passed"
        self.finish(id, .notSent(why), at: now, into: &effects)
    }

    mutating func cancel(_ id: RequestID, at now: Now, into effects: inout [Effect]) {
        self.abandon(id, because: "cancelled", at: now, into: &effects)
    }

    /// Ends a request that has no answer: `notSent` if it was never on its way, otherwise `unknownOutcome`.
    mutating func abandon(_ id: RequestID, because why: String, at now: Now, into effects: inout [Effect]) {
        guard let request = self.requests[id] else { return }
        guard case .inFlight(let connection, let stream, _) = request.state else {
            return self.finish(id, .notSent(why), at: now, into: &effects)
        }
        self.connections[connection]?.streams[stream] = nil
        effects.append(.resetStream(connection, stream: stream))
        self.finish(id, .unknownOutcome(why), at: now, into: &effects)
        self.closeIfDrained(connection, into: &effects)
    }

    mutating func shutDown(at now: Now, into effects: inout [Effect]) {
        guard !self.isShuttingDown else { return }
        self.isShuttingDown = true
        for id in self.requests.keys.sorted() {
            if case .inFlight? = self.requests[id]?.state { continue }
            self.finish(id, .notSent("the client is shut down"), at: now, into: &effects)
        }
        self.setTimer(.shutdown, at: now.monotonic + self.configuration.shutdownGrace)
    }
}

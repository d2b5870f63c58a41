import APNsModel
import DequeModule
import TidingsModel

extension APNsDispatcher {
    mutating func accept(_ id: RequestID, _ ask: Ask, at now: Now, into effects: inout [Effect]) {
        if let end = self.refusal(of: id, ask, at: now) { return effects.append(.finish(id, end)) }
        guard let place = self.requests.insert(id, ask) else {
            return effects.append(.warn("request \(id.rawValue) was sent twice"))
        }
        self.admitAsProbe(id, topic: ask.topic, at: now)
        let key = self.requests.key(of: place)
        if let last = self.deadlines.last, last.at > ask.deadline {
            self.setTimer(.deadline(key), at: ask.deadline)
        } else {
            self.deadlines.append((ask.deadline, key))
        }
        self.queue.append(key)
    }

    private func refusal(of id: RequestID, _ ask: Ask, at now: Now) -> APNsOutcome? {
        if self.isShuttingDown { return .notSent("the client is shut down") }
        guard ask.deadline > now.monotonic else { return .notSent("the deadline has passed") }
        guard (0...Int(ClientConnection.windowFirst)).contains(ask.bytes) else {
            return .notSent("a payload of \(ask.bytes) bytes does not fit a connection's window: 0 to 65535")
        }
        if !self.breakers.isEmpty, let cause = self.breakerRefusal(id, topic: ask.topic, at: now) {
            return .stopped(cause)
        }
        guard self.requests.waitingCount < self.configuration.queueMax else {
            return .notSent("the queue is full: \(self.configuration.queueMax) requests wait")
        }
        return nil
    }

    /// By the order of acceptance: what comes back goes before what came later.
    mutating func enqueue(_ place: Int) {
        self.requests.set(place, .queued)
        let key = self.requests.key(of: place)
        var low = 0
        var high = self.queue.count
        while low < high {
            let middle = (low + high) / 2
            if self.queue[middle].order < key.order { low = middle + 1 } else { high = middle }
        }
        self.queue.insert(key, at: low)
    }

    /// - Parameter fault: what the end showed a fault of; nil if of nothing.
    mutating func finish(
        _ place: Int, _ outcome: APNsOutcome, fault: Scope? = nil, at now: Now, into effects: inout [Effect]
    ) {
        guard let request = self.requests.remove(place) else { return }
        effects.append(.finish(request.id, outcome))
        if request.isTokenProbe { self.passTokenProbeOn(request.ask.token, at: now) }
        if fault == .provider, case .unknownOutcome(let why) = outcome {
            self.countProviderFailure(by: request.id, why, at: now, into: &effects)
        }
        guard !self.breakers.isEmpty else { return }
        // Answers were seen to when they came.
        self.breakers[.provider]?.handle(.silent(request.id), at: now.monotonic)
        let isAnswered =
            switch outcome {
            case .accepted, .refused: true
            case .unknownOutcome, .notSent, .stopped: false
            }
        self.breakers[.credential]?.handle(isAnswered ? .healthy(request.id) : .silent(request.id), at: now.monotonic)
        // An answer about the credential tells nothing of the topic.
        let isTopicHealthy = isAnswered && fault != .credential
        self.breakers[.topic(request.ask.topic)]?
            .handle(isTopicHealthy ? .healthy(request.id) : .silent(request.id), at: now.monotonic)
        for scope in [Scope.credential, .topic(request.ask.topic)] where self.breakers[scope]?.state == .closed {
            self.breakers[scope] = nil
        }
    }

    mutating func pump(at now: Now, into effects: inout [Effect]) {
        while let key = self.queue.first {
            guard let place = self.requests.place(of: key), self.requests[place]?.state == .queued else {
                self.queue.removeFirst()
                continue
            }
            guard now.monotonic >= self.sendNotBefore else { return }
            if let id = self.requests[place]?.id, self.breakers[.provider]?.refusal(of: id, at: now.monotonic) != nil {
                return
            }
            // Both leave the queue's order alone, and what they keep out of it is skipped from now on.
            if !self.holds.isEmpty, self.holdBack(place) { continue }
            if !self.breakers.isEmpty, self.endIfStopped(place, at: now, into: &effects) { continue }
            let bytes = Int64(self.requests[place]?.ask.bytes ?? 0)
            guard let index = self.connectionWithRoom(bytes: bytes) else {
                return self.openConnectionIfAllowed(at: now, into: &effects)
            }
            guard let generation = self.tokenGeneration(at: now, into: &effects) else { return }
            let useMin = self.configuration.tokenUseMin
            guard self.connections[index].carry(generation, useMin: useMin, at: now.monotonic) else {
                self.connections[index].handle(.retired(.token))
                self.closeIfDrained(self.connections[index].id, into: &effects)
                continue
            }
            self.queue.removeFirst()
            self.send(place, bytes: bytes, on: index, tokenGeneration: generation, at: now, into: &effects)
        }
    }

    private mutating func tokenGeneration(at now: Now, into effects: inout [Effect]) -> Int? {
        if let generation = self.tokenRule.settled(at: now) { return generation }
        if !self.tokenRule.handle(.needed, at: now).isEmpty { effects.append(.mintToken) }
        return self.tokenRule.usable(at: now)
    }

    private mutating func send(
        _ place: Int, bytes: Int64, on index: Int, tokenGeneration: Int, at now: Now, into effects: inout [Effect]
    ) {
        guard let id = self.requests[place]?.id else { return }
        self.breakers[.provider]?.handle(.admitted(id), at: now.monotonic)
        let connection = self.connections[index].id
        let stream = self.connections[index].streams.open(for: place)
        self.connections[index].window -= bytes
        self.connections[index].lastUsed = now.monotonic
        if self.connections[index].streams.next > StreamWindow.last {
            self.connections[index].handle(.retired(.streams))
        }
        self.requests.set(place, .inFlight(connection, stream: stream, tokenGeneration: tokenGeneration))
        self.requests[place]?.tries += 1
        effects.append(.openStream(connection, stream: stream, id))
    }

    // MARK: Certainly not processed

    mutating func resubmitUnprocessed(
        _ connection: ConnectionID, stream: Int64, _ cause: String, at now: Now, into effects: inout [Effect]
    ) {
        guard let index = self.index(of: connection),
            let place = self.connections[index].streams.close(stream)
        else { return }
        self.resubmit(place, because: cause, at: now, into: &effects)
        self.closeIfDrained(connection, into: &effects)
    }

    mutating func resubmit(_ place: Int, because cause: String, at now: Now, into effects: inout [Effect]) {
        guard let tries = self.requests[place]?.tries else { return }
        guard tries <= self.configuration.retriesMax, !self.isShuttingDown else {
            return self.finish(place, .notSent("\(cause), \(tries) times"), at: now, into: &effects)
        }
        self.enqueue(place)
    }

    // MARK: Ends before an answer

    mutating func handleDeadline(_ key: RequestTable.Key, at now: Now, into effects: inout [Effect]) {
        guard let place = self.requests.place(of: key), let request = self.requests[place] else { return }
        switch request.state {
        case .inFlight(let connection, _, _):
            self.abandon(
                place, because: "no answer before the deadline", fault: .provider, at: now, into: &effects)
            self.pingIfSilent(connection, at: now, into: &effects)
        case .queued, .waiting, .held:
            var why = "the deadline passed"
            if request.state == .held {
                why += ": APNs had too many requests for the device token"
            } else if let fault = self.connectFault {
                why += ": \(fault)"
            }
            self.finish(place, request.refusal.outcome ?? .notSent(why), at: now, into: &effects)
        }
    }

    mutating func abandon(
        _ place: Int, because why: String, fault: Scope? = nil, at now: Now, into effects: inout [Effect]
    ) {
        guard let request = self.requests[place] else { return }
        guard case .inFlight(let connection, let stream, _) = request.state else {
            return self.finish(place, .notSent(why), at: now, into: &effects)
        }
        if let index = self.index(of: connection) { _ = self.connections[index].streams.close(stream) }
        effects.append(.resetStream(connection, stream: stream))
        self.finish(place, .unknownOutcome(why), fault: fault, at: now, into: &effects)
        self.closeIfDrained(connection, into: &effects)
    }

    mutating func shutDown(at now: Now, into effects: inout [Effect]) {
        guard !self.isShuttingDown else { return }
        self.isShuttingDown = true
        for place in self.requests.inOrder() {
            if case .inFlight? = self.requests[place]?.state { continue }
            self.finish(place, .notSent("the client is shut down"), at: now, into: &effects)
        }
        self.setTimer(.shutdown, at: now.monotonic + self.configuration.shutdownGrace)
    }
}

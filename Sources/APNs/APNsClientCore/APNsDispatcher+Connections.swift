import APNsModel
import TidingsModel

extension APNsDispatcher {
    /// The oldest connection that takes another stream.
    func connectionWithRoom() -> ConnectionID? {
        var found: ConnectionID?
        // tidy: order does not leave: the smallest id with room is found in any order.
        for (id, connection) in self.connections
        where connection.room(streamsMax: self.configuration.streamsMax) > 0 && found.map({ id < $0 }) ?? true {
            found = id
        }
        return found
    }

    /// Requests wait and no stream is free: another connection, if limits and pauses allow.
    mutating func wantConnection(at now: Now, into effects: inout [Effect]) {
        var pooled = 0
        // tidy: order does not leave: whether one is on its way, and how many there are, is the same in any order.
        for connection in self.connections.values {
            // One at a time: many connects in a short time look like an attack (apns.md §3.4).
            if connection.state == .connecting { return }
            if case .proving = connection.state { return }
            if connection.isPooled { pooled += 1 }
        }
        guard pooled < self.configuration.connectionsMax, now.monotonic >= self.connectNotBefore else { return }
        self.connectionsMade += 1
        let id = ConnectionID(self.connectionsMade)
        self.connections[id] = ClientConnection(at: now.monotonic)
        effects.append(.connect(id))
    }

    mutating func connected(_ id: ConnectionID, at now: Now) {
        guard self.connections[id] != nil else { return }
        self.connections[id]?.handle(.connected)
        self.connections[id]?.lastHeard = now.monotonic
        self.setTimer(.connection(id), at: now.monotonic + self.configuration.pingAfter)
    }

    mutating func connectFailed(
        _ id: ConnectionID, _ fault: ConnectFault, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard self.connections.removeValue(forKey: id) != nil else { return }
        switch fault {
        case .unreachable(let cause):
            self.pauseConnecting(cause, jitter: jitter, at: now)
            effects.append(.warn("cannot connect: \(cause)"))
        case .refused(let cause):
            self.pauseConnecting(cause, jitter: jitter, at: now)
            self.trip(.credential, cause: cause, jitter: jitter, at: now, into: &effects)
        }
    }

    private mutating func pauseConnecting(_ cause: String, jitter: Int64, at now: Now) {
        self.connectFailures += 1
        self.connectFault = cause
        let pause = self.configuration.connectPauses.pause(failures: self.connectFailures, jitter: jitter)
        self.connectNotBefore = now.monotonic + pause
        self.setTimer(.connect, at: self.connectNotBefore)
    }

    /// Opens no further stream on a connection; it is closed when its last answer is in.
    mutating func retire(_ id: ConnectionID) { self.connections[id]?.handle(.retired) }

    mutating func closeIfDrained(_ id: ConnectionID, into effects: inout [Effect]) {
        guard let connection = self.connections[id], connection.state == .draining, connection.streams.isEmpty else {
            return
        }
        self.connections[id] = nil
        effects.append(.close(id))
    }

    /// GOAWAY: what APNs has not seen goes elsewhere, what it has seen may still be answered (RFC 9113 §6.8).
    mutating func goingAway(
        _ id: ConnectionID, lastStream: Int64, debugData: [UInt8], jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let connection = self.connections[id] else { return }
        self.retire(id)
        let unseen = connection.streams.keys.filter { $0 > lastStream }.sorted()
        // From the last to the first, each to the front: they keep their order.
        for stream in unseen.reversed() {
            guard let request = self.connections[id]?.streams.removeValue(forKey: stream) else { continue }
            self.resubmit(request, because: "APNs closed the connection", at: now, into: &effects)
        }
        let word = (try? JSONValue(parsing: debugData, depthMax: 4))?["reason"]?.stringValue
        let text = word ?? String(decoding: debugData.prefix(200), as: UTF8.self)
        effects.append(.warn("APNs closes a connection: \(text.isEmpty ? "no reason given" : text)"))
        if let reason = word.map({ APNsReason(name: $0) }), let status = reason.status,
            reason.reaction(status: status) == .config
        {
            self.trip(.credential, cause: reason.name, jitter: jitter, at: now, into: &effects)
        } else if !connection.isProven {
            self.pauseConnecting("APNs closed the connection before any answer", jitter: jitter, at: now)
        }
        self.closeIfDrained(id, into: &effects)
    }

    mutating func connectionClosed(
        _ id: ConnectionID, cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let connection = self.connections.removeValue(forKey: id) else { return }
        for stream in connection.streams.keys.sorted() {
            guard let request = connection.streams[stream] else { continue }
            self.finish(request, .unknownOutcome("connection lost: \(cause)"), at: now, into: &effects)
        }
        guard !connection.isProven, connection.state != .draining else { return }
        // Cut before it was of any use: not again at once.
        self.pauseConnecting(cause, jitter: jitter, at: now)
        effects.append(.warn("connection lost before any answer: \(cause)"))
    }

    /// The regular look at a connection: age, silence, an unanswered PING.
    mutating func inspect(_ id: ConnectionID, at now: Now, into effects: inout [Effect]) {
        guard let connection = self.connections[id] else { return }
        if let pingedAt = connection.pingedAt, now.monotonic - pingedAt >= self.configuration.pingDeadline {
            self.connections[id] = nil
            effects.append(.close(id))
            for stream in connection.streams.keys.sorted() {
                guard let request = connection.streams[stream] else { continue }
                self.finish(request, .unknownOutcome("the connection does not answer"), at: now, into: &effects)
            }
            return effects.append(.warn("a connection did not answer PING"))
        }
        if now.monotonic - connection.openedAt >= self.configuration.connectionAgeMax {
            self.retire(id)
            self.closeIfDrained(id, into: &effects)
        }
        guard self.connections[id] != nil else { return }
        let quietUntil = connection.lastHeard + self.configuration.pingAfter
        if now.monotonic >= quietUntil, connection.pingedAt == nil {
            self.connections[id]?.pingedAt = now.monotonic
            effects.append(.ping(id))
            self.setTimer(.connection(id), at: now.monotonic + self.configuration.pingDeadline)
        } else {
            self.setTimer(.connection(id), at: max(quietUntil, now.monotonic + self.configuration.pingDeadline))
        }
    }

    /// An answer is overdue: finds out at once whether the connection is half dead.
    mutating func suspect(_ id: ConnectionID, at now: Now, into effects: inout [Effect]) {
        guard let connection = self.connections[id], connection.pingedAt == nil else { return }
        guard now.monotonic - connection.lastHeard >= self.configuration.pingDeadline else { return }
        self.connections[id]?.pingedAt = now.monotonic
        effects.append(.ping(id))
        self.setTimer(.connection(id), at: now.monotonic + self.configuration.pingDeadline)
    }

    // MARK: Breakers

    func breakerRefusal(_ id: RequestID, topic: String, at now: Now) -> String? {
        guard !self.breakers.isEmpty else { return nil }
        return self.breakers[.credential]?.refusal(of: id, at: now.monotonic)
            ?? self.breakers[.topic(topic)]?.refusal(of: id, at: now.monotonic)
    }

    /// The request may go; if a probe is due, it is the probe.
    mutating func admit(_ id: RequestID, topic: String, at now: Now) {
        guard !self.breakers.isEmpty else { return }
        self.breakers[.credential]?.handle(.admitted(id), at: now.monotonic)
        self.breakers[.topic(topic)]?.handle(.admitted(id), at: now.monotonic)
    }

    /// Opens a breaker, and ends what waits behind it.
    mutating func trip(_ scope: Scope, cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]) {
        // Answers to what was on its way when the breaker opened change nothing, and nothing waits behind it any more.
        if case .open? = self.breakers[scope]?.state { return }
        self.breakers[scope, default: Breaker(pauses: self.configuration.breakerPauses)]
            .handle(.tripped(cause: cause, jitter: jitter), at: now.monotonic)
        switch scope {
        case .credential: effects.append(.warn("nothing is sent with this credential: \(cause)"))
        case .topic(let topic): effects.append(.warn("nothing is sent to topic \(topic): \(cause)"))
        }
        for id in self.requests.keys.sorted() {
            guard let request = self.requests[id] else { continue }
            if case .topic(let topic) = scope, request.topic != topic { continue }
            switch request.state {
            case .inFlight: continue
            case .queued: self.finish(id, .notSent("breaker open: \(cause)"), at: now, into: &effects)
            case .waiting:
                let end = request.refusal?.outcome(sentID: nil) ?? .notSent("breaker open: \(cause)")
                self.finish(id, end, at: now, into: &effects)
            }
        }
    }
}

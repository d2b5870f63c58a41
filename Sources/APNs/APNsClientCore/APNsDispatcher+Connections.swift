import APNsModel
import TidingsModel

extension APNsDispatcher {
    func index(of id: ConnectionID) -> Int? { self.connections.firstIndex { $0.id == id } }

    mutating func touchConnection(_ id: ConnectionID, at now: Now) -> Int? {
        guard let index = self.index(of: id) else { return nil }
        self.connections[index].lastHeard = now.monotonic
        return index
    }

    /// The oldest one; one that is being replaced only if no other has room.
    func connectionWithRoom(bytes: Int64) -> Int? {
        var aging: Int?
        for index in self.connections.indices
        where self.connections[index].hasRoom(bytes: bytes, streamsMax: self.configuration.streamsMax) {
            guard self.connections[index].isAging else { return index }
            if aging == nil { aging = index }
        }
        return aging
    }

    /// See APNs reference, section 3.2.
    mutating func openConnectionIfAllowed(at now: Now, into effects: inout [Effect]) {
        var pooled = 0
        for connection in self.connections {
            // One at a time: many connects in a short time look like an attack (APNs reference, section 3.4).
            if connection.isStarting { return }
            if connection.isPooled, !connection.isAging { pooled += 1 }
        }
        guard pooled < max(self.configuration.connectionsMax, 1) else { return }
        self.startConnection(at: now, into: &effects)
    }

    mutating func startConnection(at now: Now, into effects: inout [Effect]) {
        guard now.monotonic >= self.connectNotBefore else { return }
        self.connectionsMade += 1
        let id = ConnectionID(self.connectionsMade)
        self.connections.append(ClientConnection(id, credential: self.credential, at: now.monotonic))
        effects.append(.resolve(id))
    }

    // MARK: Connecting

    mutating func handleResolution(
        _ id: ConnectionID, _ addresses: [String], at now: Now, into effects: inout [Effect]
    ) {
        guard let index = self.index(of: id), self.connections[index].state == .resolving else { return }
        self.connections[index].addresses = addresses
        guard !self.tryNextAddress(index, into: &effects) else { return }
        self.handleResolveFailure(id, "the name has no address", jitter: 999, at: now, into: &effects)
    }

    mutating func handleResolveFailure(
        _ id: ConnectionID, _ cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let index = self.index(of: id), self.connections[index].state == .resolving else { return }
        self.connections.remove(at: index)
        self.pauseConnecting(cause, jitter: jitter, at: now)
        effects.append(.warn("cannot resolve: \(cause)"))
    }

    /// The first of the addresses left that the fewest others have spreads the load over Apple's servers. Drained
    /// connections count less, but a server that sent us away is not the first choice (APNs reference, section 3.5).
    private mutating func tryNextAddress(_ index: Int, into effects: inout [Effect]) -> Bool {
        var best: (address: String, pooled: Int, drained: Int)?
        for address in self.connections[index].addresses {
            var use = (address: address, pooled: 0, drained: 0)
            for other in self.connections where other.id != self.connections[index].id && other.address == address {
                if other.isPooled { use.pooled += 1 } else { use.drained += 1 }
            }
            if let best, (best.pooled, best.drained) <= (use.pooled, use.drained) { continue }
            best = use
        }
        guard let address = best?.address else { return false }
        self.connections[index].addresses.removeAll { $0 == address }
        self.connections[index].address = address
        self.connections[index].handle(.addressed)
        effects.append(.connect(self.connections[index].id, address: address))
        return true
    }

    mutating func handleConnected(_ id: ConnectionID, at now: Now) {
        guard let index = self.touchConnection(id, at: now) else { return }
        self.connections[index].handle(.connected)
        self.connections[index].addresses = []
        self.scheduleNextInspection(index, at: now)
    }

    mutating func handleConnectFailure(
        _ id: ConnectionID, _ fault: ConnectFault, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let index = self.index(of: id) else { return }
        switch fault {
        case .unreachable(let cause):
            // The next address does not wait.
            guard !self.connections[index].isConnected else {
                return self.handleConnectionClosed(id, cause: cause, jitter: jitter, at: now, into: &effects)
            }
            if self.tryNextAddress(index, into: &effects) { return }
            self.connections.remove(at: index)
            self.pauseConnecting(cause, jitter: jitter, at: now)
            effects.append(.warn("cannot connect: \(cause)"))
        case .refused(let cause):
            var connection = self.connections.remove(at: index)
            self.pauseConnecting(cause, jitter: jitter, at: now)
            // The handshake did not succeed for the server, which has not read any request (RFC 8446, section 4.4.2.4).
            for place in connection.streams.closeAll() {
                self.resubmit(place, because: cause, at: now, into: &effects)
            }
            guard connection.credential == self.credential else { return }
            self.trip(.credential, by: nil, cause: cause, jitter: jitter, at: now, into: &effects)
        }
    }

    mutating func pauseConnecting(_ cause: String, jitter: Int64, at now: Now) {
        self.connectFailures += 1
        self.connectFault = cause
        let pause = self.configuration.connectPauses.wait(afterFailures: self.connectFailures, jitter: jitter)
        self.connectNotBefore = now.monotonic + pause
        self.setTimer(.pause, at: self.connectNotBefore)
    }

    // MARK: Ends

    mutating func closeIfDrained(_ id: ConnectionID, into effects: inout [Effect]) {
        guard let index = self.index(of: id), self.connections[index].streams.isEmpty,
            let cause = self.connections[index].drainCause
        else { return }
        self.connections.remove(at: index)
        effects.append(.close(id, cause))
    }

    /// Moves requests that APNs has not seen to other connections; the rest may still be answered (RFC 9113, section 6.8).
    mutating func handleGoAway(
        _ id: ConnectionID, lastStream: Int64, debugData: [UInt8], jitter: Int64, at now: Now,
        into effects: inout [Effect]
    ) {
        guard let index = self.touchConnection(id, at: now) else { return }
        let isFirst = self.connections[index].isPooled
        let (isProven, isCurrent) = (
            self.connections[index].isProven, self.connections[index].credential == self.credential
        )
        self.connections[index].handle(.retired(.goAway))
        if self.connections[index].drainUntil == .max {
            self.connections[index].drainUntil = now.monotonic + self.configuration.drainMax
            self.scheduleInspection(id, at: self.connections[index].drainUntil)
        }
        for place in self.connections[index].streams.closeAll(above: lastStream) {
            self.resubmit(place, because: "APNs closed the connection", at: now, into: &effects)
        }
        let word = (try? JSONValue(parsing: debugData, depthMax: 4))?["reason"]?.stringValue
        let text = word ?? String(decoding: debugData.prefix(200), as: UTF8.self)
        effects.append(.warn("APNs closes a connection: \(text.isEmpty ? "no reason given" : text)"))
        if isCurrent, let reason = word.map({ APNsReason(name: $0) }), let status = reason.status,
            reason.reaction(status: status) == .config
        {
            self.trip(.credential, by: nil, cause: reason.name, jitter: jitter, at: now, into: &effects)
        } else if isFirst, isCurrent, !isProven {
            self.pauseConnecting("APNs closed the connection before any answer", jitter: jitter, at: now)
        }
        self.closeIfDrained(id, into: &effects)
    }

    mutating func handleConnectionClosed(
        _ id: ConnectionID, cause: String, jitter: Int64, at now: Now, into effects: inout [Effect]
    ) {
        guard let index = self.index(of: id) else { return }
        let connection = self.forgetConnection(index, because: "connection lost: \(cause)", at: now, into: &effects)
        guard !connection.isProven, connection.isPooled else { return }
        // Cut before it was of any use: not again at once.
        self.pauseConnecting(cause, jitter: jitter, at: now)
        effects.append(.warn("connection lost before any answer: \(cause)"))
    }

    /// Removes a connection; what became of its requests is unknown.
    @discardableResult
    mutating func forgetConnection(
        _ index: Int, because why: String, at now: Now, into effects: inout [Effect]
    ) -> ClientConnection {
        var connection = self.connections.remove(at: index)
        // However many requests were on it, it is one failure; and the probe's, if that was among them.
        var isCounted = false
        for place in connection.streams.closeAll() {
            let isProbe = self.requests[place].map { self.breakers[.provider]?.isProbe($0.id) ?? false } ?? false
            let fault = !isCounted || isProbe ? Scope.provider : nil
            isCounted = true
            self.finish(place, .unknownOutcome(why), fault: fault, at: now, into: &effects)
        }
        return connection
    }

    /// APNs binds a connection to its first key (APNs reference, section 4): new requests go out on new connections;
    /// what is on its way on the old ones is still answered.
    mutating func handleCredentialReplaced(at now: Now, into effects: inout [Effect]) {
        self.credential += 1
        _ = self.tokenRule.handle(.credentialReplaced, at: now)
        self.breakers = [:]
        self.providerFailures = 0
        self.badTokens = 0
        self.strayTokens = [:]
        self.sendNotBefore = .min
        self.sendPauses = 0
        self.connectFailures = 0
        self.connectFault = nil
        self.connectNotBefore = .min
        for id in self.connections.map(\.id) {
            guard let index = self.index(of: id) else { continue }
            self.connections[index].handle(.retired(.credential))
            self.closeIfDrained(id, into: &effects)
        }
    }
}

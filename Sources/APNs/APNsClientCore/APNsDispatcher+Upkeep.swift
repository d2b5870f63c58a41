import TidingsModel

extension APNsDispatcher {
    mutating func scheduleInspection(_ id: ConnectionID, at time: Int64) {
        guard let index = self.index(of: id), time < self.connections[index].lookAt else { return }
        self.connections[index].lookAt = time
        self.setTimer(.connection(id), at: time)
    }

    mutating func inspect(_ id: ConnectionID, at now: Now, into effects: inout [Effect]) {
        guard let index = self.index(of: id), self.connections[index].lookAt <= now.monotonic else { return }
        self.connections[index].lookAt = .max
        let connection = self.connections[index]
        if let pingedAt = connection.pingedAt, now.monotonic - pingedAt >= self.configuration.pingDeadline {
            effects.append(.close(id, .silence))
            self.forgetConnection(index, because: "the connection does not answer", at: now, into: &effects)
            return effects.append(.warn("a connection did not answer PING"))
        }
        if now.monotonic >= connection.drainUntil {
            effects.append(.close(id, connection.drainCause ?? .goAway))
            self.forgetConnection(index, because: "no answer after GOAWAY", at: now, into: &effects)
            return
        }
        if connection.isPooled, now.monotonic - connection.openedAt >= self.configuration.connectionAgeMax {
            self.retireOrReplace(index)
        } else if connection.isPooled, connection.streams.isEmpty,
            now.monotonic - connection.lastUsed >= self.configuration.idleMax, self.isSpare(connection)
        {
            self.connections[index].handle(.retired(.idle))
        }
        self.closeIfDrained(id, into: &effects)
        guard let index = self.index(of: id) else { return }
        if now.monotonic >= connection.lastHeard + self.configuration.pingAfter, connection.pingedAt == nil {
            self.ping(index, at: now, into: &effects)
        }
        self.scheduleNextInspection(index, at: now)
    }

    mutating func scheduleNextInspection(_ index: Int, at now: Now) {
        let connection = self.connections[index]
        var times = [connection.lastHeard + self.configuration.pingAfter, connection.drainUntil]
        if let pingedAt = connection.pingedAt { times[0] = pingedAt + self.configuration.pingDeadline }
        if connection.isPooled {
            times.append(connection.openedAt + self.configuration.connectionAgeMax)
            times.append(connection.lastUsed + self.configuration.idleMax)
        }
        // What lies in the past was looked at; the PING never does.
        let next = times.filter { $0 > now.monotonic }.min() ?? now.monotonic + self.configuration.pingAfter
        self.scheduleInspection(connection.id, at: next)
    }

    private func isSpare(_ connection: ClientConnection) -> Bool {
        self.connections.contains { $0.id != connection.id && $0.isPooled && $0.isConnected && !$0.isAging }
    }

    private mutating func ping(_ index: Int, at now: Now, into effects: inout [Effect]) {
        self.connections[index].pingedAt = now.monotonic
        effects.append(.ping(self.connections[index].id))
    }

    /// An answer is overdue: PING shows whether the connection is half dead.
    mutating func pingIfSilent(_ id: ConnectionID, at now: Now, into effects: inout [Effect]) {
        guard let index = self.index(of: id), self.connections[index].pingedAt == nil else { return }
        guard now.monotonic - self.connections[index].lastHeard >= self.configuration.pingDeadline else { return }
        self.ping(index, at: now, into: &effects)
        self.scheduleInspection(id, at: now.monotonic + self.configuration.pingDeadline)
    }

    // MARK: Age

    private mutating func retireOrReplace(_ index: Int) {
        if self.connections[index].streams.isEmpty, self.requests.waitingCount == 0 {
            return self.connections[index].handle(.retired(.age))
        }
        self.connections[index].isAging = true
        self.hasAging = true
    }

    /// One after the other; the old one is retired when its replacement is open.
    mutating func replaceAged(at now: Now, into effects: inout [Effect]) {
        while let aged = self.connections.first(where: { $0.isAging && $0.isPooled }) {
            guard let replacement = self.connections.first(where: { $0.replaces == aged.id && $0.isPooled }) else {
                if self.isShuttingDown || self.connections.contains(where: \.isStarting) { return }
                let made = self.connectionsMade
                self.startConnection(at: now, into: &effects)
                if self.connectionsMade > made { self.connections[self.connections.count - 1].replaces = aged.id }
                return
            }
            guard !replacement.isStarting, let index = self.index(of: aged.id) else { return }
            self.connections[index].handle(.retired(.age))
            self.closeIfDrained(aged.id, into: &effects)
        }
        self.hasAging = false
    }
}

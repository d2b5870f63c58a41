import TidingsModel

package enum ServerFault: String, Hashable, Sendable, CaseIterable {
    case slowDisk
    /// The store refuses to write, and the server ends and does not start again until there is room.
    case fullDisk
    case clockForward
    case clockBack
}

extension World {
    /// Its wall clock may be wrong.
    var serverNow: Now { Now(monotonic: self.time, wall: Self.wallStart + self.time + self.clockSkew) }

    mutating func maybeBreakServer() {
        guard self.chance.chance(perMille: self.options.faults.server), self.happens(),
            let fault = self.drawn(self.options.faults.serverFaults)
        else { return }
        self.appendTrace("server \(fault.rawValue)")
        switch fault {
        case .slowDisk:
            self.emit(.reached(.slowDisks))
            self.syncDelay = self.chance.number(500...8_000)
            self.healDisk(after: self.chance.number(5_000...60_000))
        case .fullDisk:
            self.emit(.reached(.fullDisks))
            self.isDiskFull = true
            self.healDisk(after: self.chance.number(5_000...60_000))
        case .clockForward: self.setClock(self.clockSkew + self.chance.number(1_000...600_000))
        case .clockBack: self.setClock(self.clockSkew - self.chance.number(1_000...600_000))
        }
    }

    /// - Parameter skew: how far the server's wall clock is ahead, in milliseconds; within half an hour, since Apple
    /// takes no provider token that is an hour off.
    mutating func setClock(_ skew: Int64) {
        self.clockSkew = max(-1_800_000, min(1_800_000, skew))
        self.emit(.clockSet(ahead: self.clockSkew))
        self.emit(.reached(.clockJumps))
    }

    private mutating func healDisk(after milliseconds: Int64) {
        self.plan(.diskHeals, after: milliseconds)
        self.emit(.held(until: self.time + milliseconds + 8_000, on: nil))
    }

    mutating func healDisk() {
        self.syncDelay = 0
        self.isDiskFull = false
    }

    mutating func stopForStoreFailure() {
        self.appendTrace("server stops: the store has refused to write")
        self.emit(.reached(.storeStops))
        self.endServer()
    }
}

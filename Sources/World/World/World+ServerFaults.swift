import StoreMachine
import TidingsModel

package enum ServerFault: String, Hashable, Sendable, CaseIterable {
    case slowDisk
    /// The store refuses to write, and the server ends and does not start again until there is room.
    case fullDisk
    case clockForward
    case clockBack
    /// The rows under the store fail in the middle of a batch.
    case tornBatch
    /// One commit fails.
    case failingSync
    /// The process ends in the middle of a transaction of deriving.
    case tornDerivation

    static let ofMachine: [Self] = [.slowDisk, .fullDisk, .clockForward, .clockBack]
    /// Once each. What is not committed is gone, and the next start recovers the store from its rows.
    static let ofStore: [Self] = [.tornBatch, .failingSync, .tornDerivation]
}

extension World {
    /// Its wall clock may be wrong.
    var serverNow: Now { Now(monotonic: self.time, wall: Self.wallStart + self.time + self.clockSkew) }

    mutating func maybeBreakServer(by faults: [ServerFault], perMille: Int64) {
        guard self.chance.chance(perMille: perMille), self.happens(), let fault = self.drawn(faults) else { return }
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
        case .tornBatch: self.store.rows.failAfterPuts = Int(self.chance.number(0...5))
        case .failingSync: self.store.rows.failNextCommit = true
        case .tornDerivation: self.crashDeriving(afterPuts: Int(self.chance.number(0...200)))
        }
    }

    /// Steps before the one in which the process ends are committed.
    private mutating func crashDeriving(afterPuts puts: Int) {
        self.store.rows.failAfterPuts = puts
        do {
            try self.store.derive()
        } catch is MemoryRows.Fault {
            self.emit(.reached(.tornDerivations))
        } catch {
            self.checkers.foundBug("the store cannot derive: \(error)")
        }
        self.effectsToCrash = 0
        self.crash()
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
        self.store.rows.failAfterPuts = nil
        self.store.rows.failNextCommit = false
    }

    mutating func stopForStoreFailure() {
        self.appendTrace("server stops: the store has refused to write")
        self.emit(.reached(.storeStops))
        self.endServer()
    }
}

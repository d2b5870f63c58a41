// P6: a leg that waits because APNs takes no more pushes for its device (429) is tried again when that wait is over;
// an operator sees its time in the trace. It was tried again when a push goes to the device, or when the leg ends or
// waits for something else. A server that starts decides all legs anew, and an app that comes to the foreground gets
// them on its connection.
import OrderedCollections
import StoreModel
import TidingsModel

struct WaitChecker: Checker {
    static let kinds = FactKinds(.keepLeg, .endLeg, .pushed, .moved, .signedOut, .serverStarted, .heard)

    /// In milliseconds: a push to the device may be under way until the client gives it up, and another one behind it.
    static let bound: Int64 = 90_000

    private var waits: OrderedDictionary<LegID, Int64> = [:]
    private var earliest = Int64.max

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        if state.now.monotonic > self.earliest { self.findOverdue(state.now.monotonic, into: &findings) }
        switch fact {
        case .committed(.keepLeg(let open), .done):
            guard open.wait == .throttled, let end = open.notBefore else { return self.remove { $0 == open.leg } }
            self.waits[open.leg] = state.now.monotonic + max(0, end - state.now.wall) + Self.bound
            self.findEarliest()
        case .committed(.endLeg(let end), _): self.remove { $0 == end.leg }
        case .pushed(_, let key), .moved(true, let key), .signedOut(let key):
            self.remove { $0.user == key.user && $0.device == key.device }
        case .serverStarted: self.remove { _ in true }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private mutating func remove(where isOver: (LegID) -> Bool) {
        guard !self.waits.isEmpty else { return }
        self.waits.removeAll { isOver($0.key) }
        self.findEarliest()
    }

    private mutating func findOverdue(_ now: Int64, into findings: inout Findings) {
        for (leg, due) in self.waits where now > due {
            findings.add("P6", "\(leg) waits on, though its wait was over \(Self.bound) ms before \(due)")
        }
        self.waits.removeAll { now > $0.value }
        self.findEarliest()
    }

    private mutating func findEarliest() { self.earliest = self.waits.values.min() ?? .max }
}

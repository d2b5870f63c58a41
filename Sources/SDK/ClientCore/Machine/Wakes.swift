import OrderedCollections
import TidingsModel

/// The result of a background refresh, with the values of Apple's fetch results (ios-delivery.md §7.1).
public enum BackgroundRefreshResult: String, Hashable, Sendable, CaseIterable {
    /// Something new was stored.
    case newData = "new_data"
    /// The device is up to date; there was nothing new.
    case noData = "no_data"
    /// The server could not be asked in time.
    case failed
}

package typealias WakeNumber = UInt64

/// Silent pushes, refreshes, and actions performed in the background. Each is answered exactly once, also when
/// nothing else answers (ios-delivery.md §7.1: within 30 seconds, or the app is killed).
struct Wakes: Hashable, Sendable {
    private var pending: OrderedDictionary<WakeNumber, Wake> = [:]

    private struct Wake: Hashable, Sendable {
        var deadline: Int64
        var hasNews = false
        var isCaughtUp = false
    }

    var isEmpty: Bool { self.pending.isEmpty }
    var count: Int { self.pending.count }

    var nextDeadline: Int64? { self.pending.values.lazy.map(\.deadline).min() }

    mutating func begin(_ number: WakeNumber, deadline: Int64) {
        if self.pending[number] == nil { self.pending[number] = Wake(deadline: deadline) }
    }

    mutating func markNews() {
        for number in self.pending.keys { self.pending[number]?.hasNews = true }
    }

    mutating func markCaughtUp() {
        for number in self.pending.keys { self.pending[number]?.isCaughtUp = true }
    }

    private mutating func finish(where test: (Wake) -> Bool) -> [ClientEffect] {
        var effects: [ClientEffect] = []
        for (number, wake) in self.pending where test(wake) {
            effects.append(.finishWake(number, wake.hasNews ? .newData : wake.isCaughtUp ? .noData : .failed))
        }
        self.pending.removeAll { test($0.value) }
        return effects
    }

    mutating func finishAll() -> [ClientEffect] { self.finish { _ in true } }

    mutating func deadlineReached(at now: Now) -> [ClientEffect] { self.finish { now.monotonic >= $0.deadline } }
}

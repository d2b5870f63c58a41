package import TidingsModel

/// How many legs of an app are open, by what they wait for now.
package struct OpenLegCounts: Hashable, Sendable {
    private var counts: [LegWait: Int] = [:]

    package init() {}

    package subscript(wait: LegWait) -> Int {
        get { self.counts[wait] ?? 0 }
        set { self.counts[wait] = newValue == 0 ? nil : newValue }
    }

    // tidy: order does not leave: a sum is the same in any order
    package var total: Int { self.counts.values.reduce(0, +) }
}

/// The open legs of all apps at one time. A message costs nothing for it: they are counted when a caller asks.
struct LegCensus: Sendable {
    /// Monotonic milliseconds.
    let at: Int64
    let apps: [AppID: OpenLegCounts]

    /// Milliseconds for which it is told again: counting visits everybody in memory.
    static let lifetime: Int64 = 5_000
}

extension ServerCore {
    /// Returns an app's open legs. Everybody with an open leg is in memory, but for people whom a newly started server has not come to yet.
    mutating func openLegs(of app: AppID) -> OpenLegCounts {
        if let known = self.legCensus, self.turn.now.monotonic - known.at < LegCensus.lifetime {
            return known.apps[app] ?? OpenLegCounts()
        }
        var apps: [AppID: OpenLegCounts] = [:]
        for slot in self.people.indices {
            // Looked at in place: a device is large.
            for index in self.people[slot].devices.indices where !self.people[slot].devices[index].legs.isEmpty {
                self.people[slot].devices[index].legs.count(
                    into: &apps[self.people[slot].state.key.app, default: OpenLegCounts()])
            }
        }
        self.legCensus = LegCensus(at: self.turn.now.monotonic, apps: apps)
        return apps[app] ?? OpenLegCounts()
    }
}

/// What an app's last hour was, step by step: each list has a number for each step, the oldest first.
package struct HistoryReport: Hashable, Sendable {
    package struct End: Hashable, Sendable {
        /// As `LegEnd.name`.
        package var name: String
        package var counts: [Int]

        package init(name: String, counts: [Int]) {
            self.name = name
            self.counts = counts
        }
    }

    /// Wall milliseconds: before it nothing was counted.
    package var since: Int64
    /// Wall milliseconds: where the first step begins.
    package var from: Int64
    package var stepMilliseconds: Int64
    /// At the step's end, as are `waiting` and `inFlight`.
    package var connections: [Int]
    package var messages: [Int]
    /// Pushes, by what APNs has said.
    package var accepted: [Int]
    package var refused: [Int]
    package var unknown: [Int]
    package var notSent: [Int]
    /// Pushes that wait in the server, and those that are with the APNs client.
    package var waiting: [Int]
    package var inFlight: [Int]
    /// Of legs, without those that there were none of.
    package var ends: [End]
    /// From the disk until a device had it.
    package var delivered: [LatencyHistogram.Summary]
    /// From the disk until APNs had it.
    package var toAPNs: [LatencyHistogram.Summary]

    package init(
        since: Int64, from: Int64, stepMilliseconds: Int64, connections: [Int], messages: [Int], accepted: [Int],
        refused: [Int], unknown: [Int], notSent: [Int], waiting: [Int], inFlight: [Int], ends: [End],
        delivered: [LatencyHistogram.Summary], toAPNs: [LatencyHistogram.Summary]
    ) {
        self.since = since
        self.from = from
        self.stepMilliseconds = stepMilliseconds
        self.connections = connections
        self.messages = messages
        self.accepted = accepted
        self.refused = refused
        self.unknown = unknown
        self.notSent = notSent
        self.waiting = waiting
        self.inFlight = inFlight
        self.ends = ends
        self.delivered = delivered
        self.toAPNs = toAPNs
    }
}

/// How long messages took, from when they were on the disk.
package struct LatencyReport: Hashable, Sendable {
    package var delivered: LatencyHistogram.Summary
    package var toAPNs: LatencyHistogram.Summary

    package init(delivered: LatencyHistogram.Summary = .init(), toAPNs: LatencyHistogram.Summary = .init()) {
        self.delivered = delivered
        self.toAPNs = toAPNs
    }
}

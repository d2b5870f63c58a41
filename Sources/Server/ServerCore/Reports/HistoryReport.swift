/// An app's last hour, step by step: each list has a number for each step, the oldest first.
package struct HistoryReport: Hashable, Sendable {
    package struct End: Hashable, Sendable {
        /// The name as in `LegEnd.name`.
        package var name: String
        package var counts: [Int]
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
    /// The counts of legs' ends, without those that never occurred.
    package var ends: [End]
    /// From the disk until a device had it.
    package var delivered: [LatencyHistogram.Summary]
    /// From the disk until APNs had it.
    package var toAPNs: [LatencyHistogram.Summary]
}

/// How long messages took, from when they were on the disk.
package struct LatencyReport: Hashable, Sendable {
    package var delivered = LatencyHistogram.Summary()
    package var toAPNs = LatencyHistogram.Summary()
}

package import APNsModel
package import TidingsModel

/// Pushes of an app that share a credential's fate: how many there are, and whether something holds them.
package struct PushLaneReport: Hashable, Sendable, Comparable {
    package var environment: PushEnvironment
    /// Nil for a credential of which APNs has said, before any push, that none of its topics can be sent to.
    package var topic: String?
    package var hold: PushFacts.LaneHold
    /// The outage that the APNs client has reported; nil while it sends.
    package var outage: LaneOutage?
    /// Devices whose pushes wait.
    package var waiting: Int
    package var inFlight: Int
    /// Tokens that APNs has refused, and that are not sent to again.
    package var refused = 0
    /// Apple's word for it; nil if none is refused now, or the lane works.
    package var refusal: String?

    package static func < (left: PushLaneReport, right: PushLaneReport) -> Bool {
        (left.environment.rawValue, left.topic ?? "") < (right.environment.rawValue, right.topic ?? "")
    }
}

/// How many pushes of an app wait in the server, and how many are with the APNs client.
package struct PushQueueLength: Hashable, Sendable {
    package var waiting = 0
    package var inFlight = 0
}

extension ServerCore {
    /// Returns the queue lengths of the apps that have lanes: a lane stays for some minutes after its last push.
    package func queueLengths() -> [AppID: PushQueueLength] {
        var lengths: [AppID: PushQueueLength] = [:]
        // tidy: order does not leave: a sum is the same in any order
        for (lane, state) in self.turn.lanes.states {
            lengths[lane.app, default: PushQueueLength()].waiting += state.queue.count
            lengths[lane.app, default: PushQueueLength()].inFlight += state.inFlight
        }
        return lengths
    }

    /// Sorted.
    func laneReports(of app: AppID) -> [PushLaneReport] {
        var reports = self.turn.lanes.states.filter { $0.key.app == app }.map { lane, state in
            PushLaneReport(
                environment: lane.environment, topic: lane.topic, hold: state.hold, outage: state.client.outage,
                waiting: state.queue.count, inFlight: state.inFlight, refused: state.held.count,
                refusal: state.burst.reason)
        }
        // Of a credential as a whole, also where no push has made a lane yet.
        // tidy: order does not leave: they are sorted
        for (scope, state) in self.turn.lanes.outages where scope.app == app && scope.topic == nil {
            guard let outage = state.outage else { continue }
            reports.append(
                PushLaneReport(
                    environment: scope.environment, topic: nil, hold: outage.hold, outage: outage, waiting: 0,
                    inFlight: 0))
        }
        return reports.sorted()
    }
}

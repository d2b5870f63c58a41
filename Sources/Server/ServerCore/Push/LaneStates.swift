import APNsModel
import TidingsModel

/// All lanes of a credential, or those of one topic.
struct LaneScope: Hashable, Sendable {
    let app: AppID
    let environment: PushEnvironment
    let topic: String?

    func covers(_ lane: PushLane) -> Bool {
        self.app == lane.app && self.environment == lane.environment && (self.topic ?? lane.topic) == lane.topic
    }
}

extension LaneOutage {
    var hold: PushFacts.LaneHold {
        switch self.cause {
        case .credential: .configFault
        case .connection, .provider: .providerDown
        }
    }

    var alarm: PushAlarm {
        switch self.cause {
        case .credential: .configFault(reason: self.reason)
        case .connection, .provider: .providerDown(reason: self.reason)
        }
    }
}

// Whether APNs is usable is decided by the APNs client alone. Lanes hold their pushes for as long as it says so
// (docs/inside/decisions/0026-one-judge-of-apns.md).
extension ServerCore {
    mutating func handleLaneReport(_ scope: LaneScope, _ state: LaneState) {
        self.turn.lanes.outages[scope] = state == .usable ? nil : state
        self.followClients(where: scope.covers)
    }

    mutating func holdForCredential(_ lane: PushLane) {
        let scope = LaneScope(app: lane.app, environment: lane.environment, topic: lane.topic)
        self.handleLaneReport(scope, .paused(LaneOutage(.credential, reason: "NoCredential")))
    }

    /// Takes over the states of the lanes' credentials that the clients have reported.
    mutating func followClients(where isMeant: (PushLane) -> Bool) {
        for lane in self.turn.lanes.states.keys.filter(isMeant).sorted() {
            let (before, after) = (
                self.turn.lanes[lane]?.client ?? .usable, self.turn.lanes.reportedState(of: lane, self.turn.settings)
            )
            self.turn.lanes[lane]?.setClient(after)
            switch (before.outage, after.outage) {
            case (nil, nil): break
            case (let old, let new?):
                // Of one outage of Apple's the words may change with each try.
                if old?.cause != new.cause || (new.cause == .credential && old != new) {
                    self.turn.emit(.raiseAlarm(lane, new.alarm))
                }
            case (.some, nil):
                if self.turn.lanes[lane]?.burst.state == .closed { self.turn.emit(.clearAlarm(lane)) }
            }
            self.pumpLane(lane)
        }
    }
}

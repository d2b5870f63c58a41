import APNsModel
import CoreMetrics
import Logging
import ServerCore
import StoreModel
import TidingsModel

extension ServerLoop {
    /// Hands the core what the senders find out of lanes and credentials.
    func followSenders() {
        self.senders.onEffect { [weak self] effect in
            switch effect {
            case .report(let lane, let state):
                self?.receive(.laneReported(lane.app, lane.environment, topic: lane.topic, state))
            case .note(let app, let change): self?.askCore(.changeControl(.changePushCredential(app, change)))
            case .retire: break
            }
        }
    }

    func sendPush(_ id: PushID, _ app: AppID, _ request: APNsRequest, at now: Now) {
        let lane = PushLane(app: app, environment: request.environment, topic: request.topic)
        self.begin(id) {
            try self.senders.send(request, of: lane, at: now.wall) { self.handlePushOutcome($0, of: id) }
        }
    }

    func sendBroadcast(_ id: PushID, _ app: AppID, _ broadcast: APNsBroadcast, at now: Now) {
        let lane = Self.activityLane(app, broadcast.environment, bundleID: broadcast.bundleID)
        self.begin(id) {
            try self.senders.send(broadcast, of: lane, at: now.wall) { self.handlePushOutcome($0, of: id) }
        }
    }

    func manageChannels(_ request: APIRequestID, _ app: AppID, _ asked: APNsChannelRequest, at now: Now) {
        let lane = Self.activityLane(app, asked.environment, bundleID: asked.bundleID)
        let isTaken = self.isTaken {
            try self.senders.manage(asked, of: lane, at: now.wall) { self.receive(.channelsAnswered(request, $0)) }
        }
        if !isTaken { self.receive(.channelsAnswered(request, .noCredential)) }
    }

    /// A channel is of the app, and what goes to it is for its Live Activities.
    private static func activityLane(_ app: AppID, _ environment: PushEnvironment, bundleID: String) -> PushLane {
        PushLane(app: app, environment: environment, topic: APNsPushType.liveactivity.topic(forBundle: bundleID))
    }

    private func begin(_ id: PushID, _ submit: () throws -> Bool) {
        guard self.isTaken(submit) else {
            self.metrics.countPush(.noCredential)
            return self.receive(.credentialMissing(id))
        }
        self.pushesInFlight += 1
        self.metrics.pushesInFlight.set(self.pushesInFlight)
    }

    private func isTaken(_ submit: () throws -> Bool) -> Bool {
        do {
            return try submit()
        } catch {
            self.logger.log(.error, "a push credential cannot be used", [.reason: "\(error)"])
            return false
        }
    }

    private func handlePushOutcome(_ outcome: APNsOutcome, of id: PushID) {
        self.pushesInFlight -= 1
        self.metrics.pushesInFlight.set(self.pushesInFlight)
        switch outcome {
        case .accepted: self.metrics.countPush(.accepted)
        case .refused: self.metrics.countPush(.refused)
        case .unknownOutcome: self.metrics.countPush(.unknown)
        case .notSent, .stopped: self.metrics.countPush(.notSent)
        }
        self.receive(.pushEnded(id, outcome))
    }
}

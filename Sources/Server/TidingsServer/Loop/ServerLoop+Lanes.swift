import APNsModel
import CoreMetrics
import Logging
import NIOCore
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
        var isTaken = false
        do {
            isTaken = try self.senders.send(request, of: lane, at: now.wall) { self.handlePushOutcome($0, of: id) }
        } catch {
            self.logger.log(.error, "a push credential cannot be used", [.lane: "\(lane)", .reason: "\(error)"])
        }
        guard isTaken else {
            self.metrics.countPush(.noCredential)
            return self.receive(.credentialMissing(id))
        }
        self.pushesInFlight += 1
        self.metrics.pushesInFlight.set(self.pushesInFlight)
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

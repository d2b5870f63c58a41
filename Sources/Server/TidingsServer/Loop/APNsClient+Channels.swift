import APNsClient
import APNsModel
import ServerCore

/// Broadcasts and channels are few: each has a task of its own.
extension APNsClient {
    func submit(_ broadcast: APNsBroadcast, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        Task {
            do throws(APNsFailure) {
                let response = try await self.broadcast(broadcast)
                completion(.accepted(apnsID: response.requestID ?? "", uniqueID: response.uniqueID))
            } catch {
                completion(error.outcome)
            }
        }
    }

    func submit(_ asked: APNsChannelRequest, completion: @escaping @Sendable (ChannelOutcome) -> Void) {
        Task {
            do throws(APNsFailure) {
                completion(.answered(try await self.answer(to: asked)))
            } catch {
                switch error {
                case .refused(let refusal): completion(.answered(.refused(refusal)))
                case .unknownOutcome(let why): completion(.unanswered(why))
                case .notSent(let why), .stopped(let why): completion(.notSent(why))
                }
            }
        }
    }

    private func answer(to asked: APNsChannelRequest) async throws(APNsFailure) -> APNsChannelAnswer {
        let (bundle, id) = (asked.bundleID, asked.requestID)
        switch asked.operation {
        case .create(let policy): return .created(try await self.createChannel(policy, bundleID: bundle, requestID: id))
        case .read(let channel): return .channel(try await self.channel(channel, bundleID: bundle, requestID: id))
        case .delete(let channel):
            try await self.deleteChannel(channel, bundleID: bundle, requestID: id)
            return .deleted
        case .list: return .list(try await self.channels(bundleID: bundle, requestID: id))
        }
    }
}

extension APNsFailure {
    fileprivate var outcome: APNsOutcome {
        switch self {
        case .refused(let refusal): .refused(refusal)
        case .unknownOutcome(let why): .unknownOutcome(why)
        case .notSent(let why): .notSent(why)
        case .stopped(let why): .stopped(why)
        }
    }
}

import StoreModel
import TidingsModel

extension ServerCore {
    /// Serves a request of the HTTP API.
    mutating func serve(
        _ command: ApiCommand, for request: ApiRequestID, _ now: Now, _ effects: inout [ServerEffect]
    ) {
        switch command {
        case .send(let sender, let draft):
            do throws(ServerFrame.Problem) {
                let message = try self.accepted(draft, from: sender, now)
                self.ask(
                    .accept(message: message.message, senderDevice: nil), for: .apiSend(request, message), &effects)
            } catch {
                effects.append(.reply(request, .refused(error)))
            }
        case .putConversation(let conversation):
            self.ask(.putConversation(conversation), for: .apiAnswer(request), &effects)
        case .trace(let app, let message):
            self.ask(.trace(app, message), for: .apiAnswer(request), &effects)
        case .signOut(let device):
            self.signOut(device, for: request, now, &effects)
        case .readLog(let user, let after, let limit):
            let entries = max(1, min(limit, self.settings.pageEntriesMax))
            self.ask(.readLog(user, after: after, limit: entries), for: .apiAnswer(request), &effects)
        case .receipt(let leg, let receipt):
            self.ask(.receipt(leg, receipt, at: now.wall), for: .apiAnswer(request), &effects)
        }
    }

    /// A trace with the legs that are only in memory: live, in grace, queued or in flight.
    func withLiveLegs(_ trace: MessageTrace) -> MessageTrace {
        var trace = trace
        let ended = Set(trace.ended.map(\.leg))
        var open = Dictionary(trace.open.map { ($0.leg, $0) }, uniquingKeysWith: { first, _ in first })
        for delivery in trace.deliveries {
            guard let slot = self.slots[UserKey(app: trace.message.app, user: delivery.user)] else { continue }
            for index in self.people[slot].devices.indices {
                guard let leg = self.people[slot].devices[index].legs.index(of: delivery.position) else { continue }
                let live = self.openLeg(slot, index, leg, nil)
                guard live.leg.message == trace.message.id, !ended.contains(live.leg) else { continue }
                let notBefore = open[live.leg]?.notBefore
                open[live.leg] = live
                open[live.leg]?.notBefore = notBefore
            }
        }
        trace.open = open.values.sorted { $0.leg < $1.leg }
        return trace
    }
}

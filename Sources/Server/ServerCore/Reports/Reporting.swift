import APNsModel
import StoreModel
import TidingsModel

// Reports beside effects that do not say by themselves what those who watch want to know. They are told always: who comes later reads what was.
extension ServerCore {
    func reportAccepted(_ message: Message, to deliveries: [Delivery], _ effects: inout [ServerEffect]) {
        effects.append(
            .report(
                .accepted(
                    message.id, by: message.senderKey, in: message.conversation, message.objectName,
                    recipients: deliveries.count)))
    }

    /// The legs that the push carries.
    func reportSent(
        _ legs: [Int], of slot: Int, _ index: Int, in request: APNsRequest, _ effects: inout [ServerEffect]
    ) {
        let (user, device) = (self.people[slot].key, self.people[slot].devices[index].id)
        for leg in legs {
            let id = LegID(message: self.people[slot].devices[index].legs[leg].id, user: user, device: device)
            effects.append(.report(.sentLeg(id, apnsID: request.apnsID)))
        }
    }

    func report(_ answer: PushAnswer, to push: OutgoingPush, _ effects: inout [ServerEffect]) {
        guard let device = push.leg.device else { return }
        let subject: ServerReport.PushSubject = push.badgeRoute == nil ? .message(push.leg.message) : .badge
        effects.append(.report(.answeredPush(DeviceKey(user: push.leg.user, device: device), subject, answer.result)))
    }

    func report(_ answer: PushAnswer, to push: CallPush, _ effects: inout [ServerEffect]) {
        effects.append(.report(.answeredPush(push.device, .call(push.call), answer.result)))
    }

    /// Reports an answer. Pushes to tokens and channels that the backend names are about no device that is known here.
    func report(_ answer: PushAnswer, to push: PassingPush, _ effects: inout [ServerEffect]) {
        switch push.subject {
        case .activity: break
        case .test(let device, _): effects.append(.report(.answeredPush(device, .test, answer.result)))
        case .silent(let device, _): effects.append(.report(.answeredPush(device, .silent, answer.result)))
        }
    }

    func report(_ change: ServerReport.DeviceChange, slot: Int, index: Int, _ effects: inout [ServerEffect]) {
        let device = DeviceKey(user: self.people[slot].key, device: self.people[slot].devices[index].id)
        effects.append(.report(.device(device, change)))
    }

    /// A background that ends at another time is the same.
    func reportLease(_ before: Lease, slot: Int, index: Int, _ effects: inout [ServerEffect]) {
        let lease = self.people[slot].devices[index].lease
        guard lease.name != before.name else { return }
        self.report(.lease(lease), slot: slot, index: index, &effects)
    }

    /// Legs that the store ends by itself with the sign-out.
    func reportSignOut(slot: Int, index: Int, as end: LegEnd, _ now: Now, _ effects: inout [ServerEffect]) {
        let (user, device) = (self.people[slot].key, self.people[slot].devices[index].id)
        for leg in 0..<self.people[slot].devices[index].legs.count {
            let id = LegID(message: self.people[slot].devices[index].legs[leg].id, user: user, device: device)
            effects.append(.report(.endedLeg(EndedLeg(leg: id, end: end, at: now.wall))))
        }
        self.report(.signedOut, slot: slot, index: index, &effects)
    }
}

extension PushAnswer {
    fileprivate var result: ServerReport.PushResult {
        switch self {
        case .noCredential: .noCredential
        case .answered(.accepted(let apnsID, _)): .accepted(apnsID: apnsID)
        case .answered(.refused(let refusal)):
            .refused(apnsID: refusal.apnsID, status: refusal.status, reason: refusal.reason.name)
        case .answered(.unknownOutcome(let words)): .unknown(words)
        case .answered(.notSent(let words)), .answered(.stopped(let words)): .notSent(words)
        }
    }
}

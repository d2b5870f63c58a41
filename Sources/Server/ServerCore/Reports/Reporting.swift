import APNsModel
import StoreModel
import TidingsModel

// Reports beside effects that do not say by themselves what those who watch want to know. They are told always: who comes later reads what was.
extension ServerCore {
    mutating func reportAccepted(_ message: Message, to deliveries: [Delivery]) {
        self.turn.emit(
            .report(
                .accepted(
                    message.id, by: message.senderKey, in: message.conversation, message.objectName,
                    recipients: deliveries.count)))
    }

    mutating func report(_ answer: PushAnswer, to push: OutgoingPush) {
        guard let device = push.leg.device else { return }
        let subject: ServerReport.PushSubject = push.badgeRoute == nil ? .message(push.leg.message) : .badge
        self.turn.emit(.report(.answeredPush(DeviceKey(user: push.leg.user, device: device), subject, answer.result)))
    }

    /// Reports an answer. Pushes to tokens and channels that the backend names are about no device that is known here.
    mutating func report(_ answer: PushAnswer, to push: PassingPush) {
        switch push.subject {
        case .activity: break
        case .test(let device, _): self.turn.emit(.report(.answeredPush(device, .test, answer.result)))
        case .silent(let device, _): self.turn.emit(.report(.answeredPush(device, .silent, answer.result)))
        case .call(let device, _, _):
            self.turn.emit(.report(.answeredPush(device, .call(CallID(push.id)), answer.result)))
        }
    }
}

extension Device {
    /// Legs that the store ends by itself with the sign-out.
    mutating func reportSignOut(as end: LegEnd, _ turn: inout Turn) {
        for leg in 0..<self.legs.count {
            let id = LegID(message: self.legs[leg].id, user: self.key.user, device: self.id)
            turn.emit(.report(.endedLeg(EndedLeg(leg: id, end: end, at: turn.now.wall))))
        }
        turn.emit(.report(.device(self.key, .signedOut)))
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

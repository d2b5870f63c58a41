import APNsModel
import ServerCore
import StoreModel
import TidingsModel

extension LegSteps {
    /// What is not kept of a push follows from the leg: its `apns-id` and, as every message's push is an alert that is to go at once under the
    /// id of its message, type, priority and collapse id.
    func json(of leg: LegID, _ about: MessageLegs.About) -> JSONValue {
        .array(self.all.compactMap { $0.members(of: leg, about).map { .members($0) } })
    }
}

extension LegStep {
    /// Nil for what the end tells.
    fileprivate func members(of leg: LegID, _ about: MessageLegs.About) -> [(String, JSONValue)]? {
        switch self {
        case .waited(let wait, let until, let at):
            [
                ("step", "waiting"), ("at", .int(at)), ("wait", .string(wait.rawValue)), ("until", .optional(until)),
                ("tests", PushVerdict.tests(decidedBy: .wait(wait)).json),
            ]
        case .turned(let turn, let at): [("step", "device"), ("at", .int(at)), ("turn", .string(turn.rawValue))]
        case .pushed(let push, let at):
            [
                ("step", "pushed"), ("at", .int(at)), ("request", push.json(of: leg, about)),
                ("tests", PushVerdict.tests(decidedBy: .send).json),
            ]
        case .answered(let outcome, let status, let reason, let at):
            [
                ("step", "answered"), ("at", .int(at)), ("outcome", .string(outcome.rawValue)),
                ("status", .optional(status == 0 ? nil : Int64(status))),
                ("reason", .optional(reason.isEmpty ? nil : reason)),
            ]
        case .read(let device, let at):
            [("step", "read"), ("at", .int(at)), ("device", .optional(device?.rawValue))]
        case .judged: nil
        }
    }
}

extension LegPush {
    fileprivate func json(of leg: LegID, _ about: MessageLegs.About) -> JSONValue {
        let message = self.carrier ?? leg.message
        let carrying = LegID(message: message, user: leg.user, device: leg.device)
        let collapse = self.carrier ?? about.recalls ?? leg.message
        return [
            "apns_id": .string(apnsID(of: carrying, attempt: self.attempt)), "attempt": .int(Int64(self.attempt)),
            "push_type": .string(APNsPushType.alert.rawValue),
            "priority": .int(Int64(APNsPriority.immediate.rawValue)), "expiration": .int(self.expiration),
            "collapse_id": .string(collapse.description), "topic": .string(self.topic),
            "environment": .string(self.environment.rawValue),
            "counted_by": .optional(self.carrier?.description),
        ]
    }
}

extension [PushVerdict.AskedTest] {
    var json: JSONValue {
        .array(self.map { ["fact": .string($0.fact), "passed": .bool($0.isPassed)] })
    }
}

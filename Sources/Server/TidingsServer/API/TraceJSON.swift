import APNsModel
import ServerCore
import StoreModel
import TidingsModel

extension MessageTrace {
    /// The content is left out: it belongs to the people, not to operators. The author, an operator, is told to nobody else.
    var json: JSONMembers {
        let offSince = Dictionary(
            self.reports.compactMap { report in report.reported.offSince.map { (report.device, $0) } },
            uniquingKeysWith: { first, _ in first })
        func off(_ leg: LegID) -> Int64? { leg.device.flatMap { offSince[DeviceKey(user: leg.user, device: $0)] } }
        let about = MessageLegs.About(self.subject)
        let receipts = Dictionary(grouping: self.receipts, by: \.leg)
        var members: JSONMembers = ["message_id": self.id]
        members += self.subject.members
        members += .given(["author": self.author, "recall": self.recall])
        return members + [
            "deliveries": self.deliveries.objects { ["user": $0.user, "position": $0.position] },
            "open_legs": self.open.map { $0.json(about, off($0.leg)) },
            "ended_legs": self.ended.map { $0.json(about, receipts[$0.leg] ?? [], off($0.leg)) },
            "receipts": self.receipts.map(\.json),
            "devices": self.reports.map(\.json),
        ]
    }
}

extension ReportedStatus {
    var json: JSONMembers {
        [
            "authorization": self.status.authorization, "alert": self.status.alert, "sound": self.status.sound,
            "badge": self.status.badge, "lock_screen": self.status.lockScreen,
            "notification_center": self.status.notificationCenter, "background_refresh": self.status.backgroundRefresh,
            "icon_number": self.status.iconNumber, "low_power_mode": self.status.isLowPowerModeOn,
            "time_zone": self.status.timeZone, "languages": self.status.languages,
            "app_version": self.status.appVersion, "system_version": self.status.systemVersion,
            "model": self.status.model, "off_since": self.offSince, "at": self.at,
        ]
    }
}

extension DeviceReport {
    fileprivate var json: JSONMembers {
        ["user": self.device.user.user, "device": self.device.device, "status": self.reported.json]
    }
}

extension MessageTrace.Subject {
    fileprivate var members: JSONMembers {
        switch self {
        case .message(let message):
            [
                "kind": "message", "sender": message.sender, "conversation": message.conversation,
                "object_name": message.objectName, "object_type": message.objectName.word,
                "client_message_id": message.clientMessageID, "sent_at": message.sentAt,
            ]
        case .recall(let recall, _):
            [
                "kind": "recall", "sender": recall.sender, "conversation": recall.conversation,
                "recalls": recall.message, "sent_at": recall.at,
            ]
        case .custom(let message, _): ["kind": "custom", "sent_at": message.sentAt]
        }
    }
}

extension MessageTrace.Receipt {
    fileprivate var json: JSONMembers { self.leg.members + ["receipt": self.receipt, "at": self.at] }
}

extension LegID {
    fileprivate var members: JSONMembers { ["user": self.user.user, "device": self.device] }
}

extension OpenLeg {
    fileprivate func json(_ about: MessageLegs.About, _ offSince: Int64?) -> JSONMembers {
        self.members(about) + ["notifications_off_since": offSince]
    }

    func members(_ about: MessageLegs.About) -> JSONMembers {
        self.leg.members + [
            "wait": self.wait, "attempts": self.attempts, "apns_id": self.apnsID, "not_before": self.notBefore,
            "steps": self.steps.json(of: self.leg, about), "sentences": LegSentence.all(of: self, about),
        ]
    }
}

extension EndedLeg {
    fileprivate func json(
        _ about: MessageLegs.About, _ receipts: [MessageTrace.Receipt], _ offSince: Int64?
    ) -> JSONMembers {
        self.members(about, receipts) + ["notifications_off_since": offSince]
    }

    func members(_ about: MessageLegs.About, _ receipts: [MessageTrace.Receipt]) -> JSONMembers {
        self.leg.members + [
            "end": self.end.name, "detail": self.end.detail, "at": self.at,
            "steps": self.steps.json(of: self.leg, about),
            "sentences": LegSentence.all(of: self, about, receipts),
            "tests": self.steps.all.last == .judged ? PushVerdict.tests(decidedBy: .end(self.end)).json : .null,
        ]
    }
}

extension LegSteps {
    /// Returns the steps as JSON. The parts of a push that are not kept follow from the leg: its `apns-id` and, as every message's push is
    /// an alert that is to go at once under the id of its message, type, priority and collapse id.
    func json(of leg: LegID, _ about: MessageLegs.About) -> JSONValue {
        self.all.compactMap { $0.members(of: leg, about) }.json
    }
}

extension LegStep {
    /// Nil for what the end tells.
    fileprivate func members(of leg: LegID, _ about: MessageLegs.About) -> JSONMembers? {
        switch self {
        case .waited(let wait, let until, let at):
            [
                "step": "waiting", "at": at, "wait": wait, "until": until,
                "tests": PushVerdict.tests(decidedBy: .wait(wait)).json,
            ]
        case .turned(let turn, let at): ["step": "device", "at": at, "turn": turn]
        case .pushed(let push, let at):
            [
                "step": "pushed", "at": at, "request": push.json(of: leg, about),
                "tests": PushVerdict.tests(decidedBy: .send).json,
            ]
        case .answered(let outcome, let status, let reason, let at):
            [
                "step": "answered", "at": at, "outcome": outcome, "status": status == 0 ? nil : Int64(status),
                "reason": reason.isEmpty ? nil : reason,
            ]
        case .read(let device, let at):
            ["step": "read", "at": at, "device": device]
        case .judged: nil
        }
    }
}

extension LegPush {
    fileprivate func json(of leg: LegID, _ about: MessageLegs.About) -> JSONMembers {
        let message = self.carrier ?? leg.message
        let carrying = LegID(message: message, user: leg.user, device: leg.device)
        let collapse = self.carrier ?? about.recalls ?? leg.message
        return [
            "apns_id": apnsID(of: carrying, attempt: self.attempt), "attempt": self.attempt,
            "push_type": APNsPushType.alert.rawValue, "priority": APNsPriority.immediate.rawValue,
            "expires_at": self.expiration * 1_000,
            "collapse_id": collapse, "topic": self.topic, "environment": self.environment, "counted_by": self.carrier,
        ]
    }
}

extension [PushVerdict.AskedTest] {
    var json: JSONValue { self.objects { ["fact": $0.fact, "passed": $0.isPassed] } }
}

import ServerCore
import StoreModel
import TidingsModel

extension MessageTrace {
    /// The content is left out: it belongs to the people, not to operators.
    var json: JSONValue {
        let offSince = Dictionary(
            self.reports.compactMap { report in report.reported.offSince.map { (report.device, $0) } },
            uniquingKeysWith: { first, _ in first })
        func off(_ leg: LegID) -> Int64? {
            leg.device.flatMap { offSince[DeviceKey(user: leg.user, device: $0)] }
        }
        let about = MessageLegs.About(self.subject)
        return .members(
            [("message_id", .string(self.id.description))] + self.subject.members + self.authorMembers
                + self.recallMembers + [
                    (
                        "deliveries",
                        .array(
                            self.deliveries.map { ["user": .string($0.user.rawValue), "position": .int($0.position)] })
                    ), ("open_legs", .array(self.open.map { $0.json(about, off($0.leg)) })),
                    ("ended_legs", .array(self.ended.map { $0.json(about, off($0.leg)) })),
                    ("receipts", .array(self.receipts.map(\.json))),
                    ("devices", .array(self.reports.map(\.json))),
                ])
    }
}

extension ReportedStatus {
    var json: JSONValue {
        .members([
            ("authorization", .string(self.status.authorization.rawValue)), ("alert", .bool(self.status.alert)),
            ("sound", .bool(self.status.sound)), ("badge", .bool(self.status.badge)),
            ("lock_screen", .bool(self.status.lockScreen)),
            ("notification_center", .bool(self.status.notificationCenter)),
            ("background_refresh", .string(self.status.backgroundRefresh.rawValue)),
            ("icon_number", .string(self.status.iconNumber.rawValue)),
            ("low_power_mode", .bool(self.status.isLowPowerModeOn)), ("time_zone", .string(self.status.timeZone)),
            ("languages", .array(self.status.languages.map { .string($0) })),
            ("app_version", .string(self.status.appVersion)), ("system_version", .string(self.status.systemVersion)),
            ("off_since", .optional(self.offSince)), ("at", .int(self.at)),
        ])
    }
}

extension DeviceReport {
    fileprivate var json: JSONValue {
        .members([
            ("user", .string(self.device.user.user.rawValue)), ("device", .string(self.device.device.rawValue)),
            ("status", self.reported.json),
        ])
    }
}

extension MessageTrace {
    /// The operator who has written it; told to nobody else.
    fileprivate var authorMembers: [(String, JSONValue)] {
        self.author.map { [("author", .string($0.rawValue))] } ?? []
    }

    fileprivate var recallMembers: [(String, JSONValue)] {
        self.recall.map { [("recall", .string($0.description))] } ?? []
    }
}

extension MessageTrace.Subject {
    fileprivate var members: [(String, JSONValue)] {
        switch self {
        case .message(let message):
            [
                ("kind", "message"), ("sender", .string(message.sender.rawValue)),
                ("conversation", message.conversation.json), ("object_name", .string(message.objectName.rawValue)),
                ("client_message_id", .string(message.clientMessageID.rawValue)), ("sent_at", .int(message.sentAt)),
            ]
        case .recall(let recall, _):
            [
                ("kind", "recall"), ("sender", .string(recall.sender.rawValue)),
                ("conversation", recall.conversation.json), ("recalls", .string(recall.message.description)),
                ("sent_at", .int(recall.at)),
            ]
        case .custom(let message, _): [("kind", "custom"), ("sent_at", .int(message.sentAt))]
        }
    }
}

extension MessageTrace.Receipt {
    fileprivate var json: JSONValue {
        .members(self.leg.members + [("receipt", .string(self.receipt.rawValue)), ("at", .int(self.at))])
    }
}

extension LegID {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("user", .string(self.user.user.rawValue)),
            ("device", .optional(self.device?.rawValue)),
        ]
    }
}

extension OpenLeg {
    fileprivate func json(_ about: MessageLegs.About, _ offSince: Int64?) -> JSONValue {
        .members(self.members(about) + [("notifications_off_since", .optional(offSince))])
    }

    func members(_ about: MessageLegs.About) -> [(String, JSONValue)] {
        self.leg.members + [
            ("wait", .string(self.wait.rawValue)), ("attempts", .int(self.attempts)),
            ("apns_id", .optional(self.apnsID)), ("not_before", .optional(self.notBefore)),
            ("steps", self.steps.json(of: self.leg, about)),
        ]
    }
}

extension EndedLeg {
    fileprivate func json(_ about: MessageLegs.About, _ offSince: Int64?) -> JSONValue {
        .members(self.members(about) + [("notifications_off_since", .optional(offSince))])
    }

    func members(_ about: MessageLegs.About) -> [(String, JSONValue)] {
        self.leg.members + [
            ("end", .string(self.end.name)), ("detail", .optional(self.end.detail)), ("at", .int(self.at)),
            ("steps", self.steps.json(of: self.leg, about)),
            ("tests", self.steps.all.last == .judged ? PushVerdict.tests(decidedBy: .end(self.end)).json : .null),
        ]
    }
}

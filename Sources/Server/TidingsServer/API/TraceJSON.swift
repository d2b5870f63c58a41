import ServerCore
import StoreModel
import TidingsModel

extension MessageTrace {
    /// The content is left out: it belongs to the people, not to operators.
    /// - Parameter statuses: what the devices of its legs have said the person allows there.
    func json(with statuses: [ToldStatus]) -> JSONValue {
        .members(
            [("message_id", .string(self.id.description))] + self.subject.members + self.recallMembers + [
                (
                    "deliveries",
                    .array(self.deliveries.map { ["user": .string($0.user.rawValue), "position": .int($0.position)] })
                ), ("open_legs", .array(self.open.map(\.json))), ("ended_legs", .array(self.ended.map(\.json))),
                ("receipts", .array(self.receipts.map(\.json))),
                ("devices", .array(statuses.map(\.memberJSON))),
            ])
    }
}

extension ToldStatus {
    var json: JSONValue {
        .members([
            ("authorization", .string(self.status.authorization.rawValue)), ("alert", .bool(self.status.alert)),
            ("sound", .bool(self.status.sound)), ("badge", .bool(self.status.badge)),
            ("lock_screen", .bool(self.status.lockScreen)),
            ("notification_center", .bool(self.status.notificationCenter)),
            ("background_refresh", .string(self.status.backgroundRefresh.rawValue)), ("at", .int(self.at)),
        ])
    }

    fileprivate var memberJSON: JSONValue {
        .members([
            ("user", .string(self.device.user.user.rawValue)), ("device", .string(self.device.device.rawValue)),
            ("status", self.json),
        ])
    }
}

extension MessageTrace {
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
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("wait", .string(self.wait.rawValue)), ("attempts", .int(self.attempts)),
                ("apns_id", .optional(self.apnsID)),
                ("not_before", .optional(self.notBefore)),
            ])
    }
}

extension EndedLeg {
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("end", .string(self.end.name)), ("detail", .optional(self.end.detail)),
                ("at", .int(self.at)),
            ])
    }
}

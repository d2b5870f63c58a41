import StoreModel
import TidingsModel

extension MessageTrace {
    /// The trace as the API tells it. The content is left out: it belongs to the people, not to operators.
    var json: JSONValue {
        [
            "message_id": .string(self.message.id.description), "sender": .string(self.message.sender.rawValue),
            "conversation": self.message.conversation.json,
            "object_name": .string(self.message.objectName.rawValue),
            "client_message_id": .string(self.message.clientMessageID.rawValue), "sent_at": .int(self.message.sentAt),
            "deliveries": .array(
                self.deliveries.map { ["user": .string($0.user.rawValue), "position": .int($0.position)] }),
            "open_legs": .array(self.open.map(\.json)), "ended_legs": .array(self.ended.map(\.json)),
            "receipts": .array(
                self.receipts.map { receipt in
                    .members(
                        receipt.leg.members + [
                            ("receipt", .string(receipt.receipt.rawValue)), ("at", .int(receipt.at)),
                        ])
                }),
        ]
    }
}

extension LegID {
    fileprivate var members: [(String, JSONValue)] {
        [
            ("user", .string(self.user.user.rawValue)),
            ("device", self.device.map { .string($0.rawValue) } ?? .null),
        ]
    }
}

extension OpenLeg {
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("wait", .string(self.wait.rawValue)), ("attempts", .int(self.attempts)),
                ("apns_id", self.apnsID.map { .string($0) } ?? .null),
                ("not_before", self.notBefore.map { .int($0) } ?? .null),
            ])
    }
}

extension EndedLeg {
    fileprivate var json: JSONValue {
        .members(
            self.leg.members + [
                ("end", .string(self.end.name)), ("detail", self.end.detail.map { .string($0) } ?? .null),
                ("at", .int(self.at)),
            ])
    }
}

package import TidingsModel

/// A call that the app's backend asks to ring for. It is no message: neither log, verdict, badge nor ledger know of it
/// (docs/inside/decisions/0037-calls.md).
package struct Call: Hashable, Sendable {
    package var id: CallID
    /// A person or an account.
    package var caller: UserID
    package var callee: UserID
    package var hasVideo: Bool
    /// How long APNs may keep it for a phone it cannot reach; 0 is one attempt.
    package var lifetimeMilliseconds: Int64
    /// The app's own, which its phones get as they are.
    package var data: JSONObject

    package static let lifetimeMax: Int64 = 30_000
    /// Bytes of JSON. The other members need no more than 1,024 of the 5,120 a VoIP push may have (apns.md §6).
    package static let dataBytesMax = 4_096

    package init(
        id: CallID, caller: UserID, callee: UserID, hasVideo: Bool = false,
        lifetimeMilliseconds: Int64 = Call.lifetimeMax, data: JSONObject = JSONObject()
    ) {
        self.id = id
        self.caller = caller
        self.callee = callee
        self.hasVideo = hasVideo
        self.lifetimeMilliseconds = lifetimeMilliseconds
        self.data = data
    }

    package func validate() throws(InvalidField) {
        _ = try CallID.uuid(self.id.rawValue, field: "id")
        _ = try UserID.validated(self.caller.rawValue, field: "from")
        _ = try UserID.validated(self.callee.rawValue, field: "to")
        try InvalidField.check(self.caller != self.callee, "to", "must be somebody else than from")
        try InvalidField.check(self.lifetimeMilliseconds, in: 0...Self.lifetimeMax, "lifetime_ms")
        try InvalidField.check(
            JSONValue.object(self.data).serialized.count, atMost: Self.dataBytesMax, "data", unit: " bytes of JSON")
    }
}

/// The state of the push to one device.
package enum CallPushState: Hashable, Sendable, JSONTagged {
    case noToken
    /// APNs has not answered yet.
    case pushing
    case accepted(apnsID: String)
    case refused(reason: String, status: Int)
    /// Why, in a word or a sentence.
    case notSent(reason: String)
    /// The answer never came: it may have rung.
    case unanswered

    package static let tag = JSONTag("state", meaning: "a state of a push")
}

/// Times are wall milliseconds.
package struct CallTrace: Hashable, Sendable {
    package struct Device: Hashable, Sendable, JSONCodable {
        package var id: DeviceID
        package var state: CallPushState

        private enum CodingKeys: String, CodingKey { case id = "device", state = "" }
    }

    package var call: Call
    package var sentAt: Int64
    /// Sorted by id.
    package var devices: [Device]

    package var expiresAt: Int64 { self.sentAt + self.call.lifetimeMilliseconds }
}

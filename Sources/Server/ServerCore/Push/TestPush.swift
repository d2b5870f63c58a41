package import APNsModel
package import TidingsModel

/// A visible push to one device that an operator asks for who looks for a fault: it passes by verdict, quiet hours and the device's other
/// pushes, and its answer explains everything that is known.
package struct TestPush: Hashable, Sendable {
    /// A UUID in lowercase, the push's `apns-id`.
    package var id: String
    package var title: String?
    package var text: String

    package static let titleBytesMax = 256
    package static let textBytesMax = 1_024

    package init(id: String, title: String? = nil, text: String) {
        self.id = id
        self.title = title
        self.text = text
    }

    package func validate() throws(InvalidField) {
        try LiveActivityPush.checkID(self.id)
        if let title = self.title {
            try InvalidField.check(!title.isEmpty, "title", "must not be empty")
            try InvalidField.checkVisible(title, "title")
            try InvalidField.check(title.utf8.count, atMost: Self.titleBytesMax, "title", unit: " bytes")
        }
        try InvalidField.check(!self.text.isEmpty, "text", "must not be empty")
        try InvalidField.checkVisible(self.text, "text")
        try InvalidField.check(self.text.utf8.count, atMost: Self.textBytesMax, "text", unit: " bytes")
    }

    var payload: APNsPayload {
        APNsPayload(alert: .init(title: self.title, body: self.text), sound: .usual)
    }
}

/// The facts about a test push, and about the device that it went to.
package struct TestPushReport: Hashable, Sendable {
    package struct Lane: Hashable, Sendable {
        package let lane: PushLane
        package let hold: PushFacts.LaneHold
        /// The outage that the APNs client has reported; nil while it sends.
        package let outage: LaneOutage?
        /// Devices whose pushes wait in it.
        package let waiting: Int
        package let inFlight: Int
    }

    package var id: String
    /// Wall milliseconds.
    package var sentAt: Int64
    package var device: DeviceInfo
    package var lease: Lease
    /// Nil without a token.
    package var lane: Lane?
    /// The verdict on a message now.
    package var verdict: PushVerdict
    package var tests: [PushVerdict.Test]
    /// Nil without a token.
    package var request: APNsRequest?
    package var state: PassedPushState
}

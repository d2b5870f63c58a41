package import APNsModel
package import TidingsModel

/// A visible push to one device, which somebody who looks for a fault asks for: it passes by verdict, quiet hours and the device's other
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
        APNsPayload(alert: .init(title: self.title, body: self.text), sound: ServerCore.sound)
    }
}

/// What is known of a test push, and of the device that it went to.
package struct TestPushReport: Hashable, Sendable {
    package struct Lane: Hashable, Sendable {
        package let lane: PushLane
        package let hold: PushFacts.LaneHold
        /// As the APNs client has reported it; nil while it sends.
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
    /// What a message would come to now.
    package var verdict: PushVerdict
    package var tests: [PushVerdict.Test]
    /// Nil without a token.
    package var request: APNsRequest?
    package var state: PassedPushState

    package init(
        id: String, sentAt: Int64, device: DeviceInfo, lease: Lease, lane: Lane?, verdict: PushVerdict,
        tests: [PushVerdict.Test], request: APNsRequest?, state: PassedPushState
    ) {
        self.id = id
        self.sentAt = sentAt
        self.device = device
        self.lease = lease
        self.lane = lane
        self.verdict = verdict
        self.tests = tests
        self.request = request
        self.state = state
    }
}

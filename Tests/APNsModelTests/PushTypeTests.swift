import Testing

@testable import APNsModel

/// What the APNs reference, section 7, says of one push type.
private struct Row: Sendable, CustomTestStringConvertible {
    var type: APNsPushType
    var topic: String
    var priorities: [Int]
    var bytesMax: Int
    /// Whether a certificate may send it: of the app without a list, and with this topic in its list.
    var certificate: (plain: Bool, listed: Bool)
    var testDescription: String { self.type.rawValue }
}

private let table: [Row] = [
    Row(type: .alert, topic: "a.b", priorities: [10, 5, 1], bytesMax: 4_096, certificate: (true, true)),
    Row(type: .background, topic: "a.b", priorities: [5, 1], bytesMax: 4_096, certificate: (true, true)),
    Row(type: .voip, topic: "a.b.voip", priorities: [10, 5, 1], bytesMax: 5_120, certificate: (false, true)),
    Row(
        type: .complication, topic: "a.b.complication", priorities: [10, 5, 1], bytesMax: 4_096,
        certificate: (false, true)),
    Row(
        type: .fileprovider, topic: "a.b.pushkit.fileprovider", priorities: [10, 5, 1], bytesMax: 4_096,
        certificate: (true, true)),
    Row(type: .mdm, topic: "a.b", priorities: [10, 5, 1], bytesMax: 4_096, certificate: (true, true)),
    Row(
        type: .location, topic: "a.b.location-query", priorities: [10, 5, 1], bytesMax: 4_096,
        certificate: (false, false)),
    Row(
        type: .liveactivity, topic: "a.b.push-type.liveactivity", priorities: [10, 5], bytesMax: 4_096,
        certificate: (false, true)),
    Row(
        type: .pushtotalk, topic: "a.b.voip-ptt", priorities: [10, 5, 1], bytesMax: 4_096, certificate: (false, true)),
    Row(
        type: .widgets, topic: "a.b.push-type.widgets", priorities: [10, 5, 1], bytesMax: 4_096,
        certificate: (false, true)),
    Row(
        type: .controls, topic: "a.b.push-type.controls", priorities: [10, 5, 1], bytesMax: 4_096,
        certificate: (false, true)),
]

@Suite struct `A push type` {
    @Test func `is in the table`() {
        #expect(table.map(\.type) == APNsPushType.allCases)
    }

    @Test(arguments: table) fileprivate func `has topic, priorities and payload limit of its row`(row: Row) {
        #expect(row.type.topic(forBundle: "a.b") == row.topic)
        #expect(row.type.allowedPriorities.map(\.rawValue) == row.priorities)
        #expect(APNsPriority.allCases.filter(row.type.allows).map(\.rawValue) == row.priorities)
        #expect(row.type.payloadBytesMax == row.bytesMax)
    }

    @Test(arguments: table) fileprivate func `may be sent with any token, and with the certificates of its row`(
        row: Row
    ) {
        #expect(row.type.maySend(to: row.topic, with: .token))
        let plain = APNsCertificateTopics(subject: "a.b")
        #expect(row.type.maySend(to: row.topic, with: .certificate(plain)) == row.certificate.plain)
        let listed = APNsCertificateTopics(subject: "a.b", listed: [row.topic])
        #expect(row.type.maySend(to: row.topic, with: .certificate(listed)) == row.certificate.listed)
        let foreign = APNsCertificateTopics(subject: "c.d", listed: ["c.d.voip"])
        #expect(!row.type.maySend(to: row.topic, with: .certificate(foreign)))
    }

    @Test func `of device management is the subject's alone, whatever else a certificate lists`() {
        let topics = APNsCertificateTopics(subject: "a.b", listed: ["c.d"])
        #expect(!APNsPushType.mdm.maySend(to: "c.d", with: .certificate(topics)))
    }

    @Test func `is read in whatever case it is written`() {
        for name in ["liveactivity", "Liveactivity", "LiveActivity", "LIVEACTIVITY"] {
            #expect(APNsPushType(wireName: name) == .liveactivity)
        }
        for type in APNsPushType.allCases { #expect(APNsPushType(wireName: type.rawValue) == type) }
        for name in ["", "live activity", "liveactivity ", "alerts"] { #expect(APNsPushType(wireName: name) == nil) }
    }
}

@Suite struct `A certificate` {
    @Test func `with one topic needs no topic in the request, one with several does`() {
        #expect(APNsCertificateTopics(subject: "a.b").onlyTopic == "a.b")
        #expect(APNsCertificateTopics(subject: "a.b", listed: ["a.b"]).onlyTopic == "a.b")
        #expect(APNsCertificateTopics(subject: "a.b", listed: ["a.b", "a.b.voip"]).onlyTopic == nil)
    }
}

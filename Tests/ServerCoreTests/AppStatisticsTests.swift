import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `The counts of an app` {
    private static let bob = DeviceKey(user: UserKey(app: "shop", user: "bob"), device: "phone")
    private static let message = MessageID(rawValue: 5)

    private static func ended(_ end: LegEnd) -> ServerReport {
        .endedLeg(
            EndedLeg(leg: LegID(message: Self.message, user: Self.bob.user, device: "phone"), end: end, at: 1))
    }

    private static func answered(_ result: ServerReport.PushResult) -> ServerReport {
        .answeredPush(Self.bob, .badge, result)
    }

    private static func counted(_ reports: [ServerReport]) -> AppStatistics {
        var counts = AppStatistics()
        for report in reports { counts.add(report) }
        return counts
    }

    @Test func `are those of its messages`() {
        let direct = ConversationID(type: .direct, target: "bob")
        let accepted = ServerReport.accepted(Self.message, by: Self.bob.user, in: direct, .text, recipients: 2)
        let counts = Self.counted([
            accepted, accepted, .acceptedCustom(Self.message, "shop", recipients: 9),
            .recalled(Self.message, by: Self.message, Self.bob.user, in: direct),
            .edited(Self.message, "shop", in: direct),
        ])
        #expect((counts.messages, counts.customMessages, counts.recalls, counts.edits) == (2, 1, 1, 1))
    }

    @Test func `are those of its legs, by how they end`() {
        let counts = Self.counted([
            Self.ended(.settled(.shown)), Self.ended(.settled(.suppressed(.ownMessage))), Self.ended(.muted),
            Self.ended(.accepted(apnsID: "x")),
        ])
        #expect(counts.legs == ["settled": 2, "muted": 1, "accepted": 1])
    }

    @Test func `are those of its pushes, by what APNs said`() {
        let counts = Self.counted([
            Self.answered(.accepted(apnsID: "a")), Self.answered(.refused(apnsID: nil, status: 400, reason: "x")),
            Self.answered(.refused(apnsID: nil, status: 410, reason: "y")), Self.answered(.unknown("z")),
            Self.answered(.notSent("z")), Self.answered(.noCredential),
        ])
        #expect(
            [counts.pushesAccepted, counts.pushesRefused, counts.pushesUnknown, counts.pushesNotSent] == [1, 2, 1, 2])
    }

    @Test func `are those of its devices, and how many are connected`() {
        let changes: [ServerReport.DeviceChange] = [
            .signedIn(platform: "ios"), .connected, .lease(.foreground), .connected, .disconnected, .signedOut,
        ]
        let leg = LegID(message: Self.message, user: Self.bob.user, device: "phone")
        let counts = Self.counted(
            changes.map { .device(Self.bob, $0) } + [.receipt(leg, .shown), .receipt(leg, .opened)])
        #expect((counts.signIns, counts.signOuts, counts.connections) == (1, 1, 1))
        #expect((counts.shown, counts.opened) == (1, 1))
    }

    @Test func `are each app's own`() {
        var buffer = ReportBuffer(epoch: 7)
        let now = Now(monotonic: 1, wall: 1)
        let other = DeviceKey(user: UserKey(app: "club", user: "bob"), device: "phone")
        buffer.append([.device(Self.bob, .connected), .device(other, .connected), .device(other, .connected)], at: now)
        #expect(buffer.statistics(of: "shop").connections == 1)
        #expect(buffer.statistics(of: "club").connections == 2)
        #expect(buffer.statistics(of: "nobody") == AppStatistics())
    }
}

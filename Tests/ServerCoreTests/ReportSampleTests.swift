import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

private let alice = UserKey(app: "shop", user: "alice")
private let bob = UserKey(app: "shop", user: "bob")
private let chat = ConversationID(type: .direct, target: "bob")

@Suite struct `Some of many reports` {
    private struct Rig {
        var sample: ReportSample
        private var number: UInt64 = 0

        init(most: Int) { self.sample = ReportSample(most: most) }

        mutating func add(_ reports: ServerReport...) {
            self.sample.add(
                reports.map { report in
                    self.number += 1
                    return ReportBuffer.Entry(id: ReportID(epoch: 7, number: self.number), at: 5, report: report)
                })
        }

        /// The numbers of what is told.
        mutating func look() -> (told: [UInt64], passedOver: [ReportSample.PassedOver]) {
            let page = self.sample.look()
            return (page.entries.map(\.id.number), page.passedOver)
        }
    }

    private static func accepted(_ message: UInt64) -> ServerReport {
        .accepted(MessageID(rawValue: message), by: alice, in: chat, .text, recipients: 2)
    }

    private static func ended(_ message: UInt64) -> ServerReport {
        let leg = LegID(message: MessageID(rawValue: message), user: bob, device: "phone")
        return .endedLeg(EndedLeg(leg: leg, end: .settled(.shown), at: 5))
    }

    private static func connected(_ device: DeviceID) -> ServerReport {
        .device(DeviceKey(user: bob, device: device), .connected)
    }

    @Test func `are all where there are few, in their order`() {
        var rig = Rig(most: 2)
        rig.add(Self.ended(1), Self.accepted(2), Self.connected("pad"), Self.accepted(3), Self.ended(4))
        #expect(rig.look() == ([1, 2, 3, 4, 5], []))
        #expect(rig.look() == ([], []))
    }

    @Test func `are so many of each kind, and the others are counted`() {
        var rig = Rig(most: 2)
        rig.add(Self.accepted(1), Self.accepted(2), Self.accepted(3), Self.connected("a"))
        rig.add(Self.accepted(4), Self.connected("b"), Self.connected("c"))
        let page = rig.look()
        #expect(page.told == [1, 2, 4, 6])
        #expect(page.passedOver == [.init(kind: .messageAccepted, count: 2), .init(kind: .deviceConnected, count: 1)])
    }

    @Test func `tell the ends of those messages whose beginning they told`() {
        var rig = Rig(most: 2)
        rig.add(Self.ended(90), Self.ended(91), Self.ended(92))
        rig.add(Self.accepted(1), Self.accepted(2), Self.accepted(3))
        rig.add(Self.ended(3), Self.ended(2), Self.ended(1))
        var page = rig.look()
        #expect(page.told == [4, 5, 8, 9])
        #expect(page.passedOver == [.init(kind: .messageAccepted, count: 1), .init(kind: .legEnded, count: 4)])
        // Also with a later look.
        rig.add(Self.ended(93), Self.ended(94), Self.ended(95), Self.ended(1))
        page = rig.look()
        #expect(page.told == [13])
        #expect(page.passedOver == [.init(kind: .legEnded, count: 3)])
    }

    @Test func `are some of those about other messages where no beginning was told`() {
        var rig = Rig(most: 2)
        rig.add(Self.ended(90), Self.ended(91), Self.ended(92))
        let page = rig.look()
        #expect(page.told == [1, 2])
        #expect(page.passedOver == [.init(kind: .legEnded, count: 1)])
    }

    @Test func `follow a message for sixty looks that told of messages`() {
        var rig = Rig(most: 1)
        rig.add(Self.accepted(1))
        #expect(rig.look() == ([1], []))
        for message in 2...60 {
            rig.add(Self.accepted(UInt64(message)))
            _ = rig.look()
        }
        rig.add(Self.ended(1), Self.ended(2))
        var page = rig.look()
        #expect(page.told == [62])
        #expect(page.passedOver == [.init(kind: .legEnded, count: 1)])
        rig.add(Self.ended(60), Self.ended(2))
        page = rig.look()
        #expect(page.told == [63])
    }
}

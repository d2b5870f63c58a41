import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `The last hour of an app` {
    private static let bob = DeviceKey(user: UserKey(app: "shop", user: "bob"), device: "phone")
    private static let begun: Int64 = 1_800_000_000_000

    private struct Rig {
        var buffer: ReportBuffer
        var now = Now(monotonic: 5_000, wall: begun)

        init(historiesMax: Int = ReportBuffer.historiesMax) {
            self.buffer = ReportBuffer(epoch: 7, historiesMax: historiesMax, begun: self.now)
        }

        mutating func pass(_ milliseconds: Int64) {
            self.now.monotonic += milliseconds
            self.now.wall += milliseconds
        }

        mutating func append(_ reports: ServerReport...) { self.buffer.append(reports, at: self.now) }

        mutating func history(of app: AppID = "shop") -> HistoryReport {
            self.buffer.history(of: app, at: self.now)
        }
    }

    private static func message(_ number: UInt64) -> MessageID {
        MessageID(rawValue: MessageID(wallMilliseconds: Self.begun, node: 0, counter: 0).rawValue + number)
    }

    private static func accepted(_ number: UInt64, in app: AppID = "shop") -> ServerReport {
        .accepted(
            Self.message(number), by: UserKey(app: app, user: "ann"),
            in: ConversationID(type: .direct, target: "bob"), .text, recipients: 1)
    }

    private static func ended(_ number: UInt64, _ end: LegEnd) -> ServerReport {
        .endedLeg(
            EndedLeg(leg: LegID(message: Self.message(number), user: Self.bob.user, device: "phone"), end: end, at: 1))
    }

    private static func pushed(_ number: UInt64, _ result: ServerReport.PushResult) -> ServerReport {
        .answeredPush(Self.bob, .message(Self.message(number)), result)
    }

    @Test func `has a step for every ten seconds, with what happened in it`() {
        var rig = Rig()
        rig.append(Self.accepted(1), .device(Self.bob, .connected))
        rig.pass(9_999)
        rig.append(Self.accepted(2), Self.pushed(2, .refused(apnsID: nil, status: 400, reason: "x")))
        rig.pass(1)
        rig.append(Self.accepted(3), Self.pushed(3, .accepted(apnsID: "a")), Self.ended(1, .muted))
        rig.pass(20_000)
        rig.append(.device(Self.bob, .disconnected), Self.pushed(3, .notSent("x")), Self.pushed(3, .unknown("x")))
        let history = rig.history()
        #expect(history.since == Self.begun)
        #expect(history.from == Self.begun)
        #expect(history.stepMilliseconds == 10_000)
        #expect(history.messages == [2, 1, 0, 0])
        #expect(history.connections == [1, 1, 1, 0])
        #expect(history.refused == [1, 0, 0, 0])
        #expect(history.accepted == [0, 1, 0, 0])
        #expect(history.notSent == [0, 0, 0, 1])
        #expect(history.unknown == [0, 0, 0, 1])
        #expect(history.ends == [.init(name: "muted", counts: [0, 1, 0, 0])])
    }

    @Test func `tells how long messages took from the disk, in the step in which they arrived`() {
        var rig = Rig()
        rig.append(Self.accepted(1), Self.accepted(2))
        rig.pass(7)
        rig.append(Self.ended(1, .settled(.shown)), Self.pushed(2, .accepted(apnsID: "a")))
        rig.pass(10_000)
        rig.append(Self.ended(2, .settled(.shown)), Self.ended(2, .muted))
        let history = rig.history()
        #expect(
            history.delivered == [
                .init(count: 1, p50: 7, p95: 7, p99: 7), .init(count: 1, p50: 10_239, p95: 10_239, p99: 10_239),
            ])
        #expect(history.toAPNs == [.init(count: 1, p50: 7, p95: 7, p99: 7), .init()])
        let counts = rig.buffer.counts(of: "shop", at: rig.now)
        #expect(counts.fiveMinutes.delivered == .init(count: 2, p50: 7, p95: 10_239, p99: 10_239))
        #expect(counts.fiveMinutes.toAPNs.count == 1)
        #expect(counts.hour == counts.fiveMinutes)
    }

    @Test func `takes the time in a message's id where it did not see the message come, as after a restart`() {
        var rig = Rig()
        rig.pass(12)
        rig.append(Self.ended(1, .settled(.shown)))
        #expect(rig.history().delivered == [.init(count: 1, p50: 12, p95: 12, p99: 12)])
    }

    @Test func `forgets what is older`() {
        var rig = Rig()
        rig.append(Self.accepted(1), Self.ended(1, .settled(.shown)), .device(Self.bob, .connected))
        rig.pass(360 * 10_000 - 1)
        #expect(rig.history().messages == [1] + Array(repeating: 0, count: 359))
        rig.pass(1)
        var history = rig.history()
        #expect(history.from == Self.begun + 10_000)
        #expect(history.since == Self.begun)
        #expect(history.messages == Array(repeating: 0, count: 360))
        #expect(history.connections == Array(repeating: 1, count: 360))
        // A gap longer than the hour.
        rig.append(Self.accepted(2))
        rig.pass(100_000_000)
        history = rig.history()
        #expect(history.messages == Array(repeating: 0, count: 360))
        #expect(history.connections.last == 1)
    }

    @Test func `has percentiles of the minutes that are asked for`() {
        var rig = Rig()
        rig.append(Self.accepted(1), Self.ended(1, .settled(.shown)))
        rig.pass(5 * 60_000 + 59_999)
        #expect(rig.buffer.counts(of: "shop", at: rig.now).fiveMinutes.delivered.count == 1)
        rig.pass(1)
        #expect(rig.buffer.counts(of: "shop", at: rig.now).fiveMinutes.delivered.count == 0)
        #expect(rig.buffer.counts(of: "shop", at: rig.now).hour.delivered.count == 1)
        rig.pass(55 * 60_000)
        #expect(rig.buffer.counts(of: "shop", at: rig.now).hour.delivered.count == 0)
    }

    @Test func `tells how many pushes wait, until it is told otherwise`() {
        var rig = Rig()
        rig.append(Self.accepted(1))
        rig.buffer.setQueues(["shop": .init(waiting: 3, inFlight: 2), "other": .init(waiting: 9)], at: rig.now)
        rig.pass(20_000)
        rig.buffer.setQueues([:], at: rig.now)
        #expect(rig.history().waiting == [3, 3, 0])
        #expect(rig.history().inFlight == [2, 2, 0])
    }

    @Test func `is each app's own, and there for one in which nothing has happened`() {
        var rig = Rig()
        rig.append(Self.accepted(1, in: "shop"), Self.accepted(2, in: "club"), Self.accepted(3, in: "club"))
        rig.pass(10_000)
        #expect(rig.history(of: "shop").messages == [1, 0])
        #expect(rig.history(of: "club").messages == [2, 0])
        #expect(rig.history(of: "quiet").messages == [0, 0])
        #expect(rig.history(of: "quiet").since == Self.begun)
    }

    @Test func `begins at one time for whoever asks, unless the clock is set`() {
        var rig = Rig()
        rig.append(Self.accepted(1))
        // The wall clock was read a moment later than the other.
        rig.now.wall += 999
        #expect(rig.history().since == Self.begun)
        #expect(rig.history().from == Self.begun)
        rig.now.wall += 3_600_000
        #expect(rig.history().since == Self.begun + 3_600_999)
    }

    /// The process that comes next: its monotonic clock begins anew.
    private static func next(_ rig: Rig, after pause: Int64) -> Rig {
        var next = Rig()
        next.now = Now(monotonic: 70, wall: rig.now.wall + pause)
        next.buffer = ReportBuffer(epoch: 8, begun: next.now)
        next.buffer.restore(rig.buffer.appHistories.mapValues(\.saved), at: next.now)
        return next
    }

    @Test func `goes on after a restart, with nobody connected meanwhile`() {
        var rig = Rig()
        rig.append(Self.accepted(1), Self.ended(1, .muted), .device(Self.bob, .connected))
        rig.pass(10_000)
        rig.append(Self.accepted(2), Self.ended(2, .settled(.shown)))
        rig.pass(10_000)
        rig.append(Self.accepted(3))
        var again = Self.next(rig, after: 20_000)
        again.append(Self.accepted(4))
        let history = again.history()
        #expect(history.since == Self.begun)
        #expect(history.from == Self.begun)
        #expect(history.messages == [1, 1, 1, 0, 1])
        #expect(history.connections == [1, 1, 0, 0, 0])
        #expect(history.ends.map(\.name).sorted() == ["muted", "settled"])
        #expect(history.delivered.map(\.count) == [0, 1, 0, 0, 0])
    }

    @Test func `goes on also when the ring is full`() {
        var rig = Rig()
        rig.append(Self.accepted(1))
        rig.pass(400 * 10_000)
        rig.append(Self.accepted(2))
        var again = Self.next(rig, after: 10_000)
        #expect(again.history().from == Self.begun + 42 * 10_000)
        #expect(again.history().messages == Array(repeating: 0, count: 358) + [1, 0])
    }

    @Test func `is saved no further once nothing is in it`() {
        var rig = Rig()
        rig.append(Self.accepted(1))
        rig.pass(400 * 10_000)
        rig.buffer.setQueues([:], at: rig.now)
        #expect(Self.next(rig, after: 10_000).buffer.appHistories.isEmpty)
    }

    @Test(arguments: [3_600_000, -20_000, -1_900_000_000_000] as [Int64])
    func `begins anew if the other one ended an hour ago or is yet to come`(pause: Int64) {
        var rig = Rig()
        rig.append(Self.accepted(1))
        rig.pass(10_000)
        rig.append(Self.accepted(2))
        var again = Self.next(rig, after: pause)
        #expect(again.history().messages == [0])
        #expect(again.history().since == again.now.wall)
    }

    static let full = [UInt32](repeating: 1, count: AppHistory.Column.allCases.count + LegEnd.names.count)

    @Test(
        arguments: [
            .init(begunAt: .min, step: 0, steps: [full]), .init(begunAt: begun, step: .max, steps: [full]),
            .init(begunAt: begun, step: -1, steps: [full]), .init(begunAt: begun, step: 0, steps: []),
            .init(begunAt: begun, step: 0, steps: [[], full]), .init(begunAt: begun, step: 0, steps: [[1]]),
            .init(begunAt: begun - 4_000_000, step: 400, steps: Array(repeating: full, count: 361)),
        ] as [AppHistory.Saved])
    func `takes nothing up that is damaged`(saved: AppHistory.Saved) {
        let now = Now(monotonic: 0, wall: Self.begun + 9_999)
        #expect(AppHistory(saved, at: now) == nil)
        #expect(AppHistory(.init(begunAt: Self.begun, step: 0, steps: [Self.full]), at: now) != nil)
    }

    @Test func `is kept of so many apps, and the one used longest ago gives way`() {
        var rig = Rig(historiesMax: 2)
        rig.append(Self.accepted(1, in: "a"))
        rig.pass(10_000)
        rig.append(Self.accepted(2, in: "b"))
        rig.pass(10_000)
        rig.append(Self.accepted(3, in: "c"))
        #expect(rig.history(of: "b").messages == [0, 1, 0])
        #expect(rig.history(of: "c").messages == [0, 0, 1])
        // What it had told is gone, and it says from when on it tells.
        #expect(rig.history(of: "a").since == Self.begun + 20_000)
        #expect(rig.history(of: "a").messages == [0])
        rig.append(Self.accepted(4, in: "a"))
        #expect(rig.history(of: "a").messages == [1])
        #expect(rig.buffer.statistics(of: "a").messages == 2)
    }
}

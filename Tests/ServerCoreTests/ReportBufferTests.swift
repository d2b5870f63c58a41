import ServerCore
import Testing
import TidingsModel

@Suite struct `The reports that are kept` {
    private static let all = Set(ServerReport.Kind.allCases)

    private struct Rig {
        var buffer: ReportBuffer
        var now = Now(monotonic: 1_000, wall: 1_800_000_000_000)

        init(countMax: Int = ReportBuffer.countMax) { self.buffer = ReportBuffer(epoch: 7, countMax: countMax) }

        /// Connections of a device, by its name.
        mutating func append(_ devices: DeviceID..., of app: AppID = "shop") {
            self.buffer.append(
                devices.map { .device(DeviceKey(user: UserKey(app: app, user: "bob"), device: $0), .connected) },
                at: self.now)
        }

        mutating func pass(_ milliseconds: Int64) {
            self.now.monotonic += milliseconds
            self.now.wall += milliseconds
        }

        /// The numbers and devices of a page; nil if something is lost.
        mutating func read(
            _ cursor: inout ReportBuffer.Cursor, _ kinds: Set<ServerReport.Kind> = all
        ) -> [String]? {
            guard case .entries(let entries) = self.buffer.page(after: &cursor, of: kinds, at: self.now) else {
                return nil
            }
            return entries.map { entry in
                guard case .device(let device, _) = entry.report else { return "\(entry.id) \(entry.report.kind)" }
                return "\(entry.id) \(device.device)"
            }
        }

        /// After an id; nil for a reset.
        mutating func resume(_ number: UInt64, epoch: UInt64 = 7, of app: AppID = "shop") -> [String]? {
            let id = ReportID(epoch: epoch, number: number)
            guard var cursor = self.buffer.cursor(after: id, of: app, at: self.now) else { return nil }
            return self.read(&cursor)
        }
    }

    @Test func `are read from where somebody came, each once, in order`() {
        var rig = Rig()
        rig.append("a")
        var cursor = rig.buffer.start(of: "shop")
        #expect(rig.read(&cursor) == [])
        rig.append("b", "c")
        #expect(rig.buffer.hasMore(after: cursor))
        #expect(rig.read(&cursor) == ["7-2 b", "7-3 c"])
        #expect(!rig.buffer.hasMore(after: cursor))
        #expect(rig.read(&cursor) == [])
        #expect(rig.buffer.id(of: cursor) == ReportID(epoch: 7, number: 3))
    }

    @Test func `are read on after the id of the last one`() {
        var rig = Rig()
        rig.append("a", "b", "c")
        #expect(rig.resume(1) == ["7-2 b", "7-3 c"])
        #expect(rig.resume(3) == [])
        #expect(rig.resume(0) == ["7-1 a", "7-2 b", "7-3 c"])
    }

    @Test func `are not read on after what is not known`() {
        var rig = Rig()
        rig.append("a")
        #expect(rig.resume(2) == nil)
        #expect(rig.resume(1, epoch: 6) == nil)
        #expect(rig.resume(0, of: "other") == nil)
    }

    @Test func `are numbered for each app by itself, and read by nobody else`() {
        var rig = Rig()
        var mine = rig.buffer.start(of: "shop")
        var theirs = rig.buffer.start(of: "other")
        rig.append("a")
        rig.append("x", "y", of: "other")
        rig.append("b")
        #expect(rig.read(&mine) == ["7-1 a", "7-2 b"])
        #expect(rig.read(&theirs) == ["7-1 x", "7-2 y"])
        #expect(rig.resume(1, of: "other") == ["7-2 y"])
    }

    @Test func `are everybody's where they are the server's`() {
        var rig = Rig()
        var mine = rig.buffer.start(of: "shop")
        rig.append("x", of: "other")
        rig.buffer.append([.storage(isFull: true, free: 5)], at: rig.now)
        #expect(rig.read(&mine) == ["7-1 storage"])
        #expect(rig.resume(1, of: "other") == ["7-2 storage"])
    }

    @Test func `count also where they are of a kind that is not asked for`() {
        var rig = Rig()
        var cursor = rig.buffer.start(of: "shop")
        rig.append("a")
        rig.buffer.append([.storage(isFull: true, free: 5)], at: rig.now)
        rig.append("b")
        #expect(rig.read(&cursor, [.storage]) == ["7-2 storage"])
        #expect(rig.buffer.id(of: cursor).number == 3)
        #expect(rig.read(&cursor, [.storage]) == [])
    }

    @Test func `are kept for ten minutes and no longer`() {
        var rig = Rig()
        rig.append("a")
        rig.pass(1)
        rig.append("b")
        rig.pass(ReportBuffer.lifetime - 1)
        #expect(rig.resume(0) == ["7-1 a", "7-2 b"])
        rig.pass(1)
        #expect(rig.resume(0) == nil)
        #expect(rig.resume(1) == ["7-2 b"])
        rig.pass(600_000)
        // Nothing is lost to who has read the last one.
        #expect(rig.resume(1) == nil)
        #expect(rig.resume(2) == [])
    }

    @Test func `are so many at most, all apps' together`() {
        var rig = Rig(countMax: 3)
        rig.append("a", "b")
        rig.append("x", "y", of: "other")
        #expect(rig.resume(0) == nil)
        #expect(rig.resume(1) == ["7-2 b"])
        #expect(rig.resume(0, of: "other") == ["7-1 x", "7-2 y"])
    }

    @Test func `are lost to a reader who is too slow, and go on from then`() {
        var rig = Rig(countMax: 3)
        var cursor = rig.buffer.start(of: "shop")
        rig.append("a", "b", "c", "d")
        #expect(rig.read(&cursor) == nil)
        #expect(rig.buffer.id(of: cursor) == ReportID(epoch: 7, number: 4))
        rig.append("e")
        #expect(rig.read(&cursor) == ["7-5 e"])
        // Also when nothing is left at all.
        rig.append("f")
        rig.pass(700_000)
        #expect(rig.read(&cursor) == nil)
    }

    @Test func `of others do no harm to who is slow`() {
        var rig = Rig(countMax: 3)
        var cursor = rig.buffer.start(of: "shop")
        rig.append("v", "w", "x", "y", of: "other")
        rig.append("a")
        #expect(rig.read(&cursor) == ["7-1 a"])
    }

    @Test func `come in pages`() {
        var rig = Rig()
        var cursor = rig.buffer.start(of: "shop")
        for number in 0..<(2 * ReportBuffer.pageMax + 1) { rig.append(DeviceID("d\(number)")) }
        let first = rig.read(&cursor)
        #expect(first?.count == ReportBuffer.pageMax)
        #expect(rig.buffer.hasMore(after: cursor))
        let second = rig.read(&cursor)
        #expect(second?.first == "7-\(ReportBuffer.pageMax + 1) d\(ReportBuffer.pageMax)")
        #expect(rig.read(&cursor) == ["7-\(2 * ReportBuffer.pageMax + 1) d\(2 * ReportBuffer.pageMax)"])
    }

    @Test(arguments: ["", "7", "7-", "-7", "7-x", "7-1-2", "7--1", "18446744073709551616-1", " 7-1"])
    func `have ids that are a number, a hyphen and a number`(text: String) {
        #expect(ReportID(text) == nil)
        #expect(ReportID("7-12") == ReportID(epoch: 7, number: 12))
        #expect("\(ReportID(epoch: 7, number: 12))" == "7-12")
    }
}

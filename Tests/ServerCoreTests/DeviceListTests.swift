import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A person's devices` {
    private static let bob = UserKey(app: ServerBench.app, user: "bob")
    private static let list = ServerEvent.api(APIRequestID(7), .devices(bob))
    private static let signOutAll = ServerEvent.api(APIRequestID(8), .signOutAll(bob))

    @Test func `are told with where they are and what is known of their token`() {
        var bench = ServerBench()
        let phone = bench.connectWithToken("bob")
        bench.goneDevice("bob", "tablet")
        bench.run(Self.list)
        guard case .devices(let devices)? = bench.replies.last else {
            Issue.record("no devices")
            return
        }
        #expect(devices.map(\.id) == ["phone", "tablet"])
        #expect(devices.map(\.presence) == [.foreground, .away])
        #expect(devices.map(\.platform) == ["ios", "ios"])
        #expect(devices[0].push.registration == ServerBench.registration("bob"))
        bench.run(.frame(phone, .runState(.background(remainingMilliseconds: 30_000))))
        bench.run(Self.list)
        guard case .devices(let later)? = bench.replies.last else {
            Issue.record("no devices")
            return
        }
        #expect(later.map(\.presence) == [.background, .away])
    }

    /// What a backend is told of one of the devices.
    private static func listed(_ bench: inout ServerBench, _ device: DeviceID = "phone") -> DeviceInfo? {
        bench.run(Self.list)
        guard case .devices(let devices)? = bench.replies.last else { return nil }
        return devices.first { $0.id == device }
    }

    private struct Contact: Equatable {
        var lease: Lease?
        /// Wall milliseconds, as `seen`.
        var until: Int64?
        var seen: Int64?

        init(_ lease: Lease?, until: Int64? = nil, seen: Int64? = nil) {
            self.lease = lease
            self.until = until
            self.seen = seen
        }

        init(_ device: DeviceInfo?) { self.init(device?.lease, until: device?.leaseUntil, seen: device?.lastSeenAt) }
    }

    @Test func `are told with what the server believes of them, how long it holds, and when they were last heard`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        #expect(Contact(Self.listed(&bench)) == Contact(.foreground))
        bench.pass(1_000)
        bench.run(.frame(phone, .runState(.background(remainingMilliseconds: 30_000))))
        let background = bench.now
        bench.pass(10_000)
        let lease = Lease.background(until: background.monotonic + 30_000)
        #expect(Contact(Self.listed(&bench)) == Contact(lease, until: background.wall + 30_000))
        bench.run(.frame(phone, .runState(.foreground)))
        let heard = bench.now.wall
        bench.pass(2_000)
        bench.run(.disconnected(phone))
        let grace = Lease.grace(until: bench.now.monotonic + ServerBench.plain.graceTime)
        let until = bench.now.wall + ServerBench.plain.graceTime
        bench.pass(1_000)
        #expect(Contact(Self.listed(&bench)) == Contact(grace, until: until, seen: heard))
        bench.pass(ServerBench.plain.graceTime)
        #expect(Contact(Self.listed(&bench)) == Contact(.gone, seen: heard))
    }

    @Test func `were last seen, as far as a server knows that has just started, when they connected or reported`() {
        var bench = ServerBench()
        let connected = bench.now.wall
        let phone = bench.connect("bob").session
        bench.pass(20_000)
        bench.run(.frame(phone, .runState(.foreground)))
        bench.crash()
        let until = bench.now.wall + ServerBench.plain.restartGraceTime
        let lease = Lease.returning(until: bench.now.monotonic + ServerBench.plain.restartGraceTime)
        #expect(Contact(Self.listed(&bench)) == Contact(lease, until: until, seen: connected))
        let again = bench.connect("bob").session
        bench.pass(20_000)
        bench.run(.frame(again, .deviceStatus(Self.allowed)))
        let reported = bench.now.wall
        bench.pass(20_000)
        bench.run(.frame(again, .runState(.foreground)))
        bench.crash()
        #expect(Self.listed(&bench)?.lastSeenAt == reported)
    }

    @Test func `are told with the badge of the last push that APNs took, until the app is back`() {
        var bench = ServerBench.gone()
        #expect(Self.listed(&bench)?.badge == nil)
        bench.say(to: .direct("bob"))
        // APNs has not answered yet.
        #expect(Self.listed(&bench)?.badge == nil)
        bench.acceptPush()
        #expect(Self.listed(&bench)?.badge == 1)
        bench.say("again", to: .direct("bob"))
        bench.acceptPush()
        #expect(Self.listed(&bench)?.badge == 2)
        // The other device was told nothing.
        bench.goneDevice("bob", "tablet")
        #expect(Self.listed(&bench, "tablet")?.badge == nil)
        bench.connect("bob")
        #expect(Self.listed(&bench)?.badge == nil)
    }

    private static let allowed = DeviceStatus(
        authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true, notificationCenter: true,
        backgroundRefresh: .available)

    /// What the phone said is allowed there, by the answer to the question for all devices; nil if it is told of no device.
    private static func told(_ bench: inout ServerBench) -> [ReportedStatus?]? {
        bench.run(Self.list)
        guard case .devices(let devices)? = bench.replies.last else { return nil }
        return devices.map(\.reported)
    }

    @Test func `are told with what the person allows there, also long after they have gone`() throws {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        #expect(Self.told(&bench) == [nil])
        bench.run(.frame(phone, .registerPush(ServerBench.registration("bob"))))
        bench.run(.frame(phone, .deviceStatus(Self.allowed)))
        bench.pass(5_000)
        let denied = Self.allowed.denied
        bench.run(.frame(phone, .deviceStatus(denied)))
        let status = ReportedStatus(denied, at: bench.now.wall, offSince: bench.now.wall)
        #expect(Self.told(&bench) == [status])
        bench.run(.frame(phone, .runState(.suspending)))
        bench.run(.disconnected(phone))
        // Long enough for the server to have put the person aside.
        bench.pass(600_000)
        #expect(bench.run(Self.list).first == "store load bob")
        #expect(Self.told(&bench) == [status])
        // A trace tells it of the devices with a leg, and is otherwise as without it.
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.run(.api(APIRequestID(9), .trace(ServerBench.app, bench.messages[0])))
        guard case .trace(let trace?)? = bench.replies.last else {
            Issue.record("no trace")
            return
        }
        #expect(trace.reports == [DeviceReport(device: ServerBench.device("bob"), reported: status)])
        // Whoever signs in there again has said nothing yet.
        bench.run(Self.signOutAll)
        bench.connect("bob")
        #expect(Self.told(&bench) == [nil])
    }

    @Test func `are told to the store when they say something new, and not each time they say something`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        let denied = Self.allowed.denied
        let report = { (status: DeviceStatus) in ServerEvent.frame(phone, .deviceStatus(status)) }
        #expect(bench.run(report(Self.allowed)) == ["store status of bob/phone is authorized"])
        bench.pass(20_000)
        #expect(bench.run(report(Self.allowed)) == [])
        #expect(bench.run(report(denied)) == ["store status of bob/phone is denied"])
        for _ in 0..<3 {
            #expect(bench.run(report(Self.allowed)) == [])
            #expect(bench.run(report(denied)) == [])
        }
        #expect(Self.told(&bench)?.first??.offSince == bench.now.wall)
    }

    @Test func `are told since when notifications are off there, whatever else they say meanwhile`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        bench.run(.frame(phone, .deviceStatus(Self.allowed)))
        bench.pass(20_000)
        var denied = Self.allowed.denied
        bench.run(.frame(phone, .deviceStatus(denied)))
        let since = bench.now.wall
        bench.pass(20_000)
        denied.timeZone = "Asia/Shanghai"
        bench.run(.frame(phone, .deviceStatus(denied)))
        #expect(Self.told(&bench) == [ReportedStatus(denied, at: bench.now.wall, offSince: since)])
        bench.pass(20_000)
        bench.run(.frame(phone, .deviceStatus(Self.allowed)))
        #expect(Self.told(&bench) == [ReportedStatus(Self.allowed, at: bench.now.wall)])
    }

    @Test func `are none for somebody nobody knows`() {
        var bench = ServerBench()
        #expect(bench.run(Self.list) == ["store load bob", "reply 0 devices"])
        #expect(bench.run(Self.signOutAll) == ["reply done"])
    }

    @Test func `are all signed out at once, with what is under way to them, before the answer`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.goneDevice("bob", "tablet")
        bench.say(to: .direct("bob"))
        #expect(
            bench.run(Self.signOutAll) == [
                "store sign out bob/phone", "store sign out bob/tablet", "count signed_out",
                "s1 ← fatal invalid_token", "close s1", "count signed_out", "reply done",
            ])
        #expect(bench.run(Self.list) == ["reply 0 devices"])
        #expect(bench.say(to: .direct("bob")).contains("count no_device"))
    }
}

extension DeviceStatus {
    /// The person has turned notifications off since.
    fileprivate var denied: DeviceStatus {
        var status = self
        (status.authorization, status.alert, status.sound) = (.denied, false, false)
        return status
    }
}

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
        let phone = bench.connect("bob").session
        bench.run(.frame(phone, .registerPush(ServerBench.registration("bob"))))
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

    private static let allowed = DeviceStatus(
        authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true, notificationCenter: true,
        backgroundRefresh: .available)

    /// What the phone said is allowed there, by the answer to the question for all devices; nil if it is told of no device.
    private static func told(_ bench: inout ServerBench) -> [ToldStatus?]? {
        bench.run(Self.list)
        guard case .devices(let devices)? = bench.replies.last else { return nil }
        return devices.map(\.status)
    }

    @Test func `are told with what the person allows there, also long after they have gone`() throws {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        #expect(Self.told(&bench) == [nil])
        bench.run(.frame(phone, .registerPush(ServerBench.registration("bob"))))
        bench.run(.frame(phone, .deviceStatus(Self.allowed)))
        bench.pass(5_000)
        var denied = Self.allowed
        (denied.authorization, denied.alert, denied.sound) = (.denied, false, false)
        bench.run(.frame(phone, .deviceStatus(denied)))
        let status = ToldStatus(device: ServerBench.device("bob"), status: denied, at: bench.now.wall)
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
        guard case .trace(_, let statuses)? = bench.replies.last else {
            Issue.record("no trace")
            return
        }
        #expect(statuses == [status])
        // Whoever signs in there again has said nothing yet.
        bench.run(Self.signOutAll)
        bench.connect("bob")
        #expect(Self.told(&bench) == [nil])
    }

    @Test func `are remembered in a bounded number, those that said something last`() {
        var statuses = ToldStatuses()
        func device(_ number: Int) -> DeviceKey { ServerBench.device("bob", DeviceID("phone-\(number)")) }
        for number in 0..<3 * ToldStatuses.keptMin { statuses.record(Self.allowed, of: device(number), at: 1) }
        let kept = (0..<3 * ToldStatuses.keptMin).filter { statuses[device($0)] != nil }
        #expect(kept.count >= ToldStatuses.keptMin)
        #expect(kept.count < 2 * ToldStatuses.keptMin)
        #expect(kept.last == 3 * ToldStatuses.keptMin - 1)
        #expect(kept.first.map { kept.count == 3 * ToldStatuses.keptMin - $0 } == true)
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
                "count signed_out", "store sign out bob/phone", "count signed_out", "store sign out bob/tablet",
                "s1 ← fatal invalid_token", "close s1", "reply done",
            ])
        #expect(bench.run(Self.list) == ["reply 0 devices"])
        #expect(bench.say(to: .direct("bob")).contains("count no_device"))
    }
}

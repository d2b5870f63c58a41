import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A person's devices` {
    private static let bob = UserKey(app: ServerBench.app, user: "bob")
    private static let list = ServerEvent.api(ApiRequestID(7), .devices(bob))
    private static let signOutAll = ServerEvent.api(ApiRequestID(8), .signOutAll(bob))

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

import APNsModel
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `Somebody's own devices` {
    private static let status = DeviceStatus(
        authorization: .authorized, alert: true, sound: true, badge: true, lockScreen: true, notificationCenter: true,
        backgroundRefresh: .available, appVersion: "2.0", systemVersion: "26.1", model: "iPhone16,1")

    /// What a person is answered on a connection; nil for a refusal.
    private static func devices(
        _ bench: inout ServerBench, _ session: SessionID, _ number: RequestNumber
    ) -> [OwnDevice]? {
        bench.ask(session, number, .devices)
        guard case .answer(number, .devices(let devices))? = bench.frames.last else { return nil }
        return devices
    }

    @Test func `are told with what is known of each, and which one asks`() {
        var bench = ServerBench()
        bench.goneDevice("bob", "tablet")
        let left = bench.now.wall
        bench.pass(5_000)
        let phone = bench.connectWithToken("bob")
        bench.run(.frame(phone, .deviceStatus(Self.status)))
        bench.connect("alice", "watch")
        let wanted = [
            OwnDevice(
                id: "phone", platform: "ios", isCurrent: true, lastSeenAt: nil, connectedAt: bench.now.wall,
                push: .registered, appVersion: "2.0", systemVersion: "26.1", model: "iPhone16,1"),
            OwnDevice(
                id: "tablet", platform: "ios", isCurrent: false, lastSeenAt: left, connectedAt: left, push: .registered),
        ]
        #expect(Self.devices(&bench, phone, 1) == wanted)
        let tablet = bench.connect("bob", "tablet").session
        #expect(Self.devices(&bench, tablet, 1)?.map(\.isCurrent) == [false, true])
        #expect(Self.devices(&bench, tablet, 2)?.map(\.lastSeenAt) == [nil, nil])
    }

    @Test(arguments: [
        (
            PushState.quarantined(ServerBench.registration("bob"), at: 5, reason: "BadTopic"),
            OwnDevice.PushStatus.quarantined
        ),
        (.dead(timestamp: 5), .dead), (.none, .none),
    ])
    func `are told with what APNs has said of their token`(state: PushState, push: OwnDevice.PushStatus) {
        let record = DeviceRecord(
            key: ServerBench.device("bob"), platform: "ios", push: state, settled: 0, decided: 0, since: 0,
            signedInAt: 7, isSignedOut: false)
        let device = OwnDevice(Device(record: record), isCurrent: false, Now(monotonic: 9, wall: 9))
        #expect(device.push == push)
        #expect(device.lastSeenAt == 7)
    }

    @Test func `are signed out with what is under way to them, and told why`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        bench.connect("bob", "tablet")
        bench.goneDevice("bob", "watch")
        bench.say(to: .direct("bob"))
        let pushes = bench.pushes.count
        #expect(
            bench.ask(phone, 1, .signOutDevice("tablet")) == [
                "store sign out bob/tablet", "count signed_out", "s2 ← fatal kicked", "close s2",
                "s1 ← answer 1 done(0)",
            ])
        #expect(
            bench.frames.contains(
                .problem(
                    .init(code: .kicked, field: "device", rule: "was signed out: by the person, on another device"),
                    isFatal: true)))
        #expect(bench.ask(phone, 2, .signOutDevice("watch")).outside.last == "s1 ← answer 2 done(0)")
        #expect(Self.devices(&bench, phone, 3)?.map(\.id) == ["phone"])
        // Neither gets anything any more: no push, no leg.
        bench.say("again", to: .direct("bob"))
        #expect(bench.pushes.count == pushes)
        #expect(
            bench.store.dump().messages.map { $0.ended.map(\.end) }.allSatisfy { ends in
                ends.allSatisfy { $0 == .signedOut || $0 == .noDevice }
            })
    }

    @Test func `stay signed in, with what is under way to them, where the store cannot sign them out`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        bench.goneDevice("bob", "tablet")
        bench.isStoreHeld = true
        bench.say(to: .direct("bob"))
        bench.isSignOutUnreadable = true
        bench.run(.frame(phone, .request(1, .signOutDevice("tablet"))))
        bench.releaseStore()
        #expect(bench.frames.contains(.answer(1, .refused(ServerCore.unavailable))))
        bench.isSignOutUnreadable = false
        let again = bench.connect("bob").session
        #expect(Self.devices(&bench, again, 2)?.map(\.id) == ["phone", "tablet"])
        // What was forgotten with the sign-out is under way again, and the next comes as well.
        bench.say("again", to: .direct("bob"))
        for _ in 0..<9 where !bench.pushes.isEmpty { bench.acceptPush() }
        let ends = bench.store.dump().messages.map { message in
            message.ended.filter { $0.leg.device == "tablet" }.map(\.end)
        }
        #expect(ends.count == 2)
        for end in ends { if case .accepted? = end.first { continue } else { Issue.record("\(end)") } }
        #expect(bench.ask(again, 3, .signOutDevice("tablet")).outside.last == "s3 ← answer 3 done(0)")
    }

    @Test func `are not signed out twice, and the one that asks has its own word for it`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        bench.connect("bob", "tablet")
        bench.connect("alice", "pad")
        let unknown = "refused(invalid_field: device must be a device of this person that is signed in)"
        #expect(bench.ask(phone, 1, .signOutDevice("pad")) == ["s1 ← answer 1 \(unknown)"])
        #expect(
            bench.ask(phone, 2, .signOutDevice("phone")) == [
                "s1 ← answer 2 refused(invalid_field: device must be another one: this one signs out by `signOut`)"
            ])
        bench.isStoreHeld = true
        #expect(bench.ask(phone, 3, .signOutDevice("tablet")) == ["store sign out bob/tablet"])
        #expect(bench.ask(phone, 4, .signOutDevice("tablet")) == ["s1 ← answer 4 \(unknown)"])
        // It is leaving: it is told of no more.
        #expect(Self.devices(&bench, phone, 5)?.map(\.id) == ["phone"])
        #expect(bench.releaseStore() == ["s2 ← fatal kicked", "close s2", "s1 ← answer 3 done(0)"])
    }

    @Test func `are no question of the backend's`() {
        var bench = ServerBench()
        for request in [ClientRequest.devices, .signOutDevice("phone")] {
            #expect(
                bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: "bob", request))) == [
                    "reply answer refused(not_allowed: request must come on a connection)"
                ])
        }
    }
}

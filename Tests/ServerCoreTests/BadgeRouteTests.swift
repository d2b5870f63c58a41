import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `A badge that fell, on a phone that a silent push may not reach,` {
    /// Bob's phone shows 2 and has said how its number can be set.
    static func bench(
        _ iconNumber: DeviceStatus.IconNumber, isOnlySender: Bool = false, alert: Bool = true
    ) -> ServerBench {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        if isOnlySender { settings.onlyPushSenders = [ServerBench.app] }
        var bench = ServerBench(settings: settings)
        let phone = bench.connectWithToken("bob")
        bench.run(.frame(phone, .deviceStatus(Self.status(iconNumber, alert: alert))))
        bench.run(.frame(phone, .runState(.suspending)))
        bench.run(.disconnected(phone))
        for sender in ["alice", "carol"] as [UserID] {
            bench.say(from: sender, to: .direct("bob"))
            bench.acceptPush()
        }
        bench.pass(60_000)
        return bench
    }

    /// On the tablet, which is gone again at once.
    static func read(_ conversation: String, upTo position: LogPosition, in bench: inout ServerBench) {
        let tablet = bench.connect("bob", "tablet", .background(remainingMilliseconds: 10_000)).session
        bench.run(.frame(tablet, .markRead(.direct(conversation), upTo: position)))
        bench.run(.frame(tablet, .runState(.suspending)))
        bench.run(.disconnected(tablet))
    }

    static func status(_ iconNumber: DeviceStatus.IconNumber, alert: Bool = true) -> DeviceStatus {
        DeviceStatus(
            authorization: .authorized, alert: alert, sound: true, badge: true, lockScreen: true,
            notificationCenter: true, backgroundRefresh: .available, iconNumber: iconNumber)
    }

    @Test func `is told by an alert that an extension reduces to the number, and that rings for nobody without one`()
        throws
    {
        var bench = Self.bench(.serviceExtension, isOnlySender: true)
        Self.read("alice", upTo: 2, in: &bench)
        bench.pass(10_000)
        let request = try #require(bench.pushes.last).request
        #expect(request.pushType == .alert)
        #expect(request.expiration == 0)
        #expect(request.priority == .powerAware)
        #expect(request.collapseID == "badge")
        // No `badge`: whoever sets the number compares it first. No `sound`.
        #expect(
            bench.payload?["aps"] == [
                "alert": ["body": "You have a notification"], "mutable-content": 1, "interruption-level": "passive",
            ])
        let info = try #require(bench.payload.flatMap { BadgeInfo(userInfo: $0) })
        #expect(info.badge == 1)
        #expect(info.badgePosition == 3)
        #expect(
            info.recipientTag == recipientTag(of: ServerBench.device("bob"), salt: ServerBench.plain.recipientTagSalt))
        #expect(bench.payload.flatMap { PushInfo(userInfo: $0) } == nil)
    }

    @Test func `is told by the number alone where nobody else pushes to the app`() throws {
        var bench = Self.bench(.kit, isOnlySender: true)
        Self.read("alice", upTo: 2, in: &bench)
        bench.pass(10_000)
        #expect(bench.pushes.last?.device == ServerBench.device("bob"))
        let request = try #require(bench.pushes.last).request
        #expect(request.pushType == .alert)
        #expect(request.expiration == 0)
        #expect(request.priority == .powerAware)
        #expect(bench.payload == ["aps": ["badge": 1]])
    }

    @Test(arguments: [
        (DeviceStatus.IconNumber.kit, false, true), (.app, true, true), (.serviceExtension, false, false),
    ])
    func `is told silently where neither is possible`(
        iconNumber: DeviceStatus.IconNumber, isOnlySender: Bool, alert: Bool
    ) throws {
        var bench = Self.bench(iconNumber, isOnlySender: isOnlySender, alert: alert)
        Self.read("alice", upTo: 2, in: &bench)
        bench.pass(10_000)
        #expect(try #require(bench.pushes.last).request.pushType == .background)
    }

    @Test(arguments: [DeviceStatus.IconNumber.serviceExtension, .kit])
    func `waits until a minute has passed since the last alert`(iconNumber: DeviceStatus.IconNumber) throws {
        var bench = Self.bench(iconNumber, isOnlySender: true)
        bench.say(from: "alice", to: .direct("bob"))
        Self.read("carol", upTo: 3, in: &bench)
        // The alert is under way: nothing else is sent.
        bench.pass(30_000)
        #expect(bench.pushes.count == 1)
        bench.acceptPush()
        bench.pass(59_999)
        #expect(bench.pushes.isEmpty)
        bench.pass(1)
        #expect(bench.pushes.count == 1)
        #expect(try #require(bench.pushes.last).request.collapseID == "badge")
    }

    /// Found by the World: whoever a push to an audience has brought into memory leaves it at once, and the alert may lie with APNs for longer.
    @Test func `waits for that minute though the server has let the person go`() throws {
        var bench = Self.bench(.kit, isOnlySender: true)
        bench.pass(60_000)
        bench.push(ServerBench.pushDraft())
        bench.acceptPush()
        bench.pass(2_000)
        #expect(bench.core.load(at: bench.now).people == 0)
        Self.read("alice", upTo: 2, in: &bench)
        bench.pass(57_000)
        #expect(bench.pushes.isEmpty)
        bench.pass(2_000)
        #expect(try #require(bench.pushes.last).request.collapseID == "badge")
    }

    @Test func `is told six times an hour at most by the number alone, and the last one is right`() {
        var bench = Self.bench(.kit, isOnlySender: true)
        var count = 0
        for round in 0..<9 {
            bench.say(from: "alice", to: .direct("bob"))
            bench.acceptPush()
            Self.read("alice", upTo: UInt64(3 + 2 * round), in: &bench)
            bench.pass(120_000)
            if !bench.pushes.isEmpty {
                count += 1
                bench.acceptPush()
            }
        }
        #expect(count == 6)
        bench.pass(3_600_000)
        #expect(bench.payload?["aps"]?["badge"]?.intValue == 1)
    }

    @Test func `is told as before after a crash, by what the device had reported`() throws {
        var bench = Self.bench(.serviceExtension)
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 3
        bench.pass(1_000)
        bench.crash(settings: settings)
        Self.read("alice", upTo: 2, in: &bench)
        bench.pass(90_000)
        // The hour that protects the budget of silent pushes is not waited for.
        #expect(try #require(bench.pushes.last).request.pushType == .alert)
    }
}

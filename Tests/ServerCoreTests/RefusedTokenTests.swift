import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

private let refused = APNsOutcome.refused(APNsRefusal(.badDeviceToken, status: 400))
private let burst = "alarm burst(reason: \"BadDeviceToken\")"
private let first = "alarm tokenRefused(reason: \"BadDeviceToken\")"

extension ServerBench {
    /// A device that is gone, and with whose token APNs has accepted a push: the person's first message.
    fileprivate mutating func workingDevice(_ user: UserID, _ device: DeviceID = "phone") {
        self.goneDevice(user, device)
        self.say(to: .direct(user.rawValue))
        self.acceptPush()
    }

    /// Whose pushes are with the APNs client.
    fileprivate var underWay: [String] { self.pushes.map { $0.request.token.rawValue } }

    /// APNs refuses the token of every push that is with it, and of those that follow.
    fileprivate mutating func refuseAll() -> [String] {
        var lines: [String] = []
        while !self.pushes.isEmpty { lines += self.answerPush(refused) }
        return lines
    }
}

@Suite struct `Made-up tokens` {
    /// The rule of refused tokens is to hold by itself.
    private static var manyDevices: ServerSettings {
        var settings = ServerBench.plain
        settings.devicesMax = 100
        return settings
    }

    /// Sixty devices of one person, with tokens nobody has issued, and one message to them.
    private static func attacked(_ bench: inout ServerBench) -> [String] {
        for number in 10...69 { bench.goneDevice("mallory", DeviceID("d\(number)")) }
        bench.say(to: .direct("mallory"))
        return bench.refuseAll()
    }

    @Test func `go into quarantine at their first refusal, and stop nobody`() {
        var bench = ServerBench(settings: Self.manyDevices)
        bench.workingDevice("bob")
        let lines = Self.attacked(&bench)
        #expect(lines.filter { $0.hasPrefix("store token") }.count == 60)
        #expect(
            lines.ends.count == 60 && lines.ends.allSatisfy { $0.hasSuffix("token_quarantined 400 BadDeviceToken") })
        #expect(lines.outside.allSatisfy { $0.hasPrefix("push m2 to mallory/") })
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m3", "push m3 to bob/phone badge 2@2"])
    }

    @Test func `stop nobody either where nothing has worked yet, and go into quarantine unasked when something has`() {
        var bench = ServerBench.gone(Self.manyDevices)
        let lines = Self.attacked(&bench)
        // It may be the lane's fault: they wait, each after one push.
        #expect(lines.filter { $0.hasPrefix("store keep") && $0.hasSuffix("breaker_open after 1") }.count == 60)
        #expect(lines.filter { $0.hasPrefix("store token") || $0.hasPrefix("alarm") } == [first])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "push m2 to bob/phone badge 1@1"])
        let worked = bench.acceptPush()
        #expect(
            worked.prefix(4) == [
                "alarm over", "store end m2 bob/phone accepted", "store token of bob/phone is accepted",
                "store cursor bob/phone decided 1",
            ])
        #expect(worked.outside == ["alarm over"])
        #expect(worked.ends.filter { $0.hasSuffix("token_quarantined 400 BadDeviceToken") }.count == 60)
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m3", "push m3 to bob/phone badge 2@2"])
        #expect(bench.pass(3_600_000).outside == [])
    }

    @Test func `are as many people's as one likes, and raise two alarms, as long as nothing has worked`() {
        var bench = ServerBench()
        let people = (1...8).map { UserID("user\($0)") }
        for person in people { bench.goneDevice(person) }
        for person in people { bench.say(to: .direct(person.rawValue)) }
        for number in 1...8 {
            #expect(
                bench.answerPush(refused) == (number == 1 ? [first] : number == 5 ? [burst] : []) + [
                    "store keep m\(number) user\(number)/phone breaker_open after 1",
                    "store cursor user\(number)/phone decided 1",
                ])
        }
        // Nobody else waits for it.
        bench.goneDevice("bob")
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m9", "push m9 to bob/phone badge 1@1"])
        #expect(bench.acceptPush().outside == ["alarm over"])
    }
}

@Suite struct `Tokens that APNs had accepted before` {
    private static let people = (1...5).map { UserID("user\($0)") }

    /// Five people whose tokens worked, and then are refused: the lane is stopped.
    private static func stopped(_ bench: inout ServerBench) -> [String] {
        for person in self.people { bench.workingDevice(person) }
        return Self.refuse(self.people, &bench)
    }

    private static func refuse(_ people: [UserID], _ bench: inout ServerBench) -> [String] {
        for person in people { bench.say(to: .direct(person.rawValue)) }
        return people.flatMap { _ in bench.answerPush(refused) }
    }

    @Test func `stop the lane when those of five people are refused, and none of them is lost`() {
        var bench = ServerBench()
        let lines = Self.stopped(&bench)
        #expect(lines.outside == [burst])
        #expect(lines.ends == [])
        #expect(lines.filter { $0.hasPrefix("store token") } == [])
        #expect(
            bench.say(to: .direct("user1")).filter { $0.hasPrefix("store keep") } == [
                "store keep m11 user1/phone breaker_open after 0"
            ])
    }

    @Test func `do not stop it when they are one person's, or one of them worked in between`() {
        var bench = ServerBench()
        let devices = (1...9).map { DeviceID("d\($0)") }
        for device in devices { bench.goneDevice("ann", device) }
        bench.say(to: .direct("ann"))
        for _ in devices { bench.acceptPush() }
        bench.say(to: .direct("ann"))
        #expect(devices.flatMap { _ in bench.answerPush(refused) }.outside == [])
        bench = ServerBench()
        for person in Self.people { bench.workingDevice(person) }
        #expect(Self.refuse(Array(Self.people.prefix(4)), &bench).outside == [])
        bench.workingDevice("ann")
        _ = bench.pushes.map { _ in bench.acceptPush() }
        #expect(Self.refuse(Array(Self.people.suffix(1)), &bench).outside == [])
    }

    @Test func `are at fault when the next push of the lane is accepted, and are not asked again`() {
        var bench = ServerBench()
        bench.workingDevice("ann")
        bench.workingDevice("bob")
        bench.say(to: .direct("ann"))
        #expect(
            bench.answerPush(refused) == [
                "store keep m3 ann/phone breaker_open after 1", "store cursor ann/phone decided 2",
            ])
        bench.say(to: .direct("bob"))
        #expect(
            bench.acceptPush() == [
                "store end m4 bob/phone accepted", "store cursor bob/phone decided 2",
                "store token of ann/phone is quarantined BadDeviceToken",
                "store end m3 ann/phone token_quarantined 400 BadDeviceToken",
            ])
    }

    @Test func `are asked once more where the lane had not worked since the start`() {
        var bench = ServerBench()
        bench.workingDevice("ann")
        bench.crash()
        bench.pass(20_000)
        bench.say(to: .direct("ann"))
        #expect(bench.answerPush(refused).outside == [first])
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.acceptPush().outside == ["alarm over", "push m2 to ann/phone badge 2@2"])
        #expect(bench.answerPush(refused).outside == [])
        #expect(bench.pass(86_000_000).outside == [])
    }

    @Test func `find out whether a stopped lane works, first one that was not refused, of somebody else`() {
        var bench = ServerBench()
        bench.workingDevice("zoe")
        _ = Self.stopped(&bench)
        // Who waits first has a token that never worked; whose token is known to be good comes last.
        bench.goneDevice("mallory")
        bench.say(to: .direct("mallory"))
        bench.say(to: .direct("user5"))
        bench.say(to: .direct("zoe"))
        #expect(bench.pass(5_000).outside == ["push m14 to zoe/phone badge 2@2"])
        #expect(bench.answerPush(refused).outside == [])
        // Then one that was not refused; those that stopped it are not asked.
        #expect(bench.pass(10_000).outside == ["push m12 to mallory/phone badge 1@1"])
        // The lane was at fault: all of them are asked once more.
        #expect(
            bench.acceptPush().outside == [
                "alarm over", "push m7 to user1/phone badge 2@2", "push m8 to user2/phone badge 2@2",
                "push m9 to user3/phone badge 2@2", "push m10 to user4/phone badge 2@2",
                "push m11 to user5/phone badge 3@3", "push m14 to zoe/phone badge 2@2",
            ])
    }

    @Test func `are no probes of the lane they have stopped: without another token it waits for one`() {
        var bench = ServerBench()
        _ = Self.stopped(&bench)
        #expect(bench.pass(80_000_000).outside == [])
        bench.goneDevice("new")
        #expect(bench.say(to: .direct("new")).outside == ["reply accepted m11", "push m11 to new/phone badge 1@1"])
        #expect(bench.acceptPush().outside.count == 6)
    }

    @Test func `are missing: then a token that never worked is asked, once, and makes nobody wait longer`() {
        var bench = ServerBench()
        _ = Self.stopped(&bench)
        // They open the app and read: nothing waits for them any more.
        for person in Self.people {
            let session = bench.connect(person, after: 2).session
            bench.run(.frame(session, .ack(.init(stored: 2, settled: [.init(upTo: 2, disposition: .shown)]))))
        }
        for person in ["eve", "mallory"] {
            bench.goneDevice(UserID(person))
            bench.say(to: .direct(person))
        }
        #expect(bench.pass(5_000).outside == ["push m11 to eve/phone badge 1@1"])
        #expect(bench.answerPush(refused).outside == [])
        #expect(bench.pass(5_000).outside == ["push m12 to mallory/phone badge 1@1"])
        #expect(bench.acceptPush().outside == ["alarm over", "push m11 to eve/phone badge 1@1"])
        #expect(bench.answerPush(refused).ends == ["store end m11 eve/phone token_quarantined 400 BadDeviceToken"])
    }

    @Test func `show that quarantines were the lane's fault, and these are taken back`() {
        var bench = ServerBench()
        for person in Self.people { bench.workingDevice(person) }
        bench.goneDevice("new")
        bench.say(to: .direct("new"))
        #expect(
            bench.answerPush(refused) == [
                "store token of new/phone is quarantined BadDeviceToken",
                "store end m6 new/phone token_quarantined 400 BadDeviceToken",
                "store cursor new/phone decided 1",
            ])
        let lines = Self.refuse(Self.people, &bench)
        #expect(lines.filter { $0.hasPrefix("store token") } == ["store token of new/phone is registered"])
        #expect(lines.outside == [burst])
        bench.say(to: .direct("new"))
        #expect(bench.pass(5_000).outside == ["push m12 to new/phone badge 2@2"])
        #expect(bench.acceptPush().outside.first == "alarm over")
    }

    @Test func `are known after a crash`() {
        var bench = ServerBench()
        for person in Self.people { bench.workingDevice(person) }
        bench.crash()
        bench.pass(20_000)
        #expect(Self.refuse(Self.people, &bench).outside == [first, burst])
    }

    @Test func `stay known when the device registers them again, and no longer when it registers another`() {
        var bench = ServerBench()
        bench.workingDevice("bob")
        let session = bench.connect("bob", after: 1).session
        #expect(
            bench.run(.frame(session, .registerPush(ServerBench.registration("bob"))))
                == ["store token of bob/phone is accepted"])
        #expect(
            bench.run(.frame(session, .registerPush(ServerBench.registration("bob", "other"))))
                == ["store token of bob/phone is registered"])
    }
}

@Suite struct `A lane` {
    @Test func `is nobody's alone: who has many devices has one turn like others`() {
        var settings = ServerBench.plain
        settings.pushesInFlightMax = 3
        settings.personPushesInFlightMax = 2
        var bench = ServerBench(settings: settings)
        for number in 1...5 { bench.goneDevice("mallory", DeviceID("d\(number)")) }
        for person in ["ann", "bob"] { bench.goneDevice(UserID(person)) }
        #expect(
            bench.say(to: .direct("mallory")).outside == [
                "reply accepted m1", "push m1 to mallory/d1 badge 1@1", "push m1 to mallory/d2 badge 1@1",
            ])
        #expect(bench.say(to: .direct("ann")).outside == ["reply accepted m2", "push m2 to ann/phone badge 1@1"])
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m3"])
        #expect(bench.acceptPush().outside == ["push m1 to mallory/d3 badge 1@1"])
        #expect(bench.acceptPush().outside == ["push m3 to bob/phone badge 1@1"])
        #expect(bench.acceptPush().outside == ["push m1 to mallory/d4 badge 1@1"])
    }

    @Test func `is left by a device that registers for another topic`() {
        var bench = ServerBench.pushing()
        bench.report(.paused(LaneOutage(.credential, reason: "TopicDisallowed")), topic: ServerBench.topic)
        bench.answerPush(.refused(APNsRefusal(.topicDisallowed, status: 400)))
        let session = bench.connect("bob", "phone", .background(remainingMilliseconds: 60_000)).session
        var registration = ServerBench.registration("bob")
        registration.topic = "com.example.other"
        bench.run(.frame(session, .registerPush(registration)))
        #expect(bench.run(.disconnected(session)).outside == ["push m1 to bob/phone badge 1@1"])
        #expect(bench.core.load(at: bench.now).lanes == 2)
        #expect(bench.core.load(at: bench.now).queued == 0)
    }

    @Test func `is forgotten when it works and nobody has used it for ten minutes`() {
        var bench = ServerBench()
        bench.workingDevice("bob")
        bench.pass(599_999)
        #expect(bench.core.load(at: bench.now).lanes == 1)
        bench.pass(600_001)
        #expect(bench.core.load(at: bench.now).lanes == 0)
    }

    @Test func `is none too many: an app without topics may have some, and what needs another one waits`() {
        var settings = ServerBench.plain
        settings.lanesMax = 2
        var bench = ServerBench(settings: settings)
        for number in 1...3 {
            let person = UserID("user\(number)")
            let session = bench.connect(person).session
            var registration = ServerBench.registration(person)
            registration.topic = "com.example.t\(number)"
            bench.run(.frame(session, .registerPush(registration)))
            bench.run(.frame(session, .runState(.suspending)))
            bench.run(.disconnected(session))
        }
        for number in 1...2 { #expect(bench.say(to: .direct("user\(number)")).outside.count == 2) }
        #expect(
            bench.say(to: .direct("user3")).filter { $0.hasPrefix("store keep") }
                == ["store keep m3 user3/phone config_fault after 0"])
        #expect(bench.core.load(at: bench.now).lanes == 2)
    }
}

@Suite struct `A registration for a topic` {
    private static func registering(_ topic: String) -> [String] {
        var settings = ServerBench.plain
        settings.pushTopics[ServerBench.app] = ["com.example.shop", "com.example.shop.beta"]
        var bench = ServerBench(settings: settings)
        let session = bench.connect("bob").session
        var registration = ServerBench.registration("bob")
        registration.topic = topic
        return bench.run(.frame(session, .registerPush(registration)))
    }

    @Test(
        .requirement("S2.4"),
        arguments: ["com.example.shop", "com.example.shop.beta"].flatMap { topic in
            APNsPushType.allCases.map { $0.topic(forBundle: topic) }
        })
    func `of the app's, or one that Apple derives from it, is taken`(topic: String) {
        #expect(Self.registering(topic) == ["store token of bob/phone is registered"])
    }

    @Test(
        .requirement("S2.4"),
        arguments: [
            "com.example.other", "com.example.shop.voip.voip", "com.example.shop.", "com.example.shopvoip",
            "com.example",
        ])
    func `of another app is refused, and nothing is changed`(topic: String) {
        #expect(Self.registering(topic) == ["count refused registration", "s1 ← problem invalid_field"])
    }

    @Test func `is answered under its number, when it is on disk or with the fault`() throws {
        var settings = ServerBench.plain
        settings.pushTopics[ServerBench.app] = [ServerBench.topic]
        var bench = ServerBench(settings: settings)
        let session = bench.connect("bob").session
        bench.isStoreHeld = true
        #expect(
            bench.run(.frame(session, .registerPush(ServerBench.registration("bob"), number: 7)))
                == ["store token of bob/phone is registered"])
        #expect(bench.releaseStore() == ["s1 ← answer 7 done(0)"])
        var other = ServerBench.registration("bob")
        other.topic = "com.example.other"
        #expect(bench.run(.frame(session, .registerPush(other, number: 8))).first == "count refused registration")
        let problem = ServerFrame.Problem(
            code: .invalidField, field: "push_registration.topic",
            rule: "must be a topic of the app (com.example.shop), or one with a suffix of Apple's")
        #expect(bench.frames.last == .answer(8, .refused(problem)))
        // What was registered before still is.
        bench.run(.frame(session, .runState(.suspending)))
        bench.run(.disconnected(session))
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "push m1 to bob/phone badge 1@1"])
        let again = bench.connect("bob", after: 1).session
        #expect(
            bench.run(.frame(again, .registerPush(nil, number: 1))) == [
                "store token of bob/phone is none", "s2 ← answer 1 done(0)",
            ])
    }

    @Test func `that the operator has taken off the list stays, and its pushes wait`() {
        var bench = ServerBench.gone()
        var settings = ServerBench.plain
        settings.pushTopics[ServerBench.app] = ["com.example.other"]
        bench.crash(settings: settings)
        bench.pass(20_000)
        #expect(
            bench.say(to: .direct("bob")).filter { !$0.hasPrefix("store load") && !$0.hasPrefix("store accept") }
                == [
                    "reply accepted m1", "store keep m1 bob/phone config_fault after 0",
                    "store cursor bob/phone decided 1",
                ])
        bench.crash()
        bench.pass(20_000)
        #expect(bench.pushes.count == 1)
    }
}

import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

@Suite struct `A token that APNs calls dead` {
    @Test func `is dropped when the time is newer than the registration, and later messages say so`() {
        var bench = ServerBench.gone()
        let registered = bench.now.wall
        bench.say(to: .direct("bob"))
        #expect(
            bench.answerPush(
                .refused(APNsRefusal(.unregistered, status: 410, invalidSince: .init(milliseconds: registered + 1))))
                == [
                    "store token of bob/phone is dead \(registered + 1)",
                    "store end m1 bob/phone token_dead \(registered + 1)", "store cursor bob/phone decided 1",
                ])
        #expect(bench.say(to: .direct("bob")).ends == ["store end m2 bob/phone token_dead \(registered + 1)"])
    }

    @Test func `is tried once more when the time is older than the registration, and rejected then`() {
        var bench = ServerBench.gone()
        let registered = bench.now.wall
        bench.say(to: .direct("bob"))
        let first = bench.pushes[0].request.apnsID
        let old = APNsOutcome.refused(
            APNsRefusal(.unregistered, status: 410, invalidSince: .init(milliseconds: registered)))
        #expect(bench.answerPush(old) == ["push m1 to bob/phone badge 1@1"])
        #expect(bench.pushes[0].request.apnsID != first)
        #expect(
            bench.answerPush(old) == [
                "store end m1 bob/phone rejected Unregistered", "store cursor bob/phone decided 1",
            ])
        // The token lives.
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "push m2 to bob/phone badge 2@2"])
    }

    @Test func `is not dropped when the device has registered again while the push was on its way`() {
        var bench = ServerBench.pushing()
        bench.pass(1_000)
        let between = bench.now.wall
        bench.pass(1_000)
        let (session, _) = bench.connect("bob", "phone", .background(remainingMilliseconds: 60_000))
        bench.run(.frame(session, .registerPush(ServerBench.registration("bob"))))
        #expect(
            bench.answerPush(
                .refused(APNsRefusal(.unregistered, status: 410, invalidSince: .init(milliseconds: between)))) == [])
        #expect(bench.run(.disconnected(session)).outside == ["push m1 to bob/phone badge 1@1"])
    }

    @Test func `is never dropped for a 410 without a time`() {
        var bench = ServerBench.pushing()
        let timeless = APNsOutcome.refused(APNsRefusal(.unregistered, status: 410))
        #expect(bench.answerPush(timeless) == ["push m1 to bob/phone badge 1@1"])
        #expect(bench.answerPush(timeless).ends == ["store end m1 bob/phone rejected Unregistered"])
    }
}

@Suite struct `A token that APNs refuses` {
    @Test(arguments: [APNsReason.badDeviceToken, .deviceTokenNotForTopic])
    func `is kept aside until the device registers again`(reason: APNsReason) {
        var bench = ServerBench()
        // The lane works.
        bench.goneDevice("carol")
        bench.say(to: .direct("carol"))
        bench.acceptPush()
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        bench.say(to: .direct("bob"))
        #expect(
            bench.answerPush(.refused(APNsRefusal(reason, status: 400))) == [
                "store token of bob/phone is quarantined \(reason.name)",
                "store end m2 bob/phone token_quarantined 400 \(reason.name)",
                "store end m3 bob/phone token_quarantined 400 \(reason.name)", "store cursor bob/phone decided 2",
            ])
        let session = bench.connect("bob", after: 2).session
        bench.run(.frame(session, .registerPush(ServerBench.registration("bob"))))
        bench.run(.frame(session, .runState(.suspending)))
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m4", "push m4 to bob/phone badge 3@3"])
    }

    @Test func `makes no burst when others work in between`() {
        var bench = ServerBench()
        bench.goneDevice("carol")
        bench.say(to: .direct("carol"))
        bench.acceptPush()
        for number in 1...12 {
            let person = UserID("user\(number)")
            bench.goneDevice(person)
            bench.say(to: .direct(person.rawValue))
            #expect(
                bench.answerPush(.refused(APNsRefusal(.badDeviceToken, status: 400))).ends.count == 1)
            bench.say(to: .direct("carol"))
            bench.acceptPush()
        }
    }
}

@Suite struct `A push that APNs does not take` {
    private static let credential = LaneOutage(.credential, reason: "InvalidProviderToken")
    private static let provider = LaneOutage(.provider, reason: "InternalServerError")

    @Test func `waits for an operator when the client says that the credential is refused, and goes when it says so`() {
        var bench = ServerBench.pushing()
        let refused = APNsOutcome.refused(APNsRefusal(.invalidProviderToken, status: 403))
        #expect(bench.report(.paused(Self.credential)) == ["alarm configFault(reason: \"InvalidProviderToken\")"])
        #expect(
            bench.answerPush(refused) == [
                "store keep m1 bob/phone config_fault after 1", "store cursor bob/phone decided 1",
            ])
        #expect(bench.say(to: .direct("bob")).filter { $0.hasPrefix("store keep") }.count == 1)
        #expect(bench.pass(1_800_000).outside == [])
        // It is the client that knows when to try.
        #expect(bench.report(.probeDue(Self.credential)) == ["push m1 to bob/phone badge 2@2"])
        #expect(bench.report(.paused(Self.credential)) == [])
        #expect(bench.answerPush(refused).outside == [])
        #expect(bench.report(.probeDue(Self.credential)) == ["push m1 to bob/phone badge 2@2"])
        #expect(bench.report(.paused(Self.credential)) == [])
        #expect(bench.report(.usable) == ["alarm over"])
        #expect(
            bench.acceptPush() == [
                "store end m1 bob/phone accepted", "store token of bob/phone is accepted",
                "push m2 to bob/phone badge 2@2",
            ])
    }

    @Test func `waits when there is no credential`() {
        var bench = ServerBench.pushing()
        #expect(
            bench.run(.credentialMissing(bench.pushes.removeFirst().id)) == [
                "alarm configFault(reason: \"NoCredential\")", "store keep m1 bob/phone config_fault after 0",
                "store cursor bob/phone decided 1",
            ])
        #expect(bench.pass(3_600_000).outside == [])
    }

    @Test func `waits for a credential alone, and other builds' pushes go`() {
        var bench = ServerBench.gone()
        let session = bench.connect("ann", "phone").session
        var other = ServerBench.registration("ann", "phone")
        other.environment = .sandbox
        bench.run(.frame(session, .registerPush(other)))
        bench.run(.frame(session, .runState(.suspending)))
        bench.run(.disconnected(session))
        bench.say(to: .direct("ann"))
        #expect(
            bench.run(.credentialMissing(bench.pushes.removeFirst().id)).contains(
                "store keep m1 ann/phone config_fault after 0"))
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2", "push m2 to bob/phone badge 1@1"])
        #expect(bench.say(to: .direct("ann")).contains("store keep m3 ann/phone config_fault after 0"))
    }

    @Test func `waits in the lane it is about, and the others go`() {
        var bench = ServerBench.gone()
        bench.report(.paused(LaneOutage(.credential, reason: "TopicDisallowed")), topic: "com.example.other")
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "push m1 to bob/phone badge 1@1"])
        bench.acceptPush()
        bench.report(.paused(LaneOutage(.credential, reason: "TopicDisallowed")), topic: ServerBench.topic)
        // All and the one: what holds it up most counts.
        #expect(bench.report(.probeDue(Self.provider)) == [])
        #expect(bench.say(to: .direct("bob")).contains("store keep m2 bob/phone config_fault after 0"))
        #expect(bench.report(.usable) == [])
        #expect(bench.report(.usable, topic: ServerBench.topic) == ["alarm over", "push m2 to bob/phone badge 2@2"])
    }

    @Test func `waits when the client was paused before anything was pushed, and goes when it is not`() {
        var bench = ServerBench.gone()
        #expect(bench.report(.paused(Self.provider)) == [])
        #expect(bench.say(to: .direct("bob")).contains("store keep m1 bob/phone provider_down after 0"))
        #expect(bench.report(.usable).outside.contains("push m1 to bob/phone badge 1@1"))
    }

    @Test func `is one alone while the client tries, and the next one when that has told nothing`() {
        var bench = ServerBench()
        for person in ["ann", "bob", "zoe"] { bench.goneDevice(UserID(person)) }
        bench.say(to: .direct("ann"))
        bench.acceptPush()
        bench.report(.paused(Self.provider))
        for person in ["ann", "bob", "zoe"] {
            #expect(bench.say(to: .direct(person)).contains { $0.hasSuffix("provider_down after 0") })
        }
        // The best probe is one whose token is known to be good.
        #expect(bench.report(.probeDue(Self.provider)) == ["push m2 to ann/phone badge 2@2"])
        #expect(bench.answerPush(.notSent("the queue is full")).outside == ["push m3 to bob/phone badge 1@1"])
        #expect(bench.report(.usable).outside == ["alarm over", "push m4 to zoe/phone badge 1@1"])
    }

    @Test func `raises an alarm that says what to look at`() {
        #expect(PushAlarm.configFault(reason: "ExpiredProviderToken").advice == "check the clock of this machine")
        #expect(
            PushAlarm.configFault(reason: "BadCertificateEnvironment").advice?.hasPrefix(
                "wrong certificate environment")
                == true)
        #expect(PushAlarm.configFault(reason: "NoCredential").advice == nil)
        #expect(PushAlarm.providerDown(reason: "ServiceUnavailable").advice == nil)
    }

    @Test func `is rejected at once when the request is wrong`() {
        var bench = ServerBench.pushing()
        #expect(
            bench.answerPush(.refused(APNsRefusal(.payloadTooLarge, status: 413))).ends == [
                "store end m1 bob/phone rejected PayloadTooLarge"
            ])
    }

    @Test func `is tried again with the same ids when its outcome is unknown`() {
        var bench = ServerBench.pushing()
        let first = bench.pushes[0].request
        #expect(
            bench.answerPush(.unknownOutcome("timed out")) == [
                "store keep m1 bob/phone provider_down after 0", "store cursor bob/phone decided 1",
            ])
        let lines = bench.pass(1_000)
        #expect(lines.outside == ["push m1 to bob/phone badge 1@1"])
        #expect(bench.pushes[0].request == first)
        #expect(APNsFormat.isCanonicalUUID((first.apnsID ?? "").utf8))
        #expect(first.collapseID == bench.messages[0].description)
    }

    @Test func `waits longer after each failure, for this token alone when APNs says too many requests`() {
        var bench = ServerBench.gone()
        bench.goneDevice("carol")
        bench.say(to: .direct("bob"))
        let throttled = APNsOutcome.refused(APNsRefusal(.tooManyRequests, status: 429))
        var waits: [Int64] = []
        for _ in 0..<6 {
            #expect(bench.answerPush(throttled).contains { $0.hasPrefix("store keep m1 bob/phone throttled") })
            let start = bench.now.monotonic
            while bench.pushes.isEmpty { bench.pass(100) }
            waits.append(bench.now.monotonic - start)
        }
        for (index, wait) in waits.enumerated() {
            let ceiling = Int64(1_000) << Int64(index)
            #expect(wait >= ceiling / 2 && wait <= ceiling + 100, "wait \(index): \(wait)")
        }
        #expect(bench.say(to: .direct("carol")).outside == ["reply accepted m2", "push m2 to carol/phone badge 1@1"])
    }

    @Test func `waits a minute at most when others go, and for the lane when the client has paused it`() {
        var bench = ServerBench.pushing()
        let down = APNsOutcome.refused(APNsRefusal(.internalServerError, status: 500))
        for _ in 0..<9 {
            bench.answerPush(down)
            let start = bench.now.monotonic
            while bench.pushes.isEmpty { bench.pass(100) }
            #expect(bench.now.monotonic - start <= 60_100)
        }
        #expect(bench.report(.paused(Self.provider)) == ["alarm providerDown(reason: \"InternalServerError\")"])
        bench.answerPush(down)
        #expect(bench.pass(600_000).outside == [])
        #expect(bench.report(.usable).outside == ["alarm over", "push m1 to bob/phone badge 1@1"])
    }

    @Test func `raises the alarm once for each cause of an outage, whatever the words are`() {
        var bench = ServerBench.pushing()
        #expect(bench.report(.paused(LaneOutage(.connection, reason: "timed out"))).count == 1)
        #expect(bench.report(.probeDue(LaneOutage(.connection, reason: "refused"))) == [])
        #expect(bench.report(.paused(Self.provider)) == ["alarm providerDown(reason: \"InternalServerError\")"])
        #expect(bench.report(.usable) == ["alarm over"])
    }

    @Test func `queues when the lane is full, in the order of arrival`() {
        var settings = ServerBench.plain
        settings.pushesInFlightMax = 2
        var bench = ServerBench(settings: settings)
        for number in 1...4 { bench.goneDevice(UserID("user\(number)")) }
        for number in 1...4 { bench.say(to: .direct("user\(number)")) }
        #expect(bench.pushes.count == 2)
        #expect(bench.acceptPush().outside == ["push m3 to user3/phone badge 1@1"])
        #expect(bench.acceptPush().outside == ["push m4 to user4/phone badge 1@1"])
    }
}

@Suite struct `The payload of a push` {
    @Test(.requirement("S0.8")) func `goes to the device's token, by the app's topic and environment`() {
        var bench = ServerBench.gone()
        bench.say("hello", to: .direct("bob"))
        let request = bench.pushes[0].request
        #expect(request.token == ServerBench.token("bob", "phone"))
        #expect(request.topic == ServerBench.topic)
        #expect(request.environment == .production)
    }

    @Test(.requirement("S0.14")) func `says nothing in its alert, and carries text, badge, thread, rc and tidings`()
        throws
    {
        var bench = ServerBench.gone()
        bench.say("hello", to: .direct("bob"))
        let request = bench.pushes[0].request
        try request.validate()
        let payload = try JSONValue(parsing: request.payload)
        let aps = try #require(payload["aps"])
        #expect(aps["alert"] == ["body": "You have a new message"])
        #expect(aps["badge"] == 1)
        #expect(aps["sound"] == "default")
        #expect(aps["mutable-content"] == 1)
        #expect(aps["category"] == .string(PushInfo.category))
        #expect(aps["thread-id"] == "PR:alice")
        let rc = try NotificationPayload(userInfo: payload)
        #expect([rc.targetID, rc.messageUID, rc.messageID] == ["alice", bench.messages[0].description, "1"])
        let info = try #require(PushInfo(userInfo: payload))
        #expect(info.recipientTag == recipientTag(of: ServerBench.device("bob"), salt: 0))
        #expect(info.position == 1)
        #expect(info.text == .init(body: "hello"))
        #expect(request.expiration == (bench.now.wall + 86_400_000) / 1_000)
    }

    @Test func `never exceeds 4,096 bytes`() throws {
        var bench = ServerBench.gone()
        bench.say(String(repeating: "long ", count: 6_000), to: .direct("bob"))
        #expect(bench.pushes[0].request.payload.count <= 4_096)
        let text = PushInfo(userInfo: try JSONValue(parsing: bench.pushes[0].request.payload))?.text?.body.plain
        #expect(text?.utf8.count == PushText.bytesMax && text?.hasSuffix("…") == true)
        try bench.pushes[0].request.validate()
    }

    @Test func `has an apns-id made from message, device and try alone`() {
        let leg = LegID(message: MessageID(rawValue: 42), user: ServerBench.key("bob"), device: "phone")
        let other = LegID(message: MessageID(rawValue: 42), user: ServerBench.key("bob"), device: "tablet")
        #expect(apnsID(of: leg, attempt: 0) != apnsID(of: leg, attempt: 1))
        #expect(apnsID(of: leg, attempt: 0) != apnsID(of: other, attempt: 0))
        #expect(APNsFormat.isCanonicalUUID(apnsID(of: leg, attempt: 0).utf8))
        // The same in every process: a resend after a crash must carry the same id.
        #expect(apnsID(of: leg, attempt: 0) == "ad3c3e18-83f6-85bb-9ff5-e739b5fd0016")
        #expect(recipientTag(of: ServerBench.device("bob"), salt: 1) == "d9e57db26bda6167")
    }
}

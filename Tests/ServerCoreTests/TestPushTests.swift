import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

private let id = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"

extension ServerBench {
    @discardableResult
    fileprivate mutating func test(
        _ user: UserID = "bob", _ device: DeviceID = "phone", id: String = id, title: String? = "Test",
        text: String = "Hello"
    ) -> [String] {
        self.run(
            .api(APIRequestID(1), .testPush(Self.device(user, device), TestPush(id: id, title: title, text: text))))
    }

    fileprivate var report: TestPushReport? {
        if case .testPush(let report)? = self.replies.last { report } else { nil }
    }

    fileprivate var failed: [PushVerdict.Test] { (self.report?.tests ?? []).filter { !$0.isPassed } }
}

@Suite struct `A test push` {
    @Test func `goes to the device's token at once, and is answered with what APNs says`() throws {
        var bench = ServerBench.gone()
        #expect(bench.test() == ["push ? to bob/phone badge -1@0"])
        let request = try #require(bench.pushes.first?.request)
        #expect(
            request
                == APNsRequest(
                    token: ServerBench.token("bob"), topic: ServerBench.topic, pushType: .alert, priority: .immediate,
                    expiration: 0, apnsID: id,
                    payload: Array(#"{"aps":{"alert":{"title":"Test","body":"Hello"},"sound":"default"}}"#.utf8),
                    environment: .production))
        #expect(
            bench.answerPush(.accepted(apnsID: id, uniqueID: nil)) == [
                "reply test accepted(apnsID: \"\(id)\", uniqueID: nil)"
            ])
        let report = try #require(bench.report)
        #expect(report.id == id)
        #expect(report.request == request)
        #expect(report.device.push.registration == ServerBench.registration("bob"))
        #expect(report.lease == .gone)
        #expect(
            report.lane
                == .init(
                    lane: PushLane(app: ServerBench.app, environment: .production, topic: ServerBench.topic),
                    hold: .none, outage: nil, waiting: 0, inFlight: 0))
        #expect(report.verdict == .send)
        #expect(report.tests.map(\.fact).count == 14)
        #expect(bench.failed == [])
        // It is no message.
        #expect(bench.unread(of: "bob") == 0)
    }

    @Test func `waits some seconds for APNs, and the answer that comes later is kept`() {
        var bench = ServerBench.gone()
        bench.test()
        #expect(bench.pass(4_999).outside == [])
        #expect(bench.pass(1).outside == ["reply test pushing"])
        #expect(bench.answerPush(.accepted(apnsID: id, uniqueID: nil)) == [])
    }

    @Test func `passes by quiet hours, and tells that a message would not`() {
        var bench = ServerBench()
        let always = QuietHours(start: 0, end: 0, timeZone: "UTC", manner: .drop)
        bench.settings["bob"] = AllSettings(person: PersonSettings(quietHours: always))
        bench.goneDevice("bob")
        bench.run(.timeZoneRead("UTC", TimeZoneFacts(offsets: [.init(from: 0, seconds: 0)], until: .max)))
        #expect(bench.test().count == 1)
        bench.acceptPush()
        #expect(bench.report?.verdict == .end(.quietHours))
        #expect(bench.failed == [.init(fact: "quiet_hours", verdict: .end(.quietHours))])
    }

    @Test func `passes by levels, and tells that a message would not`() {
        var bench = ServerBench()
        bench.settings["bob"] = AllSettings(person: PersonSettings(levels: [.direct: .blocked]))
        bench.goneDevice("bob")
        #expect(bench.test().count == 1)
        bench.acceptPush()
        #expect(bench.report?.verdict == .end(.muted))
        #expect(bench.failed == [.init(fact: "level", verdict: .end(.muted))])
    }

    @Test func `goes to a phone that is in front, and tells that a message would come live`() {
        var bench = ServerBench()
        _ = bench.connectWithToken("bob")
        #expect(bench.test().outside.count == 1)
        bench.acceptPush()
        #expect(bench.report?.lease == .foreground)
        #expect(bench.report?.verdict == .wait(.live))
        #expect(bench.failed == [.init(fact: "lease", verdict: .wait(.live))])
    }

    @Test func `of a device without a token is not sent, and told so`() {
        var bench = ServerBench()
        let session = bench.connect("bob").session
        bench.run(.frame(session, .runState(.suspending)))
        bench.run(.disconnected(session))
        #expect(bench.test() == ["reply test notSent(reason: \"no_token\")"])
        #expect(bench.report?.verdict == .end(.noToken))
        #expect(bench.report?.request == nil)
    }

    @Test func `to a token in quarantine is tried, and leaves it there`() {
        var bench = ServerBench()
        bench.goneDevice("alice")
        bench.goneDevice("bob")
        bench.say(from: "carol", to: .direct("alice"))
        bench.acceptPush()
        bench.say(to: .direct("bob"))
        bench.answerPush(.refused(APNsRefusal(.badDeviceToken, status: 400)))
        #expect(bench.test().count == 1)
        bench.acceptPush()
        #expect(bench.report?.verdict == .end(.tokenQuarantined(reason: "BadDeviceToken", status: 400)))
        bench.test(id: "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e02")
        bench.acceptPush()
        #expect(bench.report?.verdict == .end(.tokenQuarantined(reason: "BadDeviceToken", status: 400)))
    }

    @Test func `is not sent while APNs cannot be reached, and names the outage`() {
        var bench = ServerBench.gone()
        bench.report(.paused(LaneOutage(.connection, reason: "down")))
        #expect(bench.test() == ["reply test notSent(reason: \"provider_down\")"])
        #expect(bench.report?.lane?.outage == LaneOutage(.connection, reason: "down"))
        #expect(bench.report?.verdict == .wait(.providerDown))
        #expect(bench.failed == [.init(fact: "lane", verdict: .wait(.providerDown))])
    }

    @Test func `that APNs refuses changes nothing of the token`() {
        var bench = ServerBench.gone()
        bench.test()
        let refusal = APNsRefusal(.unregistered, status: 410, invalidSince: APNsInvalidSince(milliseconds: .max / 2))
        #expect(bench.answerPush(.refused(refusal)) == ["reply test refused(410 Unregistered)"])
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.count == 1)
    }

    @Test(
        arguments: [
            (nil, "", "text"), ("", "x", "title"), (nil, String(repeating: "x", count: 1_025), "text"),
            (String(repeating: "x", count: 257), "x", "title"),
        ] as [(String?, String, String)])
    func `is refused with the field that breaks a rule`(title: String?, text: String, field: String) {
        var bench = ServerBench.gone()
        #expect(bench.test(title: title, text: text) == ["reply refused invalid_field \(field)"])
    }

    @Test func `to a device that is not signed in is refused`() {
        var bench = ServerBench.gone()
        #expect(bench.test("bob", "pad") == ["reply refused invalid_field device"])
    }

    @Test func `counts for the app's limit of messages`() {
        var settings = ServerBench.plain
        settings.limits[.app, .messages] = RateLimit(perSecond: 1, burst: 1)
        var bench = ServerBench.gone(settings)
        #expect(bench.test().count == 1)
        #expect(bench.test().contains("reply refused rate_limited test_push"))
    }

    @Test func `under an idempotency key goes once, and a restart forgets its answer`() {
        var bench = ServerBench.gone()
        let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")
        let command = APICommand.once(
            key, fingerprint: [1], .testPush(ServerBench.device("bob"), TestPush(id: id, text: "x")))
        #expect(bench.run(.api(APIRequestID(1), command)).outside.count == 1)
        let answer = bench.answerPush(.accepted(apnsID: id, uniqueID: nil))
        #expect(bench.run(.api(APIRequestID(2), command)).outside == answer)
        bench.crash()
        bench.pass(ServerSettings().restartGraceTime)
        #expect(bench.run(.api(APIRequestID(1), command)).outside == ["reply refused exists Idempotency-Key"])
        #expect(bench.pushes.isEmpty)
    }

    @Test func `is told to whoever watches`() {
        var bench = ServerBench.gone()
        bench.test()
        bench.reports = []
        bench.acceptPush()
        #expect(bench.reports == [.answeredPush(ServerBench.device("bob"), .test, .accepted(apnsID: id))])
    }
}

@Suite struct `The tests of a verdict` {
    @Test func `are one for each fact`() {
        #expect(PushFacts.parts.count == Mirror(reflecting: PushFacts()).children.count)
        #expect(Set(PushFacts.parts.map(\.name)).count == PushFacts.parts.count)
    }

    @Test func `all pass where a message is sent, and fail each for its own fact`() {
        #expect(PushVerdict.tests(of: PushFacts()).filter { !$0.isPassed } == [])
        var facts = PushFacts()
        facts.isFromBlocked = true
        facts.isNotifiable = false
        facts.settled = .shown
        facts.isReadElsewhere = true
        facts.isRecalled = true
        facts.isExpired = true
        facts.isMuted = true
        facts.token = .missing
        facts.presence = .live
        facts.quietHours = .defer
        facts.isActiveElsewhere = true
        facts.isStorm = true
        facts.lane = .breakerOpen
        facts.retry = .throttled
        #expect(
            PushVerdict.tests(of: facts).map(\.verdict) == [
                .end(.blocked), .end(.notNotifiable), .end(.settled(.shown)), .end(.readElsewhere), .end(.recalled),
                .end(.expired), .end(.muted), .end(.noToken), .wait(.live), .wait(.quietHours),
                .wait(.activeElsewhere), .wait(.merging), .wait(.breakerOpen), .wait(.throttled),
            ])
    }

    @Test func `have a meaning for each answer of APNs`() {
        for reason in APNsReason.documented {
            let meaning = PassedPushState.refused(APNsRefusal(reason, status: reason.status ?? 400)).meaning
            #expect(meaning.hasSuffix("."), "\(reason)")
        }
        #expect(PassedPushState.notSent(reason: "the queue is full").meaning == "Not sent: the queue is full.")
    }
}

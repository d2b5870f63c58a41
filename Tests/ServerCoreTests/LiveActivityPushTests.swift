import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

private let first = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"
private let second = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e02"
private let laneTopic = "\(ServerBench.topic).push-type.liveactivity"
private let cup = APNsChannelID("dHN0LXNyY2gtY2hubA==")

private func push(
    _ id: String = first, _ event: APNsPayload.LiveActivity.Event = .update,
    to target: LiveActivityPush.Target = .token("ab12"),
    topic: String = ServerBench.topic, priority: APNsPriority = .immediate, expiration: Int64? = nil,
    _ change: (inout APNsPayload) -> Void = { _ in }
) -> LiveActivityPush {
    var activity = APNsPayload.LiveActivity(
        event: event, timestamp: 1_800_000_000, contentState: JSONObject([("eta", 5)]))
    if event == .start {
        activity.attributesType = "Ride"
        activity.attributes = JSONObject([("car", "7")])
    }
    var payload = APNsPayload(liveActivity: activity)
    if event == .start { payload.alert = .init(title: "Ride", body: "begins") }
    change(&payload)
    return LiveActivityPush(
        id: id, environment: .production, topic: topic, target: target, payload: payload, priority: priority,
        expiration: expiration)
}

extension ServerBench {
    @discardableResult
    fileprivate mutating func pass(_ push: LiveActivityPush) -> [String] {
        self.run(.api(APIRequestID(1), .pushActivity(Self.app, push)))
    }

    fileprivate mutating func activity(_ id: String = first) -> [String] {
        self.run(.api(APIRequestID(2), .activityPush(Self.app, id)))
    }
}

@Suite struct `A push to a Live Activity` {
    @Test func `goes to the token that the backend names, at once and past the store`() throws {
        var bench = ServerBench()
        let at = bench.now.wall - ServerBench.started
        #expect(bench.pass(push()) == ["reply passed at \(at)", "pass of shop to ab12 on \(laneTopic)"])
        let request = try #require(bench.passed.first?.request)
        #expect(
            request
                == APNsRequest(
                    token: "ab12", topic: laneTopic, pushType: .liveactivity, priority: .immediate, apnsID: first,
                    payload: Array(
                        #"{"aps":{"timestamp":1800000000,"event":"update","content-state":{"eta":5}}}"#.utf8),
                    environment: .production))
        try request.validate()
        #expect(bench.activity() == ["reply activity pushing"])
    }

    @Test(arguments: [
        (APNsOutcome.accepted(apnsID: "A", uniqueID: "U"), "accepted(apnsID: \"A\", uniqueID: Optional(\"U\"))"),
        (.unknownOutcome("reset"), "unanswered"), (.notSent("no connection"), "notSent(reason: \"no connection\")"),
        (.stopped("TopicDisallowed"), "notSent(reason: \"TopicDisallowed\")"),
    ])
    func `is told with what APNs said of it`(outcome: APNsOutcome, state: String) {
        var bench = ServerBench()
        bench.pass(push())
        #expect(bench.run(.pushEnded(bench.passed[0].id, outcome)) == [])
        #expect(bench.activity() == ["reply activity \(state)"])
    }

    @Test func `of a dead token is told as refused, and nothing is forgotten`() {
        var bench = ServerBench.gone()
        bench.pass(push(first, to: .token(ServerBench.token("bob"))))
        let refusal = APNsRefusal(
            .unregistered, status: 410, invalidSince: APNsInvalidSince(milliseconds: .max / 2))
        #expect(bench.run(.pushEnded(bench.passed[0].id, .refused(refusal))) == [])
        #expect(bench.activity().first?.contains("refused(410 Unregistered)") == true)
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.count == 1)
    }

    @Test func `without a credential holds the lane, and the next is not sent`() {
        var bench = ServerBench()
        bench.pass(push())
        #expect(
            bench.run(.credentialMissing(bench.passed[0].id)) == ["alarm configFault(reason: \"NoCredential\")"])
        #expect(bench.activity() == ["reply activity notSent(reason: \"no_credential\")"])
        #expect(bench.pass(push(second)).outside.count == 1)
        #expect(bench.activity(second) == ["reply activity notSent(reason: \"config_fault\")"])
        // Messages have a topic of their own.
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.count == 1)
    }

    @Test func `does not wait for the end of an outage`() {
        var bench = ServerBench()
        bench.report(.paused(LaneOutage(.connection, reason: "down")))
        #expect(bench.pass(push()).count == 1)
        #expect(bench.activity() == ["reply activity notSent(reason: \"provider_down\")"])
        bench.report(.usable)
        #expect(bench.pass(push(second)).count == 2)
        #expect(bench.passed.count == 1)
    }

    @Test func `is known for ten minutes`() {
        var bench = ServerBench()
        #expect(bench.activity() == ["reply activity unknown"])
        bench.pass(push())
        #expect(bench.pass(push()) == ["reply refused exists id"])
        bench.pass(599_999)
        #expect(bench.activity() == ["reply activity pushing"])
        bench.pass(1)
        #expect(bench.activity() == ["reply activity unknown"])
        #expect(bench.pass(push()).count == 2)
    }

    @Test func `counts for the app's limit of messages`() {
        var settings = ServerBench.plain
        settings.limits[.app, .messages] = RateLimit(perSecond: 1, burst: 1)
        var bench = ServerBench(settings: settings)
        #expect(bench.pass(push()).count == 2)
        #expect(bench.pass(push(second)).contains("reply refused rate_limited live_activity"))
        bench.pass(1_000)
        #expect(bench.pass(push(second)).count == 2)
    }

    @Test(arguments: [
        (push("7"), "id"), (push(first, topic: "com.example.other"), "topic"), (push(first, topic: laneTopic), "topic"),
        (push(first, to: .token("ab1")), "token"), (push(first, to: .channel("cup")), "channel"),
        (push(first, .start, to: .channel(cup)), "event"), (push(first, priority: .powerFirst), "priority"),
        (push(first, expiration: -1), "expires_at"),
        (push(first) { $0.liveActivity?.contentState = nil }, "content_state"),
        (push(first, .start) { $0.liveActivity?.attributesType = nil }, "attributes_type"),
        (push(first, .start) { $0.liveActivity?.attributes = nil }, "attributes"),
        (push(first, .start) { $0.alert = nil }, "alert"),
        (push(first) { $0.liveActivity?.attributes = JSONObject() }, "attributes"),
        (push(first) { $0.liveActivity?.staleDate = -1 }, "stale_at"),
        (push(first) { $0.liveActivity?.dismissalDate = -1 }, "dismissal_at"),
        (push(first) { $0.sound = "x" }, "alert.sound"),
        (push(first) { $0.liveActivity?.inputPushToken = true }, "input_push_token"),
        (push(first) { $0.relevanceScore = .infinity }, "relevance_score"),
        (
            push(first) {
                $0.alert = .init(title: ""); $0.alert?.title = nil
            }, "alert"
        ),
        (
            push(first) {
                $0.liveActivity?.contentState = JSONObject([("x", .string(String(repeating: "x", count: 4_096)))])
            }, "payload"
        ),
    ])
    func `is refused with the member that breaks a rule`(push: LiveActivityPush, field: String) {
        var settings = ServerBench.plain
        settings.pushTopics = [ServerBench.app: [ServerBench.topic]]
        var bench = ServerBench(settings: settings)
        #expect(bench.pass(push) == ["reply refused invalid_field \(field)"])
    }

    @Test func `of another app's id is not told`() {
        var bench = ServerBench()
        bench.pass(push())
        #expect(bench.run(.api(APIRequestID(3), .activityPush("other", first))) == ["reply activity unknown"])
    }

    @Test func `gives its lane's place back with the answer`() {
        var settings = ServerBench.plain
        settings.pushesInFlightMax = 1
        var bench = ServerBench(settings: settings)
        bench.pass(push())
        bench.run(.pushEnded(bench.passed[0].id, .accepted(apnsID: "A", uniqueID: nil)))
        #expect(bench.pass(push(second)).count == 2)
        #expect(
            bench.run(.pushEnded(bench.passed[0].id, .accepted(apnsID: "A", uniqueID: nil))).first?.hasPrefix("BUG")
                == true)
    }
}

@Suite struct `A push to a channel` {
    @Test func `is a broadcast, and may be larger`() throws {
        var bench = ServerBench()
        let large = push(to: .channel(cup), priority: .powerFirst) {
            $0.liveActivity?.contentState = JSONObject([("x", .string(String(repeating: "x", count: 5_000)))])
        }
        let at = bench.now.wall - ServerBench.started
        #expect(
            bench.pass(large) == [
                "reply passed at \(at)", "broadcast of shop to \(cup) of \(ServerBench.topic)",
            ])
        let broadcast = try #require(bench.broadcasts.first)
        try broadcast.broadcast.validate()
        #expect(broadcast.broadcast.requestID == first)
        #expect(broadcast.broadcast.expiration == 0)
        #expect(broadcast.broadcast.priority == .powerFirst)
        bench.run(.pushEnded(broadcast.id, .accepted(apnsID: first, uniqueID: nil)))
        #expect(bench.activity() == ["reply activity accepted(apnsID: \"\(first)\", uniqueID: nil)"])
    }
}

@Suite struct `A push to a Live Activity with an idempotency key` {
    private static let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")

    private static func once(_ bench: inout ServerBench, _ command: APICommand) -> [String] {
        bench.run(.api(APIRequestID(1), .once(Self.key, fingerprint: [1], command))).outside
    }

    @Test func `goes once, also across a restart, and is answered as the first time`() {
        var bench = ServerBench()
        let command = APICommand.pushActivity(ServerBench.app, push())
        let first = Self.once(&bench, command)
        #expect(first.count == 2)
        bench.pass(2_000)
        #expect(Self.once(&bench, command) == [first[0]])
        bench.crash()
        #expect(Self.once(&bench, command) == [first[0]])
        #expect(bench.passed.count == 1)
    }
}

@Suite struct `Broadcast channels` {
    private func asked(
        _ operation: APNsChannelRequest.Operation, topic: String = ServerBench.topic
    ) -> APNsChannelRequest {
        APNsChannelRequest(operation, bundleID: topic, requestID: first, environment: .production)
    }

    @Test func `are asked for and told as APNs tells them`() {
        var bench = ServerBench()
        let request = APIRequestID(1)
        #expect(
            bench.run(.api(request, .channels(ServerBench.app, self.asked(.list)))) == ["channels of shop: list"])
        #expect(
            bench.run(.channelsAnswered(request, .answered(.list([cup])))) == [
                "reply channels \(ChannelOutcome.answered(.list([cup])))"
            ])
        bench.run(.api(request, .channels(ServerBench.app, self.asked(.delete(cup)))))
        #expect(bench.run(.channelsAnswered(request, .noCredential)) == ["reply channels noCredential"])
    }

    @Test func `are of the app's topics and well formed`() {
        var settings = ServerBench.plain
        settings.pushTopics = [ServerBench.app: [ServerBench.topic]]
        var bench = ServerBench(settings: settings)
        for (asked, field) in [
            (self.asked(.list, topic: "com.example.other"), "topic"), (self.asked(.list, topic: laneTopic), "topic"),
            (self.asked(.read("cup")), "channel"), (self.asked(.delete("cup")), "channel"),
        ] {
            #expect(
                bench.run(.api(APIRequestID(1), .channels(ServerBench.app, asked)))
                    == ["reply refused invalid_field \(field)"])
        }
    }

    @Test func `count for the app's limit of requests`() {
        var settings = ServerBench.plain
        settings.limits[.app, .requests] = RateLimit(perSecond: 1, burst: 1)
        var bench = ServerBench(settings: settings)
        let command = APICommand.channels(ServerBench.app, self.asked(.list))
        #expect(bench.run(.api(APIRequestID(1), command)) == ["channels of shop: list"])
        #expect(bench.run(.api(APIRequestID(2), command)).contains("reply refused rate_limited request"))
    }

    @Test func `are made once under an idempotency key, and a restart forgets which`() {
        var bench = ServerBench()
        let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")
        let command = APICommand.once(
            key, fingerprint: [1], .channels(ServerBench.app, self.asked(.create(.noStorage))))
        let create = "channels of shop: \(APNsChannelRequest.Operation.create(.noStorage))"
        #expect(bench.run(.api(APIRequestID(1), command)).outside == [create])
        #expect(bench.run(.api(APIRequestID(2), command)) == ["reply key in use"])
        let answer = ["reply channels \(ChannelOutcome.answered(.created(cup)))"]
        #expect(bench.run(.channelsAnswered(APIRequestID(1), .answered(.created(cup)))) == answer)
        #expect(bench.run(.api(APIRequestID(3), command)).outside == answer)
        bench.crash()
        #expect(bench.run(.api(APIRequestID(1), command)).outside == ["reply refused exists Idempotency-Key"])
    }
}

import APNsModel
import ServerCore
import StoreModel
import Testing
import TidingsModel

private let call: CallID = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e01"
private let other: CallID = "0b9f1c9e-3a54-4b8e-9f57-0d6a1c6b7e02"
private let topic = "\(ServerBench.topic).voip"

private func callRegistration(_ token: PushToken) -> PushRegistration {
    PushRegistration(token: token, environment: .production, topic: topic)
}

private func unregistered(since: Int64) -> APNsOutcome {
    .refused(
        APNsRefusal(
            .unregistered, status: 410, invalidSince: APNsInvalidSince(milliseconds: ServerBench.started + since)))
}

extension ServerBench {
    /// Bob's phone has registered a token for calls, and his pad has none. Both are gone.
    fileprivate static var withBob: ServerBench {
        var bench = ServerBench()
        bench.goneDevice("bob", "pad")
        bench.registerVoIP("ca11")
        return bench
    }

    fileprivate mutating func registerVoIP(
        _ token: PushToken?, for user: UserID = "bob", on device: DeviceID = "phone"
    ) {
        let session = self.connect(user, device).session
        self.ask(session, 1, .registerVoIP(token.map(callRegistration)))
        self.run(.frame(session, .runState(.suspending)))
        self.run(.disconnected(session))
    }

    @discardableResult
    fileprivate mutating func ring(
        _ id: CallID = call, from caller: UserID = "alice", to callee: UserID = "bob",
        lifetime: Int64 = Call.lifetimeMax, video: Bool = false, data: JSONObject = JSONObject()
    ) -> [String] {
        self.run(
            .api(
                APIRequestID(1),
                .ring(
                    Self.app,
                    Call(
                        id: id, caller: caller, callee: callee, hasVideo: video, lifetimeMilliseconds: lifetime,
                        data: data)))
        ).outside
    }

    fileprivate mutating func states(of id: CallID = call) -> [String] {
        self.run(.api(APIRequestID(2), .call(Self.app, id)))
    }
}

@Suite struct `A call` {
    @Test func `is pushed to each device with a token for calls, at once, and to no other`() throws {
        var bench = ServerBench.withBob
        let lines = bench.ring(video: true, data: JSONObject([("room", "7")]))
        #expect(lines.first == "reply ringing since \(bench.now.wall - ServerBench.started)")
        #expect(bench.pushes.count == 1)
        let request = try #require(bench.pushes.first?.request)
        #expect(request.token == "ca11")
        #expect(request.topic == topic)
        #expect(request.pushType == .voip)
        #expect(request.priority == .immediate)
        #expect(request.expiration == (bench.now.wall + 30_000) / 1_000)
        #expect(request.environment == .production)
        try request.validate()
        let payload = try JSONValue(parsing: request.payload)
        let tag = recipientTag(of: ServerBench.device("bob"), salt: ServerSettings().recipientTagSalt)
        #expect(
            CallInfo(userInfo: payload)
                == CallInfo(id: call, caller: "alice", callerName: nil, hasVideo: true, recipientTag: tag))
        #expect(payload["data"] == ["room": "7"])
        #expect(payload["aps"] == JSONValue.members([]))
        #expect(bench.states() == ["reply call [\"pad noToken\", \"phone pushing\"]"])
    }

    @Test func `says what the caller is called`() throws {
        var bench = ServerBench.withBob
        bench.run(
            .api(APIRequestID(3), .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: "Alice L."))])))
        bench.ring()
        #expect(bench.payload.flatMap { CallInfo(userInfo: $0) }?.callerName == "Alice L.")
    }

    @Test(arguments: [(0, 0), (1, 1), (1_000, 1), (1_001, 2), (30_000, 30)] as [(Int64, Int64)])
    func `is kept by APNs no longer than asked, and without a lifetime not at all`(lifetime: Int64, seconds: Int64) {
        var bench = ServerBench.withBob
        bench.now.wall = ServerBench.started + 60_000
        bench.ring(lifetime: lifetime)
        let expected = seconds == 0 ? 0 : (ServerBench.started + 60_000) / 1_000 + seconds
        #expect(bench.pushes.first?.request.expiration == expected)
    }

    @Test func `rings whatever the person's settings and connections are, and leaves log and badge alone`() {
        var bench = ServerBench.withBob
        bench.settings["bob"] = AllSettings(
            person: PersonSettings(levels: [.direct: .blocked], hidesContent: true))
        let session = bench.connect("bob").session
        let lines = bench.ring()
        #expect(lines.count == 2)
        #expect(bench.pushes.count == 1)
        #expect(bench.frames.filter { if case .entry = $0 { true } else { false } } == [])
        _ = session
    }

    @Test func `is told with what APNs said of each device`() {
        var bench = ServerBench.withBob
        bench.registerVoIP("ca12", on: "tab")
        bench.registerVoIP("ca13", on: "ten")
        bench.registerVoIP("ca14", on: "web")
        bench.ring()
        bench.answerPush(.accepted(apnsID: "A-1", uniqueID: nil))
        bench.answerPush(.refused(APNsRefusal(.badDeviceToken, status: 400)))
        bench.answerPush(.unknownOutcome("reset"))
        bench.answerPush(.notSent("no connection"))
        #expect(
            bench.states() == [
                "reply call [\"pad noToken\", \"phone accepted(apnsID: \\\"A-1\\\")\", "
                    + "\"tab refused(reason: \\\"BadDeviceToken\\\", status: 400)\", \"ten unanswered\", "
                    + "\"web notSent(reason: \\\"no connection\\\")\"]"
            ])
        // A token that APNs has refused as bad is not asked again by the next call, but when its phone has told it anew.
        bench.ring(other)
        #expect(bench.pushes.map(\.request.token) == ["ca11", "ca13", "ca14"])
        #expect(bench.pushes.map(\.device.device) == ["phone", "ten", "web"])
        bench.registerVoIP("ca12", on: "tab")
        bench.ring("77777777-7777-4777-8777-777777777777")
        #expect(bench.pushes.suffix(4).map(\.device.device) == ["phone", "tab", "ten", "web"])
    }

    @Test func `is known for ten minutes`() {
        var bench = ServerBench.withBob
        #expect(bench.states() == ["reply call unknown"])
        bench.ring()
        bench.acceptPush()
        #expect(bench.ring() == ["reply refused exists id"])
        bench.pass(599_999)
        #expect(bench.states() != ["reply call unknown"])
        bench.pass(1)
        #expect(bench.states() == ["reply call unknown"])
        #expect(bench.ring().count == 2)
    }

    @Test func `from somebody the person has blocked is refused as a message is`() {
        var bench = ServerBench.withBob
        bench.settings["carol"] = AllSettings(blocked: ["alice"])
        bench.registerVoIP("ca77", for: "carol")
        #expect(bench.ring(to: "carol") == ["reply refused blocked to"])
        #expect(bench.pushes.isEmpty)
        #expect(bench.ring(from: "bob", to: "carol").count == 2)
    }

    @Test func `counts for the app's limit of messages`() {
        var settings = ServerBench.plain
        settings.limits[.app, .messages] = RateLimit(perSecond: 1, burst: 1)
        var bench = ServerBench(settings: settings)
        #expect(bench.ring().first?.hasPrefix("reply ringing") == true)
        #expect(bench.ring(other).contains("reply refused rate_limited call"))
        bench.pass(1_000)
        #expect(bench.ring(other).first?.hasPrefix("reply ringing") == true)
    }

    @Test(arguments: [
        (Call(id: "7", caller: "alice", callee: "bob"), "id"),
        (Call(id: call, caller: "", callee: "bob"), "from"),
        (Call(id: call, caller: "bob", callee: "bob"), "to"),
        (Call(id: call, caller: "alice", callee: "bob", lifetimeMilliseconds: 30_001), "lifetime_ms"),
        (Call(id: call, caller: "alice", callee: "bob", lifetimeMilliseconds: -1), "lifetime_ms"),
        (
            Call(
                id: call, caller: "alice", callee: "bob",
                data: JSONObject([("x", .string(String(repeating: "x", count: 4_089)))])), "data"
        ),
    ])
    func `is refused with the field that breaks a rule`(call: Call, field: String) {
        var bench = ServerBench.withBob
        #expect(
            bench.run(.api(APIRequestID(1), .ring(ServerBench.app, call))).outside
                == ["reply refused invalid_field \(field)"])
    }

    @Test func `with the longest of everything fits a push`() throws {
        var bench = ServerBench.withBob
        let caller = UserID(String(repeating: "\"", count: 64))
        let name = String(repeating: "\\", count: 64)
        bench.run(
            .api(APIRequestID(3), .setProfiles(ServerBench.app, [UserProfile(caller, Profile(name: name))])))
        bench.ring(from: caller, data: JSONObject([("x", .string(String(repeating: "x", count: 4_088)))]))
        try #require(bench.pushes.first?.request).validate()
    }
}

@Suite struct `A call while APNs` {
    @Test func `cannot be reached or refuses the topic is not sent, and the reason is told`() {
        var bench = ServerBench.withBob
        bench.report(.paused(LaneOutage(.connection, reason: "down")))
        bench.ring()
        #expect(bench.pushes.isEmpty)
        #expect(bench.states().first?.contains("phone notSent(reason: \\\"provider_down\\\")") == true)
        bench.report(.usable)
        bench.ring(other)
        #expect(bench.pushes.count == 1)
        #expect(
            bench.report(.paused(LaneOutage(.credential, reason: "TopicDisallowed")), topic: topic).outside
                == ["alarm configFault(reason: \"TopicDisallowed\")"])
    }

    @Test func `lacks a credential is told so`() {
        var bench = ServerBench.withBob
        bench.ring()
        bench.run(.credentialMissing(bench.pushes.removeFirst().id))
        #expect(bench.states().first?.contains("phone notSent(reason: \\\"config_fault\\\")") == true)
    }
}

@Suite struct `A token for calls` {
    @Test func `is forgotten when APNs says that it is dead since, and the one for messages is not`() {
        var bench = ServerBench.withBob
        bench.goneDevice("bob")
        bench.ring()
        let lines = bench.answerPush(unregistered(since: 1_000_000_000))
        #expect(lines == ["store voip token of bob/phone is none"])
        bench.ring(other)
        #expect(bench.pushes.isEmpty)
        bench.say(to: .direct("bob"))
        #expect(bench.pushes.map(\.request.token).contains(ServerBench.token("bob")))
    }

    @Test func `stays if APNs speaks of a time before it was registered`() {
        var bench = ServerBench.withBob
        bench.ring()
        #expect(bench.answerPush(unregistered(since: -1)) == [])
        bench.ring(other)
        #expect(bench.pushes.count == 1)
    }

    @Test func `stays if it was registered again meanwhile`() {
        var bench = ServerBench.withBob
        bench.ring()
        bench.pass(5_000)
        bench.registerVoIP("ca11")
        #expect(bench.answerPush(unregistered(since: 4_000 + ServerSettings().restartGraceTime)) == [])
        bench.ring(other)
        #expect(bench.pushes.count == 1)
    }

    @Test func `outlives a restart of the server, and ends with a sign-out`() {
        var bench = ServerBench.withBob
        bench.crash()
        bench.pass(ServerSettings().restartGraceTime)
        bench.ring()
        #expect(bench.pushes.count == 1)
        bench.run(.api(APIRequestID(4), .signOut(ServerBench.device("bob"))))
        bench.ring(other)
        #expect(bench.pushes.count == 1)
    }

    @Test func `rings one person, who registered it last`() {
        var bench = ServerBench.withBob
        bench.registerVoIP("ca11", for: "carol")
        bench.ring()
        #expect(bench.pushes.isEmpty)
        bench.ring(other, to: "carol")
        #expect(bench.pushes.map(\.request.token) == ["ca11"])
    }

    @Test func `is cleared by the device, and shown with it`() {
        var bench = ServerBench.withBob
        bench.run(.api(APIRequestID(5), .devices(ServerBench.key("bob"))))
        guard case .devices(let devices)? = bench.replies.last else {
            Issue.record("no devices")
            return
        }
        #expect(devices.map { $0.voIP?.registration } == [nil, callRegistration("ca11")])
        bench.registerVoIP(nil)
        bench.ring()
        #expect(bench.pushes.isEmpty)
    }

    @Test(arguments: [
        PushRegistration(token: "ca1", environment: .production, topic: topic),
        PushRegistration(token: "ca11", environment: .production, topic: ServerBench.topic),
        PushRegistration(token: "ca11", environment: .production, topic: ".voip"),
    ])
    func `is refused if it is malformed, or for another topic than that of calls`(wrong: PushRegistration) {
        var bench = ServerBench()
        let session = bench.connect("bob").session
        let lines = bench.ask(session, 1, .registerVoIP(wrong))
        #expect(lines.contains { $0.contains("invalid_field") || $0.contains("invalidField") })
        bench.ring()
        #expect(bench.pushes.isEmpty)
    }

    @Test func `must be for a topic of the app`() {
        var settings = ServerBench.plain
        settings.pushTopics = [ServerBench.app: ["com.example.other"]]
        var bench = ServerBench(settings: settings)
        let session = bench.connect("bob").session
        #expect(bench.ask(session, 1, .registerVoIP(callRegistration("ca11"))).outside.count == 1)
        bench.ring()
        #expect(bench.pushes.isEmpty)
    }
}

@Suite struct `A call with an idempotency key` {
    private static let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")

    private static func once(_ bench: inout ServerBench) -> [String] {
        bench.run(
            .api(
                APIRequestID(1),
                .once(
                    Self.key, fingerprint: [1],
                    .ring(ServerBench.app, Call(id: call, caller: "alice", callee: "bob"))))
        ).outside
    }

    @Test func `rings once, also across a restart, and is answered as the first time`() {
        var bench = ServerBench.withBob
        let first = Self.once(&bench)
        #expect(first.count == 2)
        bench.acceptPush()
        bench.pass(2_000)
        #expect(Self.once(&bench) == [first[0]])
        bench.crash()
        bench.pass(ServerSettings().restartGraceTime)
        #expect(Self.once(&bench) == [first[0]])
        #expect(bench.pushes.isEmpty)
    }

    @Test func `that was refused is judged anew`() {
        var bench = ServerBench.withBob
        bench.settings["carol"] = AllSettings(blocked: ["alice"])
        let refused = APICommand.once(
            Self.key, fingerprint: [1], .ring(ServerBench.app, Call(id: call, caller: "alice", callee: "carol")))
        #expect(bench.run(.api(APIRequestID(1), refused)).outside == ["reply refused blocked to"])
        #expect(Self.once(&bench).count == 2)
    }
}

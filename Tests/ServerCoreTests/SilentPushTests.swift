import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

private let hour: Int64 = 3_600_000

extension ServerBench {
    @discardableResult
    fileprivate mutating func wake(
        _ user: UserID = "bob", device: DeviceID? = nil, data: JSONObject = JSONObject(), id: String = "one"
    ) -> [String] {
        self.run(.api(APIRequestID(1), .silentPush(Self.key(user), SilentPush(id: id, device: device, data: data))))
            .outside
    }
}

@Suite struct `A silent push` {
    @Test(.requirement("C4.1"))
    func `wakes the app on each of the person's devices, with the app's own data`() throws {
        var bench = ServerBench.gone()
        bench.goneDevice("bob", "tab")
        #expect(
            bench.wake(data: JSONObject([("sync", 7)])) == [
                "push ? to bob/phone badge -1@0", "push ? to bob/tab badge -1@0",
                "reply silent [\"phone sent\", \"tab sent\"]",
            ])
        #expect(
            bench.pushes.first?.request
                == APNsRequest(
                    token: ServerBench.token("bob"), topic: ServerBench.topic, pushType: .background,
                    priority: .powerAware, expiration: 0,
                    payload: Array(Self.payload(to: "phone", #","data":{"sync":7}"#).utf8), environment: .production))
        for push in bench.pushes { try push.request.validate() }
        #expect(bench.unread(of: "bob") == 0)
    }

    private static func tag(_ device: DeviceID) -> String {
        recipientTag(of: ServerBench.device("bob", device), salt: ServerBench.plain.recipientTagSalt)
    }

    private static func payload(to device: DeviceID, _ data: String = "") -> String {
        #"{"aps":{"content-available":1},"tidings":{"to":"\#(self.tag(device))"}\#(data)}"#
    }

    /// By it the SDK knows its own server's push, and whom it is for (design.md P7).
    @Test(.requirement("S4.9")) func `names on each device whom it is for, as the welcome does, also without data`() {
        var bench = ServerBench.gone()
        bench.goneDevice("bob", "tab")
        bench.wake()
        let payloads = bench.pushes.map { String(decoding: $0.request.payload, as: UTF8.self) }
        #expect(
            payloads == [Self.payload(to: "phone"), Self.payload(to: "tab")])
        bench.connect("bob")
        let tags = bench.frames.compactMap { if case .welcome(let welcome) = $0 { welcome.recipientTag } else { nil } }
        #expect(tags.last == Self.tag("phone"))
        #expect(Self.tag("phone") != Self.tag("tab"))
    }

    @Test func `may go to one device alone`() {
        var bench = ServerBench.gone()
        bench.goneDevice("bob", "tab")
        #expect(
            bench.wake(device: "tab") == ["push ? to bob/tab badge -1@0", "reply silent [\"tab sent\"]"])
        #expect(bench.wake(device: "pad") == ["reply refused invalid_field device"])
    }

    @Test func `goes three times in an hour, and the next time is told`() {
        var bench = ServerBench.gone()
        let first = bench.now.wall - ServerBench.started
        for _ in 0..<3 {
            #expect(bench.wake().count == 2)
            bench.pass(60_000)
        }
        #expect(bench.wake() == ["reply silent [\"phone spent until \(first + hour)\"]"])
        bench.pass(hour - 180_000 - 1)
        #expect(bench.wake().count == 1)
        bench.pass(1)
        #expect(bench.wake().count == 2)
        #expect(bench.wake() == ["reply silent [\"phone spent until \(first + 60_000 + hour)\"]"])
    }

    @Test func `shares its budget with pushes that tell a phone its badge`() {
        var settings = ServerBench.plain
        settings.badgePushesPerHour = 1
        settings.badgePushDelay = 100
        var bench = ServerBench.gone(settings)
        bench.say(to: .direct("bob"))
        bench.acceptPush()
        bench.run(.api(APIRequestID(3), .markRead(ServerBench.key("bob"), .direct("alice"), upTo: nil)))
        bench.pass(100)
        #expect(bench.pushes.map(\.request.pushType) == [.background])
        #expect(bench.wake().count == 1)
        #expect(bench.wake().first?.contains("spent") == true)
        // And the other way.
        var other = ServerBench(settings: settings)
        other.goneDevice("bob")
        other.say(to: .direct("bob"))
        other.acceptPush()
        #expect(other.wake().count == 2)
        other.acceptPush()
        other.run(.api(APIRequestID(3), .markRead(ServerBench.key("bob"), .direct("alice"), upTo: nil)))
        other.pass(100)
        #expect(other.pushes.isEmpty)
        other.pass(hour)
        #expect(other.pushes.map(\.request.pushType) == [.background])
    }

    @Test func `after a restart waits an hour, unless the device has connected since`() {
        var bench = ServerBench.gone()
        bench.pass(1_000)
        bench.crash()
        let restarted = bench.now.wall - ServerBench.started
        bench.pass(ServerSettings().restartGraceTime)
        #expect(bench.wake() == ["reply silent [\"phone unknown until \(restarted + hour)\"]"])
        bench.goneDevice("bob")
        #expect(bench.wake().count == 2)
    }

    @Test func `is not sent where there is no token, or APNs cannot be reached`() {
        var bench = ServerBench()
        let session = bench.connect("bob").session
        bench.run(.disconnected(session))
        #expect(bench.wake() == ["reply silent [\"phone noToken\"]"])
        bench.goneDevice("bob")
        bench.report(.paused(LaneOutage(.connection, reason: "down")))
        #expect(bench.wake() == ["reply silent [\"phone notSent(reason: \\\"provider_down\\\")\"]"])
        bench.report(.usable)
        // What was not sent has used nothing up.
        for _ in 0..<3 { #expect(bench.wake().count == 2) }
        #expect(bench.wake().count == 1)
    }

    @Test func `reaches nobody who has no device`() {
        var bench = ServerBench()
        #expect(bench.wake("carol") == ["reply silent []"])
    }

    @Test func `is refused with more data than a push holds, and the most fits`() throws {
        var bench = ServerBench.gone()
        let most = JSONObject([("x", .string(String(repeating: "x", count: SilentPush.dataBytesMax - 8)))])
        #expect(bench.wake(data: most).count == 2)
        let more = JSONObject([("x", .string(String(repeating: "x", count: SilentPush.dataBytesMax - 7)))])
        #expect(bench.wake(data: more) == ["reply refused invalid_field data"])
    }

    @Test func `counts for the app's limit of messages`() {
        var settings = ServerBench.plain
        settings.limits[.app, .messages] = RateLimit(perSecond: 1, burst: 1)
        var bench = ServerBench.gone(settings)
        #expect(bench.wake().count == 2)
        #expect(bench.wake().contains("reply refused rate_limited silent_push"))
    }

    @Test func `under an idempotency key goes once, and a restart forgets its answer`() {
        var bench = ServerBench.gone()
        let key = IdempotencyKey(app: ServerBench.app, apiKey: "backend", text: "k")
        let command = APICommand.once(
            key, fingerprint: [1], .silentPush(ServerBench.key("bob"), SilentPush(id: "k")))
        #expect(bench.run(.api(APIRequestID(1), command)).outside.count == 2)
        #expect(bench.run(.api(APIRequestID(1), command)).outside == ["reply silent [\"phone sent\"]"])
        bench.crash()
        bench.pass(ServerSettings().restartGraceTime)
        #expect(bench.run(.api(APIRequestID(1), command)).outside == ["reply refused exists Idempotency-Key"])
    }

    @Test func `is told to whoever watches`() {
        var bench = ServerBench.gone()
        bench.wake()
        bench.reports = []
        bench.run(.pushEnded(bench.pushes[0].id, .accepted(apnsID: "A", uniqueID: nil)))
        #expect(bench.reports == [.answeredPush(ServerBench.device("bob"), .silent, .accepted(apnsID: "A"))])
    }
}

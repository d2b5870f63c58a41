import APNsModel
import Requirements
import ServerCore
import StoreModel
import Testing
import TidingsModel

private let refused = APNsOutcome.refused(APNsRefusal(.badDeviceToken, status: 400))
private let first = "alarm tokenRefused(reason: \"BadDeviceToken\")"

extension ServerBench {
    /// The app sends with that push credential from now on.
    fileprivate mutating func activateCredential(_ id: String) -> [String] {
        self.makeApp()
        let record = PushCredentialRecord(
            id: id, kind: .tokenKey, sealed: SealedBytes(keyID: "k", bytes: [1]),
            fingerprint: String(repeating: "a", count: 64), keyID: "ABC123DEFG", teamID: "DEF123GHIJ",
            createdAt: self.now.wall)
        self.change(.changePushCredential(Self.app, .add(record)))
        return self.change(.changePushCredential(Self.app, .activate(id: id, inPlaceOf: nil, unproven: true)))
    }
}

@Suite(.requirement("S2.7")) struct `A token that APNs has refused` {
    /// BadDeviceToken and DeviceTokenNotForTopic (apns.md §10: never retry).
    static let reasons: [APNsReason] = [.badDeviceToken, .deviceTokenNotForTopic]

    private static func refusal(_ reason: APNsReason) -> APNsOutcome { .refused(APNsRefusal(reason, status: 400)) }

    /// One message to a phone that is gone; APNs refuses its token, the first that this lane is used for.
    private static func begun(_ reason: APNsReason = .badDeviceToken) -> ServerBench {
        var bench = ServerBench.gone()
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m1", "push m1 to bob/phone badge 1@1"])
        #expect(
            bench.answerPush(self.refusal(reason)) == [
                "alarm tokenRefused(reason: \"\(reason.name)\")", "store keep m1 bob/phone breaker_open after 1",
                "store cursor bob/phone decided 1",
            ])
        return bench
    }

    @Test(arguments: reasons) func `is sent to once in its day, however many messages there are`(reason: APNsReason) {
        var bench = Self.begun(reason)
        var outside: [String] = []
        for hour in 0..<24 {
            if hour % 6 == 0 { outside += bench.say(to: .direct("bob")).outside }
            outside += bench.pass(3_600_000).outside
        }
        #expect(outside.filter { !$0.hasPrefix("reply accepted") } == [])
        #expect(bench.pushes.isEmpty)
    }

    @Test
    func `is not sent to when its person has been out of memory, and goes into quarantine with the next acceptance`() {
        var bench = Self.begun()
        for _ in 0..<72 { bench.pass(3_600_000) }
        #expect(bench.core.load(at: bench.now).people == 0)
        #expect(bench.say(to: .direct("bob")).outside == ["reply accepted m2"])
        bench.goneDevice("ann")
        bench.say(to: .direct("ann"))
        let worked = bench.acceptPush()
        #expect(worked.outside == ["alarm over"])
        #expect(worked.contains("store token of bob/phone is quarantined BadDeviceToken"))
        #expect(worked.contains("store end m2 bob/phone token_quarantined 400 BadDeviceToken"))
    }

    @Test func `is sent to once more when its phone registers again, or another one`() {
        for token in ["phone", "other"] as [DeviceID] {
            var bench = Self.begun()
            let session = bench.connect("bob", "phone", .background(remainingMilliseconds: 60_000)).session
            bench.run(.frame(session, .registerPush(ServerBench.registration("bob", token))))
            #expect(bench.run(.disconnected(session)).outside == ["push m1 to bob/\(token) badge 1@1"])
        }
    }

    @Test func `is sent to once more after a start of the server`() {
        var bench = Self.begun()
        bench.crash()
        bench.pass(20_000)
        #expect(bench.pushes.map(\.request.token) == [ServerBench.token("bob", "phone")])
        #expect(bench.answerPush(refused).outside == [first])
        #expect(bench.pass(80_000_000).outside == [])
    }

    @Test func `is sent to once more when the app has another credential, and is good or bad by that`() {
        for outcome in [APNsOutcome.accepted(apnsID: "a", uniqueID: nil), refused] {
            var bench = Self.begun()
            let lines = bench.activateCredential("second")
            #expect(
                lines.filter { $0 == "alarm over" || $0.hasPrefix("push m") } == [
                    "alarm over", "push m1 to bob/phone badge 1@1",
                ])
            let answered = bench.answerPush(outcome)
            #expect(answered.outside == (outcome == refused ? [first] : []))
            #expect(bench.pass(86_000_000).outside == [])
        }
    }

    @Test func `holds up nobody else, and is no probe of a lane that is stopped`() {
        var bench = Self.begun()
        for person in ["ann", "eve"] {
            bench.goneDevice(UserID(person))
            bench.say(to: .direct(person))
        }
        #expect(bench.pushes.count == 2)
    }

    @Test func `gets no silent push either`() {
        var bench = Self.begun()
        let silent = SilentPush(id: "k")
        bench.run(.api(APIRequestID(9), .silentPush(ServerBench.key("bob"), silent)))
        #expect(bench.pushes.isEmpty)
    }
}

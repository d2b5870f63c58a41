import APNsModel
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

extension ServerBench {
    /// What whoever watches was told since the last call.
    fileprivate mutating func told() -> [String] {
        defer { self.reports = [] }
        return self.reports.map { self.tell($0) }
    }

    private func tell(_ report: ServerReport) -> String {
        switch report {
        case .accepted(let message, let sender, let conversation, let name, let recipients):
            "\(self.name(message)) \(name) by \(sender.user) in \(conversation) for \(recipients)"
        case .acceptedCustom(let message, _, let recipients): "\(self.name(message)) custom for \(recipients)"
        case .recalled(let message, let recall, let sender, let conversation):
            "\(self.name(message)) recalled by \(self.name(recall)) of \(sender.user) in \(conversation)"
        case .edited(let message, _, let conversation): "\(self.name(message)) edited in \(conversation)"
        case .sentLeg(let leg, let id): "sent \(self.name(leg))\(id == nil ? " without an id" : "")"
        case .waitingLeg(let open): "waits \(self.name(open.leg)) \(open.wait.rawValue)"
        case .endedLeg(let ended): "ended \(self.name(ended.leg)) \(ended.end.name)"
        case .receipt(let leg, let receipt): "\(receipt.rawValue) \(self.name(leg))"
        case .device(let device, let change): "\(device.user.user)/\(device.device) \(Self.tell(change))"
        case .answeredPush(let device, let subject, let result):
            "\(self.tell(subject)) of \(device.user.user)/\(device.device) \(Self.tell(result))"
        case .raisedAlarm(_, let alarm): "alarm \(alarm)"
        case .clearedAlarm: "alarm over"
        case .pushJob(let job): "\(self.jobName(job.id)) \(job.state.rawValue)"
        case .expiringCredential(_, let credential, let end, let isExpired):
            "\(credential) \(isExpired ? "has expired" : "expires") at \(end)"
        case .storage(let isFull, let free): "disk \(isFull ? "full" : "has room"): \(free)"
        }
    }

    private static func tell(_ change: ServerReport.DeviceChange) -> String {
        switch change {
        case .signedIn(let platform): "signed in on \(platform)"
        case .signedOut: "signed out"
        case .connected: "connected"
        case .disconnected: "disconnected"
        case .lease(let lease): "is \(lease.name)"
        }
    }

    private func tell(_ subject: ServerReport.PushSubject) -> String {
        switch subject {
        case .message(let message): "push \(self.name(message))"
        case .badge: "badge"
        case .call(let call): "call \(call)"
        case .test: "test push"
        case .silent: "silent push"
        }
    }

    private static func tell(_ result: ServerReport.PushResult) -> String {
        switch result {
        case .accepted: "accepted"
        case .refused(_, let status, let reason): "refused \(status) \(reason)"
        case .unknown(let words): "unknown: \(words)"
        case .notSent(let words): "not sent: \(words)"
        case .noCredential: "without credential"
        }
    }
}

/// Which events an operator's screen gets, and in which order.
@Suite struct `Whoever watches the server` {
    @Test func `is told of a device from its first sign-in to its sign-out`() {
        var bench = ServerBench()
        let phone = bench.connect("bob").session
        #expect(
            bench.told() == ["bob/phone signed in on ios", "bob/phone connected", "bob/phone is foreground"])
        bench.run(.frame(phone, .runState(.background(remainingMilliseconds: 30_000))))
        // Another end of the same background is no news.
        bench.run(.frame(phone, .runState(.background(remainingMilliseconds: 20_000))))
        #expect(bench.told() == ["bob/phone is background"])
        bench.run(.frame(phone, .runState(.suspending)))
        bench.run(.disconnected(phone))
        #expect(bench.told() == ["bob/phone is gone", "bob/phone disconnected"])
        let again = bench.connect("bob").session
        #expect(bench.told() == ["bob/phone connected", "bob/phone is foreground"])
        bench.run(.frame(again, .signOut))
        #expect(bench.told() == ["bob/phone disconnected", "bob/phone signed out"])
        bench.connect("bob")
        #expect(bench.told().first == "bob/phone signed in on ios")
    }

    @Test func `is told of a connection that another one takes the place of`() {
        var bench = ServerBench()
        bench.connect("bob")
        _ = bench.told()
        bench.connect("bob")
        #expect(bench.told() == ["bob/phone disconnected", "bob/phone connected"])
    }

    @Test func `is told of a message, its push, and what APNs and the phone said`() {
        var bench = ServerBench.gone()
        _ = bench.told()
        bench.say(to: .direct("bob"))
        #expect(bench.told() == ["m1 RC:TxtMsg by alice in PR:bob for 2", "sent m1 bob/phone"])
        bench.acceptPush()
        #expect(bench.told() == ["push m1 of bob/phone accepted", "ended m1 bob/phone accepted"])
        let request = ExtensionRequest.receipt(bench.messages[0], .shown)
        bench.run(
            .api(
                APIRequestID(3),
                .fromExtension(ServerBench.device("bob"), tokenIssuedAt: bench.now.wall, request)))
        #expect(bench.told() == ["shown m1 bob/phone"])
    }

    @Test func `is told the whole name of a push, so that it is found at Apple's side`() throws {
        var bench = ServerBench.pushing()
        let push = try #require(bench.pushes.last)
        let leg = LegID(message: bench.messages[0], user: ServerBench.key("bob"), device: "phone")
        #expect(bench.reports.last == .sentLeg(leg, apnsID: push.request.apnsID))
        #expect(push.request.apnsID != nil)
        let refusal = APNsRefusal(.tooManyRequests, status: 429, apnsID: "A")
        bench.answerPush(.refused(refusal))
        #expect(
            bench.reports.contains(
                .answeredPush(
                    ServerBench.device("bob"), .message(bench.messages[0]),
                    .refused(apnsID: "A", status: 429, reason: "TooManyRequests"))))
        #expect(bench.told().last == "waits m1 bob/phone throttled")
    }

    @Test(arguments: [
        (APNsOutcome.unknownOutcome("closed"), "unknown: closed"), (.notSent("full"), "not sent: full"),
        (.stopped("InvalidProviderToken"), "not sent: InvalidProviderToken"),
    ])
    func `is told of a push that had no answer`(outcome: APNsOutcome, words: String) {
        var bench = ServerBench.pushing()
        _ = bench.told()
        bench.answerPush(outcome)
        #expect(bench.told().first == "push m1 of bob/phone \(words)")
    }

    @Test func `is told of a push without a credential, and of the alarm`() {
        var bench = ServerBench.pushing()
        _ = bench.told()
        bench.run(.credentialMissing(bench.pushes.removeFirst().id))
        #expect(
            bench.told() == [
                "push m1 of bob/phone without credential", "alarm configFault(reason: \"NoCredential\")",
                "waits m1 bob/phone config_fault",
            ])
    }

    @Test func `is told of an outage from its alarm to its end`() {
        var bench = ServerBench.pushing()
        bench.acceptPush()
        _ = bench.told()
        bench.report(.paused(LaneOutage(.connection, reason: "refused")))
        bench.say(to: .direct("bob"))
        #expect(
            bench.told() == [
                "alarm providerDown(reason: \"refused\")", "m2 RC:TxtMsg by alice in PR:bob for 2",
                "waits m2 bob/phone provider_down",
            ])
        bench.report(.usable)
        #expect(bench.told() == ["alarm over", "sent m2 bob/phone"])
    }

    @Test func `is told how a message ends on the screen, and for who has no device`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        _ = bench.told()
        bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice")))))
        #expect(
            bench.told() == [
                "m1 RC:TxtMsg by bob in PR:alice for 2", "ended m1 bob/phone own_device", "ended m1 alice/- no_device",
            ])
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 2, settled: []))))
        #expect(bench.told() == ["m2 RC:TxtMsg by alice in PR:bob for 2", "ended m2 bob/phone settled"])
    }

    @Test func `is told how legs end that the store ends with a sign-out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        _ = bench.told()
        bench.run(.frame(bob, .signOut))
        #expect(
            bench.told() == ["bob/phone disconnected", "ended m1 bob/phone signed_out", "bob/phone signed out"])
    }

    @Test func `is told of what has ended while the store was signing a device out`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.isStoreHeld = true
        bench.run(.frame(bob, .send(bench.draft("hi", .direct("alice")))))
        bench.run(.frame(bob, .signOut))
        bench.releaseStore()
        #expect(bench.told().contains("ended m1 bob/phone own_device"))
        #expect(bench.store.dump().messages.map { $0.ended.map(\.end) } == [[.noDevice, .ownDevice]])
    }

    @Test func `is told of recalls and edits, and of messages to the app itself`() {
        var bench = ServerBench()
        bench.connect("bob")
        bench.say(to: .direct("bob"))
        let id = bench.messages[0]
        _ = bench.told()
        bench.run(.api(APIRequestID(1), .request(ServerBench.app, actor: nil, .edit(id, content: #"{"content":"x"}"#))))
        #expect(bench.told() == ["m1 edited in PR:bob"])
        bench.run(.api(APIRequestID(2), .request(ServerBench.app, actor: nil, .recall(id))))
        #expect(bench.told().first == "m1 recalled by m2 of alice in PR:bob")
        bench.run(
            .api(
                APIRequestID(3),
                .sendCustom(
                    ServerBench.app, CustomMessage(id: MessageID(rawValue: 0), content: "x", sentAt: 0),
                    recipients: ["bob"], clientMessageID: "k")))
        #expect(bench.told() == ["m3 custom for 1"])
    }

    @Test func `is told when the disk is full, and when it has room again`() {
        var settings = ServerBench.plain
        settings.freeBytesMin = 1_000
        var bench = ServerBench(settings: settings)
        bench.run(.storageMeasured(free: 999))
        bench.run(.storageMeasured(free: 2_000))
        #expect(bench.told() == ["disk full: 999", "disk has room: 2000"])
        #expect(ServerReport.storage(isFull: true, free: 1).app == nil)
        #expect(
            ServerReport.expiringCredential("demo", credential: "p1", expiresAt: 1, isExpired: false).app == "demo")
    }

    @Test func `reads no text of a message, name or push`() {
        var bench = ServerBench.gone()
        bench.run(
            .api(
                APIRequestID(1),
                .setProfiles(ServerBench.app, [UserProfile("alice", Profile(name: "Alice Liddell", portrait: nil))])))
        bench.say("a very secret text", to: .direct("bob"))
        bench.acceptPush()
        #expect(bench.reports.count > 5)
        for report in bench.reports {
            let words = "\(report)"
            #expect(!words.contains("secret") && !words.contains("Liddell"), "\(words)")
        }
    }
}

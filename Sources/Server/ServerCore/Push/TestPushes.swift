import APNsModel
import StoreModel
import TidingsModel

extension ServerCore {
    /// How long a test push's answer waits for APNs.
    static let testPushWait: Int64 = 5_000

    mutating func pushTest(
        _ test: TestPush, to device: DeviceKey, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        let command = APICommand.testPush(device, test)
        guard let slot = self.busySlot(of: device.user, for: request, command) else { return }
        guard self.turn.state == .open else { throw Self.unavailable }
        try self.admitCommand(.messages, of: device.user.app, "test_push")
        do throws(InvalidField) { try test.validate() } catch { throw ServerFrame.Problem(error) }
        guard self.people[slot].devices.index(of: device.device) != nil else { throw .init(Self.unknownDevice) }
        try self.passOnce(.testPush(device, test), in: device.user.app, for: request)
    }

    mutating func finishTest(_ test: TestPush, to key: DeviceKey, for request: APIRequestID, at: Int64) {
        let now = self.turn.now
        // Who is pushed to stays in memory for some time, unless the device has signed out meanwhile.
        guard let slot = self.slots[key.user], self.people[slot].state.isReady,
            let index = self.people[slot].devices.index(of: key.device)
        else { return self.turn.emit(.reply(request, .refused(Self.unavailable))) }
        self.countDeliveries(1, by: nil, in: key.user.app)
        var report = self.people[slot].report(of: test, at: at, toDeviceAt: index, &self.turn)
        defer { if report.state != .pushing { self.turn.emit(.reply(request, .testPush(report))) } }
        guard let asked = report.request, let lane = report.lane?.lane,
            let registration = self.people[slot].devices[index].push.registration
        else {
            report.state = .notSent(reason: "no_token")
            return self.passed.keepPush(.test(report), as: test.id, in: key.user.app, now)
        }
        if let reason = self.turn.lanes.reasonNotToPass(lane, isTest: true) {
            report.state = .notSent(reason: reason)
            return self.passed.keepPush(.test(report), as: test.id, in: key.user.app, now)
        }
        self.passed.keepPush(.test(report), as: test.id, in: key.user.app, now)
        let id = self.beginPassing(
            PassingPush(app: key.user.app, id: test.id, lane: lane, subject: .test(key, registration)))
        self.passed.wait(for: id, request)
        self.turn.timers.set(at: now.monotonic + Self.testPushWait, .testPush(id))
        self.turn.emit(.push(id, to: key, asked))
    }

    /// With what APNs has said, or without it when that has taken too long.
    mutating func answerTest(_ id: PushID, _ push: PassingPush) {
        guard let request = self.passed.endWait(for: id) else { return }
        guard case .test(let report) = self.passed[push.id, push.app, self.turn.now] else {
            return self.turn.emit(.reply(request, .refused(Self.unavailable)))
        }
        self.turn.emit(.reply(request, .testPush(report)))
    }

    mutating func handleTestTimer(_ id: PushID) {
        guard let push = self.passed.push(id) else { return }
        self.answerTest(id, push)
    }
}

extension Person {
    fileprivate mutating func report(
        of test: TestPush, at: Int64, toDeviceAt index: Int, _ turn: inout Turn
    ) -> TestPushReport {
        self.state.activeElsewhereUntil = self.activeElsewhere(than: index, &turn)
        return self.devices[index].report(of: test, at: at, &self.state, &turn)
    }
}

extension Device {
    fileprivate mutating func report(
        of test: TestPush, at: Int64, _ person: inout PersonState, _ turn: inout Turn
    ) -> TestPushReport {
        let facts = self.factsOfMessageNow(&person, &turn)
        var report = TestPushReport(
            id: test.id, sentAt: at, device: DeviceInfo(self, turn.now), lease: self.lease, lane: nil,
            verdict: PushVerdict(facts), tests: PushVerdict.tests(of: facts), request: nil, state: .pushing)
        guard let registration = self.push.registration, let bytes = try? test.payload.serialized(for: .alert) else {
            return report
        }
        let lane = turn.lanes.makeIfAllowed(PushLane(registration, in: self.key.user.app), turn.settings)
        let known = turn.lanes[lane]
        report.lane = .init(
            lane: lane, hold: known?.hold ?? .configFault, outage: known?.client.outage,
            waiting: known?.queue.count ?? 0, inFlight: known?.inFlight ?? 0)
        // Expiration 0: what APNs keeps for a phone that is off must not be replaced by a test (apns.md §15).
        report.request = APNsRequest(
            token: registration.token, topic: registration.topic, pushType: .alert, priority: .immediate, expiration: 0,
            apnsID: test.id, payload: bytes, environment: registration.environment)
        return report
    }

    /// Returns the facts of a text that a person without settings of the recipient's sends them now.
    private mutating func factsOfMessageNow(_ person: inout PersonState, _ turn: inout Turn) -> PushFacts {
        let user = self.key.user
        let message = Message(
            id: MessageID(rawValue: 0), app: user.app, sender: "",
            conversation: ConversationID(type: .direct, target: user.user.rawValue), clientMessageID: "",
            objectName: .text, content: "", flags: .normal, pushText: nil, sentAt: turn.now.wall)
        let leg = Leg(
            position: person.head + 1, subject: .message(SharedMessage(message)), state: self.lease.firstLegState,
            liveSince: turn.now.monotonic)
        return self.facts(of: leg, &person, &turn)
    }
}

import APNsModel
import DequeModule
import StoreModel
import TidingsModel

/// A push that passed by the log, whose answer is open: neither of messages nor of a badge.
struct PassingPush: Sendable {
    enum Subject: Sendable {
        case activity
        case test(DeviceKey, PushRegistration)
        case silent(DeviceKey, PushRegistration)
        case call(DeviceKey, VoIPToken, slot: Int)
    }

    let app: AppID
    /// The id that `PassedPushes` knows it by.
    let id: String
    let lane: PushLane
    let subject: Subject

    /// By which its lane counts: a call is its person's, the others are nobody's.
    var slot: Int { if case .call(_, _, let slot) = self.subject { slot } else { -1 } }
}

/// Keeps the traces of what passed by the log in the last minutes, by app and id. In memory alone: an older one is of no interest, and a
/// call that a crash interrupts rings no more.
struct KeptTraces<Trace: Sendable>: Sendable {
    struct Key: Hashable, Sendable {
        let app: AppID
        let id: String
    }

    private struct Entry: Sendable {
        var trace: Trace
        let until: Int64
    }

    private static var keptTime: Int64 { 600_000 }
    private static var keptMax: Int { 10_000 }

    private var entries: [Key: Entry] = [:]
    private var ages: Deque<Key> = []

    subscript(key: Key, now: Now) -> Trace? {
        self.entries[key].flatMap { $0.until > now.monotonic ? $0.trace : nil }
    }

    mutating func keep(_ trace: Trace, as key: Key, _ now: Now) {
        while let oldest = self.ages.first, let entry = self.entries[oldest],
            entry.until <= now.monotonic || self.ages.count >= Self.keptMax
        {
            self.entries[oldest] = nil
            self.ages.removeFirst()
        }
        let entry = Entry(trace: trace, until: now.monotonic + Self.keptTime)
        if self.entries.updateValue(entry, forKey: key) == nil { self.ages.append(key) }
    }

    mutating func change(_ key: Key, _ change: (inout Trace) -> Void) {
        guard let index = self.entries.index(forKey: key) else { return }
        change(&self.entries.values[index].trace)
    }
}

/// The pushes that passed by the log, calls among them.
struct PassedPushes: Sendable {
    enum Kept: Sendable {
        case activity(ActivityPushTrace)
        indirect case test(TestPushReport)
        case silent(SilentPushReport)
        case channels(ChannelOutcome)
    }

    private var calls = KeptTraces<CallTrace>()
    private var others = KeptTraces<Kept>()
    private var pushes: [PushID: PassingPush] = [:]
    /// Test pushes with a caller who waits for APNs' answer.
    private var waiting: [PushID: APIRequestID] = [:]
    /// Channels that are being made under idempotency keys.
    private var channels: [APIRequestID: (app: AppID, id: String)] = [:]

    subscript(id: String, app: AppID, now: Now) -> Kept? { self.others[.init(app: app, id: id), now] }

    func call(_ id: CallID, in app: AppID, _ now: Now) -> CallTrace? {
        self.calls[.init(app: app, id: id.rawValue), now]
    }

    mutating func keepPush(_ kept: Kept, as id: String, in app: AppID, _ now: Now) {
        self.others.keep(kept, as: .init(app: app, id: id), now)
    }

    mutating func keepCall(_ trace: CallTrace, in app: AppID, _ now: Now) {
        self.calls.keep(trace, as: .init(app: app, id: trace.call.id.rawValue), now)
    }

    mutating func begin(_ id: PushID, _ push: PassingPush) { self.pushes[id] = push }

    mutating func end(_ id: PushID) -> PassingPush? { self.pushes.isEmpty ? nil : self.pushes.removeValue(forKey: id) }

    func push(_ id: PushID) -> PassingPush? { self.pushes[id] }

    mutating func wait(for id: PushID, _ request: APIRequestID) { self.waiting[id] = request }

    mutating func endWait(for id: PushID) -> APIRequestID? { self.waiting.removeValue(forKey: id) }

    mutating func beginChannel(_ id: String, in app: AppID, for request: APIRequestID) {
        self.channels[request] = (app, id)
    }

    mutating func endChannel(_ request: APIRequestID) -> (app: AppID, id: String)? {
        self.channels.removeValue(forKey: request)
    }

    mutating func record(_ state: CallPushState, of push: PassingPush) {
        guard case .call(let device, _, _) = push.subject else { return }
        self.calls.change(.init(app: push.app, id: push.id)) { trace in
            guard let index = trace.devices.firstIndex(where: { $0.id == device.device }) else { return }
            trace.devices[index].state = state
        }
    }

    mutating func record(_ answer: PushAnswer, of push: PassingPush) {
        if case .call = push.subject { return self.record(CallPushState(answer), of: push) }
        self.others.change(.init(app: push.app, id: push.id)) { kept in
            switch kept {
            case .activity(var trace):
                trace.state = PassedPushState(answer)
                kept = .activity(trace)
            case .test(var report):
                report.state = PassedPushState(answer)
                kept = .test(report)
            case .silent, .channels: break
            }
        }
    }
}

// What the app's backend asks for and no log knows of: Live Activities, test pushes, silent pushes, calls, broadcast channels.
extension ServerCore {
    /// Carries it out at once; under an idempotency key when the store has kept the key.
    mutating func passOnce(
        _ command: APICommand, in app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard let keyed = self.turn.shares.keysUnderWay[request] else {
            return self.finishPassing(command, for: request, at: self.turn.now.wall)
        }
        try self.turn.checkBacklog(of: .backend(app))
        // Nothing is read: the command is there for the key that is kept with it.
        self.turn.ask(.readProfiles(app, []), for: .api(request, .pass(command, at: keyed.at)), by: .backend(app))
    }

    mutating func finishPassing(_ command: APICommand, for request: APIRequestID, at: Int64) {
        guard self.turn.state == .open else { return self.turn.emit(.reply(request, .refused(Self.unavailable))) }
        switch command {
        case .pushActivity(let app, let push):
            self.finishActivity(push, in: app, for: request, at: at)
        case .testPush(let device, let test): self.finishTest(test, to: device, for: request, at: at)
        case .silentPush(let user, let push): self.finishSilent(push, to: user, for: request, at: at)
        case .channels(let app, let asked): self.finishChannels(asked, in: app, for: request)
        default: self.turn.emit(.flagBug("\(request) is no push that passes by the log"))  // tidy: no other is passed
        }
    }

    /// The answer to the repeat of a request under an idempotency key; nil for a command whose answer the store keeps.
    func repeatedAnswer(to command: APICommand, _ kept: KeptAnswer) -> APIResult? {
        let now = self.turn.now
        return switch command {
        case .pushActivity: .passed(at: kept.at)
        case .testPush(let device, let test):
            if case .test(let report) = self.passed[test.id, device.user.app, now] {
                .testPush(report)
            } else {
                .refused(Self.forgottenAnswer)
            }
        case .silentPush(let user, let push):
            if case .silent(let report) = self.passed[push.id, user.app, now] {
                .silentPush(report)
            } else {
                .refused(Self.forgottenAnswer)
            }
        case .channels(let app, let asked):
            if let id = asked.requestID, case .channels(let outcome) = self.passed[id, app, now] {
                .channels(outcome)
            } else {
                .refused(Self.forgottenAnswer)
            }
        default: nil  // tidy: the store keeps the answers of all others
        }
    }

    private static let forgottenAnswer = ServerFrame.Problem(
        code: .exists, field: "Idempotency-Key",
        rule: "must be new: what it asked for was done, and the answer is no longer known")

    func checkPassedID(_ id: String, in app: AppID) throws(ServerFrame.Problem) {
        guard self.passed[id, app, self.turn.now] == nil else {
            throw .init(code: .exists, field: "id", rule: "must be new: \"\(id)\" was sent already")
        }
    }

    func checkBundle(_ topic: String, of app: AppID) throws(InvalidField) {
        guard let topics = self.turn.settings.pushTopics[app], !topics.contains(topic) else { return }
        throw InvalidField(
            field: "topic", rule: "must be a topic of the app: \(topics.joined(separator: ", "))")
    }

    mutating func beginPassing(_ push: PassingPush) -> PushID {
        let id = self.turn.lanes.nextPush()
        self.passed.begin(id, push)
        self.turn.lanes[push.lane]?.begin(id, of: push.slot, at: self.turn.now.monotonic)
        return id
    }

    mutating func endPassing(_ id: PushID, _ push: PassingPush, _ answer: PushAnswer) {
        self.report(answer, to: push)
        self.turn.lanes[push.lane]?.end(id, of: push.slot, at: self.turn.now.monotonic)
        if case .noCredential = answer { self.holdForCredential(push.lane) }
        if case .answered(.refused(let refusal)) = answer { self.followRefusal(refusal, of: push.subject) }
        self.passed.record(answer, of: push)
        self.answerTest(id, push)
        self.pumpLane(push.lane)
        self.watchIdle(push.lane)
    }

    /// A token that is bad is not asked again (HeldTokens.swift). It is forgotten only where APNs says that it is dead, and is one for calls:
    /// tokens of Live Activities are the backend's, and a device's own waits until it shows who is at fault.
    private mutating func followRefusal(_ refusal: APNsRefusal, of subject: PassingPush.Subject) {
        switch (subject, refusal.reaction) {
        case (.call(let device, let token, _), .drop): self.forgetVoIPToken(token, of: device, refusal)
        case (.call(let device, let token, _), .quarantine):
            self.turn.lanes.hold(token.registration, of: device, wasAccepted: false, refusal)
        case (.test(let device, let registration), .quarantine), (.silent(let device, let registration), .quarantine):
            guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device)
            else { return }
            let push = self.people[slot].devices[index].push
            guard self.people[slot].devices[index].registration?.registration == registration else { return }
            self.turn.lanes.hold(registration, of: device, wasAccepted: push.wasAccepted, refusal)
        default: break  // tidy: an activity's token is the backend's, and other refusals are not about the token
        }
    }

    // MARK: Live Activities

    mutating func pushActivity(
        _ push: LiveActivityPush, in app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard self.turn.state == .open else { throw Self.unavailable }
        try self.admitCommand(.messages, of: app, "live_activity")
        do throws(InvalidField) {
            try push.validate()
            try self.checkBundle(push.topic, of: app)
        } catch {
            throw ServerFrame.Problem(error)
        }
        try self.checkPassedID(push.id, in: app)
        try self.passOnce(.pushActivity(app, push), in: app, for: request)
    }

    private mutating func finishActivity(
        _ push: LiveActivityPush, in app: AppID, for request: APIRequestID, at: Int64
    ) {
        do throws(ServerFrame.Problem) {
            try self.checkPassedID(push.id, in: app)
        } catch {
            return self.turn.emit(.reply(request, .refused(error)))
        }
        self.turn.emit(.reply(request, .passed(at: at)))
        self.countDeliveries(1, by: nil, in: app)
        let lane = self.turn.lanes.makeIfAllowed(
            PushLane(app: app, environment: push.lane.environment, topic: push.lane.topic), self.turn.settings)
        var trace = ActivityPushTrace(push: push, sentAt: at, state: .pushing)
        if let reason = self.turn.lanes.reasonNotToPass(lane) {
            trace.state = .notSent(reason: reason)
            return self.passed.keepPush(.activity(trace), as: push.id, in: app, self.turn.now)
        }
        guard let bytes = try? push.bytes() else {
            return self.turn.emit(.flagBug("a Live Activity's push does not fit"))
        }
        self.passed.keepPush(.activity(trace), as: push.id, in: app, self.turn.now)
        let id = self.beginPassing(PassingPush(app: app, id: push.id, lane: lane, subject: .activity))
        switch push.target {
        case .token(let token): self.turn.emit(.pass(id, app, push.request(to: token, bytes)))
        case .channel(let channel): self.turn.emit(.broadcast(id, app, push.broadcast(to: channel, bytes)))
        }
    }

    func activityPush(_ id: String, in app: AppID) -> ActivityPushTrace? {
        if case .activity(let trace) = self.passed[id, app, self.turn.now] { trace } else { nil }
    }
}

import APNsModel
import DequeModule
import StoreModel
import TidingsModel

/// A push of no message and no call, whose answer is open.
struct PassingPush: Sendable {
    enum Subject: Sendable {
        case activity
        case test(DeviceKey, PushRegistration)
        case silent(DeviceKey, PushRegistration)
    }

    let app: AppID
    /// The id that `PassedPushes` knows it by.
    let id: String
    let lane: PushLane
    let subject: Subject
}

/// The pushes that passed by the log in the last minutes, in memory alone, as calls are.
struct PassedPushes: Sendable {
    enum Kept: Sendable {
        case activity(ActivityPushTrace)
        indirect case test(TestPushReport)
        case silent(SilentPushReport)
        case channels(ChannelOutcome)
    }

    private struct Key: Hashable {
        let app: AppID
        let id: String
    }

    private struct Entry {
        var kept: Kept
        let until: Int64
    }

    static let keptTime: Int64 = 600_000
    static let keptMax = 10_000

    private var entries: [Key: Entry] = [:]
    private var ages: Deque<Key> = []
    private var pushes: [PushID: PassingPush] = [:]
    /// Test pushes with a caller who waits for APNs' answer.
    private var waiting: [PushID: APIRequestID] = [:]
    /// Channels that are being made under idempotency keys.
    private var channels: [APIRequestID: Key] = [:]

    subscript(id: String, app: AppID, now: Now) -> Kept? {
        self.entries[Key(app: app, id: id)].flatMap { $0.until > now.monotonic ? $0.kept : nil }
    }

    mutating func keepPush(_ kept: Kept, as id: String, in app: AppID, _ now: Now) {
        while let oldest = self.ages.first, let entry = self.entries[oldest],
            entry.until <= now.monotonic || self.ages.count >= Self.keptMax
        {
            self.entries[oldest] = nil
            self.ages.removeFirst()
        }
        let key = Key(app: app, id: id)
        let entry = Entry(kept: kept, until: now.monotonic + Self.keptTime)
        if self.entries.updateValue(entry, forKey: key) == nil { self.ages.append(key) }
    }

    mutating func begin(_ id: PushID, _ push: PassingPush) { self.pushes[id] = push }

    mutating func end(_ id: PushID) -> PassingPush? { self.pushes.isEmpty ? nil : self.pushes.removeValue(forKey: id) }

    func push(_ id: PushID) -> PassingPush? { self.pushes[id] }

    mutating func wait(for id: PushID, _ request: APIRequestID) { self.waiting[id] = request }

    mutating func endWait(for id: PushID) -> APIRequestID? { self.waiting.removeValue(forKey: id) }

    mutating func beginChannel(_ id: String, in app: AppID, for request: APIRequestID) {
        self.channels[request] = Key(app: app, id: id)
    }

    mutating func endChannel(_ request: APIRequestID) -> (app: AppID, id: String)? {
        self.channels.removeValue(forKey: request).map { ($0.app, $0.id) }
    }

    mutating func record(_ state: PassedPushState, of push: PassingPush) {
        let key = Key(app: push.app, id: push.id)
        switch self.entries[key]?.kept {
        case .activity(var trace):
            trace.state = state
            self.entries[key]?.kept = .activity(trace)
        case .test(var report):
            report.state = state
            self.entries[key]?.kept = .test(report)
        case .silent, .channels, nil: break
        }
    }
}

// What the app's backend asks for and no log knows of: Live Activities, test pushes, silent pushes, broadcast channels.
extension ServerCore {
    /// In lanes, where people have the numbers of their slots.
    static let nobodysSlot = -1

    /// Carries it out at once; under an idempotency key when the store has kept the key.
    mutating func passOnce(
        _ command: APICommand, in app: AppID, for request: APIRequestID
    ) throws(ServerFrame.Problem) {
        guard let keyed = self.turn.shares.keys[request] else {
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
        self.turn.lanes[push.lane]?.begin(id, of: Self.nobodysSlot, at: self.turn.now.monotonic)
        return id
    }

    /// A refused token is not forgotten: tokens of Live Activities are the backend's, and a device's own waits until it shows who is at fault.
    mutating func endPassing(_ id: PushID, _ push: PassingPush, _ answer: PushAnswer) {
        self.report(answer, to: push)
        self.turn.lanes[push.lane]?.end(id, of: Self.nobodysSlot, at: self.turn.now.monotonic)
        if case .noCredential = answer {
            let scope = LaneScope(app: push.lane.app, environment: push.lane.environment, topic: push.lane.topic)
            self.handleLaneReport(scope, .paused(LaneOutage(.credential, reason: "NoCredential")))
        }
        if case .answered(.refused(let refusal)) = answer, case .quarantine = refusal.reaction {
            self.holdToken(of: push.subject, refusal)
        }
        self.passed.record(PassedPushState(answer), of: push)
        self.answerTest(id, push)
        self.pumpLane(push.lane)
        self.watchIdle(push.lane)
    }

    private mutating func holdToken(of subject: PassingPush.Subject, _ refusal: APNsRefusal) {
        switch subject {
        case .activity: return
        case .test(let device, let registration), .silent(let device, let registration):
            guard let slot = self.slots[device.user], let index = self.people[slot].devices.index(of: device.device)
            else { return }
            let push = self.people[slot].devices[index].push
            guard self.people[slot].devices[index].registration?.registration == registration else { return }
            self.turn.lanes.hold(registration, of: device, wasAccepted: push.wasAccepted, refusal)
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

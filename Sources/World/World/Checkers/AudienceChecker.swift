// A push to an audience reaches everybody who is in it all the while, nobody who is never in it, and each once, whatever is killed meanwhile;
// it rings on none of their devices that are not; and what its statistics say is what became of its messages.
import ClientCore
import OrderedCollections
import StoreModel
import TidingsModel

struct AudienceChecker: Checker {
    static let kinds = FactKinds(
        .acceptCustom, .set, .named, .signIn, .signOut, .serverStarted, .pushed, .posted, .extended, .fetched,
        .rangInForeground)

    private struct Push {
        var job: PushJob
        var life: Int
        /// Who has been in its audience since it was made, or has come into it.
        var isIn: Set<UserID>
        /// The first of these that have not left it.
        var stays: Set<UserID>
        var reached: OrderedDictionary<UserID, MessageID> = [:]
    }

    private var pushes: OrderedDictionary<PushJobID, Push> = [:]
    private var tags: [UserID: [String]] = [:]
    private var aliases: [Alias: UserID] = [:]
    private var people: OrderedSet<UserID> = []

    /// The devices of messages that are not for all devices of their people.
    private var addressed: [MessageID: [DeviceID]] = [:]

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .committed(let command, let result): self.apply(command, result, state, into: &findings)
        case .pushed(let request, let key):
            if let info = request.alert { self.checkRing(of: info.message, on: key, into: &findings) }
        // What is quiet may be the recall of what the app in front has shown.
        case .posted(let notification, let key, _):
            if !notification.isSilent { self.checkRing(of: notification.message, on: key, into: &findings) }
        case .extended(let message, isQuiet: false, _, let key), .rangInForeground(let message, let key):
            self.checkRing(of: message, on: key, into: &findings)
        case .fetched(let posts, _, let key):
            for post in posts { self.checkRing(of: post.message.message, on: key, into: &findings) }
        default: break  // tidy: the other facts are other promises'
        }
    }

    private func checkRing(of message: MessageID, on key: DeviceKey, into findings: inout Findings) {
        guard let devices = self.addressed[message], !devices.contains(key.device) else { return }
        findings.add("audience", "\(message) is for \(devices), and \(key) tells of it")
    }

    private mutating func apply(
        _ command: StoreCommand, _ result: StoreResult, _ state: CheckerState, into findings: inout Findings
    ) {
        switch (command, result) {
        case (.signIn(let key, _, _, _), .device):
            self.people.append(key.user.user)
            self.update(state)
        case (.signOut, .done): self.update(state)
        case (.setLabels(let key, let change), .labels): self.setLabels(change, of: key.user, state)
        case (.setBlocked(let key, let user, _, _), _):
            for id in self.pushes.keys where self.pushes[id]?.job.sender == user {
                self.pushes[id]?.stays.remove(key.user)
            }
        // Whom an account writes to is checked with what it sends.
        case (.putAccount, _), (.setAccount, _), (.setFollowing, _):
            for id in self.pushes.keys where self.pushes[id]?.job.account != World.pushService {
                self.pushes[id]?.stays = []
            }
        case (.createPush(let job), .pushJob(let made?)): self.begin(made, of: job, state)
        case (.changePush(_, _, let change, _), .pushJob(let job?)):
            self.change(job, isCancelled: change == .cancel, into: &findings)
        case (.stepPush(_, let id, _, _, _), .pushStep(let step)): self.takeStep(step, of: id, state, into: &findings)
        default: break  // tidy: the other commands are about no audience
        }
    }

    private mutating func begin(_ made: PushJob, of job: PushJob, _ state: CheckerState) {
        var push = Push(job: made, life: state.life, isIn: [], stays: [])
        let named: [UserID] = job.audience.namedUsers
        for user in self.people.union(named).union(self.aliases.values.sorted()) where self.includes(user, job, state) {
            push.isIn.insert(user)
            let settings = state.committed.settings(of: user)
            // An account may be for its followers.
            // Where people are looked for, nobody finds who was never there.
            let isFound = !job.audience.looksForPeople || self.people.contains(user)
            if isFound, job.account == World.pushService, job.ignoresBlocks || !settings.blocked.contains(job.sender) {
                push.stays.insert(user)
            }
        }
        self.pushes[made.id] = push
    }

    private func includes(_ user: UserID, _ job: PushJob, _ state: CheckerState) -> Bool {
        let devices = Self.devices(of: user, state)
        guard !devices.isEmpty else { return self.isIn(job.audience, user, on: nil) }
        return devices.contains { self.isIn(job.audience, user, on: $0) }
    }

    private static func devices(of user: UserID, _ state: CheckerState) -> [DeviceID] {
        let key = UserKey(app: World.app, user: user)
        return state.committed.devices(of: key).map { state.committed.devices.keys[$0].device }
    }

    /// Not by the store's own answer, which is what is checked.
    ///
    /// - Parameter device: one that is signed in; nil for a person without any.
    private func isIn(_ audience: PushAudience, _ user: UserID, on device: DeviceID?) -> Bool {
        switch audience {
        case .everybody: device != nil
        case .users(let users): users.contains(user)
        case .devices(let devices): devices.contains { $0.user == user && $0.device == device }
        case .alias(let alias): self.aliases[alias] == user
        case .tag(let tag): device != nil && self.tags[user]?.contains(tag) == true
        case .all(let parts): !parts.contains { !self.isIn($0, user, on: device) }
        case .any(let parts): parts.contains { self.isIn($0, user, on: device) }
        case .not(let part): device != nil && !self.isIn(part, user, on: device)
        }
    }

    /// Who comes into an audience may be reached, who leaves it need not.
    private mutating func update(_ state: CheckerState) {
        for (id, push) in self.pushes where push.job.state.isUnfinished && push.job.state != .recalling {
            for user in self.people.union(push.isIn.sorted()) {
                if self.includes(user, push.job, state) {
                    self.pushes[id]?.isIn.insert(user)
                } else {
                    self.pushes[id]?.stays.remove(user)
                }
            }
        }
    }

    private mutating func setLabels(_ change: LabelChange, of user: UserID, _ state: CheckerState) {
        switch change {
        case .aliases(let names):
            self.aliases = self.aliases.filter { $0.value != user }
            for name in names { self.aliases[name] = user }
        case .tags(let tags): self.tags[user] = tags
        }
        self.people.append(user)
        self.update(state)
    }

    /// - Parameter isCancelled: the backend has asked for that.
    private mutating func change(_ job: PushJob, isCancelled: Bool, into findings: inout Findings) {
        if isCancelled, job.state == .scheduled || job.state == .running {
            findings.add("audience", "\(job.id) was cancelled, and is \(job.state)")
        }
        if job.state == .cancelled { findings.reach(.cancelledPushes) }
        self.pushes[job.id]?.job = job
    }

    private mutating func change(_ job: PushJob, into findings: inout Findings) {
        if job.state == .cancelled { findings.reach(.cancelledPushes) }
        self.pushes[job.id]?.job = job
    }

    private mutating func takeStep(
        _ step: PushStep, of id: PushJobID, _ state: CheckerState, into findings: inout Findings
    ) {
        guard let push = self.pushes[id] else {
            return findings.add("audience", "a step of \(id), of which nobody knows")
        }
        if push.life != state.life { findings.reach(.resumedPushes) }
        if !step.sent.isEmpty, push.job.state != .running {
            findings.add("audience", "\(id) is \(push.job.state), and is sent to \(step.sent.count) people")
        }
        for (message, delivery, devices) in step.sent {
            self.checkDevices(devices, of: message, to: delivery.user, by: push.job, state, into: &findings)
            if let before = push.reached[delivery.user] {
                findings.add("audience", "\(id) reached \(delivery.user) as \(message), and before as \(before)")
            }
            let blocked = state.committed.settings(of: delivery.user).blocked
            if !push.job.ignoresBlocks, blocked.contains(push.job.sender) {
                findings.add("audience", "\(id) reached \(delivery.user), who has blocked \(push.job.sender)")
            }
            if !push.isIn.contains(delivery.user) {
                findings.add("audience", "\(id) reached \(delivery.user), who is not in its audience")
            }
            self.pushes[id]?.reached[delivery.user] = message
        }
        self.pushes[id]?.job = step.job
        guard step.isDone else { return }
        if push.job.state == .recalling { return findings.reach(.recalledPushes) }
        // Its account was taken back.
        if step.job.state == .cancelled { return }
        findings.reach(.pushesDone)
        let reached = Set(self.pushes[id]?.reached.keys.elements ?? [])
        for user in push.stays.subtracting(reached).sorted() {
            findings.add("audience", "\(id) is done, and has not reached \(user)")
        }
    }

    private mutating func checkDevices(
        _ devices: [DeviceID], of message: MessageID, to user: UserID, by job: PushJob, _ state: CheckerState,
        into findings: inout Findings
    ) {
        let all = Self.devices(of: user, state).sorted()
        let some = all.filter { self.isIn(job.audience, user, on: $0) }
        let expected = some.count == all.count ? [] : some
        if devices != expected {
            findings.add("audience", "\(message) of \(job.id) is for \(devices) of \(user), and not for \(expected)")
        }
        guard !expected.isEmpty else { return }
        self.addressed[message] = expected
        findings.reach(.pushesToDevices)
    }

    func checkEnding(_ ending: Ending, in state: CheckerState, into findings: inout Findings) {
        let traces = Dictionary(uniqueKeysWithValues: ending.store.messages.map { ($0.id, $0) })
        for job in ending.store.pushes where job.app == World.app {
            guard let push = self.pushes[job.id] else {
                findings.add("audience", "\(job.id) is in the store, and nobody has made it")
                continue
            }
            if job.state == .running || job.state == .recalling {
                findings.add("audience", "\(job.id) is still \(job.state)")
            }
            for id in push.reached.values where job.state == .recalled && traces[id]?.recall == nil {
                findings.add("audience", "\(job.id) was taken back, and \(id) was not")
            }
            self.check(job.counts, of: push, traces, into: &findings)
        }
    }

    /// By what the store tells of each message.
    private func check(
        _ counts: PushCounts, of push: Push, _ traces: [MessageID: MessageTrace], into findings: inout Findings
    ) {
        var told = PushCounts()
        (told.lookedAt, told.skipped, told.repeated) = (counts.lookedAt, counts.skipped, counts.repeated)
        told.recipients = push.reached.count
        for id in push.reached.values {
            guard let trace = traces[id] else { continue }
            if trace.recall != nil { told.recalled += 1 }
            for ended in trace.ended { told.ends[ended.end.name, default: 0] += 1 }
            // What goes to the app alone is not shown, so a receipt of it says nothing: hostile clients send some.
            for receipt in trace.receipts where !push.job.isCustom { told.add(receipt.receipt) }
        }
        guard told != counts else { return }
        findings.add("audience", "the statistics of \(push.job.id) are \(counts), its messages' are \(told)")
    }
}

extension PushAudience {
    /// It does not name everybody who can be in it.
    fileprivate var looksForPeople: Bool {
        switch self {
        case .users, .devices, .alias: false
        case .everybody, .tag, .not: true
        case .all(let parts): !parts.contains { !$0.looksForPeople }
        case .any(let parts): parts.contains(where: \.looksForPeople)
        }
    }

    fileprivate var namedUsers: [UserID] {
        switch self {
        case .users(let users): users
        case .devices(let devices): devices.map(\.user)
        case .everybody, .alias, .tag: []
        case .all(let parts), .any(let parts): parts.flatMap(\.namedUsers)
        case .not(let part): part.namedUsers
        }
    }
}

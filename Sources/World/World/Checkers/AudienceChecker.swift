// A push to an audience reaches everybody who is in it all the while, nobody who is never in it, and each once, whatever is killed meanwhile;
// and what its statistics say is what became of its messages.
import OrderedCollections
import StoreModel
import TidingsModel

struct AudienceChecker: Checker {
    static let kinds = FactKinds(.acceptCustom, .set, .named, .signIn, .signOut, .serverStarted)

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
    private var aliases: [String: UserID] = [:]
    private var people: OrderedSet<UserID> = []

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        guard case .committed(let command, let result) = fact else { return }
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
            for id in self.pushes.keys
            where self.pushes[id]?.job.account.type != .pushService
                || self.pushes[id]?.job.account.target != "push"
            {
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
            if job.account.target == "push", job.ignoresBlocks || !settings.blocked.contains(job.sender) {
                push.stays.insert(user)
            }
        }
        self.pushes[made.id] = push
    }

    private func includes(_ user: UserID, _ job: PushJob, _ state: CheckerState) -> Bool {
        let isSignedIn = !state.devices(of: UserKey(app: World.app, user: user)).isEmpty
        return self.isIn(job.audience, user, isSignedIn: isSignedIn)
    }

    /// Not by the store's own answer, which is what is checked.
    private func isIn(_ audience: PushAudience, _ user: UserID, isSignedIn: Bool) -> Bool {
        switch audience {
        case .everybody: isSignedIn
        case .users(let users): users.contains(user)
        case .alias(let alias): self.aliases[alias] == user
        case .tag(let tag): isSignedIn && self.tags[user]?.contains(tag) == true
        case .all(let parts): !parts.contains { !self.isIn($0, user, isSignedIn: isSignedIn) }
        case .any(let parts): parts.contains { self.isIn($0, user, isSignedIn: isSignedIn) }
        case .not(let part): isSignedIn && !self.isIn(part, user, isSignedIn: isSignedIn)
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
        for (message, delivery) in step.sent {
            if let before = push.reached[delivery.user] {
                findings.add("audience", "\(id) reached \(delivery.user) as \(message), and before as \(before)")
            }
            if !push.isIn.contains(delivery.user) {
                findings.add("audience", "\(id) reached \(delivery.user), who is not in its audience")
            }
            self.pushes[id]?.reached[delivery.user] = message
        }
        self.pushes[id]?.job = step.job
        guard step.isDone else { return }
        if push.job.state == .recalling { return findings.reach(.recalledPushes) }
        findings.reach(.pushesDone)
        let reached = Set(self.pushes[id]?.reached.keys.elements ?? [])
        for user in push.stays.subtracting(reached).sorted() {
            findings.add("audience", "\(id) is done, and has not reached \(user)")
        }
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
    fileprivate var namedUsers: [UserID] {
        switch self {
        case .users(let users): users
        case .everybody, .alias, .tag: []
        case .all(let parts), .any(let parts): parts.flatMap(\.namedUsers)
        case .not(let part): part.namedUsers
        }
    }
}

import TidingsModel

// Pushes to an audience.
extension ReferenceStore {
    struct KeptPush: Hashable, Sendable {
        var job: PushJob
        /// What each step has sent.
        var steps: [[MessageID]] = []
        /// Of a job with a local time: who has a message by it.
        var reached: Set<UserID> = []
    }

    mutating func createPush(_ job: PushJob) -> StoreResult {
        var job = job.asNew
        if let fault = StoreRules.fault(in: job) { return .refused(fault) }
        if self.isUsed(job.id) { return .refused(StoreRules.usedMessageID(job.id)) }
        if case .message(let template) = job.body,
            let fault = StoreRules.fault(in: template.objectName, registered: self.objectNames[job.app] ?? [])
        {
            return .refused(fault)
        }
        let unfinished = self.pushes.values.count { $0.job.app == job.app && $0.job.state.isUnfinished }
        if let refusal = StoreRules.refusal(
            job, isDeclared: self.accounts[job.app]?[job.account] != nil, unfinished: unfinished)
        {
            return .refused(refusal)
        }
        job.audience = job.audience.sorted
        _ = self.people.place(making: UserKey(app: job.app, user: job.sender))
        self.pushes[job.id] = KeptPush(job: job)
        self.lastMessageID = max(self.lastMessageID, job.id)
        return .pushJob(job)
    }

    func push(_ id: PushJobID, of app: AppID) -> PushJob? {
        self.pushes[id].flatMap { $0.job.app == app ? $0.job : nil }
    }

    mutating func changePush(_ id: PushJobID, of app: AppID, _ change: PushJobChange, at: Int64) -> StoreResult {
        guard let job = self.push(id, of: app) else { return .pushJob(nil) }
        switch StoreRules.job(job, after: change, at: at) {
        case .failure(let problem): return .refused(problem)
        case .success(let after):
            self.pushes[id]?.job = after
            return .pushJob(after)
        }
    }

    func readPushes(of app: AppID, before: PushJobID?, limit: Int) -> StoreResult {
        if let fault = StoreRules.fault(inPushPage: limit) { return .refused(fault) }
        let jobs = self.pushes.values.map(\.job).sorted { $0.id > $1.id }.filter { job in
            job.app == app && before.map { job.id < $0 } ?? true
        }
        return .pushJobs(Array(jobs.prefix(limit)), hasMore: jobs.count > limit)
    }

    mutating func stepPush(
        _ id: PushJobID, of app: AppID, ids: [MessageID], devicesMax: Int, at: Int64
    ) -> StoreResult {
        guard let job = self.push(id, of: app) else { return .refused(StoreRules.unknownPush(id)) }
        if let fault = StoreRules.fault(inStep: ids, of: job) { return .refused(fault) }
        if let used = ids.first(where: { self.isUsed($0) }) { return .refused(StoreRules.usedMessageID(used)) }
        if let stopped = StoreRules.stop(job, isDeclared: self.accounts[app]?[job.account] != nil, at: at) {
            self.pushes[id]?.job = stopped
            return .pushStep(PushStep(job: stopped))
        }
        return .pushStep(
            job.state == .recalling
                ? self.recallStep(of: job, ids: ids, at: at)
                : self.sendStep(of: job, ids: ids, devicesMax: devicesMax, at: at))
    }

    private mutating func sendStep(of job: PushJob, ids: [MessageID], devicesMax: Int, at: Int64) -> PushStep {
        var walk = self.walk(job.audience, of: job.app, from: job.cursor, most: ids.count * StoreRules.pushLookFactor)
        var recipients: [(user: UserID, devices: [DeviceID])] = []
        var after = job
        var devices = 0
        while recipients.count < ids.count, devices < devicesMax, let found = walk.next() {
            guard let found, self.isInPass(found.user, of: job) else { continue }
            let user = found.user
            guard !self.isSkipped(user, by: job) else {
                // Once, of whoever is passed over by several passes.
                if job.isAtLastPass { after.counts.skipped += 1 }
                continue
            }
            recipients.append((user, found.devices))
            devices += self.people.place(of: UserKey(app: job.app, user: user)).map { self.people[$0].signedIn } ?? 0
        }
        after.cursor = walk.cursor
        after.counts.lookedAt += walk.lookedAt
        after.counts.recipients += recipients.count
        if walk.isAtEnd { after.endPass(at: at) }
        if !recipients.isEmpty { after.steps += 1 }
        self.pushes[job.id]?.job = after
        var step = PushStep(job: after)
        step.ids = Array(ids.prefix(recipients.count))
        step.deliveries = zip(step.ids, recipients).map { self.send(job, as: $0, to: $1.user, on: $1.devices, at: at) }
        if recipients.contains(where: { !$0.devices.isEmpty }) { step.devices = recipients.map(\.devices) }
        step.names = self.names(ofSender: job.sender, in: job.app)
        if let last = step.ids.last {
            self.pushes[job.id]?.steps.append(step.ids)
            if job.localTime != nil { self.pushes[job.id]?.reached.formUnion(recipients.map(\.user)) }
            self.lastMessageID = max(self.lastMessageID, last)
        }
        step.job = self.pushes[job.id]?.job ?? after
        return step
    }

    private func isInPass(_ user: UserID, of job: PushJob) -> Bool {
        guard job.localTime != nil else { return true }
        guard self.pushes[job.id]?.reached.contains(user) != true else { return false }
        // tidy: order does not leave: the newest report is chosen, and of several the smallest device
        return job.isForPass(self.people.read(UserKey(app: job.app, user: user)) { $0.devices.values.timeZone } ?? nil)
    }

    private func isSkipped(_ user: UserID, by job: PushJob) -> Bool {
        if user == job.sender { return true }
        if !job.ignoresBlocks, self.hasBlocked(job.sender, UserKey(app: job.app, user: user)) { return true }
        guard self.accounts[job.app]?[job.account]?.audience == .followers else { return false }
        return self.followers[job.app]?[job.account]?.contains(user) != true
    }

    private mutating func send(
        _ job: PushJob, as id: MessageID, to user: UserID, on devices: [DeviceID], at: Int64
    ) -> Delivery {
        let place = self.people.place(making: UserKey(app: job.app, user: user))
        switch job.entry(for: user, on: devices, id: id, at: at) {
        case .message(let message):
            let delivery = self.deliver(message, .message(message), to: user)
            self.messages[id] = Accepted(message: message, device: nil, deliveries: [delivery])
            if !self.people[place].isSignedIn {
                self.pushes[job.id]?.job.counts.ends[LegEnd.noDevice.name, default: 0] += 1
            }
            return delivery
        case let body:
            let delivery = self.people[place].append(body, of: user)
            if case .custom(let message) = body {
                self.keepTrace(of: .custom(message, app: job.app), id: id, [delivery])
            }
            return delivery
        }
    }

    private mutating func recallStep(of job: PushJob, ids: [MessageID], at: Int64) -> PushStep {
        let steps = self.pushes[job.id]?.steps ?? []
        let (index, offset) = job.placeOfRecall
        let sent = index < steps.count ? steps[index].dropFirst(offset).prefix(ids.count) : []
        var step = PushStep(job: job)
        var free = ids[...]
        for id in sent {
            guard self.messages[id]?.isRecalled == false, let recallID = free.first else { continue }
            free = free.dropFirst()
            let operation = RecallOperation(
                id: recallID, app: job.app, message: id, actor: nil, window: 0, at: at)
            guard case .recalled(let recall, let message, let deliveries, let shown) = self.recall(operation),
                let delivery = deliveries.first
            else { continue }
            step.recalls.append(.init(recall: recall, message: message, delivery: delivery, shown: shown))
        }
        var after = self.pushes[job.id]?.job ?? job
        after.advanceRecall(by: sent.count, of: index < steps.count ? steps[index].count : 0, at: at)
        self.pushes[job.id]?.job = after
        step.job = after
        return step
    }

    /// Only an end that names its job counts for one, and each leg once.
    mutating func count(_ ended: EndedLeg) {
        guard let id = ended.pushJob, self.push(id, of: ended.leg.user.app) != nil,
            self.countedEnds.insert(ended.leg).inserted
        else { return }
        self.pushes[id]?.job.counts.add(ended)
    }

    func countAudience(_ audience: PushAudience, of app: AppID, after: UInt64, limit: Int) -> StoreResult {
        if let fault = StoreRules.fault(inCounting: audience, limit: limit) { return .refused(fault) }
        var walk = self.walk(audience.sorted, of: app, from: after, most: limit)
        var count = AudienceCount()
        while let found = walk.next() { if let found { count.add(devices: found.deviceCount) } }
        return .audience(count, next: walk.isAtEnd ? nil : walk.cursor)
    }

    func pushRecipient(_ key: UserKey, of id: PushJobID) -> MessageID? {
        guard let job = self.push(id, of: key.app) else { return nil }
        let own = (self.people.read(key) { $0.log } ?? []).reversed().lazy.compactMap { entry -> Message? in
            guard case .message(let message) = entry.body,
                message.conversation(seenBy: key.user) == job.account
            else { return nil }
            return message
        }
        return own.prefix(StoreRules.pushRecipientLookMax).first { $0.pushJob == id }?.id
    }

    // MARK: Labels

    mutating func setLabels(_ key: UserKey, _ change: LabelChange) -> StoreResult {
        if let fault = StoreRules.fault(in: change) { return .refused(fault) }
        let before = self.labels(of: key)
        let after = before.applying(change)
        guard after != before else { return .labels(before) }
        for alias in after.aliases {
            guard let other = self.aliases[key.app]?[alias], other != key.user else { continue }
            let place = self.people.place(making: UserKey(app: key.app, user: other))
            self.people[place].labels = self.people[place].labels.withoutAlias(alias)
        }
        var aliases = self.aliases[key.app] ?? [:]
        for alias in before.aliases { aliases[alias] = nil }
        for alias in after.aliases { aliases[alias] = key.user }
        self.aliases[key.app] = aliases.isEmpty ? nil : aliases
        self.people[self.people.place(making: key)].labels = after
        return .labels(after)
    }

    func labels(of key: UserKey) -> PersonLabels { self.people.read(key) { $0.labels } ?? PersonLabels() }

    // MARK: Looking for people

    private func signedInDevices(of key: UserKey) -> [DeviceID] {
        // tidy: order does not leave: sorted
        let devices = self.people.read(key) { $0.devices.values.filter { !$0.isSignedOut } } ?? []
        return devices.map(\.key.device).sorted()
    }

    private func walk(_ audience: PushAudience, of app: AppID, from cursor: UInt64, most: Int) -> AudienceWalk {
        AudienceWalk(store: self, audience: audience, app: app, cursor: cursor, most: most)
    }

    private struct Reached {
        var user: UserID
        /// Empty for the whole person.
        var devices: [DeviceID]
        /// Of the person's devices that are signed in, those in the audience.
        var deviceCount: Int
    }

    /// Goes through those who may be in an audience, in a fixed order: its names, or else everybody in the order in which they became
    /// known.
    private struct AudienceWalk {
        let store: ReferenceStore
        let audience: PushAudience
        let app: AppID
        private let names: [PushAudience.Name]?
        /// Already looked at by an earlier name.
        private var known: Set<UserID> = []
        private(set) var cursor: UInt64
        /// Of the app.
        private(set) var lookedAt = 0
        /// With people of other apps, who stand among them.
        private var passed = 0
        private let most: Int

        init(store: ReferenceStore, audience: PushAudience, app: AppID, cursor: UInt64, most: Int) {
            self.store = store
            self.audience = audience
            self.app = app
            self.names = audience.names
            self.cursor = cursor
            self.most = most
            for name in (self.names ?? []).prefix(Int(clamping: cursor)) {
                if let user = self.user(name) { self.known.insert(user) }
            }
        }

        private var end: UInt64 { UInt64(self.names?.count ?? self.store.people.keys.count) }

        var isAtEnd: Bool { self.cursor >= self.end }

        /// nil after the last that may be looked at; in it nil for somebody who is not in the audience. Without devices it is the whole person.
        mutating func next() -> Reached?? {
            guard !self.isAtEnd, self.passed < self.most else { return nil }
            let index = Int(self.cursor)
            self.cursor += 1
            self.passed += 1
            guard let names else {
                let key = self.store.people.keys[index]
                guard key.app == self.app else { return .some(nil) }
                self.lookedAt += 1
                return .some(self.reached(key.user))
            }
            self.lookedAt += 1
            guard let user = self.user(names[index]), self.known.insert(user).inserted else { return .some(nil) }
            return .some(self.reached(user))
        }

        private func user(_ name: PushAudience.Name) -> UserID? {
            switch name {
            case .user(let user): user
            case .alias(let alias): self.store.aliases[self.app]?[alias]
            }
        }

        private func reached(_ user: UserID) -> Reached? {
            let key = UserKey(app: self.app, user: user)
            let facts =
                self.store.people.read(key) { person in
                    PushAudience.Facts(user: user, signedIn: person.signedIn, labels: person.labels)
                } ?? PushAudience.Facts(user: user, signedIn: 0, labels: PersonLabels())
            switch self.audience.reach(facts, signedIn: { self.store.signedInDevices(of: key) }) {
            case .nobody: return nil
            case .person: return Reached(user: user, devices: [], deviceCount: facts.signedIn)
            case .devices(let devices): return Reached(user: user, devices: devices, deviceCount: devices.count)
            }
        }
    }
}

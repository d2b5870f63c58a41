import StoreModel
import TidingsModel

// The steps of push jobs: what one costs depends on the people it looks at, not on the audience.
extension StoreMachine {
    func stepPush(
        _ id: PushJobID, of app: AppID, ids: [MessageID], devicesMax: Int, at: Int64
    ) throws -> StoreResult {
        guard let push = try self.push(id, of: app) else { return .refused(StoreRules.unknownPush(id)) }
        if let fault = StoreRules.fault(inStep: ids, of: push.job) { return .refused(fault) }
        if let used = try ids.first(where: { try self.isUsed($0) }) { return .refused(StoreRules.usedMessageID(used)) }
        let isDeclared = self.accounts[app]?[push.job.account] != nil
        if let stopped = StoreRules.stop(push.job, isDeclared: isDeclared, at: at) {
            return .pushStep(PushStep(job: try self.writeState(of: stopped, push)))
        }
        return push.job.state == .recalling
            ? try self.recallStep(of: push, ids: ids, at: at)
            : try self.sendStep(of: push, ids: ids, devicesMax: devicesMax, at: at)
    }

    private func sendStep(
        of push: PushJobState, ids: [MessageID], devicesMax: Int, at: Int64
    ) throws -> StoreResult {
        let job = push.job
        var walk = try self.walk(
            job.audience, of: job.app, from: job.cursor, most: ids.count * StoreRules.pushLookFactor)
        var step = PushStepRecord(app: job.app, job: job.id, at: at, isCustom: job.isCustom)
        let side = try self.number(of: job.account, in: job.app)
        var devices = 0
        while step.users.count < ids.count, devices < devicesMax, let looked = try self.look(&walk) {
            guard case .match(let key, let number, let some, _) = looked else { continue }
            if self.peopleByKey[key]?.isSetAside == true {
                if job.localTime == nil { step.skipped += 1 }
                continue
            }
            guard try self.isInPass(key, number: number, of: job) else { continue }
            switch try self.standing(of: key, number: number, to: job, in: side) {
            // Once, also for a person passed over by several passes.
            case .skipped: if job.isAtLastPass { step.skipped += 1 }
            case .recipient(let signedIn):
                step.users.append(key.user)
                step.devices.append(some)
                devices += signedIn
                if signedIn == 0 { step.withoutDevice += 1 }
            }
        }
        if step.devices.allSatisfy(\.isEmpty) { step.devices = [] }
        step.ids = Array(ids.prefix(step.users.count))
        step.cursor = walk.cursor
        step.lookedAt = walk.lookedAt
        step.isLast = self.isAtEnd(walk)
        return try self.write(.pushStep(step))
    }

    /// Returns true if a person is in the pass. A person whose rows cannot be read is noticed here; nobody waits for them.
    private func isInPass(_ key: UserKey, number: Int64?, of job: PushJob) throws -> Bool {
        guard job.localTime != nil else { return true }
        do {
            // Most people are in another pass: they stay out of memory.
            let person = try number.map { self.personInMemory($0) } ?? self.find(key)
            guard let number = person?.number ?? number else { return job.isForPass(nil) }
            if !job.isAtLastPass, !job.isForPass(try self.timeZone(of: number, person)) { return false }
            if person?.pushesReached.contains(job.id) == true { return false }
            return try !self.rows.has(.pushReached(number, job.id))
        } catch {
            try self.passOver(error)
            return false
        }
    }

    private func timeZone(of number: Int64, _ person: PersonState?) throws -> String? {
        if let devices = person?.devices { return devices.timeZone }
        var zone = PersonTimeZone()
        for (device, status) in try self.rows.deviceStatuses(of: number) { zone.look(at: device, status) }
        return zone.name
    }

    private enum PushStanding {
        case skipped
        /// On how many devices.
        case recipient(signedIn: Int)
    }

    /// Loads what the entry needs of the person: what cannot be read is noticed before anything is written, and then nobody waits for them.
    private func standing(
        of key: UserKey, number: Int64?, to job: PushJob, in side: ConversationNumber?
    ) throws -> PushStanding {
        if key.user == job.sender { return .skipped }
        do {
            let person = try number.map { try self.person($0) } ?? self.find(key)
            if !job.ignoresBlocks, person?.settings.blocked.contains(job.sender) == true { return .skipped }
            if self.accounts[job.app]?[job.account]?.audience == .followers {
                let account = AccountKey(app: job.app, conversation: job.account)
                guard try self.isFollower(FollowerKey(account: account, user: key.user)) else { return .skipped }
            }
            if let person, let side { _ = try self.conversationState(side, of: person) }
            return .recipient(signedIn: person?.signedIn ?? 0)
        } catch {
            try self.passOver(error)
            return .skipped
        }
    }

    /// Goes on where it can, if the error is damage.
    func passOver(_ error: any Error) throws {
        // An error of the disk may have ended the transaction.
        guard let row = Self.damage(error), self.rows.isTransactionWhole else { throw error }
        self.lastFound = nil
        self.notes.append(.passedOver(row))
    }

    func applyPushStep(_ step: PushStepRecord, at position: JournalPosition) throws -> StoreResult {
        let push = try self.knownPush(step.job)
        let job = push.job
        let sender = try self.intern(UserKey(app: job.app, user: job.sender))
        let side = ConversationNumber(type: job.account.type, number: sender.number)
        self.lastPushRound = self.roundNumber
        var result = PushStep(job: job)
        result.ids = step.ids
        result.devices = step.devices
        result.deliveries.reserveCapacity(step.users.count)
        for (id, user) in zip(step.ids, step.users) {
            self.rememberID(id, position)
            let person = try self.intern(UserKey(app: job.app, user: user))
            // A person with many devices takes more memory, and so do the ends of their legs.
            self.pushEntriesInTail += max(1, person.signedIn)
            if job.localTime != nil, position > person.applied { person.pushesReached.insert(job.id) }
            switch job.body {
            case .message(let template):
                try self.deliver(template, position, to: person, in: side, into: &result.deliveries)
            case .custom:
                guard position > person.applied else { continue }
                result.deliveries.append(self.append(.init(record: position, conversation: .none), to: person))
            }
        }
        if position > push.applied { self.advance(push, by: step, at: position) }
        result.job = push.job
        if case .message(let template) = job.body {
            result.names = try self.names(of: template)
        } else {
            result.names = MessageNames(sender: sender.profile.name ?? "", portrait: sender.profile.portrait)
        }
        return .pushStep(result)
    }

    private func advance(_ push: PushJobState, by step: PushStepRecord, at position: JournalPosition) {
        push.job.cursor = step.cursor
        push.job.counts.lookedAt += step.lookedAt
        push.job.counts.skipped += step.skipped
        push.job.counts.recipients += step.users.count
        if step.withoutDevice > 0, !step.isCustom {
            push.job.counts.ends[LegEnd.noDevice.name, default: 0] += step.withoutDevice
        }
        if !step.users.isEmpty {
            push.newSteps.append((push.job.steps, position))
            push.job.steps += 1
        }
        if step.isLast {
            var after = push.job
            after.endPass(at: step.at)
            self.setState(after.state, of: push, at: step.at)
            (push.job.pass, push.job.cursor, push.job.sendAt) = (after.pass, after.cursor, after.sendAt)
        }
        self.markChanged(push)
    }

    /// Each is a record of its own, as if the backend had recalled it.
    private func recallStep(of push: PushJobState, ids: [MessageID], at: Int64) throws -> StoreResult {
        let (number, offset) = push.job.placeOfRecall
        let found = try self.readableStep(number, of: push)
        let sent = found.map { $0.1.ids.dropFirst(offset).prefix(ids.count) } ?? []
        var result = PushStep(job: push.job)
        var free = ids[...]
        let shown = try self.shownLegs(of: Set(sent), in: push.job.app)
        for id in sent {
            guard try self.revision(of: id).recalled == 0, let record = found?.record,
                let recipient = found?.1.recipient(of: id), let recallID = free.first,
                let message = push.job.message(for: recipient, at: found?.1.at ?? 0)
            else { continue }
            free = free.dropFirst()
            let recall = Recall(
                id: recallID, message: id, conversation: message.conversation, sender: message.sender, at: at)
            guard
                case .recalled(_, _, let deliveries, _) = try self.write(
                    .recall(push.job.app, recall, accepted: record)),
                let delivery = deliveries.first
            else { continue }
            result.recalls.append(
                .init(
                    recall: recall, message: message.revised(content: nil, isGone: true), delivery: delivery,
                    shown: shown[id] ?? []))
        }
        var after = push.job
        after.advanceRecall(by: sent.count, of: found?.1.ids.count ?? 0, at: at)
        result.job = try self.writeState(of: after, push)
        return .pushStep(result)
    }

    /// Returns a step; nil if it cannot be read: then the others are recalled all the same.
    private func readableStep(
        _ number: Int, of push: PushJobState
    ) throws -> (record: JournalPosition, PushStepRecord)? {
        do {
            return try self.pushStep(number, of: push)
        } catch {
            try self.passOver(error)
            return nil
        }
    }

    /// Sorted, by message: those that may have shown it.
    private func shownLegs(of ids: Set<MessageID>, in app: AppID) throws -> [MessageID: [LegID]] {
        guard !ids.isEmpty else { return [:] }
        var first: [LegID: LegEnd] = [:]
        for position in try self.records(ofAll: ids) {
            if case .endLeg(let ended) = try self.record(at: position), first[ended.leg] == nil {
                first[ended.leg] = ended.end
            }
        }
        // tidy: order does not leave: each list is sorted
        let legs = first.filter { $0.key.user.app == app && $0.value.mayBeShown }.keys
        return Dictionary(grouping: legs, by: \.message).mapValues { $0.sorted() }
    }
}

// MARK: - Looking for people

/// Goes through those who may be in an audience: its names, or else everybody. People have numbers in the order in which they become known.
struct PushWalk {
    let audience: PushAudience
    let app: AppID
    let names: [PushAudience.Name]?
    /// Already looked at by an earlier name.
    var known: Set<UserID> = []
    var cursor: UInt64
    /// The number of the app's people looked at.
    var lookedAt = 0
    /// With people of other apps, who stand among them.
    var passed = 0
    let most: Int

    enum Looked {
        /// Without devices it is the whole person.
        /// `count`: of the person's devices that are signed in, those in the audience.
        case match(UserKey, number: Int64?, devices: [DeviceID], count: Int)
        case nobody
    }
}

extension StoreMachine {
    func walk(_ audience: PushAudience, of app: AppID, from cursor: UInt64, most: Int) throws -> PushWalk {
        let names = audience.names
        var walk = PushWalk(audience: audience, app: app, names: names, cursor: cursor, most: most)
        for name in (names ?? []).prefix(Int(clamping: cursor)) {
            if let user = try self.user(name, in: app) { walk.known.insert(user) }
        }
        return walk
    }

    func isAtEnd(_ walk: PushWalk) -> Bool {
        walk.cursor >= walk.names.map { UInt64($0.count) } ?? UInt64(self.lastPersonNumber)
    }

    /// nil after the last that may be looked at.
    func look(_ walk: inout PushWalk) throws -> PushWalk.Looked? {
        guard !self.isAtEnd(walk), walk.passed < walk.most else { return nil }
        let index = Int(walk.cursor)
        walk.cursor += 1
        walk.passed += 1
        do {
            guard let names = walk.names else {
                guard let (key, facts) = try self.facts(of: Int64(index) + 1), key.app == walk.app else {
                    return .nobody
                }
                walk.lookedAt += 1
                return try self.looked(at: key, facts, number: Int64(index) + 1, walk)
            }
            walk.lookedAt += 1
            guard let user = try self.user(names[index], in: walk.app), walk.known.insert(user).inserted else {
                return .nobody
            }
            let key = UserKey(app: walk.app, user: user)
            let person = try self.find(key)
            let facts = PushAudience.Facts(
                user: user, signedIn: person?.signedIn ?? 0, labels: person?.labels ?? PersonLabels())
            return try self.looked(at: key, facts, number: nil, walk)
        } catch {
            try self.passOver(error)
            return .nobody
        }
    }

    private func looked(
        at key: UserKey, _ facts: PushAudience.Facts, number: Int64?, _ walk: PushWalk
    ) throws -> PushWalk.Looked {
        let reach = try walk.audience.reach(facts) {
            guard let person = try number.map({ try self.person($0) }) ?? self.find(key) else { return [] }
            return try self.devices(of: person).filter { !$0.isSignedOut }.map(\.key.device).sorted()
        }
        switch reach {
        case .nobody: return .nobody
        case .person: return .match(key, number: number, devices: [], count: facts.signedIn)
        case .devices(let devices): return .match(key, number: number, devices: devices, count: devices.count)
        }
    }

    private func user(_ name: PushAudience.Name, in app: AppID) throws -> UserID? {
        switch name {
        case .user(let user): user
        case .alias(let alias): try self.user(called: alias, in: app)
        }
    }

    /// Without the rest of the person, whom not every step looks at is sent something.
    private func facts(of number: Int64) throws -> (UserKey, PushAudience.Facts)? {
        if let person = self.personInMemory(number) {
            guard !person.isSetAside else { return nil }
            return (
                person.key,
                .init(user: person.key.user, signedIn: person.signedIn, labels: person.labels)
            )
        }
        return try self.rows.personFacts(number).map {
            ($0.key, .init(user: $0.key.user, signedIn: $0.signedIn, labels: $0.labels))
        }
    }

    func countAudience(_ audience: PushAudience, of app: AppID, after: UInt64, limit: Int) throws -> StoreResult {
        if let fault = StoreRules.fault(inCounting: audience, limit: limit) { return .refused(fault) }
        var walk = try self.walk(audience.sorted, of: app, from: after, most: limit)
        var count = AudienceCount()
        while let looked = try self.look(&walk) {
            if case .match(_, _, _, let devices) = looked { count.add(devices: devices) }
        }
        return .audience(count, next: self.isAtEnd(walk) ? nil : walk.cursor)
    }
}

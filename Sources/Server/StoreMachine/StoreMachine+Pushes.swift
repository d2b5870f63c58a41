package import StoreModel
package import TidingsModel

/// A push job in the writer's memory, always as of the last record. Those whose rows are behind stay in memory until these are written;
/// of all others some do, whatever has become of them.
package final class PushJobState {
    /// The record that made the job, and has what its messages say.
    let record: JournalPosition
    package var job: PushJob
    /// Records up to here are in this state.
    var applied: JournalPosition
    var isChanged = false
    /// Which records are its steps, not stored yet.
    var newSteps: [(number: Int, record: JournalPosition)] = []
    /// A round of deriving.
    var lastUsed = 0

    static let cachedMax = 64

    init(_ job: PushJob, record: JournalPosition, applied: JournalPosition = 0) {
        self.job = job
        self.record = record
        self.applied = applied
    }

    var row: PushRow {
        PushRow(
            id: self.job.id, app: self.job.app, record: self.record, state: self.job.state,
            changedAt: self.job.changedAt, cursor: self.job.cursor, steps: self.job.steps, counts: self.job.counts,
            pass: self.job.pass, applied: self.applied)
    }
}

// Pushes to an audience, by the rules at `StoreMachine`. The job is one record, and each of its steps one with the people and messages of the
// step; what these say is in the job's record alone.
extension StoreMachine {
    func push(_ id: PushJobID) throws -> PushJobState? {
        if let known = self.pushes[id] {
            known.lastUsed = self.roundNumber
            return known
        }
        guard id <= self.lastMessageID, let push = try self.loadPush(id) else { return nil }
        push.lastUsed = self.roundNumber
        self.pushes[id] = push
        return push
    }

    package func push(_ id: PushJobID, of app: AppID) throws -> PushJobState? {
        try self.push(id).flatMap { $0.job.app == app ? $0 : nil }
    }

    /// That of a step.
    func knownPush(_ id: PushJobID) throws -> PushJobState {
        guard let push = try self.push(id) else { throw StoredBytesFault.missing("push \(id)") }
        return push
    }

    func createPush(_ job: PushJob) throws -> StoreResult {
        var job = job.asNew
        if let fault = StoreRules.fault(in: job) { return .refused(fault) }
        if try self.isUsed(job.id) { return .refused(StoreRules.usedMessageID(job.id)) }
        if case .message(let template) = job.body,
            let fault = StoreRules.fault(in: template.objectName, registered: self.objectNames[job.app] ?? [])
        {
            return .refused(fault)
        }
        if let refusal = StoreRules.refusal(
            job, isDeclared: self.accounts[job.app]?[job.account] != nil,
            unfinished: self.unfinishedPushes[job.app] ?? 0)
        {
            return .refused(refusal)
        }
        job.audience = job.audience.sorted
        // Unreadable rows of the account must be noticed before anything is written.
        _ = try self.find(UserKey(app: job.app, user: job.sender))
        return try self.write(.push(job))
    }

    func changePush(_ id: PushJobID, of app: AppID, _ change: PushJobChange, at: Int64) throws -> StoreResult {
        guard let push = try self.push(id, of: app) else { return .pushJob(nil) }
        switch StoreRules.job(push.job, after: change, at: at) {
        case .failure(let problem): return .refused(problem)
        case .success(let after) where after == push.job: return .pushJob(after)
        case .success(let after): return .pushJob(try self.writeState(of: after, push))
        }
    }

    func readPushes(of app: AppID, before: PushJobID?, limit: Int) throws -> StoreResult {
        if let fault = StoreRules.fault(inPushPage: limit) { return .refused(fault) }
        let end = before ?? MessageID(rawValue: UInt64(Int64.max))
        let stored = try self.rows.pushes(of: app, before: end, limit: limit + 1)
        // tidy: order does not leave: they are sorted
        let behind = self.pushes.filter { $0.value.isChanged && $0.value.job.app == app && $0.key < end }.keys
        let ids = Set(behind).union(stored).sorted(by: >)
        let jobs = try ids.prefix(limit).map { try self.knownPush($0).job }
        return .pushJobs(jobs, hasMore: ids.count > limit)
    }

    // MARK: Applying

    func applyPush(_ job: PushJob, at position: JournalPosition) throws -> StoreResult {
        self.rememberID(job.id, position)
        _ = try self.intern(UserKey(app: job.app, user: job.sender))
        if case .message(let template) = job.body {
            var named = template
            named.id = job.id
            self.noteMedia(template.namedMedia, of: named, isBackend: true, by: nil)
        }
        if let known = try self.push(job.id), position <= known.applied { return .pushJob(known.job) }
        let push = PushJobState(job, record: position)
        push.lastUsed = self.roundNumber
        self.pushes[job.id] = push
        self.markChanged(push)
        self.count(in: job.app) { $0.pushes.add(1, bytes: job.contentBytes) }
        self.unfinishedPushes[job.app, default: 0] += 1
        return .pushJob(job)
    }

    /// Writes state and cursor of `after`.
    /// - Returns: the job with them.
    func writeState(of after: PushJob, _ push: PushJobState) throws -> PushJob {
        _ = try self.write(
            .pushChange(
                PushStateRecord(
                    app: after.app, job: after.id, state: after.state, cursor: after.cursor,
                    pass: after.pass, changedAt: after.changedAt)))
        return push.job
    }

    func applyPushState(_ record: PushStateRecord, at position: JournalPosition) throws {
        let push = try self.knownPush(record.job)
        // Also when the record is applied again: what the job said may not have been overwritten yet.
        if record.state == .recalled { self.erasureTail.insert(push.record) }
        guard position > push.applied else { return }
        self.setState(record.state, of: push, at: record.changedAt)
        push.job.cursor = record.cursor
        // A pass that was missed.
        if record.pass != push.job.pass, let passes = push.job.localTime?.passes, passes.indices.contains(record.pass) {
            (push.job.pass, push.job.sendAt) = (record.pass, passes[record.pass].at)
        }
        if record.state == .recalled {
            let before = push.job.contentBytes
            push.job.eraseBody()
            self.count(in: record.app) { $0.pushes.add(0, bytes: push.job.contentBytes - before) }
        }
        self.markChanged(push)
    }

    func setState(_ state: PushJob.State, of push: PushJobState, at: Int64) {
        let (before, app) = (push.job.state.isUnfinished, push.job.app)
        push.job.state = state
        push.job.changedAt = at
        guard before != state.isUnfinished else { return }
        let count = (self.unfinishedPushes[app] ?? 0) + (before ? -1 : 1)
        self.unfinishedPushes[app] = count > 0 ? count : nil
    }

    func markChanged(_ push: PushJobState) { push.isChanged = true }

    /// Nothing if the record is in the counts already, or the job is lost.
    func count(_ id: PushJobID, at position: JournalPosition, _ change: (inout PushCounts) -> Void) throws {
        guard let push = try self.push(id), position > push.applied else { return }
        change(&push.job.counts)
        self.markChanged(push)
    }

    // MARK: Legs

    /// An end that names its job counts for it once, and its record says so: written again it would count twice.
    func writeEnd(_ ended: EndedLeg) throws -> StoreResult {
        guard let id = ended.pushJob else { return try self.write(.endLeg(ended)) }
        let isNew = try self.push(id, of: ended.leg.user.app) != nil && !self.isCounted(ended.leg)
        return try self.write(.endLeg(isNew ? ended : ended.inTrace))
    }

    private func isCounted(_ leg: LegID) throws -> Bool {
        guard let person = try self.find(leg.user) else { return false }
        let end = PersonState.PushEnd(message: leg.message, device: leg.device ?? "")
        if person.pushEnds.contains(end) { return true }
        return try self.rows.has(.pushEnd(person.number, end))
    }

    func applyPushEnd(_ ended: EndedLeg, of id: PushJobID, at position: JournalPosition) throws {
        let person = try self.intern(ended.leg.user)
        if position > person.applied {
            person.pushEnds.insert(.init(message: ended.leg.message, device: ended.leg.device ?? ""))
            self.touch(person)
        }
        try self.count(id, at: position) { $0.add(ended) }
    }

    /// From message to message of the conversation with the account.
    func pushRecipient(_ key: UserKey, of id: PushJobID) throws -> MessageID? {
        guard let push = try self.push(id, of: key.app), let person = try self.find(key),
            let number = try self.number(of: push.job.account, in: key.app)
        else { return nil }
        var next = try self.conversationState(number, of: person)?.last ?? 0
        var run = LogRun()
        var left = StoreRules.pushRecipientLookMax
        while next > 0, left > 0 {
            let entry = try self.entry(at: next, of: person, &run)
            if case .pushStep(let step) = try self.record(at: entry.record), step.job == id,
                let index = step.users.firstIndex(of: key.user)
            {
                return step.ids[index]
            }
            next = entry.earlier ?? 0
            left -= 1
        }
        return nil
    }
}

// MARK: - Rows

extension StoreMachine {
    func loadPush(_ id: PushJobID) throws -> PushJobState? {
        guard let row = try self.rows.push(id) else { return nil }
        guard case .push(var job) = try self.record(at: row.record), job.id == id else {
            throw StoredBytesFault.badValue("reference to a push: journal record \(row.record) is none")
        }
        (job.state, job.changedAt, job.cursor) = (row.state, row.changedAt, row.cursor)
        (job.steps, job.counts) = (row.steps, row.counts)
        if let passes = job.localTime?.passes {
            guard passes.indices.contains(row.pass) else { throw StoredBytesFault.badValue("pass of a push") }
            (job.pass, job.sendAt) = (row.pass, passes[row.pass].at)
        }
        if row.state == .recalled { job.eraseBody() }
        return PushJobState(job, record: row.record, applied: row.applied)
    }

    /// Once everything is recovered. By id.
    func unfinishedPushJobs(_ store: StoreRow) throws -> [PushJob] {
        // tidy: order does not leave: they are sorted
        let ids = Set(store.unfinishedPushes.map(\.id)).union(self.pushes.filter { $0.value.isChanged }.keys).sorted()
        return try ids.compactMap { id in
            do {
                return try self.push(id)?.job
            } catch {
                // No other job, and nobody else, is to wait for one that cannot be read.
                try self.passOver(error)
                return nil
            }
        }.filter(\.state.isUnfinished)
    }

    func allPushJobs() throws -> [PushJob] {
        let stored = try self.rows.pushes(of: nil, before: MessageID(rawValue: UInt64(Int64.max)), limit: .max)
        // tidy: order does not leave: they are sorted
        return try Set(stored).union(self.pushes.keys).sorted().map { try self.knownPush($0).job }
    }

    /// Jobs with a local time; sorted.
    func pushesReached(of person: PersonState) throws -> [PushJobID] {
        try person.pushesReached.union(self.rows.pushesReached(of: person.number)).sorted()
    }

    /// Within the transaction of a step of deriving.
    func storePushes(_ rows: inout Int) throws {
        // tidy: order does not leave: each row is its own
        for push in self.pushes.values where push.isChanged {
            rows -= 1 + push.newSteps.count
            for (number, record) in push.newSteps {
                try self.rows.put(.pushStep(number, of: push.job.id, record: record))
            }
            push.newSteps.removeAll()
            push.applied = self.next - 1
            try self.rows.put(.push(push.row))
            push.isChanged = false
        }
    }

    func evictPushes() {
        guard self.pushes.count > PushJobState.cachedMax else { return }
        self.pushes = self.pushes.filter { $0.value.isChanged || $0.value.lastUsed == self.roundNumber }
    }

    /// The record of a job's step, counted from 0.
    func pushStep(_ number: Int, of push: PushJobState) throws -> (record: JournalPosition, PushStepRecord)? {
        var record = push.newSteps.first { $0.number == number }?.record
        if record == nil { record = try self.rows.pushStep(number, of: push.job.id) }
        guard let record, case .pushStep(let step) = try self.record(at: record) else { return nil }
        return (record, step)
    }
}

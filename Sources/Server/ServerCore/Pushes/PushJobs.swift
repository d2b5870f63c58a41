import OrderedCollections
import StoreModel
import TidingsModel

// Push jobs: the core says when a step is due, the store whom it reaches (docs/inside/decisions/0046-push-jobs.md). One step of a job is under way
// at a time.
extension ServerCore {
    /// At a start, before anything else happens: the timer carries them on.
    mutating func resumePushJobs(_ jobs: [PushJob]) {
        let now = self.turn.now
        for job in jobs { self.pushRunner.runs[job.id] = PushRunner.Run(job: job) }
        if !jobs.isEmpty { self.armPushTimer(at: now.monotonic) }
    }

    mutating func handlePushTimer(at: Int64) {
        guard self.pushRunner.dueAt == at else { return }
        self.pushRunner.dueAt = nil
        self.runPushJobs()
    }

    private mutating func armPushTimer(at: Int64) {
        guard at < self.pushRunner.dueAt ?? .max else { return }
        self.pushRunner.dueAt = at
        self.turn.timers.set(at: at, .pushJobs)
    }

    mutating func runPushJobs() {
        guard self.turn.state == .open, !self.pushRunner.runs.isEmpty else { return }
        var room = self.turn.settings.pushLegsMax - self.pushLegsUnderWay()
        for run in self.pushRunner.runs.values { room -= run.reach }
        var due = Int64.max
        for id in Array(self.pushRunner.runs.keys) {
            due = min(due, self.runPushJob(id, &room) ?? .max)
        }
        if due != .max { self.armPushTimer(at: due) }
    }

    /// When to look again, in monotonic milliseconds; nil if the store's answer comes first.
    private mutating func runPushJob(_ id: PushJobID, _ room: inout Int) -> Int64? {
        let now = self.turn.now
        guard let run = self.pushRunner.runs[id], run.asked == 0 else { return nil }
        guard now.monotonic >= run.notBefore else { return run.notBefore }
        guard !self.turn.settings.suspendedApps.contains(run.job.app) else {
            return now.monotonic + PushRunner.longWait
        }
        switch run.job.state {
        case .scheduled:
            let wait = (run.job.sendAt ?? now.wall) - now.wall
            // The clock may be set.
            guard wait <= 0 else { return now.monotonic + min(wait, Self.clockCheckInterval) }
            self.askAboutPush(id, .changePush(run.job.app, id, .start, at: now.wall), for: .startPush(id))
            return nil
        case .running:
            // Taking back is possible on a full disk.
            guard !self.isStorageFull else { return now.monotonic + PushRunner.longWait }
            return self.step(run, &room)
        case .recalling: return self.step(run, &room)
        case .done, .cancelled, .missed, .recalled:
            self.pushRunner.runs.removeValue(forKey: id)
            return nil
        }
    }

    private mutating func step(_ run: PushRunner.Run, _ room: inout Int) -> Int64? {
        let now = self.turn.now
        guard self.turn.store.backlog < self.turn.settings.pushBacklogMax,
            room >= min(PushRunner.reachMin, self.turn.settings.pushLegsMax)
        else { return now.monotonic + PushRunner.shortWait }
        // A person may have many.
        let devices = min(StoreRules.pushStepMax, room)
        var reach = devices
        if run.job.state == .running, let limit = PushRunner.limit(of: run.job) {
            let least = max(1, min(limit.perSecond / PushRunner.stepsPerSecond, PushRunner.reachMin))
            if let wait = run.bucket.wait(.deliveries, least, limit, at: now.monotonic) { return now.monotonic + wait }
            reach = min(reach, run.bucket.left(.deliveries, limit, at: now.monotonic).count)
        }
        room -= reach
        let ids = (0..<reach).map { _ in self.messageIDs.next(wallMilliseconds: now.wall) }
        self.pushRunner.runs[run.job.id]?.reach = reach
        self.askAboutPush(
            run.job.id, .stepPush(run.job.app, run.job.id, ids: ids, devicesMax: devices, at: now.wall),
            for: .stepPush(run.job.id, at: now.wall))
        return nil
    }

    private mutating func askAboutPush(_ id: PushJobID, _ command: StoreCommand, for request: PendingStoreRequest) {
        self.pushRunner.runs[id]?.asked += 1
        self.turn.ask(command, for: request)
    }

    // MARK: - What is under way

    /// Counts the legs that are handed over, wait for their turn, or for APNs. Legs that wait for the person, or for one token, are
    /// durable, and may take until the morning: no job waits for them.
    private mutating func pushLegsUnderWay() -> Int {
        var runner = self.pushRunner
        self.pushRunner = PushRunner()
        let count = runner.countLegs { self.pushLegs(of: $0) }
        self.pushRunner = runner
        return count
    }

    private func pushLegs(of person: UserKey) -> Int {
        guard let slot = self.slots[person] else { return 0 }
        guard self.people[slot].state.isReady else { return 1 }
        return self.people[slot].devices.reduce(0) { $0 + $1.legs.count { $0.occupiesPushJob } }
    }

    // MARK: - What the store says

    mutating func finishStep(_ id: PushJobID, _ step: PushStep, at: Int64) {
        self.noteAnswer(id)
        self.pushRunner.runs[id]?.reach = 0
        let before = self.pushRunner.runs[id]?.job.state
        self.pushRunner.runs[id]?.job = step.job
        let limit = PushRunner.limit(of: step.job)
        self.pushRunner.runs[id]?.bucket.consume(.deliveries, step.ids.count, limit, at: self.turn.now.monotonic)
        self.fanOut(step, at: at)
        if step.isDone {
            self.pushRunner.runs.removeValue(forKey: id)
        } else {
            self.pushRunner.moveToEnd(id)
        }
        self.reportPush(step.job, isNews: step.job.state != before)
        self.runPushJobs()
    }

    private mutating func fanOut(_ step: PushStep, at: Int64) {
        let job = step.job
        for (message, delivery, devices) in step.sent {
            let user = UserKey(app: job.app, user: delivery.user)
            guard let message = job.message(for: delivery.user, on: devices, id: message, at: at) else {
                let entry = job.entry(for: delivery.user, on: devices, id: message, at: at)
                self.publishEntry(entry, [delivery], in: job.app)
                continue
            }
            let slot = self.slot(of: user, leavesSoon: true)
            let shared = SharedMessage(message, names: step.names)
            self.tell(.delivery(delivery, shared, from: nil), slot: slot)
            self.pushRunner.begin(user)
        }
        for recalled in step.recalls {
            self.recall(recalled.message, recalled.recall, [recalled.delivery], shown: recalled.shown)
            self.pushRunner.begin(UserKey(app: job.app, user: recalled.delivery.user))
        }
    }

    /// A job after a change: nothing may have changed.
    mutating func followPush(_ job: PushJob) {
        let before = self.pushRunner.runs[job.id]?.job.state
        if job.state.isUnfinished {
            self.pushRunner.runs[job.id, default: PushRunner.Run(job: job)].job = job
        } else {
            self.pushRunner.runs.removeValue(forKey: job.id)
        }
        let isNews = before.map { $0 != job.state } ?? job.state.isUnfinished
        if isNews { self.reportPush(job, isNews: true) }
        self.runPushJobs()
    }

    mutating func noteAnswer(_ id: PushJobID) {
        guard let run = self.pushRunner.runs[id] else { return }
        self.pushRunner.runs[id]?.asked = max(0, run.asked - 1)
    }

    /// The store could not read what it needs: once more, later.
    mutating func delayPush(_ id: PushJobID) {
        self.noteAnswer(id)
        self.pushRunner.runs[id]?.reach = 0
        let at = self.turn.now.monotonic + PushRunner.unreadableWait
        self.pushRunner.runs[id]?.notBefore = at
        self.armPushTimer(at: at)
    }

    /// - Parameter isNews: the job has another state than before; otherwise it is told how far it is, at most once a second.
    private mutating func reportPush(_ job: PushJob, isNews: Bool) {
        if !isNews, let run = self.pushRunner.runs[job.id], run.reportedAt != .min,
            self.turn.now.monotonic < run.reportedAt + PushRunner.reportInterval
        {
            return
        }
        self.pushRunner.runs[job.id]?.reportedAt = self.turn.now.monotonic
        self.turn.emit(.report(.pushJob(PushJobReport(job, isNews: isNews))))
    }
}

extension Leg {
    /// True for a leg of a job, or of its recall.
    fileprivate var occupiesPushJob: Bool {
        if case .message(let shared) = self.subject, shared.message.pushJob == nil { return false }
        switch self.state {
        case .live, .held, .queued, .inFlight: return true
        case .waiting(let wait): return wait.isForAPNs
        }
    }
}

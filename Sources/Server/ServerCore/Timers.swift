import HeapModule
import TidingsModel

/// A reminder to look again: one that is late, early or for a person who left does no harm.
struct Timer: Comparable, Sendable {
    enum Subject: Hashable, Sendable {
        case person(slot: Int)
        case lane(PushLane)
        case pushJobs
        /// Ends a test push whose caller has waited long enough for APNs.
        case testPush(PushID)
        case drain
    }

    let at: Int64
    /// Keeps timers of the same time in the order in which they were set.
    let number: UInt64
    let subject: Subject

    static func < (left: Timer, right: Timer) -> Bool { (left.at, left.number) < (right.at, right.number) }
}

struct Timers: Sendable {
    private var heap: Heap<Timer> = []
    private var number: UInt64 = 0

    var count: Int { self.heap.count }
    /// Monotonic milliseconds.
    var next: Int64? { self.heap.min?.at }

    mutating func set(at: Int64, _ subject: Timer.Subject) {
        self.number += 1
        self.heap.insert(Timer(at: at, number: self.number, subject: subject))
    }

    mutating func popDue(_ now: Now) -> [Timer] {
        var due: [Timer] = []
        while let first = self.heap.min, first.at <= now.monotonic {
            self.heap.removeMin()
            due.append(first)
        }
        return due
    }
}

extension ServerCore {
    /// Deadlines that only move back cost nothing: the timer fires too early and is set again.
    mutating func arm(_ slot: Int) {
        var due = Int64.max
        for index in self.people[slot].devices.indices {
            if let at = self.people[slot].devices[index].due(self.turn.settings) { due = min(due, at) }
        }
        if due == .max, self.people[slot].isIdle { due = self.idleEnd(slot) }
        due = min(due, self.people[slot].judgeAt ?? .max, self.people[slot].levelDueAt ?? .max)
        guard due != .max, due < self.people[slot].armedAt ?? .max else { return }
        self.people[slot].armedAt = due
        self.turn.timers.set(at: due, .person(slot: slot))
    }

    /// Returns the time at which a person may leave memory: a debt of a limit would be forgotten with them.
    private func idleEnd(_ slot: Int) -> Int64 {
        let time = self.people[slot].leavesSoon ? self.turn.settings.pushIdleTime : self.turn.settings.idleTime
        return max(self.people[slot].busyAt + time, self.people[slot].buckets.allFullAt)
    }

    mutating func handleDueTimers() {
        for timer in self.turn.timers.popDue(self.turn.now) {
            switch timer.subject {
            case .person(let slot):
                guard self.people[slot].armedAt == timer.at else { continue }
                self.people[slot].armedAt = nil
                self.checkPerson(slot: slot)
            case .lane(let lane): self.handleLaneTimer(lane)
            case .pushJobs: self.handlePushTimer(at: timer.at)
            case .testPush(let push): self.handleTestTimer(push)
            case .drain: break
            }
        }
    }

    private mutating func checkPerson(slot: Int) {
        let now = self.turn.now
        for index in self.people[slot].devices.indices {
            self.checkToken(slot: slot, index: index)
            self.checkLease(slot: slot, index: index)
            if let until = self.people[slot].devices[index].retry?.until, now.monotonic >= until {
                self.people[slot].devices[index].retry?.until = nil
                self.pump(slot, index)
            }
            self.checkBadge(slot: slot, index: index)
            if let flushAt = self.people[slot].devices[index].flushAt, now.monotonic >= flushAt {
                self.writeCursor(slot, index)
            }
        }
        if let at = self.people[slot].levelDueAt, now.monotonic >= at { self.endLevels(slot) }
        if let at = self.people[slot].judgeAt, now.monotonic >= at {
            self.people[slot].judgeAt = nil
            self.pumpAll(slot)
        }
        if self.people[slot].isIdle, now.monotonic >= self.idleEnd(slot) {
            self.storeReports(slot)
            self.noteForgottenAlerts(of: slot)
            self.unload(slot)
        } else {
            self.arm(slot)
        }
    }

    private mutating func checkLease(slot: Int, index: Int) {
        let hasSession = self.people[slot].devices[index].session != nil
        if hasSession,
            self.turn.now.monotonic >= self.people[slot].devices[index].heardAt + 2 * self.turn.settings.heartbeat
        {
            self.changeLease(slot, index, .heartbeatMissed)
        } else if let deadline = self.people[slot].devices[index].ackDeadline(self.turn.settings),
            self.turn.now.monotonic >= deadline
        {
            self.changeLease(slot, index, .deadlineMissed)
        }
        self.changeLease(slot, index, .timeReached)
    }
}

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
    mutating func handleDueTimers() {
        for timer in self.turn.timers.popDue(self.turn.now) {
            switch timer.subject {
            case .person(let slot):
                guard self.people[slot].state.armedAt == timer.at else { continue }
                self.people[slot].state.armedAt = nil
                if self.people[slot].check(&self.turn) { self.unload(slot) }
            case .lane(let lane): self.handleLaneTimer(lane)
            case .pushJobs: self.handlePushTimer(at: timer.at)
            case .testPush(let push): self.handleTestTimer(push)
            case .drain: break
            }
        }
    }
}

extension Person {
    /// Deadlines that only move back cost nothing: the timer fires too early and is set again.
    mutating func arm(_ turn: inout Turn) {
        var due = Int64.max
        for index in self.devices.indices {
            if let at = self.devices[index].due(turn.settings) { due = min(due, at) }
        }
        if due == .max, self.isIdle { due = self.idleEnd(&turn) }
        due = min(due, self.state.judgeAt ?? .max, self.state.levelDueAt ?? .max)
        guard due != .max, due < self.state.armedAt ?? .max else { return }
        self.state.armedAt = due
        turn.timers.set(at: due, .person(slot: self.state.slot))
    }

    /// Returns the time at which the person may leave memory: a debt of a limit would be forgotten with them.
    private mutating func idleEnd(_ turn: inout Turn) -> Int64 {
        let time = self.state.leavesSoon ? turn.settings.pushIdleTime : turn.settings.idleTime
        return max(self.state.busyAt + time, self.state.buckets.allFullAt)
    }

    /// Does what is due. Returns true if the person is to leave memory.
    fileprivate mutating func check(_ turn: inout Turn) -> Bool {
        let now = turn.now.monotonic
        for index in self.devices.indices {
            self.checkToken(at: index, &turn)
            self.checkLease(at: index, &turn)
            if let until = self.devices[index].retry?.until, now >= until {
                self.devices[index].retry?.until = nil
                self.pump(at: index, &turn)
            }
            self.devices[index].checkBadge(&self.state, &turn)
            if let flushAt = self.devices[index].flushAt, now >= flushAt {
                self.devices[index].writeCursor(&self.state, &turn)
            }
        }
        if let at = self.state.levelDueAt, now >= at { self.state.endLevels(&turn) }
        if let at = self.state.judgeAt, now >= at {
            self.state.judgeAt = nil
            self.pumpAll(&turn)
        }
        guard self.isIdle, now >= self.idleEnd(&turn) else {
            self.arm(&turn)
            return false
        }
        for index in self.devices.indices where self.devices[index].reported != self.devices[index].storedReport {
            self.devices[index].storeReport(&turn)
        }
        return true
    }

    private mutating func checkLease(at index: Int, _ turn: inout Turn) {
        let now = turn.now.monotonic
        if self.devices[index].session != nil, now >= self.devices[index].heardAt + 2 * turn.settings.heartbeat {
            self.changeLease(at: index, .heartbeatMissed, &turn)
        } else if let deadline = self.devices[index].ackDeadline(turn.settings), now >= deadline {
            self.changeLease(at: index, .deadlineMissed, &turn)
        }
        self.changeLease(at: index, .timeReached, &turn)
    }
}

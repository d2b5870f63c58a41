import Foundation

/// A thread of its own that is handed work and carries it out in order, as much as waits at a time, and that also turns when there is something
/// to do without being asked. `@unchecked Sendable`: everything that changes is guarded by `condition`.
final class SerialWorker<Work: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private let pollMilliseconds: Int64
    let refuse: @Sendable (Work) -> Void
    private var waiting: [Work] = []
    private var isRunning = false
    private var mustStop = false

    /// - Parameters:
    ///   - pollMilliseconds: how often it is asked whether there is something to do.
    ///   - refuse: for work that is not carried out any more. On any thread.
    init(pollMilliseconds: Int64, refuse: @escaping @Sendable (Work) -> Void) {
        self.pollMilliseconds = pollMilliseconds
        self.refuse = refuse
    }

    /// Once. All of these are called on the thread alone.
    /// - Parameters:
    ///   - isDue: whether there is something to do without work; while it is asked nothing can be enqueued.
    ///   - turn: carries out what has waited, which may be nothing.
    ///   - end: after the last turn, before `close` returns.
    func start(
        named name: String, isDue: @escaping @Sendable () -> Bool, turn: @escaping @Sendable ([Work]) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.condition.withLock { self.isRunning = true }
        let thread = Thread {
            // On Linux a name that is given before the start stays with Foundation.
            Thread.current.name = name
            while let work = self.next(isDue) { turn(work) }
            end()
            self.finish()
        }
        thread.start()
    }

    /// Waits until the thread has ended; what was not begun by then is refused.
    func close() {
        self.condition.lock()
        self.mustStop = true
        self.condition.broadcast()
        while self.isRunning { self.condition.wait() }
        self.condition.unlock()
    }

    /// A turn that takes long should end then.
    var isStopping: Bool { self.condition.withLock { self.mustStop } }

    func enqueue(_ work: Work) {
        let isRefused = self.condition.withLock {
            guard !self.mustStop else { return true }
            self.waiting.append(work)
            self.condition.broadcast()
            return false
        }
        if isRefused { self.refuse(work) }
    }

    /// For a turn that could not carry it out: it is the first of the next.
    func putBack(_ work: ArraySlice<Work>) { self.condition.withLock { self.waiting = work + self.waiting } }

    /// Returns the waiting work, or none when something is due; nil at the end.
    private func next(_ isDue: () -> Bool) -> [Work]? {
        self.condition.lock()
        defer { self.condition.unlock() }
        while true {
            if self.mustStop { return nil }
            if !self.waiting.isEmpty {
                defer { self.waiting = [] }
                return self.waiting
            }
            if isDue() { return [] }
            _ = self.condition.wait(until: Date(timeIntervalSinceNow: .milliseconds(self.pollMilliseconds)))
        }
    }

    /// Nothing is enqueued any more. Who waits in `close` goes on when everything is refused.
    private func finish() {
        let left = self.condition.withLock {
            defer { self.waiting = [] }
            return self.waiting
        }
        for work in left { self.refuse(work) }
        self.condition.withLock {
            self.isRunning = false
            self.condition.broadcast()
        }
    }
}

extension TimeInterval {
    /// Seconds of a clock that nobody sets.
    static var uptime: TimeInterval { ProcessInfo.processInfo.systemUptime }

    static func milliseconds(_ count: Int64) -> TimeInterval { TimeInterval(count) / 1_000 }
}

import NIOCore
import ServerCore

/// Deadlines of connections that all run equally long, so that a queue and one timer do for all of them. A connection that
/// has met its deadline is not taken out; `reached` is called for it all the same. Used on one event loop.
struct ConnectionDeadlines {
    private final class Queue {
        var entries: CircularBuffer<(deadline: NIODeadline, id: SessionID)> = []
        var timer: Scheduled<Void>?
    }

    private let queue = Queue()

    /// Calls `reached` with the connection after a time.
    ///
    /// - Parameters:
    ///   - milliseconds: the same in every call.
    ///   - reached: the same in every call.
    func add(
        _ id: SessionID, after milliseconds: Int64, on eventLoop: any EventLoop, reached: @escaping (SessionID) -> Void
    ) {
        self.queue.entries.append((.now() + .milliseconds(milliseconds), id))
        if self.queue.timer == nil { Self.arm(self.queue, eventLoop, reached) }
    }

    /// The connection whose deadline is nearest among those that still have to meet theirs; those before it are taken out.
    func first(where isWaiting: (SessionID) -> Bool) -> (deadline: NIODeadline, id: SessionID)? {
        while let first = self.queue.entries.first, !isWaiting(first.id) { self.queue.entries.removeFirst() }
        return self.queue.entries.first
    }

    /// Forgets all of them.
    func cancel() {
        self.queue.timer?.cancel()
        self.queue.timer = nil
        self.queue.entries.removeAll()
    }

    private static func arm(_ queue: Queue, _ eventLoop: any EventLoop, _ reached: @escaping (SessionID) -> Void) {
        guard let first = queue.entries.first else { return }
        queue.timer = eventLoop.assumeIsolated().scheduleTask(deadline: first.deadline) {
            queue.timer = nil
            while let entry = queue.entries.first, entry.deadline <= .now() {
                queue.entries.removeFirst()
                reached(entry.id)
            }
            if queue.timer == nil { Self.arm(queue, eventLoop, reached) }
        }
    }
}

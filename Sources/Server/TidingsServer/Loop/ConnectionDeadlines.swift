import NIOCore
import ServerCore

/// Deadlines of connections that all run equally long, so that a queue and one timer do for all of them. A connection that met its
/// deadline is not removed: `reached` is called for it all the same. Used on one event loop.
struct ConnectionDeadlines {
    private final class Queue {
        var entries: CircularBuffer<(deadline: NIODeadline, id: SessionID)> = []
        var timer: Scheduled<Void>?
    }

    private let queue = Queue()

    /// `milliseconds` and `reached` must be the same in every call.
    func add(
        _ id: SessionID, after milliseconds: Int64, on eventLoop: any EventLoop, reached: @escaping (SessionID) -> Void
    ) {
        self.queue.entries.append((.now() + .milliseconds(milliseconds), id))
        if self.queue.timer == nil { Self.arm(self.queue, eventLoop, reached) }
    }

    /// The nearest deadline of a connection that `isWaiting`; those before it are removed.
    func first(where isWaiting: (SessionID) -> Bool) -> (deadline: NIODeadline, id: SessionID)? {
        while let first = self.queue.entries.first, !isWaiting(first.id) { self.queue.entries.removeFirst() }
        return self.queue.entries.first
    }

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

import TidingsAppGroup

/// One source, any number of streams: each gets every value sent after it was made. With `keepsForFirst`, values sent
/// while there was no stream yet go to the first one. A stream holds at most `capacity` unread values; then the
/// oldest falls out, and the reader is told of the gap before the next value.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var outlets: [UInt64: @Sendable (Value) -> AnyObject?] = [:]
        var last: UInt64 = 0
        var kept: [Value] = []
        var hasGap = false
    }

    private let state = Locked(State())
    private let keepsForFirst: Bool
    let capacity: Int

    init(capacity: Int, keepsForFirst: Bool = false) {
        self.capacity = max(1, capacity)
        self.keepsForFirst = keepsForFirst
    }

    /// `first` is evaluated under the lock: a change that is sent either precedes it or reaches the stream.
    func stream(
        startingWith first: @autoclosure () -> Value? = nil, gap: @escaping @Sendable () -> Void = {}
    ) -> AsyncStream<Value> {
        self.stream(startingWith: first(), gap: gap) { $0 }
    }

    func stream<Other: Sendable>(
        startingWith first: @autoclosure () -> Value? = nil, gap: @escaping @Sendable () -> Void = {},
        _ transform: @escaping @Sendable (Value) -> Other?
    ) -> AsyncStream<Other> {
        let buffer = StreamBuffer<Other>(capacity: self.capacity, gap: gap)
        let send: @Sendable (Value) -> AnyObject? = { [weak buffer] value in
            // Held from here on: let go of between a call and the answer, it would be freed under the caller's lock.
            guard let held = buffer else { return nil }
            if let other = transform(value) { held.send(other) }
            return held
        }
        let number = self.state.withLock { state in
            if let first = first() { _ = send(first) }
            state.last += 1
            state.outlets[state.last] = send
            if state.hasGap { buffer.markGap() }
            for value in state.kept { _ = send(value) }
            state.kept = []
            state.hasGap = false
            return state.last
        }
        buffer.whenOver { [weak self] in self?.state.withLock { _ = $0.outlets.removeValue(forKey: number) } }
        return AsyncStream(unfolding: { await buffer.next() }, onCancel: { buffer.finish() })
    }

    func send(_ value: Value) {
        // Kept alive until the lock is released: a buffer that is freed meanwhile takes the lock in its `deinit`.
        let held = self.state.withLock { state in
            if self.keepsForFirst, state.last == 0 {
                if state.kept.count == self.capacity {
                    state.kept.removeFirst()
                    state.hasGap = true
                }
                state.kept.append(value)
            }
            // Under the lock, so that every stream has the same order.
            return state.outlets.values.map { $0(value) }
        }
        withExtendedLifetime(held) {}
    }
}

final class StreamBuffer<Element: Sendable>: Sendable {
    fileprivate struct State {
        /// The elements that wait; those before `first` are taken.
        var waiting: [Element?] = []
        var first = 0
        /// Elements fell out before the oldest that waits.
        var hasGap = false
        var isOver = false
        var readers: [CheckedContinuation<Element?, Never>] = []
        var end: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let capacity: Int
    private let gap: @Sendable () -> Void

    init(capacity: Int, gap: @escaping @Sendable () -> Void) {
        self.capacity = capacity
        self.gap = gap
    }

    deinit { self.finish() }

    func whenOver(_ end: @escaping @Sendable () -> Void) {
        let isOver = self.state.withLock { state in
            if !state.isOver { state.end = end }
            return state.isOver
        }
        if isOver { end() }
    }

    func markGap() { self.state.withLock { $0.hasGap = true } }

    func send(_ element: Element) {
        let reader = self.state.withLock { state -> CheckedContinuation<Element?, Never>? in
            guard !state.isOver else { return nil }
            guard state.readers.isEmpty else { return state.readers.removeFirst() }
            if state.waiting.count - state.first == self.capacity {
                _ = state.popFirst()
                state.hasGap = true
            }
            state.waiting.append(element)
            return nil
        }
        reader?.resume(returning: element)
    }

    func next() async -> Element? {
        await withCheckedContinuation { continuation in
            let (element, hasGap, waits) = self.state.withLock { state -> (Element?, Bool, Bool) in
                if let element = state.popFirst() {
                    defer { state.hasGap = false }
                    return (element, state.hasGap, false)
                }
                if !state.isOver { state.readers.append(continuation) }
                return (nil, false, !state.isOver)
            }
            if hasGap { self.gap() }
            if !waits { continuation.resume(returning: element) }
        }
    }

    func finish() {
        let (readers, end) = self.state.withLock { state in
            state.isOver = true
            state.waiting = []
            state.first = 0
            defer {
                state.readers = []
                state.end = nil
            }
            return (state.readers, state.end)
        }
        for reader in readers { reader.resume(returning: nil) }
        end?()
    }
}

extension StreamBuffer.State {
    fileprivate mutating func popFirst() -> Element? {
        guard self.first < self.waiting.count else { return nil }
        defer {
            self.waiting[self.first] = nil
            self.first += 1
            // Now and then, so that the average cost does not depend on how many wait.
            if self.first == self.waiting.count || self.first >= 256 {
                self.waiting.removeFirst(self.first)
                self.first = 0
            }
        }
        return self.waiting[self.first]
    }
}

import TidingsAppGroup

/// One source, any number of streams: each gets every value sent after it was made. With `keepsForFirst`, values sent while
/// there was no stream yet go to the first one.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var streams: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var last: UInt64 = 0
        var kept: [Value] = []
    }

    private let state = Locked(State())
    private let keepsForFirst: Bool

    init(keepsForFirst: Bool = false) { self.keepsForFirst = keepsForFirst }

    /// A new stream; `first` is its first value if it is not nil.
    ///
    /// It is asked for under the lock: whoever changes a value and then sends it is either before it, or the stream hears of it.
    func stream(startingWith first: @autoclosure () -> Value? = nil) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        let number = self.state.withLock { state in
            if let first = first() { continuation.yield(first) }
            state.last += 1
            state.streams[state.last] = continuation
            for value in state.kept { continuation.yield(value) }
            state.kept = []
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ value: Value) {
        self.state.withLock { state in
            if self.keepsForFirst, state.last == 0 { state.kept.append(value) }
            // Under the lock, so that every stream has the same order.
            for continuation in state.streams.values { continuation.yield(value) }
        }
    }
}

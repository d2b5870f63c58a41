import Synchronization

/// One source, any number of streams: each gets every value sent after it was made.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var streams: [UInt64: AsyncStream<Value>.Continuation] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// A new stream; `first` is its first value if it is not nil.
    func stream(startingWith first: Value? = nil) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        if let first { continuation.yield(first) }
        let number = self.state.withLock { state in
            state.last += 1
            state.streams[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ value: Value) {
        for continuation in self.state.withLock({ Array($0.streams.values) }) { continuation.yield(value) }
    }
}

/// Each stream holds the newest 100 values that its reader has not taken.
@MainActor final class ValueBroadcast<Value: Sendable> {
    private var streams: [Int: AsyncStream<Value>.Continuation] = [:]
    private var last = 0

    func stream() -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(100))
        self.last += 1
        let number = self.last
        self.streams[number] = continuation
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in _ = self?.streams.removeValue(forKey: number) }
        }
        return stream
    }

    func send(_ value: Value) {
        for continuation in self.streams.values { continuation.yield(value) }
    }
}

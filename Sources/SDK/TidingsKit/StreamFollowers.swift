/// Follows streams as long as its owner lives.
@MainActor package final class StreamFollowers {
    private var tasks: [Task<Void, Never>] = []

    package init() {}

    deinit { for task in self.tasks { task.cancel() } }

    package func follow<Value: Sendable>(_ stream: AsyncStream<Value>, _ take: @escaping @MainActor (Value) -> Void) {
        self.tasks.append(Task { for await value in stream { take(value) } })
    }
}

import ServiceLifecycle

/// Does something again and again: at the start, after each pause, and once more when the server stops.
struct Upkeep: Service {
    let pause: Duration
    let work: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.work()
                try? await Task.sleep(for: self.pause)
            }
            await self.work()
        }
    }
}

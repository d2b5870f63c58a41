import ServerCore
import ServiceLifecycle
import StoreModel

/// Takes sessions of the console that are over out of the store, once a minute.
struct SessionSweep: Service {
    let access: ConsoleAccess
    let core: @Sendable (APICommand) async -> APIResult

    private static let pause = Duration.seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                await self.sweep()
            }
        }
    }

    /// What the store does not take now is over all the same, and is taken out the next time.
    func sweep() async {
        for (name, hash) in self.access.endedSessions() {
            _ = await self.core(.changeControl(.changeAccess(name: name, .endSession(hash: hash))))
        }
    }
}

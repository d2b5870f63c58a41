import ServerCore
import ServiceLifecycle
import StoreModel

/// Tells the store once a minute, and when the server stops, when keys were used last.
struct KeyUseService: Service {
    let registry: AppRegistry
    let core: @Sendable (APICommand) async -> APIResult

    private static let pause = Duration.seconds(60)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                await self.reportUses()
            }
        }
    }

    /// What the store does not take now is told the next time.
    func reportUses() async {
        let uses = self.registry.untoldUses
        guard !uses.isEmpty, case .control(.noted) = await self.core(.changeControl(.noteUses(uses))) else { return }
        self.registry.markTold(uses)
    }
}

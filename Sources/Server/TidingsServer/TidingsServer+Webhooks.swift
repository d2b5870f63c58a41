import NIOCore
import NIOPosix

extension TidingsServer {
    /// Closed before the store, whatever happens.
    func withWebhooks(
        _ configuration: ServerConfiguration, _ store: MessageStoreAdapter, _ apps: AppRegistry,
        _ metrics: ServerMetrics,
        _ body: (WebhookDeliveries) async throws -> Void
    ) async throws {
        // Their handshakes must not hold up what goes to APNs.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await Self.attempt {
            try await self.runWebhooks(configuration, store, apps, metrics, group, body)
        } finally: {
            try? await group.shutdownGracefully()
        }
    }

    private func runWebhooks(
        _ configuration: ServerConfiguration, _ store: MessageStoreAdapter, _ apps: AppRegistry,
        _ metrics: ServerMetrics, _ group: MultiThreadedEventLoopGroup,
        _ body: (WebhookDeliveries) async throws -> Void
    ) async throws {
        let webhooks = try WebhookDeliveries(configuration, store, apps, metrics, group: group, logger: self.logger)
        let watch = Self.watch(webhooks, on: group.next(), metrics)
        defer { watch.cancel() }
        try await Self.attempt {
            try await body(webhooks)
        } finally: {
            await webhooks.close()
        }
    }

    /// Shows once a second how much waits.
    private static func watch(
        _ webhooks: WebhookDeliveries, on eventLoop: any EventLoop, _ metrics: ServerMetrics
    ) -> RepeatedTask {
        eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
            metrics.show(webhooks.totals)
        }
    }
}

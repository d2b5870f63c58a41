package import APNsClientCore
package import Metrics
package import NIOCore
import TidingsModel

extension APNsClient {
    /// The client's access to the world; tests and proofs bring their own.
    package struct Surroundings: Sendable {
        var eventLoop: any EventLoop
        var now: @Sendable () -> Now = APNsClientEngine.clocks
        var resolver = Resolver.system
        var metrics: any MetricsFactory = MetricsSystem.factory
        var limits = APNsDispatcher.Configuration()
        var providerTokens = ProviderTokens.ofProcess
    }
}

extension APNsClient.Surroundings {
    /// This machine's clocks and resolver.
    ///
    /// - Parameters:
    ///   - eventLoop: where the connections live, and where completions are called.
    ///   - metrics: gets the metrics, instead of the process's factory.
    ///   - limits: the pauses and timeout of the dispatcher; the numbers the configuration names come from there.
    package init(
        eventLoop: any EventLoop, metrics: any MetricsFactory, limits: APNsDispatcher.Configuration
    ) {
        self.eventLoop = eventLoop
        self.metrics = metrics
        self.limits = limits
    }
}

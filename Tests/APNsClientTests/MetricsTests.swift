import APNsModel
import Metrics
import MetricsTestKit
import NIOCore
import NIOPosix
import Testing
import TidingsModel

@testable import APNsClient

@Suite(.timeLimit(.minutes(5))) struct `The metrics of a client` {
    @Test func `count each end, each reason and each connection`() async throws {
        try await Wire.run(
            { $0.stream == 1 ? .accepted : .answer(410, body: #"{"reason":"Unregistered","timestamp":1}"#) },
            { wire in
                let metrics = TestMetrics()
                var configuration = try wire.configuration()
                configuration.name = "chat"
                let client = try APNsClient(
                    configuration: configuration, logger: Wire.logger,
                    .init(
                        eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                        resolver: Resolver { _, eventLoop in eventLoop.makeSucceededFuture(["127.0.0.1"]) },
                        metrics: metrics))
                _ = await client.outcome(of: Wire.request(0))
                _ = await client.outcome(of: Wire.request(1))
                await client.shutdown()
                let dimensions = [("client", "chat"), ("environment", "sandbox"), ("service", "push")]
                func count(_ label: ClientMetrics.Label, _ more: [(String, String)] = []) throws -> Int64 {
                    try metrics.expectCounter(label.rawValue, dimensions + more).totalValue
                }
                #expect(try count(.requests, [("outcome", "accepted")]) == 1)
                #expect(try count(.requests, [("outcome", "refused")]) == 1)
                #expect(try count(.refusals, [("reason", "Unregistered")]) == 1)
                #expect(try count(.faults, [("fault", "Unregistered")]) == 1)
                #expect(try count(.opened) == 1)
                #expect(try count(.closed, [("cause", "shutdown")]) == 1)
                #expect(try metrics.expectTimer(ClientMetrics.Label.queueAge.rawValue, dimensions).values.count == 2)
                #expect(try metrics.expectTimer(ClientMetrics.Label.answerTime.rawValue, dimensions).values.count == 1)
            })
    }
}

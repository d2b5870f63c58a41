import APNsModel
import Testing
import TidingsModel

@testable import ServerCore

/// The `apns-id` of each try (design.md §3 "Push work").
@Suite struct `The name of a push` {
    @Test func `keeps its ids when its outcome is unknown and the next try is refused, also after a crash`() throws {
        var bench = ServerBench.pushing()
        let first = bench.pushes[0].request
        bench.answerPush(.unknownOutcome("timed out"))
        bench.pass(1_000)
        bench.answerPush(.refused(APNsRefusal(.serviceUnavailable, status: 503)))
        bench.pass(5_000)
        #expect(try #require(bench.pushes.first).request == first)
        bench.answerPush(.refused(APNsRefusal(.serviceUnavailable, status: 503)))
        bench.crash()
        bench.pass(60_000)
        #expect(try #require(bench.pushes.first).request == first)
    }

    @Test func `is another try with another id once APNs has refused it, and nothing of it was lost`() throws {
        var bench = ServerBench.pushing()
        let first = bench.pushes[0].request
        bench.answerPush(.refused(APNsRefusal(.serviceUnavailable, status: 503)))
        bench.pass(5_000)
        let second = try #require(bench.pushes.first).request
        #expect(second.apnsID != first.apnsID)
        #expect(second.collapseID == first.collapseID)
    }
}

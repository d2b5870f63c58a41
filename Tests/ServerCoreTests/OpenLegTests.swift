import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

@Suite struct `The open legs of an app` {
    private static func open(_ bench: inout ServerBench, of app: AppID = ServerBench.app) -> OpenLegCounts {
        guard
            case .reply(_, .pushLanes(_, let open))? = bench.core.handle(
                .api(APIRequestID(900), .pushLanes(app)), at: bench.now
            ).first
        else { return OpenLegCounts() }
        return open
    }

    private static func counts(_ waits: [LegWait: Int]) -> OpenLegCounts {
        var counts = OpenLegCounts()
        for (wait, count) in waits { counts[wait] = count }
        return counts
    }

    @Test func `are counted by what they wait for`() throws {
        var bench = ServerBench()
        #expect(Self.open(&bench) == OpenLegCounts())
        bench.pass(LegCensus.lifetime)
        bench.goneDevice("bob")
        bench.say(to: .direct("bob"))
        #expect(Self.open(&bench) == Self.counts([.inFlight: 1]))
        #expect(Self.open(&bench).total == 1)
        #expect(Self.open(&bench, of: "other") == OpenLegCounts())
        let environment = try #require(bench.pushes.first?.request.environment)
        let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
        bench.run(.laneReported(ServerBench.app, environment, topic: nil, .paused(outage)))
        for user in ["carol", "dave"] {
            bench.goneDevice(UserID(user))
            bench.say(to: .direct(user))
        }
        // Told as it was until it is counted again.
        #expect(Self.open(&bench) == Self.counts([.inFlight: 1]))
        bench.pass(LegCensus.lifetime)
        let open = Self.open(&bench)
        #expect(open.total == 3)
        #expect(open[.inFlight] == 1 && open[.configFault] == 2)
    }
}

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

    /// Steps of a search until everybody was looked at, each as `user/device message wait`.
    private static func found(
        _ bench: ServerBench, _ filter: LegFilter = LegFilter(), of app: AppID = ServerBench.app, limit: Int = 50,
        looks: Int = 1_000
    ) -> [[String]] {
        var question = OpenLegQuestion(app: app, filter: filter, limit: limit, looksMax: looks)
        var steps: [[String]] = []
        repeat {
            let page = bench.core.openLegs(question)
            steps.append(
                page.legs.flatMap { message in
                    message.open.map {
                        "\($0.leg.user.user)/\($0.leg.device?.rawValue ?? "") \(bench.name(message.id)) \($0.wait.rawValue)"
                    }
                })
            question.after = page.next
        } while question.after != nil && steps.count < 100
        return steps
    }

    /// carol and bob, who has two devices, with APNs refusing the credential: m1 to bob, m2 to carol, m3 to bob.
    private static func paused() throws -> ServerBench {
        var bench = ServerBench()
        let outage = LaneOutage(.credential, reason: "InvalidProviderToken")
        bench.run(.laneReported(ServerBench.app, .production, topic: nil, .paused(outage)))
        bench.goneDevice("bob")
        bench.goneDevice("bob", "pad")
        bench.goneDevice("carol")
        for user in ["bob", "carol", "bob"] { bench.say(to: .direct(user)) }
        return bench
    }

    @Test func `are found by what they wait for, person by person`() throws {
        let bench = try Self.paused()
        let all = [
            "bob/pad m1 config_fault", "bob/pad m3 config_fault", "bob/phone m1 config_fault",
            "bob/phone m3 config_fault", "carol/phone m2 config_fault",
        ]
        #expect(Self.found(bench) == [all])
        #expect(Self.found(bench, LegFilter(state: .waiting(.configFault))) == [all])
        #expect(Self.found(bench, LegFilter(state: .waiting(.quietHours))) == [[]])
        #expect(Self.found(bench, LegFilter(device: "pad", state: .open)) == [Array(all[..<2])])
        #expect(Self.found(bench, LegFilter(reason: "CONFIG")) == [all])
        #expect(Self.found(bench, of: "other") == [[]])
        // However small the steps are, each leg is told once.
        for limit in 1...6 {
            for looks in 2...8 {
                #expect(Self.found(bench, limit: limit, looks: looks).flatMap(\.self) == all)
            }
        }
        #expect(Self.found(bench, limit: 2) == [Array(all[..<2]), Array(all[2..<4]), Array(all[4...])])
    }

    @Test func `of messages of a time are found alone`() throws {
        let bench = try Self.paused()
        var question = OpenLegQuestion(app: ServerBench.app, oldest: bench.messages[1], limit: 50, looksMax: 1_000)
        #expect(Set(bench.core.openLegs(question).legs.map(\.id)) == Set(bench.messages[1...]))
        question.newest = bench.messages[2]
        #expect(bench.core.openLegs(question).legs.map(\.id) == [bench.messages[1]])
    }

    @Test func `are looked for from the next person on where the one of the cursor is gone`() throws {
        let bench = try Self.paused()
        var question = OpenLegQuestion(app: ServerBench.app, limit: 50, looksMax: 1_000)
        let all = bench.core.openLegs(question).legs
        // Another person has the place now: all of theirs is told.
        question.after = OpenLegPlace(slot: 0, last: .init(user: "zoe", device: "zzz", position: 9_999))
        #expect(bench.core.openLegs(question).legs == all)
        question.after = OpenLegPlace(slot: 1_000_000)
        #expect(bench.core.openLegs(question) == OpenLegPage())
    }

    @Test func `say until when they wait`() {
        // The bench starts at eight o'clock.
        var bench = `A person's settings`.bench(`A person's settings`.quiet(.defer, start: 7 * 60, end: 9 * 60))
        bench.run(.timeZoneRead("UTC", `A person's settings`.utc))
        bench.say(to: .direct("bob"))
        let found = bench.core.openLegs(OpenLegQuestion(app: ServerBench.app, limit: 50, looksMax: 1_000)).legs
        #expect(found.map(\.about.sender) == ["alice"])
        #expect(found.flatMap(\.open).map(\.wait) == [.quietHours])
        #expect(found.flatMap(\.open).map(\.notBefore) == [ServerBench.started + 3_600_000])
    }
}

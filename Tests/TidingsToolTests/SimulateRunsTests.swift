import Synchronization
import Testing
import TidingsModel

@testable import World
@testable import tidings

@Suite struct `Worlds side by side` {
    @Test(arguments: [1, 2, 5])
    func `are told in the order of their seeds, whichever is there first`(jobs: Int) async {
        let runs = SimulateRuns(jobs: jobs) { seed in
            var report = WorldReport(seed: seed)
            report.traceHash = seed &* 7
            // The first takes the longest.
            for _ in 0..<(20 - seed) * 1_000 { report.events &+= 1 }
            return (report, [])
        }
        var seeds: [UInt64] = []
        var total = SimulateTotal()
        await runs.each(in: 3...17) { report, _ in
            seeds.append(report.seed)
            total.add(report)
            return true
        }
        #expect(seeds == Array(3...17))
        var hash = FNV1a()
        for seed in 3...17 as ClosedRange<UInt64> { hash.feed(seed &* 7) }
        #expect(total.traceHash == hash.value)
        #expect(total.runs == 15)
    }

    @Test func `end when no more is wanted, and run little beyond that`() async {
        let count = Mutex(0)
        let runs = SimulateRuns(jobs: 3) { seed in
            count.withLock { $0 += 1 }
            return (WorldReport(seed: seed), [])
        }
        var last: UInt64 = 0
        await runs.each(in: 1...UInt64.max) { report, _ in
            last = report.seed
            return report.seed < 10
        }
        #expect(last == 10)
        #expect(count.withLock { $0 } <= 13)
    }

    @Test func `end at the last seed there is`() async {
        var seeds: [UInt64] = []
        await SimulateRuns(jobs: 4) { (WorldReport(seed: $0), []) }.each(in: (UInt64.max - 1)...UInt64.max) {
            report, _ in
            seeds.append(report.seed)
            return true
        }
        #expect(seeds == [UInt64.max - 1, UInt64.max])
    }

    @Test func `are counted, with the first failure and what was never reached`() {
        var total = SimulateTotal()
        for seed in 1...3 as ClosedRange<UInt64> {
            var report = WorldReport(seed: seed)
            report.events = Int(seed) * 10
            report.crashes = Int(seed)
            if seed > 1 { report.violations = [Violation(promise: "P1", text: "lost", at: nil)] }
            total.add(report)
        }
        #expect(total.events == 60)
        #expect(total.failed == 2)
        #expect(total.firstFailure?.seed == 2)
        let drawn = WorldMark.allCases.filter { $0 != .exposedTexts }
        #expect(total.missing(with: .swarm) == drawn)
        let crowds: [WorldMark] = [
            .thirdPhones, .phoneless, .smallGroups, .oldSystems, .unsilenced, .fetchedTexts, .messageRings,
            .filteredNumbers, .directNumbers, .lateNumbers, .lostNumbers, .numbersBesideKept, .numbersForAnother,
            .serverNames, .nameless, .communications, .portraits,
            .donated, .donatedSent, .accountMessages, .operatorMessages, .messagesToAccounts, .refusedOperators,
            .refusedToStrangers, .follows, .unfollows, .operatorRecalls, .operatorEdits, .colleagueRevisions,
            .accountsTakenBack, .accountSignIns, .cards, .offeredCards, .pushesDone, .pushesToDevices, .resumedPushes,
            .cancelledPushes,
            .recalledPushes, .anonymousSignIns, .pushesToAnonymous, .credentialsReplaced, .credentialsRolledBack,
            .revokedKeyRefusals, .missingCredentials, .certificatePushes,
        ]
        #expect(total.missing(with: .harsh) == drawn.filter { !crowds.contains($0) })
        #expect(total.verdict == "2 of 3 runs broke a promise")
        #expect(
            total.lines == [
                "count  what", "   60  events (each run 10 at least)", "    6  server crashes (each run 1 at least)",
                "came to 0 of \(WorldMark.allCases.count) situations",
            ])
    }

    @Test func `are told as a table without what never happened`() {
        var (total, report) = (SimulateTotal(), WorldReport(seed: 7))
        report.events = 12_345
        report.rings = 3
        total.add(report)
        #expect(total.verdict == "every promise held")
        #expect(
            total.lines == [
                "count  what", "12345  events", "    3  rings",
                "came to 0 of \(WorldMark.allCases.count) situations",
            ])
    }
}

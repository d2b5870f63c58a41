import APNsCore
import ClientCore
import PhoneCore
import Testing
import TidingsModel

@testable import World

/// A promise that a bug of this test's own breaks: after a server crash, nobody who has put the app away opens it from a tap.
private struct NoRingAfterCrash: Checker {
    static let kinds = FactKinds(.serverStarted, .presented)

    private var lives = 0

    mutating func observe(_ fact: Fact, in state: CheckerState, into findings: inout Findings) {
        switch fact {
        case .serverStarted: self.lives += 1
        case .presented(let record, let key) where record.isRing && self.lives > 1:
            findings.add("test", "\(key) rang for \(record.identifier) after a crash")
        default: break  // tidy: a test needs no more
        }
    }
}

private func run(_ options: WorldOptions) -> WorldReport {
    World.run(options, checkers: Checkers([NoRingAfterCrash()]))
}

@Suite struct `A failing run` {
    private static let options = WorldOptions(seed: 11, phones: 6, hours: 1, faults: .default)

    @Test func `is made short without losing what breaks the promise`() throws {
        let report = run(Self.options)
        #expect(report.violations.first?.promise == "test")
        #expect(report.outside.count > 200)
        var shrinker = try #require(Shrinker(Self.options, report: report, runsMax: 2_000, run: run))
        shrinker.shrink()
        // A crash, somebody who writes, and what puts the receiver's phone to where it rings.
        #expect(shrinker.report.violations.first?.promise == "test")
        #expect(shrinker.report.outside.count { $0.event.stream == .server } == 1)
        #expect(shrinker.report.outside.count <= 12)
        #expect(shrinker.options.duration < Self.options.duration)
        // None of them can be spared.
        for happening in shrinker.report.outside {
            var options = shrinker.options
            options.kept?.remove(happening.event)
            #expect(run(options).violations.first?.promise != "test", "\(happening.event) was not needed")
        }
    }

    @Test func `runs no more worlds than it may`() throws {
        var runs = 0
        let report = run(Self.options)
        var shrinker = try #require(
            Shrinker(Self.options, report: report, runsMax: 7) { options in
                runs += 1
                return run(options)
            })
        shrinker.shrink()
        #expect(runs == 7)
        #expect(shrinker.runs == 7)
        #expect(shrinker.report.violations.first?.promise == "test")
    }

    @Test func `is not made short if nothing broke`() {
        #expect(Shrinker(Self.options, report: WorldReport(seed: 11), runsMax: 10, run: run) == nil)
    }

    @Test func `is the same again from its file`() throws {
        let report = run(Self.options)
        var shrinker = try #require(Shrinker(Self.options, report: report, runsMax: 100, run: run))
        shrinker.shrink()
        let (short, lines) = World.trace(shrinker.options, checkers: Checkers([NoRingAfterCrash()]))
        #expect(short == shrinker.report)
        let text = Replay(shrinker.options, short).text(short, lines)
        let replay = try Replay(parsing: text)
        #expect(replay.promise == "test")
        #expect(replay.traceHash == short.traceHash)
        #expect(run(replay.options) == short)
    }
}

@Suite struct `Outside events` {
    @Test func `are the same numbers when others are left out`() {
        let options = WorldOptions(seed: 3, phones: 4)
        let all = World.run(options)
        var fewer = options
        fewer.kept = Set(all.outside.map(\.event).filter { $0.stream == .person(1) })
        let report = World.run(fewer)
        #expect(report.outside.map(\.event.stream).allSatisfy { $0 == .person(1) })
        #expect(report.outside == all.outside.filter { $0.event.stream == .person(1) })
        #expect(report.crashes == 0)
        #expect(report.broken == 0)
    }

    @Test func `number what happens to extensions, requests and links, each by itself`() {
        var options = WorldOptions(seed: 3, phones: 6, hours: 4, faults: .harsh)
        let all = World.run(options)
        let kinds: [(name: String, marks: [WorldMark])] = [
            ("link", [.slowLinks]), ("http", [.lostRequests]), ("extension", [.killedExtensions, .stalledExtensions]),
            ("app", [.neglectedHandlers]), ("reader", [.pausedReaders]),
        ]
        for (name, marks) in kinds {
            #expect(marks.allSatisfy { all.marks[$0] > 0 }, "\(name) was never injected")
            options.kept = Set(all.outside.map(\.event).filter { !$0.stream.description.hasPrefix("\(name)-") })
            let report = World.run(options)
            #expect(marks.allSatisfy { report.marks[$0] == 0 }, "\(name) was left out, and was injected")
            for (_, others) in kinds where others != marks {
                #expect(others.contains { report.marks[$0] > 0 }, "\(name) took \(others) with it")
            }
        }
        let isOfRequests = { (event: OutsideEvent) in event.stream == .gateway || event.description.hasPrefix("http-") }
        #expect(all.marks[.repeatedRequests] > 0)
        options.kept = Set(all.outside.map(\.event).filter { !isOfRequests($0) })
        #expect(World.run(options).marks[.repeatedRequests] == 0)
    }

    @Test func `change nothing when all are kept`() {
        let options = WorldOptions(seed: 5, phones: 4)
        let all = World.run(options)
        var same = options
        same.kept = Set(all.outside.map(\.event))
        #expect(World.run(same) == all)
    }

    @Test func `have names that can be read`() {
        for event in World.run(WorldOptions(seed: 5, phones: 4, faults: .harsh)).outside.map(\.event) {
            #expect(OutsideEvent(event.description) == event)
        }
        for text in ["", "server", "server/-1", "server/x", "person/1", "person-x/1", "person-1000/1", "phone-1/1"] {
            #expect(OutsideEvent(text) == nil, "\(text)")
        }
    }
}

@Suite struct `A replay file` {
    private static let good = """
        tidings world 1
        seed 7   # a remark
        phones 4
        milliseconds 60000
        faults harsh
        promise P3
        trace 1f
        # another
        keep person-0/12  # 00:00:10.000 writes
        keep server/3
        """

    @Test func `is read`() throws {
        let replay = try Replay(parsing: Self.good)
        #expect(replay.options.seed == 7)
        #expect(replay.options.phones == 4)
        #expect(replay.options.duration == 60_000)
        #expect(replay.options.faults == .harsh)
        #expect(replay.options.kept == [OutsideEvent(.person(0), draw: 12), OutsideEvent(.server, draw: 3)])
        #expect(replay.promise == "P3")
        #expect(replay.traceHash == 0x1f)
    }

    @Test(arguments: [
        ("tidings world 1", "tidings world 2", "line 1: the first line must be \"tidings world 1\""),
        ("seed 7", "seed x", "line 2: seed must be a number from 0 on, got \"x\""),
        ("phones 4", "phones 1", "line 3: phones must be 2 to 1000, got \"1\""),
        ("phones 4", "phones", "line 3: phones takes one value"),
        ("phones 4", "# none", "phones is missing"),
        ("phones 4", "seed 8", "line 3: seed is there twice"),
        ("milliseconds 60000", "milliseconds 0", "line 4: milliseconds must be 1 to 3600000000, got \"0\""),
        ("faults harsh", "faults some", "line 5: faults must be none, default, harsh or swarm, got \"some\""),
        ("trace 1f", "trace xyz", "line 7: trace must be a hash of hexadecimal digits, got \"xyz\""),
        ("promise P3", "promised P3", "line 6: unknown key \"promised\"; known are seed, phones"),
        ("server/3", "server", "line 10: keep must be an event such as person-0/12, got \"server\""),
        ("server/3", "person-0/12", "line 10: keep person-0/12 is there twice"),
        ("server/3", "person-4/1", "line 10: keep person-4/1 is about phone 4, and there are 4"),
    ])
    func `tells what is wrong with it`(old: String, new: String, message: String) {
        let text = Self.good.split(separator: "\n").map { $0.replacing(old, with: new) }.joined(separator: "\n")
        #expect {
            try Replay(parsing: text)
        } throws: { error in
            "\(error)".hasPrefix(message)
        }
    }
}

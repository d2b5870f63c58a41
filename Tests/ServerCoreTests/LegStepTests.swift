import APNsModel
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore

extension ServerBench {
    /// The one end of a message on a device, as the store has it.
    fileprivate func ended(_ number: Int, _ device: DeviceID = "phone") -> EndedLeg? {
        self.trace(number)?.ended.first { $0.leg.device == device }
    }

    private func trace(_ number: Int) -> MessageTrace? {
        guard case .trace(let trace)? = self.read(.trace(Self.app, self.messages[number - 1])) else { return nil }
        return trace
    }

    fileprivate func sent(_ number: Int, attempt: Int = 0) -> LegPush? {
        guard let message = self.trace(number)?.message else { return nil }
        return LegPush(
            attempt: attempt, topic: Self.topic, environment: Self.registration("bob").environment,
            expiration: (message.sentAt + ServerSettings().pushLifetime) / 1_000)
    }
}

@Suite struct `What happens to a message on its way` {
    @Test func `leaves nothing where the phone settles it at once`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.say(to: .direct("bob"))
        bench.run(.frame(bob, .ack(.init(stored: 1, settled: []))))
        #expect(bench.ended(1)?.end == .settled(.shown))
        #expect(bench.ended(1)?.steps.all == [])
    }

    @Test func `is kept with its end: the missed deadline, and the push`() throws {
        var bench = ServerBench()
        _ = bench.connectWithToken("bob")
        bench.say(to: .direct("bob"))
        bench.pass(10_000)
        let at = bench.now.wall
        let push = try #require(bench.sent(1))
        bench.acceptPush()
        #expect(bench.ended(1)?.steps.all == [.turned(.deadlineMissed, at: at), .pushed(push, at: at)])
    }

    @Test func `is kept over a refusal that does not last, with what it waited for`() throws {
        var bench = ServerBench.pushing()
        let at = bench.now.wall
        let push = try #require(bench.sent(1))
        bench.answerPush(.notSent("connection refused"))
        bench.pass(600_000)
        bench.acceptPush()
        let all = bench.ended(1)?.steps.all ?? []
        #expect(bench.ended(1)?.end.name == "accepted")
        #expect(all.prefix(2) == [.pushed(push, at: at), .answered(.notSent, status: 0, reason: "", at: at)])
        guard case .waited(.providerDown, _, at: at)? = all.dropFirst(2).first else {
            Issue.record("no wait: \(all)")
            return
        }
        guard case .pushed? = all.last else { Issue.record("no push: \(all)"); return }
    }

    @Test func `says that the verdict has ended it`() {
        var bench = ServerBench()
        let bob = bench.connect("bob").session
        bench.run(.disconnected(bob))
        bench.pass(60_000)
        bench.say(to: .direct("bob"))
        #expect(bench.ended(1)?.end == .noToken)
        #expect(bench.ended(1)?.steps.all == [.judged])
    }

    @Test func `says on which device it was read, and when`() {
        var bench = ServerBench()
        let phone = bench.connect("bob", "phone").session
        bench.run(.frame(phone, .registerPush(ServerBench.registration("bob"))))
        let tablet = bench.connect("bob", "tablet").session
        bench.say(to: .direct("bob"))
        bench.pass(9_200)
        let readAt = bench.now.wall
        bench.run(.frame(tablet, .markRead(.direct("alice"), upTo: 1)))
        // The phone is still there, and has until its deadline.
        #expect(bench.ended(1) == nil)
        bench.pass(800)
        #expect(bench.ended(1)?.end == .readElsewhere)
        #expect(bench.ended(1)?.at == readAt + 800)
        #expect(
            bench.ended(1)?.steps.all == [
                .read(on: "tablet", at: readAt), .turned(.deadlineMissed, at: readAt + 800), .judged,
            ])
    }

    @Test func `is there after a crash while it waits`() throws {
        var settings = ServerBench.plain
        settings.activeElsewhereTime = 30_000
        var bench = ServerBench.gone(settings)
        bench.connect("bob", "tablet")
        bench.say(to: .direct("bob"))
        let at = bench.now.wall
        bench.crash(settings: settings)
        bench.pass(60_000)
        bench.acceptPush()
        let steps = bench.ended(1)?.steps.all ?? []
        #expect(steps.first == .waited(.activeElsewhere, until: at + 30_000, at: at))
        guard case .pushed? = steps.last else { Issue.record("no push: \(steps)"); return }
    }
}

@Suite struct `The tests of a verdict that was given` {
    private static func asked(_ change: (inout PushFacts) -> Void) -> [PushVerdict.AskedTest] {
        var facts = PushFacts()
        change(&facts)
        return PushVerdict.tests(decidedBy: PushVerdict(facts))
    }

    @Test func `have passed up to the one that has decided`() {
        let tests = Self.asked { $0.isMuted = true }
        #expect(
            tests.map(\.fact) == [
                "block", "notifiable", "settled", "read_elsewhere", "recalled", "expired", "level",
            ])
        #expect(tests.map(\.isPassed) == [true, true, true, true, true, true, false])
    }

    @Test func `have all passed for a push`() {
        let tests = Self.asked { _ in }
        #expect(tests.count == 15)
        #expect(tests.allSatisfy { $0.isPassed })
    }

    @Test(arguments: PolicyRow.all) func `name the fact that the verdict was given by`(row: PolicyRow) {
        let tests = Self.asked(row.apply)
        #expect(tests.last == PushVerdict.AskedTest(fact: row.fact, isPassed: false))
        #expect(tests.dropLast().allSatisfy { $0.isPassed && $0.fact != row.fact })
    }
}

import ServerCore
import Testing
import TidingsModel

/// The rows of DESIGN §5 in their order: a name, how the facts come to fit it, and what it answers.
struct PolicyRow: Sendable, CustomTestStringConvertible {
    let name: String
    let verdict: PushVerdict
    let apply: @Sendable (inout PushFacts) -> Void

    var testDescription: String { self.name }

    static let all: [PolicyRow] = [
        .init(name: "own_device", verdict: .end(.ownDevice)) { $0.isOwnDevice = true },
        .init(name: "no_device", verdict: .end(.noDevice)) { $0.hasDevice = false },
        .init(name: "signed_out", verdict: .end(.signedOut)) { $0.isSignedOut = true },
        .init(name: "not_notifiable", verdict: .end(.notNotifiable)) { $0.isNotifiable = false },
        .init(name: "settled", verdict: .end(.settled(.appHandled))) { $0.settled = .appHandled },
        .init(name: "read_elsewhere", verdict: .end(.readElsewhere)) { $0.isReadElsewhere = true },
        .init(name: "recalled", verdict: .end(.recalled)) { $0.isRecalled = true },
        .init(name: "expired", verdict: .end(.expired)) { $0.isExpired = true },
        .init(name: "muted", verdict: .end(.muted)) { $0.isMuted = true },
        .init(name: "no_token", verdict: .end(.noToken)) { $0.token = .missing },
        .init(name: "live", verdict: .wait(.live)) { $0.presence = .live },
        .init(name: "grace", verdict: .wait(.grace)) { $0.presence = .grace },
        .init(name: "quiet_hours", verdict: .wait(.quietHours)) { $0.isQuietHours = true },
        .init(name: "active_elsewhere", verdict: .wait(.activeElsewhere)) { $0.isActiveElsewhere = true },
        .init(name: "config_fault", verdict: .wait(.configFault)) { $0.lane = .configFault },
        .init(name: "throttled", verdict: .wait(.throttled)) { $0.retry = .throttled },
    ]
}

@Suite struct `The push verdict` {
    @Test func `sends when nothing speaks against it`() {
        #expect(PushVerdict(PushFacts()) == .send)
    }

    @Test(arguments: PolicyRow.all) func `names the one reason there is`(row: PolicyRow) {
        var facts = PushFacts()
        row.apply(&facts)
        #expect(PushVerdict(facts) == row.verdict)
    }

    @Test func `names the first of two reasons in the order of the policy`() {
        for (index, first) in PolicyRow.all.enumerated() {
            for second in PolicyRow.all[(index + 1)...] {
                var facts = PushFacts()
                second.apply(&facts)
                first.apply(&facts)
                // Two rows about one fact cannot both hold.
                if (first.name, second.name) == ("live", "grace") { continue }
                #expect(PushVerdict(facts) == first.verdict, "\(first.name) before \(second.name)")
            }
        }
    }

    @Test func `ends for a dead or quarantined token before it waits`() {
        var facts = PushFacts()
        facts.presence = .grace
        facts.token = .dead(timestamp: 5)
        #expect(PushVerdict(facts) == .end(.tokenDead(timestamp: 5)))
        facts.token = .quarantined
        #expect(PushVerdict(facts) == .end(.tokenQuarantined))
    }

    @Test func `waits for a breaker before a throttled token, and for that before the provider`() {
        var facts = PushFacts()
        facts.lane = .breakerOpen
        facts.retry = .throttled
        #expect(PushVerdict(facts) == .wait(.breakerOpen))
        facts.lane = .providerDown
        #expect(PushVerdict(facts) == .wait(.throttled))
        facts.retry = .none
        #expect(PushVerdict(facts) == .wait(.providerDown))
        facts.lane = .none
        facts.retry = .providerDown
        #expect(PushVerdict(facts) == .wait(.providerDown))
    }
}

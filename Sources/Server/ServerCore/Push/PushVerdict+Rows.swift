import TidingsModel

// What a verdict that was given says of its tests: those before the row that has decided have passed, and those behind it were not asked.
extension PushVerdict {
    /// A test by the name of its fact, and whether it has passed.
    package struct AskedTest: Hashable, Sendable {
        package var fact: String
        package var isPassed: Bool
    }

    /// The tests in the order of the rows, up to the one that has decided; all of them, passed, for a push.
    package static func tests(decidedBy verdict: PushVerdict) -> [AskedTest] {
        let decider = verdict.deciding
        var tests: [AskedTest] = []
        for fact in Self.factsOfEnds {
            tests.append(AskedTest(fact: fact, isPassed: fact != decider))
            if fact == decider { return tests }
        }
        // Quiet hours are asked twice: before the waits whether they drop, and behind the lease whether they defer.
        if case .end(.quietHours) = verdict { return tests + [AskedTest(fact: "quiet_hours", isPassed: false)] }
        for fact in Self.factsOfWaits {
            tests.append(AskedTest(fact: fact, isPassed: fact != decider))
            if fact == decider { return tests }
        }
        return tests
    }

    private static let factsOfEnds = [
        "block", "notifiable", "settled", "read_elsewhere", "recalled", "expired", "level", "token",
    ]
    /// `provider` is asked of lane and retry together.
    private static let factsOfWaits = [
        "lease", "quiet_hours", "active_elsewhere", "storm", "lane", "retry", "provider",
    ]

    private var deciding: String? {
        switch self {
        case .send: nil
        case .end(let end):
            switch end {
            case .blocked: "block"
            case .notNotifiable: "notifiable"
            case .settled: "settled"
            case .readElsewhere: "read_elsewhere"
            case .recalled: "recalled"
            case .expired: "expired"
            case .muted: "level"
            case .noToken, .tokenDead, .tokenQuarantined: "token"
            case .quietHours: "quiet_hours"
            // No verdict ends a leg with these.
            case .ownDevice, .noDevice, .signedOut, .disabled, .accepted, .rejected: nil
            }
        case .wait(let wait):
            switch wait {
            case .live, .grace, .inFlight: "lease"
            case .quietHours: "quiet_hours"
            case .activeElsewhere: "active_elsewhere"
            case .merging: "storm"
            case .configFault, .breakerOpen: "lane"
            case .throttled: "retry"
            case .providerDown: "provider"
            }
        }
    }
}

import TidingsModel

// The tests behind a verdict, and the verdict about each fact by itself: for operators who want to know what speaks against a push.
extension PushVerdict {
    package var result: String {
        switch self {
        case .send: "send"
        case .wait: "wait"
        case .end: "end"
        }
    }

    package var reason: String? {
        switch self {
        case .send: nil
        case .wait(let wait): wait.rawValue
        case .end(let end): end.name
        }
    }

    /// A test, named by its fact, and its result.
    package struct AskedTest: Hashable, Sendable {
        package var fact: String
        package var isPassed: Bool
    }

    /// The tests in the order of the rows, up to the one that has decided; all of them, passed, for a push. Those behind it were not asked.
    package static func tests(decidedBy verdict: PushVerdict) -> [AskedTest] {
        let rows = Self.rows
        let decider = rows.firstIndex { $0.verdict.result == verdict.result && $0.verdict.reason == verdict.reason }
        return rows[...(decider ?? rows.count - 1)].indices.compactMap { index in
            let fact = rows[index].fact
            // A fact with several rows has passed with the last of them.
            guard index == decider || !rows[(index + 1)...].contains(where: { $0.fact == fact }) else { return nil }
            return AskedTest(fact: fact, isPassed: index != decider)
        }
    }

    /// The verdict if only one fact were as it is.
    package struct Test: Hashable, Sendable {
        package var fact: String
        package var verdict: PushVerdict

        package var isPassed: Bool { self.verdict == .send }
    }

    /// One for each fact, in the order in which the verdict asks for them first.
    package static func tests(of facts: PushFacts) -> [Test] {
        PushFacts.parts.map { part in
            var alone = PushFacts()
            part.take(facts, &alone)
            return Test(fact: part.name, verdict: PushVerdict(alone))
        }
    }
}

extension PushFacts {
    /// Every fact, by its name in reports.
    static let parts: [(name: String, take: @Sendable (PushFacts, inout PushFacts) -> Void)] = [
        ("block", { $1.isFromBlocked = $0.isFromBlocked }), ("notifiable", { $1.isNotifiable = $0.isNotifiable }),
        ("settled", { $1.settled = $0.settled }), ("read_elsewhere", { $1.isReadElsewhere = $0.isReadElsewhere }),
        ("recalled", { $1.isRecalled = $0.isRecalled }), ("expired", { $1.isExpired = $0.isExpired }),
        ("level", { $1.isMuted = $0.isMuted }), ("token", { $1.token = $0.token }),
        ("lease", { $1.presence = $0.presence }), ("quiet_hours", { $1.quietHours = $0.quietHours }),
        ("active_elsewhere", { $1.isActiveElsewhere = $0.isActiveElsewhere }), ("storm", { $1.isStorm = $0.isStorm }),
        ("lane", { $1.lane = $0.lane }), ("retry", { $1.retry = $0.retry }),
    ]
}

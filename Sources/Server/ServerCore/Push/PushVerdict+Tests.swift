// The verdict, asked about each fact by itself: for somebody who wants to know which of them speak against a push.
extension PushVerdict {
    /// What the verdict would be if nothing but one fact were as it is.
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

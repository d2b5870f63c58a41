import TidingsModel

package struct FaultCount: Hashable, Sendable {
    package var matched = 0
    package var taken = 0
}

struct RequestFaults: Sendable {
    var delayMilliseconds: Int64 = 0
    var streamLimit: (limit: Int, requests: Int?)?
    /// Nil for an ordinary answer.
    var ending: Fault?
}

/// Every rule has dice of its own, so that what one rule does never moves the chances of another.
struct FaultState: Sendable {
    let plan: FaultPlan
    private(set) var counts: [FaultCount]
    private var dice: [SplitMix64]
    private let occasions: Set<Fault.Occasion>

    init(_ plan: FaultPlan) {
        self.plan = plan
        self.counts = Array(repeating: FaultCount(), count: plan.rules.count)
        self.dice = plan.rules.indices.map { SplitMix64(seed: plan.seed &+ UInt64($0) &* 0xd1b5_4a32_d192_ed03) }
        self.occasions = Set(plan.rules.map(\.fault.occasion))
    }

    var outage: Bool { self.plan.rules.indices.contains { self.plan.rules[$0].fault == .outage && !self.isOver($0) } }

    /// It counts like a connection that was refused.
    mutating func cutsOpened() -> Bool {
        for index in self.plan.rules.indices where self.plan.rules[index].fault == .outage {
            if self.injects(index) { return true }
        }
        return false
    }

    private func isOver(_ index: Int) -> Bool {
        self.plan.rules[index].count.map { self.counts[index].taken >= $0 } ?? false
    }

    private mutating func injects(_ index: Int) -> Bool {
        guard !self.isOver(index) else { return false }
        let rule = self.plan.rules[index]
        self.counts[index].matched += 1
        guard self.counts[index].matched > rule.after, self.dice[index].falls(perMille: rule.perMille) else {
            return false
        }
        self.counts[index].taken += 1
        return true
    }

    mutating func arrival() -> Fault? {
        guard self.occasions.contains(.arrival) else { return nil }
        for index in self.plan.rules.indices where self.plan.rules[index].fault.occasion == .arrival {
            if self.injects(index) { return self.plan.rules[index].fault }
        }
        return nil
    }

    mutating func clockSkew() -> Int64 {
        guard self.occasions.contains(.token) else { return 0 }
        var sum: Int64 = 0
        for index in self.plan.rules.indices {
            if case .clockSkew(let seconds) = self.plan.rules[index].fault, self.injects(index) { sum += seconds }
        }
        return sum
    }

    /// After a rule that ends the request, no further ending one is asked.
    mutating func request(topic: String, token: PushToken?) -> RequestFaults {
        var faults = RequestFaults()
        guard self.occasions.contains(.request) else { return faults }
        for index in self.plan.rules.indices {
            let rule = self.plan.rules[index]
            guard rule.fault.occasion == .request, rule.topic == nil || rule.topic == topic,
                rule.token == nil || rule.token == token
            else { continue }
            switch rule.fault {
            case .delay(let milliseconds):
                if self.injects(index) { faults.delayMilliseconds += milliseconds }
            case .streamLimit(let limit, let requests):
                if self.injects(index) { faults.streamLimit = (limit, requests) }
            case .respond, .loseAnswer, .blackHole, .resetStream, .refuseStream, .goAway, .cut:
                if faults.ending == nil, self.injects(index) { faults.ending = rule.fault }
            // Not of this occasion.
            case .tlsAlert, .refuseConnect, .clockSkew, .outage: break
            }
        }
        return faults
    }
}

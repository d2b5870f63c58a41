import TidingsModel

package struct CaseResult: Equatable, Sendable {
    package var name: String
    package var position: ScenarioPosition
    package var requirements: [String]
    package var checks: Int
    package var differences: [Difference]
    package var trace: [ScenarioTraceLine]
    /// The phone's screen when the case failed, where an app's own code ran.
    package var picture: [String] = []

    package init(
        _ one: ScenarioCase, checks: Int = 0, differences: [Difference] = [], trace: [ScenarioTraceLine] = []
    ) {
        (self.name, self.position, self.requirements) = (one.name, one.position, one.requirements)
        (self.checks, self.differences, self.trace) = (checks, differences, trace)
    }

    package var hasPassed: Bool { self.differences.isEmpty }
}

package struct Difference: Equatable, Sendable {
    package var position: ScenarioPosition
    package var key: String
    package var expected: [String]
    package var actual: [String]
    package var differing: [Int]

    package init(
        position: ScenarioPosition, key: String, expected: [String], actual: [String], differing: [Int]
    ) {
        (self.position, self.key) = (position, key)
        (self.expected, self.actual, self.differing) = (expected, actual, differing)
    }

    /// A step that was not possible.
    package init(step position: ScenarioPosition, _ reason: String) {
        self.init(
            position: position, key: "step", expected: ["a step that is possible"], actual: [reason], differing: [0])
    }
}

extension ScenarioCase {
    /// Runs it on the simulated phone. One with an app's own code fails: it needs processes.
    package func run() -> CaseResult {
        if let code = self.code {
            return CaseResult(
                self, differences: [Difference(step: code.app.position, "only `tidings scenario` runs it")])
        }
        var phone = ScenarioPhone(self)
        phone.prepare()
        if let clock = self.phone.clock {
            // The same again, so much earlier or later that the trace begins at that time.
            let wanted = ScenarioPhone.midnight + Int64(clock) * 60_000
            phone = ScenarioPhone(self, wall: wanted - (phone.now.wall - ScenarioPhone.midnight))
            phone.prepare()
        }
        var result = CaseResult(self, differences: phone.preparation)
        for step in self.steps where phone.halted == nil {
            if case .expect(let expectation) = step.action {
                result.checks += expectation.checkCount
                result.differences += phone.differences(from: expectation, at: step.position)
                phone.trace.mark(at: phone.now.monotonic)
            } else {
                phone.run(step)
            }
        }
        if let reason = phone.halted {
            result.differences.append(Difference(step: phone.step, reason))
        } else if let last = self.steps.last {
            result.differences += phone.faultDifferences(at: last.position)
        }
        result.trace = phone.trace.lines
        return result
    }
}

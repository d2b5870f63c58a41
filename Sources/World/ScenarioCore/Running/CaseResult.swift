import TidingsModel

package struct CaseResult: Equatable, Sendable {
    package var name: String
    package var position: ScenarioPosition
    package var requirements: [String]
    package var checks: Int
    package var differences: [Difference]
    package var trace: [ScenarioTraceLine]

    package var hasPassed: Bool { self.differences.isEmpty }
}

package struct Difference: Equatable, Sendable {
    package var position: ScenarioPosition
    package var key: String
    package var expected: [String]
    package var actual: [String]
    package var differing: [Int]
}

extension ScenarioCase {
    package func run() -> CaseResult {
        var phone = ScenarioPhone(self)
        phone.prepare()
        if let clock = self.phone.clock {
            // The same again, so much earlier or later that the trace begins at that time.
            let wanted = ScenarioPhone.midnight + Int64(clock) * 60_000
            phone = ScenarioPhone(self, wall: wanted - (phone.now.wall - ScenarioPhone.midnight))
            phone.prepare()
        }
        var result = CaseResult(
            name: self.name, position: self.position, requirements: self.requirements, checks: 0,
            differences: phone.preparation, trace: [])
        for step in self.steps where phone.halted == nil {
            if case .expect(let expectation) = step.action {
                result.checks += expectation.checks.count + (expectation.alternatives.isEmpty ? 0 : 1)
                result.differences += phone.differences(from: expectation, at: step.position)
                phone.trace.mark(at: phone.now.monotonic)
            } else {
                phone.run(step)
            }
        }
        if let reason = phone.halted {
            result.differences.append(
                Difference(
                    position: phone.step, key: "step", expected: ["a step that is possible"], actual: [reason],
                    differing: [0]))
        } else if let last = self.steps.last {
            result.differences += phone.faultDifferences(at: last.position)
        }
        result.trace = phone.trace.lines
        return result
    }
}

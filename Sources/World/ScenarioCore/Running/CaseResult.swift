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
        var stage = Stage(self)
        stage.prepare()
        if let clock = self.phone.clock {
            // The same again, so much earlier or later that the trace begins at that time.
            let wanted = Stage.midnight + Int64(clock) * 60_000
            stage = Stage(self, wall: wanted - (stage.now.wall - Stage.midnight))
            stage.prepare()
        }
        var result = CaseResult(
            name: self.name, position: self.position, requirements: self.requirements, checks: 0,
            differences: stage.preparation, trace: [])
        for step in self.steps where stage.halted == nil {
            if case .expect(let expectation) = step.action {
                result.checks += expectation.checks.count + (expectation.alternatives.isEmpty ? 0 : 1)
                result.differences += stage.differences(from: expectation, at: step.position)
                stage.trace.mark(at: stage.now.monotonic)
            } else {
                stage.perform(step)
            }
        }
        if let reason = stage.halted {
            result.differences.append(
                Difference(
                    position: stage.step, key: "step", expected: ["a step that is possible"], actual: [reason],
                    differing: [0]))
        } else if let last = self.steps.last {
            result.differences += stage.faultDifferences(at: last.position)
        }
        result.trace = stage.trace.lines
        return result
    }
}

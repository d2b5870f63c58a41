import TidingsModel

/// What became of a case.
package struct CaseResult: Equatable, Sendable {
    /// Its name.
    package var name: String
    /// Where it begins in the file.
    package var position: ScenarioPosition
    /// The requirements it holds.
    package var requirements: [String]
    /// How many things were checked.
    package var checks: Int
    /// What differs; empty if it passed.
    package var differences: [Difference]
    /// Everything that happened.
    package var trace: [ScenarioTraceLine]

    /// Whether everything was as expected.
    package var hasPassed: Bool { self.differences.isEmpty }
}

/// One thing that is not as expected.
package struct Difference: Equatable, Sendable {
    /// The expectation's place in the file.
    package var position: ScenarioPosition
    /// What was looked at.
    package var key: String
    /// What was expected, row by row.
    package var expected: [String]
    /// What was there.
    package var actual: [String]
    /// The rows that differ, counted from 0.
    package var differing: [Int]
}

extension ScenarioCase {
    /// Plays the case on a virtual clock.
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

/// The observations of a phone that runs an app's own code.
package struct ObservedPhone: Equatable, Sendable {
    /// The texts on the screen, and those that VoiceOver speaks.
    package var screen: [String] = []
    /// The values of the other keys of `expect`, as rows of text.
    package var values: [ExpectKey: [String]] = [:]
    /// The faults against the rules since the last expectation that held.
    package var faults: [String] = []

    package init() {}
}

extension Expectation {
    /// - Parameter position: that of the step, where faults are told that it does not speak of.
    package func differences(from phone: ObservedPhone, at position: ScenarioPosition) -> [Difference] {
        var differences = self.checks.compactMap { check in
            let rows = check.key == .faults ? phone.faults : phone.values[check.key] ?? []
            return check.difference(from: rows.map { .text($0) })
        }
        if let difference = self.screen?.difference(from: phone.screen) { differences.append(difference) }
        let speaksOfFaults = self.checks.contains { $0.key == .faults }
        if !speaksOfFaults, !phone.faults.isEmpty {
            differences.append(Difference(unexpected: phone.faults, at: position))
        }
        return differences.sorted { $0.position < $1.position }
    }

    /// How many things it looks at.
    package var checkCount: Int {
        let screen = self.screen.map { $0.shows.count + $0.contains.count + $0.lacks.count } ?? 0
        return self.checks.count + (self.alternatives.isEmpty ? 0 : 1) + screen
    }
}

extension ScreenCheck {
    fileprivate func difference(from texts: [String]) -> Difference? {
        let rows =
            self.shows.map { (word: "shows", text: $0, found: texts.first(where: [$0].contains), isWanted: true) }
            + self.contains.map { part in
                (word: "contains", text: part, found: texts.first { $0.contains(part) }, isWanted: true)
            }
            + self.lacks.map { (word: "lacks", text: $0, found: texts.first(where: [$0].contains), isWanted: false) }
        let differing = rows.indices.filter { (rows[$0].found != nil) != rows[$0].isWanted }
        guard !differing.isEmpty else { return nil }
        return Difference(
            position: self.position, key: ExpectKey.screen.rawValue,
            expected: rows.map { "\($0.word) \"\($0.text)\"" },
            actual: rows.map { row in row.found.map { "\"\($0)\"" } ?? "not there" }, differing: differing)
    }
}

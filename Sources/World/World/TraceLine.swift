/// A line of a trace.
package struct TraceLine: Hashable, Sendable, CustomStringConvertible {
    /// When, in milliseconds since the beginning.
    package var at: Int64
    /// Who was at work.
    package var party: Party
    /// What happened from outside at this moment and led to it; nil if nothing did.
    package var cause: OutsideEvent?
    /// What happened.
    package var text: String
    /// Whether it comes all the time and tells nothing: a ping and its answer.
    package var isRoutine = false

    /// Time, party and what happened.
    package var description: String {
        let party = self.party.description
        return
            "\(Self.clock(self.at))  \(party)\(String(repeating: " ", count: max(0, 10 - party.count)))  \(self.text)"
    }

    /// Hours, minutes, seconds and milliseconds since the beginning.
    package static func clock(_ milliseconds: Int64) -> String {
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let seconds = milliseconds / 1_000
        return "\(digits(seconds / 3_600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
            + ".\(digits(milliseconds % 1_000, 3))"
    }

    /// The last lines of each party up to a moment that are no routine, in the order of time.
    ///
    /// - Parameters:
    ///   - moment: the last moment that counts, in milliseconds since the beginning; nil for the end.
    ///   - count: how many of each party.
    package static func last(_ count: Int, of lines: [TraceLine], upTo moment: Int64?) -> [TraceLine] {
        var taken: [Party: Int] = [:]
        var last: [TraceLine] = []
        for line in lines.reversed() where !line.isRoutine && line.at <= moment ?? .max {
            guard taken[line.party] ?? 0 < count else { continue }
            taken[line.party, default: 0] += 1
            last.append(line)
        }
        return last.reversed()
    }
}

package struct TraceLine: Hashable, Sendable, CustomStringConvertible {
    /// In milliseconds since the beginning.
    package var at: Int64
    package var stream: RandomStream
    /// The event from outside at this moment that led to it; nil for none.
    package var cause: OutsideEvent?
    package var text: String
    package var isRoutine = false

    package var description: String {
        let stream = self.stream.description
        return
            "\(Self.clock(self.at))  \(stream)\(String(repeating: " ", count: max(0, 10 - stream.count)))  \(self.text)"
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

    /// The last lines of each source up to a moment that are no routine, in the order of time; the moment is nil for
    /// the end.
    package static func last(_ count: Int, of lines: [TraceLine], upTo moment: Int64?) -> [TraceLine] {
        var taken: [RandomStream: Int] = [:]
        var last: [TraceLine] = []
        for line in lines.reversed() where !line.isRoutine && line.at <= moment ?? .max {
            guard taken[line.stream] ?? 0 < count else { continue }
            taken[line.stream, default: 0] += 1
            last.append(line)
        }
        return last.reversed()
    }
}

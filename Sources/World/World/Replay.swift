/// The options of a run, as a small text that a person can read and change: one `key value` a line, `#` begins a remark.
package struct Replay: Hashable, Sendable {
    package var options: WorldOptions
    package var promise: String?
    package var traceHash: UInt64?

    package init(_ options: WorldOptions, _ report: WorldReport) {
        self.options = options
        self.promise = report.violations.first?.promise
        self.traceHash = report.traceHash
    }

    private static let head = "tidings world 1"

    /// The text of a file. The run's outside events become remarks, with their time and what the trace tells of them.
    package func text(_ report: WorldReport, _ lines: [TraceLine]) -> String {
        var text = ["\(Self.head)"]
        for violation in report.violations.prefix(3) { text.append("# \(violation)") }
        text.append("seed \(self.options.seed)")
        text.append("phones \(self.options.phones)")
        text.append("milliseconds \(self.options.duration)")
        text.append("faults \(self.options.faults.name ?? "default")")
        if let promise = self.promise { text.append("promise \(promise)") }
        if let traceHash = self.traceHash { text.append("trace \(String(traceHash, radix: 16))") }
        text.append("# Everything that happens from outside: acts of people and the backend, crashes, faults.")
        text += Self.list(report, lines).map { "keep \($0)" }
        return text.joined(separator: "\n") + "\n"
    }

    package static func list(_ report: WorldReport, _ lines: [TraceLine]) -> [String] {
        var texts: [OutsideEvent: [String]] = [:]
        for line in lines {
            if let cause = line.cause, texts[cause]?.count ?? 0 < 2 { texts[cause, default: []].append(line.text) }
        }
        return report.outside.map { happening in
            let name = happening.event.description
            let told = texts[happening.event]?.joined(separator: "; ") ?? "nothing that shows"
            let gap = String(repeating: " ", count: max(1, 16 - name.count))
            return "\(name)\(gap)# \(TraceLine.clock(happening.at)) \(told)"
        }
    }

    package struct Invalid: Error, Hashable, Sendable, CustomStringConvertible {
        /// From 1 on; 0 for the file as a whole.
        package var line: Int
        package var text: String

        package var description: String { self.line == 0 ? self.text : "line \(self.line): \(self.text)" }
    }

    /// - Throws: `Invalid` for an unknown or repeated key, a value out of range, an event of an unknown source, or if
    /// seed, phones, milliseconds or faults are missing.
    package init(parsing text: String) throws(Invalid) {
        var fields: [String: (line: Int, value: String)] = [:]
        var kept: [OutsideEvent: Int] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == Self.head else {
            throw Invalid(line: 1, text: "the first line must be \"\(Self.head)\"")
        }
        for (number, line) in zip(2..., lines.dropFirst()) {
            let words = line.prefix { $0 != "#" }.split(separator: " ")
            guard let key = words.first.map(String.init) else { continue }
            guard Self.keys.contains(key) else {
                throw Invalid(
                    line: number, text: "unknown key \"\(key)\"; known are \(Self.keys.joined(separator: ", "))")
            }
            guard words.count == 2 else { throw Invalid(line: number, text: "\(key) takes one value") }
            if key == "keep" {
                guard let event = OutsideEvent(words[1]) else {
                    throw Invalid(
                        line: number, text: "keep must be an event such as person-0/12, got \"\(words[1])\"")
                }
                guard kept.updateValue(number, forKey: event) == nil else {
                    throw Invalid(line: number, text: "keep \(event) is there twice")
                }
            } else {
                guard fields.updateValue((number, String(words[1])), forKey: key) == nil else {
                    throw Invalid(line: number, text: "\(key) is there twice")
                }
            }
        }
        try self.init(fields, kept)
    }

    private static let keys = ["seed", "phones", "milliseconds", "faults", "promise", "trace", "keep"]

    private init(_ fields: [String: (line: Int, value: String)], _ kept: [OutsideEvent: Int]) throws(Invalid) {
        func field<Value>(_ key: String, _ rule: String, _ read: (String) -> Value?) throws(Invalid) -> Value {
            guard let field = fields[key] else { throw Invalid(line: 0, text: "\(key) is missing") }
            guard let value = read(field.value) else {
                throw Invalid(line: field.line, text: "\(key) must be \(rule), got \"\(field.value)\"")
            }
            return value
        }
        let seed = try field("seed", "a number from 0 on") { UInt64($0) }
        let phones = try field("phones", "2 to 1000") { Int($0).flatMap { (2...1_000).contains($0) ? $0 : nil } }
        let duration = try field("milliseconds", "1 to 3600000000") { text in
            Int64(text).flatMap { (1...3_600_000_000).contains($0) ? $0 : nil }
        }
        let faults = try field("faults", "none, default, harsh or swarm") { WorldFaults(name: $0) }
        self.options = WorldOptions(seed: seed, phones: phones, hours: 1, faults: faults)
        self.options.duration = duration
        self.options.kept = Set(kept.keys)
        // The first in the file is told, whatever the order of the keys.
        let strangers = kept.filter { $0.key.stream.phone ?? 0 >= phones }
        if let (event, line) = strangers.min(by: { $0.value < $1.value }), let phone = event.stream.phone {
            throw Invalid(line: line, text: "keep \(event) is about phone \(phone), and there are \(phones)")
        }
        self.promise = fields["promise"]?.value
        if fields["trace"] != nil {
            self.traceHash = try field("trace", "a hash of hexadecimal digits") { UInt64($0, radix: 16) }
        }
    }
}

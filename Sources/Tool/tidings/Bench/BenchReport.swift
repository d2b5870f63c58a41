import ArgumentParser
import Foundation
import TidingsModel

/// Options of each measurement for its figures.
struct BenchReportOptions: ParsableArguments {
    @Flag(help: "Print one line of JSON instead of lines of text.") var json = false
    @Option(help: ArgumentHelp("Append the line of JSON to this file, too.", valueName: "file")) var append: String?
    @Option(help: ArgumentHelp("The commit that is measured, for the line of JSON.", valueName: "text"))
    var commit: String?

    /// Prints the figures, and appends them to the file.
    ///
    /// - Throws: `ToolFailure` if the file cannot be written.
    func publish(_ report: BenchReport) throws {
        let line = report.json(commit: self.commit)
        if self.json { print(line) } else { report.lines.forEach { print($0) } }
        guard let append else { return }
        if !FileManager.default.fileExists(atPath: append) {
            _ = FileManager.default.createFile(atPath: append, contents: nil)
        }
        guard let file = FileHandle(forWritingAtPath: append) else {
            throw ToolFailure("--append \(append) cannot be written")
        }
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(line.text)\n".utf8))
        try file.close()
    }
}

/// The figures of one measurement, in the order in which they are told.
struct BenchReport {
    private let name: String
    private var members: [(name: String, value: JSONValue)]

    /// - Parameter server: whose limits it says.
    init(_ name: String, of server: BenchServer) {
        self.name = name
        self.members = [("limits", .string(server.site == nil ? "as the server has them" : "none"))]
    }

    mutating func add(_ name: String, _ value: Int) { self.members.append((name, .int(value))) }
    mutating func add(_ name: String, _ value: String) { self.members.append((name, .string(value))) }
    mutating func add(_ name: String, _ value: Double) { self.members.append((name, Self.number(value))) }

    /// Adds the median, p99, p99.9 and the longest of durations, in milliseconds.
    mutating func add(_ name: String, microseconds: [Int]) {
        let sorted = microseconds.sorted()
        guard let longest = sorted.last else { return }
        for (mark, part) in [("p50", 500), ("p99", 990), ("p99_9", 999)] {
            self.add("\(name)_ms_\(mark)", Double(sorted[(sorted.count - 1) * part / 1_000]) / 1_000)
        }
        self.add("\(name)_ms_longest", Double(longest) / 1_000)
    }

    /// Adds the CPU that a process has used, for each of `count`, and by thread what is at least a hundredth of it.
    mutating func add(_ used: ProcessFigures.Used, each: String, count: Int, seconds: Double) {
        guard count > 0 else { return }
        self.add("cpu_us_a_\(each)", used.cpuMicroseconds / Double(count))
        let threads = used.byThread.filter { $0.value * 100 >= used.cpuMicroseconds }.sorted { $0.value > $1.value }
        let values = threads.map { ($0.key, Self.number($0.value / Double(count))) }
        self.members.append(("cpu_us_a_\(each)_by_thread", .members(values)))
        self.add("cores_used", used.cpuMicroseconds / seconds / 1_000_000)
    }

    /// A figure with as many digits as a measurement has.
    private static func number(_ value: Double) -> JSONValue {
        guard value.magnitude < 1_000 else { return .int(Int(value.rounded())) }
        let places = value.magnitude < 10 ? 1_000.0 : 100
        return JSONNumber((value * places).rounded() / places).map { .number($0) } ?? .null
    }

    func json(commit: String?) -> JSONValue {
        .members(
            [
                ("bench", .string(self.name)), ("date", .string(Date().formatted(.iso8601))),
                ("commit", commit.map { .string($0) } ?? .null), ("compiler", .string(Self.compiler)),
                ("processor", .string(Self.processor)), ("cores", .int(ProcessInfo.processInfo.processorCount)),
            ] + self.members.map { ($0.name, $0.value) })
    }

    var lines: [String] {
        self.members.map { name, value in
            let label = (name == "limits" ? "limits.mode" : name).replacing("_", with: " ") + ":"
            let text: String
            switch value {
            case .string(let string): text = string
            case .object(let object): text = object.members.map { "\($0.key) \($0.value.text)" }.joined(separator: ", ")
            case .null, .bool, .number, .array: text = value.text
            }
            return label.padding(toLength: max(28, label.count + 1), withPad: " ", startingAt: 0) + text
        }
    }

    /// The compiler's version as far as the language tells it, and how it was told to build.
    private static var compiler: String {
        #if compiler(>=6.4)
            let version = "Swift 6.4 or newer"
        #elseif compiler(>=6.3)
            let version = "Swift 6.3"
        #else
            let version = "Swift 6.2"
        #endif
        #if DEBUG
            return "\(version), debug build: the figures say nothing"
        #else
            return "\(version), release build"
        #endif
    }

    private static var processor: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }
}

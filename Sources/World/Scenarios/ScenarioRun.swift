package import ScenarioCore
package import TidingsModel

package struct ScenarioRun: Sendable {
    package var files: [FileResult] = []
    package var problems: [String] = []

    package struct FileResult: Sendable {
        package var path: String
        package var scenario: Scenario
        package var cases: [CaseResult]
    }

    /// Runs a case with an app's own code. It throws what is wrong with the file beside what the file says.
    package typealias OwnCodeRun = (_ path: String, _ one: ScenarioCase) async throws(ScenarioProblem) -> CaseResult

    /// Runs what needs no app's own code; a case that does fails.
    ///
    /// - Parameter filter: only cases whose file, title or name contains this text, upper and lower case alike.
    package init(_ names: [String], filter: String? = nil) {
        for file in self.read(names, filter: filter) {
            self.files.append(
                FileResult(path: file.path, scenario: file.scenario, cases: file.scenario.cases.map { $0.run() }))
        }
    }

    /// - Parameter ownCode: runs the cases with an app's own code, one after another.
    package init(_ names: [String], filter: String? = nil, ownCode: OwnCodeRun) async {
        for file in self.read(names, filter: filter) {
            var results: [CaseResult] = []
            for one in file.scenario.cases {
                guard one.code != nil else {
                    results.append(one.run())
                    continue
                }
                do throws(ScenarioProblem) {
                    results.append(try await ownCode(file.path, one))
                } catch {
                    // What the file says of all its cases is wrong once.
                    let problem = "\(file.path):\(error)"
                    if !self.problems.contains(problem) { self.problems.append(problem) }
                }
            }
            self.files.append(FileResult(path: file.path, scenario: file.scenario, cases: results))
        }
    }

    /// The files that can be read, each with the cases that the filter leaves.
    private mutating func read(_ names: [String], filter: String?) -> [ScenarioFile] {
        let paths: [String]
        do {
            paths = try ScenarioFiles.paths(of: names)
        } catch {
            self.problems = error.problems
            return []
        }
        var files: [ScenarioFile] = []
        for path in paths {
            do {
                files.append(try ScenarioFile(path: path).cases(of: filter?.lowercased()))
            } catch {
                self.problems += error.problems
            }
        }
        if self.problems.isEmpty, let filter, files.allSatisfy({ $0.scenario.cases.isEmpty }) {
            self.problems = ["--filter \"\(filter)\" leaves no case"]
        }
        return files
    }

    package var caseCount: Int { self.files.reduce(0) { $0 + $1.cases.count } }
    package var failedCount: Int { self.files.reduce(0) { $0 + $1.cases.count { !$0.hasPassed } } }

    /// 0: everything passed. 1: something differs. 2: something could not be read.
    package var exitStatus: Int32 { self.problems.isEmpty ? self.failedCount == 0 ? 0 : 1 : 2 }

    // MARK: For people

    /// One line for each case, with its trace if wanted, a table for each difference, and a sum.
    package func lines(showsTrace: Bool = false) -> [String] {
        var lines: [String] = []
        for file in self.files where !file.cases.isEmpty {
            lines.append("\(file.path): \(file.scenario.title)")
            for one in file.cases {
                lines.append("  \(one.hasPassed ? "ok  " : "FAIL") \(one.name)")
                if showsTrace { lines += Self.lines(of: one.trace) }
                for difference in one.differences {
                    lines += ScenarioTable(difference, path: file.path).lines.map { "       \($0)" }
                }
                lines += one.picture.map { "       \($0)" }
            }
        }
        lines += self.problems
        let problems = self.problems.count
        let unread = problems == 0 ? "" : problems == 1 ? ", 1 problem" : ", \(problems) problems"
        let cases = self.caseCount == 1 ? "1 case" : "\(self.caseCount) cases"
        lines.append("\(cases), \(self.failedCount) failed\(unread)")
        return lines
    }

    private static func lines(of trace: [ScenarioTraceLine]) -> [String] {
        let times = trace.map { Self.time($0.at) }
        let width = times.map(\.count).max() ?? 0
        let kind = trace.map(\.kind.count).max() ?? 0
        return zip(times, trace).map { time, line in
            let padding = String(repeating: " ", count: width - time.count)
            let gap = String(repeating: " ", count: kind - line.kind.count)
            return "       \(padding)\(time)  \(line.kind)\(gap)  \(line.text)"
        }
    }

    private static func time(_ milliseconds: Int64) -> String {
        let rest = String(milliseconds % 1_000)
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    // MARK: For programs

    package func json(showsTrace: Bool = false) -> JSONValue {
        JSONMembers([
            "files": self.files.objects { file in
                [
                    "path": file.path, "title": file.scenario.title, "requirements": file.scenario.requirements,
                    "cases": file.cases.objects { Self.members(of: $0, showsTrace: showsTrace) },
                ]
            }, "problems": self.problems, "cases": self.caseCount, "failed": self.failedCount,
        ]).json
    }

    private static func members(of result: CaseResult, showsTrace: Bool) -> JSONMembers {
        let trace = result.trace.objects { ["at_ms": $0.at, "kind": $0.kind, "text": $0.text] }
        let told: JSONMembers = [
            "case": result.name, "line": result.position.line, "passed": result.hasPassed, "checks": result.checks,
            "requirements": result.requirements,
            "differences": result.differences.objects { difference in
                [
                    "line": difference.position.line, "column": difference.position.column, "key": difference.key,
                    "expected": difference.expected, "actual": difference.actual,
                ]
            },
        ]
        return told
            + .given(["picture": result.picture.isEmpty ? nil : result.picture, "trace": showsTrace ? trace : nil])
    }
}

extension ScenarioFile {
    fileprivate func cases(of filter: String?) -> ScenarioFile {
        guard let filter else { return self }
        var file = self
        file.scenario.cases.removeAll { one in
            ![self.path, self.scenario.title, one.name].contains { $0.lowercased().contains(filter) }
        }
        return file
    }
}

struct ScenarioTable {
    let lines: [String]

    init(_ difference: Difference, path: String) {
        let place = "\(path):\(difference.position.line):\(difference.position.column)"
        let count = max(difference.expected.count, difference.actual.count)
        let cell = { (rows: [String], index: Int) in index < rows.count ? rows[index] : "–" }
        let rows = (0..<count).map { (cell(difference.expected, $0), cell(difference.actual, $0)) }
        let header = ("expected", "actual")
        let width = (rows.map(\.0.count) + [header.0.count]).max() ?? 0
        let line = { (mark: String, row: (String, String)) in
            "\(mark) \(row.0)\(String(repeating: " ", count: width - row.0.count))  \(row.1)"
        }
        self.lines =
            ["\(difference.key) at \(place)", line(" ", header)]
            + rows.enumerated().map { line(difference.differing.contains($0) ? "≠" : " ", $1) }
    }
}

package enum ScenarioFormat {
    package static var lines: [String] {
        var lines: [String] = []
        for section in ScenarioSection.allCases {
            lines += ["\(section.rawValue): \(section.summary)"]
            let width = section.keys.map(\.name.count).max() ?? 0
            for key in section.keys {
                let gap = String(repeating: " ", count: width - key.name.count)
                let cases = key.cases == .simulated ? "" : " (\(key.cases.rawValue))"
                lines += [
                    "  \(key.name)\(gap)  \(key.type)\(cases)",
                    "  \(String(repeating: " ", count: width))    \(key.summary)",
                ]
            }
            lines.append("")
        }
        lines.append("calls, as `callbacks` writes them: name(arguments) of notification at time")
        let width = CallWords.words.map(\.count).max() ?? 0
        for call in CallWords.names {
            lines.append("  \(call.word)\(String(repeating: " ", count: width - call.word.count))  \(call.apple)")
        }
        return lines
    }
}

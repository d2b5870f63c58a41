import Foundation

enum ChaosText {
    /// The table of faults, the results by kind, and what the run has cost.
    static func lines(_ report: ChaosRun.Report, notifications: Int) -> [String] {
        var lines = [Self.row("fault", "planned %", "simulator", "client saw", "in doubt")]
        for fault in ChaosFault.allCases {
            let rate = String(format: "%.1f", Double(fault.perMille) / 10)
            let saw = fault.counter.map { "\(report.seen.faults[$0] ?? 0)" } ?? "-"
            let doubt = fault.counter == nil ? "-" : "\(report.ledger.doubtful(fault))"
            lines.append(Self.row(fault.rawValue, rate, "\(report.taken[fault] ?? 0)", saw, doubt))
        }
        let (closed, told) = (report.seen.closed, report.seen.faults["go_away"] ?? 0)
        lines.append(
            "client: \(report.seen.opened) connections opened, \(closed["lost"] ?? 0) lost (cut, lose_answer, outage), "
                + "\(closed["connect_failed"] ?? 0) not made (tls_alert, refuse_connect, outage), "
                + "\(closed["silence"] ?? 0) silent (black_hole), \(told) GOAWAYs (goaway, Shutdown)")
        let outages = report.outages
        lines.append("outages: \(outages.cut) connections cut, \(outages.refused) turned away")
        lines.append("accepted: \(report.ledger.results[.accepted] ?? 0) of \(notifications)")
        for (cause, count) in report.causes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("\(cause): \(count)")
        }
        return lines + [Self.cost(report, notifications)]
    }

    private static func row(_ name: String, _ cells: String...) -> String {
        name.padding(toLength: 26, withPad: " ", startingAt: 0)
            + cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }.joined()
    }

    /// Of this process, so of both sides.
    private static func cost(_ report: ChaosRun.Report, _ notifications: Int) -> String {
        var usage = rusage()
        #if os(Linux)
            getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        #if os(Linux)
            let peak = Double(usage.ru_maxrss) / 1_024
        #else
            let peak = Double(usage.ru_maxrss) / 1_048_576
        #endif
        let rate = Double(notifications) / report.seconds
        return String(
            format: "%.1f s (%.0f a second), %.1f CPU s of both sides, peak memory %.0f MiB", report.seconds, rate, cpu,
            peak)
    }
}

import Foundation

enum ChaosText {
    static func lines(_ report: ChaosRun.Report, notifications: Int) -> [String] {
        var rows = [["fault", "planned %", "simulator", "client saw", "in doubt"]]
        for fault in ChaosFault.allCases {
            let rate = String(format: "%.1f", Double(fault.perMille) / 10)
            let saw = fault.counter.map { "\(report.seen.faults[$0] ?? 0)" } ?? "-"
            let doubt = fault.counter == nil ? "-" : "\(report.ledger.doubtful(fault))"
            rows.append([fault.rawValue, rate, "\(report.taken[fault] ?? 0)", saw, doubt])
        }
        var lines = TextTable.lines(rows, numbers: [1, 2, 3, 4])
        let (closed, told) = (report.seen.closed, report.seen.faults["go_away"] ?? 0)
        lines.append(
            "client: \(counted(report.seen.opened, "connection")) opened, \(closed["lost"] ?? 0) lost (cut, lose_answer, outage), "
                + "\(closed["connect_failed"] ?? 0) not made (tls_alert, refuse_connect, outage), "
                + "\(closed["silence"] ?? 0) silent (black_hole), \(counted(told, "GOAWAY")) (goaway, Shutdown)")
        let outages = report.outages
        lines.append("outages: \(counted(outages.cut, "connection")) cut, \(outages.refused) turned away")
        lines.append("accepted: \(report.ledger.results[.accepted] ?? 0) of \(notifications)")
        for (cause, count) in report.causes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("\(cause): \(count)")
        }
        return lines + [Self.cost(report, notifications)]
    }

    private static func cost(_ report: ChaosRun.Report, _ notifications: Int) -> String {
        let usage = OwnUsage()
        return String(
            format: "%.1f s (%.0f a second), %.1f CPU s of both sides, peak memory %.0f MiB", report.seconds,
            Double(notifications) / report.seconds, usage.cpuSeconds, Double(usage.peakResidentBytes) / 1_048_576)
    }
}

import Foundation

/// From proc(5).
struct ProcessFigures {
    /// In user and system mode, since its start.
    var cpuMicroseconds: Double
    var residentBytes: Int

    /// Nil for a process that is gone, and on systems without /proc.
    init?(pid: Int32) {
        guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        // After the command's name in brackets: field 3 is the state, 14 and 15 are the two times in clock ticks.
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        self.cpuMicroseconds = (user + system) / ticks * 1_000_000
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        self.residentBytes = kilobytes * 1_024
    }
}

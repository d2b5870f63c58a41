import Foundation

/// From proc(5).
struct ProcessFigures {
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

/// What this process has used so far: CPU in user and system mode, and the most memory (getrusage(2)).
struct OwnUsage {
    let cpuSeconds: Double
    let peakResidentBytes: Int

    init() {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
            self.peakResidentBytes = Int(usage.ru_maxrss)
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            self.peakResidentBytes = Int(usage.ru_maxrss) * 1_024
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000 }
        self.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

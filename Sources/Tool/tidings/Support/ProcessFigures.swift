import Foundation

/// The resources that a process has used so far, from proc(5).
struct ProcessFigures {
    let cpuMicroseconds: Double
    let residentBytes: Int
    /// CPU of the threads that live, by name.
    private let byThread: [String: Double]

    /// The resources used between two looks.
    struct Used {
        let cpuMicroseconds: Double
        /// CPU by the name of the thread.
        let byThread: [String: Double]
    }

    /// Nil for a process that is gone, and on systems without /proc.
    init?(pid: Int32) {
        guard let cpu = Self.cpuMicroseconds("/proc/\(pid)/stat"),
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        else { return nil }
        self.cpuMicroseconds = cpu.time
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
        self.residentBytes = kilobytes * 1_024
        let tasks = "/proc/\(pid)/task"
        self.byThread = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).compactMap {
            Self.cpuMicroseconds("\(tasks)/\($0)/stat")
        }.reduce(into: [:]) { $0[$1.name, default: 0] += $1.time }
    }

    func used(since before: ProcessFigures) -> Used {
        Used(
            cpuMicroseconds: self.cpuMicroseconds - before.cpuMicroseconds,
            byThread: self.byThread.reduce(into: [:]) { $0[$1.key] = $1.value - (before.byThread[$1.key] ?? 0) })
    }

    private static func cpuMicroseconds(_ path: String) -> (name: String, time: Double)? {
        guard let stat = try? String(contentsOfFile: path, encoding: .utf8), let start = stat.firstIndex(of: "("),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        // After the command's name in brackets: field 3 is the state, 14 and 15 are the two times in clock ticks.
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return nil }
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        return (String(stat[stat.index(after: start)..<end]), (user + system) / ticks * 1_000_000)
    }
}

/// The resources that this process has used so far: CPU in user and system mode, and the most memory (getrusage(2)).
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

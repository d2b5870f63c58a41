import ArgumentParser

struct BenchIdle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "idle",
        abstract: "Measure connections on which nothing happens: resident bytes of each, and how fast they are let in.",
        discussion: """
            Connects that many people, each with a token of their own, until the server has welcomed every one. The first tenth is not \
            counted: with it the server takes memory that it keeps whoever comes afterwards.
            """)

    @OptionGroup var target: BenchTarget
    @OptionGroup var report: BenchReportOptions
    @Option(help: "Connections.") var connections = 5_000

    func validate() throws { try check("--connections", self.connections, in: 10...20_000) }

    func run() async throws {
        try await self.target.withServer { server in
            let people = try (0..<self.connections).map {
                try BenchConnection.Opening("idle\($0)", device: "bench-\($0)", at: server)
            }
            try await BenchLoop.with(IdleLoad.init) { loop in
                let first = Array(people[..<(self.connections / 10)])
                let others = Array(people[(self.connections / 10)...])
                try await loop.wait { $0.crowd.connect(first) }
                let (before, start) = (try server.figures(), ContinuousClock.now)
                try await loop.wait { $0.crowd.connect(others) }
                let (after, seconds) = (try server.figures(), start.duration(to: .now) / .seconds(1))
                var report = BenchReport("idle", of: server)
                report.add("connections", self.connections)
                report.add("connected_a_second", Double(others.count) / seconds)
                if let before, let after {
                    report.add(
                        "resident_bytes_a_connection", (after.residentBytes - before.residentBytes) / others.count)
                    report.add("resident_bytes", after.residentBytes)
                    report.add(after.used(since: before), each: "connection", count: others.count, seconds: seconds)
                }
                try self.report.publish(report)
            }
        }
    }
}

private final class IdleLoad: BenchLoad {
    let crowd: BenchCrowd
    init(_ crowd: BenchCrowd) { self.crowd = crowd }
}

import ArgumentParser
import Foundation
import TidingsModel

struct BenchLive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live",
        abstract:
            "Measure messages between pairs of people who are connected: messages a second, CPU and time of each.",
        discussion: """
            Each person keeps --window messages in flight to the other one. Delivered means that the recipient has the frame; recipients \
            acknowledge once a read. Every ack that a sender counts was synced to disk before. With --rate the pairs send that many \
            messages a second in all instead, whatever is in flight. ack_ms is the time from the send of a message, with --rate from the \
            moment it was due, to its ack. Where generator_cores_used is near 1, the generator is the limit. Afterwards it is waited until \
            everything in flight has come: a message that is lost, doubled or out of order ends it with status 1.
            """)

    @OptionGroup var target: BenchTarget
    @OptionGroup var report: BenchReportOptions
    @Option(help: "Pairs of people.") var pairs = 500
    @Option(help: "Messages that each person keeps in flight, at most 64: more the server does not store at a time.")
    var window = 1
    @Option(help: "Messages a second of all pairs together; without it, as many as are acknowledged.") var rate: Int?
    @Option(help: "Bytes of text in a message.") var text = 100
    @Option(help: "How long to measure, in seconds.") var seconds = 10
    @Option(help: "How long to let it run before that, in seconds.") var warmUp = 2

    @Option(
        help: ArgumentHelp(
            "The file in which Benchmarks/Floors/allocations.c counts the server's allocations (with --under or --pid).",
            valueName: "file")) var allocations: String?
    @Option(
        help: ArgumentHelp(
            "A file to write when the load runs, as JSON: the API's address, the database, the server's process id.",
            valueName: "file")) var readyFile: String?

    func validate() throws {
        try check("--pairs", self.pairs, in: 1...10_000)
        try check("--window", self.window, in: 1...64)
        try check("--rate", self.rate ?? 1, in: 1...100_000)
        try check("--text", self.text, in: 1...16_384)
        try check("--seconds", self.seconds, in: 1...3_600)
        try check("--warm-up", self.warmUp, in: 0...60)
    }

    func run() async throws {
        try await self.target.withServer { server in
            let people = try (0..<(self.pairs * 2)).map {
                try BenchConnection.Opening("pair\($0)", device: "bench-\($0)", at: server)
            }
            try await BenchLoop.with(PairLoad.init) { loop in
                try await loop.wait { $0.crowd.connect(people) }
                let (text, window, rate) = (String(repeating: "x", count: self.text), self.window, self.rate)
                try await loop.run { $0.start(window: window, text: text, rate: rate) }
                try await Task.sleep(for: .seconds(self.warmUp))
                try self.writeReadyFile(server)
                try await self.measure(server, loop)
            }
        }
    }

    private struct Sample {
        var figures: ProcessFigures?
        var counts: PairLoad.Counts
        var allocations: Int?
        var generator = OwnUsage()
        var time = ContinuousClock.now
    }

    private func sample(_ server: BenchServer, _ loop: BenchLoop<PairLoad>) async throws -> Sample {
        // The counter is one number of eight bytes.
        let counter = try self.allocations.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        return Sample(
            figures: try server.figures(), counts: try await loop.run { $0.counts },
            allocations: counter?.reversed().reduce(0) { $0 << 8 | Int($1) })
    }

    private func measure(_ server: BenchServer, _ loop: BenchLoop<PairLoad>) async throws {
        _ = try await loop.run { $0.takeLatencies() }
        let before = try await self.sample(server, loop)
        try await ProgressLine.during("measuring", usually: self.seconds) {
            try await Task.sleep(for: .seconds(self.seconds))
        }
        let after = try await self.sample(server, loop)
        let latencies = try await loop.run { $0.takeLatencies() }
        try await loop.run { $0.stop() }
        _ = try await loop.wait(seconds: 10) {
            $0.counts.accepted == $0.counts.sent && $0.counts.delivered >= $0.counts.sent
        }
        let end = try await loop.run { $0.counts }

        let seconds = before.time.duration(to: after.time) / .seconds(1)
        let delivered = after.counts.delivered - before.counts.delivered
        var report = BenchReport("live", of: server)
        report.add("pairs", self.pairs)
        report.add("window", self.window)
        if let rate { report.add("rate", rate) }
        report.add("text_bytes", self.text)
        report.add("seconds", seconds)
        report.add("acked_a_second", Double(after.counts.accepted - before.counts.accepted) / seconds)
        report.add("delivered_a_second", Double(delivered) / seconds)
        if let old = before.figures, let new = after.figures {
            report.add(new.used(since: old), each: "message", count: delivered, seconds: seconds)
            report.add("resident_bytes", new.residentBytes)
        }
        if let old = before.allocations, let new = after.allocations, delivered > 0 {
            report.add("allocations_a_message", Double(new - old) / Double(delivered))
        }
        let generator = after.generator.cpuSeconds - before.generator.cpuSeconds
        report.add("generator_cores_used", generator / seconds)
        report.add("ack", microseconds: latencies)
        report.add("lost", max(0, end.sent - end.delivered))
        report.add("doubled", max(0, end.delivered - end.sent))
        report.add("out_of_order", end.outOfOrder)
        try self.report.publish(report)
        guard delivered > 0, end.accepted == end.sent, end.delivered == end.sent, end.outOfOrder == 0 else {
            throw ToolFailure(
                "\(end.sent) were sent, \(end.accepted) acknowledged, \(end.delivered) delivered, \(end.outOfOrder) out of order"
            )
        }
    }

    /// For programs that look at the server meanwhile, as `make prove-console` does.
    private func writeReadyFile(_ server: BenchServer) throws {
        guard let path = self.readyFile, let site = server.site, let pid = server.pid else { return }
        let ready = Ready(api: site.apiAddress, database: site.database, server: pid)
        try JSONEncoder().encode(ready).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private struct Ready: Encodable {
        let api: String
        let database: String
        let server: Int32
    }
}

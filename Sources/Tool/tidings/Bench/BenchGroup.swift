import ArgumentParser
import NIOCore
import TidingsModel

struct BenchGroup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group",
        abstract:
            "Measure a group whose members are all connected: deliveries a second, CPU of each, time to the last.",
        discussion: """
            One member writes, and writes again when every other one has the message; with --rate so many times a second instead. \
            last_delivery_ms is the time from the send of a message, with --rate from the moment it was due, until the last member has it.
            """)

    @OptionGroup var target: BenchOwnTarget
    @OptionGroup var report: BenchReportOptions
    @Option(help: "Members, the one who writes included.") var members = 1_000
    @Option(help: "Messages a second; without it, one after the other.") var rate: Int?
    @Option(help: "Bytes of text in a message.") var text = 100
    @Option(help: "How long to measure, in seconds.") var seconds = 10

    func validate() throws {
        try check("--members", self.members, in: 2...3_000)
        try check("--rate", self.rate ?? 1, in: 1...1_000)
        try check("--text", self.text, in: 1...16_384)
        try check("--seconds", self.seconds, in: 1...3_600)
    }

    func run() async throws {
        try await self.target.withServer { server, site in
            let names = (0..<self.members).map { "member\($0)" }
            _ = try await HTTP.json(
                "PUT", "\(site.apiAddress)/v1/apps/\(LocalServer.app)/conversations/GRP/bench", key: site.apiKey,
                body: ["members": .array(names.map { .string($0) })])
            let people = try names.map { try BenchConnection.Opening($0, device: "bench", at: server) }
            try await BenchLoop.with(GroupLoad.init) { loop in
                try await loop.wait { $0.crowd.connect(people) }
                let (text, rate) = (String(repeating: "x", count: self.text), self.rate)
                try await loop.run { $0.start(text: text, rate: rate) }
                try await Task.sleep(for: .seconds(1))
                try await self.measure(server, loop)
            }
        }
    }

    private func measure(_ server: BenchServer, _ loop: BenchLoop<GroupLoad>) async throws {
        let before = (try server.figures(), try await loop.run { $0.begin() }, ContinuousClock.now)
        try await ProgressLine.during("measuring", usually: self.seconds) {
            try await Task.sleep(for: .seconds(self.seconds))
        }
        let after = (try server.figures(), try await loop.run { $0.delivered }, ContinuousClock.now)
        let times = try await loop.run { $0.stop() }
        let isComplete = try await loop.wait(seconds: 10) { $0.isComplete }
        let outOfOrder = try await loop.run { $0.outOfOrder }
        let seconds = before.2.duration(to: after.2) / .seconds(1)
        let delivered = after.1 - before.1
        var report = BenchReport("group", of: server)
        report.add("members", self.members)
        if let rate { report.add("rate", rate) }
        report.add("text_bytes", self.text)
        report.add("seconds", seconds)
        report.add("deliveries_a_second", Double(delivered) / seconds)
        if let old = before.0, let new = after.0 {
            report.add(new.used(since: old), each: "delivery", count: delivered, seconds: seconds)
        }
        report.add("last_delivery", microseconds: times)
        report.add("out_of_order", outOfOrder)
        try self.report.publish(report)
        guard isComplete, outOfOrder == 0 else {
            throw ToolFailure(
                "not every member has got every message once and in order: \(outOfOrder) were out of order")
        }
    }
}

/// Connection 0 writes to a group, of which all are members.
private final class GroupLoad: BenchLoad {
    let crowd: BenchCrowd
    private(set) var delivered = 0
    private(set) var outOfOrder = 0
    private var send: BenchSend
    private var sent = 0
    /// The number of the message that each member gets next.
    private var expected: [Int] = []
    /// Messages on their way: since when, and how many members lack it.
    private var open: [Int: (since: NIODeadline, missing: Int)] = [:]
    private var times: [Int] = []
    private var isRunning = true
    private var isAtRate = false

    init(_ crowd: BenchCrowd) {
        self.crowd = crowd
        self.send = BenchDialect.tidings.send(to: "bench", in: .group, text: "")
    }

    var isComplete: Bool { self.open.isEmpty }

    func start(text: String, rate: Int?) {
        self.send = BenchDialect.tidings.send(to: "bench", in: .group, text: text)
        self.expected = Array(repeating: 0, count: self.crowd.connections.count)
        self.isAtRate = rate != nil
        self.crowd.heard = { [unowned self] in self.handle($1, of: $0) }
        guard let rate else { return self.write(since: .now()) }
        self.crowd.send(atRate: rate) { [unowned self] in
            if self.isRunning { self.write(since: $1) }
            return self.isRunning
        }
    }

    /// Begins to count; returns how many deliveries were made so far.
    func begin() -> Int {
        self.times = []
        return self.delivered
    }

    /// Ends the sending; returns how many microseconds each message took.
    func stop() -> [Int] {
        self.isRunning = false
        return self.times
    }

    private func write(since: NIODeadline) {
        self.open[self.sent] = (since, self.crowd.connections.count - 1)
        self.crowd.connections[0].write(frame: self.send.frame(number: self.sent))
        self.crowd.connections[0].flush()
        self.sent += 1
    }

    private func handle(_ signal: BenchConnection.Signal, of connection: BenchConnection) {
        guard case .delivered(let number) = signal else { return }
        self.delivered += 1
        if number != self.expected[connection.index] { self.outOfOrder += 1 }
        self.expected[connection.index] = number + 1
        self.open[number]?.missing -= 1
        guard let message = self.open[number], message.missing == 0 else { return }
        self.open[number] = nil
        self.times.append(Int((NIODeadline.now() - message.since).nanoseconds / 1_000))
        if self.isRunning, !self.isAtRate { self.write(since: .now()) }
    }
}

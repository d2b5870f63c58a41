import ArgumentParser
import NIOCore
import TidingsModel

struct BenchPush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Measure messages to people who are away: pushes a second through the local APNs, and CPU of each.",
        discussion: """
            People whose one device has registered for pushes and is gone are written to in turn. The local APNs runs beside, with all its \
            checks, on a core of the generator's; it is waited until it has taken a push for every message. Grace times are 0 and alerts \
            are not merged (policy.storm_limit: 0): a push for each message at once.
            """)

    @OptionGroup var target: BenchOwnTarget
    @OptionGroup var report: BenchReportOptions
    @Option(help: "Messages, each of which becomes a push.") var messages = 50_000
    @Option(help: "People who are away.") var people = 1_000
    @Option(help: "People who write.") var writers = 20
    @Option(help: "Messages that each of them keeps in flight.") var window = 5
    @Option(help: "Bytes of text in a message.") var text = 100

    func validate() throws {
        try check("--messages", self.messages, in: 1...10_000_000)
        try check("--people", self.people, in: 1...100_000)
        try check("--writers", self.writers, in: 1...1_000)
        try check("--window", self.window, in: 1...64)
        try check("--text", self.text, in: 1...16_384)
    }

    func run() async throws {
        let settings = [
            "lease.grace_milliseconds": "0", "lease.restart_grace_milliseconds": "0",
            "policy.active_elsewhere_milliseconds": "0", "policy.storm_limit": "0",
        ]
        try await self.target.withServer(apns: true, settings: settings) { server, site in
            let devices = try await DeviceLoad(
                DeviceLoad.Plan(
                    gatewayPort: site.gatewayPort, controlPort: site.controlPort, topic: LocalServer.topic,
                    people: self.people, each: 1, inFlight: 100), token: site.userToken)
            try await withCleanUp({ await devices.shutDown() }) { try await devices.run() }
            let writers = try (0..<self.writers).map {
                try BenchConnection.Opening("writer\($0)", device: "bench", at: server)
            }
            try await BenchLoop.with(AwayLoad.init) { loop in
                try await loop.wait { $0.crowd.connect(writers) }
                try await self.measure(server, site, loop)
            }
        }
    }

    private func measure(_ server: BenchServer, _ site: LocalServer, _ loop: BenchLoop<AwayLoad>) async throws {
        let tally = "http://127.0.0.1:\(site.controlPort)/tally"
        _ = try await HTTP.json("POST", tally, body: .members([]))
        let (before, start) = (try server.figures(), ContinuousClock.now)
        let (text, plan) = (String(repeating: "x", count: self.text), (self.messages, self.people, self.window))
        try await loop.run { $0.start(plan.0, to: plan.1, window: plan.2, text: text) }
        // Ten a second at the least, so that a push that never comes ends it.
        let deadline = start + .seconds(60 + self.messages / 10)
        var pushes = 0
        while pushes < self.messages, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(20))
            _ = try await loop.run { $0.accepted }
            pushes = try await HTTP.json("GET", tally)["pushes"]?.intValue.map { Int($0) } ?? 0
            ProgressLine.update("\(pushes) of \(self.messages) pushes")
        }
        let (after, seconds) = (try server.figures(), start.duration(to: .now) / .seconds(1))
        let accepted = try await loop.run { $0.accepted }
        var report = BenchReport("push", of: server)
        report.add("messages", self.messages)
        report.add("people", self.people)
        report.add("window", self.writers * self.window)
        report.add("text_bytes", self.text)
        report.add("seconds", seconds)
        report.add("pushes", pushes)
        report.add("pushes_a_second", Double(pushes) / seconds)
        if let before, let after {
            report.add(after.used(since: before), each: "push", count: pushes, seconds: seconds)
            report.add("resident_bytes", after.residentBytes)
        }
        try self.report.publish(report)
        guard accepted == self.messages, pushes == self.messages else {
            throw ToolFailure("\(self.messages) were sent, \(accepted) acknowledged, and \(pushes) pushes came")
        }
    }
}

/// People who write to others in turn.
private final class AwayLoad: BenchLoad {
    let crowd: BenchCrowd
    private(set) var accepted = 0
    private var sends: [BenchSend] = []
    private var wanted = 0
    private var sent = 0

    init(_ crowd: BenchCrowd) { self.crowd = crowd }

    func start(_ count: Int, to people: Int, window: Int, text: String) {
        self.wanted = count
        self.sends = (0..<people).map { BenchDialect.tidings.send(to: "user\($0)", text: text) }
        self.crowd.heard = { [unowned self] connection, signal in
            guard case .accepted = signal else { return }
            self.accepted += 1
            self.write(on: connection)
        }
        for connection in self.crowd.connections {
            for _ in 0..<window { self.write(on: connection) }
            connection.flush()
        }
    }

    /// The number is new for all writers together, and so for each.
    private func write(on connection: BenchConnection) {
        guard self.sent < self.wanted else { return }
        connection.write(frame: self.sends[self.sent % self.sends.count].frame(number: self.sent))
        self.sent += 1
    }
}

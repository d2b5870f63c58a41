import APNsSimulator
import ArgumentParser
import Foundation
import Logging
import TidingsModel

struct Chaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prove the APNs client: send while everything fails, and reconcile every notification with the log.",
        discussion: """
            Starts a local APNs on free ports of this machine and a client, over TLS. While notifications go out, \
            connections are cut and fall silent, answers are lost and late, streams are refused and reset, GOAWAY comes \
            with a reason, with text and with nothing, provider tokens expire, pushes are answered with 429, 500 and \
            503, connections are turned away before TLS and by an alert, and at times all are cut and nobody gets in.

            Status 0 only if every notification ended in exactly one result, every accepted one is in the simulator's \
            log, none was accepted twice or after a refusal unless its outcome was reported as unknown, and what the \
            client counted of each fault is what the simulator did of it. Otherwise the first broken promise and the \
            seed. The seed fixes the notifications and the dice of the faults; in what order the sockets are served is \
            up to the machine.

            The client's pauses and the age at which a provider token may be replaced are shortened, so that a run takes \
            minutes; its rules are the ones of every client.
            """)

    @Option(help: "How many notifications, 1 to 10000000.") var notifications = 5_000
    @Option(help: "How many devices they go to, 1 to 100000.") var devices = 2_000
    @Option(help: "How many are open at the same time, 1 to 10000.") var inFlight = 100
    @Option(help: "How many connections at most, 1 to 100.") var connections = 16
    @Option(help: "How many streams a connection takes, 1 to 1000: what is on them goes down with it.") var streams = 10
    @Option(help: "Seed of notifications and faults; without it one is drawn and printed.") var seed: UInt64?
    @Option(help: "How often each fault has to be injected, 0 to 1000000; a run with fewer fails.")
    var atLeast = 0

    func validate() throws {
        try check("--notifications", self.notifications, in: 1...10_000_000)
        try check("--devices", self.devices, in: 1...100_000)
        try check("--in-flight", self.inFlight, in: 1...10_000)
        try check("--connections", self.connections, in: 1...100)
        try check("--streams", self.streams, in: 1...1_000)
        try check("--at-least", self.atLeast, in: 0...1_000_000)
    }

    func run() async throws {
        #if DEBUG
            print("This is a debug build: the seconds say nothing about the product.")
        #endif
        let seed = self.seed ?? UInt64.random(in: 1...999_999)
        let folder = try TemporaryFolder("chaos")
        defer { folder.remove() }
        var configuration = APNsSimulator.Configuration(stateFolder: folder.path)
        configuration.port = 0
        configuration.channelPort = 0
        configuration.courierPort = 0
        configuration.controlPort = 0
        configuration.isStrict = true
        configuration.streamsAfterToken = self.streams
        // Tokens the simulator calls expired are replaced within seconds.
        configuration.tokenUpdateMinSeconds = 0
        let simulator = try APNsSimulator(
            configuration: configuration, logger: Logger(label: "tidings.chaos") { _ in SwiftLogNoOpLogHandler() })
        let addresses = try await simulator.start()
        print(
            "seed \(seed): \(counted(self.notifications, "notification")) to \(counted(self.devices, "device")), "
                + "\(self.inFlight) open at a time, at most \(counted(self.connections, "connection")) of "
                + counted(self.streams, "stream"))
        fflush(nil)
        let report = try await withCleanUp({ await simulator.stop() }) {
            try await ProgressLine.during("sending") {
                try await ChaosRun.run(self, seed: seed, simulator, addresses)
            }
        }
        for line in ChaosText.lines(report, notifications: self.notifications) { print(line) }
        let violations = report.ledger.violations(
            taken: report.taken, seen: report.seen, outages: report.outages, atLeast: self.atLeast)
        guard violations.isEmpty else {
            print("BROKEN with seed \(seed): \(counted(violations.count, "promise"))", .red)
            for violation in violations.prefix(20) { print("  \(violation)") }
            throw ExitCode(1)
        }
        print("every notification ended in one result; the log and the counts of both sides agree", .green)
    }
}

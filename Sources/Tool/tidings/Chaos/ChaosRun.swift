import APNsClient
import APNsClientCore
import APNsCore
import APNsModel
import APNsSimulator
import Foundation
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TidingsModel

final class ChaosRun: Sendable {
    struct Report {
        var ledger: ChaosLedger
        var taken: [ChaosFault: Int]
        var seen: ChaosLedger.Sightings
        var outages: ChaosLedger.Outages
        /// Why notifications were not accepted, in the client's words.
        var causes: [String: Int]
        var seconds: Double
    }

    private struct State {
        var ledger: ChaosLedger
        var next = 0
        var isOver = false
        var causes: [String: Int] = [:]
        var lastEnd = ContinuousClock.now
    }

    static let topic = "com.example.chaos"
    /// Lines per page of the log; a smaller page would never catch up.
    private static let page = 5_000
    /// A run in which nothing ends for so long is stuck: twice what a notification may take.
    private static let timeLimit = Duration.seconds(60)

    private let options: Chaos
    private let seed: UInt64
    private let tokens: [PushToken]
    private let client: APNsClient
    private let state: Mutex<State>

    private init(_ options: Chaos, seed: UInt64, tokens: [PushToken], client: APNsClient) {
        self.options = options
        self.seed = seed
        self.tokens = tokens
        self.client = client
        self.state = Mutex(State(ledger: ChaosLedger(notifications: options.notifications)))
    }

    static func run(
        _ options: Chaos, seed: UInt64, _ simulator: APNsSimulator, _ addresses: APNsSimulator.Addresses
    ) async throws -> Report {
        let metrics = ChaosMetrics()
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let client = try Self.client(options, addresses, metrics, eventLoop)
        let tokens = try await simulator.register(phones: options.devices, topic: Self.topic, .sandbox)
        var faults = ChaosFaults(seed: seed)
        try await faults.begin(simulator)
        let run = ChaosRun(options, seed: seed, tokens: tokens, client: client)
        let start = ContinuousClock.now
        for _ in 0..<options.inFlight { run.sendNext() }
        var line = 0
        while !run.isFinished {
            try await Task.sleep(for: .milliseconds(10))
            try await run.readLog(simulator, from: &line)
            try await faults.advance(to: run.state.withLock { $0.ledger.sentCount }, simulator)
            let ended = run.state.withLock { $0.ledger.endedCount }
            ProgressLine.update("\(ended) of \(options.notifications) notifications")
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        run.state.withLock { $0.isOver = true }
        await client.shutdown()
        // Requests that were on their way have been counted when nothing changes any more.
        var counts = try await simulator.faultCounts()
        while true {
            try await run.readLog(simulator, from: &line)
            let now = try await simulator.faultCounts()
            if now == counts { break }
            counts = now
        }
        faults.count(counts)
        return run.state.withLock {
            Report(
                ledger: $0.ledger, taken: faults.taken, seen: metrics.sightings, outages: faults.outages,
                causes: $0.causes, seconds: seconds)
        }
    }

    /// Pauses are shorter, so that the run takes minutes; the rules are the same.
    private static func client(
        _ options: Chaos, _ addresses: APNsSimulator.Addresses, _ metrics: ChaosMetrics, _ eventLoop: any EventLoop
    ) throws -> APNsClient {
        let key = try String(contentsOfFile: addresses.privateKeyPath, encoding: .utf8)
        let credential = try APNsClient.TokenCredential(
            privateKeyPEM: key, keyID: addresses.keyID, teamID: addresses.teamID)
        var configuration = APNsClient.Configuration(environment: .sandbox, credential: credential)
        configuration.host = "127.0.0.1"
        configuration.port = addresses.port
        configuration.trustRoots = .file(path: addresses.authorityPath)
        configuration.connectionsMax = options.connections
        configuration.outagePause = 40
        configuration.outagePauseMax = 400
        var limits = APNsDispatcher.Configuration()
        limits.retryPauses = BackOff(first: 40, longest: 400)
        limits.connectPauses = BackOff(first: 10, longest: 200)
        // A connection that falls silent keeps what is on it for so long.
        limits.pingAfter = 200
        limits.pingDeadline = 1_500
        // A token that APNs calls expired is replaced at any age.
        limits.token = ProviderTokenRule(mintMin: 0)
        let logger = Logger(label: "tidings.chaos") { _ in SwiftLogNoOpLogHandler() }
        return try APNsClient(
            configuration: configuration, logger: logger,
            .init(eventLoop: eventLoop, metrics: metrics, limits: limits))
    }

    // MARK: Sending

    private func sendNext() {
        let number = self.state.withLock { state -> Int? in
            guard !state.isOver, state.next < self.options.notifications else { return nil }
            state.next += 1
            return state.next - 1
        }
        guard let number else { return }
        self.client.submit(self.request(number)) { self.ended(number, $0) }
    }

    private func ended(_ number: Int, _ outcome: APNsOutcome) {
        let result = Self.result(of: outcome)
        self.state.withLock { state in
            if state.isOver { return }
            state.ledger.ended(number, result)
            state.lastEnd = .now
            if let cause = Self.cause(of: outcome) { state.causes[cause, default: 0] += 1 }
        }
        // While nothing can be sent, the next one would fail at once in the same way.
        guard result == .notSent else { return self.sendNext() }
        self.client.eventLoop.scheduleTask(in: .milliseconds(100)) { self.sendNext() }
    }

    private static func result(of outcome: APNsOutcome) -> ChaosLedger.Result {
        switch outcome {
        case .accepted: .accepted
        case .refused(let refusal): .refused(refusal.reason)
        case .unknownOutcome(let why): .unknown(byReset: why.hasPrefix("APNs reset the stream"))
        case .notSent, .stopped: .notSent
        }
    }

    private static func cause(of outcome: APNsOutcome) -> String? {
        switch outcome {
        case .accepted: nil
        case .refused(let refusal): "refused: \(refusal)"
        case .unknownOutcome(let why): "unknown outcome: \(why)"
        case .notSent(let why): "not sent: \(why)"
        case .stopped(let cause): "stopped: \(cause)"
        }
    }

    /// Device and payload length follow from seed and number, the id from the number.
    private func request(_ number: Int) -> APNsRequest {
        var dice = SplitMix64(seed: self.seed &+ UInt64(number) &* 0x2545_f491_4f6c_dd1d)
        let token = self.tokens[Int(dice.next() % UInt64(self.tokens.count))]
        let filler = String(repeating: "x", count: Int(dice.next() % 1_500))
        var request = APNsRequest(
            token: token, topic: Self.topic, payload: Array(#"{"aps":{"alert":"\#(number)"},"f":"\#(filler)"}"#.utf8),
            environment: .sandbox)
        // One attempt: nothing is stored for phones that are away.
        request.expiration = 0
        request.apnsID = Self.apnsID(of: number)
        return request
    }

    static func apnsID(of number: Int) -> String {
        "c4a05000-0000-4000-8000-" + Hexadecimal.text(UInt64(number), digits: 12)
    }

    static func number(of apnsID: String) -> Int? {
        apnsID.hasPrefix("c4a05000-0000-4000-8000-") ? Int(apnsID.suffix(12), radix: 16) : nil
    }

    // MARK: Following

    private var isFinished: Bool {
        self.state.withLock { state in
            if state.ledger.endedCount == self.options.notifications { return true }
            guard ContinuousClock.now - state.lastEnd > Self.timeLimit else { return false }
            state.ledger.addViolation("nothing has ended for \(Self.timeLimit)")
            return true
        }
    }

    private func readLog(_ simulator: APNsSimulator, from line: inout Int) async throws {
        while true {
            let page = try await simulator.log(from: line, limit: Self.page)
            let expected = line
            self.state.withLock { state in
                if page.first > expected { state.ledger.addViolation("the log lost lines before they were read") }
                for entry in page.entries {
                    guard let line = ChaosLine(entry.event) else { continue }
                    state.ledger.logged(Self.number(of: entry.apnsID), line)
                }
            }
            line = page.next
            if page.entries.count < Self.page { return }
        }
    }
}

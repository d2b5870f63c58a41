import APNsClient
import APNsModel
import Crypto
import Foundation
import Logging
import TidingsModel

/// Sends notifications through one `APNsClient`, `inFlight` at a time, and measures what this process spent on them.
struct APNsLoad {
    var topic = "com.example.chat"
    var tokens = [PushToken(String(repeating: "0123456789abcdef", count: 4))]
    var notifications = 100_000
    var connections = 1
    var inFlight = 100
    private var configuration: APNsClient.Configuration

    static let payload = Array(
        #"{"aps":{"alert":{"title":"Ann","body":"Lunch at the usual place?"},"badge":1,"sound":"default"}}"#.utf8)

    init(
        host: String, port: Int, trustRoots: APNsClient.Configuration.TrustRoots,
        credential: APNsClient.TokenCredential
    ) {
        self.configuration = APNsClient.Configuration(environment: .sandbox, credential: credential)
        self.configuration.host = host
        self.configuration.port = port
        self.configuration.trustRoots = trustRoots
    }

    /// A fresh key if none is given, for servers that do not check it.
    static func credential(
        _ privateKey: String?, keyID: String?, teamID: String?
    ) throws(InvalidField) -> APNsClient.TokenCredential {
        try APNsClient.TokenCredential(
            privateKeyPEM: privateKey ?? P256.Signing.PrivateKey().pemRepresentation, keyID: keyID ?? "BENCHKEY01",
            teamID: teamID ?? "BENCHTEAM1")
    }

    /// - Throws: `ToolFailure` if the connections cannot be opened; later failures are part of the figures.
    func run() async throws -> Figures {
        var configuration = self.configuration
        configuration.connectionsMax = self.connections
        // So that what is under way needs all connections.
        configuration.streamsMax = (self.inFlight + self.connections - 1) / self.connections
        configuration.queueMax = max(configuration.queueMax, self.inFlight)
        let client = try APNsClient(
            configuration: configuration, logger: Logger(label: "tidings.bench") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await self.warmUp(client)
            let figures = try await self.measure(client)
            await client.shutdown()
            return figures
        } catch {
            await client.shutdown()
            throw error
        }
    }

    /// Sends until every connection is open and has answered.
    private func warmUp(_ client: APNsClient) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        repeat {
            let isComplete = await client.connectionCount >= self.connections
            let burst = Requests(self, count: 2 * self.inFlight)
            for try await (_, outcome) in client.send(contentsOf: burst, inFlightMax: self.inFlight) {
                switch outcome {
                case .accepted, .refused: break
                case .unknownOutcome(let why), .notSent(let why), .stopped(let why):
                    throw ToolFailure("warming up: \(why)")
                }
            }
            // Once more, so that the last one is used too.
            if isComplete { return }
        } while ContinuousClock.now < deadline
        throw ToolFailure("\(await client.connectionCount) of \(self.connections) connections were opened in a minute")
    }

    private func measure(_ client: APNsClient) async throws -> Figures {
        var statuses: [String: Int] = [:]
        var accepted = 0
        let (cpu, start) = (Self.usage().seconds, ContinuousClock.now)
        let requests = Requests(self, count: self.notifications)
        for try await (_, outcome) in client.send(contentsOf: requests, inFlightMax: self.inFlight) {
            switch outcome {
            case .accepted: accepted += 1
            case .refused(let refusal): statuses["\(refusal.status)", default: 0] += 1
            case .unknownOutcome: statuses["unknown_outcome", default: 0] += 1
            case .notSent, .stopped: statuses["not_sent", default: 0] += 1
            }
        }
        let elapsed = start.duration(to: .now)
        let usage = Self.usage()
        if accepted > 0 { statuses["200"] = accepted }
        return Figures(
            notifications: self.notifications, seconds: elapsed / .seconds(1), cpuSeconds: usage.seconds - cpu,
            peakResidentBytes: usage.peakResidentBytes, statuses: statuses)
    }

    private static func usage() -> (seconds: Double, peakResidentBytes: Int) {
        var usage = rusage()
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &usage)
            let peak = Int(usage.ru_maxrss)
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            let peak = Int(usage.ru_maxrss) * 1_024
        #endif
        let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
        return (seconds + microseconds / 1_000_000, peak)
    }
}

extension APNsLoad {
    struct Figures {
        var notifications: Int
        var seconds: Double
        var cpuSeconds: Double
        var peakResidentBytes: Int
        /// By status; `unknown_outcome` and `not_sent` for those without one.
        var statuses: [String: Int]

        var cpuSecondsPer100k: Double { self.cpuSeconds / Double(self.notifications) * 100_000 }

        var json: JSONValue {
            let statuses = self.statuses.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.int($0.value)) }
            return .members([
                ("notifications", .int(self.notifications)), ("seconds", Self.number(self.seconds)),
                ("cpu_seconds", Self.number(self.cpuSeconds)),
                ("cpu_seconds_per_100k", Self.number(self.cpuSecondsPer100k)),
                ("peak_resident_bytes", .int(self.peakResidentBytes)), ("statuses", .members(statuses)),
            ])
        }

        private static func number(_ value: Double) -> JSONValue { JSONNumber(value).map { .number($0) } ?? .null }

        var lines: [String] {
            let statuses = self.statuses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            return [
                "notifications: \(self.notifications) in \(String(format: "%.2f", self.seconds)) s",
                "per second:                 \(Int(Double(self.notifications) / self.seconds))",
                "CPU seconds per 100,000:    \(String(format: "%.3f", self.cpuSecondsPer100k))",
                "peak resident bytes:        \(self.peakResidentBytes)",
                "results: \(statuses.joined(separator: ", "))",
            ]
        }
    }

    /// The same notification to one device after the other.
    private struct Requests: AsyncSequence, AsyncIteratorProtocol, Sendable {
        private let request: APNsRequest
        private let tokens: [PushToken]
        private let count: Int
        private var made = 0

        init(_ load: APNsLoad, count: Int) {
            self.request = APNsRequest(
                token: load.tokens[0], topic: load.topic, payload: APNsLoad.payload, environment: .sandbox)
            self.tokens = load.tokens
            self.count = count
        }

        func makeAsyncIterator() -> Self { self }

        mutating func next() async -> APNsRequest? {
            guard self.made < self.count else { return nil }
            var request = self.request
            request.token = self.tokens[self.made % self.tokens.count]
            self.made += 1
            return request
        }
    }
}

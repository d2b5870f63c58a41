import APNsClient
import APNsModel
import Crypto
import Foundation
import Logging
import TidingsModel

/// Sends notifications through one `APNsClient`, `inFlight` at a time, and measures what this process spent on them.
struct APNsLoad {
    private let options: BenchAPNs
    private let tokens: [PushToken]
    private var configuration: APNsClient.Configuration

    static let payload = Array(
        #"{"aps":{"alert":{"title":"Ann","body":"Lunch at the usual place?"},"badge":1,"sound":"default"}}"#.utf8)

    /// - Parameter privateKey: nil makes a key, for servers that do not check it.
    init(_ options: BenchAPNs, privateKey: String?) throws {
        self.options = options
        let tokens = options.token.isEmpty ? [String(repeating: "0123456789abcdef", count: 4)] : options.token
        self.tokens = tokens.map { PushToken($0) }
        let credential = try APNsClient.TokenCredential(
            privateKeyPEM: privateKey ?? P256.Signing.PrivateKey().pemRepresentation,
            keyID: options.keyID ?? "BENCHKEY01", teamID: options.teamID ?? "BENCHTEAM1")
        self.configuration = APNsClient.Configuration(environment: .sandbox, credential: credential)
        self.configuration.host = options.host
        self.configuration.port = options.port
        self.configuration.trustRoots = .file(path: options.trustRoots)
        self.configuration.connectionsMax = options.connections
        // So that what is in flight needs all connections.
        self.configuration.streamsMax = (options.inFlight + options.connections - 1) / options.connections
        self.configuration.queueMax = max(self.configuration.queueMax, options.inFlight)
    }

    /// - Throws: `ToolFailure` if the connections cannot be opened; later failures are part of the figures.
    func run() async throws -> Figures {
        let client = try APNsClient(
            configuration: self.configuration, logger: Logger(label: "tidings.bench") { _ in SwiftLogNoOpLogHandler() })
        return try await withCleanUp({ await client.shutdown() }) {
            try await self.warmUp(client)
            return try await self.measure(client)
        }
    }

    /// Sends until every connection is open and has answered.
    private func warmUp(_ client: APNsClient) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        repeat {
            let isComplete = await client.connectionCount >= self.options.connections
            let burst = Requests(self, count: 2 * self.options.inFlight)
            for try await (_, outcome) in client.send(contentsOf: burst, inFlightMax: self.options.inFlight) {
                switch outcome {
                case .accepted, .refused: break
                case .unknownOutcome(let why), .notSent(let why), .stopped(let why):
                    throw ToolFailure("warming up: \(why)")
                }
            }
            // Once more, so that the last one is used too.
            if isComplete { return }
        } while ContinuousClock.now < deadline
        throw ToolFailure(
            "\(await client.connectionCount) of \(self.options.connections) connections were opened in a minute")
    }

    private func measure(_ client: APNsClient) async throws -> Figures {
        var statuses: [String: Int] = [:]
        var accepted = 0
        let (before, start) = (OwnUsage(), ContinuousClock.now)
        let requests = Requests(self, count: self.options.notifications)
        for try await (_, outcome) in client.send(contentsOf: requests, inFlightMax: self.options.inFlight) {
            switch outcome {
            case .accepted: accepted += 1
            case .refused(let refusal): statuses["\(refusal.status)", default: 0] += 1
            case .unknownOutcome: statuses["unknown_outcome", default: 0] += 1
            case .notSent, .stopped: statuses["not_sent", default: 0] += 1
            }
        }
        let elapsed = start.duration(to: .now)
        let usage = OwnUsage()
        if accepted > 0 { statuses["200"] = accepted }
        return Figures(
            notifications: self.options.notifications, seconds: elapsed / .seconds(1),
            cpuSeconds: usage.cpuSeconds - before.cpuSeconds,
            peakResidentBytes: usage.peakResidentBytes, statuses: statuses)
    }
}

extension APNsLoad {
    struct Figures {
        var notifications: Int
        var seconds: Double
        var cpuSeconds: Double
        var peakResidentBytes: Int
        var statuses: [String: Int]

        var cpuSecondsPer100k: Double { self.cpuSeconds / Double(self.notifications) * 100_000 }

        var json: JSONValue {
            let statuses = self.statuses.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            return JSONMembers([
                "notifications": self.notifications, "seconds": self.seconds, "cpu_seconds": self.cpuSeconds,
                "cpu_seconds_per_100k": self.cpuSecondsPer100k, "peak_resident_bytes": self.peakResidentBytes,
                "statuses": JSONMembers(pairs: statuses),
            ]).json
        }

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

    private struct Requests: AsyncSequence, AsyncIteratorProtocol, Sendable {
        private let request: APNsRequest
        private let tokens: [PushToken]
        private let count: Int
        private var made = 0

        init(_ load: APNsLoad, count: Int) {
            self.request = APNsRequest(
                token: load.tokens[0], topic: load.options.topic, payload: APNsLoad.payload, environment: .sandbox)
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

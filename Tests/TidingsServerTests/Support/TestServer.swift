import Crypto
import Foundation
import Logging
import ServerCore
import ServiceLifecycle
import TidingsModel
import TidingsWire

@testable import TidingsServer

/// A server on free loopback ports with a database in a folder of its own.
struct TestServer {
    static let secret = Secret("a secret of at least thirty-two bytes, for tests")
    static let key = "operator-key"

    let listening: TidingsServer.Listening
    let registry: PrometheusRegistry
    let configuration: ServerConfiguration
    let tokens: UserTokens

    /// The defaults of the tests: app `demo` with an API key that may do everything, and no waiting when the server stops.
    static func configuration(folder: String) -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.gateway.port = 0
        configuration.api.port = 0
        configuration.phone.port = 0
        configuration.store.path = folder + "/server.sqlite"
        // No test is about them, and a busy machine lets clients wait.
        configuration.core.foregroundAckDeadline = 600_000
        configuration.core.backgroundAckDeadline = 600_000
        configuration.core.heartbeat = 600_000
        configuration.gateway.unauthenticatedMilliseconds = 120_000
        configuration.http.headerMilliseconds = 120_000
        configuration.core.drainSpread = 0
        configuration.core.drainTime = 200
        var app = ServerConfiguration.App(id: "demo", tokenSecret: Self.secret)
        app.apiKeys = [
            .init(id: "operator", sha256: Self.hash(Self.key), scopes: APIScope.allCases),
            .init(id: "reader", sha256: Self.hash("reader-key"), scopes: [.trace]),
        ]
        configuration.apps = [app]
        return configuration
    }

    static func hash(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    static func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tidings-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    /// Runs a server for as long as `body` takes, then stops it gracefully.
    static func with(
        folder: String? = nil, audit: Logger? = nil, _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: (TestServer) async throws -> Void
    ) async throws {
        guard let folder else {
            return try await Self.withFolder { try await Self.with(folder: $0, audit: audit, change, body) }
        }
        var configuration = Self.configuration(folder: folder)
        change(&configuration)
        let registry = PrometheusRegistry(help: ServerMetric.help)
        let (ready, continuation) = AsyncStream<TidingsServer.Listening>.makeStream()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = TidingsServer(
            configuration: configuration, logger: logger, audit: audit, registry: registry
        ) { listening in
            continuation.yield(listening)
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger
            ))
        async let running: Void = {
            defer { continuation.finish() }
            try await group.run()
        }()
        var iterator = ready.makeAsyncIterator()
        guard let listening = await iterator.next() else { return try await running }
        let tokens = try UserTokens(apps: configuration.apps)
        do {
            try await body(
                TestServer(
                    listening: listening, registry: registry, configuration: configuration, tokens: tokens))
        } catch {
            await group.triggerGracefulShutdown()
            _ = try? await running
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running
    }

    func token(_ user: UserID, seconds: Int64 = 3_600) -> String {
        self.tokens.token(
            for: UserKey(app: "demo", user: user), expiresAtSeconds: Int64(Date().timeIntervalSince1970) + seconds)
            ?? ""
    }

    func hello(_ user: UserID, device: DeviceID? = nil, token: String? = nil) -> ClientFrame {
        .hello(
            .init(
                versions: ProtocolVersion.supported, token: token ?? self.token(user),
                device: device ?? DeviceID("phone-of-\(user)"), platform: "test", runState: .foreground, after: 0))
    }

    func client(_ user: UserID, as format: WireFormat = .protobuf, receiveBuffer: Int? = nil) async throws -> RawClient
    {
        let client = try await RawClient.open(
            port: self.listening.gatewayPort, as: format, receiveBuffer: receiveBuffer)
        try await client.send(self.hello(user))
        guard case .welcome = try await client.nextFrame() else { throw RawClient.UnexpectedAnswer(text: "no welcome") }
        return client
    }

    func metric(_ series: String) -> String? {
        self.registry.text.split(separator: "\n").first { $0.hasPrefix(series + " ") }.map {
            String($0.dropFirst(series.count + 1))
        }
    }

    /// Waits for something another thread is about to do.
    func eventually(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<24_000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw RawClient.UnexpectedAnswer(text: "it did not happen in two minutes")
    }
}

struct APIResponse {
    var status: Int
    var head: String
    var text: String

    var json: JSONValue { (try? JSONValue(parsing: self.text)) ?? .null }

    func header(_ name: String) -> String? {
        for line in self.head.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { continue }
            return parts[1].trimmingCharacters(in: .whitespaces)
        }
        return nil
    }

    /// Nil for anything but a problem.
    var problem: String? {
        guard self.head.lowercased().contains("content-type: application/problem+json"),
            self.json["field"]?.stringValue != nil
        else { return nil }
        return self.json["detail"]?.stringValue
    }
}

extension TestServer {
    /// On a connection of its own, to the port that serves the path.
    func request(
        _ method: String, _ path: String, key: String? = TestServer.key, body: String? = nil,
        headers: [String] = [], host: String = "localhost"
    ) async throws -> APIResponse {
        let isForPhones = ["/v1/extension/", "/v1/media/", "/v1/installations"].contains { path.hasPrefix($0) }
        let client = try await RawClient.connect(
            port: isForPhones ? self.listening.phonePort : self.listening.apiPort)
        var lines = ["\(method) \(path) HTTP/1.1", "Host: \(host)", "Connection: close"] + headers
        if let key { lines.append("Authorization: Bearer \(key)") }
        if let body { lines.append("Content-Length: \(body.utf8.count)") }
        try await client.send(text: lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? ""))
        let head = try await client.head()
        let text = await client.rest()
        await client.close()
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let answer = APIResponse(status: status, head: head, text: text)
        DescribedAnswers.check(answer, method, path)
        return answer
    }
}

import ArgumentParser
import Foundation
import TidingsModel

/// The server that is measured where it has to be one of the tool's own.
struct BenchOwnTarget: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A command to start the server under, for example 'taskset --cpu-list 0': words between spaces, no quotes. It must exec its \
            arguments: CPU and memory are measured of its process. Whatever it does, the server ends with the bench.
            """,
            valueName: "command")) var under: String?

    /// Starts the server with limits off, runs `body`, and ends the server.
    func withServer(
        apns: Bool = false, settings: [String: String] = [:], _ body: (BenchServer, LocalServer) async throws -> Void
    ) async throws {
        #if DEBUG
            printError("This is a debug build: the figures say nothing.")
        #endif
        let site = try await LocalServer.start(
            name: "bench", withAPNs: apns, settings: settings.merging(["limits.mode": "none"]) { $1 },
            under: (self.under ?? "").split(separator: " ").map(String.init))
        defer { site.remove() }
        try await withCleanUp({ await site.stop() }) {
            try await ProgressLine.during("measuring") { try await body(BenchServer(site), site) }
        }
    }
}

/// The server that is measured: one of the tool's own, or one that runs.
struct BenchTarget: ParsableArguments {
    @OptionGroup var own: BenchOwnTarget
    @Option(
        help: ArgumentHelp(
            """
            A server that runs, in place of one of its own: ws://HOST:PORT/PATH on this machine. User tokens are signed with the secret \
            in TIDINGS_TOKEN_SECRET; without it the token is the person's name, as the floors in Benchmarks/Floors take it.
            """,
            valueName: "url")) var url: String?
    @Option(help: "With --url: the server's process id, for its CPU and memory.") var pid: Int32?
    @Option(help: "With --url: the app (tenant).") var app = LocalServer.app.rawValue
    @Flag(help: "With --url: a broker that speaks MQTT 3.1.1 over WebSocket. What is sent and taken is QoS 1.")
    var mqtt = false

    func validate() throws {
        guard self.url != nil || (self.pid == nil && !self.mqtt) else {
            throw ValidationError("--pid and --mqtt are about a server at --url")
        }
        guard self.url == nil || self.own.under == nil else {
            throw ValidationError("--under starts a server, --url names one that runs: not both")
        }
    }

    /// Starts the server, or finds it; runs `body`; and ends what was started.
    func withServer(_ body: (BenchServer) async throws -> Void) async throws {
        if let url {
            return try await ProgressLine.during("measuring") { try await body(BenchServer(url, self)) }
        }
        try await self.own.withServer { server, _ in try await body(server) }
    }
}

/// Where a load connects, and as whom.
struct BenchServer {
    let host: String
    let port: Int
    let path: String
    let dialect: BenchDialect
    /// Before people's names: a server that runs must not know them from another run.
    let prefix: String
    let pid: Int32?
    /// The user token of a person.
    let token: (String) throws -> String

    init(_ site: LocalServer) {
        (self.host, self.port, self.path) = ("127.0.0.1", site.gatewayPort, "/v1/connect")
        (self.dialect, self.prefix, self.pid) = (.tidings, "", site.server?.pid)
        self.token = site.userToken
        self.site = site
    }

    /// The server of this tool's own; nil for one at `--url`.
    let site: LocalServer?

    init(_ url: String, _ target: BenchTarget) throws {
        guard let address = URL(string: url), address.scheme == "ws", let host = address.host, let port = address.port
        else { throw ToolFailure("--url must be ws://HOST:PORT/PATH, got \(url)") }
        (self.host, self.port, self.path) = (host, port, address.path.isEmpty ? "/" : address.path)
        (self.dialect, self.pid, self.site) = (target.mqtt ? .mqtt : .tidings, target.pid, nil)
        self.prefix = "\(UUID().uuidString.prefix(8).lowercased())-"
        if let secret = Secrets.find(nil, "TIDINGS_TOKEN_SECRET") {
            self.token = try LocalServer.userTokens(of: AppID(target.app), secret: secret)
        } else {
            self.token = { $0 }
        }
    }

    /// Nil where the process is not known.
    ///
    /// - Throws: `ToolFailure` if the process is gone.
    func figures() throws -> ProcessFigures? {
        guard let pid else { return nil }
        guard let figures = ProcessFigures(pid: pid) else {
            throw ToolFailure("the server is gone. Its last lines:\n\(self.site?.server?.logTail() ?? "")")
        }
        return figures
    }
}

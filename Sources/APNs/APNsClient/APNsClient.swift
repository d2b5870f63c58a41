public import APNsModel
public import Logging
import NIOConcurrencyHelpers
public import NIOCore
import NIOPosix
public import TidingsModel

/// A client for Apple's push service: HTTP/2 over TLS, provider tokens, retries, and one outcome for every push.
///
/// One client serves one environment with one credential. It connects when the first push comes, keeps its
/// connection, renews its
/// provider token at 45 minutes, sends again what APNs certainly did not process, and stops sending for a while when
/// APNs says that
/// the credential is wrong. Call `shutdown()` before the last reference goes: a connection keeps its client alive.
///
/// ```swift
/// let credential = try APNsClient.TokenCredential(privateKeyPEM: p8, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
/// let client = try APNsClient(configuration: .init(environment: .production, credential: credential), logger: logger)
/// let outcome = await client.send(request)
/// await client.shutdown()
/// ```
public final class APNsClient: Sendable {
    /// Where to connect, whom to trust, and how long to wait.
    public struct Configuration: Sendable {
        /// Which authorities the server's certificate may come from.
        public enum TrustRoots: Sendable, Hashable {
            /// The ones of the system.
            case system
            /// The certificates of this PEM file and no others.
            case file(path: String)
        }

        /// Apple's side; requests for the other one are refused.
        public var environment: PushEnvironment
        /// The host's name or address; Apple's for the environment if nil (apns.md §1).
        public var host: String?
        /// 443, or 2197 to tell the traffic apart in a firewall (apns.md §1).
        public var port: Int
        /// Whom to trust.
        public var trustRoots: TrustRoots
        /// The key.
        public var credential: TokenCredential
        /// How long one push may take in all, in milliseconds; its own expiration may make it shorter.
        public var requestDeadline: Int64
        /// How long connecting may take, in milliseconds.
        public var connectTimeout: Int64
        /// How many pushes may wait; more are refused.
        public var queueMax: Int
        /// How many streams are used at once on the connection, whatever APNs allows.
        public var streamsMax: Int
        /// How many times a push is sent again after an answer that asks for it.
        public var retriesMax: Int

        /// A configuration with Apple's host, port 443, the system's trust roots, a deadline of 30 seconds and 10 to
        /// connect.
        public init(environment: PushEnvironment, credential: TokenCredential) {
            self.environment = environment
            self.host = nil
            self.port = 443
            self.trustRoots = .system
            self.credential = credential
            self.requestDeadline = 30_000
            self.connectTimeout = 10_000
            self.queueMax = 10_000
            self.streamsMax = 100
            self.retriesMax = 3
        }
    }

    /// The loop on which completions are called.
    public var eventLoop: any EventLoop { self.engine.eventLoop }

    private let configuration: Configuration
    let engine: ClientEngine

    /// A client that has not connected yet.
    ///
    /// - Parameters:
    ///   - configuration: where, whom and how long.
    ///   - logger: gets a warning for each fault an operator should know of, and no payloads or tokens.
    ///   - group: where the connection lives; the process's shared group if nil.
    /// - Throws: `InvalidField` naming `port`, `trust_roots` (a file that cannot be read, or has no certificates),
    ///   `queue_max`,
    ///   `streams_max`, `retries_max`, `request_deadline` or `connect_timeout`.
    public convenience init(
        configuration: Configuration, logger: Logger, group: (any EventLoopGroup)? = nil
    ) throws(InvalidField) {
        try self.init(configuration: configuration, logger: logger, group: group, now: ClientEngine.clocks)
    }

    /// The same with other clocks.
    init(
        configuration: Configuration, logger: Logger, group: (any EventLoopGroup)?,
        now: @escaping @Sendable () -> Now
    ) throws(InvalidField) {
        try configuration.validate()
        self.configuration = configuration
        self.engine = ClientEngine(
            configuration: configuration, tls: try ClientTLS.context(configuration.trustRoots), logger: logger,
            eventLoop: (group ?? MultiThreadedEventLoopGroup.singleton).next(), now: now)
    }

    /// Sends a push and waits for its outcome. Cancelling the task ends it: as `notSent` if it was waiting, otherwise
    /// as `unknownOutcome`.
    public func send(_ request: APNsRequest) async -> APNsOutcome {
        if let refusal = self.refusal(of: request) { return refusal }
        let ticket = self.engine.ticket()
        // Whichever comes first, hand-over or cancellation: a request handed over is cancelled, the other is never
        // handed over.
        let progress = NIOLockedValueBox((isSubmitted: false, isCancelled: false))
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = progress.withLockedValue { progress in
                    progress.isSubmitted = !progress.isCancelled
                    if progress.isSubmitted {
                        self.engine.submit(ticket, request) { continuation.resume(returning: $0) }
                    }
                    return progress.isCancelled
                }
                if isCancelled { continuation.resume(returning: .notSent("cancelled")) }
            }
        } onCancel: {
            progress.withLockedValue { progress in
                progress.isCancelled = true
                if progress.isSubmitted { self.engine.cancel(ticket) }
            }
        }
    }

    /// Sends a push from any thread without waiting; for callers on an event loop of their own.
    ///
    /// - Parameter completion: called exactly once, on `eventLoop`, or before this returns for a request that breaks
    ///   a rule.
    public func send(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        if let refusal = self.refusal(of: request) { return completion(refusal) }
        self.engine.submit(self.engine.ticket(), request, completion: completion)
    }

    /// Takes no more pushes, waits a moment for the answers that are due, and closes. Calling it again waits for the
    /// same end.
    public func shutdown() async { await self.engine.shutdown() }

    private func refusal(of request: APNsRequest) -> APNsOutcome? {
        guard request.environment == self.configuration.environment else {
            return .notSent("environment must be \(self.configuration.environment.rawValue) for this client")
        }
        do throws(InvalidField) {
            try request.validate()
            return nil
        } catch {
            return .notSent(error.description)
        }
    }
}

extension APNsClient.Configuration {
    /// The host to connect to.
    var effectiveHost: String {
        if let host = self.host { return host }
        switch self.environment {
        case .sandbox: return "api.sandbox.push.apple.com"
        case .production: return "api.push.apple.com"
        }
    }

    func validate() throws(InvalidField) {
        func check(_ holds: Bool, _ field: String, _ rule: String) throws(InvalidField) {
            guard holds else { throw InvalidField(field: field, rule: rule) }
        }
        try check((1...65_535).contains(self.port), "port", "must be 1 to 65535, got \(self.port)")
        try check(self.host != "", "host", "must not be empty")
        try check(self.queueMax >= 1, "queue_max", "must be 1 or more")
        try check(self.streamsMax >= 1, "streams_max", "must be 1 or more")
        try check((0...100).contains(self.retriesMax), "retries_max", "must be 0 to 100")
        try check(
            (1...86_400_000).contains(self.requestDeadline), "request_deadline", "must be 1 to 86400000 milliseconds")
        try check((1...600_000).contains(self.connectTimeout), "connect_timeout", "must be 1 to 600000 milliseconds")
    }
}

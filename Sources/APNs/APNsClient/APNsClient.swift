public import APNsModel
public import Logging
public import NIOCore
import NIOPosix
public import TidingsModel

/// A client for Apple's push service: HTTP/2 over TLS, provider tokens or certificates, retries, and one outcome for
/// every push.
///
/// One client serves one environment with one credential. It connects when the first push comes, keeps and adds
/// connections as they are needed, renews its provider token at 45 minutes, sends again what APNs certainly did not
/// process, and stops sending for a while when APNs fails or says that the credential is wrong. Call `shutdown()` before the
/// last reference goes: a connection keeps its client alive.
///
/// ```swift
/// let credential = try APNsClient.TokenCredential(privateKeyPEM: p8, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
/// let client = try APNsClient(configuration: .init(environment: .production, credential: credential), logger: logger)
/// let response = try await client.send(request)
/// await client.shutdown()
/// ```
public final class APNsClient: Sendable {
    /// The loop on which completions are called.
    public var eventLoop: any EventLoop { self.engine.eventLoop }

    let configuration: Configuration
    let engine: APNsClientEngine
    /// The management of channels, which has a host of its own; it connects when it is needed.
    let management: APNsClientEngine

    /// A client that has not connected yet.
    ///
    /// - Parameters:
    ///   - configuration: where, whom and how long.
    ///   - logger: gets a warning for each fault an operator should know of, and no payloads or tokens.
    ///   - group: where the connections live; the process's shared group if nil. All are on one of its loops.
    /// - Throws: `InvalidField` naming the field of the configuration: `name`, `host`, `port`, `management_host`,
    ///   `management_port`, `proxy.host`, `proxy.port`, `proxy.credentials`, `trust_roots` (cannot be read, or has no
    ///   certificates), `queue_max`, `connections_max`, `streams_max`, `retries_max`, `request_deadline` or
    ///   `connect_timeout`.
    public convenience init(
        configuration: Configuration, logger: Logger, group: (any EventLoopGroup)? = nil
    ) throws(InvalidField) {
        let eventLoop = (group ?? MultiThreadedEventLoopGroup.singleton).next()
        try self.init(configuration: configuration, logger: logger, .init(eventLoop: eventLoop))
    }

    package init(
        configuration: Configuration, logger: Logger, _ surroundings: Surroundings
    ) throws(InvalidField) {
        try configuration.validate()
        let tls = try ClientTLS.context(configuration.trustRoots, configuration.credential)
        self.configuration = configuration
        self.engine = APNsClientEngine(.push, configuration, tls: tls, logger: logger, surroundings)
        self.management = APNsClientEngine(.channels, configuration, tls: tls, logger: logger, surroundings)
    }

    // MARK: Pushes

    /// Sends a push and waits for APNs's answer; while `queueMax` requests wait, it waits for room first.
    ///
    /// Cancelling the task ends it: as `notSent` if it was waiting, otherwise as `unknownOutcome`.
    ///
    /// - Returns: APNs's answer, a status of success.
    /// - Throws: `APNsFailure`. A request that breaks a rule, or is for the other environment, is `notSent`.
    @discardableResult
    public func send(_ request: APNsRequest) async throws(APNsFailure) -> APNsResponse {
        if let why = self.fault(in: request) { throw .notSent(why) }
        return try await self.engine.send(PendingPush(request, waits: true)).response
    }

    /// Sends a push from any thread without waiting; for callers on an event loop of their own. When `queueMax`
    /// requests wait it ends as `notSent`.
    ///
    /// - Parameters:
    ///   - request: the push.
    ///   - completion: called exactly once, on `eventLoop`, or before this returns for a request that breaks a rule.
    public func submit(_ request: APNsRequest, completion: @escaping @Sendable (APNsOutcome) -> Void) {
        if let why = self.fault(in: request) { return completion(.notSent(why)) }
        self.engine.submit(PendingPush(request, waits: false, .completion { outcome, _ in completion(outcome) }))
    }

    /// Sends pushes as they come and gives each with its outcome, in the order they end. Memory is bounded: no more
    /// than `inFlightMax` pushes are between the source and the loop that reads the outcomes.
    ///
    /// - Parameters:
    ///   - requests: read in a task of its own once the first outcome is asked for, and no faster than they can be
    ///   sent.
    ///   - inFlightMax: 1 or more; not more than the configuration's `queueMax` is of use.
    /// - Returns: a sequence to be read once. Leaving it early, or cancelling the task that reads it, cancels what has
    ///   not ended.
    public func send<Requests: AsyncSequence & Sendable>(
        contentsOf requests: Requests, inFlightMax: Int = 1_000
    ) -> APNsOutcomes<Requests> where Requests.Element == APNsRequest {
        APNsOutcomes(client: self, requests: requests, inFlightMax: max(inFlightMax, 1))
    }

    /// Reports whether pushes are sent: to one topic, or (nil) to all. What is not reported is usable. A report comes before the
    /// outcomes that follow from the same cause.
    ///
    /// - Parameter report: called on `eventLoop`.
    package func reportLanes(to report: @escaping @Sendable (String?, LaneState) -> Void) {
        self.engine.reportLanes(to: report)
    }

    // MARK: Credential

    /// Goes on with another credential, for example a renewed certificate or a new key: requests that have not been
    /// sent go out with it on new connections, what is on its way is still answered on the old ones.
    ///
    /// - Throws: `InvalidField` naming `trust_roots` if the file of the trust roots cannot be read any more. Nothing
    ///   has changed then.
    public func replaceCredential(_ credential: Credential) throws(InvalidField) {
        let tls = try ClientTLS.context(self.configuration.trustRoots, credential)
        self.engine.replace(credential, tls)
        self.management.replace(credential, tls)
    }

    /// Takes no more requests, waits a moment for the answers that are due, and closes. Calling it again waits for the
    /// same end.
    public func shutdown() async {
        async let pushes: Void = self.engine.shutdown()
        async let channels: Void = self.management.shutdown()
        _ = await (pushes, channels)
    }

    /// How many connections for pushes stand now, TLS included; for measurements.
    package var connectionCount: Int {
        get async {
            let loop = self.engine.eventLoop
            return await withCheckedContinuation { continuation in
                loop.execute { continuation.resume(returning: self.engine.openConnections) }
            }
        }
    }

    /// Why a request is not sent; nil if it is.
    func fault(in request: APNsRequest) -> String? {
        if let fault = self.fault(of: request.environment) { return fault }
        do throws(InvalidField) {
            try request.validate()
            return nil
        } catch {
            return error.description
        }
    }

    func fault(of environment: PushEnvironment) -> String? {
        guard environment != self.configuration.environment else { return nil }
        return "environment must be \(self.configuration.environment.rawValue) for this client"
    }
}

extension APNsClientEngine {
    /// Submits a request that waits for room, and waits for its end; cancelling the task cancels it.
    func send(_ request: PendingRequest) async throws(APNsFailure) -> APNsClientAnswer {
        if Task.isCancelled { throw .notSent("cancelled") }
        let (outcome, answer) = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<(APNsOutcome, APNsClientAnswer?), Never>) in
                request.waiter = .completion { continuation.resume(returning: ($0, $1)) }
                self.submit(request)
                // Cancelled before it was submitted: the handler's word came too early.
                if Task.isCancelled { self.cancel(request) }
            }
        } onCancel: {
            self.cancel(request)
        }
        switch (outcome, answer) {
        case (.accepted, let answer?): return answer
        case (.refused(let refusal), _): throw .refused(refusal)
        case (.unknownOutcome(let why), _): throw .unknownOutcome(why)
        case (.notSent(let why), _): throw .notSent(why)
        case (.stopped(let cause), _): throw .stopped(cause)
        case (.accepted, nil): throw .unknownOutcome("the answer was lost")
        }
    }
}

import APNsModel
import Crypto
import HTTP2Connection
import Logging
import NIOCore
import NIOPosix
import TidingsModel

@testable import APNsClient

extension APNsClient {
    /// Sends a push and gives its end as one value.
    func outcome(of request: APNsRequest) async -> APNsOutcome {
        do throws(APNsFailure) {
            return try await self.send(request).outcome(sentID: request.apnsID)
        } catch {
            return switch error {
            case .refused(let refusal): .refused(refusal)
            case .unknownOutcome(let why): .unknownOutcome(why)
            case .notSent(let why): .notSent(why)
            case .stopped(let cause): .stopped(cause)
            }
        }
    }
}

/// A client of a `WireServer`, and what it sends.
struct Wire: Sendable {
    let papers: Papers
    let server: WireServer

    /// Runs a body with a server that meets requests as the test says; both are closed afterwards.
    static func run(
        configuration: ServerSession.Configuration = .init(),
        _ reply: @escaping @Sendable (WireServer.Request) -> WireServer.Reply, _ body: (Wire) async throws -> Void
    ) async throws {
        let papers = try Papers()
        let server = try await WireServer.start(papers, configuration: configuration, reply)
        do {
            try await body(Wire(papers: papers, server: server))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    func configuration(_ credential: APNsClient.Credential? = nil) throws -> APNsClient.Configuration {
        var configuration = APNsClient.Configuration(
            environment: .sandbox, credential: try credential ?? .token(Self.token()))
        configuration.host = "localhost"
        configuration.port = self.server.port
        configuration.managementHost = "localhost"
        configuration.managementPort = self.server.port
        configuration.trustRoots = .pem(self.papers.authorityPEM)
        configuration.requestDeadline = 600_000
        return configuration
    }

    func client(
        _ change: (inout APNsClient.Configuration) throws -> Void = { _ in },
        addresses: [String] = ["127.0.0.1"]
    ) throws -> APNsClient {
        var configuration = try self.configuration()
        try change(&configuration)
        return try APNsClient(
            configuration: configuration, logger: Self.logger,
            .init(
                eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
                resolver: Resolver { _, eventLoop in eventLoop.makeSucceededFuture(addresses) }))
    }

    /// - Parameter keyID: of 10 characters at Apple's.
    static func token(keyID: String = "ABC123DEFG") throws -> APNsClient.TokenCredential {
        try APNsClient.TokenCredential(
            privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation, keyID: keyID, teamID: "DEF123GHIJ")
    }

    static let logger = Logger(label: "apns-client-tests") { _ in SwiftLogNoOpLogHandler() }

    /// - Parameter number: makes it one of many.
    static func request(_ number: Int = 0, _ change: (inout APNsRequest) -> Void = { _ in }) -> APNsRequest {
        let token = "00" + String(number + 0x1000_0000, radix: 16)
        var request = APNsRequest(
            token: PushToken(token), topic: "com.example.chat",
            payload: Array(#"{"aps":{"alert":{"body":"hi"}}}"#.utf8), environment: .sandbox)
        change(&request)
        return request
    }
}

import Foundation
import MessageStore
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import StoreModel
import TidingsModel

/// Makes one attempt at a time of each delivery; when, is decided by `WebhookSchedule`.
struct WebhookSender: Sendable {
    /// For the look-up, connecting and the whole answer.
    static let limit: TimeAmount = .seconds(10)
    static let answerBytesMax = 65_536

    let registry: AppRegistry
    let networks: WebhookNetworks
    let lookUp: HostLookUp
    let tls: NIOSSLContext
    let group: any EventLoopGroup
    let metrics: ServerMetrics

    /// To where the webhook goes by now.
    /// - Returns: how it ended, with the status of the answer if there was one.
    func attempt(
        _ delivery: WebhookDelivery, evenIfDisabled: Bool = false
    ) async -> (end: WebhookAttemptEnd, status: Int?) {
        guard let app = self.registry.app(delivery.key.app),
            let webhook = app.record.webhooks.first(where: { $0.id == delivery.key.webhook }),
            let secrets = app.webhookSecrets[webhook.id], webhook.isEnabled || evenIfDisabled
        else { return (.withdrawn, nil) }
        let now = Clocks.now().wall
        let request = WebhookRequest(delivery, now: now)
        let end: WebhookAttemptEnd
        var answered: Int?
        do {
            let status = try await self.send(
                request.body, to: webhook.url, request.headers(signedWith: secrets.good(at: now)))
            answered = status
            end = 200..<300 ~= status ? .delivered : .failed(WebhookFailure(.status, status: status))
        } catch {
            end = .failed(WebhookFailure(WebhookFailureReason(error)))
        }
        self.metrics.countWebhookAttempt(end)
        return (end, answered)
    }

    /// - Returns: the status of the answer.
    private func send(_ body: [UInt8], to url: String, _ headers: [(String, String)]) async throws -> Int {
        // Whether plain HTTP may go there, the address says that is found.
        guard let address = HTTPAddress(url, mayBePlain: { _ in true }) else { throw WebhookAddressNotAllowed() }
        let (loop, deadline) = (self.group.next(), NIODeadline.now() + Self.limit)
        let found = try await self.lookUp.addresses(
            of: address.host, port: address.port, on: loop, until: deadline)
        let admitted = found.filter { socket in
            Optional(socket).ip.map { self.networks.admit($0, isSecure: address.isSecure) } ?? false
        }
        let exchange = HTTPExchange(
            address: address, method: .POST, headers: headers, body: body, tls: self.tls,
            answerBytesMax: Self.answerBytesMax)
        guard !admitted.isEmpty else { throw WebhookAddressNotAllowed() }
        return try await AddressAttempts(until: deadline).first(of: admitted) { socket, time in
            try await exchange.run(on: loop, to: socket, connectTime: time, until: deadline).status
        }
    }
}

struct WebhookAddressNotAllowed: Error {}

extension WebhookFailureReason {
    init(_ error: any Error) {
        switch error {
        case is WebhookAddressNotAllowed: self = .addressNotAllowed
        case is HostLookUp.NotFound: self = .nameNotFound
        case HTTPExchange.Fault.noAnswerInTime, ChannelError.connectTimeout: self = .timedOut
        case NIOSSLError.uncleanShutdown: self = .connectionLost
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tlsFailed
        case let error as IOError where error.isUnreachable: self = .refusedConnection
        case let error as IOError where error.errnoCode == ETIMEDOUT: self = .timedOut
        default: self = .connectionLost
        }
    }
}

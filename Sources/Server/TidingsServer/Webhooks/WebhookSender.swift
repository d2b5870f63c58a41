import Foundation
import MessageStore
import NIOCore
import NIOHTTP1
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
                request.body, to: webhook.url, of: delivery.key.app, request.headers(signedWith: secrets.good(at: now)))
            answered = status
            end = 200..<300 ~= status ? .delivered : .failed(WebhookFailure(.status, status: status))
        } catch {
            end = .failed(WebhookFailure(WebhookFailureReason(error)))
        }
        self.metrics.countWebhookAttempt(end)
        return (end, answered)
    }

    /// - Returns: the status of the answer.
    private func send(
        _ body: [UInt8], to url: String, of app: AppID, _ headers: [(String, String)]
    ) async throws -> Int {
        // Whether plain HTTP may go there, the address says that is found.
        guard let address = HTTPAddress(url, mayBePlain: { _ in true }) else { throw AddressNotAllowed() }
        let exchange = HTTPExchange(
            address: address, method: .POST, headers: headers, body: body, tls: self.tls,
            answerBytesMax: Self.answerBytesMax)
        return try await exchange.run(
            on: self.group.next(), by: self.lookUp, for: app, within: self.networks, until: .now() + Self.limit
        ).status
    }
}

extension WebhookFailureReason {
    init(_ error: any Error) {
        switch error {
        case is AddressNotAllowed: self = .addressNotAllowed
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

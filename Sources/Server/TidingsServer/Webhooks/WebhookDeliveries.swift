import Foundation
import Logging
import MessageStore
import NIOCore
import StoreModel
import TidingsModel

/// The deliveries of all webhooks: derived and kept by `WebhookDesk`, sent by `WebhookSender`.
final class WebhookDeliveries: WebhookStates {
    private let desk: WebhookDesk
    private let sender: WebhookSender

    /// - Throws: `ConfigurationFaults` naming `webhooks.trust_roots_path`.
    init(
        _ configuration: ServerConfiguration, _ store: MessageStoreAdapter, _ registry: AppRegistry,
        _ metrics: ServerMetrics, group: any EventLoopGroup, logger: Logger
    ) throws {
        let roots = configuration.webhooks.trustRootsPath
        do {
            self.sender = WebhookSender(
                registry: registry, networks: WebhookNetworks(allowing: configuration.webhooks.allowedNetworks),
                lookUp: HostLookUp(), tls: try HTTPExchange.tls(trustRootsPath: roots.isEmpty ? nil : roots),
                group: group, metrics: metrics)
        } catch {
            throw ConfigurationFaults(
                field: "webhooks.trust_roots_path",
                rule: "must name a PEM file of certificates, got \"\(roots)\": \(error)",
                remedy: "give the path of the authorities, or leave it out for the system's")
        }
        let sender = self.sender
        self.desk = store.openWebhooks(
            configuration, logger: logger, countDropped: { metrics.countDroppedWebhookDeliveries($0) },
            send: { delivery, completion in Task { completion(await sender.attempt(delivery).end) } })
    }

    /// Before the store is closed. What is under way is sent again after the next start, unless it has ended before.
    func close() async {
        let desk = self.desk
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue.global().async {
                desk.close()
                continuation.resume()
            }
        }
        self.sender.lookUp.stop()
    }

    var totals: WebhookTotals { self.desk.totals }

    var allowsPlainHTTP: Bool { self.sender.networks.allowsPlainHTTP }

    func states(of app: AppID, _ webhooks: [String]) async -> [WebhookState]? {
        await self.desk.progress(of: webhooks.map { WebhookKey(app: app, webhook: $0) })?.map { WebhookState($0) }
    }

    func test(_ key: WebhookKey) async -> WebhookTest? {
        let delivery = WebhookDelivery(
            key: key, id: "test-\(Hexadecimal.text(UInt64.random(in: .min ... .max)))", type: "test",
            at: Clocks.now().wall, data: "{}")
        let start = NIODeadline.now()
        let (end, status) = await self.sender.attempt(delivery, evenIfDisabled: true)
        let milliseconds = (NIODeadline.now() - start).nanoseconds / 1_000_000
        switch end {
        case .delivered: return WebhookTest(failure: nil, status: status, milliseconds: milliseconds)
        case .failed(let failure): return WebhookTest(failure: failure, status: status, milliseconds: milliseconds)
        case .withdrawn: return nil
        }
    }

    func deadLetters(of key: WebhookKey, before: Int64?, limit: Int) async -> [WebhookDeadLetter]? {
        await self.desk.deadLetters(of: key, before: before, limit: limit)
    }

    func retry(_ ids: [String]?, of key: WebhookKey) async -> Int? { await self.desk.retry(ids, of: key) }

    func removeDeadLetter(_ id: String, of key: WebhookKey) async -> Bool? {
        await self.desk.removeDeadLetter(id, of: key)
    }
}

extension WebhookState {
    init(_ progress: WebhookProgress) {
        self.init(pending: progress.pending, deadLetters: progress.dead, lastDeliveredAt: progress.deliveredAt)
        guard let at = progress.failedAt, let failure = progress.failure else { return }
        self.lastFailure = Failure(at: at, reason: failure.reason.rawValue, status: failure.status)
    }
}

/// The result of a delivery that was made to try a webhook.
struct WebhookTest: Hashable, Sendable {
    /// Nil if it has arrived.
    var failure: WebhookFailure?
    /// The status of the answer; nil without one.
    var status: Int?
    var milliseconds: Int64
}

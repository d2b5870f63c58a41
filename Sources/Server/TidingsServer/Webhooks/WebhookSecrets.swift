import Crypto
import Foundation
import StoreModel
import TidingsModel

/// The secrets that sign a webhook's requests (https://www.standardwebhooks.com): the bytes, not their text.
struct WebhookSecrets: Sendable {
    let current: SymmetricKey
    /// Signed with, too, until it ends.
    let previous: (key: SymmetricKey, endsAt: Int64)?

    static let prefix = "whsec_"
    static let bytesCount = 32

    /// Returns the secrets to sign with, the newest first.
    func good(at now: Int64) -> [SymmetricKey] {
        guard let previous = self.previous, now < previous.endsAt else { return [self.current] }
        return [self.current, previous.key]
    }

    /// Draws a secret, as it is shown to the receiver.
    static func draw() -> String { Self.prefix + Base64.encode(APIKeys.drawBytes(), .standard) }
}

extension MasterKeys {
    func sealWebhookSecret(_ text: String, of webhook: String, in app: AppID) throws -> SealedBytes {
        try self.seal(text, .webhookSecret, of: app, id: webhook)
    }

    /// - Throws: a fault naming the webhook.
    func openSecrets(of webhook: WebhookRecord, in app: AppID) throws(Fault) -> WebhookSecrets {
        let current = try self.open(webhook.secret, of: webhook.id, in: app)
        guard let sealed = webhook.previousSecret else { return WebhookSecrets(current: current, previous: nil) }
        let previous = try self.open(sealed, of: webhook.id, in: app)
        return WebhookSecrets(current: current, previous: (previous, webhook.previousEndsAt))
    }

    private func open(_ sealed: SealedBytes, of webhook: String, in app: AppID) throws(Fault) -> SymmetricKey {
        let text = try self.unseal(sealed, .webhookSecret, of: app, id: webhook)
        guard text.hasPrefix(WebhookSecrets.prefix),
            let bytes = Base64.decode(Array(text.utf8.dropFirst(WebhookSecrets.prefix.utf8.count)), isStrict: false),
            bytes.count == WebhookSecrets.bytesCount
        else {
            throw Fault(
                rule: "must belong to this store: the secret of the webhook \"\(webhook)\" of \"\(app)\" is none")
        }
        return SymmetricKey(data: Data(bytes))
    }

    /// Returns the changes that bring a webhook's secrets under the key that seals.
    func reseal(_ webhook: WebhookRecord, of app: AppID) throws -> [Resealed] {
        var all: [Resealed] = []
        for sealed in [webhook.secret, webhook.previousSecret].compactMap({ $0 })
        where sealed.keyID != self.sealingKeyID {
            let text = try self.unseal(sealed, .webhookSecret, of: app, id: webhook.id)
            all.append(
                Resealed(
                    .webhookSecret(webhook: webhook.id), before: sealed,
                    after: try self.sealWebhookSecret(text, of: webhook.id, in: app)))
        }
        return all
    }
}

import StoreModel
import TidingsModel

extension MasterKeys {
    /// An app has one.
    static let installationSecretID = "installations"

    func sealInstallationSecret(_ text: String, of app: AppID) throws -> SealedBytes {
        try self.seal(text, .installationSecret, of: app, id: Self.installationSecretID)
    }

    /// Returns the change that brings an app under the key that seals; nil if all of it is already.
    ///
    /// - Parameter section: that of the configuration, if it still is what the app was made from.
    func reseal(_ app: ManagedApp, section: ServerConfiguration.App?) throws -> ControlChange? {
        var all: [Resealed] = []
        for secret in app.secrets where secret.sealed.keyID != self.sealingKeyID {
            let text = try self.unseal(secret.sealed, of: app.id, id: secret.id)
            all.append(
                Resealed(
                    .tokenSecret(id: secret.id), before: secret.sealed,
                    after: try self.seal(text, of: app.id, id: secret.id)))
        }
        for credential in app.pushCredentials where credential.sealed.keyID != self.sealingKeyID {
            let text = try self.unseal(credential.sealed, .pushCredential, of: app.id, id: credential.id)
            all.append(
                Resealed(
                    .pushCredential(id: credential.id), before: credential.sealed,
                    after: try self.seal(text, .pushCredential, of: app.id, id: credential.id)))
        }
        if let sealed = app.installationSecret, sealed.keyID != self.sealingKeyID {
            let text = try self.unseal(sealed, .installationSecret, of: app.id, id: Self.installationSecretID)
            all.append(
                Resealed(.installationSecret, before: sealed, after: try self.sealInstallationSecret(text, of: app.id)))
        }
        for webhook in app.webhooks { all += try self.reseal(webhook, of: app.id) }
        var digest: [UInt8]?
        if let bytes = section?.json.serialized, let before = app.importedDigest, self.isOldDigest(before, of: bytes) {
            digest = self.digest(of: bytes)
        }
        return all.isEmpty && digest == nil ? nil : .reseal(app.id, all, digest: digest)
    }
}

import APNsClient
import StoreModel
import TidingsModel

extension MasterKeys {
    func seal(_ credential: APNsClient.Credential, of app: AppID, id: String) throws -> SealedBytes {
        try self.seal(try credential.secret.text, .pushCredential, of: app, id: id)
    }

    /// - Throws: a fault naming the credential.
    func unseal(_ record: PushCredentialRecord, of app: AppID) throws(Fault) -> APNsClient.Credential {
        let text = try self.unseal(record.sealed, .pushCredential, of: app, id: record.id)
        do {
            return try APNsClient.Credential(secret: try JSONValue(parsing: Array(text.utf8)))
        } catch {
            throw Fault(rule: "must belong to this store: the push credential \"\(record.id)\" of \"\(app)\" is none")
        }
    }
}

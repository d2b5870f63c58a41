import TidingsModel

/// The sealed bytes of one secret or push credential, or one of a webhook's secrets, under another master key.
package struct Resealed: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        case tokenSecret(id: String)
        case pushCredential(id: String)
        case installationSecret
        case webhookSecret(webhook: String)
    }

    package var place: Place
    /// The bytes sealed so far; passed over if they are others by then, or gone.
    package var before: SealedBytes
    package var after: SealedBytes

    package init(_ place: Place, before: SealedBytes, after: SealedBytes) {
        self.place = place
        self.before = before
        self.after = after
    }
}

extension ManagedApp {
    mutating func reseal(_ all: [Resealed], digest: [UInt8]?) throws(ServerFrame.Problem) {
        try ControlState.check { () throws(InvalidField) in
            for each in all { try each.after.validate("resealed", upTo: PushCredentialRecord.sealedBytesMax) }
            try InvalidField.check(digest?.count ?? 32 == 32, "digest", "must be 32 bytes")
        }
        for each in all {
            switch each.place {
            case .tokenSecret(let id):
                for index in self.secrets.indices
                where self.secrets[index].id == id && self.secrets[index].sealed == each.before {
                    self.secrets[index].sealed = each.after
                }
            case .pushCredential(let id):
                for index in self.pushCredentials.indices
                where self.pushCredentials[index].id == id && self.pushCredentials[index].sealed == each.before {
                    self.pushCredentials[index].sealed = each.after
                }
            case .installationSecret:
                if self.installationSecret == each.before { self.installationSecret = each.after }
            case .webhookSecret(let id):
                for index in self.webhooks.indices where self.webhooks[index].id == id {
                    if self.webhooks[index].secret == each.before { self.webhooks[index].secret = each.after }
                    if self.webhooks[index].previousSecret == each.before {
                        self.webhooks[index].previousSecret = each.after
                    }
                }
            }
        }
        if let digest, self.importedDigest != nil { self.importedDigest = digest }
    }
}

extension SealedBytes {
    func validate(_ field: String, upTo bytesMax: Int) throws(InvalidField) {
        try InvalidField.check(self.keyID.utf8.count, in: 1...64, "\(field).key", unit: " bytes")
        try InvalidField.check(self.bytes.count, in: 1...bytesMax, "\(field).sealed", unit: " bytes")
    }
}

import NIOSSL
package import TidingsModel

extension APNsClient.Credential {
    /// The whole credential, private key included, as `init(secret:)` reads it: for callers that keep it encrypted, never to be shown.
    ///
    /// - Throws: `InvalidField` naming `private_key` for one that does not show itself.
    package var secret: JSONValue {
        get throws(InvalidField) {
            switch self {
            case .token(let token): return token.secret
            case .certificate(let certificate): return try certificate.secret
            }
        }
    }

    /// - Throws: `InvalidField`, which tells nothing of the secret.
    package init(secret: JSONValue) throws(InvalidField) {
        let fields = try JSONFields(secret, root: "credential")
        if fields.has("p8") {
            self = .token(
                try APNsClient.TokenCredential(
                    privateKeyPEM: try fields.get("p8"), keyID: try fields.get("key_id"),
                    teamID: try fields.get("team_id")))
        } else {
            self = .certificate(
                try APNsClient.CertificateCredential(chain: try fields.get("chain"), key: try fields.get("key")))
        }
    }
}

extension APNsClient.TokenCredential {
    fileprivate var secret: JSONValue {
        ["p8": .string(self.privateKeyPEM), "key_id": .string(self.keyID), "team_id": .string(self.teamID)]
    }
}

extension APNsClient.CertificateCredential {
    fileprivate var secret: JSONValue {
        get throws(InvalidField) {
            do {
                return [
                    "chain": .array(
                        try self.chain.map { .string(Base64.encode(try $0.toDERBytes(), .standard)) }),
                    "key": .string(Base64.encode(try self.privateKey.derBytes, .standard)),
                ]
            } catch {
                throw InvalidField(field: "private_key", rule: "must be one that can be written down")
            }
        }
    }

    /// In DER form and Base64.
    fileprivate init(chain: [String], key: String) throws(InvalidField) {
        try self.init(chain.map { Self.bytes($0) }, keys: [Self.bytes(key)])
    }

    private static func bytes(_ text: String) -> [UInt8] { Base64.decode(Array(text.utf8), isStrict: false) ?? [] }
}

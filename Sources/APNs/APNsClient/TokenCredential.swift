import APNsModel
import Crypto
public import TidingsModel

extension APNsClient {
    /// A signing key for provider tokens (APNs reference, section 4).
    public struct TokenCredential: Sendable {
        /// The key's id, 10 characters at Apple's.
        public let keyID: String
        /// The team's id, 10 characters at Apple's.
        public let teamID: String
        private let key: P256.Signing.PrivateKey

        /// The identity that a provider token is made for.
        struct Identity: Hashable {
            let keyID: String
            let teamID: String
            /// Ids of another installation's keys may be the same.
            let publicKey: [UInt8]
        }

        var identity: Identity {
            Identity(
                keyID: self.keyID, teamID: self.teamID, publicKey: Array(self.key.publicKey.x963Representation))
        }

        /// Reads a key.
        ///
        /// - Parameters:
        ///   - privateKeyPEM: the text of the `.p8` file: a P-256 private key in PKCS#8 PEM form.
        ///   - keyID: 1 to 64 bytes without spaces.
        ///   - teamID: 1 to 64 bytes without spaces.
        /// - Throws: `InvalidField` naming `private_key`, `key_id` or `team_id`. The key's text is never part of an
        ///   error.
        public init(privateKeyPEM: String, keyID: String, teamID: String) throws(InvalidField) {
            try Self.check(keyID, "key_id")
            try Self.check(teamID, "team_id")
            self.keyID = keyID
            self.teamID = teamID
            do {
                let pem = CredentialForm.keyPEM(in: Array(privateKeyPEM.utf8)) ?? privateKeyPEM
                self.key = try P256.Signing.PrivateKey(pemRepresentation: pem)
            } catch {
                throw InvalidField(
                    field: "private_key", rule: "must be the text of a .p8 file: a P-256 private key in PEM form")
            }
        }

        /// The key in the form of a `.p8` file.
        var privateKeyPEM: String { self.key.pemRepresentation }

        /// - Throws: `InvalidField` naming the field, for an id that is not 1 to 64 bytes without spaces.
        static func check(_ id: String, _ field: String) throws(InvalidField) {
            _ = try AccountID.validated(id, field: field)
        }

        /// The value of the header `authorization`: `bearer` and a fresh token.
        ///
        /// - Parameter issuedAt: UNIX seconds.
        func authorization(issuedAt: Int64) throws -> String {
            let header = JSONValue.members([("alg", "ES256"), ("kid", .string(self.keyID))]).serialized
            let claims = JSONValue.members([("iss", .string(self.teamID)), ("iat", .int(issuedAt))]).serialized
            let input = "\(Base64.encode(header, .url)).\(Base64.encode(claims, .url))"
            let signature = try self.key.signature(for: Array(input.utf8))
            return "bearer \(input).\(Base64.encode(Array(signature.rawRepresentation), .url))"
        }
    }
}

/// A key's or team's id: what goes into a token and a log line.
private struct AccountID: StringIdentifier {
    let rawValue: String
    init(_ rawValue: String) { self.rawValue = rawValue }
}

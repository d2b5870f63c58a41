package import APNsModel
import Crypto
package import TidingsModel

/// A file with a push credential, as Apple's developer account or Keychain Access gives it out: what it holds, and what pushes
/// go out with.
package struct CredentialFile: Sendable {
    /// The facts that may be shown.
    package let facts: CredentialFacts
    private let secret: Secret

    private enum Secret: Sendable {
        case tokenKey(pem: String)
        case certificate(APNsClient.CertificateCredential)
    }

    /// Reads a file. Whether the certificate has expired, or is none for pushes, is a matter of `facts`.
    ///
    /// - Parameters:
    ///   - bytes: at most 65,536.
    ///   - name: the file's name, which has the id of a key; nil if it is not known.
    ///   - password: of a `.p12` file or an encrypted key; nil for none.
    ///   - keyID: of a token key; if nil, the name's.
    ///   - teamID: of a token key; a certificate has its own, which must be this one.
    /// - Throws: `InvalidField` naming `file`, `password`, `certificate`, `private_key`, `key_id` or `team_id`. Neither key nor
    ///   password is ever part of an error.
    package init(
        _ bytes: [UInt8], name: String? = nil, password: String? = nil, keyID: String? = nil, teamID: String? = nil
    ) throws(InvalidField) {
        switch try CredentialForm(bytes) {
        case .tokenKey:
            try self.init(tokenKey: bytes, name: name, keyID: keyID, teamID: teamID)
        case .pair:
            let text = String(decoding: bytes, as: UTF8.self)
            try self.init(.init(certificatePEM: text, privateKeyPEM: text, password: password), keyID, teamID)
        case .pkcs12:
            try self.init(.init(pkcs12: bytes, password: password ?? ""), keyID, teamID)
        }
    }

    private init(tokenKey bytes: [UInt8], name: String?, keyID: String?, teamID: String?) throws(InvalidField) {
        let pem = CredentialForm.keyPEM(in: bytes) ?? ""
        let key: P256.Signing.PrivateKey
        do {
            key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        } catch {
            throw InvalidField(field: "file", rule: "must be a .p8 file as Apple gives it; this one is damaged")
        }
        let named = name.flatMap { CredentialFacts.keyID(inFileName: $0) }
        if let keyID, let named, keyID != named {
            throw InvalidField(field: "key_id", rule: "must be \(named), which the file's name says, got \(keyID)")
        }
        for (id, field) in [(keyID, "key_id"), (teamID, "team_id")] {
            if let id { try APNsClient.TokenCredential.check(id, field) }
        }
        self.secret = .tokenKey(pem: pem)
        self.facts = CredentialFacts(
            .tokenKey(keyID: keyID ?? named, teamID: teamID),
            fingerprint: Hexadecimal.text(SHA256.hash(data: key.publicKey.derRepresentation)))
    }

    private init(
        _ credential: APNsClient.CertificateCredential, _ keyID: String?, _ teamID: String?
    ) throws(InvalidField) {
        let der = try credential.certificateDER
        let certificate = try ProviderCertificate(der: der)
        try InvalidField.check(keyID == nil, "key_id", "must be left out: a certificate has none")
        if let teamID, let own = certificate.teamID {
            try InvalidField.check(
                teamID == own, "team_id", "must be \(own), which the certificate says, got \(teamID)")
        }
        self.secret = .certificate(credential)
        self.facts = CredentialFacts(
            .certificate(certificate), fingerprint: Hexadecimal.text(SHA256.hash(data: der)))
    }

    /// Returns the credential for pushes.
    ///
    /// - Throws: `InvalidField` naming `key_id` or `team_id`, if it is a token key without one.
    package func credential() throws(InvalidField) -> APNsClient.Credential {
        switch (self.secret, self.facts.content) {
        case (.certificate(let certificate), _): return .certificate(certificate)
        case (.tokenKey(let pem), .tokenKey(let keyID?, let teamID?)):
            return .token(try APNsClient.TokenCredential(privateKeyPEM: pem, keyID: keyID, teamID: teamID))
        case (.tokenKey, .tokenKey(nil, _)):
            throw InvalidField(
                field: "key_id", rule: "must be given: the file's name does not have it, as in AuthKey_ABC123DEFG.p8")
        case (.tokenKey, _):
            throw InvalidField(
                field: "team_id", rule: "must be given: it is in Apple's developer account, under membership details")
        }
    }
}

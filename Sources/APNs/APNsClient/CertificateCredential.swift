import APNsModel
import NIOSSL
public import TidingsModel

extension APNsClient {
    /// A provider certificate and its private key (APNs reference, section 5).
    public struct CertificateCredential: Sendable {
        let chain: [NIOSSLCertificate]
        let privateKey: NIOSSLPrivateKey

        /// Reads a PKCS#12 file, as Keychain Access exports it.
        ///
        /// - Parameters:
        ///   - pkcs12: the bytes of the `.p12` file.
        ///   - password: the one it was exported with; empty for none.
        /// - Throws: `InvalidField` naming `certificate` (no PKCS#12, no private key, several that could be meant, an encryption
        ///   nobody uses any more), `password`, or `private_key` for one that belongs to another certificate. Neither key nor
        ///   password is ever part of an error.
        public init(pkcs12: [UInt8], password: String) throws(InvalidField) {
            let file = try PKCS12(pkcs12, password: password)
            try self.init(file.certificates, keys: file.keys)
        }

        /// Reads PEM texts.
        ///
        /// - Parameters:
        ///   - certificatePEM: the certificate and its issuers, in any order.
        ///   - privateKeyPEM: its key; may be the same text when one file holds both.
        ///   - password: of an encrypted key; nil if it is not.
        /// - Throws: `InvalidField` naming `certificate`, `private_key` or `password`. The key's text is never part of an error.
        public init(
            certificatePEM: String, privateKeyPEM: String, password: String? = nil
        ) throws(InvalidField) {
            let certificates = PEMBlock.blocks(in: certificatePEM.utf8).filter(\.isCertificate)
            try InvalidField.check(!certificates.isEmpty, "certificate", "must contain a certificate in PEM form")
            var keys: [[UInt8]] = []
            for block in PEMBlock.blocks(in: privateKeyPEM.utf8) where block.isPrivateKey {
                keys.append(block.isEncrypted ? try Self.decrypted(block, password) : block.der)
            }
            try InvalidField.check(!keys.isEmpty, "private_key", "must be a private key in PEM form")
            try self.init(certificates.map(\.der), keys: keys)
        }

        private static func decrypted(_ block: PEMBlock, _ password: String?) throws(InvalidField) -> [UInt8] {
            guard let password else {
                throw InvalidField(field: "password", rule: "must be given: the private key is encrypted")
            }
            do {
                for reading in PKCS12Password.readings(password) {
                    let der = try PasswordEncryption.decrypt(block, reading)
                    if let der, (try? NIOSSLPrivateKey(bytes: der, format: .der)) != nil { return der }
                }
            } catch let fault as InvalidField {
                throw fault
            } catch {
                throw InvalidField(field: "private_key", rule: "must be a private key in PEM form; this one is damaged")
            }
            throw InvalidField(field: "password", rule: "must be the one the private key was encrypted with")
        }

        /// Finds the key that belongs to a certificate, in a file that may have several of both.
        ///
        /// - Parameters:
        ///   - certificates: in DER form, in any order.
        ///   - keys: in DER form.
        /// - Throws: `InvalidField` naming `certificate`, or `private_key` if no key belongs to a certificate.
        init(_ certificates: [[UInt8]], keys: [[UInt8]]) throws(InvalidField) {
            try InvalidField.check(keys.count <= 16, "private_key", "must be one of at most 16 in the file")
            try InvalidField.check(certificates.count <= 100, "certificate", "must be one of at most 100 in the file")
            let chain = certificates.compactMap { try? NIOSSLCertificate(bytes: $0, format: .der) }
            guard chain.count == certificates.count else {
                throw InvalidField(
                    field: "certificate", rule: "must be an X.509 certificate; one in the file is damaged")
            }
            var read: [NIOSSLPrivateKey] = []
            for key in keys.filter({ !$0.isEmpty }).compactMap({ try? NIOSSLPrivateKey(bytes: $0, format: .der) })
            where !read.contains(key) { read.append(key) }
            guard !read.isEmpty else {
                throw InvalidField(
                    field: "private_key", rule: "must be one that TLS can use; this one is damaged or of another kind")
            }
            let facts = certificates.map { try? ProviderCertificate(der: $0) }
            // Until when a certificate is good; negative for one that is none for pushes.
            let ranks = facts.map { $0.flatMap { $0.fault(at: $0.validFrom) == nil ? $0.expiresAt : nil } ?? -1 }
            var identities: [(place: Int, key: NIOSSLPrivateKey)] = []
            for key in read {
                let own = chain.indices.filter { Self.isPair(chain[$0], key) }
                // A certificate that was renewed with its key stands beside the one before.
                if let newest = own.max(by: { ranks[$0] < ranks[$1] }) { identities.append((newest, key)) }
            }
            try InvalidField.check(!identities.isEmpty, "private_key", "must belong to the certificate")
            let fit = identities.filter { ranks[$0.place] >= 0 }
            guard let identity = fit.count == 1 ? fit.first : identities.count == 1 ? identities.first : nil else {
                let names = (fit.isEmpty ? identities : fit).map { identity in
                    facts[identity.place].map { "\"\($0.name)\" until \(CertificateDate.text($0.expiresAt))" }
                        ?? "damaged"
                }
                throw InvalidField(
                    field: "certificate",
                    rule: "must be one with its key; the file has \(identities.count) keys with certificates: "
                        + "\(names.joined(separator: ", ")); export one")
            }
            self.privateKey = identity.key
            let others = chain.indices.filter { place in
                place != identity.place && !read.contains { Self.isPair(chain[place], $0) }
            }
            self.chain = [chain[identity.place]] + others.map { chain[$0] }
        }

        /// The certificate that pushes go out under, in DER form.
        ///
        /// - Throws: `InvalidField` naming `certificate`.
        var certificateDER: [UInt8] {
            get throws(InvalidField) {
                guard let der = try? self.chain.first?.toDERBytes() else {
                    throw InvalidField(field: "certificate", rule: "must be an X.509 certificate")
                }
                return der
            }
        }

        private static func isPair(_ certificate: NIOSSLCertificate, _ key: NIOSSLPrivateKey) -> Bool {
            var tls = TLSConfiguration.makeClientConfiguration()
            // The trust roots of the system are a long file, and not asked here.
            tls.trustRoots = .certificates([])
            tls.certificateChain = [.certificate(certificate)]
            tls.privateKey = .privateKey(key)
            return (try? NIOSSLContext(configuration: tls)) != nil
        }

        func apply(to tls: inout TLSConfiguration) {
            tls.certificateChain = self.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(self.privateKey)
        }
    }
}

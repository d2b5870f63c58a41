import NIOCore
import NIOSSL
public import TidingsModel

extension APNsClient {
    /// A provider certificate and its private key (APNs reference, section 5).
    public struct CertificateCredential: Sendable {
        private(set) var chain: [NIOSSLCertificate]
        let privateKey: NIOSSLPrivateKey

        /// Reads a PKCS#12 file, as Keychain Access exports it.
        ///
        /// - Parameters:
        ///   - pkcs12: the bytes of the `.p12` file.
        ///   - password: the one it was exported with; empty for none.
        /// - Throws: `InvalidField` naming `certificate` (no PKCS#12, no private key, an encryption nobody uses any
        ///   more), `password`, or `private_key` for one that belongs to another certificate. Neither key nor password is ever part of an error.
        public init(pkcs12: [UInt8], password: String) throws(InvalidField) {
            let file = try PKCS12(pkcs12, password: password)
            self.privateKey = file.privateKey
            self.chain = file.certificates
            try self.putOwnFirst()
        }

        /// Reads PEM texts.
        ///
        /// - Parameters:
        ///   - certificatePEM: the certificate and its issuers, in any order.
        ///   - privateKeyPEM: its key; may be the same text when one file holds both.
        ///   - password: of an encrypted key; nil if it is not.
        /// - Throws: `InvalidField` naming `certificate` or `private_key`. The key's text is never part of an error.
        public init(
            certificatePEM: String, privateKeyPEM: String, password: String? = nil
        ) throws(InvalidField) {
            do {
                self.chain = try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8))
            } catch {
                throw InvalidField(field: "certificate", rule: "must be a certificate in PEM form")
            }
            try InvalidField.check(!self.chain.isEmpty, "certificate", "must contain a certificate in PEM form")
            do {
                let secret = Array((password ?? "").utf8)
                self.privateKey = try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem) { $0(secret) }
            } catch {
                throw InvalidField(
                    field: "private_key", rule: "must be a private key in PEM form; with a password if it is encrypted")
            }
            try self.putOwnFirst()
        }

        /// - Throws: `InvalidField` naming `private_key` if it belongs to none of them.
        init(chain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey) throws(InvalidField) {
            (self.chain, self.privateKey) = (chain, privateKey)
            try self.putOwnFirst()
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

        /// The key's own certificate comes first, wherever the file has it.
        ///
        /// - Throws: `InvalidField` naming `private_key` if it belongs to another certificate.
        private mutating func putOwnFirst() throws(InvalidField) {
            let read = self.chain
            for index in read.indices where index > 0 && !self.isPair {
                self.chain = [read[index]] + read[..<index] + read[(index + 1)...]
            }
            guard self.isPair else { throw InvalidField(field: "private_key", rule: "must belong to the certificate") }
        }

        private var isPair: Bool {
            var tls = TLSConfiguration.makeClientConfiguration()
            // The trust roots of the system are a long file, and not asked here.
            tls.trustRoots = .certificates([])
            self.apply(to: &tls)
            return (try? NIOSSLContext(configuration: tls)) != nil
        }

        func apply(to tls: inout TLSConfiguration) {
            tls.certificateChain = self.chain.map { .certificate($0) }
            tls.privateKey = .privateKey(self.privateKey)
        }
    }
}

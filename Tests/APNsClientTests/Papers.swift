import Crypto
import Foundation
import NIOSSL
import SwiftASN1
import X509

/// Certificates made for one test: an authority, a server for `localhost`, and clients.
struct Papers: Sendable {
    let authorityPEM: String
    let authority: NIOSSLCertificate
    let server: NIOSSLCertificate
    let serverKey: NIOSSLPrivateKey
    private let authorityKey: P256.Signing.PrivateKey
    private let authorityName: DistinguishedName

    init() throws {
        let key = P256.Signing.PrivateKey()
        let name = try DistinguishedName { CommonName("Test authority \(UInt32.random(in: 0 ... .max))") }
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: -3_600), notValidAfter: Date(timeIntervalSinceNow: 86_400),
            issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true))
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        self.authorityKey = key
        self.authorityName = name
        self.authorityPEM = try certificate.serializeAsPEM().pemString
        self.authority = try NIOSSLCertificate(bytes: Array(self.authorityPEM.utf8), format: .pem)
        let (server, serverKey) = try Self.issue(
            by: key, name, "localhost", from: -3_600, to: 86_400, for: .serverAuth,
            names: [.dnsName("localhost"), .ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
        self.server = try NIOSSLCertificate(bytes: Array(server.utf8), format: .pem)
        self.serverKey = try NIOSSLPrivateKey(bytes: Array(serverKey.utf8), format: .pem)
    }

    /// A client's certificate and key in PEM form.
    ///
    /// - Parameter end: seconds from now.
    func client(end: TimeInterval = 86_400) throws -> (certificate: String, key: String) {
        try Self.issue(
            by: self.authorityKey, self.authorityName, "com.example.chat", from: -7_200, to: end, for: .clientAuth,
            names: [])
    }

    private static func issue(
        by key: P256.Signing.PrivateKey, _ issuer: DistinguishedName, _ name: String, from: TimeInterval,
        to: TimeInterval, for usage: ExtendedKeyUsage.Usage, names: [GeneralName]
    ) throws -> (certificate: String, key: String) {
        let own = P256.Signing.PrivateKey()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(own.publicKey),
            notValidBefore: Date(timeIntervalSinceNow: from), notValidAfter: Date(timeIntervalSinceNow: to),
            issuer: issuer, subject: try DistinguishedName { CommonName(name) }, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([usage])
                if !names.isEmpty { SubjectAlternativeNames(names) }
            }, issuerPrivateKey: Certificate.PrivateKey(key))
        return (try certificate.serializeAsPEM().pemString, own.pemRepresentation)
    }
}

import Crypto
import Foundation
import SwiftASN1
import X509

/// Makes the certificates of a local Apple: an authority nobody else trusts, and a server certificate from it.
///
/// The authority's private key is thrown away: nothing but this one certificate will ever come from it.
enum LocalAuthority {
    struct Certificates {
        /// The authority's certificate in PEM form.
        var authority: String
        /// The server's certificate in PEM form.
        var server: String
        /// The server's private key in PEM form.
        var serverKey: String
    }

    /// Apple's names, so that a name server or a hosts file can lead real clients here, and the loopback addresses.
    private static let names = [
        "localhost", "api.sandbox.push.apple.com", "api.development.push.apple.com", "api.push.apple.com",
    ]

    /// - Parameters:
    ///   - host: the address or name listened on; also in the certificate.
    ///   - now: the certificates are good from an hour before this time, for ten years.
    static func make(host: String, now: Date) throws -> Certificates {
        let start = now.addingTimeInterval(-3_600)
        let end = now.addingTimeInterval(10 * 365 * 86_400)
        let authorityKey = P256.Signing.PrivateKey()
        let authorityName = try DistinguishedName {
            CommonName("Tidings local APNs authority")
        }
        let authority = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(authorityKey.publicKey), notValidBefore: start, notValidAfter: end,
            issuer: authorityName, subject: authorityName, signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            },
            issuerPrivateKey: Certificate.PrivateKey(authorityKey))
        let serverKey = P256.Signing.PrivateKey()
        let server = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(serverKey.publicKey), notValidBefore: start, notValidAfter: end,
            issuer: authorityName, subject: try DistinguishedName { CommonName("api.sandbox.push.apple.com") },
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(Self.alternatives(host: host))
            },
            issuerPrivateKey: Certificate.PrivateKey(authorityKey))
        return Certificates(
            authority: try authority.serializeAsPEM().pemString, server: try server.serializeAsPEM().pemString,
            serverKey: serverKey.pemRepresentation)
    }

    private static func alternatives(host: String) -> [GeneralName] {
        let loopback6 = [UInt8](repeating: 0, count: 15) + [1]
        var names = Self.names.map { GeneralName.dnsName($0) }
        names.append(.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1])))
        names.append(.ipAddress(ASN1OctetString(contentBytes: loopback6[...])))
        if let address = Self.address4(host) {
            if address != [127, 0, 0, 1] { names.append(.ipAddress(ASN1OctetString(contentBytes: address[...]))) }
        } else if !Self.names.contains(host), !host.contains(":") {
            names.append(.dnsName(host))
        }
        return names
    }

    private static func address4(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4 else { return nil }
        let bytes = parts.compactMap { $0 }
        return bytes.count == 4 ? bytes : nil
    }
}

import Crypto
import Foundation
import SwiftASN1
import TidingsModel
import X509

/// A local Apple's authority, which nobody else trusts: it makes the server's certificate, and the clients'.
struct LocalAuthority: Sendable {
    let key: P256.Signing.PrivateKey
    let certificate: Certificate

    struct Pair: Sendable {
        var certificate: String
        var key: String
    }

    /// Apple's names, so that a name server or a hosts file can lead real clients here, and the loopback addresses.
    private static let names = [
        "localhost", "api.sandbox.push.apple.com", "api.development.push.apple.com", "api.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
        "api-broadcast.sandbox.push.apple.com", "api-broadcast.push.apple.com",
    ]

    private static let tenYears: TimeInterval = 10 * 365 * 86_400

    init(certificate: String, key: String) throws {
        self.certificate = try Certificate(pemEncoded: certificate)
        self.key = try P256.Signing.PrivateKey(pemRepresentation: key)
    }

    /// Good from an hour before `now`, for ten years.
    init(now: Date) throws {
        let name = try DistinguishedName { CommonName("Tidings local APNs authority") }
        self.key = P256.Signing.PrivateKey()
        self.certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(),
            publicKey: Certificate.PublicKey(self.key.publicKey), notValidBefore: now.addingTimeInterval(-3_600),
            notValidAfter: now.addingTimeInterval(Self.tenYears), issuer: name, subject: name,
            signatureAlgorithm: .ecdsaWithSHA256,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            },
            issuerPrivateKey: Certificate.PrivateKey(self.key))
    }

    var pair: Pair {
        get throws {
            Pair(certificate: try self.certificate.serializeAsPEM().pemString, key: self.key.pemRepresentation)
        }
    }

    func hasIssued(_ other: Certificate) -> Bool {
        other.issuer == self.certificate.subject
            && self.certificate.publicKey.isValidSignature(other.signature, for: other)
    }

    /// - Parameter host: the address or name listened on; also in the certificate.
    func server(host: String, now: Date) throws -> Pair {
        try self.issue(
            subject: try DistinguishedName { CommonName("api.sandbox.push.apple.com") },
            from: now.addingTimeInterval(-3_600), to: now.addingTimeInterval(Self.tenYears),
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(Self.alternatives(host: host))
            }
        ).pair
    }

    struct Client: Sendable {
        var bundleID: String
        /// The subject's organizational unit; nil leaves it out.
        var teamID: String?
        /// The topics in the extension; empty leaves it out.
        var topics: [String] = []
        var environments = PushEnvironment.allCases
        var validFrom: Date
        var validTo: Date
    }

    /// APNs reference, section 5.
    static func commonName(_ bundleID: String) -> String { "Apple Push Services: \(bundleID)" }

    /// APNs reference, section 5.
    func client(_ wish: Client) throws -> (pair: Pair, der: [UInt8], keyDER: [UInt8]) {
        var extensions = try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            Critical(KeyUsage(digitalSignature: true))
            try ExtendedKeyUsage([.clientAuth])
        }
        let null: ArraySlice<UInt8> = [5, 0]
        if wish.environments.contains(.sandbox) {
            try extensions.append(.init(oid: CertificateName.sandbox, critical: false, value: null))
        }
        if wish.environments.contains(.production) {
            try extensions.append(.init(oid: CertificateName.production, critical: false, value: null))
        }
        if !wish.topics.isEmpty {
            var list = DER.Serializer()
            try list.appendConstructedNode(identifier: .sequence) { list in
                for topic in wish.topics {
                    try list.serialize(ASN1UTF8String(topic))
                    try list.appendConstructedNode(identifier: .sequence) { kinds in
                        let kind = topic == wish.bundleID ? "app" : topic.split(separator: ".").last.map { String($0) }
                        try kinds.serialize(ASN1UTF8String(kind ?? "app"))
                    }
                }
            }
            try extensions.append(
                .init(oid: CertificateName.topics, critical: false, value: list.serializedBytes[...]))
        }
        var attributes: [RelativeDistinguishedName.Attribute] = [
            .init(type: CertificateName.userID, utf8String: wish.bundleID),
            .init(type: .RDNAttributeType.commonName, utf8String: Self.commonName(wish.bundleID)),
        ]
        if let teamID = wish.teamID {
            attributes.append(.init(type: .RDNAttributeType.organizationalUnitName, utf8String: teamID))
        }
        let subject = DistinguishedName(attributes.map { RelativeDistinguishedName($0) })
        return try self.issue(subject: subject, from: wish.validFrom, to: wish.validTo, extensions: extensions)
    }

    private func issue(
        subject: DistinguishedName, from start: Date, to end: Date, extensions: Certificate.Extensions
    ) throws -> (pair: Pair, der: [UInt8], keyDER: [UInt8]) {
        let key = P256.Signing.PrivateKey()
        let certificate = try Certificate(
            version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: Certificate.PublicKey(key.publicKey),
            notValidBefore: start, notValidAfter: end, issuer: self.certificate.subject, subject: subject,
            signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(self.key))
        let pem = try certificate.serializeAsPEM()
        return (
            Pair(certificate: pem.pemString, key: key.pemRepresentation), pem.derBytes, Array(key.derRepresentation)
        )
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

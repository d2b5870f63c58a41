import APNsCore
import APNsModel
import Crypto
import Foundation
import SwiftASN1
import TidingsModel
import X509

enum CertificateName {
    /// The subject's UID (RFC 4519, section 2.39): the bundle identifier.
    static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    static let sandbox: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 1]
    static let production: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 2]
    static let topics: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 3, 6]
}

extension ClientCertificateFacts {
    /// Reads a certificate in DER form; nil for bytes that are none.
    init?(der: [UInt8], _ authority: LocalAuthority) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        let subject = certificate.subject.flatMap { Array($0) }.first { $0.type == CertificateName.userID }
        let environments = certificate.environments
        self.init(
            fingerprint: Hexadecimal.text(SHA256.hash(data: der)),
            topics: APNsCertificateTopics(
                subject: subject.flatMap { String($0.value) } ?? "", listed: certificate.listedTopics),
            // A certificate without a marker is good for both.
            environments: environments.isEmpty ? PushEnvironment.allCases : environments,
            expiresAt: Int64(certificate.notValidAfter.timeIntervalSince1970 * 1_000),
            isTrusted: authority.hasIssued(certificate))
    }
}

extension Certificate {
    fileprivate var environments: [PushEnvironment] {
        var found: [PushEnvironment] = []
        if self.extensions.contains(where: { $0.oid == CertificateName.sandbox }) { found.append(.sandbox) }
        if self.extensions.contains(where: { $0.oid == CertificateName.production }) { found.append(.production) }
        return found
    }

    /// A sequence in which a topic and a sequence of its kinds take turns; one that cannot be read lists nothing.
    fileprivate var listedTopics: [String] {
        guard let value = self.extensions.first(where: { $0.oid == CertificateName.topics })?.value,
            let node = try? DER.parse(Array(value)), case .constructed(let nodes) = node.content
        else { return [] }
        return nodes.compactMap { try? ASN1UTF8String(derEncoded: $0) }.map { String($0) }
    }
}

import APNsModel
import Foundation
package import NIOSSL
package import TidingsModel

extension NIOSSLTrustRoots {
    /// Returns the certificates of a PEM file and no others. The library itself would pass over one behind a byte-order mark.
    ///
    /// - Throws: `InvalidField` naming `trust_roots`.
    package static func file(at path: String) throws(InvalidField) -> NIOSSLTrustRoots {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw InvalidField(field: "trust_roots", rule: "must be a file that can be read: \(path)")
        }
        return try .pem(bytes, of: path)
    }

    /// - Parameter source: what the text is of, for the words.
    static func pem(_ bytes: some Collection<UInt8>, of source: String) throws(InvalidField) -> NIOSSLTrustRoots {
        let text = try FileText.read(bytes, field: "trust_roots")
        let blocks = PEMBlock.blocks(in: text.utf8).filter(\.isCertificate)
        try InvalidField.check(!blocks.isEmpty, "trust_roots", "must contain a certificate in PEM form: \(source)")
        var certificates: [NIOSSLCertificate] = []
        for (index, block) in blocks.enumerated() {
            guard !block.der.isEmpty, let one = try? NIOSSLCertificate(bytes: block.der, format: .der) else {
                throw InvalidField(
                    field: "trust_roots", rule: "must be whole: certificate \(index + 1) of \(source) is damaged")
            }
            certificates.append(one)
        }
        return .certificates(certificates)
    }
}

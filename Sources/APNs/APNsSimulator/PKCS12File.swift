import Crypto
import Foundation
import SwiftASN1

/// Writes a certificate and its key as a `.p12` file (RFC 7292).
///
/// The password protects the file against change, by the MAC; the key itself is not encrypted: these files are for
/// tests, and the authority behind them is trusted by nobody else.
struct PKCS12File {
    var certificate: [UInt8]
    /// In PKCS #8 form.
    var key: [UInt8]
    var password: String

    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    private static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 1]
    private static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    private static let x509: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 22, 1]
    private static let localKeyID: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 21]
    private static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    private static let explicit0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
    private static let rounds = 2_048

    /// The file.
    func serialized() throws -> [UInt8] {
        let contents = try Self.sequence { list in
            for bag in [try self.certificateBag(), try self.keyBag()] {
                try Self.write(contentInfo: try Self.sequence { $0.serializeRawBytes(bag) }, into: &list)
            }
        }
        let salt = (0..<16).map { _ in UInt8.random(in: 0...255) }
        let key = Self.derive(password: self.password, salt: salt)
        let mac = Array(HMAC<SHA256>.authenticationCode(for: contents, using: SymmetricKey(data: key)))
        return try Self.sequence { file in
            try file.serialize(3)
            try Self.write(contentInfo: contents, into: &file)
            try file.appendConstructedNode(identifier: .sequence) { macData in
                try macData.appendConstructedNode(identifier: .sequence) { digest in
                    try digest.appendConstructedNode(identifier: .sequence) { algorithm in
                        try algorithm.serialize(Self.sha256)
                        try algorithm.serialize(ASN1Null())
                    }
                    try digest.serialize(ASN1OctetString(contentBytes: mac[...]))
                }
                try macData.serialize(ASN1OctetString(contentBytes: salt[...]))
                try macData.serialize(Self.rounds)
            }
        }
    }

    private func certificateBag() throws -> [UInt8] {
        try self.bag(Self.certificateBag) { value in
            try value.appendConstructedNode(identifier: .sequence) { bag in
                try bag.serialize(Self.x509)
                try bag.appendConstructedNode(identifier: Self.explicit0) { content in
                    try content.serialize(ASN1OctetString(contentBytes: self.certificate[...]))
                }
            }
        }
    }

    private func keyBag() throws -> [UInt8] {
        try self.bag(Self.keyBag) { $0.serializeRawBytes(self.key) }
    }

    /// A bag, with the attribute by which readers find key and certificate together.
    private func bag(
        _ type: ASN1ObjectIdentifier, _ content: (inout DER.Serializer) throws -> Void
    ) throws -> [UInt8] {
        let id = Array(Insecure.SHA1.hash(data: self.certificate))
        return try Self.sequence { bag in
            try bag.serialize(type)
            try bag.appendConstructedNode(identifier: Self.explicit0) { try content(&$0) }
            try bag.appendConstructedNode(identifier: .set) { attributes in
                try attributes.appendConstructedNode(identifier: .sequence) { attribute in
                    try attribute.serialize(Self.localKeyID)
                    try attribute.appendConstructedNode(identifier: .set) { values in
                        try values.serialize(ASN1OctetString(contentBytes: id[...]))
                    }
                }
            }
        }
    }

    private static func sequence(_ body: (inout DER.Serializer) throws -> Void) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { try body(&$0) }
        return serializer.serializedBytes
    }

    private static func write(contentInfo content: [UInt8], into list: inout DER.Serializer) throws {
        try list.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(Self.data)
            try info.appendConstructedNode(identifier: Self.explicit0) { explicit in
                try explicit.serialize(ASN1OctetString(contentBytes: content[...]))
            }
        }
    }

    /// The MAC's key (RFC 7292, appendix B.2, with SHA-256 and purpose 3). One block is as long as the key, so the
    /// steps for further blocks are not needed.
    private static func derive(password: String, salt: [UInt8]) -> [UInt8] {
        let block = 64
        func filled(_ bytes: [UInt8]) -> [UInt8] {
            guard !bytes.isEmpty else { return [] }
            let count = (bytes.count + block - 1) / block * block
            return (0..<count).map { bytes[$0 % bytes.count] }
        }
        // UTF-16, the most significant byte first, with a zero at its end.
        var text: [UInt8] = []
        for unit in password.utf16 { text += [UInt8(unit >> 8), UInt8(unit & 255)] }
        text += [0, 0]
        let input = [UInt8](repeating: 3, count: block) + filled(salt) + filled(text)
        var hash = Array(SHA256.hash(data: input))
        for _ in 1..<Self.rounds { hash = Array(SHA256.hash(data: hash)) }
        return hash
    }
}

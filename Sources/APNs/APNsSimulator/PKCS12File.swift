import APNsModel
import Crypto
import Foundation
import SwiftASN1

/// Writes a certificate and its key as a `.p12` file (RFC 7292) in the form of Apple's Keychain Access: the certificate in
/// an encrypted part, then the key in a shrouded bag, both with localKeyID and friendlyName, and a MAC with SHA-1. Java,
/// Go and old programs read nothing else.
///
/// Where Keychain Access encrypts the certificate with RC2 of 40 bits, this is triple DES as for the key: OpenSSL 3 refuses
/// the other (APNs reference, section 5). Neither is a protection to rely on; these files are for tests, and the authority
/// behind them is trusted by nobody else.
struct PKCS12File {
    var certificate: [UInt8]
    /// In PKCS #8 form.
    var key: [UInt8]
    var name: String
    var password: String

    private static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    private static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 6]
    private static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 2]
    private static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 10, 1, 3]
    private static let sha1And3DES: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 12, 1, 3]
    private static let x509: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 22, 1]
    private static let friendlyName: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 20]
    private static let localKeyID: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 21]
    private static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
    private static let explicit0 = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
    private static let bmpString = ASN1Identifier(tagWithNumber: 30, tagClass: .universal)
    private static let rounds = 2_048

    func serialized() throws -> [UInt8] {
        let certificates = try Self.sequence { $0.serializeRawBytes(try self.certificateBag()) }
        let keys = try Self.sequence { $0.serializeRawBytes(try self.keyBag()) }
        let contents = try Self.sequence { list in
            try self.write(encrypted: certificates, into: &list)
            try Self.write(contentInfo: keys, into: &list)
        }
        let salt = Self.salt()
        let key = self.derive(.mac, count: 20, salt: salt)
        let mac = Array(
            HMAC<Insecure.SHA1>.authenticationCode(for: contents, using: SymmetricKey(data: key)))
        return try Self.sequence { file in
            try file.serialize(3)
            try Self.write(contentInfo: contents, into: &file)
            try file.appendConstructedNode(identifier: .sequence) { macData in
                try macData.appendConstructedNode(identifier: .sequence) { digest in
                    try digest.appendConstructedNode(identifier: .sequence) { algorithm in
                        try algorithm.serialize(Self.sha1)
                        try algorithm.serialize(ASN1Null())
                    }
                    try digest.serialize(ASN1OctetString(contentBytes: mac[...]))
                }
                try macData.serialize(ASN1OctetString(contentBytes: salt[...]))
                try macData.serialize(Self.rounds)
            }
        }
    }

    // MARK: Bags

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
        try self.bag(Self.shroudedKeyBag) { value in
            try value.appendConstructedNode(identifier: .sequence) { info in
                let (salt, encrypted) = self.encrypt(self.key)
                try Self.write(algorithm: salt, into: &info)
                try info.serialize(ASN1OctetString(contentBytes: encrypted[...]))
            }
        }
    }

    private func bag(
        _ type: ASN1ObjectIdentifier, _ content: (inout DER.Serializer) throws -> Void
    ) throws -> [UInt8] {
        let id = Array(Insecure.SHA1.hash(data: self.certificate))
        let name = Self.utf16(self.name)
        return try Self.sequence { bag in
            try bag.serialize(type)
            try bag.appendConstructedNode(identifier: Self.explicit0) { try content(&$0) }
            try bag.appendConstructedNode(identifier: .set) { attributes in
                try Self.write(attribute: Self.friendlyName, into: &attributes) { values in
                    values.appendPrimitiveNode(identifier: Self.bmpString) { $0 += name }
                }
                try Self.write(attribute: Self.localKeyID, into: &attributes) { values in
                    try values.serialize(ASN1OctetString(contentBytes: id[...]))
                }
            }
        }
    }

    private static func write(
        attribute type: ASN1ObjectIdentifier, into attributes: inout DER.Serializer,
        _ value: (inout DER.Serializer) throws -> Void
    ) throws {
        try attributes.appendConstructedNode(identifier: .sequence) { attribute in
            try attribute.serialize(type)
            try attribute.appendConstructedNode(identifier: .set) { try value(&$0) }
        }
    }

    // MARK: Parts

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

    /// EncryptedData (RFC 5652, section 8).
    private func write(encrypted content: [UInt8], into list: inout DER.Serializer) throws {
        let (salt, encrypted) = self.encrypt(content)
        try list.appendConstructedNode(identifier: .sequence) { info in
            try info.serialize(Self.encryptedData)
            try info.appendConstructedNode(identifier: Self.explicit0) { explicit in
                try explicit.appendConstructedNode(identifier: .sequence) { data in
                    try data.serialize(0)
                    try data.appendConstructedNode(identifier: .sequence) { part in
                        try part.serialize(Self.data)
                        try Self.write(algorithm: salt, into: &part)
                        part.appendPrimitiveNode(identifier: Self.explicit0) { $0 += encrypted }
                    }
                }
            }
        }
    }

    /// The encryption with its parameters (RFC 7292, appendix C).
    private static func write(algorithm salt: [UInt8], into info: inout DER.Serializer) throws {
        try info.appendConstructedNode(identifier: .sequence) { algorithm in
            try algorithm.serialize(Self.sha1And3DES)
            try algorithm.appendConstructedNode(identifier: .sequence) { parameters in
                try parameters.serialize(ASN1OctetString(contentBytes: salt[...]))
                try parameters.serialize(Self.rounds)
            }
        }
    }

    // MARK: Encryption

    private func encrypt(_ content: [UInt8]) -> (salt: [UInt8], encrypted: [UInt8]) {
        let salt = Self.salt()
        let key = self.derive(.encryption, count: 24, salt: salt)
        let start = self.derive(.start, count: 8, salt: salt)
        return (salt, TripleDES(key: key).encrypt(content, from: start))
    }

    private static func salt() -> [UInt8] { (0..<8).map { _ in UInt8.random(in: 0...255) } }

    /// UTF-16, the most significant byte first.
    private static func utf16(_ text: String) -> [UInt8] { text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }

    private func derive(_ purpose: PKCS12Password.Purpose, count: Int, salt: [UInt8]) -> [UInt8] {
        PKCS12Password(self.password).derive(
            purpose, count: count, salt: salt, rounds: Self.rounds, block: Insecure.SHA1.blockByteCount
        ) { Array(Insecure.SHA1.hash(data: $0)) }
    }
}

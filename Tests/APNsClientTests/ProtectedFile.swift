import APNsModel
import Crypto
import CryptoExtras
import Foundation
import TidingsModel

@testable import APNsClient

/// Writes credentials that are protected by a password, in each way that programs do.
struct ProtectedFile {
    /// What encrypts: the cipher, and what makes its key of the password.
    enum Encryption: String, CaseIterable {
        case aes128WithSHA1, aes192WithSHA256, aes256WithSHA256, aes256WithSHA512, tripleDESWithSHA256
        case tripleDES, twoKeys, rc4At128, rc4At40
    }

    var password: PKCS12Password
    var encryption: Encryption
    /// Its length makes files of any length.
    var salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    private static let rounds = 3

    /// The `AlgorithmIdentifier`, and what it makes of the bytes.
    func encrypt(_ bytes: [UInt8]) throws -> (algorithm: [UInt8], bytes: [UInt8]) {
        switch self.encryption {
        case .aes128WithSHA1: try self.pbes2(bytes, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 2], 16, nil, .insecureSHA1)
        case .aes192WithSHA256: try self.pbes2(bytes, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x16], 24, 9, .sha256)
        case .aes256WithSHA256: try self.pbes2(bytes, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a], 32, 9, .sha256)
        case .aes256WithSHA512: try self.pbes2(bytes, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 0x2a], 32, 11, .sha512)
        case .tripleDESWithSHA256: try self.pbes2(bytes, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0xd, 3, 7], 24, 9, .sha256)
        case .tripleDES: self.own(3, 24) { TripleDES(key: $0).encrypt(bytes, from: $1) }
        case .twoKeys: self.own(4, 16) { TripleDES(key: $0 + $0.prefix(8)).encrypt(bytes, from: $1) }
        case .rc4At128: self.own(1, 16) { key, _ in RC4.crypt(bytes, key: key) }
        case .rc4At40: self.own(2, 5) { key, _ in RC4.crypt(bytes, key: key) }
        }
    }

    private func pbes2(
        _ bytes: [UInt8], _ cipher: [UInt8], _ keyBytes: Int, _ function: UInt8?,
        _ hash: KDF.Insecure.PBKDF2.HashFunction
    ) throws -> (algorithm: [UInt8], bytes: [UInt8]) {
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: self.password.bytes, salt: self.salt, using: hash, outputByteCount: keyBytes,
            unsafeUncheckedRounds: Self.rounds)
        let start = [UInt8](repeating: 7, count: cipher.count == 9 ? 16 : 8)
        let encrypted = try Self.encrypt(bytes, key.withUnsafeBytes { Array($0) }, start)
        let pkcs5: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 5]
        // HMAC with SHA-1 is the one that is left out.
        let hmac = function.map { number in
            BER.write(0x30, BER.write(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, number]) + [5, 0])
        }
        let derivation = BER.write(
            0x30,
            BER.write(0x06, pkcs5 + [12])
                + BER.write(0x30, BER.write(0x04, self.salt) + [2, 1, UInt8(Self.rounds)] + (hmac ?? [])))
        let scheme = BER.write(0x30, BER.write(0x06, cipher) + BER.write(0x04, start))
        return (
            BER.write(0x30, BER.write(0x06, pkcs5 + [13]) + BER.write(0x30, derivation + scheme)), encrypted
        )
    }

    /// With AES, or with triple DES for a start of 8 bytes.
    static func encrypt(_ bytes: [UInt8], _ key: [UInt8], _ start: [UInt8]) throws -> [UInt8] {
        guard start.count == 16 else { return TripleDES(key: key).encrypt(bytes, from: start) }
        return Array(
            try AES._CBC.encrypt(bytes, using: SymmetricKey(data: key), iv: AES._CBC.IV(ivBytes: start)))
    }

    private func own(
        _ number: UInt8, _ keyBytes: Int, _ encrypt: ([UInt8], [UInt8]) -> [UInt8]
    ) -> (algorithm: [UInt8], bytes: [UInt8]) {
        func derive(_ purpose: PKCS12Password.Purpose, _ count: Int) -> [UInt8] {
            self.password.derive(
                purpose, count: count, salt: self.salt, rounds: Self.rounds, block: Insecure.SHA1.blockByteCount
            ) { Array(Insecure.SHA1.hash(data: $0)) }
        }
        let type: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, number]
        let parameters = BER.write(0x04, self.salt) + [2, 1, UInt8(Self.rounds)]
        return (
            BER.write(0x30, BER.write(0x06, type) + BER.write(0x30, parameters)),
            encrypt(derive(.encryption, keyBytes), derive(.start, 8))
        )
    }

    // MARK: Files

    /// A PKCS #12 file of keys and certificates in DER form.
    ///
    /// - Parameter isKeyHidden: puts the keys, as they are, into the encrypted part with the certificates.
    func pkcs12(keys: [[UInt8]], certificates: [[UInt8]], isKeyHidden: Bool = false) throws -> [UInt8] {
        let papers = certificates.map { Self.bag(3, Self.certificateBag($0)) }
        let own = try isKeyHidden ? keys.map { Self.bag(1, $0) } : keys.map { Self.bag(2, try self.encryptedKey($0)) }
        let hidden = isKeyHidden ? papers + own : papers
        let content = try self.encryptedInfo(BER.write(0x30, hidden.flatMap(\.self)))
        let shown = isKeyHidden ? [] : PKCS12Bench.info(BER.write(0x30, own.flatMap(\.self)))
        let all = BER.write(0x30, content + shown)
        let mac = PKCS12.MAC(hash: PKCS12.MAC.sha1, digest: [], salt: [9], rounds: 2)
        return BER.write(
            0x30, [2, 1, 3] + PKCS12Bench.info(all) + mac.written(mac.code(of: all, self.password) ?? []))
    }

    /// A key as `openssl pkcs8 -topk8` writes it.
    func pem(key: [UInt8]) throws -> String { PEM.text("ENCRYPTED PRIVATE KEY", try self.encryptedKey(key)) }

    private func encryptedKey(_ key: [UInt8]) throws -> [UInt8] {
        let (algorithm, bytes) = try self.encrypt(key)
        return BER.write(0x30, algorithm + BER.write(0x04, bytes))
    }

    private func encryptedInfo(_ content: [UInt8]) throws -> [UInt8] {
        let (algorithm, bytes) = try self.encrypt(content)
        let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7]
        let info = BER.write(0x30, BER.write(0x06, data + [1]) + algorithm + BER.write(0x80, bytes))
        return BER.write(
            0x30, BER.write(0x06, data + [6]) + BER.write(0xa0, BER.write(0x30, [2, 1, 0] + info)))
    }

    private static func bag(_ kind: UInt8, _ value: [UInt8]) -> [UInt8] {
        BER.write(
            0x30,
            BER.write(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 10, 1, kind]) + BER.write(0xa0, value))
    }

    private static func certificateBag(_ der: [UInt8]) -> [UInt8] {
        BER.write(
            0x30,
            BER.write(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 0x16, 1])
                + BER.write(0xa0, BER.write(0x04, der)))
    }
}

enum PEM {
    static func text(_ label: String, _ der: [UInt8]) -> String {
        "-----BEGIN \(label)-----\n\(Data(der).base64EncodedString(options: .lineLength64Characters))\n-----END \(label)-----\n"
    }
}

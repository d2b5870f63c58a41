import APNsModel
import Crypto
import CryptoExtras
import TidingsModel

/// Decrypts what a password encrypted in a credential's file: PBES2 (RFC 8018, section 6.2), the encryptions of PKCS #12 (RFC 7292,
/// appendix C), and OpenSSL's old form of a key.
///
/// The TLS library is never handed a password: it ends the process over one that is not ASCII, and works for as long as the
/// file says.
struct PasswordEncryption {
    /// How often a file may have passwords hashed in all. OpenSSL writes three times 2,048; Windows takes no more than 600,000 at
    /// a time.
    static let roundsMax = 4_000_000

    /// How often the password is hashed for one key; 0 if the parameters cannot be.
    let rounds: Int
    private let cipher: Cipher
    private let salt: [UInt8]
    /// The rest of PBES2; nil for PKCS #12's own.
    private let pbes2: (hash: KDF.Insecure.PBKDF2.HashFunction, start: [UInt8])?

    private enum Kind { case aes, tripleDES, rc2, rc4 }
    private typealias Cipher = (kind: Kind, keyBytes: Int)

    /// Reads an `AlgorithmIdentifier`.
    ///
    /// - Parameter field: what is encrypted, for the words.
    /// - Throws: `InvalidField` naming the field for one that nobody uses any more, or `BER.Fault`.
    init(_ algorithm: BER.Element, of field: String) throws {
        var members = try algorithm.inside()
        let type = try members.next(0x06)
        var parameters = try members.next(0x30).inside()
        if let cipher = Self.own[type.dotted] {
            self.salt = try parameters.next().octets()
            (self.rounds, self.cipher, self.pbes2) = (try parameters.next(0x02).number, cipher, nil)
            return
        }
        guard type.dotted == "1.2.840.113549.1.5.13" else { throw Self.unknown(type.dotted, field) }
        var derivation = try parameters.next(0x30).inside()
        let function = try derivation.next(0x06).dotted
        // Of the functions that make a key, PBKDF2 alone (RFC 8018, appendix A.2).
        guard function == "1.2.840.113549.1.5.12" else { throw Self.unknown(function, field) }
        var scheme = try parameters.next(0x30).inside()
        let name = try scheme.next(0x06).dotted
        guard let cipher = Self.ciphers[name] else { throw Self.unknown(name, field) }
        let start = Array(try scheme.next(0x04).content)
        var details = try derivation.next(0x30).inside()
        self.salt = try details.next(0x04).octets()
        self.rounds = try details.next(0x02).number
        var hash = "1.2.840.113549.2.7"
        while !details.isAtEnd {
            let detail = try details.next()
            guard detail.tag == 0x30 else { continue }
            var members = try detail.inside()
            hash = try members.next(0x06).dotted
        }
        guard let known = Self.hashes[hash] else { throw Self.unknown(hash, field) }
        (self.cipher, self.pbes2) = (cipher, (known, start))
    }

    static func check(_ rounds: Int, _ field: String) throws(InvalidField) {
        try InvalidField.check(
            rounds <= Self.roundsMax, field, "must hash its password at most \(Self.roundsMax) times; export it again")
    }

    private static func unknown(_ algorithm: String, _ field: String) -> InvalidField {
        InvalidField(
            field: field,
            rule: "must be encrypted with AES, triple DES, RC2 or RC4, not as \(algorithm) says; convert it with: "
                + (field == "private_key"
                    ? "openssl pkcs8 -topk8 -v2 aes256 -in old.pem -out new.pem"
                    : "openssl pkcs12 -legacy -in old.p12 -nodes -out both.pem; "
                        + "openssl pkcs12 -export -in both.pem -out new.p12"))
    }

    /// Decrypts bytes.
    ///
    /// - Returns: nil with another password, as far as that shows.
    func decrypt(_ bytes: [UInt8], _ password: PKCS12Password) -> [UInt8]? {
        guard 1...Self.roundsMax ~= self.rounds else { return nil }
        let length = self.cipher.keyBytes
        let (key, start): ([UInt8], [UInt8])
        if let pbes2 = self.pbes2 {
            let made = try? KDF.Insecure.PBKDF2.deriveKey(
                from: password.bytes, salt: self.salt, using: pbes2.hash, outputByteCount: length,
                unsafeUncheckedRounds: self.rounds)
            (key, start) = (made?.withUnsafeBytes { Array($0) } ?? [], pbes2.start)
        } else {
            key = self.derive(.encryption, length, password)
            start = self.derive(.start, 8, password)
        }
        guard key.count == length else { return nil }
        return Self.decrypt(bytes, self.cipher.kind, key, start)
    }

    private func derive(_ purpose: PKCS12Password.Purpose, _ count: Int, _ password: PKCS12Password) -> [UInt8] {
        password.derive(
            purpose, count: count, salt: self.salt, rounds: self.rounds, block: Insecure.SHA1.blockByteCount
        ) { Array(Insecure.SHA1.hash(data: $0)) }
    }

    private static func decrypt(_ bytes: [UInt8], _ kind: Kind, _ key: [UInt8], _ start: [UInt8]) -> [UInt8]? {
        switch kind {
        case .aes:
            guard let start = try? AES._CBC.IV(ivBytes: start) else { return nil }
            return (try? AES._CBC.decrypt(bytes, using: SymmetricKey(data: key), iv: start)).map { Array($0) }
        // Two keys: the first is also the third.
        case .tripleDES: return TripleDES(key: Array((key + key + key).prefix(24))).decrypt(bytes, from: start)
        case .rc2: return RC2(key: key).decrypt(bytes, from: start)
        case .rc4: return RC4.crypt(bytes, key: key)
        }
    }

    /// Decrypts a key in PEM form.
    ///
    /// - Returns: nil with another password, as far as that shows.
    /// - Throws: `InvalidField` naming `private_key`, or `BER.Fault`.
    static func decrypt(_ key: PEMBlock, _ password: PKCS12Password) throws -> [UInt8]? {
        if let manner = key.manner { return try Self.decrypt(key.der, manner: manner, password) }
        // EncryptedPrivateKeyInfo (RFC 5958, section 3).
        var outer = BER(key.der[...])
        var members = try outer.next(0x30).inside()
        let encryption = try PasswordEncryption(try members.next(0x30), of: "private_key")
        try Self.check(encryption.rounds, "private_key")
        return encryption.decrypt(try members.next(0x04).octets(), password)
    }

    /// Decrypts a key as OpenSSL wrote it before PKCS #8 (RFC 1421, section 4.6; `EVP_BytesToKey`).
    ///
    /// - Parameter manner: the value of `DEK-Info`: a cipher and its start.
    /// - Returns: nil with another password, as far as that shows.
    /// - Throws: `InvalidField` naming `private_key`.
    private static func decrypt(_ bytes: [UInt8], manner: String, _ password: PKCS12Password) throws -> [UInt8]? {
        let parts = manner.split(separator: ",").map { String($0.filter { $0 != " " }) }
        guard let name = parts.first, let cipher = Self.old[name] else {
            throw Self.unknown(parts.first ?? "nobody", "private_key")
        }
        let start = parts.count == 2 ? Hexadecimal.bytes(parts[1].utf8) ?? [] : []
        var key: [UInt8] = []
        var last: [UInt8] = []
        while key.count < cipher.keyBytes {
            last = Array(Insecure.MD5.hash(data: last + password.bytes + start.prefix(8)))
            key += last
        }
        return Self.decrypt(bytes, cipher.kind, Array(key.prefix(cipher.keyBytes)), start)
    }

    private static let old: [String: Cipher] = [
        "AES-128-CBC": (.aes, 16), "AES-192-CBC": (.aes, 24), "AES-256-CBC": (.aes, 32),
        "DES-EDE3-CBC": (.tripleDES, 24),
        "DES-CBC": (.tripleDES, 8),
    ]
    private static let own: [String: Cipher] = [
        "1.2.840.113549.1.12.1.1": (.rc4, 16), "1.2.840.113549.1.12.1.2": (.rc4, 5),
        "1.2.840.113549.1.12.1.3": (.tripleDES, 24), "1.2.840.113549.1.12.1.4": (.tripleDES, 16),
        "1.2.840.113549.1.12.1.5": (.rc2, 16), "1.2.840.113549.1.12.1.6": (.rc2, 5),
    ]
    private static let ciphers: [String: Cipher] = [
        "1.2.840.113549.3.7": (.tripleDES, 24), "2.16.840.1.101.3.4.1.2": (.aes, 16),
        "2.16.840.1.101.3.4.1.22": (.aes, 24),
        "2.16.840.1.101.3.4.1.42": (.aes, 32),
    ]
    private static let hashes: [String: KDF.Insecure.PBKDF2.HashFunction] = [
        "1.2.840.113549.2.7": .insecureSHA1, "1.2.840.113549.2.8": .insecureSHA224, "1.2.840.113549.2.9": .sha256,
        "1.2.840.113549.2.10": .sha384, "1.2.840.113549.2.11": .sha512,
    ]
}

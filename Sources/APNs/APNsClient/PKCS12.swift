import APNsModel
import Crypto
import NIOSSL
import TidingsModel

/// Reads PKCS#12 files (RFC 7292) of any content without harm.
///
/// The library's own reader ends the process over a file without a key, or whose key belongs to none of its
/// certificates, and works for hours when the file says so. So the file is taken apart here: the key is read by itself,
/// and the certificates, which may be encrypted, come out of a file that is made of them and of a pair of our own, so
/// that the reader finds what it looks for.
struct PKCS12 {
    let privateKey: NIOSSLPrivateKey
    /// As the file has them; the key's own can be anywhere among them.
    let certificates: [NIOSSLCertificate]

    /// How often a file may have the password hashed in all. OpenSSL writes three times 2,048; Windows takes no more
    /// than 600,000 at a time.
    static let roundsMax = 4_000_000
    private static let bytesMax = 1_048_576

    /// - Throws: `InvalidField` naming `certificate` or `password`.
    init(_ bytes: [UInt8], password: String) throws(InvalidField) {
        let file: Parts
        do throws(BER.Fault) {
            guard bytes.count <= Self.bytesMax else { throw BER.Fault() }
            file = try Parts(bytes)
        } catch {
            throw Self.noPair
        }
        guard let key = file.keys.first, file.keys.count == 1 else { throw Self.noPair }
        try InvalidField.check(
            file.rounds <= Self.roundsMax, "certificate",
            "must hash its password at most \(Self.roundsMax) times; export it again")
        guard let isAuthentic = file.isAuthentic(password) else { throw Self.strange }
        try InvalidField.check(isAuthentic, "password", "must be the one the .p12 file was exported with")
        do {
            let secret = Array(password.utf8)
            self.privateKey = try NIOSSLPrivateKey(bytes: key.pem, format: .pem) { $0(secret) }
            let spare = try NIOSSLPKCS12Bundle(buffer: file.withSparePair(password), passphrase: secret)
            self.certificates = Array(spare.certificateChain.dropFirst())
        } catch {
            throw Self.strange
        }
        guard !self.certificates.isEmpty else { throw Self.noPair }
    }

    private static let noPair = InvalidField(
        field: "certificate", rule: "must be a .p12 file with a certificate and its private key; export both together")

    private static var strange: InvalidField {
        let convert =
            "openssl pkcs12 -legacy -in old.p12 -nodes -out both.pem; openssl pkcs12 -export -in both.pem -out new.p12"
        return InvalidField(
            field: "certificate",
            rule: "must be a .p12 file encrypted with AES, triple DES or RC2-40; convert another one with: \(convert)")
    }
}

extension PKCS12 {
    struct Parts {
        struct Key {
            /// PrivateKeyInfo, or EncryptedPrivateKeyInfo (RFC 5958).
            var der: [UInt8]
            var isEncrypted: Bool

            var pem: [UInt8] {
                let name = self.isEncrypted ? "ENCRYPTED PRIVATE KEY" : "PRIVATE KEY"
                var text = "-----BEGIN \(name)-----\n"
                var line = 0
                for digit in Base64.encode(self.der, .standard) {
                    text.append(digit)
                    line += 1
                    if line % 64 == 0 { text += "\n" }
                }
                return Array((text + "\n-----END \(name)-----\n").utf8)
            }
        }

        private(set) var keys: [Key] = []
        private(set) var rounds = 0
        /// The content that has no key any more: encrypted parts, and bags of certificates.
        private var others: [UInt8] = []
        private let authSafe: [UInt8]
        private let mac: MAC?

        private static let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
        private static let encryptedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x06]
        /// keyBag, pkcs8ShroudedKeyBag and certBag differ in the last number (RFC 7292, section 4.2).
        private static let bag: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01]

        init(_ bytes: [UInt8]) throws(BER.Fault) {
            var outer = BER(bytes[...])
            var file = try outer.next(0x30).inside()
            _ = try file.next(0x02)
            let content = try Self.content(of: try file.next(0x30))
            guard content.type == Self.data else { throw BER.Fault() }
            self.authSafe = try content.value.octets()
            self.mac = file.isAtEnd ? nil : try MAC(try file.next(0x30))
            self.rounds = self.mac?.rounds ?? 0
            var list = BER(self.authSafe[...])
            var infos = try list.next(0x30).inside()
            while !infos.isAtEnd {
                let info = try infos.next(0x30)
                let (type, value) = try Self.content(of: info)
                switch type {
                case Self.data: try self.readBags(try value.octets())
                case Self.encryptedData:
                    self.others += info.whole
                    try self.count(value)
                default: break
                }
            }
        }

        /// ContentInfo (RFC 7292, section 3; RFC 5652, section 3).
        private static func content(of info: BER.Element) throws(BER.Fault) -> (type: [UInt8], value: BER.Element) {
            var members = try info.inside()
            let type = Array(try members.next(0x06).content)
            var explicit = try members.next(0xa0).inside()
            return (type, try explicit.next())
        }

        private mutating func readBags(_ bytes: [UInt8]) throws(BER.Fault) {
            var list = BER(bytes[...])
            var bags = try list.next(0x30).inside()
            var kept: [UInt8] = []
            while !bags.isAtEnd {
                let bag = try bags.next(0x30)
                var members = try bag.inside()
                let type = try members.next(0x06).content
                guard type.count == Self.bag.count + 1, type.starts(with: Self.bag) else { continue }
                var explicit = try members.next(0xa0).inside()
                let value = try explicit.next()
                switch type.last {
                case 1: self.keys.append(Key(der: Array(value.whole), isEncrypted: false))
                case 2:
                    self.keys.append(Key(der: Array(value.whole), isEncrypted: true))
                    try self.count(value)
                case 3: kept += bag.whole
                default: break
                }
            }
            self.others += Self.info(BER.write(0x30, kept))
        }

        /// Adds the numbers of an encryption's parameters: the rounds, and the length of the key, which is small.
        private mutating func count(_ element: BER.Element) throws(BER.Fault) {
            if element.tag == 0x02 {
                let (sum, overflows) = self.rounds.addingReportingOverflow(element.number)
                self.rounds = overflows ? .max : sum
            }
            guard element.isConstructed else { return }
            var members = try element.inside()
            while !members.isAtEnd { try self.count(try members.next()) }
        }

        private static func info(_ content: [UInt8]) -> [UInt8] {
            BER.write(0x30, BER.write(0x06, self.data) + BER.write(0xa0, BER.write(0x04, content)))
        }

        /// Whether the password is the file's; nil if the file has no MAC, or one of an unknown kind.
        func isAuthentic(_ password: String) -> Bool? {
            guard let mac = self.mac, let code = mac.code(of: self.authSafe, password) else { return nil }
            return code == mac.digest
        }

        func withSparePair(_ password: String) -> [UInt8] {
            let key = P256.Signing.PrivateKey()
            let bags = [
                (UInt8(1), Array(key.derRepresentation)),
                (UInt8(3), Self.certificateBag(Self.certificate(key.publicKey))),
            ].flatMap { BER.write(0x30, BER.write(0x06, Self.bag + [$0.0]) + BER.write(0xa0, $0.1)) }
            let authSafe = BER.write(0x30, Self.info(BER.write(0x30, bags)) + self.others)
            let mac = MAC(hash: MAC.sha256, digest: [], salt: [1, 2, 3, 4, 5, 6, 7, 8], rounds: 1)
            return BER.write(
                0x30, [0x02, 1, 3] + Self.info(authSafe) + mac.written(mac.code(of: authSafe, password) ?? []))
        }

        private static func certificateBag(_ der: [UInt8]) -> [UInt8] {
            let x509: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]
            return BER.write(0x30, BER.write(0x06, x509) + BER.write(0xa0, BER.write(0x04, der)))
        }

        /// A certificate (RFC 5280, section 4.1) for nobody from nobody, whose signature is none: nobody asks for it.
        private static func certificate(_ key: P256.Signing.PublicKey) -> [UInt8] {
            let ecdsa = BER.write(0x30, BER.write(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
            let day = BER.write(0x17, Array("700101000000Z".utf8))
            let name = BER.write(0x30, [])
            let body = BER.write(
                0x30, [0x02, 1, 1] + ecdsa + name + BER.write(0x30, day + day) + name + Array(key.derRepresentation))
            return BER.write(0x30, body + ecdsa + BER.write(0x03, [0, 0]))
        }
    }
}

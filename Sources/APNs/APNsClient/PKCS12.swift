import APNsModel
import TidingsModel

/// Reads PKCS#12 files (RFC 7292) of any content without harm: the TLS library's own reader ends the process over a file without
/// a key, or whose key belongs to none of its certificates.
struct PKCS12 {
    /// In PKCS #8 form.
    private(set) var keys: [[UInt8]] = []
    /// In DER form; the keys' own can be anywhere among them.
    private(set) var certificates: [[UInt8]] = []
    private var rounds = 0

    private static let bytesMax = 1_048_576
    private static let data = "1.2.840.113549.1.7.1"
    private static let encryptedData = "1.2.840.113549.1.7.6"
    private static let keyBag = "1.2.840.113549.1.12.10.1.1"
    private static let shroudedKeyBag = "1.2.840.113549.1.12.10.1.2"
    private static let certificateBag = "1.2.840.113549.1.12.10.1.3"
    /// The bytes with which the object identifiers of bags begin.
    private static let bag: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01]
    private static let x509 = "1.2.840.113549.1.9.22.1"

    /// - Throws: `InvalidField` naming `certificate` or `password`.
    init(_ bytes: [UInt8], password: String) throws(InvalidField) {
        do {
            try self.read(bytes, password)
        } catch let fault as InvalidField {
            throw fault
        } catch {
            throw Self.refusal("must be a .p12 file with a certificate and its private key; this one is damaged")
        }
        let missing = self.keys.isEmpty ? "private key" : "certificate"
        guard !self.keys.isEmpty, !self.certificates.isEmpty else {
            throw Self.refusal(
                "must be a .p12 file with a certificate and its private key; this one has no \(missing): export both together"
            )
        }
    }

    private static func refusal(_ rule: String) -> InvalidField { InvalidField(field: "certificate", rule: rule) }

    private mutating func read(_ bytes: [UInt8], _ text: String) throws {
        guard bytes.count <= Self.bytesMax else { throw BER.Fault() }
        var outer = BER(bytes[...])
        var file = try outer.next(0x30).inside()
        _ = try file.next(0x02)
        let content = try Self.content(of: try file.next(0x30))
        guard content.type == Self.data, !file.isAtEnd else {
            throw Self.refusal("must be a .p12 file protected by a password; export it again with one")
        }
        let authSafe = try content.value.octets()
        let mac = try MAC(try file.next(0x30))
        let readings = PKCS12Password.readings(text)
        for _ in readings { try self.spend(mac.rounds) }
        let password = readings.first { mac.code(of: authSafe, $0) == mac.digest }
        guard mac.code(of: [], readings[0]) != nil else {
            throw Self.refusal("must be checked by SHA-1 or SHA-2 of 256 to 512 bits; export it again without -macalg")
        }
        guard let password else {
            let isKeyShown = authSafe.firstRange(of: Self.bag) != nil
            throw InvalidField(
                field: "password",
                rule: "must be the one the .p12 file was exported with"
                    + (isKeyShown ? "" : "; without it no private key is seen in the file"))
        }
        var list = BER(authSafe[...])
        var infos = try list.next(0x30).inside()
        while !infos.isAtEnd {
            let (type, value) = try Self.content(of: try infos.next(0x30))
            switch type {
            case Self.data: try self.readBags(try value.octets(), password)
            case Self.encryptedData:
                // RFC 5652, section 8.
                var members = try value.inside()
                _ = try members.next(0x02)
                var info = try members.next(0x30).inside()
                _ = try info.next(0x06)
                try self.readBags(try self.decrypted(&info, password), password)
            default: break
            }
        }
    }

    /// ContentInfo (RFC 7292, section 3; RFC 5652, section 3).
    private static func content(of info: BER.Element) throws(BER.Fault) -> (type: String, value: BER.Element) {
        var members = try info.inside()
        let type = try members.next(0x06).dotted
        var explicit = try members.next(0xa0).inside()
        return (type, try explicit.next())
    }

    private mutating func readBags(_ bytes: [UInt8], _ password: PKCS12Password) throws {
        var list = BER(bytes[...])
        var bags = try list.next(0x30).inside()
        while !bags.isAtEnd {
            var members = try bags.next(0x30).inside()
            let type = try members.next(0x06).dotted
            var explicit = try members.next(0xa0).inside()
            let value = try explicit.next()
            switch type {
            case Self.keyBag: self.keys.append(Array(value.whole))
            case Self.shroudedKeyBag:
                var info = try value.inside()
                self.keys.append(try self.decrypted(&info, password))
            case Self.certificateBag:
                var bag = try value.inside()
                guard try bag.next(0x06).dotted == Self.x509 else { continue }
                var explicit = try bag.next(0xa0).inside()
                self.certificates.append(try explicit.next().octets())
            default: break
            }
        }
    }

    /// An encryption, and what it is of.
    private mutating func decrypted(_ members: inout BER, _ password: PKCS12Password) throws -> [UInt8] {
        let encryption = try PasswordEncryption(try members.next(0x30), of: "certificate")
        try self.spend(encryption.rounds)
        guard let bytes = encryption.decrypt(try members.next().octets(), password) else {
            throw Self.refusal(
                "must have one password for all of it; a part is encrypted with another, or is damaged")
        }
        return bytes
    }

    private mutating func spend(_ rounds: Int) throws(InvalidField) {
        self.rounds += min(rounds, PasswordEncryption.roundsMax + 1)
        try PasswordEncryption.check(self.rounds, "certificate")
    }
}

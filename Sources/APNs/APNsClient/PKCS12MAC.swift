import APNsModel
import Crypto

extension PKCS12 {
    /// The code that says whether a password is the file's and the file is whole (RFC 7292, section 4 and appendix B).
    struct MAC {
        var hash: [UInt8]
        var digest: [UInt8]
        var salt: [UInt8]
        var rounds: Int

        static let sha1: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
        static let sha256: [UInt8] = Self.sha2 + [0x01]
        private static let sha2: [UInt8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02]
    }
}

extension PKCS12.MAC {
    init(_ element: BER.Element) throws(BER.Fault) {
        var members = try element.inside()
        var info = try members.next(0x30).inside()
        var algorithm = try info.next(0x30).inside()
        self.hash = Array(try algorithm.next(0x06).content)
        self.digest = try info.next().octets()
        self.salt = try members.next().octets()
        self.rounds = members.isAtEnd ? 1 : try members.next(0x02).number
        guard self.rounds > 0 else { throw BER.Fault() }
    }

    func written(_ code: [UInt8]) -> [UInt8] {
        let algorithm = BER.write(0x30, BER.write(0x06, self.hash) + [0x05, 0])
        return BER.write(
            0x30,
            BER.write(0x30, algorithm + BER.write(0x04, code)) + BER.write(0x04, self.salt)
                + BER.write(0x02, [UInt8(clamping: self.rounds)]))
    }

    /// Nil for a hash nobody uses here.
    func code(of content: [UInt8], _ password: PKCS12Password) -> [UInt8]? {
        switch self.hash {
        case Self.sha1: self.code(Insecure.SHA1.self, content, password)
        case Self.sha256: self.code(SHA256.self, content, password)
        case Self.sha2 + [0x02]: self.code(SHA384.self, content, password)
        case Self.sha2 + [0x03]: self.code(SHA512.self, content, password)
        default: nil
        }
    }

    private func code<Hash: HashFunction>(_: Hash.Type, _ content: [UInt8], _ password: PKCS12Password) -> [UInt8] {
        let key = password.derive(
            .mac, count: Hash.Digest.byteCount, salt: self.salt, rounds: self.rounds, block: Hash.blockByteCount
        ) { Array(Hash.hash(data: $0)) }
        return Array(HMAC<Hash>.authenticationCode(for: content, using: SymmetricKey(data: key)))
    }
}

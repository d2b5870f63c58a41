import APNsModel
import Crypto
import NIOSSL
import Requirements

@testable import APNsClient

/// Makes PKCS#12 files whose MAC is good, whatever else is wrong with them; the password is `sesame`.
enum PKCS12Bench {
    private static let data: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]
    private static let bag: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01]
    private static let x509: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]
    private static let mac = PKCS12.MAC(hash: PKCS12.MAC.sha256, digest: [], salt: [1, 2, 3], rounds: 1)

    /// A certificate and a key that are not encrypted.
    static func plain(isPair: Bool = true, mac: PKCS12.MAC = Self.mac) throws -> [UInt8] {
        let (certificate, own) = try Papers().client()
        let key = isPair ? try P256.Signing.PrivateKey(pemRepresentation: own) : P256.Signing.PrivateKey()
        let der = try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem).toDERBytes()
        let bags =
            BER.write(0x30, BER.write(0x06, self.bag + [1]) + BER.write(0xa0, Array(key.derRepresentation)))
            + BER.write(
                0x30,
                BER.write(0x06, self.bag + [3])
                    + BER.write(
                        0xa0,
                        BER.write(
                            0x30, BER.write(0x06, self.x509) + BER.write(0xa0, BER.write(0x04, der)))))
        return self.file(BER.write(0x30, self.info(BER.write(0x30, bags))), mac)
    }

    /// The file around a content.
    private static func file(_ content: [UInt8], _ mac: PKCS12.MAC) -> [UInt8] {
        BER.write(
            0x30,
            [0x02, 1, 3] + self.info(content) + mac.written(mac.code(of: content, PKCS12Password("sesame")) ?? []))
    }

    static func info(_ content: [UInt8]) -> [UInt8] {
        BER.write(0x30, BER.write(0x06, self.data) + BER.write(0xa0, BER.write(0x04, content)))
    }

    /// The file with changes: mostly in what the MAC is of, so that it is made again; else in the file as it is.
    static func changed(_ file: [UInt8], _ chance: inout Chance) -> [UInt8] {
        let times = [0, 1, 1, 1, 2, 4][chance.below(6)]
        guard chance.below(4) > 0, var content = self.content(of: file) else {
            var bytes = file
            for _ in 0..<times { chance.mutate(&bytes) }
            return bytes
        }
        for _ in 0..<times {
            if chance.below(3) == 0 { self.mutateValue(&content, &chance) } else { chance.mutate(&content) }
        }
        return self.file(content, self.mac)
    }

    /// The file with other bytes in place of some, and a good MAC.
    static func replaced(_ file: [UInt8], _ old: [UInt8], _ new: [UInt8]) -> [UInt8] {
        self.file((self.content(of: file) ?? []).replacing(old, with: new), self.mac)
    }

    /// Changes one byte to another kind of bag, content or element, which random bytes seldom find.
    private static func mutateValue(_ bytes: inout [UInt8], _ chance: inout Chance) {
        let places = bytes.indices.filter { [0x01, 0x02, 0x03, 0x04, 0x06, 0x30, 0xa0].contains(bytes[$0]) }
        if !places.isEmpty { bytes[chance.pick(places)] = chance.pick([1, 2, 3, 4, 6, 0x24, 0x30, 0x31, 0x80, 0xa0]) }
    }

    private static func content(of file: [UInt8]) -> [UInt8]? {
        var outer = BER(file[...])
        guard var members = try? outer.next(0x30).inside(), (try? members.next(0x02)) != nil,
            var info = try? members.next(0x30).inside(), (try? info.next(0x06)) != nil,
            var explicit = try? info.next(0xa0).inside()
        else { return nil }
        return try? explicit.next().octets()
    }

    /// The file without what shows that a password is right.
    static func withoutMAC(_ file: [UInt8]) -> [UInt8] {
        BER.write(0x30, [2, 1, 3] + self.info(self.content(of: file) ?? []))
    }

    /// The file with other rounds of its MAC.
    static func lengthened(_ file: [UInt8], rounds: [UInt8]) -> [UInt8] {
        var outer = BER(file[...])
        guard var members = try? outer.next(0x30).inside(), let version = try? members.next(),
            let info = try? members.next(), var mac = try? members.next(0x30).inside(), let digest = try? mac.next(),
            let salt = try? mac.next()
        else { return [] }
        return BER.write(
            0x30,
            Array(version.whole) + Array(info.whole)
                + BER.write(0x30, Array(digest.whole) + Array(salt.whole) + BER.write(0x02, rounds)))
    }
}

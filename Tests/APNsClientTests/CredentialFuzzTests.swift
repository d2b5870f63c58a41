import APNsModel
import APNsSimulator
import Crypto
import Foundation
import NIOSSL
import Requirements
import Testing
import TidingsModel

@testable import APNsClient

@Suite(.timeLimit(.minutes(60))) struct `A credential of any bytes` {
    /// What passwords are made of.
    private static let letters = [
        "sesame", "open", "", "é", "密码", "🔑", "\u{fffd}", "\u{0}", "\u{feff}", " ", "e\u{301}",
    ]

    private static func password(_ chance: inout Chance) -> String {
        (0..<chance.below(3)).reduce(chance.pick(Self.letters)) { text, _ in text + chance.pick(Self.letters) }
    }

    /// Changes a text's letters, or the bytes that it stands for.
    private static func changed(_ pem: String, _ name: String, _ der: [UInt8], _ chance: inout Chance) -> String {
        let times = [0, 1, 1, 1, 2, 5][chance.below(6)]
        var bytes = der
        guard chance.below(2) == 0 else {
            for _ in 0..<times { chance.mutate(&bytes) }
            return PEM.text(name, bytes)
        }
        bytes = Array(pem.utf8)
        for _ in 0..<times { chance.mutate(&bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func check(_ error: InvalidField, _ fields: [String], _ secret: String, _ number: Int) {
        if !fields.contains(error.field) || error.rule.isEmpty { Issue.record("\(number): \(error)") }
        if "\(error)".contains(secret) { Issue.record("\(number): an error tells a secret") }
    }

    @Test func `is a p8 key that signs, or an error that names it`() throws {
        let key = P256.Signing.PrivateKey()
        let secret = String(key.pemRepresentation.split(separator: "\n")[1].prefix(20))
        let ids = [
            "ABC123DEFG", "", " ", "\u{e9}", String(repeating: "x", count: 64), String(repeating: "x", count: 65),
        ]
        var (good, bad) = (0, 0)
        Fuzz.run("p8 keys", short: 1_500, long: 60_000) { number in
            var chance = Chance(seed: UInt64(number))
            let text = Self.changed(
                key.pemRepresentation, "PRIVATE KEY", Array(key.derRepresentation), &chance)
            do throws(InvalidField) {
                let credential = try APNsClient.TokenCredential(
                    privateKeyPEM: text, keyID: chance.below(4) > 0 ? ids[0] : chance.pick(ids), teamID: "DEF123GHIJ")
                good += 1
                guard number % 16 == 0 else { return }
                let authorization = (try? credential.authorization(issuedAt: Int64(number))) ?? ""
                let parts = authorization.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                if !authorization.hasPrefix("bearer ") || parts.count != 3 {
                    Issue.record("\(number): \(authorization)")
                }
            } catch {
                bad += 1
                Self.check(error, ["private_key", "key_id"], secret, number)
            }
        }
        #expect(good > Fuzz.enough(long: 6_000, short: 150))
        #expect(bad > Fuzz.enough(long: 6_000, short: 150))
    }

    @Test func `is a pair in PEM form, or an error that names what is wrong`() throws {
        let (certificate, key) = try Papers().client()
        let secret = String(key.split(separator: "\n")[1].prefix(20))
        let certificateDER = try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem).toDERBytes()
        let keyDER = Array(try P256.Signing.PrivateKey(pemRepresentation: key).derRepresentation)
        let parts = PKCS12Files.bytes(PKCS12Files.rc2At40)
        var (good, bad) = (0, 0)
        Fuzz.run("certificates and keys in PEM", short: 400, long: 30_000) { number in
            var chance = Chance(seed: UInt64(number))
            var (first, second) = (certificate, key)
            var password = chance.below(2) == 0 ? nil : Self.password(&chance)
            switch chance.below(10) {
            case 8...9:
                let word = Self.password(&chance)
                let file = ProtectedFile(
                    password: PKCS12Password(word), encryption: chance.pick(ProtectedFile.Encryption.allCases))
                second = (try? file.pem(key: keyDER)) ?? ""
                if chance.below(2) == 0 { password = word }
                var bytes = Array(second.utf8)
                for _ in 0..<chance.below(3) { chance.mutate(&bytes) }
                second = String(decoding: bytes, as: UTF8.self)
            case 0...3: first = Self.changed(certificate, "CERTIFICATE", certificateDER, &chance)
            case 4...6: second = Self.changed(key, "PRIVATE KEY", keyDER, &chance)
            default:
                // Any bytes where an encrypted key is said to be.
                let part = parts.dropFirst(chance.below(parts.count)).prefix(chance.below(300))
                second = PEM.text("ENCRYPTED PRIVATE KEY", Array(part))
            }
            do throws(InvalidField) {
                _ = try APNsClient.CertificateCredential(
                    certificatePEM: first, privateKeyPEM: second, password: password)
                good += 1
            } catch {
                bad += 1
                Self.check(error, ["certificate", "private_key", "password"], secret, number)
            }
        }
        #expect(good > Fuzz.enough(long: 3_000, short: 40))
        #expect(bad > Fuzz.enough(long: 3_000, short: 40))
    }

    /// Every file has a good MAC, so that what has been changed is looked at.
    @Test func `is a p12 file with its pair, or an error that names what is wrong`() throws {
        let files =
            [PKCS12Files.rc2At40, PKCS12Files.rc2At128, PKCS12Files.withoutKey].map { PKCS12Files.bytes($0) }
            + [try PKCS12Bench.plain()]
        let (certificate, key) = try Papers().client()
        let certificateDER = try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem).toDERBytes()
        let keyDER = Array(try P256.Signing.PrivateKey(pemRepresentation: key).derRepresentation)
        var (good, bad) = (0, 0)
        Fuzz.run("p12 files", short: 300, long: 30_000) { number in
            var chance = Chance(seed: UInt64(number))
            var file: [UInt8]
            var password = "sesame"
            if chance.below(3) > 0 {
                file = PKCS12Bench.changed(chance.pick(files), &chance)
            } else {
                let reading = chance.pick(PKCS12Password.readings(Self.password(&chance)))
                let protected = ProtectedFile(
                    password: reading, encryption: chance.pick(ProtectedFile.Encryption.allCases))
                file = (try? protected.pkcs12(keys: [keyDER], certificates: [certificateDER])) ?? []
                for _ in 0..<chance.below(2) { chance.mutate(&file) }
                password =
                    chance.below(2) == 0 ? Self.password(&chance) : String(decoding: reading.bytes, as: UTF8.self)
            }
            do throws(InvalidField) {
                let credential = try APNsClient.CertificateCredential(pkcs12: file, password: password)
                good += 1
                if credential.chain.isEmpty { Issue.record("\(number): no certificate") }
            } catch {
                bad += 1
                Self.check(error, ["certificate", "password", "private_key"], "sesame", number)
            }
        }
        #expect(good > Fuzz.enough(long: 2_000, short: 20))
        #expect(bad > Fuzz.enough(long: 2_000, short: 20))
    }

    /// Before this was looked for, the library ended the process.
    @Test func `that is a p12 file with the key of another certificate says so`() throws {
        let error = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: try PKCS12Bench.plain(isPair: false), password: "sesame")
        }
        #expect(error?.field == "private_key")
        #expect(
            try APNsClient.CertificateCredential(pkcs12: try PKCS12Bench.plain(), password: "sesame").chain.count == 1)
    }

    @Test func `that is a p12 file which would be worked on for hours says so`() throws {
        let mac = PKCS12.MAC(hash: PKCS12.MAC.sha256, digest: [], salt: [1], rounds: 2)
        var file = try PKCS12Bench.plain(mac: mac)
        // The rounds are the last member: four bytes instead of one.
        #expect(file.suffix(3) == [2, 1, 2])
        file = PKCS12Bench.lengthened(file, rounds: [0x7f, 0xff, 0xff, 0xff])
        let error = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: file, password: "sesame")
        }
        #expect(error?.field == "certificate")
        #expect(error?.rule.contains("4000000 times") == true)
    }
}

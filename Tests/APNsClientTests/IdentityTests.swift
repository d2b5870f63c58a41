import APNsModel
import Foundation
import NIOSSL
import Testing
import TidingsModel

@testable import APNsClient
@testable import APNsSimulator

/// As Keychain Access exports what is marked together, and as people put texts together.
@Suite(.timeLimit(.minutes(5))) struct `A file with several keys and certificates` {
    private typealias Made = (pair: LocalAuthority.Pair, der: [UInt8], keyDER: [UInt8])
    private let authority: LocalAuthority

    init() throws { self.authority = try LocalAuthority(now: Date()) }

    private func made(_ bundleID: String, isForPushes: Bool = true, days: Double = 1) throws -> Made {
        try self.authority.client(
            .init(
                bundleID: bundleID, environments: isForPushes ? [.production] : [],
                validFrom: Date(timeIntervalSinceNow: -60), validTo: Date(timeIntervalSinceNow: days * 86_400)))
    }

    /// In PKCS #12 and in PEM form.
    private func files(_ keys: [[UInt8]], _ certificates: [[UInt8]]) throws -> [[UInt8]] {
        let file = ProtectedFile(password: PKCS12Password("é"), encryption: .tripleDES)
        let texts = try keys.map { try file.pem(key: $0) } + certificates.map { PEM.text("CERTIFICATE", $0) }
        return [
            try file.pkcs12(keys: keys, certificates: certificates), Array(texts.joined().utf8),
            try file.pkcs12(keys: keys.reversed(), certificates: certificates, isKeyHidden: true),
        ]
    }

    private func read(_ bytes: [UInt8]) throws(InvalidField) -> ProviderCertificate? {
        let file = try CredentialFile(bytes, password: "é")
        guard case .certificate(let certificate) = file.facts.content else { return nil }
        return certificate
    }

    @Test func `is the one for pushes, if that is one alone`() throws {
        let (push, web) = (try self.made("com.example.chat"), try self.made("web", isForPushes: false))
        let issuer = try NIOSSLCertificate(bytes: Array(try self.authority.pair.certificate.utf8), format: .pem)
        let certificates = [web.der, push.der, try issuer.toDERBytes()]
        for bytes in try self.files([web.keyDER, push.keyDER], certificates) {
            #expect(try self.read(bytes)?.userID == "com.example.chat")
            guard case .certificate(let credential) = try CredentialFile(bytes, password: "é").credential() else {
                Issue.record("no certificate")
                return
            }
            // The other one's certificate is no issuer.
            #expect(try credential.chain.map { try $0.toDERBytes() } == [push.der, try issuer.toDERBytes()])
        }
    }

    @Test func `is one for pushes that is in it twice`() throws {
        let push = try self.made("com.example.chat")
        for bytes in try self.files([push.keyDER, push.keyDER], [push.der, push.der]) {
            #expect(try self.read(bytes)?.userID == "com.example.chat")
        }
    }

    @Test func `names all that are for pushes`() throws {
        let (chat, shop) = (try self.made("com.example.chat"), try self.made("com.example.shop"))
        for bytes in try self.files([chat.keyDER, shop.keyDER], [shop.der, chat.der]) {
            let fault = #expect(throws: InvalidField.self) { try self.read(bytes) }
            let rule = try #require(fault?.rule)
            #expect(fault?.field == "certificate")
            #expect(rule.hasPrefix("must be one with its key; the file has 2 keys with certificates: \"Apple Push"))
            #expect(
                rule.contains("Services: com.example.chat\" until 2") && rule.contains("com.example.shop\" until 2"))
            #expect(rule.hasSuffix("; export one"))
        }
    }

    @Test func `names all if none is for pushes`() throws {
        let (one, two) = (try self.made("one", isForPushes: false), try self.made("two", isForPushes: false))
        for bytes in try self.files([one.keyDER, two.keyDER], [one.der, two.der]) {
            let fault = #expect(throws: InvalidField.self) { try self.read(bytes) }
            #expect(fault?.rule.contains("the file has 2 keys with certificates: ") == true)
        }
    }

    @Test func `is the one whose key is there, whatever other certificates are`() throws {
        let (chat, shop) = (try self.made("com.example.chat"), try self.made("com.example.shop"))
        for bytes in try self.files([chat.keyDER], [shop.der, chat.der]) {
            #expect(try self.read(bytes)?.userID == "com.example.chat")
        }
        for bytes in try self.files([try self.made("com.example.other").keyDER], [shop.der, chat.der]) {
            let fault = #expect(throws: InvalidField.self) { try self.read(bytes) }
            #expect(fault == InvalidField(field: "private_key", rule: "must belong to the certificate"))
        }
    }

    @Test func `has bounds`() throws {
        let push = try self.made("com.example.chat")
        let keys = try (0..<17).map { try self.made("com.example.a\($0)").keyDER }
        let file = ProtectedFile(password: PKCS12Password("é"), encryption: .tripleDES)
        for (keys, certificates, field) in [
            (keys, [push.der], "private_key"), ([push.keyDER], Array(repeating: push.der, count: 101), "certificate"),
        ] {
            let bytes = try file.pkcs12(keys: keys, certificates: certificates)
            let fault = #expect(throws: InvalidField.self) {
                _ = try APNsClient.CertificateCredential(pkcs12: bytes, password: "é")
            }
            #expect(fault?.field == field)
        }
    }

    /// Before this, an encrypted key that fills the last line of its text was refused, one length in 16.
    @Test func `is read whatever its length`() throws {
        let push = try self.made("com.example.chat")
        for count in 1...48 {
            var file = ProtectedFile(password: PKCS12Password("é"), encryption: .aes256WithSHA256)
            file.salt = Array(repeating: 1, count: count)
            let bytes = try file.pkcs12(keys: [push.keyDER], certificates: [push.der])
            #expect(try self.read(bytes)?.userID == "com.example.chat", "\(count)")
            let pair = PEM.text("CERTIFICATE", push.der) + (try file.pem(key: push.keyDER))
            #expect(try self.read(Array(pair.utf8))?.userID == "com.example.chat", "\(count)")
        }
    }

    /// Of texts that went through other programs.
    @Test(arguments: [
        ("\n-----END", "\n\n-----END"), ("-----\n", "-----\n\n"), ("\n", "\r\n"), ("\n", "\r"), ("\n", " \n"),
        ("\n", "\n\n"), ("-----BEGIN", "\u{feff}-----BEGIN"), ("-----BEGIN", "friendlyName: é: b\n-----BEGIN"),
        ("BEGIN CERTIFICATE", "BEGIN X509 CERTIFICATE"), ("BEGIN CERTIFICATE", "BEGIN TRUSTED CERTIFICATE"),
    ])
    func `is read with other lines`(old: String, new: String) throws {
        let push = try self.made("com.example.chat")
        let text = (PEM.text("CERTIFICATE", push.der) + PEM.text("PRIVATE KEY", push.keyDER)).replacing(old, with: new)
        #expect(try self.read(Array(text.utf8))?.userID == "com.example.chat")
    }

    /// The real reason, never that of what was tried last.
    @Test func `says what is wrong with a text`() throws {
        let push = try self.made("com.example.chat")
        let text = PEM.text("CERTIFICATE", push.der) + PEM.text("PRIVATE KEY", push.keyDER)
        func rule(_ text: String) -> String? {
            do throws(InvalidField) {
                _ = try self.read(Array(text.utf8))
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(
            rule(text.replacing("-----END CERTIFICATE-----\n", with: ""))?.hasSuffix(
                "its part CERTIFICATE has no line that ends it") == true)
        #expect(
            rule(text.replacing("\n-----END PRIVATE", with: "*\n-----END PRIVATE"))?.hasSuffix(
                "its part PRIVATE KEY is no Base64") == true)
        let damaged = PEM.text("CERTIFICATE", Array(push.der.dropLast(9))) + PEM.text("PRIVATE KEY", push.keyDER)
        #expect(rule(damaged) == "certificate must be an X.509 certificate; one in the file is damaged")
        let other = PEM.text("CERTIFICATE", push.der) + PEM.text("OPENSSH PRIVATE KEY", [1, 2, 3])
        #expect(rule(other)?.hasPrefix("private_key must be one that TLS can use") == true)
        let wide: [UInt8] = [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let fault = #expect(throws: InvalidField.self) { try self.read(wide) }
        #expect(fault?.description == "file must be in UTF-8, and this is UTF-16; save it in UTF-8")
    }

    /// RFC 7292 leaves open what has no password; Apple writes no bytes for it, others two zeros.
    @Test func `without a password is read in both forms`() throws {
        let push = try self.made("com.example.chat")
        for reading in PKCS12Password.readings("") {
            for encryption in ProtectedFile.Encryption.allCases {
                let file = ProtectedFile(password: reading, encryption: encryption)
                let bytes = try file.pkcs12(keys: [push.keyDER], certificates: [push.der])
                for password in [nil, ""] { _ = try CredentialFile(bytes, password: password) }
            }
        }
        #expect(PKCS12Password.readings("").map(\.wide) == [[0, 0], []])
    }

    @Test func `in PKCS #12 says which part is missing or in the way`() throws {
        let push = try self.made("com.example.chat")
        let file = ProtectedFile(password: PKCS12Password("é"), encryption: .tripleDES)
        func rule(_ bytes: [UInt8]) -> String? {
            (#expect(throws: InvalidField.self) { try self.read(bytes) })?.rule
        }
        #expect(
            rule(try file.pkcs12(keys: [], certificates: [push.der]))?.contains("no private key: export both") == true)
        #expect(
            rule(try file.pkcs12(keys: [push.keyDER], certificates: []))?.contains("no certificate: export both")
                == true)
        let whole = try file.pkcs12(keys: [push.keyDER], certificates: [push.der])
        #expect(rule(PKCS12Bench.withoutMAC(whole))?.contains("protected by a password") == true)
        let sha1: [UInt8] = [0x2b, 0x0e, 0x03, 0x02, 0x1a]
        #expect(
            rule(whole.replacing(sha1, with: [0x2b, 0x0e, 0x03, 0x02, 0x1b]))?.contains("by SHA-1 or SHA-2") == true)
    }
}

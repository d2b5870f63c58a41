import Testing
import TidingsModel

@testable import APNsModel

@Suite struct `A file with a push credential` {
    private static let ecPublicKey: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01]
    private static let prime256: [UInt8] = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]
    private static let secp384: [UInt8] = [0x2b, 0x81, 0x04, 0x00, 0x22]
    private static let rsa: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
    private static let ed25519: [UInt8] = [0x2b, 0x65, 0x70]

    /// In PKCS #8 form, with a secret of three bytes.
    private static func key(_ algorithm: [UInt8], curve: [UInt8]?) -> [UInt8] {
        let parameters = curve.map { BER.write(0x06, $0) } ?? [5, 0]
        return BER.write(0x30, [2, 1, 0] + BER.write(0x30, BER.write(0x06, algorithm) + parameters) + [4, 3, 1, 2, 3])
    }

    private static func pem(_ label: String, _ der: [UInt8] = [0x30, 0], head: String = "") -> String {
        "-----BEGIN \(label)-----\n\(head)\(Base64.encode(der, .standard))\n-----END \(label)-----\n"
    }

    private static let p256 = Self.pem("PRIVATE KEY", Self.key(Self.ecPublicKey, curve: Self.prime256))

    private func form(_ text: String) throws(InvalidField) -> CredentialForm { try CredentialForm(Array(text.utf8)) }

    private func rule(_ bytes: [UInt8]) -> String? {
        do throws(InvalidField) {
            _ = try CredentialForm(bytes)
            return nil
        } catch {
            return error.field == "file" ? error.rule : "names \(error.field)"
        }
    }

    @Test func `is a token key, whatever its ends of lines`() throws {
        #expect(try self.form(Self.p256) == .tokenKey)
        #expect(try self.form(Self.p256.replacing("\n", with: "\r\n")) == .tokenKey)
        #expect(try self.form(String(Self.p256.dropLast())) == .tokenKey)
        let older = BER.write(
            0x30, [2, 1, 1, 4, 3, 1, 2, 3] + BER.write(0xa0, BER.write(0x06, Self.prime256)))
        #expect(try self.form(Self.pem("EC PRIVATE KEY", older)) == .tokenKey)
        // What cannot be told is looked at when the key is read.
        #expect(try self.form(Self.pem("PRIVATE KEY")) == .tokenKey)
    }

    /// As `openssl ecparam -genkey` writes it.
    @Test func `is a token key among other things, which it is told apart from`() throws {
        let parameters = Self.pem("EC PARAMETERS", Self.prime256)
        let text = "\u{feff}" + parameters + "a remark\n" + Self.p256.replacing("\n", with: "\r\n")
        #expect(try self.form(text) == .tokenKey)
        let alone = try #require(CredentialForm.keyPEM(in: Array(text.utf8)))
        #expect(PEMBlock.blocks(in: Array(alone.utf8)) == PEMBlock.blocks(in: Array(Self.p256.utf8)))
        #expect(alone.split(separator: "\n").allSatisfy { $0.count <= 64 })
        #expect(CredentialForm.keyPEM(in: Array(parameters.utf8)) == nil)
    }

    @Test func `is a certificate with its key, in either order, among other things`() throws {
        let certificate = Self.pem("CERTIFICATE")
        for text in [
            certificate + Self.p256, Self.p256 + certificate, "Bag Attributes\n  a: b\n" + certificate + Self.p256,
        ] {
            #expect(try self.form(text) == .pair(isEncrypted: false))
        }
        #expect(try self.form(certificate + Self.pem("ENCRYPTED PRIVATE KEY")) == .pair(isEncrypted: true))
        let older = Self.pem("RSA PRIVATE KEY", head: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n")
        #expect(try self.form(certificate + older) == .pair(isEncrypted: true))
    }

    @Test func `is PKCS#12 by its version`() throws {
        #expect(try CredentialForm(BER.write(0x30, [2, 1, 3] + BER.write(0x30, []))) == .pkcs12)
        #expect(
            self.rule(BER.write(0x30, [2, 1, 0] + BER.write(0x30, [])))?.hasPrefix("must be a .p8 key, a .p12") == true)
    }

    @Test(arguments: [
        (Self.key(Self.ecPublicKey, curve: Self.secp384), "this one is on another"),
        (Self.key(Self.rsa, curve: nil), "this one is RSA"), (Self.key(Self.ed25519, curve: nil), "of another kind"),
    ])
    func `with a key that is not on P-256 says what it is`(der: [UInt8], words: String) throws {
        let rule = try #require(self.rule(Array(Self.pem("PRIVATE KEY", der).utf8)))
        #expect(rule.hasPrefix("must be a key for pushes, which is on the curve P-256; "))
        #expect(rule.contains(words))
    }

    @Test(arguments: [
        ("", "must not be empty"), ("hello", "must be a .p8 key, a .p12 file, or certificate and key in PEM form"),
        (Self.pem("CERTIFICATE"), "must have the private key with the certificate"),
        (Self.pem("PUBLIC KEY"), "must be a .p8 key"), (Self.pem("RSA PRIVATE KEY"), "this one is RSA"),
        (Self.pem("ENCRYPTED PRIVATE KEY"), "this key is encrypted, and has no certificate"),
        (Self.pem("CERTIFICATE REQUEST") + Self.pem("PUBLIC KEY"), "Apple makes the certificate of it"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n", "must be a .p8 key"),
    ])
    func `that is something else says what would be right`(text: String, words: String) throws {
        #expect(try #require(self.rule(Array(text.utf8))).contains(words))
    }

    @Test func `as Apple's page downloads the certificate has no key`() {
        #expect(
            self.rule(CertificateBytes().der)?.hasPrefix("must have the private key with the certificate; ") == true)
    }

    @Test func `has at most 65,536 bytes`() throws {
        let padding = String(repeating: "\n", count: CredentialForm.bytesMax - Self.p256.utf8.count)
        #expect(try self.form(Self.p256 + padding) == .tokenKey)
        #expect(self.rule(Array((Self.p256 + padding + "\n").utf8)) == "must be at most 65536 bytes, got 65537")
    }

    @Test(arguments: [
        ("AuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("keys/AuthKey_ABC123DEFG.p8", "ABC123DEFG"),
        ("APNsAuthKey_ABC123DEFG.p8", "ABC123DEFG"), ("AuthKey_ABC123DEFG (1).p8", "ABC123DEFG"),
        ("AuthKey_ABC123DEF.p8", nil), ("AuthKey_ABC123DEFGH.p8", nil), ("AuthKey_abc123defg.p8", nil), ("key.p8", nil),
        ("AuthKey_ABC123DEFG/key.p8", nil),
    ])
    func `has the key's id in the name that Apple gives it`(name: String, id: String?) {
        #expect(CredentialFacts.keyID(inFileName: name) == id)
    }
}

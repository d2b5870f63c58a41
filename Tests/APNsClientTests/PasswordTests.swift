import APNsModel
import Crypto
import Foundation
import NIOSSL
import Testing
import TidingsModel

@testable import APNsClient
@testable import APNsSimulator

/// Before the files were decrypted here, a password with a letter outside ASCII ended the process.
@Suite(.timeLimit(.minutes(5))) struct `A password of any letters` {
    private let made: (pair: LocalAuthority.Pair, der: [UInt8], keyDER: [UInt8])

    static let passwords = [
        "", "sesame", "é", "e\u{301}", "päss-wörd 9", "密码", "🔑", "ключ", "\u{feff}é", "\u{a0}", "\u{ff}\u{80}",
        "a\u{0}é", String(repeating: "ß", count: 300),
    ]

    init() throws {
        let authority = try LocalAuthority(now: Date())
        self.made = try authority.client(
            .init(
                bundleID: "com.example.chat", validFrom: Date(), validTo: Date(timeIntervalSinceNow: 86_400)))
    }

    private func fault(_ bytes: [UInt8], _ password: String) -> InvalidField? {
        do throws(InvalidField) {
            _ = try CredentialFile(bytes, password: password)
            return nil
        } catch {
            return error
        }
    }

    /// Each password, as each program writes it, with each encryption, in each place.
    @Test(arguments: Self.passwords)
    func `opens every file that it was given for, and no wrong one does`(password: String) throws {
        var count = 0
        // As Swift compares texts, one accent is the other.
        let place = try #require(Self.passwords.firstIndex { $0.utf8.elementsEqual(password.utf8) })
        let wrongs = [1, 4].map { Self.passwords[(place + $0) % Self.passwords.count] }
        for reading in PKCS12Password.readings(password) {
            for encryption in ProtectedFile.Encryption.allCases {
                let file = ProtectedFile(password: reading, encryption: encryption)
                let pair = PEM.text("CERTIFICATE", self.made.der) + (try file.pem(key: self.made.keyDER))
                let files = try [false, true].map { isKeyHidden in
                    try file.pkcs12(
                        keys: [self.made.keyDER], certificates: [self.made.der], isKeyHidden: isKeyHidden)
                }
                for bytes in files + [Array(pair.utf8)] {
                    let name = "\(encryption) of \(password.debugDescription)"
                    #expect(self.fault(bytes, password) == nil, "\(name)")
                    for wrong in wrongs {
                        let fault = self.fault(bytes, wrong)
                        #expect(fault?.field == "password", "\(name) with \(wrong.debugDescription)")
                        #expect(fault?.rule.hasPrefix("must be the one") == true, "\(name)")
                    }
                    count += 1
                }
            }
        }
        #expect(count == PKCS12Password.readings(password).count * 9 * 3)
    }

    /// As `openssl rsa -aes256 -traditional` writes it, with a password of letters outside ASCII.
    @Test func `opens a key in OpenSSL's old form`() throws {
        for (name, key, start) in [("AES-256-CBC", 32, 16), ("AES-128-CBC", 16, 16), ("DES-EDE3-CBC", 24, 8)] {
            let vector = (1...UInt8(start)).map { $0 }
            var made: [UInt8] = []
            var last: [UInt8] = []
            while made.count < key {
                last = Array(Insecure.MD5.hash(data: last + Array("é密".utf8) + vector.prefix(8)))
                made += last
            }
            let bytes = try ProtectedFile.encrypt(self.made.keyDER, Array(made.prefix(key)), vector)
            let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: \(name),\(Hexadecimal.text(vector).uppercased())\n\n"
            let text = PEM.text("EC PRIVATE KEY", bytes)
                .replacing("KEY-----\n", with: "KEY-----\n" + head, maxReplacements: 1)
            let pair = PEM.text("CERTIFICATE", self.made.der) + text
            #expect(self.fault(Array(pair.utf8), "é密") == nil, "\(name)")
            #expect(self.fault(Array(pair.utf8), "密é")?.field == "password")
            let strange = Array(pair.replacing(name, with: "IDEA-CBC").utf8)
            #expect(self.fault(strange, "é密")?.rule.contains("not as IDEA-CBC says") == true)
        }
    }

    @Test func `is asked for if it is missing`() throws {
        let file = ProtectedFile(password: PKCS12Password("é"), encryption: .aes256WithSHA256)
        let pair = PEM.text("CERTIFICATE", self.made.der) + (try file.pem(key: self.made.keyDER))
        let fault = #expect(throws: InvalidField.self) { try CredentialFile(Array(pair.utf8)) }
        #expect(fault == InvalidField(field: "password", rule: "must be given: the private key is encrypted"))
    }

    @Test func `that would be hashed for hours is refused, of a key in PEM form, too`() throws {
        let file = ProtectedFile(password: PKCS12Password("é"), encryption: .tripleDES)
        var key = try file.encrypt([1]).algorithm
        #expect(key.suffix(3) == [2, 1, 3])
        key = BER.write(
            0x30,
            BER.write(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 3])
                + BER.write(0x30, BER.write(0x04, [1]) + [2, 4, 0x7f, 0xff, 0xff, 0xff]))
        let text =
            PEM.text("CERTIFICATE", self.made.der)
            + PEM.text("ENCRYPTED PRIVATE KEY", BER.write(0x30, key + [4, 1, 0]))
        #expect(
            self.fault(Array(text.utf8), "é")?.rule == "must hash its password at most 4000000 times; export it again")
    }
}

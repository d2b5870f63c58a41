import Crypto
import Foundation
import NIOSSL
import Testing
import TidingsModel

@testable import APNsClient
@testable import APNsModel
@testable import APNsSimulator

@Suite(.timeLimit(.minutes(5))) struct `The file of a credential` {
    /// What the local APNs issues, as Apple's account does.
    private struct Issued {
        var pem: LocalAuthority.Pair
        var der: [UInt8]
        var p12: [UInt8]
        var authority: String

        init(
            bundleID: String = "com.example.chat", topics: [String] = [],
            environments: [PushEnvironment] = [.production], end: TimeInterval = 86_400
        ) throws {
            let authority = try LocalAuthority(now: Date())
            let made = try authority.client(
                .init(
                    bundleID: bundleID, teamID: "DEF123GHIJ", topics: topics, environments: environments,
                    validFrom: Date(timeIntervalSinceNow: -172_800), validTo: Date(timeIntervalSinceNow: end)))
            (self.pem, self.der) = (made.pair, made.der)
            self.authority = try authority.pair.certificate
            self.p12 = try PKCS12File(certificate: made.der, key: made.keyDER, name: "a", password: "sesame")
                .serialized()
        }

        /// The lines of the key that nobody may see.
        var secrets: [String] {
            self.pem.key.split(separator: "\n").filter { !$0.hasPrefix("-") }.map { String($0.prefix(20)) }
        }
    }

    private func fault(
        _ bytes: [UInt8], name: String? = nil, password: String? = nil, keyID: String? = nil, teamID: String? = nil
    ) -> InvalidField? {
        do throws(InvalidField) {
            _ = try CredentialFile(bytes, name: name, password: password, keyID: keyID, teamID: teamID)
            return nil
        } catch {
            return error
        }
    }

    private func certificate(_ file: CredentialFile) -> ProviderCertificate? {
        guard case .certificate(let certificate) = file.facts.content else { return nil }
        return certificate
    }

    @Test func `is a token key, whose id its name says`() throws {
        let key = P256.Signing.PrivateKey()
        let file = try CredentialFile(
            Array(key.pemRepresentation.utf8), name: "AuthKey_ABC123DEFG.p8", teamID: "DEF123GHIJ")
        #expect(file.facts.content == .tokenKey(keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        let digest = SHA256.hash(data: key.publicKey.derRepresentation)
        #expect(file.facts.fingerprint == digest.map { String(format: "%02x", $0) }.joined())
        #expect(file.facts.fault(at: 0) == nil)
        guard case .token(let credential) = try file.credential() else {
            Issue.record("no token key")
            return
        }
        #expect(credential.keyID == "ABC123DEFG")
        #expect(credential.teamID == "DEF123GHIJ")
    }

    @Test func `is a token key of another name, whose ids are given`() throws {
        let pem = Array(P256.Signing.PrivateKey().pemRepresentation.utf8)
        let bare = try CredentialFile(pem, name: "key.p8")
        #expect(bare.facts.content == .tokenKey(keyID: nil, teamID: nil))
        #expect(throws: InvalidField.self) { try bare.credential() }
        let keyID = #expect(throws: InvalidField.self) { try CredentialFile(pem, teamID: "T").credential() }
        #expect(keyID?.field == "key_id")
        let teamID = #expect(throws: InvalidField.self) { try CredentialFile(pem, keyID: "K").credential() }
        #expect(teamID?.field == "team_id")
        #expect(try CredentialFile(pem, keyID: "K", teamID: "T").credential().summary == "key K")
        #expect(self.fault(pem, keyID: "with space")?.field == "key_id")
        #expect(self.fault(pem, teamID: "")?.field == "team_id")
        #expect(
            self.fault(pem, name: "AuthKey_ABC123DEFG.p8", keyID: "XYZ123DEFG")
                == InvalidField(field: "key_id", rule: "must be ABC123DEFG, which the file's name says, got XYZ123DEFG")
        )
        #expect(self.fault(pem, name: "AuthKey_ABC123DEFG.p8", keyID: "ABC123DEFG") == nil)
    }

    @Test func `with a key of another curve, or a damaged one, says so`() {
        let other = self.fault(Array(P384.Signing.PrivateKey().pemRepresentation.utf8))
        #expect(other?.rule == "must be a key for pushes, which is on the curve P-256; this one is on another")
        let pem = P256.Signing.PrivateKey().pemRepresentation
        let damaged = pem.replacing(pem.split(separator: "\n")[1].prefix(8), with: "AAAAAAAA")
        #expect(self.fault(Array(damaged.utf8))?.rule == "must be a .p8 file as Apple gives it; this one is damaged")
    }

    @Test func `is a p12 file, read with its password alone`() throws {
        let issued = try Issued(topics: ["com.example.chat", "com.example.chat.voip"])
        let file = try CredentialFile(issued.p12, password: "sesame")
        let certificate = try #require(self.certificate(file))
        #expect(certificate.name == "Apple Push Services: com.example.chat")
        #expect(certificate.issuer == "Tidings local APNs authority")
        #expect(certificate.teamID == "DEF123GHIJ")
        #expect(certificate.environments == [.production])
        #expect(
            certificate.topics == [
                .init(name: "com.example.chat", kinds: ["app"]), .init(name: "com.example.chat.voip", kinds: ["voip"]),
            ])
        #expect(file.facts.fault(at: certificate.validFrom) == nil)
        #expect(file.facts.fingerprint == SHA256.hash(data: issued.der).map { String(format: "%02x", $0) }.joined())
        guard case .certificate = try file.credential() else {
            Issue.record("no certificate")
            return
        }
        for password in [nil, "", "open"] { #expect(self.fault(issued.p12, password: password)?.field == "password") }
    }

    @Test func `is a pair in PEM form, wherever its own certificate stands among its issuers`() throws {
        let issued = try Issued()
        for text in [
            issued.pem.certificate + "\n" + issued.authority + "\n" + issued.pem.key,
            issued.pem.key + "\n" + issued.authority + "\n" + issued.pem.certificate,
        ] {
            let file = try CredentialFile(Array(text.utf8))
            #expect(self.certificate(file)?.userID == "com.example.chat")
        }
    }

    @Test func `without its key, with another's, or with ids that are not its own says so`() throws {
        let (issued, other) = (try Issued(), try Issued())
        #expect(self.fault(issued.der)?.rule.contains("must have the private key with the certificate") == true)
        #expect(self.fault(Array(issued.pem.certificate.utf8))?.rule.contains("must have the private key") == true)
        #expect(self.fault(PKCS12Files.bytes(PKCS12Files.withoutKey))?.rule.contains("private key") == true)
        let mixed = Array((issued.pem.certificate + "\n" + other.pem.key).utf8)
        #expect(self.fault(mixed) == InvalidField(field: "private_key", rule: "must belong to the certificate"))
        #expect(self.fault(try PKCS12Bench.plain(isPair: false), password: "sesame")?.field == "private_key")
        #expect(self.fault(issued.p12, password: "sesame", keyID: "ABC123DEFG")?.field == "key_id")
        #expect(
            self.fault(issued.p12, password: "sesame", teamID: "XYZ123GHIJ")
                == InvalidField(
                    field: "team_id", rule: "must be DEF123GHIJ, which the certificate says, got XYZ123GHIJ"))
        #expect(self.fault(issued.p12, password: "sesame", teamID: "DEF123GHIJ") == nil)
    }

    @Test func `tells no secret when it is refused`() throws {
        let issued = try Issued()
        let text = issued.pem.certificate + "\n" + issued.pem.key
        let faults = [
            self.fault(issued.p12, password: "a password"), self.fault(Array(text.utf8.dropLast(60))),
            self.fault(Array(text.utf8), keyID: "K"),
            self.fault(Array(issued.pem.key.utf8), name: "AuthKey_ABC123DEFG.p8", keyID: "K"),
        ]
        for fault in faults {
            let words = try #require(fault).description
            #expect(!words.contains("a password"))
            #expect(issued.secrets.allSatisfy { !words.contains($0) })
        }
    }

    @Test func `of a certificate that has expired, or is none for pushes, is read and says so`() throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let expired = try CredentialFile(try Issued(end: -60).p12, password: "sesame")
        #expect(expired.facts.fault(at: now)?.rule.hasPrefix("must not have expired; it did on 2") == true)
        let other = try CredentialFile(try Issued(environments: []).p12, password: "sesame")
        #expect(other.facts.fault(at: now)?.rule.hasPrefix("must be one for pushes") == true)
    }

    @Test func `as JSON has what may be shown`() throws {
        let issued = try Issued(environments: [.sandbox])
        let file = try CredentialFile(issued.p12, password: "sesame")
        let certificate = try #require(self.certificate(file))
        #expect(
            file.facts.json(at: certificate.validFrom)
                == [
                    "kind": "certificate", "name": "Apple Push Services: com.example.chat",
                    "issuer": "Tidings local APNs authority", "team_id": "DEF123GHIJ", "voip_only": false,
                    "topics": [
                        ["topic": "com.example.chat", "kinds": ["app"], "push_types": ["alert", "background"]]
                    ], "environments": ["sandbox"], "valid_from": .int(certificate.validFrom),
                    "expires_at": .int(certificate.expiresAt), "fingerprint": .string(file.facts.fingerprint),
                    "fault": .null,
                ])
        let late = file.facts.json(at: certificate.expiresAt)
        #expect(late["fault"]?["field"] == "certificate")
        let key = try CredentialFile(Array(P256.Signing.PrivateKey().pemRepresentation.utf8), keyID: "K")
        #expect(
            key.facts.json(at: 0)
                == [
                    "kind": "token_key", "key_id": "K", "team_id": .null,
                    "fingerprint": .string(key.facts.fingerprint), "fault": .null,
                ])
    }
}

import APNsCore
import Crypto
import Foundation
import NIOSSL
import Requirements
import Testing
import TidingsModel

@testable import APNsSimulator

@Suite(.timeLimit(.minutes(30))) struct `Papers of any bytes` {
    private static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    @Test func `are a provider token only if they say what was signed`() throws {
        let key = P256.Signing.PrivateKey()
        let verifier = TokenVerifier(
            keys: ["KEY0000001": key.publicKey, "KEY0000002": P256.Signing.PrivateKey().publicKey], isStrict: false)
        let signed = try (0..<8).map { number in
            let input =
                Self.encode(#"{"alg":"ES256","kid":"KEY0000001"}"#.utf8) + "."
                + Self.encode(#"{"iss":"TEAM000001","iat":\#(1_700_000_000 + number)}"#.utf8)
            let signature = try key.signature(for: Data(input.utf8))
            return (
                input: input,
                text: "bearer \(input)."
                    + Self.encode(number % 2 == 0 ? signature.rawRepresentation : signature.derRepresentation)
            )
        }
        var (good, refused) = (0, 0)
        Fuzz.run("provider tokens with signatures", short: 1_000, long: 40_000) { number in
            var chance = Chance(seed: UInt64(number))
            let (input, text) = chance.pick(signed)
            var bytes = Array(text.utf8)
            for _ in 0..<[0, 1, 1, 1, 2][chance.below(5)] { chance.mutate(&bytes) }
            let changed = String(decoding: bytes, as: UTF8.self)
            guard case .read(let keyID, _, _, let holds, _) = verifier.facts(changed) else {
                if changed == text { Issue.record("\(number): not read: \(changed)") }
                return
            }
            if holds {
                good += 1
                if !changed.contains(" \(input).") || keyID != "KEY0000001" {
                    Issue.record("\(number): believed \(changed)")
                }
            } else {
                refused += 1
                if changed == text { Issue.record("\(number): not believed: \(changed)") }
            }
        }
        #expect(good > Fuzz.enough(long: 4_000, short: 100))
        #expect(refused > Fuzz.enough(long: 4_000, short: 100))
    }

    @Test func `are a certificate of this authority only if they say what it says`() throws {
        let authority = try LocalAuthority(now: Date())
        let made = try authority.client(
            .init(
                bundleID: "com.example.chat", topics: ["com.example.chat", "com.example.chat.voip"],
                environments: [.sandbox], validFrom: Date(timeIntervalSinceNow: -60),
                validTo: Date(timeIntervalSinceNow: 600)))
        let facts = try #require(ClientCertificateFacts(der: made.der, authority))
        #expect(facts.isTrusted)
        var (readable, unreadable) = (0, 0)
        Fuzz.run("certificates shown to the local APNs", short: 1_000, long: 40_000) { number in
            var chance = Chance(seed: UInt64(number))
            var der = made.der
            for _ in 0..<[0, 1, 1, 1, 3][chance.below(5)] { chance.mutate(&der) }
            guard let read = ClientCertificateFacts(der: der, authority) else {
                unreadable += 1
                return
            }
            readable += 1
            if read.isTrusted {
                var expected = facts
                expected.fingerprint = read.fingerprint
                if read != expected { Issue.record("\(number): trusted as \(read)") }
            } else if der == made.der {
                Issue.record("\(number): not trusted")
            }
        }
        #expect(readable > Fuzz.enough(long: 4_000, short: 100))
        #expect(unreadable > Fuzz.enough(long: 4_000, short: 100))
    }

    /// A file that this writes, read by a library of others.
    @Test func `are a p12 file with any password`() throws {
        let authority = try LocalAuthority(now: Date())
        let made = try authority.client(
            .init(bundleID: "com.example.chat", validFrom: Date(), validTo: Date(timeIntervalSinceNow: 600)))
        let expected = try NIOSSLCertificate(bytes: made.der, format: .der)
        let letters: [Character] = ["a", "Z", "0", " ", "\"", "é", "\u{4f60}", "\u{7f}", "\n", "/"]
        try Fuzz.run("p12 files written", short: 40, long: 2_000) { number in
            var chance = Chance(seed: UInt64(number))
            let password = String((0..<chance.below(80)).map { _ in chance.pick(letters) })
            let file = try PKCS12File(certificate: made.der, key: made.keyDER, name: "\(number)", password: password)
                .serialized()
            let bundle = try NIOSSLPKCS12Bundle(buffer: file, passphrase: Array(password.utf8))
            if bundle.certificateChain != [expected] { Issue.record("\(number): another certificate") }
        }
    }
}

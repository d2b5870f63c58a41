import APNsModel
import Foundation
import HTTP2Connection
import NIOCore
import NIOSSL
import Testing
import TidingsModel

@testable import APNsSimulator

@Suite(.timeLimit(testTimeLimit)) struct `A client certificate` {
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13])
    func `opens a thousand streams at once and needs no token`(version: TLSVersion) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            var (manner, _) = try await provider.certificate("")
            manner.newestTLS = version
            let client = try await provider.connect(manner)
            #expect(await client.next() == .settings(streams: 1_000))
            // The token beside a certificate is ignored (APNs reference, section 5).
            #expect(
                try await provider.send(client, stream: 1, "bearer nonsense")
                    == .answer(stream: 1, status: 200, reason: nil))
            await client.close()
        }
    }

    @Test(
        arguments: [TLSVersion.tlsv12, .tlsv13],
        [
            ("expired", "CERTIFICATE_EXPIRED"), ("unknown_issuer", "UNKNOWN_CA"), ("revoked", "CERTIFICATE_REVOKED"),
        ])
    func `that is no good ends the handshake with the alert that says why`(
        version: TLSVersion, variant: (name: String, alert: String)
    ) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            var (manner, _) = try await provider.certificate(#","variant":"\#(variant.name)""#)
            manner.newestTLS = version
            let client = try await provider.connect(manner)
            guard case .failed(let text)? = await client.next() else {
                Issue.record("the handshake was not refused")
                return
            }
            #expect(text.contains(variant.alert))
        }
    }

    @Test func `can be revoked later`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let (manner, fingerprint) = try await provider.certificate("")
            let client = try await provider.connect(manner)
            #expect(
                try await provider.send(client, stream: 1, nil) == .answer(stream: 1, status: 200, reason: nil))
            #expect(try await provider.control("POST", "/certificates/\(fingerprint)/revoke").status == 200)
            #expect(
                try await provider.send(client, stream: 3, nil)
                    == .answer(stream: 3, status: 403, reason: "BadCertificate"))
            #expect(await client.answer() == .goAway(last: 3, .noError, debug: #"{"reason":"BadCertificate"}"#))
            #expect(await client.answer() == .closed)
        }
    }

    @Test func `of the other environment passes TLS and is sent away`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let (manner, _) = try await provider.certificate(#","environments":["production"]"#)
            let client = try await provider.connect(manner)
            #expect(
                await client.answer()
                    == .goAway(last: 0, .noError, debug: #"{"reason":"BadCertificateEnvironment"}"#))
            #expect(await client.answer() == .closed)
        }
    }

    @Test func `lists its topics, and then the topic must be named`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let topics = #","topics":["\#(Provider.topic)","\#(Provider.topic).voip"]"#
            let (manner, _) = try await provider.certificate(topics)
            let client = try await provider.connect(manner)
            let head = RequestHead(authority: "localhost", path: "/3/device/\(provider.device)")
            try await client.send(stream: 1, head, body: #"{"aps":{}}"#)
            #expect(await client.answer() == .answer(stream: 1, status: 400, reason: "MissingTopic"))
            #expect(
                try await provider.send(client, stream: 3, nil) == .answer(stream: 3, status: 200, reason: nil))
            await client.close()
        }
    }

    /// Against `openssl enc -des-ede3-cbc`.
    @Test func `is encrypted with triple DES as others do it`() {
        func bytes(_ text: String) -> [UInt8] {
            let digits = text.compactMap { $0.hexDigitValue.map { UInt8($0) } }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
        let des = TripleDES(key: bytes("0123456789abcdef 23456789abcdef01 456789abcdef0123"))
        let encrypted = des.encrypt(Array("The quick brown fox jumped".utf8), from: bytes("f69f2445df4f9b17"))
        #expect(encrypted == bytes("63693c3d378a862f8051ae7c2934a296aa6c3102b6e5b79e5f133d50d39d885d"))
        let whole = des.encrypt(Array("12345678".utf8), from: [UInt8](repeating: 0, count: 8))
        #expect(whole == bytes("e184c00b08d473aabcfd4443f88c8ea1"))
    }

    @Test func `comes as a file that opens with its password alone`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let (_, json) = try await provider.control(
                "POST", "/certificates", #"{"bundle_id":"com.example.chat","password":"secrét"}"#)
            let text = try #require(json["p12_base64"]?.stringValue)
            let file = try #require(Data(base64Encoded: text))
            let bundle = try NIOSSLPKCS12Bundle(buffer: Array(file), passphrase: Array("secrét".utf8))
            let pem = try #require(json["certificate_pem"]?.stringValue)
            #expect(try bundle.certificateChain == NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)))
            #expect(throws: (any Error).self) {
                try NIOSSLPKCS12Bundle(buffer: Array(file), passphrase: Array("other".utf8))
            }
        }
    }
}

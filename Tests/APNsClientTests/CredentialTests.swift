import APNsModel
import Foundation
import HTTP2Connection
import NIOSSL
import Testing
import TidingsModel

@testable import APNsClient
@testable import APNsSimulator

@Suite(.timeLimit(.minutes(5))) struct `A credential` {
    private func field(_ body: () throws(InvalidField) -> Void) -> String? {
        do throws(InvalidField) {
            try body()
            return nil
        } catch {
            return error.field
        }
    }

    @Test func `that is a certificate is read from PEM, and refused with another key or without sense`() throws {
        let papers = try Papers()
        let (certificate, key) = try papers.client()
        let other = try papers.client()
        #expect(
            field { () throws(InvalidField) in
                _ = try APNsClient.CertificateCredential(certificatePEM: certificate, privateKeyPEM: key)
            } == nil)
        #expect(
            field { () throws(InvalidField) in
                _ = try APNsClient.CertificateCredential(certificatePEM: certificate, privateKeyPEM: other.key)
            } == "private_key")
        #expect(
            field { () throws(InvalidField) in
                _ = try APNsClient.CertificateCredential(certificatePEM: "nothing", privateKeyPEM: key)
            } == "certificate")
        #expect(
            field { () throws(InvalidField) in
                _ = try APNsClient.CertificateCredential(certificatePEM: certificate, privateKeyPEM: "secret")
            } == "private_key")
    }

    @Test func `that is a p12 file needs its password`() throws {
        let (certificate, key) = try Papers().client()
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: [try NIOSSLCertificate(bytes: Array(certificate.utf8), format: .pem)],
            privateKey: try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        let file = try bundle.serialize(passphrase: "sesame".utf8)
        let read = try APNsClient.CertificateCredential(pkcs12: file, password: "sesame")
        #expect(read.chain == bundle.certificateChain)
        let wrong = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: file, password: "open")
        }
        #expect(wrong?.field == "password")
        #expect(wrong?.description.contains("open") == false)
        let cut = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: Array(file.prefix(file.count / 2)), password: "sesame")
        }
        #expect(cut?.field == "certificate")
    }

    /// The library would end the process over it.
    @Test(arguments: [[], Array("no PKCS#12".utf8), PKCS12Files.bytes(PKCS12Files.withoutKey)])
    func `that is a p12 file without a key says so`(file: [UInt8]) {
        let error = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: file, password: "")
        }
        #expect(error?.rule.contains("private key") == true)
    }

    /// The key in the clear, and in the form of Keychain Access.
    @Test func `that is a p12 file is read in both forms the local APNs has written`() throws {
        let authority = try LocalAuthority(now: Date())
        let made = try authority.client(
            .init(bundleID: "com.example.chat", validFrom: Date(), validTo: Date(timeIntervalSinceNow: 600)))
        let shrouded = try PKCS12File(certificate: made.der, key: made.keyDER, name: "a", password: "sesame")
            .serialized()
        let read = try APNsClient.CertificateCredential(pkcs12: shrouded, password: "sesame")
        #expect(try read.chain == [NIOSSLCertificate(bytes: made.der, format: .der)])
        for file in [shrouded, PKCS12Files.bytes(PKCS12Files.plain)] {
            #expect(try APNsClient.CertificateCredential(pkcs12: file, password: "sesame").chain.count == 1)
            let wrong = #expect(throws: InvalidField.self) {
                _ = try APNsClient.CertificateCredential(pkcs12: file, password: "open")
            }
            #expect(wrong?.field == "password")
        }
    }

    @Test func `that is a p12 file with an encryption of long ago is read, or the error says how to convert it`() throws
    {
        for old in [PKCS12Files.rc2At40, PKCS12Files.rc2At128] {
            #expect(
                try APNsClient.CertificateCredential(pkcs12: PKCS12Files.bytes(old), password: "sesame").chain.count
                    == 1)
        }
        // Whose last number is one that nobody has.
        let unknown = PKCS12Bench.replaced(
            PKCS12Files.bytes(PKCS12Files.rc2At128), [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 5],
            [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 12, 1, 9])
        let error = #expect(throws: InvalidField.self) {
            _ = try APNsClient.CertificateCredential(pkcs12: unknown, password: "sesame")
        }
        #expect(error?.field == "certificate")
        #expect(error?.rule.contains("not as 1.2.840.113549.1.12.1.9 says") == true)
        #expect(error?.rule.contains("openssl pkcs12 -legacy -in") == true)
    }

    @Test func `that is a certificate is shown in TLS, and no token is sent`() async throws {
        let papers = try Papers()
        let server = try await WireServer.start(papers, clients: [papers.authority]) { _ in .accepted }
        let (certificate, key) = try papers.client()
        let wire = Wire(papers: papers, server: server)
        let client = try wire.client {
            $0.credential = .certificate(try .init(certificatePEM: certificate, privateKeyPEM: key))
        }
        try await client.send(Wire.request())
        #expect(server.requests.first?.header("authorization") == nil)
        await client.shutdown()
        await server.stop()
    }

    @Test func `that the server does not know stops the sender with advice`() async throws {
        let papers = try Papers()
        let server = try await WireServer.start(papers, clients: [papers.authority]) { _ in .accepted }
        let (certificate, key) = try Papers().client()
        let wire = Wire(papers: papers, server: server)
        let client = try wire.client {
            $0.credential = .certificate(try .init(certificatePEM: certificate, privateKeyPEM: key))
        }
        guard case .stopped(let why) = await client.outcome(of: Wire.request()) else {
            Issue.record("it was sent")
            return
        }
        #expect(why.contains("unknown_ca"), "\(why)")
        #expect(why.contains("does not come from Apple"), "\(why)")
        #expect(server.requests.isEmpty)
        await client.shutdown()
        await server.stop()
    }

    @Test func `that has expired stops the sender with advice`() async throws {
        let papers = try Papers()
        let server = try await WireServer.start(papers, clients: [papers.authority]) { _ in .accepted }
        let (certificate, key) = try papers.client(end: -60)
        let wire = Wire(papers: papers, server: server)
        let client = try wire.client {
            $0.credential = .certificate(try .init(certificatePEM: certificate, privateKeyPEM: key))
        }
        guard case .stopped(let why) = await client.outcome(of: Wire.request()) else {
            Issue.record("it was sent")
            return
        }
        #expect(why.contains("the client certificate has expired"), "\(why)")
        await client.shutdown()
        await server.stop()
    }

    @Test func `that is replaced serves new requests, and the old connection is still answered`() async throws {
        try await Wire.run(
            { $0.connection == 1 && $0.stream == 3 ? .silence : .accepted },
            { wire in
                let client = try wire.client()
                try await client.send(Wire.request(0))
                async let old = client.outcome(of: Wire.request(1))
                await wire.server.awaitRequests(2)
                try client.replaceCredential(.token(Wire.token(keyID: "OTHERKEY01")))
                try await client.send(Wire.request(2))
                wire.server.release()
                guard case .accepted = await old else {
                    Issue.record("\(await old)")
                    return
                }
                let tokens = wire.server.requests.map { $0.header("authorization") }
                #expect(wire.server.requests.map(\.connection) == [1, 1, 2])
                #expect(tokens[0] == tokens[1])
                #expect(tokens[2] != tokens[0])
                await client.shutdown()
            })
    }
}

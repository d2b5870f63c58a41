import Crypto
import Foundation
import Testing
import TidingsModel

@testable import APNsSimulator

/// A provider token in a chosen form (apns.md §4, "What real APNs tolerates in a JWT").
private func authorization(
    _ addresses: APNsSimulator.Addresses, isDER: Bool = false, isStandardBase64: Bool = false, iatAsText: Bool = false
) throws -> String {
    func encode(_ data: Data) -> String {
        let text = data.base64EncodedString()
        guard !isStandardBase64 else { return text }
        return text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
    let pem = try String(contentsOfFile: addresses.privateKeyPath, encoding: .utf8)
    let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    let now = Int64(Date().timeIntervalSince1970)
    let header: JSONValue = ["alg": "ES256", "kid": .string(addresses.keyID)]
    let claims: JSONValue = [
        "iss": .string(addresses.teamID), "iat": iatAsText ? .string(String(now)) : .int(now),
    ]
    let input = encode(Data(header.serialized)) + "." + encode(Data(claims.serialized))
    let signature = try key.signature(for: Data(input.utf8))
    return "bearer \(input).\(encode(isDER ? signature.derRepresentation : signature.rawRepresentation))"
}

private func headers(
    _ authorization: String?, method: String = "POST", authority: String = ":authority"
) -> [(String, String)] {
    var headers = [
        (":method", method), (":scheme", "https"), (":path", "/3/device/00ff"),
        (authority, "api.sandbox.push.apple.com"), ("apns-topic", "com.example.chat"),
    ]
    if let authorization { headers.append(("authorization", authorization)) }
    return headers
}

@Suite(.timeLimit(patience)) struct `A foreign client` {
    /// Pushy and aioapns connect without ALPN (apns.md §2).
    @Test(arguments: [[], ["h2"]])
    func `is greeted with one stream and gets a thousand after its first good token`(alpn: [String]) async throws {
        try await withSimulator { addresses, _ in
            let client = try await RawClient.connect(
                port: addresses.port, authorityPath: addresses.authorityPath, alpn: alpn)
            guard case .settings(let greeting)? = await client.next() else {
                Issue.record("no SETTINGS")
                return
            }
            #expect(greeting.values.sorted() == [1, 4_096, 8_000, 16_384, 65_535])
            try await client.send(stream: 1, headers(nil), body: "{}")
            #expect(await client.next() == .answer(stream: 1, status: "403", reason: "MissingProviderToken"))
            let good = try authorization(addresses)
            try await client.send(stream: 3, headers(good), body: "{}")
            guard case .settings(let raised)? = await client.next() else {
                Issue.record("no second SETTINGS")
                return
            }
            #expect(raised.values.sorted() == [1_000])
            #expect(await client.next() == .answer(stream: 3, status: "400", reason: "BadDeviceToken"))
            try await client.send(stream: 5, headers(good, method: "GET"), body: "{}")
            #expect(await client.next() == .answer(stream: 5, status: "405", reason: "MethodNotAllowed"))
            // Some send `host` instead of `:authority` (apns.md §3.6).
            try await client.send(stream: 7, headers(good, authority: "host"), body: "{}")
            #expect(await client.next() == .answer(stream: 7, status: "400", reason: "BadDeviceToken"))
            await client.close()
        }
    }

    @Test func `may sign in the forms Apple takes, and not in strict mode`() async throws {
        for isStrict in [false, true] {
            try await withSimulator({ $0.isStrict = isStrict }) { addresses, _ in
                for token in [
                    try authorization(addresses, isDER: true), try authorization(addresses, isStandardBase64: true),
                    try authorization(addresses, iatAsText: true),
                ] {
                    let client = try await RawClient.connect(
                        port: addresses.port, authorityPath: addresses.authorityPath, alpn: ["h2"])
                    _ = await client.next()
                    try await client.send(stream: 1, headers(token), body: "{}")
                    if isStrict {
                        #expect(
                            await client.next() == .answer(stream: 1, status: "403", reason: "InvalidProviderToken"))
                    } else {
                        _ = await client.next()
                        #expect(await client.next() == .answer(stream: 1, status: "400", reason: "BadDeviceToken"))
                    }
                    await client.close()
                }
            }
        }
    }

    @Test func `that speaks HTTP/1.1 is hung up on`() async throws {
        try await withSimulator { addresses, _ in
            let socket = try await LineSocket.connect(port: addresses.port)
            try await socket.write("GET / HTTP/1.1\r\n\r\n")
            _ = await socket.rest()
        }
    }
}

import APNsTestSupport
import Crypto
import Foundation
import HTTP2Connection
import Testing
import TidingsModel

@testable import APNsSimulator

/// Somebody who pushes: what it needs of a simulator, and one registered device.
struct Provider {
    let addresses: APNsSimulator.Addresses
    /// Held open: a phone that is connected.
    let phone: LineSocket
    let device: String
    /// What the courier brought before the token.
    let early: [JSONValue]

    static let topic = "com.example.chat"

    init(_ addresses: APNsSimulator.Addresses, environment: String = "sandbox") async throws {
        self.addresses = addresses
        self.phone = try await LineSocket.connect(port: addresses.courierPort)
        let register = #"{"type":"register","id":7,"topic":"\#(Self.topic)","environment":"\#(environment)"}"#
        try await self.phone.write(#"{"type":"hello","phone":"alice"}"# + "\n" + register + "\n")
        var lines: [JSONValue] = []
        while let line = try await self.phone.next(), line["type"] != "registered" { lines.append(line) }
        self.early = lines
        let devices = try await LineSocket.http("GET", "/devices?phone=alice", port: addresses.controlPort).1
        self.device = try #require(devices.arrayValue?.last?["token"]?.stringValue)
    }

    func connect(_ manner: RawClient.Manner = RawClient.Manner(), port: Int? = nil) async throws -> RawClient {
        try await RawClient.connect(
            port: port ?? self.addresses.port, authorityPath: self.addresses.authorityPath, manner)
    }

    /// A push to the device.
    func push(_ authorization: String?, id: String? = nil, device: String? = nil) -> RequestHead {
        var fields = [HeaderField("apns-topic", Self.topic), HeaderField("apns-push-type", "alert")]
        if let authorization { fields.append(HeaderField("authorization", authorization)) }
        if let id { fields.append(HeaderField("apns-id", id)) }
        return RequestHead(
            authority: "api.sandbox.push.apple.com", path: "/3/device/\(device ?? self.device)", fields: fields)
    }

    /// Sends a push over a new stream and returns what comes of it.
    func send(_ client: RawClient, stream: Int, _ authorization: String?) async throws -> RawClient.Heard? {
        try await client.send(stream: stream, self.push(authorization), body: #"{"aps":{"alert":"hi"}}"#)
        return await client.answer()
    }

    /// A connected client whose first push, on stream 1, was accepted.
    func opened(_ authorization: String) async throws -> RawClient {
        let client = try await self.connect()
        _ = await client.next()
        #expect(try await self.send(client, stream: 1, authorization) == .answer(stream: 1, status: 200, reason: nil))
        return client
    }

    func control(_ method: String, _ path: String, _ body: String = "") async throws -> (status: Int, json: JSONValue) {
        try await LineSocket.http(method, path, body: body, port: self.addresses.controlPort)
    }

    func setFaults(_ rules: String) async throws {
        #expect(try await self.control("POST", "/faults", #"{"rules":[\#(rules)]}"#).status == 200)
    }

    /// The events of the log so far.
    func log(_ query: String = "") async throws -> [String] {
        try await self.control("GET", "/log\(query)").json.arrayValue?.compactMap { $0["event"]?.stringValue } ?? []
    }

    /// A client certificate, issued over the control port.
    func certificate(_ members: String) async throws -> (manner: RawClient.Manner, fingerprint: String) {
        let (status, json) = try await self.control(
            "POST", "/certificates", #"{"bundle_id":"\#(Self.topic)"\#(members)}"#)
        #expect(status == 200)
        let pem = try #require(json["certificate_pem"]?.stringValue)
        let key = try #require(json["key_pem"]?.stringValue)
        return (
            RawClient.Manner(certificate: (pem, key)), try #require(json["fingerprint"]?.stringValue)
        )
    }
}

/// A provider token in a chosen form (APNs reference, section 4, "What real APNs tolerates in a JWT").
func authorization(
    _ addresses: APNsSimulator.Addresses, keyID: String? = nil, pem: String? = nil, isDER: Bool = false,
    isStandardBase64: Bool = false, iatAsText: Bool = false
) throws -> String {
    func encode(_ data: Data) -> String {
        let text = data.base64EncodedString()
        guard !isStandardBase64 else { return text }
        return text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
    let pem = try pem ?? String(contentsOfFile: addresses.privateKeyPath, encoding: .utf8)
    let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    let now = Int64(Date().timeIntervalSince1970)
    let header: JSONValue = ["alg": "ES256", "kid": .string(keyID ?? addresses.keyID)]
    let claims: JSONValue = [
        "iss": .string(addresses.teamID), "iat": iatAsText ? .string(String(now)) : .int(now),
    ]
    let input = encode(Data(header.serialized)) + "." + encode(Data(claims.serialized))
    let signature = try key.signature(for: Data(input.utf8))
    return "bearer \(input).\(encode(isDER ? signature.derRepresentation : signature.rawRepresentation))"
}

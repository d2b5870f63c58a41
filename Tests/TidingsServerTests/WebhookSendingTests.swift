import Crypto
import Foundation
import MessageStore
import NIOCore
import NIOPosix
import NIOSSL
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A webhook's request` {
    private static func key(_ text: String) throws -> SymmetricKey {
        SymmetricKey(data: try #require(Data(base64Encoded: text)))
    }

    @Test func `is signed as the specification's example is, once for each secret`() throws {
        let request = WebhookRequest(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        let first = try Self.key("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(
            request.headers(signedWith: [first]).map { "\($0.0): \($0.1)" } == [
                "content-type: application/json", "user-agent: Tidings", "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek",
                "webhook-timestamp: 1614265330", "webhook-signature: \(signature)",
            ])
        let second = SymmetricKey(size: .bits256)
        let both = request.headers(signedWith: [second, first]).last?.1.split(separator: " ") ?? []
        #expect(both.count == 2 && both[0] != both[1] && both[1] == signature)
    }

    @Test func `says what happened, where and when`() throws {
        let delivery = WebhookDelivery(
            key: WebhookKey(app: "shop", webhook: "w1"), id: "a-1", type: "receipt", at: 1_795_728_300_007,
            data: #"{"message_id":"01","receipt":"shown"}"#)
        let request = WebhookRequest(delivery, now: 1_795_728_301_999)
        #expect(request.id == "a-1" && request.timestamp == 1_795_728_301)
        #expect(
            try JSONValue(parsing: request.body) == [
                "type": "receipt", "app": "shop", "timestamp": "2026-11-26T21:25:00.007Z",
                "data": ["message_id": "01", "receipt": "shown"],
            ])
    }
}

@Suite struct `Where webhooks go` {
    private static func admits(_ address: String, _ allowed: [String] = [], isSecure: Bool = true) throws -> Bool {
        WebhookNetworks(allowing: allowed).admit(try #require(IPAddress(address)), isSecure: isSecure)
    }

    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "198.18.0.1", "224.0.0.1", "239.255.255.255", "255.255.255.255", "::", "::1",
        "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1",
        "64:ff9b::127.0.0.1", "::ffff:0:7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1", "fc00::1", "fd12:3456::1",
        "fe80::1",
        "febf::1", "fec0::1", "ff02::1",
    ])
    func `no address that is not everybody's`(address: String) throws {
        #expect(try !Self.admits(address))
    }

    @Test(arguments: [
        "1.1.1.1", "11.0.0.1", "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255",
        "223.255.255.255", "2606:4700::1111", "64:ff9b::1.1.1.1",
    ])
    func `everybody's by TLS alone`(address: String) throws {
        #expect(try Self.admits(address))
        #expect(try !Self.admits(address, isSecure: false))
    }

    @Test func `networks that the operator allows, with and without TLS`() throws {
        let allowed = ["10.0.0.0/8", "127.0.0.1"]
        #expect(WebhookNetworks(allowing: allowed).allowsPlainHTTP && !WebhookNetworks(allowing: []).allowsPlainHTTP)
        for isSecure in [true, false] {
            #expect(try Self.admits("10.200.0.1", allowed, isSecure: isSecure))
            #expect(try Self.admits("::ffff:127.0.0.1", allowed, isSecure: isSecure))
            #expect(try !Self.admits("127.0.0.2", allowed, isSecure: isSecure))
            #expect(try !Self.admits("192.168.0.1", allowed, isSecure: isSecure))
        }
    }

    @Test func `an address that is written as a number, or found for a name, is looked at as what it is`() async throws
    {
        let lookUp = HostLookUp()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        for host in ["2130706433", "0x7f.1", "127.1", "localhost", "::1"] {
            let found = try await lookUp.addresses(
                of: host, port: 443, for: "shop", on: loop, until: .now() + .seconds(10))
            #expect(!found.isEmpty)
            for address in found {
                let ip = try #require(Optional(address).ip)
                #expect(ip.isLoopback && !WebhookNetworks(allowing: []).admit(ip, isSecure: true), "\(host)")
            }
        }
        await #expect(throws: HostLookUp.NotFound.self) {
            try await lookUp.addresses(
                of: "nobody.invalid", port: 443, for: "shop", on: loop, until: .now() + .seconds(10))
        }
        lookUp.stop()
    }
}

@Suite struct `What an attempt failed of` {
    @Test func `has a name`() {
        let errors: [(any Error, WebhookFailureReason)] = [
            (AddressNotAllowed(), .addressNotAllowed), (HostLookUp.NotFound(host: "x"), .nameNotFound),
            (HTTPExchange.Fault.noAnswerInTime, .timedOut), (ChannelError.connectTimeout(.seconds(1)), .timedOut),
            (IOError(errnoCode: ETIMEDOUT, reason: ""), .timedOut),
            (IOError(errnoCode: ECONNREFUSED, reason: ""), .refusedConnection),
            (IOError(errnoCode: EHOSTUNREACH, reason: ""), .refusedConnection),
            (NIOSSLError.writeDuringTLSShutdown, .tlsFailed), (NIOSSLError.uncleanShutdown, .connectionLost),
            (IOError(errnoCode: ECONNRESET, reason: ""), .connectionLost),
            (HTTPExchange.Fault.closed, .connectionLost),
        ]
        for (error, reason) in errors { #expect(WebhookFailureReason(error) == reason, "\(error)") }
    }
}

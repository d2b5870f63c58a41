import APNsTestSupport
import HTTP2Connection
import Testing
import TidingsModel

@testable import APNsSimulator

@Suite(.timeLimit(testTimeLimit)) struct `A foreign client` {
    /// Pushy and aioapns connect without ALPN (APNs reference, section 2).
    @Test(arguments: [[], ["h2"], ["h2", "http/1.1"]])
    func `is greeted with one stream and gets a thousand after its first good token`(alpn: [String]) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let client = try await provider.connect(RawClient.Manner(alpn: alpn))
            #expect(await client.next() == .settings(streams: 1))
            try await client.send(stream: 1, provider.push(nil), body: "{}")
            #expect(await client.next() == .answer(stream: 1, status: 403, reason: "MissingProviderToken"))
            let good = try authorization(addresses)
            try await client.send(stream: 3, provider.push(good), body: #"{"aps":{}}"#)
            #expect(await client.next() == .settings(streams: 1_000))
            #expect(await client.next() == .answer(stream: 3, status: 200, reason: nil))
            var get = provider.push(good)
            get.method = "GET"
            try await client.send(stream: 5, get, body: "{}")
            #expect(await client.next() == .answer(stream: 5, status: 405, reason: "MethodNotAllowed"))
            await client.close()
        }
    }

    @Test func `that offers HTTP/1.1 alone is hung up on`() async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let client = try await provider.connect(RawClient.Manner(alpn: ["http/1.1"]))
            #expect(await client.next() == .closed)
        }
    }

    @Test func `that speaks no TLS is hung up on`() async throws {
        try await withSimulator { addresses, _ in
            let socket = try await LineSocket.connect(port: addresses.port)
            try await socket.write("GET / HTTP/1.1\r\n\r\n")
            _ = await socket.rest()
        }
    }

    @Test(arguments: [
        "localhost", "api.sandbox.push.apple.com", "api.development.push.apple.com", "api.push.apple.com",
        "api-manage-broadcast.sandbox.push.apple.com", "api-manage-broadcast.push.apple.com",
    ])
    func `finds every name of Apple's in the certificate`(name: String) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let client = try await provider.connect(RawClient.Manner(name: name))
            #expect(await client.next() == .settings(streams: 1))
            await client.close()
        }
    }

    @Test func `may sign in the forms Apple takes, and not in strict mode`() async throws {
        for isStrict in [false, true] {
            try await withSimulator({ $0.isStrict = isStrict }) { addresses, _ in
                let provider = try await Provider(addresses)
                for token in [
                    try authorization(addresses, isDER: true), try authorization(addresses, isStandardBase64: true),
                    try authorization(addresses, iatAsText: true),
                ] {
                    let client = try await provider.connect()
                    let heard = try await provider.send(client, stream: 1, token)
                    if isStrict {
                        #expect(heard == .answer(stream: 1, status: 403, reason: "InvalidProviderToken"))
                    } else {
                        #expect(heard == .answer(stream: 1, status: 200, reason: nil))
                    }
                    await client.close()
                }
            }
        }
    }

    @Test func `finds production and the channels behind ports of their own`() async throws {
        try await withSimulator({
            $0.productionPort = 0
            $0.productionChannelPort = 0
        }) { addresses, _ in
            let provider = try await Provider(addresses)
            let good = try authorization(addresses)
            let production = try await provider.connect(port: addresses.productionPort)
            #expect(
                try await provider.send(production, stream: 1, good)
                    == .answer(stream: 1, status: 400, reason: "BadDeviceToken"))
            await production.close()
            for port in [addresses.channelPort, try #require(addresses.productionChannelPort)] {
                let manager = try await provider.connect(port: port)
                let create = RequestHead(
                    authority: "localhost", path: "/1/apps/\(Provider.topic)/channels",
                    fields: [HeaderField("authorization", good)])
                try await manager.send(
                    stream: 1, create, body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
                #expect(await manager.answer() == .answer(stream: 1, status: 201, reason: nil))
                await manager.close()
            }
            let channels = try await provider.control("GET", "/channels?bundle_id=\(Provider.topic)").json.arrayValue
            #expect(channels?.compactMap { $0["environment"]?.stringValue } == ["sandbox", "production"])
            #expect(channels?.first?["message_storage_policy"] == 1)
        }
    }

    /// APNs reference, section 6: 413 above 4,096 bytes, and above 5,120 for VoIP and broadcasts; above 5,120 bytes the body
    /// has not been read to its end when it is judged.
    @Test(arguments: [
        ("alert", 4_097), ("alert", 7_120), ("voip", 5_121), ("voip", 7_120), ("broadcast", 5_121),
        ("broadcast", 7_120), ("channel", 5_121), ("channel", 7_120),
    ])
    func `hears that its payload is too large, however long it is`(kind: String, bytes: Int) async throws {
        try await withSimulator { addresses, _ in
            let provider = try await Provider(addresses)
            let good = try authorization(addresses)
            var head = provider.push(good)
            var body = #"{"aps":{"alert":""#
            switch kind {
            case "voip":
                head.fields = [
                    HeaderField("authorization", good), HeaderField("apns-topic", "\(Provider.topic).voip"),
                    HeaderField("apns-push-type", "voip"),
                ]
            case "broadcast":
                head.path = "/4/broadcasts/apps/\(Provider.topic)"
                head.fields = [
                    HeaderField("authorization", good), HeaderField("apns-channel-id", "dGVzdA=="),
                    HeaderField("apns-push-type", "liveactivity"), HeaderField("apns-expiration", "0"),
                    HeaderField("apns-priority", "10"),
                ]
                body = #"{"aps":{"event":"update","alert":""#
            case "channel":
                head.path = "/1/apps/\(Provider.topic)/channels"
                head.fields = [HeaderField("authorization", good)]
            default: break
            }
            body += String(repeating: "x", count: bytes - body.utf8.count - 3) + #""}}"#
            let client = try await provider.connect(port: kind == "channel" ? addresses.channelPort : addresses.port)
            try await client.send(stream: 1, head, body: body)
            #expect(await client.answer() == .answer(stream: 1, status: 413, reason: "PayloadTooLarge"))
            // White space counts like everything else.
            try await client.send(
                stream: 3, head, body: #"{"aps":{"event":"end"}}"# + String(repeating: " ", count: bytes - 23))
            #expect(await client.answer() == .answer(stream: 3, status: 413, reason: "PayloadTooLarge"))
            await client.close()
        }
    }

    /// Pushy's authors saw it; Apple documents neither (APNs reference, section 4).
    @Test(arguments: [false, true])
    func `is refused for good after an expired token only where that is asked for`(sticks: Bool) async throws {
        try await withSimulator({ $0.expiredTokenSticks = sticks }) { addresses, _ in
            let provider = try await Provider(addresses)
            let good = try authorization(addresses)
            let client = try await provider.opened(good)
            try await provider.setFaults(#"{"fault":"clock_skew","seconds":7200,"count":1}"#)
            let expired = RawClient.Heard.answer(stream: 3, status: 403, reason: "ExpiredProviderToken")
            #expect(try await provider.send(client, stream: 3, good) == expired)
            let next = try await provider.send(client, stream: 5, good)
            #expect(
                next == .answer(stream: 5, status: sticks ? 403 : 200, reason: sticks ? "ExpiredProviderToken" : nil))
            let other = try await provider.opened(good)
            await other.close()
            await client.close()
        }
    }

    @Test func `is sent away when it has been idle`() async throws {
        try await withSimulator({ $0.idleSeconds = 3 }) { addresses, _ in
            let provider = try await Provider(addresses)
            let client = try await provider.opened(try authorization(addresses))
            #expect(await client.answer() == .goAway(last: 1, .noError, debug: #"{"reason":"IdleTimeout"}"#))
            #expect(await client.answer() == .closed)
        }
    }
}

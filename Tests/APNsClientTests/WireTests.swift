import APNsModel
import HTTP2Connection
import NIOConcurrencyHelpers
import Testing
import TidingsModel

@testable import APNsClient

@Suite(.timeLimit(.minutes(5))) struct `A request on the wire` {
    @Test func `has every header, the provider token and its payload`() async throws {
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let client = try wire.client()
                let response = try await client.send(
                    Wire.request {
                        $0.apnsID = "123e4567-e89b-12d3-a456-426614174000"
                        $0.collapseID = "m1"
                        $0.expiration = 4_000_000_000
                        $0.priority = .powerAware
                    })
                #expect(response.status == 200)
                let request = try #require(wire.server.requests.first)
                let names = [
                    ":method", ":scheme", ":authority", ":path", "apns-topic", "apns-push-type", "apns-priority",
                    "authorization", "apns-expiration", "apns-collapse-id", "apns-id",
                ]
                #expect(request.headers.map { $0.name } == names)
                #expect(
                    names.filter { $0 != "authorization" }.map { request.header($0) } == [
                        "POST", "https", "localhost:\(wire.server.port)", "/3/device/0010000000", "com.example.chat",
                        "alert", "5", "4000000000", "m1", "123e4567-e89b-12d3-a456-426614174000",
                    ])
                #expect(request.header("authorization")?.hasPrefix("bearer ey") == true)
                #expect(request.body == #"{"aps":{"alert":{"body":"hi"}}}"#)
                await client.shutdown()
            })
    }

    @Test func `that is refused as a stream goes out again`() async throws {
        let count = NIOLockedValueBox(0)
        try await Wire.run(
            { _ in
                let number = count.withLockedValue { count in
                    count += 1
                    return count
                }
                return number == 1 ? .reset(.refusedStream) : .accepted
            },
            { wire in
                let client = try wire.client()
                try await client.send(Wire.request())
                #expect(wire.server.requests.map(\.stream) == [1, 3])
                await client.shutdown()
            })
    }

    @Test func `whose stream is reset has an unknown outcome`() async throws {
        try await Wire.run(
            { _ in .reset(.internalError) },
            { wire in
                let client = try wire.client()
                let outcome = await client.outcome(of: Wire.request())
                #expect(outcome == .unknownOutcome("APNs reset the stream: internalError"))
                await client.shutdown()
            })
    }

    @Test func `beyond the last stream of GOAWAY goes out again on another connection`() async throws {
        try await Wire.run(
            { $0.connection == 1 && $0.stream == 3 ? .goAway(lastStream: 1, debugData: "") : .accepted },
            { wire in
                let client = try wire.client()
                try await client.send(Wire.request(0))
                try await client.send(Wire.request(1))
                #expect(wire.server.requests.map(\.connection) == [1, 1, 2])
                await client.shutdown()
            })
    }

    @Test func `that waits behind an answer with GOAWAY goes out on another connection, and loses no try`() async throws
    {
        try await Wire.run(
            { $0.connection == 1 && $0.stream == 3 ? .answerAndGoAway(200) : .accepted },
            { wire in
                let client = try wire.client {
                    $0.connectionsMax = 1
                    $0.streamsMax = 1
                    $0.retriesMax = 0
                }
                try await client.send(Wire.request(0))
                let outcomes = await withTaskGroup(of: APNsOutcome.self) { group in
                    for number in 1...2 { group.addTask { await client.outcome(of: Wire.request(number)) } }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(outcomes.allSatisfy { if case .accepted = $0 { true } else { false } }, "\(outcomes)")
                #expect(wire.server.requests.map(\.connection) == [1, 1, 2])
                await client.shutdown()
            })
    }

    @Test func `with a certificate of the other environment stops the sender`() async throws {
        try await Wire.run(
            { _ in .goAway(lastStream: 0, debugData: #"{"reason":"BadCertificateEnvironment"}"#) },
            { wire in
                let client = try wire.client()
                #expect(
                    await client.outcome(of: Wire.request()) == .stopped("BadCertificateEnvironment"))
                #expect(wire.server.connections == 1)
                await client.shutdown()
            })
    }

    @Test func `on a connection that is cut has an unknown outcome`() async throws {
        try await Wire.run(
            { $0.stream == 1 ? .accepted : .cut },
            { wire in
                let client = try wire.client()
                try await client.send(Wire.request(0))
                guard case .unknownOutcome(let why) = await client.outcome(of: Wire.request(1)) else {
                    Issue.record("there was an outcome")
                    return
                }
                #expect(why.hasPrefix("connection lost"))
                await client.shutdown()
            })
    }

    @Test func `to a server that is stuck ends when its caller is cancelled`() async throws {
        try await Wire.run(
            { _ in .silence },
            { wire in
                let client = try wire.client()
                let task = Task { await client.outcome(of: Wire.request()) }
                await wire.server.awaitRequests(1)
                task.cancel()
                #expect(await task.value == .unknownOutcome("cancelled"))
                let early = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await client.outcome(of: Wire.request())
                }
                #expect(await early.value == .notSent("cancelled"))
                await client.shutdown()
            })
    }

    @Test func `waits for room where submit is refused`() async throws {
        try await Wire.run(
            { _ in .silence },
            { wire in
                let client = try wire.client { $0.queueMax = 1 }
                async let first = client.outcome(of: Wire.request(0))
                await wire.server.awaitRequests(1)
                // The first is on its way and alone there; the second waits, and then the queue is full.
                let (ends, feed) = AsyncStream.makeStream(of: APNsOutcome.self)
                for number in 1...2 { client.submit(Wire.request(number)) { feed.yield($0) } }
                var end = ends.makeAsyncIterator()
                #expect(await end.next() == .notSent("the queue is full: 1 requests wait"))
                async let fourth = client.outcome(of: Wire.request(3))
                let fifth = Task { await client.outcome(of: Wire.request(4)) }
                fifth.cancel()
                #expect(await fifth.value == .notSent("cancelled"))
                wire.server.release()
                await wire.server.awaitRequests(3)
                wire.server.release()
                for outcome in [await first, await end.next(), await fourth] {
                    guard case .accepted? = outcome else {
                        Issue.record("\(String(describing: outcome))")
                        continue
                    }
                }
                await client.shutdown()
            })
    }
}

@Suite(.timeLimit(.minutes(5))) struct `A stream of requests` {
    private static func stream(_ count: Int) -> AsyncStream<APNsRequest> {
        let next = NIOLockedValueBox(0)
        return AsyncStream {
            next.withLockedValue { next in
                guard next < count else { return nil }
                defer { next += 1 }
                return Wire.request(next)
            }
        }
    }

    @Test func `of ten thousand gives each one's outcome once, with no more than allowed under way`() async throws {
        var configuration = ServerSession.Configuration()
        configuration.maxConcurrentStreams = 1_000
        try await Wire.run(
            configuration: configuration, { _ in .accepted },
            { wire in
                let client = try wire.client()
                let read = NIOLockedValueBox(0)
                let given = NIOLockedValueBox(0)
                let most = NIOLockedValueBox(0)
                let source = Self.stream(10_000)
                let counted = source.map { request in
                    let under = given.withLockedValue { given in
                        given += 1
                        return given
                    }
                    let open = under - read.withLockedValue { $0 }
                    most.withLockedValue { $0 = max($0, open) }
                    return request
                }
                var tokens: Set<PushToken> = []
                for try await (request, outcome) in client.send(contentsOf: counted, inFlightMax: 50) {
                    read.withLockedValue { $0 += 1 }
                    guard case .accepted = outcome else {
                        Issue.record("\(outcome)")
                        continue
                    }
                    tokens.insert(request.token)
                }
                #expect(tokens.count == 10_000)
                #expect(wire.server.requests.count == 10_000)
                // One more is read before there is room for it, and one is in the reader's hands.
                #expect(most.withLockedValue { $0 } <= 52)
                await client.shutdown()
            })
    }

    @Test func `that is left early is cancelled`() async throws {
        try await Wire.run(
            { $0.stream == 1 ? .accepted : .silence },
            { wire in
                let client = try wire.client()
                for try await _ in client.send(contentsOf: Self.stream(1_000), inFlightMax: 10) { break }
                // The client has let go of them: a shutdown has nothing to wait for.
                await client.shutdown()
                #expect(wire.server.requests.count <= 11)
            })
    }

    @Test func `that fails ends with its error, after the outcomes of what it gave`() async throws {
        struct Broken: Error {}
        try await Wire.run(
            { _ in .accepted },
            { wire in
                let client = try wire.client()
                let source = AsyncThrowingStream<APNsRequest, any Error> { continuation in
                    continuation.yield(Wire.request(0))
                    continuation.yield(Wire.request(1) { $0.payload = [] })
                    continuation.finish(throwing: Broken())
                }
                var outcomes: [PushToken: APNsOutcome] = [:]
                await #expect(throws: Broken.self) {
                    for try await (request, outcome) in client.send(contentsOf: source) {
                        outcomes[request.token] = outcome
                    }
                }
                #expect(outcomes[Wire.request(1).token] == .notSent("payload must not be empty"))
                guard case .accepted = outcomes[Wire.request(0).token] else {
                    Issue.record("\(outcomes)")
                    return
                }
                await client.shutdown()
            })
    }
}

@Suite(.timeLimit(.minutes(5))) struct `Channels and broadcasts` {
    @Test func `are made, read, listed, sent to and ended`() async throws {
        try await Wire.run(
            { request in
                switch (request.header(":method") ?? "", request.header(":path") ?? "") {
                case ("POST", "/1/apps/com.example.chat/channels"):
                    .answer(201, [("apns-channel-id", "dHN0LXNyY2gtY2hubA==")])
                case ("GET", "/1/apps/com.example.chat/channels"):
                    .answer(200, body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
                case ("GET", "/1/apps/com.example.chat/all-channels"):
                    .answer(200, body: #"{"channels":["dHN0LXNyY2gtY2hubA=="]}"#)
                case ("DELETE", "/1/apps/com.example.chat/channels"): .answer(204)
                case ("POST", "/4/broadcasts/apps/com.example.chat"):
                    .answer(200, [("apns-request-id", "r"), ("apns-unique-id", "u")])
                default: .answer(404, body: #"{"reason":"BadPath"}"#)
                }
            },
            { wire in
                let client = try wire.client()
                let id = try await client.createChannel(.mostRecentMessage, bundleID: "com.example.chat")
                #expect(id.rawValue == "dHN0LXNyY2gtY2hubA==")
                let channel = try await client.channel(id, bundleID: "com.example.chat")
                #expect(channel.storagePolicy == .mostRecentMessage)
                #expect(try await client.channels(bundleID: "com.example.chat") == [id])
                let response = try await client.broadcast(
                    APNsBroadcast(
                        bundleID: "com.example.chat", channelID: id, payload: Array(#"{"aps":{}}"#.utf8),
                        environment: .sandbox))
                #expect(response.uniqueID == "u")
                try await client.deleteChannel(id, bundleID: "com.example.chat")
                // Channels have a connection of their own: their host is another one at Apple's.
                #expect(wire.server.requests.map(\.connection) == [1, 1, 1, 2, 1])
                await client.shutdown()
            })
    }

    @Test func `that are refused say why, and a senseless answer is an unknown outcome`() async throws {
        try await Wire.run(
            {
                $0.header(":method") == "DELETE"
                    ? .answer(400, body: #"{"reason":"ChannelNotRegistered"}"#) : .answer(200, body: "?")
            },
            { wire in
                let client = try wire.client()
                let id = APNsChannelID("dHN0LXNyY2gtY2hubA==")
                await #expect(throws: APNsFailure.refused(.init(.channelNotRegistered, status: 400))) {
                    try await client.deleteChannel(id, bundleID: "com.example.chat")
                }
                await #expect(throws: APNsFailure.unknownOutcome("no header apns-channel-id")) {
                    try await client.createChannel(.noStorage, bundleID: "com.example.chat")
                }
                await #expect(throws: APNsFailure.self) { try await client.channels(bundleID: "") }
                await client.shutdown()
            })
    }
}

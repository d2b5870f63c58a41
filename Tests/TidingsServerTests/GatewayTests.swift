import Foundation
import NIOCore
import Testing
import TidingsModel
import TidingsWire

@testable import TidingsServer

@Suite(.timeLimit(.minutes(10))) struct `The gateway` {
    @Test(arguments: WireFormat.allCases) func `welcomes a client in either subprotocol`(format: WireFormat)
        async throws
    {
        try await TestServer.with { server in
            let client = try await RawClient.open(port: server.listening.gatewayPort, as: format)
            try await client.send(server.hello("alice"))
            guard case .welcome(let welcome) = try await client.nextFrame() else {
                Issue.record("no welcome")
                return
            }
            #expect(welcome.frameBytesMax == 262_144)
            #expect(
                server.tokens.checked(extensionToken: welcome.extensionToken, wallMilliseconds: welcome.serverTime)?
                    .device.device == "phone-of-alice")
            try await client.send(.ping(7))
            #expect(try await client.nextFrame() == .pong(7))
            await client.close()
        }
    }

    @Test func `answers a WebSocket ping with its bytes, and a close with its code`() async throws {
        try await TestServer.with { server in
            let client = try await server.client("alice")
            try await client.send(RawClient.frame(opcode: 0x9, [1, 2, 3]))
            #expect(await client.next() == RawClient.Frame(opcode: 0xa, payload: [1, 2, 3]))
            try await client.send(RawClient.frame(opcode: 0x8, [0x0b, 0xb8]))
            #expect(await client.next() == RawClient.Frame(opcode: 0x8, payload: [0x0b, 0xb8]))
            #expect(await client.next() == nil)
        }
    }

    @Test func `takes a frame in fragments and one spread over many packets`() async throws {
        try await TestServer.with { server in
            let client = try await server.client("alice")
            let ping = FrameCodec.encode(ClientFrame.ping(9), as: .protobuf)
            let bytes =
                RawClient.frame(opcode: 0x2, Array(ping.prefix(1)), isFinal: false)
                + RawClient.frame(opcode: 0x0, Array(ping.dropFirst()))
            try await client.send(bytes)
            #expect(try await client.nextFrame() == .pong(9))
            for byte in RawClient.frame(opcode: 0x2, ping) { try await client.send([byte]) }
            #expect(try await client.nextFrame() == .pong(9))
            await client.close()
        }
    }

    @Test func `tells a bad handshake what is wrong, and closes`() async throws {
        try await TestServer.with { server in
            let client = try await RawClient.connect(port: server.listening.gatewayPort)
            try await client.send(text: RawClient.handshake(protocols: "chat"))
            let head = try await client.head()
            #expect(head.hasPrefix("HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json"))
            let body = try JSONValue(parsing: await client.rest())
            #expect(body["field"] == "Sec-WebSocket-Protocol")
            #expect(
                body["detail"]
                    == "Sec-WebSocket-Protocol must offer tidings.v1.protobuf or tidings.v1.json")
        }
    }

    private func firstMessage(
        _ bytes: [UInt8], as format: WireFormat = .protobuf, _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> (ServerFrame.Problem?, UInt16?) {
        var result: (ServerFrame.Problem?, UInt16?) = (nil, nil)
        try await TestServer.with(change) { server in
            let client = try await RawClient.open(port: server.listening.gatewayPort, as: format)
            if !bytes.isEmpty { try await client.send(bytes) }
            while let frame = await client.next() {
                if frame.opcode == 0x8 {
                    result.1 = frame.closeCode
                } else if case .problem(let problem, isFatal: true) = try FrameCodec.decodeServerFrame(
                    frame.payload, as: format)
                {
                    result.0 = problem
                }
            }
        }
        return result
    }

    @Test func `refuses a frame over the limit from its header alone`() async throws {
        // Before the hello a connection may leave less waiting than afterwards.
        let header = Array(RawClient.frame(opcode: 0x2, Array(repeating: 0, count: 16_385)).prefix(14))
        let (problem, code) = try await self.firstMessage(header) { $0.gateway.frameBytesMax = 65_536 }
        #expect(problem == .init(code: .frameTooLarge, field: "frame", rule: "must be at most 16384 bytes"))
        #expect(code == 1009)
    }

    @Test func `refuses a first frame that is not hello, not a frame, or not in its format`() async throws {
        let ping = RawClient.frame(opcode: 0x2, FrameCodec.encode(ClientFrame.ping(1), as: .protobuf))
        let (first, firstCode) = try await self.firstMessage(ping)
        #expect(first?.code == .unexpectedFrame)
        #expect(first?.rule == "must be hello, the first of every connection")
        #expect(firstCode == 1008)

        let (second, secondCode) = try await self.firstMessage(RawClient.frame(opcode: 0x2, [0xff, 0xff, 0xff]))
        #expect(second?.code == .malformedFrame)
        #expect(second?.field == "frame")
        #expect(secondCode == 1007)

        let (third, thirdCode) = try await self.firstMessage(RawClient.frame(opcode: 0x2, [1]), as: .json)
        #expect(third?.rule == "must come in text messages under tidings.v1.json")
        #expect(thirdCode == 1003)

        let (fourth, fourthCode) = try await self.firstMessage(RawClient.frame(opcode: 0x1, [0xc3, 0x28]), as: .json)
        #expect(fourth == .init(code: .malformedFrame, field: "frame", rule: "must be UTF-8"))
        #expect(fourthCode == 1007)

        let (fifth, fifthCode) = try await self.firstMessage(RawClient.frame(opcode: 0x2, [1], isMasked: false))
        #expect(fifth?.rule == "frames of a client must be masked")
        #expect(fifthCode == 1002)
    }

    @Test func `refuses tokens that are expired, of another app, or nobody's`() async throws {
        try await TestServer.with { server in
            func problem(_ token: String) async throws -> ServerFrame.Problem.Code? {
                let client = try await RawClient.open(port: server.listening.gatewayPort)
                try await client.send(server.hello("alice", token: token))
                return try await client.problem()?.code
            }
            #expect(try await problem(server.token("alice", seconds: -1)) == .expiredToken)
            let elsewhere = try UserTokens(apps: [.init(id: "elsewhere", tokenSecret: TestServer.secret)])
            let user = UserKey(app: "elsewhere", user: "alice")
            let token = try #require(elsewhere.token(for: user, expiresAtSeconds: 4_000_000_000))
            #expect(try await problem(token) == .wrongApp)
            #expect(try await problem("nonsense") == .invalidToken)
        }
    }

    @Test func `hangs up on whoever does not say hello in time`() async throws {
        // Long enough for a handshake on a busy machine.
        let (problem, code) = try await self.firstMessage([]) { $0.gateway.unauthenticatedMilliseconds = 5_000 }
        #expect(problem == .init(code: .timedOut, field: "hello", rule: "must come within 5000 ms of connecting"))
        #expect(code == 1008)
        try await TestServer.with({ $0.gateway.unauthenticatedMilliseconds = 30 }) { server in
            let silent = try await RawClient.connect(port: server.listening.gatewayPort)
            #expect(await silent.rest() == "")
            try await server.eventually { server.metric("tidings_gateway_connections") == "0" }
        }
    }

    @Test func `refuses one bad field and keeps the session`() async throws {
        try await TestServer.with { server in
            let client = try await server.client("alice")
            let conversation = ConversationID(type: .direct, target: "bob")
            try await client.send(
                .send(.init(clientMessageID: "m1", conversation: conversation, objectName: .text, content: "")))
            guard case .sendRefused("m1", let problem) = try await client.nextFrame() else {
                Issue.record("not refused")
                return
            }
            #expect(problem.field == "content")
            try await client.send(.ping(1))
            #expect(try await client.nextFrame() == .pong(1))
            await client.close()
        }
    }

    @Test func `answers a bad request by its number and keeps the session`() async throws {
        try await TestServer.with { server in
            let client = try await server.client("alice", as: .json)
            let team = ConversationID(type: .group, target: "team")
            try await client.send(.request(7, .history(team, before: nil, limit: 0)))
            let problem = ServerFrame.Problem(InvalidField(field: "limit", rule: "must be 1 to 100, got 0"))
            #expect(try await client.nextFrame() == .answer(7, .refused(problem)))
            try await client.send(.ping(8))
            #expect(try await client.nextFrame() == .pong(8))
            await client.close()
        }
    }

    @Test func `turns clients away when it is full`() async throws {
        try await TestServer.with({ $0.gateway.connectionsMax = 1 }) { server in
            let first = try await server.client("alice")
            let second = try await RawClient.connect(port: server.listening.gatewayPort)
            #expect(try await second.head().hasPrefix("HTTP/1.1 503 "))
            await first.close()
            try await server.eventually { server.metric("tidings_gateway_connections") == "0" }
            let third = try await server.client("alice")
            await third.close()
        }
    }

    @Test func `cuts off a slow reader and nobody else`() async throws {
        try await TestServer.with({
            $0.gateway.backlogBytesMax = 65_536
            $0.limitsMode = "none"
        }) { server in
            let slow = try await server.client("alice", receiveBuffer: 4_096)
            let other = try await server.client("bob")
            let content = String(repeating: "x", count: 30_000)
            // The reader leaves everything in the kernel's buffers, while it asks for more and more.
            try await slow.channel.setOption(.autoRead, value: false).get()
            var sent = 0
            try await server.eventually {
                sent += 1
                let draft = MessageDraft(
                    clientMessageID: ClientMessageID("flood\(sent)"),
                    conversation: .init(type: .direct, target: "alice"),
                    objectName: .text, content: content)
                try await other.send(.send(draft))
                guard case .sendAccepted = try await other.nextFrame() else { return false }
                // The message itself is written, and all of them again for each sync.
                try? await slow.send(.sync(after: 0, limit: 200))
                return server.metric("tidings_gateway_problems_total{code=\"slow_reader\"}") == "1"
            }
            try await server.eventually { server.metric("tidings_gateway_connections") == "1" }
            try await other.send(.ping(1))
            #expect(try await other.nextFrame() == .pong(1))
            await slow.close()
            await other.close()
        }
    }

    @Test func `leaves signals out for who reads slowly, whose answers still get through`() async throws {
        try await TestServer.with({
            $0.gateway.backlogBytesMax = 65_536
            $0.limitsMode = "none"
        }) { server in
            let slow = try await server.client("alice", receiveBuffer: 4_096)
            let other = try await server.client("bob")
            let room = ConversationID(type: .chatRoom, target: "lobby")
            let create = ClientRequest.change(room, .create(name: "Lobby", portrait: nil, members: ["alice"]))
            for (client, number, request) in [
                (other, 1, create), (slow, 1, .enterRoom(room, history: 0)), (other, 2, .enterRoom(room, history: 0)),
            ] as [(RawClient, RequestNumber, ClientRequest)] {
                try await client.send(.request(number, request))
                while let frame = try await client.nextFrame() { if case .answer = frame { break } }
            }
            try await slow.channel.setOption(.autoRead, value: false).get()
            let content = String(repeating: "x", count: 30_000)
            var sent = 0
            try await server.eventually {
                sent += 1
                let draft = MessageDraft(
                    clientMessageID: ClientMessageID("flood\(sent)"), conversation: room, objectName: .text,
                    content: content)
                try await other.send(.send(draft))
                while true {
                    guard let frame = try await other.nextFrame() else { return true }
                    if case .sendAccepted = frame { break }
                }
                return server.metric("tidings_gateway_signals_dropped_total") ?? "0" != "0"
            }
            // What waits still waits when this is answered.
            try await slow.send(.ping(7))
            try await other.send(.ping(8))
            while let frame = try await other.nextFrame(), frame != .pong(8) {}
            try await slow.channel.setOption(.autoRead, value: true).get()
            while let frame = try await slow.nextFrame(), frame != .pong(7) {}
            try await slow.send(.ping(9))
            #expect(try await slow.nextFrame() == .pong(9))
            #expect(server.metric("tidings_gateway_problems_total{code=\"slow_reader\"}") == "0")
            await slow.close()
            await other.close()
        }
    }
}

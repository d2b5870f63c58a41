import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `An HTTP connection` {
    @Test func `on which no request comes is closed`() throws {
        let rig = try HTTPConnectionRig()
        #expect(rig.closes(after: 10_000))
        #expect(rig.closed("header"))
        #expect(rig.registry.text.contains("tidings_http_connections{listener=\"api\"} 0\n"))
    }

    @Test func `whose body comes a byte at a time is answered that it took too long`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        for _ in 0..<5 {
            rig.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
            try rig.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
        }
        #expect(rig.closes(after: 5_000))
        #expect(rig.closed("body"))
        guard case .head(let head) = try rig.channel.readOutbound(as: HTTPServerResponsePart.self) else {
            Issue.record("no answer")
            return
        }
        #expect(head.status == .requestTimeout)
        #expect(head.headers["connection"] == ["close"])
    }

    @Test(arguments: [
        (
            HTTPParserError.headerOverflow,
            "request must have a request line and headers of at most 81920 bytes, and 1000 headers"
        ), (.invalidMethod, "request must be an HTTP/1.1 request (RFC 9112)"),
    ]) func `whose request cannot be read is told why and closed`(_ error: HTTPParserError, _ detail: String) throws {
        let rig = try HTTPConnectionRig()
        rig.channel.pipeline.fireErrorCaught(error)
        #expect(!rig.channel.isActive)
        let answer = try rig.readAnswer()
        #expect(answer.head.status == .badRequest)
        #expect(answer.head.headers["connection"] == ["close"])
        #expect(answer.head.headers["content-type"] == ["application/problem+json"])
        #expect(answer.problem["code"] == "bad_request" && answer.problem["field"] == "request")
        #expect(answer.problem["detail"] == .string(detail))
        #expect(answer.head.headers[RequestID.header].map(JSONValue.string) == [answer.problem["request_id"]])
    }

    @Test func `whose body cannot be read, or whose next request, is left to those behind`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        for isWhole in [false, true] {
            if isWhole { try rig.end() }
            rig.channel.pipeline.fireErrorCaught(HTTPParserError.invalidChunkSize)
            #expect(throws: HTTPParserError.invalidChunkSize) { try rig.channel.throwIfErrorCaught() }
            #expect(rig.channel.isActive)
        }
        #expect(try rig.channel.readOutbound(as: HTTPServerResponsePart.self) == nil)
    }

    @Test func `that is not used again is closed`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        try rig.answer()
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("idle"))
    }

    @Test func `whose answer does not come, or is not read, is closed`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("answer"))
    }

    @Test func `whose client hangs up is closed at once if it is told a stream, and not while it gets an answer`()
        throws
    {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        rig.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(rig.channel.isActive)
        // It had gone before the stream began.
        #expect(throws: ChannelError.inputClosed) {
            try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        }
        #expect(!rig.channel.isActive)
        let told = try HTTPConnectionRig()
        try told.head()
        try told.end()
        try told.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        told.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(!told.channel.isActive)
    }

    @Test func `whose answer goes on is open for as long as what is written is read`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        for _ in 0..<10 {
            rig.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
            try rig.channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: ":\n\n"))))
        }
        #expect(rig.channel.isActive)
        rig.channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(rig.channel.isActive)
        try rig.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("idle"))
    }

    private static let stream = HTTPResponseHead(
        version: .http1_1, status: .ok, headers: ["content-type": "text/event-stream"])

    @Test func `whose answer goes on and is not read is closed`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        try rig.channel.writeOutbound(HTTPServerResponsePart.head(Self.stream))
        rig.channel.embeddedEventLoop.advanceTime(by: .seconds(59))
        // Not flushed, as to a socket that takes no more.
        let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: ":\n\n")))
        rig.channel.write(part, promise: nil)
        rig.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        rig.channel.write(part, promise: nil)
        #expect(rig.closes(after: 5_000))
        #expect(rig.closed("answer"))
    }

    @Test func `whose answer is not read is closed long before one that is idle`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        rig.channel.embeddedEventLoop.advanceTime(by: .seconds(40))
        rig.write(bytes: 100_000)
        #expect(rig.closes(after: 15_000))
        #expect(rig.closed("answer"))
    }

    @Test func `whose answer is read goes on for as long as it takes`() throws {
        let rig = try HTTPConnectionRig()
        try rig.head()
        try rig.end()
        for _ in 0..<100 {
            rig.write(bytes: 16_000)
            rig.channel.embeddedEventLoop.advanceTime(by: .seconds(14))
            rig.channel.flush()
            #expect(rig.channel.isActive)
        }
        // The server has nothing to write.
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("answer"))
    }

    @Test func `has one request answered at a time, the next when all of the answer is written out`() throws {
        let rig = try HTTPConnectionRig()
        for _ in 0..<3 {
            try rig.head()
            try rig.end()
        }
        func heads() throws -> Int {
            var count = 0
            while let part = try rig.channel.readInbound(as: HTTPServerRequestPart.self) {
                if case .head = part { count += 1 }
            }
            return count
        }
        #expect(try heads() == 1)
        rig.write(bytes: 100_000)
        rig.channel.write(HTTPServerResponsePart.end(nil), promise: nil)
        #expect(try heads() == 0)
        rig.channel.flush()
        #expect(try heads() == 1)
        try rig.answer()
        #expect(try heads() == 1)
        try rig.answer()
        #expect(try heads() == 0)
        #expect(rig.closes(after: 60_000))
        #expect(rig.closed("idle"))
    }

    @Test func `is not read from while a request waits for its turn`() throws {
        final class Reads: ChannelOutboundHandler {
            typealias OutboundIn = Never
            var count = 0
            func read(context: ChannelHandlerContext) { self.count += 1 }
        }
        let rig = try HTTPConnectionRig()
        let reads = Reads()
        try rig.channel.pipeline.syncOperations.addHandler(reads, position: .first)
        try rig.head()
        try rig.end()
        rig.channel.read()
        #expect(reads.count == 1)
        try rig.head()
        try rig.end()
        rig.channel.read()
        #expect(reads.count == 1)
        try rig.answer()
        #expect(reads.count == 2)
    }

    @Test func `hears that its client is done, or cannot be read, when what came before is answered`() throws {
        final class Ear: ChannelInboundHandler {
            typealias InboundIn = HTTPServerRequestPart
            var heard: [String] = []
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                if case .head = self.unwrapInboundIn(data) { self.heard.append("request") }
            }
            func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { self.heard.append("\(event)") }
        }
        let rig = try HTTPConnectionRig()
        let ear = Ear()
        try rig.channel.pipeline.syncOperations.addHandler(ear)
        for _ in 0..<2 {
            try rig.head()
            try rig.end()
        }
        rig.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        rig.channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(ear.heard == ["request"])
        try rig.answer()
        #expect(ear.heard == ["request", "request"])
        #expect(rig.channel.isActive)
        try rig.answer()
        #expect(ear.heard == ["request", "request", "inputClosed"])
        #expect(!rig.channel.isActive)
    }

    @Test func `with more requests behind one than are kept is closed when those are answered`() throws {
        let rig = try HTTPConnectionRig()
        for _ in 0..<400 {
            try rig.head()
            try rig.end()
        }
        var answered = 0
        while rig.channel.isActive, answered < 400 {
            try rig.answer()
            answered += 1
        }
        #expect(answered == 151)
    }

    @Test func `makes room for another if nobody reads its answer`() throws {
        let rig = try HTTPConnectionRig(max: 1)
        try rig.head()
        try rig.end()
        rig.write(bytes: 1_000)
        let second = EmbeddedChannel()
        second.embeddedEventLoop.advanceTime(by: .seconds(3))
        try rig.add(second)
        for channel in [rig.channel, second] { channel.embeddedEventLoop.run() }
        #expect(!rig.channel.isActive)
        #expect(second.isActive)
        #expect(rig.closed("full"))
        _ = try? second.finish()
    }

    @Test func `is closed if more is unread than may be, and its answer is read least`() throws {
        var limits = ServerConfiguration.Http()
        limits.unreadBytesMax = 150_000
        let rig = try HTTPConnectionRig(limits: limits)
        let second = EmbeddedChannel()
        try rig.add(second)
        for channel in [rig.channel, second] {
            try rig.head(channel)
            try rig.end(channel)
            rig.write(bytes: 100_000, channel)
        }
        for channel in [rig.channel, second] { channel.embeddedEventLoop.run() }
        #expect(!rig.channel.isActive)
        #expect(second.isActive)
        #expect(rig.closed("unread"))
        _ = try? second.finish()
    }

    @Test func `is told to read first if a person has as many answers under way as may be`() throws {
        var limits = ServerConfiguration.Http()
        limits.answersPerPersonMax = 4
        let rig = try HTTPConnectionRig(limits: limits)
        let others = (0..<4).map { _ in EmbeddedChannel() }
        let person = UserKey(app: "demo", user: "alice")
        for channel in others {
            try rig.add(channel)
            #expect(rig.connections.admits(person, on: channel))
        }
        #expect(!rig.connections.admits(person, on: rig.channel))
        try rig.head(others[0])
        try rig.end(others[0])
        try rig.answer(others[0])
        #expect(rig.connections.admits(person, on: rig.channel))
        for channel in others { _ = try? channel.finish() }
    }

    @Test func `makes room for another if it has waited longest, and is spared while it is answered`() throws {
        let rig = try HTTPConnectionRig(max: 2)
        try rig.head()
        try rig.end()
        let (second, third) = (EmbeddedChannel(), EmbeddedChannel())
        try rig.add(second)
        try rig.add(third)
        for channel in [rig.channel, second, third] { channel.embeddedEventLoop.run() }
        #expect(rig.channel.isActive)
        #expect(!second.isActive)
        #expect(third.isActive)
        #expect(rig.closed("full"))
        #expect(rig.registry.text.contains("tidings_http_connections{listener=\"api\"} 2\n"))
        _ = try? third.finish()
        _ = try? rig.channel.finish()
    }

    @Test func `that takes the place of another makes its listener pause`() throws {
        final class Ear: ChannelInboundHandler {
            typealias InboundIn = Never
            var heard = 0
            func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
                if event is AcceptPause.Full { self.heard += 1 }
            }
        }
        let rig = try HTTPConnectionRig(max: 2)
        let ear = Ear()
        let socket = EmbeddedChannel(handler: ear)
        rig.connections.setSocket(socket)
        let (second, third) = (EmbeddedChannel(), EmbeddedChannel())
        try rig.add(second)
        socket.embeddedEventLoop.run()
        #expect(ear.heard == 0)
        try rig.add(third)
        socket.embeddedEventLoop.run()
        #expect(ear.heard == 1)
        for channel in [rig.channel, second, third, socket] { _ = try? channel.finish() }
    }

    @Test func `is turned away if all others are being answered`() throws {
        let rig = try HTTPConnectionRig(max: 1)
        try rig.head()
        try rig.end()
        let second = EmbeddedChannel()
        try rig.add(second)
        second.embeddedEventLoop.run()
        #expect(rig.channel.isActive)
        #expect(!second.isActive)
        _ = try? rig.channel.finish()
    }
}

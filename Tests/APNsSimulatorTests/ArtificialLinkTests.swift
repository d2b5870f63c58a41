import NIOCore
import NIOEmbedded
import Testing

@testable import APNsSimulator

@Suite struct `An artificial way` {
    private let loop = EmbeddedEventLoop()

    private func channel(rtt: Int64, kilobits: Int64? = nil) throws -> EmbeddedChannel {
        let link = ArtificialLink(ArtificialLink.Way(roundTripMilliseconds: rtt, kilobits: kilobits))
        let channel = EmbeddedChannel(handler: link, loop: self.loop)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        self.loop.run()
        return channel
    }

    private func bytes(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }

    private func inbound(_ channel: EmbeddedChannel) throws -> [String] {
        var texts: [String] = []
        while let buffer = try channel.readInbound(as: ByteBuffer.self) { texts.append(String(buffer: buffer)) }
        return texts
    }

    private func outbound(_ channel: EmbeddedChannel) throws -> [String] {
        var texts: [String] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { texts.append(String(buffer: buffer)) }
        return texts
    }

    @Test func `brings both directions half a round trip later, in order`() throws {
        let channel = try self.channel(rtt: 40)
        try channel.writeInbound(self.bytes("a"))
        self.loop.advanceTime(by: .milliseconds(5))
        try channel.writeInbound(self.bytes("b"))
        channel.writeAndFlush(self.bytes("x"), promise: nil)
        #expect(try self.inbound(channel) == [])
        self.loop.advanceTime(by: .milliseconds(15))
        #expect(try self.inbound(channel) == ["a"])
        #expect(try self.outbound(channel) == [])
        self.loop.advanceTime(by: .milliseconds(5))
        #expect(try self.inbound(channel) == ["b"])
        #expect(try self.outbound(channel) == ["x"])
    }

    @Test func `lets bytes leave one after the other at its bandwidth`() throws {
        // 8 kbit/s: a byte a millisecond.
        let channel = try self.channel(rtt: 0, kilobits: 8)
        channel.writeAndFlush(self.bytes("0123456789"), promise: nil)
        channel.writeAndFlush(self.bytes("ab"), promise: nil)
        self.loop.advanceTime(by: .milliseconds(9))
        #expect(try self.outbound(channel) == [])
        self.loop.advanceTime(by: .milliseconds(1))
        #expect(try self.outbound(channel) == ["0123456789"])
        self.loop.advanceTime(by: .milliseconds(2))
        #expect(try self.outbound(channel) == ["ab"])
    }

    @Test func `sends nothing that was not flushed, and closes after what was`() throws {
        let channel = try self.channel(rtt: 10)
        channel.write(self.bytes("x"), promise: nil)
        self.loop.advanceTime(by: .milliseconds(50))
        #expect(try self.outbound(channel) == [])
        channel.flush()
        channel.close(promise: nil)
        #expect(channel.isActive)
        self.loop.advanceTime(by: .milliseconds(5))
        #expect(try self.outbound(channel) == ["x"])
        #expect(!channel.isActive)
    }

    @Test func `brings what was under way before the other side's end`() throws {
        let channel = try self.channel(rtt: 10)
        try channel.writeInbound(self.bytes("last"))
        channel.pipeline.fireChannelInactive()
        #expect(try self.inbound(channel) == ["last"])
    }
}

import NIOCore
import TidingsModel

/// Bound to its channel's event loop.
final class LineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A payload is 4 KiB, a trace of a long day some MiB.
    static let lineBytesMax = 4 << 20

    private var lines = LineBuffer()
    private let onLine: (any Channel, [UInt8]) -> Void
    private let onClose: (any Channel) -> Void

    init(onLine: @escaping (any Channel, [UInt8]) -> Void, onClose: @escaping (any Channel) -> Void) {
        self.onLine = onLine
        self.onClose = onClose
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for line in self.lines.append(self.unwrapInboundIn(data).readableBytesView) {
            self.onLine(context.channel, line)
        }
        if self.lines.pendingBytes > Self.lineBytesMax { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.onClose(context.channel)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

extension Channel {
    func writeLine(_ json: JSONValue) {
        var bytes = json.serialized
        bytes.append(UInt8(ascii: "\n"))
        self.writeAndFlush(self.allocator.buffer(bytes: bytes), promise: nil)
    }

    /// Calls back, on the channel's event loop, when everything before it is written; never if the connection ends before.
    func whenWritten(_ body: @escaping () -> Void) {
        // Writes nothing.
        self.writeAndFlush(ByteBuffer()).assumeIsolated().whenSuccess(body)
    }
}

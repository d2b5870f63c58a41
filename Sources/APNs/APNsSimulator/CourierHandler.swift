import APNsCore
import APNsModel
import NIOCore
import TidingsModel

final class CourierHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let engine: SimulatorEngine
    private var id: APNsService.CourierID?
    private var context: ChannelHandlerContext?
    private var pending = ByteBuffer()

    init(engine: SimulatorEngine) { self.engine = engine }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        self.id = self.engine.opened(self)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let id = self.id { self.engine.closed(id) }
        self.id = nil
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        self.pending.writeBuffer(&bytes)
        while let end = self.pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")), let id = self.id {
            let length = end - self.pending.readerIndex
            guard let line = self.pending.readSlice(length: length) else { return }
            self.pending.moveReaderIndex(forwardBy: 1)
            do throws(InvalidField) {
                guard length <= CourierRequest.lineBytesMax else { throw Self.tooLong }
                self.engine.received(try CourierRequest(line: line.readableBytesView, depthMax: 4), from: id)
            } catch {
                self.write(.error(field: error.field, rule: error.rule))
            }
        }
        self.pending.discardReadBytes()
        if self.pending.readableBytes > CourierRequest.lineBytesMax {
            self.write(.error(field: Self.tooLong.field, rule: Self.tooLong.rule))
            context.close(promise: nil)
        }
    }

    private static let tooLong = InvalidField(
        field: "line", rule: "must be at most \(CourierRequest.lineBytesMax) bytes")

    func write(_ reply: CourierReply) {
        guard let context = self.context else { return }
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: reply.line)), promise: nil)
    }

    /// Closes the connection of a phone that has another now. The phone is told, since two phones with one id would do this by turns.
    func giveWay() {
        self.write(
            .error(field: "phone", rule: "must be the id of one phone: it has just connected again, here or elsewhere"))
        self.close()
    }

    func close() { self.context?.close(promise: nil) }
}

import NIOCore

/// A longer and narrower way between a provider and the simulator: both directions are delayed in order, so that the
/// windows of HTTP/2 matter as they do over the internet (APNs reference, section 3.2).
///
/// Bytes leave one after the other at the given bandwidth and arrive half a round trip later.
final class ArtificialLink: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Way: Sendable {
        var roundTripMilliseconds: Int64
        /// Thousands of bits a second in each direction; nil for any number.
        var kilobits: Int64?

        func leaving(_ bytes: Int) -> Int64 { self.kilobits.map { Int64(bytes) * 8_000_000 / $0 } ?? 0 }
    }

    private enum Parcel {
        case bytes(ByteBuffer, EventLoopPromise<Void>?)
        case close(CloseMode, EventLoopPromise<Void>?)
    }

    private struct Lane {
        var parcels = CircularBuffer<(at: NIODeadline, parcel: Parcel)>()
        var freeAt = NIODeadline.uptimeNanoseconds(0)

        /// Sends a parcel on its way.
        ///
        /// - Returns: whether it is the only one, so that its arrival has to be waited for.
        mutating func enter(_ parcel: Parcel, _ way: Way, at now: NIODeadline) -> Bool {
            var start = max(now, self.freeAt)
            if case .bytes(let bytes, _) = parcel { start = start + .nanoseconds(way.leaving(bytes.readableBytes)) }
            self.freeAt = start
            self.parcels.append((start + .microseconds(way.roundTripMilliseconds * 500), parcel))
            return self.parcels.count == 1
        }

        mutating func arrived(at now: NIODeadline) -> Parcel? {
            guard let first = self.parcels.first, first.at <= now else { return nil }
            return self.parcels.removeFirst().parcel
        }
    }

    private let way: Way
    private var inbound = Lane()
    private var outbound = Lane()
    private var unflushed: [Parcel] = []

    init(_ way: Way) { self.way = way }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let parcel = Parcel.bytes(self.unwrapInboundIn(data), nil)
        if self.inbound.enter(parcel, self.way, at: context.eventLoop.now) { self.awaitInbound(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {}

    func channelInactive(context: ChannelHandlerContext) {
        // What was on its way arrives before the end.
        self.bringInbound(context, until: .distantFuture)
        for (_, parcel) in self.outbound.parcels { Self.fail(parcel) }
        self.outbound.parcels.removeAll()
        context.fireChannelInactive()
    }

    private func awaitInbound(_ context: ChannelHandlerContext) {
        guard let at = self.inbound.parcels.first?.at else { return }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: at) {
            self.bringInbound(context, until: context.eventLoop.now)
            self.awaitInbound(context)
        }
    }

    private func bringInbound(_ context: ChannelHandlerContext, until now: NIODeadline) {
        var isAny = false
        while let parcel = self.inbound.arrived(at: now) {
            guard case .bytes(let bytes, _) = parcel else { continue }
            isAny = true
            context.fireChannelRead(self.wrapInboundOut(bytes))
        }
        if isAny { context.fireChannelReadComplete() }
    }

    // MARK: Out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        self.unflushed.append(.bytes(self.unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) {
        for parcel in self.unflushed { self.send(parcel, context) }
        self.unflushed.removeAll(keepingCapacity: true)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        self.flush(context: context)
        self.send(.close(mode, promise), context)
    }

    private func send(_ parcel: Parcel, _ context: ChannelHandlerContext) {
        if self.outbound.enter(parcel, self.way, at: context.eventLoop.now) { self.awaitOutbound(context) }
    }

    private func awaitOutbound(_ context: ChannelHandlerContext) {
        guard let at = self.outbound.parcels.first?.at else { return }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: at) {
            while let parcel = self.outbound.arrived(at: context.eventLoop.now) {
                switch parcel {
                case .bytes(let bytes, let promise): context.write(self.wrapOutboundOut(bytes), promise: promise)
                case .close(let mode, let promise):
                    context.flush()
                    context.close(mode: mode, promise: promise)
                }
            }
            context.flush()
            self.awaitOutbound(context)
        }
    }

    private static func fail(_ parcel: Parcel) {
        switch parcel {
        case .bytes(_, let promise), .close(_, let promise): promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }
}

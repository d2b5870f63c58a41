import APNsCore
import NIOCore

/// Stands between a provider's socket and TLS: it can refuse, end a handshake with an alert, fall silent and cut.
///
/// The TLS library below names its own alerts only, so the record of an alert is written here. Everything the library
/// wants to write after that is dropped.
final class FrontDoor: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case open
        case refusing(TLSAlert)
        case silent
        /// The connection ends: further bytes are dropped.
        case ending
    }

    private let secrets: TrafficSecrets
    private let provider: ProviderHandler
    private var state = State.open
    private var context: ChannelHandlerContext?
    private var clientHello = HelloPrefix()
    private var serverHello = HelloPrefix()

    /// How long a client has to close after an alert.
    private static let lingering = TimeAmount.seconds(5)

    /// - Parameter provider: told of the connection before anything is read.
    init(secrets: TrafficSecrets, provider: ProviderHandler) {
        self.secrets = secrets
        self.provider = provider
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }
    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        self.provider.arrived(through: self)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.forgetHandshake()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.state {
        case .open:
            self.clientHello.append(self.unwrapInboundIn(data))
            context.fireChannelRead(data)
        case .refusing(let alert):
            self.writeAndClose(alert.plainRecord)
        case .silent, .ending: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .open = self.state { context.fireChannelReadComplete() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .open = self.state else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        self.serverHello.append(self.unwrapOutboundIn(data))
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard case .open = self.state else {
            promise?.succeed()
            return
        }
        context.close(mode: mode, promise: promise)
    }

    // MARK: Commands

    func refuse(with alert: TLSAlert) { self.state = .refusing(alert) }

    /// Ends a handshake in which the client has shown its certificate. Up to TLS 1.2 nothing of this side is encrypted
    /// by then; in TLS 1.3 the alert is the first record under the server's traffic secret (RFC 8446, sections 5.2 and
    /// 6.2).
    func endHandshake(with alert: TLSAlert) {
        guard let random = self.clientHello.random, let secret = self.secrets.secret(of: random) else {
            return self.writeAndClose(alert.plainRecord)
        }
        guard let suite = self.serverHello.cipherSuite,
            let record = alert.record(secret: secret, cipherSuite: suite)
        else { return self.cut() }
        self.writeAndClose(record)
    }

    private func writeAndClose(_ record: [UInt8]) {
        guard let context = self.context else { return }
        self.state = .ending
        context.writeAndFlush(self.wrapOutboundOut(context.channel.allocator.buffer(bytes: record)), promise: nil)
        // Closing both directions with unread bytes would reset the connection and lose the alert.
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { self.cut() }
    }

    func fallSilent() { self.state = .silent }

    func cut() {
        self.state = .ending
        self.context?.close(promise: nil)
    }

    /// Its secret is not needed any more.
    func forgetHandshake() {
        guard let random = self.clientHello.random else { return }
        self.secrets.forget(random)
    }
}

private struct HelloPrefix {
    /// Record head, message head, version, random, the longest session id, cipher suite (RFC 8446, section 4.1).
    private static let length = 5 + 4 + 2 + 32 + 1 + 32 + 2
    private var bytes: [UInt8] = []

    mutating func append(_ buffer: ByteBuffer) {
        guard self.bytes.count < Self.length else { return }
        self.bytes += buffer.readableBytesView.prefix(Self.length - self.bytes.count)
    }

    /// Nil while it is not there.
    var random: ArraySlice<UInt8>? { self.bytes.count >= 43 ? self.bytes[11..<43] : nil }

    var cipherSuite: UInt16? {
        guard self.bytes.count > 43 else { return nil }
        let place = 44 + Int(self.bytes[43])
        guard self.bytes.count >= place + 2 else { return nil }
        return UInt16(self.bytes[place]) << 8 | UInt16(self.bytes[place + 1])
    }
}

import NIOCore
import NIOSSL
import TidingsModel

struct ProxyRefusal: Error, CustomStringConvertible {
    var description: String
    /// True if another try is of no use: the proxy wants something else of us.
    var isForGood: Bool
}

/// The first words on a connection through a proxy: CONNECT, and the answer (RFC 9110, section 9.3.6). Then it goes,
/// and TLS takes its place.
final class ProxyHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let target: String
    private let proxy: APNsClient.Configuration.Proxy
    private let tls: () throws -> NIOSSLClientHandler
    private var answer = ByteBuffer()
    private var isThrough = false
    private var hasFailed = false

    private static let headBytesMax = 16_384

    /// - Parameters:
    ///   - target: host and port of the far end.
    ///   - tls: makes the handler that comes after it.
    init(
        to target: String, through proxy: APNsClient.Configuration.Proxy,
        tls: @escaping () throws -> NIOSSLClientHandler
    ) {
        self.target = target
        self.proxy = proxy
        self.tls = tls
    }

    var request: String {
        var text = "CONNECT \(self.target) HTTP/1.1\r\nHost: \(self.target)\r\n"
        if let credentials = self.proxy.credentials {
            let pair = Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8), .standard)
            text += "Proxy-Authorization: Basic \(pair)\r\n"
        }
        return text + "\r\n"
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(
            self.wrapOutboundOut(context.channel.allocator.buffer(string: self.request)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.isThrough { return context.fireChannelRead(data) }
        if self.hasFailed { return }
        self.answer.writeImmutableBuffer(self.unwrapInboundIn(data))
        guard let end = self.endOfHead else {
            if self.answer.readableBytes > Self.headBytesMax {
                self.fail("answers with something that is not HTTP", isForGood: true, context)
            }
            return
        }
        let line = String(decoding: self.answer.readableBytesView.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
            return self.fail("answers with something that is not HTTP", isForGood: true, context)
        }
        guard (200..<300).contains(status) else {
            let said = words.dropFirst().joined(separator: " ").prefix(100)
            // 5xx: it could not reach the far end, or not now.
            return self.fail("refuses CONNECT to \(self.target): \(said)", isForGood: status < 500, context)
        }
        self.isThrough = true
        self.answer.moveReaderIndex(to: end)
        do {
            try context.pipeline.syncOperations.addHandler(try self.tls(), position: .after(self))
        } catch {
            return context.fireErrorCaught(error)
        }
        if self.answer.readableBytes > 0 { context.fireChannelRead(self.wrapInboundOut(self.answer)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !self.isThrough, !self.hasFailed { self.fail("closed the connection", isForGood: false, context) }
        context.fireChannelInactive()
    }

    /// Where the head ends; nil if it has not ended.
    private var endOfHead: Int? {
        let view = self.answer.readableBytesView
        let end = Array("\r\n\r\n".utf8)
        return view.indices.first { view[$0...].starts(with: end) }.map { $0 + end.count }
    }

    private func fail(_ what: String, isForGood: Bool, _ context: ChannelHandlerContext) {
        self.hasFailed = true
        let proxy = "the proxy \(self.proxy.host):\(self.proxy.port)"
        context.fireErrorCaught(ProxyRefusal(description: "\(proxy) \(what)", isForGood: isForGood))
    }
}

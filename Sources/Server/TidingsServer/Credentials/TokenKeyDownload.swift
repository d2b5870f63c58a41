import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Gets a key set by HTTP/1.1 over TLS; without TLS from this machine only. Redirects are not followed: the keys come from the
/// address the operator named.
struct TokenKeyDownload {
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    struct Address {
        var host: String
        var port: Int
        var isSecure: Bool
        var target: String

        /// - Returns: nil for anything but `https:` with a host, or `http:` with a host of this machine (RFC 8725 §2.7).
        init?(_ text: String) {
            guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil,
                url.fragment == nil
            else { return nil }
            self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            switch url.scheme?.lowercased() {
            case "https": self.isSecure = true
            case "http" where ["127.0.0.1", "::1", "localhost"].contains(self.host): self.isSecure = false
            default: return nil
            }
            self.port = url.port ?? (self.isSecure ? 443 : 80)
            let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
            self.target = path + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
        }

        /// The `Host` header.
        var authority: String { (self.host.contains(":") ? "[\(self.host)]" : self.host) + ":\(self.port)" }
    }

    /// For connecting, and for the whole answer.
    static let limit: TimeAmount = .seconds(5)

    private let address: Address
    private let trustRootsPath: String?
    private let group: any EventLoopGroup

    init(_ address: String, trustRootsPath: String?, group: any EventLoopGroup) throws {
        guard let address = Address(address) else {
            throw Fault(description: "it must begin with https://, or http:// on this machine")
        }
        self.address = address
        self.trustRootsPath = trustRootsPath
        self.group = group
    }

    /// - Throws: what NIO threw, or `Fault`.
    func run() async throws -> [UInt8] {
        let loop = self.group.next()
        let answer = loop.makePromise(of: [UInt8].self)
        let address = self.address
        let tls = try address.isSecure ? self.tls() : nil
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(Self.limit).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls {
                    let name = address.isNumeric ? nil : address.host
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
                }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(KeySetReader(answer, address))
            }
        }
        do {
            let channel = try await bootstrap.connect(host: address.host, port: address.port).get()
            let timer = loop.scheduleTask(in: Self.limit) {
                answer.fail(Fault(description: "no answer in time"))
                channel.close(promise: nil)
            }
            defer {
                timer.cancel()
                channel.close(promise: nil)
            }
            return try await answer.futureResult.get()
        } catch {
            answer.fail(error)
            throw error
        }
    }

    private func tls() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let path = self.trustRootsPath { configuration.trustRoots = .file(path) }
        configuration.applicationProtocols = ["http/1.1"]
        configuration.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: configuration)
    }
}

extension TokenKeyDownload.Address {
    /// TLS has no server name for addresses (RFC 6066 §3).
    var isNumeric: Bool { (try? SocketAddress(ipAddress: self.host, port: 0)) != nil }
}

private final class KeySetReader: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let answer: EventLoopPromise<[UInt8]>
    private let address: TokenKeyDownload.Address
    private var bytes: [UInt8] = []
    private var isDone = false

    init(_ answer: EventLoopPromise<[UInt8]>, _ address: TokenKeyDownload.Address) {
        self.answer = answer
        self.address = address
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: self.address.target)
        head.headers.add(name: "host", value: self.address.authority)
        head.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        head.headers.add(name: "connection", value: "close")
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            guard head.status == .ok else { return self.fail("status \(head.status.code)", context) }
        case .body(let part):
            guard self.bytes.count + part.readableBytes <= TokenKey.setBytesMax else {
                return self.fail("more than \(TokenKey.setBytesMax) bytes", context)
            }
            self.bytes += part.readableBytesView
        case .end:
            guard !self.isDone else { return }
            self.isDone = true
            self.answer.succeed(self.bytes)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { self.fail("the connection was closed", context) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { self.fail("\(error)", context) }

    private func fail(_ what: String, _ context: ChannelHandlerContext) {
        guard !self.isDone else { return }
        self.isDone = true
        self.answer.fail(TokenKeyDownload.Fault(description: what))
        context.close(promise: nil)
    }
}

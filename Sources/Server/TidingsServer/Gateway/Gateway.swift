import NIOCore
import NIOPosix

/// The listening socket clients connect to. Its connections live on the server's event loop.
struct Gateway: Sendable {
    private let channel: any Channel

    var address: SocketAddress? { self.channel.localAddress }

    /// - Throws: `ConfigurationFaults` naming `gateway.port` or `gateway.host` if the address is not available.
    static func bind(_ configuration: ServerConfiguration.Gateway, server: ServerLoop) async throws -> Gateway {
        let high = configuration.backlogBytesMax
        let bootstrap = ServerBootstrap(group: server.eventLoop)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // Connections taken at a time, before those that are there get their turn.
            .serverChannelOption(.maxMessagesPerRead, value: 32)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(server.makeAcceptPause())
                }
            }
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: TransientReceiveBuffers())
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: high / 2, high: high))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(server.makeConnection())
                }
            }
        do {
            return Gateway(channel: try await bootstrap.bind(host: configuration.host, port: configuration.port).get())
        } catch {
            throw ConfigurationFaults(
                address: error, section: "gateway", host: configuration.host, port: configuration.port)
        }
    }

    /// Connections stay.
    func stopAccepting() { self.channel.close(promise: nil) }
}

extension ConfigurationFaults {
    /// An address that cannot be listened on.
    init(address error: any Error, section: String, host: String, port: Int) {
        switch (error as? IOError)?.errnoCode {
        case EADDRINUSE:
            self.init(
                field: "\(section).port", rule: "must be free, but \(port) is in use on \(host)",
                remedy: "stop the other program, or set \(section).port to another port (0 takes any free one)")
        case EACCES:
            self.init(
                field: "\(section).port", rule: "must be one this user may use, got \(port)",
                remedy: "choose a port of 1024 or more")
        default:
            self.init(
                field: "\(section).host", rule: "must be an address of this machine, got \(host):\(port) (\(error))",
                remedy: "set \(section).host to 127.0.0.1, ::1, 0.0.0.0 or one of the machine's addresses")
        }
    }
}

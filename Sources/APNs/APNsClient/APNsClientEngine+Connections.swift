import APNsClientCore
import Logging
import NIOCore
import NIOPosix
import NIOSSL

extension APNsClientEngine {
    var openConnections: Int { self.connections.count { $0.isOpen } }

    func resolve(_ id: ConnectionID) {
        let host = self.configuration.proxy?.host ?? self.endpoint.host
        let timeout = self.eventLoop.scheduleTask(in: .milliseconds(self.configuration.connectTimeout)) {
            self.handle(.resolveFailed(id, "the name \(host) was not resolved in time", jitter: Self.jitter()))
        }
        self.surroundings.resolver.addresses(host, self.eventLoop).hop(to: self.eventLoop).whenComplete { result in
            timeout.cancel()
            switch result {
            case .success(let addresses): self.handle(.resolved(id, addresses))
            case .failure(let error): self.handle(.resolveFailed(id, "\(error)", jitter: Self.jitter()))
            }
        }
    }

    func connect(_ id: ConnectionID, to address: String) {
        let place = self.endpoint.text
        let port = self.configuration.proxy?.port ?? self.endpoint.port
        let handler = ClientConnectionHandler(id: id, engine: self, place: place, session: self.session)
        self.connections.append(handler)
        let (tls, proxy, timeout) = (self.tls, self.configuration.proxy, self.configuration.connectTimeout)
        let serverName = Resolver.isAddress(self.endpoint.host) ? nil : self.endpoint.host
        let box = NIOLoopBound(handler, eventLoop: self.eventLoop)
        let bootstrap = ClientBootstrap(group: self.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.milliseconds(timeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let secure = { try NIOSSLClientHandler(context: tls, serverHostname: serverName) }
                    if let proxy {
                        try pipeline.addHandler(ProxyHandler(to: place, through: proxy, tls: secure))
                    } else {
                        try pipeline.addHandler(try secure())
                    }
                    try pipeline.addHandler(box.value)
                    try box.value.begin(channel, timeout: .milliseconds(timeout))
                }
            }
        do {
            let socketAddress = try SocketAddress(ipAddress: address, port: port)
            bootstrap.connect(to: socketAddress).hop(to: self.eventLoop).whenFailure { error in
                box.value.fail(ClientTLS.fault(error, at: "\(place) (\(address))"))
            }
        } catch {
            handler.fail(.unreachable("\(place): \(address) is no address"))
        }
    }

    func opened(_ connection: ClientConnectionHandler) {
        self.metrics.openedConnection()
        self.logger.debug("connection \(connection.id.rawValue) open")
        self.handle(.connected(connection.id))
    }

    /// They do not, or the server has refused us after all.
    func failed(_ connection: ClientConnectionHandler, _ fault: APNsDispatcher.ConnectFault) {
        self.forget(connection, "connect_failed")
        self.handle(.connectFailed(connection.id, fault, jitter: Self.jitter()))
    }

    /// It has ended by itself.
    ///
    /// - Parameter unsent: the streams whose request was not written to its end.
    func lost(_ connection: ClientConnectionHandler, cause: String, unsent: [Int64]) {
        self.forget(connection, "lost")
        self.beginCycle()
        for stream in unsent { self.handle(.streamNotSent(connection.id, stream: stream)) }
        self.handle(.connectionClosed(connection.id, cause: cause, jitter: Self.jitter()))
        self.endCycle()
    }

    func limited(_ connection: ClientConnectionHandler, _ limit: Int) {
        self.metrics.limited(to: limit)
        self.handle(.streamLimitAnnounced(connection.id, limit))
    }

    /// APNs has ended something in a way the dispatcher may mend.
    func met(_ fault: String) { self.metrics.met(fault) }

    private func forget(_ connection: ClientConnectionHandler, _ cause: String) {
        self.connections.removeAll { $0 === connection }
        self.metrics.closedConnection(cause)
        self.logger.debug("connection \(connection.id.rawValue) ended: \(cause)")
    }
}

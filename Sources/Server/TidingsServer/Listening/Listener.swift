/// One of the server's listening sockets, by the section of the configuration that describes it.
enum Listener: String, CaseIterable, Sendable {
    /// The WebSocket gateway.
    case gateway
    /// The HTTP API of backends and operators.
    case api
    /// The HTTP routes for phones.
    case phone

    /// Whose it is, for errors.
    var owner: String {
        switch self {
        case .gateway: "the gateway's"
        case .api: "the API's"
        case .phone: "the phones'"
        }
    }
}

extension ServerConfiguration {
    /// Where a socket listens.
    struct ListenerAddress: Sendable {
        /// Which one it is.
        var listener: Listener
        /// The address.
        var host: String
        /// The TCP port; 0 takes any free one.
        var port: Int

        /// Whether only this machine can connect.
        var isLoopback: Bool {
            IPAddress(self.host)?.isLoopback ?? (self.host == "localhost")
        }
    }

    /// All of them, in the order in which they are opened.
    var listeners: [ListenerAddress] {
        [
            .init(listener: .gateway, host: self.gateway.host, port: self.gateway.port),
            .init(listener: .api, host: self.api.host, port: self.api.port),
            .init(listener: .phone, host: self.phone.host, port: self.phone.port),
        ]
    }
}

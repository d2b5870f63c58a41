/// By the section of the configuration that describes it.
enum Listener: String, CaseIterable, Sendable {
    case gateway
    case api
    case phone

    var owner: String {
        switch self {
        case .gateway: "the gateway's"
        case .api: "the API's"
        case .phone: "the phones'"
        }
    }
}

extension ServerConfiguration {
    struct ListenerAddress: Sendable {
        var listener: Listener
        var host: String
        var port: Int

        /// Only this machine can connect.
        var isLoopback: Bool {
            IPAddress(self.host)?.isLoopback ?? (self.host == "localhost")
        }
    }

    /// `console.local`. Where others come by a proxy, or by no way of this machine's own, a connection from it may be theirs.
    var takesLocal: Bool {
        guard self.console.local == "auto" else { return self.console.local == "true" }
        return self.proxy.addresses.isEmpty && self.listeners.allSatisfy { $0.listener != .api || $0.isLoopback }
    }

    /// In the order in which they are opened.
    var listeners: [ListenerAddress] {
        [
            .init(listener: .gateway, host: self.gateway.host, port: self.gateway.port),
            .init(listener: .api, host: self.api.host, port: self.api.port),
            .init(listener: .phone, host: self.phone.host, port: self.phone.port),
        ]
    }
}

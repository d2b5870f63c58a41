import Synchronization

/// Where a browser on this machine finds the console.
final class ConsoleAddress: Sendable {
    private let host: String?
    private let port = Mutex<Int?>(nil)

    /// - Parameter host: what the HTTP API listens on.
    init(_ host: String) {
        switch IPAddress(host) {
        case let address? where address.isLoopback: self.host = address.bytes.count == 4 ? host : "[::1]"
        case let address? where address.bytes.allSatisfy({ $0 == 0 }): self.host = "127.0.0.1"
        case .some: self.host = nil
        case nil: self.host = host == "localhost" ? host : nil
        }
    }

    func setPort(_ port: Int) { self.port.withLock { $0 = port } }

    /// Nil where only others reach it, and before the port is open.
    var text: String? {
        guard let host = self.host, let port = self.port.withLock({ $0 }) else { return nil }
        return "http://\(host):\(port)"
    }
}

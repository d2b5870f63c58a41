import Foundation
import NIOCore
import NIOPosix

/// Asks the system for the addresses of a name, afresh each time (APNs reference, section 3.5).
struct Resolver: Sendable {
    /// The addresses of a name in numbers, at least one, in an order of its own; called on the loop.
    var addresses: @Sendable (String, any EventLoop) -> EventLoopFuture<[String]>

    /// `getaddrinfo` on a thread that may block. The order is drawn anew each time, so that the load is spread.
    static let system = Resolver { host, eventLoop in
        NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
            Self.isAddress(host) ? [host] : try Self.lookUp(host).shuffled()
        }
    }

    static func isAddress(_ text: String) -> Bool { (try? SocketAddress(ipAddress: text, port: 0)) != nil }

    struct Failure: Error, CustomStringConvertible {
        var host: String
        var text: String
        var description: String { "the name \(self.host) cannot be resolved: \(self.text)" }
    }

    private static func lookUp(_ host: String) throws -> [String] {
        var hints = addrinfo()
        #if canImport(Glibc)
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        #else
            hints.ai_socktype = SOCK_STREAM
        #endif
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        guard code == 0 else { throw Failure(host: host, text: String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }
        var addresses: [String] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let isNumber = getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let address = String(decoding: bytes, as: UTF8.self)
            if isNumber == 0, !addresses.contains(address) { addresses.append(address) }
        }
        guard !addresses.isEmpty else { throw Failure(host: host, text: "no address") }
        return addresses
    }
}

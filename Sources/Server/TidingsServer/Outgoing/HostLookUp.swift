import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TidingsModel

/// Looks names of hosts up on threads of its own: names that tenants choose may take long, and must not hold up what others wait for. So each
/// app has two threads at most, and its other names wait for these.
final class HostLookUp: Sendable {
    struct NotFound: Error, CustomStringConvertible {
        var host: String
        var description: String { "no address of \(self.host)" }
    }

    static let ofAppMax = 2

    private let threads = NIOThreadPool(numberOfThreads: 16)
    private let running = NIOLockedValueBox<[AppID: Int]>([:])
    private let find: @Sendable (String, Int) throws -> [SocketAddress]

    /// - Parameter find: waits for the addresses of a host.
    init(find: @escaping @Sendable (String, Int) throws -> [SocketAddress] = { try HostLookUp.find($0, $1) }) {
        self.find = find
        self.threads.start()
    }

    /// Look-ups that have not begun fail; nobody waits for those that have, as a name server may take its time.
    func stop() { self.threads.shutdownGracefully { _ in } }

    /// All addresses of a host, in the system's order. An address in place of a name stands for itself.
    /// - Throws: `NotFound`, or `HTTPExchange.Fault.noAnswerInTime`.
    func addresses(
        of host: String, port: Int, for app: AppID, on loop: any EventLoop, until deadline: NIODeadline
    ) async throws -> [SocketAddress] {
        if let address = try? SocketAddress(ipAddress: host, port: port) { return [address] }
        while !self.begin(for: app) {
            guard NIODeadline.now() < deadline else { throw HTTPExchange.Fault.noAnswerInTime }
            try await Task.sleep(for: .milliseconds(20))
        }
        let found = loop.makePromise(of: [SocketAddress].self)
        self.threads.runIfActive(eventLoop: loop) {
            defer { self.running.withLockedValue { $0[app] = $0[app] == 1 ? nil : ($0[app] ?? 1) - 1 } }
            // Nobody waits for it any more: others may have the thread.
            guard NIODeadline.now() < deadline else { throw HTTPExchange.Fault.noAnswerInTime }
            return try self.find(host, port)
        }.cascade(to: found)
        let timer = loop.scheduleTask(deadline: deadline) { found.fail(HTTPExchange.Fault.noAnswerInTime) }
        defer { timer.cancel() }
        return try await found.futureResult.get()
    }

    private func begin(for app: AppID) -> Bool {
        self.running.withLockedValue { running in
            guard running[app, default: 0] < Self.ofAppMax else { return false }
            running[app, default: 0] += 1
            return true
        }
    }

    static func find(_ host: String, _ port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        // Each address once, not for each kind of socket.
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &first) == 0 else { throw NotFound(host: host) }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        while let info = next?.pointee {
            next = info.ai_next
            guard let address = info.ai_addr else { continue }
            switch info.ai_family {
            case AF_INET:
                addresses.append(
                    address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) })
            case AF_INET6:
                addresses.append(
                    address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) })
            default: break
            }
        }
        guard !addresses.isEmpty else { throw NotFound(host: host) }
        return addresses
    }
}

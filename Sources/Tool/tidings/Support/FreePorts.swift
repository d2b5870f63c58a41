import Foundation
import Synchronization

/// A TCP port on the loopback address on which nobody listens; never given twice.
func freePort() throws -> Int { try FreePorts.ofThisProcess.withLock { try $0.nextPort() } }

/// A port that was released a moment ago is free: servers take it over.
func isPortFree(_ port: Int) -> Bool {
    guard let descriptor = FreePorts.bound(to: port, takingOver: true) else { return false }
    defer { close(descriptor) }
    return listen(descriptor, 1) == 0
}

/// Ports below those the system chooses from: one that the system chose and that is closed again may become an
/// outgoing connection's before its server listens. Every process takes a range of its own, which it marks for other
/// processes with a socket bound to the first port for its lifetime. The tests in Python do the same
/// (Tests/ports.py).
private struct FreePorts {
    static let ofThisProcess = Mutex(FreePorts())
    private static let lowest = 10_240
    private static let part = 256

    private let border = Self.firstOfTheSystem()
    private var nextPart = Self.lowest
    private var left = 0..<0

    mutating func nextPort() throws -> Int {
        while true {
            while let port = self.left.popFirst() {
                guard let probe = Self.bound(to: port) else { continue }
                close(probe)
                return port
            }
            try self.claimPart()
        }
    }

    private mutating func claimPart() throws {
        while self.nextPart + Self.part <= self.border {
            let first = self.nextPart
            self.nextPart += Self.part
            // Stays open until the process ends.
            guard Self.bound(to: first) != nil else { continue }
            self.left = first + 1..<first + Self.part
            return
        }
        throw ToolFailure("no free port on the loopback address between \(Self.lowest) and \(self.border)")
    }

    /// Where the system's own choice begins (ip(7), ip_local_port_range): 32,768 unless configured otherwise.
    private static func firstOfTheSystem() -> Int {
        let usual = 32_768
        let text = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        guard let first = text?.split(whereSeparator: \.isWhitespace).first.flatMap({ Int($0) }) else { return usual }
        // Where the system chooses from nearly all ports, nothing but the claimed part and the probe helps.
        return first >= Self.lowest + Self.part ? min(first, usual) : usual
    }

    /// Nil if the port is in use or, unless it is taken over, was a moment ago.
    static func bound(to port: Int, takingOver: Bool = false) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var reuse: Int32 = takingOver ? 1 : 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}

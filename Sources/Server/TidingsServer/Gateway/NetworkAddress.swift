import Foundation
import NIOCore

/// Whose connections are counted together.
enum NetworkAddress {
    /// The address of IPv4, the first 64 bits of one of IPv6: whoever has one of those has all of them (RFC 6177 §2).
    ///
    /// - Returns: empty for an address of this machine, which is a proxy's: who is behind it is not known.
    static func owner(of address: SocketAddress?) -> String {
        // An address of a scope has the scope behind a percent sign.
        guard let text = address?.ipAddress?.prefix(while: { $0 != "%" }) else { return "" }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &bytes) == 1 { return Self.text(ofVersion4: Array(bytes.prefix(4))) }
        guard inet_pton(AF_INET6, String(text), &bytes) == 1 else { return "" }
        // An IPv4 address as a socket of IPv6 gives it (RFC 4291 §2.5.5.2).
        if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] {
            return Self.text(ofVersion4: Array(bytes[12...]))
        }
        if bytes.dropLast().allSatisfy({ $0 == 0 }), bytes.last == 1 { return "" }
        let groups = stride(from: 0, to: 8, by: 2).map {
            String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }

    private static func text(ofVersion4 bytes: [UInt8]) -> String {
        bytes.first == 127 ? "" : bytes.map(String.init).joined(separator: ".")
    }
}

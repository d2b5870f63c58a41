import Foundation
import NIOCore

/// An address of IPv4 or IPv6. IPv4 written as IPv6 (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) is the IPv4 address.
struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, the first one first.
    let bytes: [UInt8]

    /// Reads an address as it is usually written; nil for anything else, also for names.
    init?(_ text: String) {
        var four = [UInt8](repeating: 0, count: 4)
        var six = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &four) == 1 {
            self.bytes = four
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            let isMapped = six[..<10].allSatisfy { $0 == 0 } && six[10] == 0xff && six[11] == 0xff
            self.bytes = isMapped ? Array(six[12...]) : six
        } else {
            return nil
        }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// As inet_ntop(3) writes it.
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        _ = self.bytes.withUnsafeBytes { inet_ntop(family, $0.baseAddress, &text, socklen_t(text.count)) }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The first bits, the others zero.
    func prefix(_ bits: Int) -> IPAddress {
        IPAddress(
            bytes: self.bytes.enumerated().map { index, byte in
                let kept = min(max(bits - index * 8, 0), 8)
                return byte & ~UInt8(truncatingIfNeeded: 0xff >> kept)
            })
    }

    /// Whether it is this machine's own.
    var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes[0] == 127 : self.bytes == Array(repeating: 0, count: 15) + [1]
    }
}

/// Where a connection comes from: the peer of its socket, or what a trusted proxy says of it.
struct RemoteAddress: Hashable, Sendable {
    /// The address as text, for the log; empty if it is not known.
    var text: String
    /// What limits are counted by (`NetworkAddress.owner`).
    var network: String

    /// Nothing is known.
    static let unknown = RemoteAddress(text: "", network: "")
}

/// One address, or all that begin with the same bits: `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`.
struct IPNetwork: Hashable, Sendable {
    private let first: IPAddress
    private let bits: Int

    /// Reads a network; nil if it is not one, or has bits set behind the prefix.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let all = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.first, self.bits) = (address, all)
            return
        }
        guard let bits = Int(parts[1]), (0...all).contains(bits), address.prefix(bits) == address else { return nil }
        (self.first, self.bits) = (address, bits)
    }

    /// Whether an address is one of them.
    func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == self.first.bytes.count && address.prefix(self.bits) == self.first
    }
}

/// The proxies whose word is taken for where a request comes from (`proxy.addresses`).
struct TrustedProxies: Sendable {
    private let networks: [IPNetwork]

    /// Takes the addresses of the configuration; `validate()` has refused what is none.
    init(_ texts: [String]) { self.networks = texts.compactMap(IPNetwork.init) }

    /// Whether a peer is one of them.
    func contain(_ peer: IPAddress?) -> Bool {
        guard let peer else { return false }
        return self.networks.contains { $0.contains(peer) }
    }

    /// Where a request comes from.
    ///
    /// Each proxy appends the peer it saw to `X-Forwarded-For`; only what trusted ones have appended is known, so the list is
    /// read from its end up to the first address that is none of theirs.
    ///
    /// - Parameters:
    ///   - peer: the socket's peer; nil if it has no address.
    ///   - forwardedFor: the header, all its lines joined by commas.
    /// - Returns: the first address that is not a trusted proxy's, or the farthest that is known; nil without a peer's address.
    func client(peer: IPAddress?, forwardedFor: String?) -> IPAddress? {
        guard var client = peer else { return nil }
        for entry in (forwardedFor ?? "").split(separator: ",").reversed() {
            guard self.contain(client) else { return client }
            let text = entry.trimmingCharacters(in: .whitespaces)
            // Empty elements of a list count for nothing (RFC 9110 §5.6.1.2).
            if text.isEmpty { continue }
            guard let next = Self.address(text) else { return client }
            client = next
        }
        return client
    }

    /// The same, with what limits are counted by: of a trusted proxy that does not say for whom it asks, nothing is known.
    func remote(peer: IPAddress?, forwardedFor: String?) -> RemoteAddress {
        guard let client = self.client(peer: peer, forwardedFor: forwardedFor) else { return .unknown }
        let network = NetworkAddress.owner(of: try? SocketAddress(ipAddress: client.description, port: 0))
        return RemoteAddress(text: client.description, network: self.contain(client) ? "" : network)
    }

    /// Some proxies add the port, and write `[` and `]` around IPv6.
    private static func address(_ entry: String) -> IPAddress? {
        if let address = IPAddress(entry) { return address }
        if entry.hasPrefix("["), let end = entry.firstIndex(of: "]") {
            return IPAddress(String(entry[entry.index(after: entry.startIndex)..<end]))
        }
        return entry.split(separator: ":").first.flatMap { IPAddress(String($0)) }
    }
}

extension Optional<SocketAddress> {
    /// The peer's address without its port; nil for what is no internet address.
    var ip: IPAddress? {
        // An address of a scope has the scope behind a percent sign.
        self?.ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }
    }
}

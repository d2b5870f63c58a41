import Foundation
import Logging
import NIOConcurrencyHelpers
import NIOCore
import TidingsModel

/// IPv4 or IPv6. IPv4 written as IPv6 (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2) is the IPv4 address.
struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes, in network order.
    let bytes: [UInt8]

    /// Nil for anything but an address as it is usually written, also for names.
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

    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.bytes.count == 4 ? AF_INET : AF_INET6
        _ = self.bytes.withUnsafeBytes { inet_ntop(family, $0.baseAddress, &text, socklen_t(text.count)) }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func prefix(_ bits: Int) -> IPAddress {
        IPAddress(
            bytes: self.bytes.enumerated().map { index, byte in
                let kept = min(max(bits - index * 8, 0), 8)
                return byte & ~UInt8(truncatingIfNeeded: 0xff >> kept)
            })
    }

    /// The network whose connections are counted together: the address of IPv4, the first 64 bits of one of IPv6, since a client with one
    /// of those has all of them (RFC 6177 §2). Empty for an address of this machine, which is a proxy's: its client is not known.
    var network: String {
        guard !self.isLoopback else { return "" }
        guard self.bytes.count == 16 else { return self.description }
        let groups = stride(from: 0, to: 8, by: 2).map {
            String(UInt16(self.bytes[$0]) << 8 | UInt16(self.bytes[$0 + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }

    var isLoopback: Bool {
        self.bytes.count == 4 ? self.bytes[0] == 127 : self.bytes == Array(repeating: 0, count: 15) + [1]
    }
}

/// The peer of a socket, or what a trusted proxy says of it.
struct RemoteAddress: Hashable, Sendable {
    /// For the log; empty if it is not known.
    var text: String
    /// The network by which limits are counted (`IPAddress.network`).
    var network: String

    static let unknown = RemoteAddress(text: "", network: "")
}

/// One address, or all that begin with the same bits: `192.0.2.1`, `10.0.0.0/8`, `fd00::/8`.
struct IPNetwork: Hashable, Sendable {
    private let first: IPAddress
    private let bits: Int

    /// Nil for text that is no network, or has bits set behind the prefix.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(String(parts[0])) else { return nil }
        let all = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.first, self.bits) = (address, all)
            return
        }
        guard let bits = Int(digits: parts[1]), (0...all).contains(bits), address.prefix(bits) == address else {
            return nil
        }
        (self.first, self.bits) = (address, bits)
    }

    func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == self.first.bytes.count && address.prefix(self.bits) == self.first
    }
}

/// The proxies whose headers are believed (`proxy.addresses`).
struct TrustedProxies: Sendable {
    private let networks: [IPNetwork]
    private let isTold = NIOLockedValueBox(false)

    /// `validate()` has refused what is no address.
    init(_ texts: [String]) { self.networks = texts.compactMap(IPNetwork.init) }

    /// Says in the log, once, that others come by a proxy on this machine that does not tell for whom it asks, or is not believed: they count
    /// for no address.
    func warn(
        of peer: IPAddress?, forwardedFor: String?, hasProxyMarks: @autoclosure () -> Bool, _ logger: Logger
    ) {
        let isTrusted = self.contain(peer)
        guard let peer, peer.isLoopback, !isTrusted || forwardedFor == nil, !self.isTold.withLockedValue({ $0 }),
            hasProxyMarks()
        else { return }
        self.isTold.withLockedValue { $0 = true }
        logger.log(
            .warning, "a proxy on this machine hides who asks",
            [
                .field: "proxy.addresses", .address: peer.description,
                .reason: isTrusted ? "have it send X-Forwarded-For and X-Forwarded-Proto" : "name it there",
            ])
    }

    func contain(_ peer: IPAddress?) -> Bool {
        guard let peer else { return false }
        return self.networks.contains { $0.contains(peer) }
    }

    /// Each proxy appends the peer it saw to `X-Forwarded-For`; only what trusted ones have appended is known, so the list is read
    /// from its end up to the first address that is none of theirs.
    /// - Parameter forwardedFor: the header, all its lines joined by commas.
    /// - Returns: the first address that is not a trusted proxy's, or the farthest that is known.
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

    /// Nothing is known of a trusted proxy that does not say for whom it asks.
    func remote(peer: IPAddress?, forwardedFor: String?) -> RemoteAddress {
        guard let client = self.client(peer: peer, forwardedFor: forwardedFor) else { return .unknown }
        return RemoteAddress(text: client.description, network: self.contain(client) ? "" : client.network)
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
    var ip: IPAddress? {
        // An address of a scope has the scope behind a percent sign.
        self?.ipAddress.flatMap { IPAddress(String($0.prefix { $0 != "%" })) }
    }
}

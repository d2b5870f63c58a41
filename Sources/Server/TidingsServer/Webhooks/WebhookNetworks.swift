/// To which addresses webhooks go: their addresses are a tenant's, and must not lead into the operator's network. What is asked is the
/// address that is connected to, never the name.
struct WebhookNetworks: Sendable {
    private let allowed: [IPNetwork]

    /// `validate()` has refused what is no network.
    init(allowing texts: [String]) { self.allowed = texts.compactMap(IPNetwork.init) }

    /// `http:` is for allowed networks alone.
    var allowsPlainHTTP: Bool { !self.allowed.isEmpty }

    func admit(_ address: IPAddress, isSecure: Bool) -> Bool {
        if self.allowed.contains(where: { $0.contains(address) }) { return true }
        guard isSecure else { return false }
        if let inner = address.translated { return !Self.isReserved(inner) }
        return !Self.isReserved(address)
    }

    private static func isReserved(_ address: IPAddress) -> Bool { Self.reserved.contains { $0.contains(address) } }

    /// Whatever is not for everybody (IANA, special-purpose addresses, RFC 6890), multicast, and IPv6 in which an address of IPv4 is hidden.
    private static let reserved: [IPNetwork] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // Unspecified, loopback and IPv4-compatible; what is mapped is IPv4 already (`IPAddress`).
        "::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16",
        "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].compactMap(IPNetwork.init)
}

extension IPAddress {
    /// The address of IPv4 that a translator stands for (RFC 6052 §2.1); nil for others.
    fileprivate var translated: IPAddress? {
        guard IPNetwork("64:ff9b::/96")?.contains(self) == true else { return nil }
        return IPAddress(self.bytes.suffix(4).map { "\($0)" }.joined(separator: "."))
    }
}

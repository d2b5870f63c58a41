/// The rules for a URL that one phone gives to another: it names a place on the web. Nobody here follows it.
public enum WebAddress {
    /// The longest URL in bytes.
    public static let bytesMax = 2_048

    /// Throws `InvalidField` unless it is `https` or `http` with a host, in the characters of a URL (RFC 3986 §2).
    public static func check(_ text: String, field: String) throws(InvalidField) {
        try InvalidField.check(text.utf8.count, atMost: Self.bytesMax, field, unit: " bytes")
        try InvalidField.check(
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), field,
            "must be written in ASCII without spaces; percent-encode everything else")
        try InvalidField.check(Self.host(of: text) != nil, field, "must be an https or http URL with a host")
    }

    /// Returns true if a URL passes the check and asks for an encrypted connection.
    public static func isSecure(_ text: String) -> Bool {
        guard text.utf8.prefix(8).map(Self.lowercased).elementsEqual("https://".utf8) else { return false }
        do throws(InvalidField) { try Self.check(text, field: "url") } catch { return false }
        return true
    }

    /// Returns the host as it is written; nil unless the scheme is `https` or `http`.
    package static func host(of text: String) -> Substring? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard ["https", "http"].contains(where: { scheme.map(Self.lowercased).elementsEqual($0.utf8) }) else {
            return nil
        }
        let rest = text[scheme.endIndex...]
        guard rest.hasPrefix("://") else { return nil }
        let authority = rest.dropFirst(3).prefix { !"/?#\\".contains($0) }
        let host = (authority.split(separator: "@", omittingEmptySubsequences: false).last ?? "").prefix { $0 != ":" }
        return host.isEmpty ? nil : host
    }

    /// Returns true if a host is one of those listed: capitals do not count, and `*.example.com` means every host below `example.com`, but
    /// not that one itself. An address such as `127.0.0.1` has no host below it: it is listed by itself alone.
    package static func isHost(_ host: some StringProtocol, among hosts: [String]) -> Bool {
        let host = host.lowercased()
        return hosts.contains { listed in
            let listed = listed.lowercased()
            guard listed.hasPrefix("*.") else { return host == listed }
            // No top-level domain ends with a digit (RFC 3696 §2): this is an address.
            if let last = host.utf8.last, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last) { return false }
            return host.hasSuffix(listed.dropFirst()) && host.utf8.count >= listed.utf8.count
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}

/// The percent signs of a URL (RFC 3986 §2.1): one decoder for paths and queries, byte for byte, so that an id names the same one there as in
/// a body or a token. Foundation's `removingPercentEncoding` drops a byte-order mark.
package enum PercentEncoding {
    /// Nil unless each percent sign has two digits behind it, and the bytes are UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let pair = Hexadecimal.bytes(rest.prefix(2)), let coded = pair.first else { return nil }
                byte = coded
                rest = rest.dropFirst(2)
            }
            bytes.append(byte)
        }
        // What is no UTF-8 is not repaired: two ids would become one.
        let decoded = String(decoding: bytes, as: UTF8.self)
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }

    /// The members of a query in their order, a value empty where there is none; nil if one cannot be decoded. A plus sign is itself.
    package static func members(of query: some StringProtocol) -> [(name: String, value: String)]? {
        var members: [(name: String, value: String)] = []
        for member in query.split(separator: "&") {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(parts[0]), let value = Self.decode(parts.dropFirst().first ?? "") else {
                return nil
            }
            members.append((name, value))
        }
        return members
    }
}

extension FixedWidthInteger {
    /// Reads a number of a header, a query or a cursor: ASCII digits without a sign. Nil for anything else, and for what does not fit.
    package init?(digits text: some StringProtocol) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}

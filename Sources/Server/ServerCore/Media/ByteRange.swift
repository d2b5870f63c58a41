/// Which bytes of a file are asked for (RFC 9110 §14).
package enum ByteRange: Hashable, Sendable {
    case whole
    case part(Range<Int64>)
    /// Status 416: none of the bytes asked for is there.
    case unsatisfiable

    /// Several ranges, other units and whatever is no range are answered with the whole, as a server may (§14.2).
    /// - Parameters: header: of `Range`; nil for none. size: of the file.
    package init(_ header: String?, of size: Int64) {
        self = header.flatMap { Self.single($0, size) } ?? .whole
    }

    private static func single(_ header: String, _ size: Int64) -> ByteRange? {
        let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = Self.trimmed(parts[1]).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        let (first, last) = (Self.number(ends[0]), Self.number(ends[1]))
        if ends[0].isEmpty {
            // The last bytes of it.
            guard let count = last else { return nil }
            return count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        }
        guard let first else { return nil }
        if ends[1].isEmpty { return first < size ? .part(first..<size) : .unsatisfiable }
        guard let last, last >= first else { return nil }
        // Not `last + 1` before it is compared: the header may name the greatest number there is.
        return first < size ? .part(first..<(last < size ? last + 1 : size)) : .unsatisfiable
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }

    /// Digits alone; a number beyond every file is as good as any.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text) ?? .max - 1
    }
}

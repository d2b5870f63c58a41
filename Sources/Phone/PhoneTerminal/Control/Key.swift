enum Key: Hashable, Sendable {
    case character(Character)
    case enter
    case escape
    case backspace
    case up
    case down
    case pageUp
    case pageDown
    case interrupt
    case redraw
    /// Never read as keys.
    case pasted(String)
}

/// Keys other than these are passed over.
struct KeyReader: Sendable {
    private var bytes: [UInt8] = []
    private static let pasteBegin = Array("\u{1b}[200~".utf8)
    private static let pasteEnd = Array("\u{1b}[201~".utf8)
    /// A longer paste is cut.
    private static let pasteMax = 65_536

    /// An escape may be the key or the beginning of a longer sequence.
    var isInside: Bool { !self.bytes.isEmpty }

    mutating func append(_ new: some Sequence<UInt8>) -> [Key] {
        self.bytes += new
        var keys: [Key] = []
        while let (key, length) = self.next() {
            self.bytes.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// No more bytes are coming: what waits is complete.
    mutating func flush() -> [Key] {
        guard let first = self.bytes.first, !self.isInPaste else { return [] }
        self.bytes = []
        return first == 0x1b ? [.escape] : []
    }

    private var isInPaste: Bool { self.bytes.starts(with: Self.pasteBegin) }

    /// No key for bytes without a meaning; nil if more bytes are needed.
    private func next() -> (Key?, Int)? {
        guard let first = self.bytes.first else { return nil }
        switch first {
        case 0x1b: return self.sequence()
        case 0x03: return (.interrupt, 1)
        case 0x0c: return (.redraw, 1)
        case 0x0a, 0x0d: return (.enter, 1)
        case 0x08, 0x7f: return (.backspace, 1)
        case 0..<0x20: return (nil, 1)
        case 0x20..<0x7f: return (.character(Character(Unicode.Scalar(first))), 1)
        default: return self.letter(first)
        }
    }

    private func letter(_ first: UInt8) -> (Key?, Int)? {
        // RFC 3629 §4: what may come first, and that the others are 0x80 to 0xbf.
        guard (0xc2...0xf4).contains(first) else { return (nil, 1) }
        let length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
        guard self.bytes[1...].prefix(length - 1).allSatisfy({ (0x80...0xbf).contains($0) }) else { return (nil, 1) }
        guard self.bytes.count >= length else { return nil }
        guard let text = String(validating: self.bytes[..<length], as: UTF8.self), let letter = text.first else {
            return (nil, 1)
        }
        return (.character(letter), length)
    }

    private func sequence() -> (Key?, Int)? {
        guard self.bytes.count > 1 else { return nil }
        guard self.bytes[1] == 0x5b || self.bytes[1] == 0x4f else { return (.escape, 1) }
        if self.isInPaste { return self.paste() }
        // ECMA-48 §5.4: parameters and intermediates below 0x40, then one final byte.
        guard let end = self.bytes.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) }) else {
            return self.bytes.count > 32 ? (nil, 1) : nil
        }
        let length = end + 1
        switch String(decoding: self.bytes[2..<length], as: UTF8.self) {
        case "A": return (.up, length)
        case "B": return (.down, length)
        case "5~": return (.pageUp, length)
        case "6~": return (.pageDown, length)
        default: return (nil, length)
        }
    }

    private func paste() -> (Key?, Int)? {
        let content = self.bytes.dropFirst(Self.pasteBegin.count)
        guard let end = content.indices.first(where: { content[$0...].starts(with: Self.pasteEnd) }) else {
            return content.count > Self.pasteMax ? (nil, self.bytes.count) : nil
        }
        return (.pasted(String(decoding: content[..<end], as: UTF8.self)), end + Self.pasteEnd.count)
    }
}

/// Tells without building a tree whether a text is surely a JSON object that `JSONValue(parsing:)` accepts.
///
/// "No" means only that the slow way must decide: for faults, and for what payloads hardly ever have, namely objects
/// with many members and keys with escapes or other than ASCII letters, whose comparison is not one of bytes.
struct JSONScanner {
    private let bytes: [UInt8]
    private var index = 0
    /// Where each key of the objects that are open begins and ends, quotation marks left out.
    private var keys: [(start: Int, end: Int)] = []
    /// For each level that is open, the first of its keys; -1 for an array.
    private var levels: [Int] = []

    /// As `JSONValue(parsing:)` has it by default.
    private static let depthMax = 64
    /// The most members of an object for which comparing every two keys is the quick way.
    private static let membersMax = 24

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether the text is surely one JSON object.
    static func isSurelyObject(_ bytes: [UInt8]) -> Bool {
        var scanner = JSONScanner(bytes)
        return scanner.document()
    }

    private mutating func document() -> Bool {
        self.skipSpace()
        guard self.peek == UInt8(ascii: "{") else { return false }
        repeat {
            guard self.value() else { return false }
            // A value has ended, or a level has begun: close what ends here, or go to the next value.
            guard self.advance() else { return false }
        } while !self.levels.isEmpty
        self.skipSpace()
        return self.index == self.bytes.count
    }

    private var peek: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    private mutating func skipSpace() {
        while let byte = self.peek, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { self.index += 1 }
    }

    /// Reads a scalar, or opens a level.
    private mutating func value() -> Bool {
        self.skipSpace()
        switch self.peek {
        case UInt8(ascii: "\""): return self.string(asKey: false)
        case UInt8(ascii: "{"): return self.open(self.keys.count)
        case UInt8(ascii: "["): return self.open(-1)
        case UInt8(ascii: "t"): return self.literal("true")
        case UInt8(ascii: "f"): return self.literal("false")
        case UInt8(ascii: "n"): return self.literal("null")
        default: return self.number()
        }
    }

    private mutating func open(_ level: Int) -> Bool {
        guard self.levels.count < Self.depthMax else { return false }
        self.levels.append(level)
        self.index += 1
        return true
    }

    /// After a value or an opening: comes to the place where the next value begins, or closes the last level.
    private mutating func advance() -> Bool {
        while let level = self.levels.last {
            // Only right behind an opening the next byte may be neither a comma nor an end.
            let isFresh = self.isFresh
            self.skipSpace()
            guard let byte = self.peek else { return false }
            if byte == (level < 0 ? UInt8(ascii: "]") : UInt8(ascii: "}")) {
                self.index += 1
                self.levels.removeLast()
                if level >= 0 { self.keys.removeLast(self.keys.count - level) }
                continue
            }
            if !isFresh {
                guard byte == UInt8(ascii: ",") else { return false }
                self.index += 1
            }
            return level < 0 ? true : self.key(from: level)
        }
        return true
    }

    private var isFresh: Bool {
        let byte = self.bytes[self.index - 1]
        return byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
    }

    private mutating func key(from level: Int) -> Bool {
        self.skipSpace()
        guard self.peek == UInt8(ascii: "\"") else { return false }
        let start = self.index + 1
        guard self.string(asKey: true) else { return false }
        let end = self.index - 1
        guard self.keys.count - level < Self.membersMax else { return false }
        for other in self.keys[level...] where other.end - other.start == end - start {
            if self.bytes[other.start..<other.end].elementsEqual(self.bytes[start..<end]) { return false }
        }
        self.keys.append((start, end))
        self.skipSpace()
        guard self.peek == UInt8(ascii: ":") else { return false }
        self.index += 1
        return true
    }

    private mutating func literal(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard self.index + count <= self.bytes.count else { return false }
        let isSame = word.withUTF8Buffer { self.bytes[self.index..<self.index + count].elementsEqual($0) }
        self.index += count
        return isSame
    }

    private mutating func digits() -> Bool {
        let start = self.index
        while let byte = self.peek, byte >= 0x30, byte <= 0x39 { self.index += 1 }
        return self.index > start
    }

    private mutating func number() -> Bool {
        if self.peek == UInt8(ascii: "-") { self.index += 1 }
        let isZero = self.peek == UInt8(ascii: "0")
        let start = self.index
        guard self.digits(), !isZero || self.index == start + 1 else { return false }
        if self.peek == UInt8(ascii: ".") {
            self.index += 1
            guard self.digits() else { return false }
        }
        if self.peek == UInt8(ascii: "e") || self.peek == UInt8(ascii: "E") {
            self.index += 1
            if self.peek == UInt8(ascii: "+") || self.peek == UInt8(ascii: "-") { self.index += 1 }
            return self.digits()
        }
        return true
    }

    private mutating func string(asKey: Bool) -> Bool {
        self.index += 1
        while self.index < self.bytes.count {
            let byte = self.bytes[self.index]
            if byte == UInt8(ascii: "\"") {
                self.index += 1
                return true
            }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\") {
                guard !asKey, self.escape() else { return false }
            } else if byte < 0x80 {
                self.index += 1
            } else {
                guard !asKey, self.character(byte) else { return false }
            }
        }
        return false
    }

    private mutating func escape() -> Bool {
        self.index += 1
        switch self.peek {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            self.index += 1
            return true
        case UInt8(ascii: "u"):
            self.index += 1
            guard let code = self.fourDigits() else { return false }
            guard (0xd800..<0xe000).contains(code) else { return true }
            // A surrogate: the high one first, then the low one (RFC 8259, section 7).
            guard code < 0xdc00, self.peek == UInt8(ascii: "\\") else { return false }
            self.index += 1
            guard self.peek == UInt8(ascii: "u") else { return false }
            self.index += 1
            guard let low = self.fourDigits() else { return false }
            return (0xdc00..<0xe000).contains(low)
        default: return false
        }
    }

    private mutating func fourDigits() -> UInt16? {
        var code: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = self.peek else { return nil }
            switch byte {
            case 0x30...0x39: code = code << 4 | UInt16(byte - 0x30)
            case 0x41...0x46: code = code << 4 | UInt16(byte - 0x41 + 10)
            case 0x61...0x66: code = code << 4 | UInt16(byte - 0x61 + 10)
            default: return nil
            }
            self.index += 1
        }
        return code
    }

    /// One character beyond ASCII, by the table of RFC 3629, section 4.
    private mutating func character(_ lead: UInt8) -> Bool {
        let second: ClosedRange<UInt8>
        let more: Int
        switch lead {
        case 0xc2...0xdf: (second, more) = (0x80...0xbf, 0)
        case 0xe0: (second, more) = (0xa0...0xbf, 1)
        case 0xe1...0xec, 0xee...0xef: (second, more) = (0x80...0xbf, 1)
        case 0xed: (second, more) = (0x80...0x9f, 1)
        case 0xf0: (second, more) = (0x90...0xbf, 2)
        case 0xf1...0xf3: (second, more) = (0x80...0xbf, 2)
        case 0xf4: (second, more) = (0x80...0x8f, 2)
        default: return false
        }
        guard self.index + 1 + more < self.bytes.count, second.contains(self.bytes[self.index + 1]) else {
            return false
        }
        for offset in 0..<more where !(0x80...0xbf).contains(self.bytes[self.index + 2 + offset]) { return false }
        self.index += 2 + more
        return true
    }
}

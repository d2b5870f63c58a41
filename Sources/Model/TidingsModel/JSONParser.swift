extension JSONValue {
    /// Parses one JSON text in UTF-8 (RFC 8259). Strict: no byte-order mark, no repeated keys, no lone surrogates,
    /// nothing after the value, at most `depthMax` nested arrays and objects. Throws `JSONError` with the byte
    /// offset.
    public init(parsing bytes: some Sequence<UInt8>, depthMax: Int = 64) throws(JSONError) {
        var parser = JSONParser(bytes: Array(bytes), depthMax: depthMax)
        self = try parser.document()
    }

    /// Throws `JSONError` with the byte offset of the fault.
    public init(parsing text: String, depthMax: Int = 64) throws(JSONError) {
        try self.init(parsing: text.utf8, depthMax: depthMax)
    }
}

/// Why a JSON text could not be parsed, and at which byte (0 is the first).
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault.
    public var fault: Fault
    /// The offset in bytes.
    public var offset: Int

    /// A fault in a JSON text.
    public enum Fault: Hashable, Sendable {
        case unexpectedEnd
        case unexpectedByte(UInt8)
        case trailingBytes
        case tooDeep(max: Int)
        case duplicateKey(String)
        /// A string is not UTF-8, or an escape names a lone surrogate.
        case badText
        /// RFC 8259 §6.
        case badNumber
    }

    /// One sentence with the offset.
    public var description: String {
        let what =
            switch self.fault {
            case .unexpectedEnd: "the text ends too early"
            case .unexpectedByte(let byte): "unexpected byte 0x\(String(byte, radix: 16))"
            case .trailingBytes: "something follows the value"
            case .tooDeep(let max): "more than \(max) arrays and objects inside each other"
            case .duplicateKey(let key): "the key \"\(key)\" stands twice"
            case .badText: "a string is not valid Unicode"
            case .badNumber: "malformed number"
            }
        return "\(what) at byte \(self.offset)"
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    let depthMax: Int
    var index = 0
    var depth = 0

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try self.value()
        self.skipSpace()
        guard self.index == self.bytes.count else { throw self.error(.trailingBytes) }
        return value
    }

    private func error(_ fault: JSONError.Fault) -> JSONError { JSONError(fault: fault, offset: self.index) }

    private var unexpected: JSONError {
        self.index < self.bytes.count ? self.error(.unexpectedByte(self.bytes[self.index])) : self.error(.unexpectedEnd)
    }

    private mutating func skipSpace() {
        while self.index < self.bytes.count {
            switch self.bytes[self.index] {
            case 0x20, 0x09, 0x0a, 0x0d: self.index += 1
            default: return
            }
        }
    }

    private var peek: UInt8? { self.index < self.bytes.count ? self.bytes[self.index] : nil }

    private mutating func expect(_ byte: UInt8) throws(JSONError) {
        guard self.peek == byte else { throw self.unexpected }
        self.index += 1
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount { try self.expect(text.utf8Start[offset]) }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        self.skipSpace()
        switch self.peek {
        case UInt8(ascii: "{"): return .object(try self.object())
        case UInt8(ascii: "["): return .array(try self.array())
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.literal("true", .bool(true))
        case UInt8(ascii: "f"): return try self.literal("false", .bool(false))
        case UInt8(ascii: "n"): return try self.literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || (byte >= 0x30 && byte <= 0x39):
            return .number(try self.number())
        default: throw self.unexpected
        }
    }

    private mutating func enter() throws(JSONError) {
        guard self.depth < self.depthMax else { throw self.error(.tooDeep(max: self.depthMax)) }
        self.depth += 1
        self.index += 1
        self.skipSpace()
    }

    private mutating func leave() {
        self.depth -= 1
        self.index += 1
    }

    private mutating func object() throws(JSONError) -> JSONObject {
        try self.enter()
        var object = JSONObject()
        var keys: Set<String> = []
        if self.peek == UInt8(ascii: "}") {
            self.leave()
            return object
        }
        while true {
            self.skipSpace()
            let start = self.index
            guard self.peek == UInt8(ascii: "\"") else { throw self.unexpected }
            let key = try self.string()
            guard self.isNew(key, in: object, &keys) else { throw JSONError(fault: .duplicateKey(key), offset: start) }
            self.skipSpace()
            try self.expect(UInt8(ascii: ":"))
            object.append(key: key, value: try self.value())
            self.skipSpace()
            switch self.peek {
            case UInt8(ascii: ","): self.index += 1
            case UInt8(ascii: "}"):
                self.leave()
                return object
            default: throw self.unexpected
            }
        }
    }

    /// A linear look-up is the fastest for the objects people write; a set keeps hostile ones from costing quadratic time.
    private func isNew(_ key: String, in object: JSONObject, _ keys: inout Set<String>) -> Bool {
        guard object.members.count >= 16 else { return !object.members.contains { $0.key == key } }
        if keys.isEmpty { keys = Set(object.members.map(\.key)) }
        return keys.insert(key).inserted
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
        try self.enter()
        var elements: [JSONValue] = []
        if self.peek == UInt8(ascii: "]") {
            self.leave()
            return elements
        }
        while true {
            elements.append(try self.value())
            self.skipSpace()
            switch self.peek {
            case UInt8(ascii: ","): self.index += 1
            case UInt8(ascii: "]"):
                self.leave()
                return elements
            default: throw self.unexpected
            }
        }
    }

    private mutating func digits() throws(JSONError) {
        let start = self.index
        while let byte = self.peek, byte >= 0x30, byte <= 0x39 { self.index += 1 }
        guard self.index > start else { throw self.peek == nil ? self.error(.unexpectedEnd) : self.error(.badNumber) }
    }

    private mutating func number() throws(JSONError) -> JSONNumber {
        let start = self.index
        if self.peek == UInt8(ascii: "-") { self.index += 1 }
        if self.peek == UInt8(ascii: "0") {
            self.index += 1
            if let next = self.peek, next >= 0x30, next <= 0x39 { throw self.error(.badNumber) }
        } else {
            try self.digits()
        }
        if self.peek == UInt8(ascii: ".") {
            self.index += 1
            try self.digits()
        }
        if self.peek == UInt8(ascii: "e") || self.peek == UInt8(ascii: "E") {
            self.index += 1
            if self.peek == UInt8(ascii: "+") || self.peek == UInt8(ascii: "-") { self.index += 1 }
            try self.digits()
        }
        return JSONNumber(checked: String(decoding: self.bytes[start..<self.index], as: UTF8.self))
    }

    private mutating func string() throws(JSONError) -> String {
        let start = self.index
        self.index += 1
        var plainStart = self.index
        var collected: [UInt8] = []
        var allBits: UInt8 = 0
        while true {
            guard let byte = self.peek else { throw self.error(.unexpectedEnd) }
            allBits |= byte
            switch byte {
            case UInt8(ascii: "\""):
                let plain = self.bytes[plainStart..<self.index]
                self.index += 1
                // Nothing can be wrong with ASCII, and not to validate it is three times as fast.
                if allBits < 0x80, collected.isEmpty { return String(decoding: plain, as: UTF8.self) }
                guard let text = String(validating: collected + plain, as: UTF8.self) else {
                    throw JSONError(fault: .badText, offset: start)
                }
                return text
            case UInt8(ascii: "\\"):
                collected += self.bytes[plainStart..<self.index]
                self.index += 1
                try self.escape(into: &collected)
                plainStart = self.index
            case 0x00..<0x20: throw self.unexpected
            default: self.index += 1
            }
        }
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(JSONError) {
        guard let byte = self.peek else { throw self.error(.unexpectedEnd) }
        let start = self.index
        self.index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(byte)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0c)
        case UInt8(ascii: "n"): bytes.append(0x0a)
        case UInt8(ascii: "r"): bytes.append(0x0d)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            var code = UInt32(try self.fourDigits())
            if (0xd800..<0xdc00).contains(code) {
                guard self.peek == UInt8(ascii: "\\") else { throw JSONError(fault: .badText, offset: start) }
                self.index += 1
                guard self.peek == UInt8(ascii: "u") else { throw JSONError(fault: .badText, offset: start) }
                self.index += 1
                let low = UInt32(try self.fourDigits())
                guard (0xdc00..<0xe000).contains(low) else { throw JSONError(fault: .badText, offset: start) }
                code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw JSONError(fault: .badText, offset: start) }
            bytes.append(contentsOf: Character(scalar).utf8)
        default:
            self.index = start
            throw self.unexpected
        }
    }

    private mutating func fourDigits() throws(JSONError) -> UInt16 {
        var code: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = self.peek else { throw self.error(.unexpectedEnd) }
            guard let digit = Hexadecimal.value(of: byte) else { throw self.unexpected }
            code = code << 4 | UInt16(digit)
            self.index += 1
        }
        return code
    }
}

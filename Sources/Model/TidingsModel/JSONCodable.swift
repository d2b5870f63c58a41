/// A value with one JSON form, written and read through its `Codable` conformance.
///
/// Members are named as the coding keys are, in snake case: `earliestBegin` is `earliest_begin`. A coding key whose text is empty stands
/// for members that lie beside the others instead of in an object of their own.
package protocol JSONCodable: Codable {
    /// The members that are left out rather than null while there is no value, by their names in JSON. None unless said otherwise.
    static var leftOutMembers: [String] { get }
}

extension JSONCodable {
    /// None are left out.
    package static var leftOutMembers: [String] { [] }

    /// The value as JSON.
    package var json: JSONValue { JSONValueEncoder().encode(self) }

    /// Reads the value. Members it does not know are passed over.
    ///
    /// - Throws: `InvalidField` naming the member that is missing or wrong with its path, as `actions[2].title`.
    package init(json: JSONValue) throws(InvalidField) {
        self = try JSONValueDecoder().decode(Self.self, from: json)
    }

    /// The value as one line of JSON, with its line feed.
    package var line: [UInt8] {
        var bytes = self.json.serialized
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Reads a line, without its line feed.
    ///
    /// - Throws: `InvalidField` naming the member that is missing or wrong with its path, or `line` for what is no JSON object.
    package init(line: some Collection<UInt8>, depthMax: Int = 64) throws(InvalidField) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: line, depthMax: depthMax) } catch {
            throw InvalidField(field: "line", rule: "must be one JSON object: \(error)")
        }
        self = try JSONValueDecoder(root: "line").decode(Self.self, from: json)
    }
}

/// An enumeration with values that is written as one flat object: one member names the case, the others are its values.
///
/// Its `Codable` conformance is the compiler's own.
package protocol JSONTagged: JSONCodable {
    /// How its cases are written.
    static var tag: JSONTag { get }
}

/// How the cases of a `JSONTagged` enumeration are written.
package struct JSONTag: Sendable {
    /// The member that names the case.
    let key: String
    /// What the enumeration is, with its article, for the error about a word that is none of its cases.
    let meaning: String
    /// Whether the cases' words are their Swift names rather than these in snake case.
    let keepsCaseNames: Bool
    /// By case, the names of the values that are not called by their labels in snake case.
    private let names: [String: [String: String]]

    /// - Parameters:
    ///   - key: the member that names the case.
    ///   - meaning: what the enumeration is, with its article, as in "a message of a phone".
    ///   - keepsCaseNames: whether the cases' words are their Swift names rather than these in snake case.
    ///   - names: by Swift case, names of values by Swift label; `_0` is the first value if it has no label, and is named as the
    ///     case is unless this says otherwise. An empty name puts the value's own members beside the others; what stands under an
    ///     empty label is the case's own word.
    package init(
        _ key: String, meaning: String, keepsCaseNames: Bool = false, names: [String: [String: String]] = [:]
    ) {
        self.key = key
        self.meaning = meaning
        self.keepsCaseNames = keepsCaseNames
        self.names = names
    }

    func word(_ caseName: String) -> String {
        self.names[caseName]?[""] ?? (self.keepsCaseNames ? caseName : JSONName.snakeCase(caseName))
    }

    /// The case with a word; the cases' coding keys say whether there is one.
    func caseName(_ word: String) -> String {
        // tidy: order does not leave: words are unique.
        if let named = self.names.first(where: { $0.value[""] == word }) { return named.key }
        return self.keepsCaseNames ? word : JSONName.camelCase(word)
    }

    func name(of label: String, in caseName: String) -> String {
        if let name = self.names[caseName]?[label] { return name }
        return label == "_0" ? self.word(caseName) : JSONName.snakeCase(label)
    }
}

/// Names in Swift and in JSON.
enum JSONName {
    /// `earliestBegin` becomes `earliest_begin`, `apnsID` becomes `apns_id`; what is in snake case stays.
    static func snakeCase(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(where: Self.isUpper) else { return name }
        var result: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            guard Self.isUpper(byte) else {
                result.append(byte)
                continue
            }
            let endsRun = index + 1 < bytes.count && !Self.isUpper(bytes[index + 1])
            if index > 0, endsRun || !Self.isUpper(bytes[index - 1]) { result.append(UInt8(ascii: "_")) }
            result.append(byte + 0x20)
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The other way round, for words without runs of capitals.
    static func camelCase(_ name: String) -> String {
        var result: [UInt8] = []
        var isStart = false
        for byte in name.utf8 {
            if byte == UInt8(ascii: "_") {
                isStart = true
            } else {
                result.append(isStart && (0x61...0x7a).contains(byte) ? byte - 0x20 : byte)
                isStart = false
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte) }
}

/// One step of a coding path.
enum JSONStep: CodingKey {
    case member(String)
    case element(Int)

    var stringValue: String {
        switch self {
        case .member(let name): name
        case .element(let index): "\(index)"
        }
    }
    var intValue: Int? {
        guard case .element(let index) = self else { return nil }
        return index
    }
    init(stringValue: String) { self = .member(stringValue) }
    init(intValue: Int) { self = .element(intValue) }
}

/// What JSON has a form for that is not made of other values.
protocol JSONScalar {
    init?(scalar: JSONValue)
    var scalar: JSONValue { get }
    /// The rule that a value breaks which is none.
    static func rule(_ value: JSONValue) -> String
}

extension Bool: JSONScalar {
    init?(scalar: JSONValue) {
        guard let flag = scalar.boolValue else { return nil }
        self = flag
    }
    var scalar: JSONValue { .bool(self) }
    static func rule(_ value: JSONValue) -> String { "must be a Boolean, got \(value.typeName)" }
}

extension String: JSONScalar {
    init?(scalar: JSONValue) {
        guard let text = scalar.stringValue else { return nil }
        self = text
    }
    var scalar: JSONValue { .string(self) }
    static func rule(_ value: JSONValue) -> String { "must be a string, got \(value.typeName)" }
}

extension Double: JSONScalar {
    init?(scalar: JSONValue) {
        guard case .number(let number) = scalar else { return nil }
        self = number.double
    }
    /// Null for what JSON has no number for.
    var scalar: JSONValue { JSONNumber(self).map { .number($0) } ?? .null }
    static func rule(_ value: JSONValue) -> String { "must be a number, got \(value.typeName)" }
}

extension Float: JSONScalar {
    init?(scalar: JSONValue) {
        guard let double = Double(scalar: scalar) else { return nil }
        self.init(double)
    }
    var scalar: JSONValue { Double(self).scalar }
    static func rule(_ value: JSONValue) -> String { Double.rule(value) }
}

/// Whole numbers are read from their digits: none is rounded.
extension JSONScalar where Self: FixedWidthInteger {
    init?(scalar: JSONValue) {
        guard case .number(let number) = scalar else { return nil }
        self.init(number.literal)
    }
    var scalar: JSONValue { .int(self) }
    static func rule(_ value: JSONValue) -> String {
        guard case .number = value else { return "must be a whole number, got \(value.typeName)" }
        return "must be a whole number from \(Self.min) to \(Self.max), got \(value.text)"
    }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}

/// A dictionary by names, whose keys are no coding keys: they are written as they are.
protocol JSONDictionary {}

extension Dictionary: JSONDictionary where Key == String {}

extension JSONValue: Codable {
    /// Reads any JSON. Only `JSONValueDecoder` keeps the text of a number and the order of members; others give what they have.
    public init(from decoder: any Decoder) throws {
        if let reading = decoder as? JSONReading {
            self = reading.value
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
            self = .array(values)
        } else if let members = try? decoder.container(keyedBy: JSONStep.self) {
            self = .members(
                try members.allKeys.map { ($0.stringValue, try members.decode(JSONValue.self, forKey: $0)) })
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let flag = try? container.decode(Bool.self) {
                self = .bool(flag)
            } else if let number = try? container.decode(Int64.self) {
                self = .int(number)
            } else if let number = try? container.decode(Double.self), let number = JSONNumber(number) {
                self = .number(number)
            } else {
                self = .string(try container.decode(String.self))
            }
        }
    }

    /// Writes the value; with another encoder than `JSONValueEncoder` a number that is not whole becomes the nearest double.
    public func encode(to encoder: any Encoder) throws {
        if let writing = encoder as? JSONWriting { return writing.put(self) }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let flag): try container.encode(flag)
        case .number(let number):
            if let whole = number.int64 { try container.encode(whole) } else { try container.encode(number.double) }
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let object): try container.encode(object)
        }
    }
}

extension JSONObject: Codable {
    /// Reads an object of any members.
    public init(from decoder: any Decoder) throws {
        if let reading = decoder as? JSONReading {
            self = try reading.object()
        } else {
            let members = try decoder.container(keyedBy: JSONStep.self)
            self.init(try members.allKeys.map { ($0.stringValue, try members.decode(JSONValue.self, forKey: $0)) })
        }
    }

    /// Writes the members in order.
    public func encode(to encoder: any Encoder) throws {
        if let writing = encoder as? JSONWriting { return writing.put(.object(self)) }
        var container = encoder.container(keyedBy: JSONStep.self)
        for (key, value) in self.members { try container.encode(value, forKey: .member(key)) }
    }
}

/// A value with one JSON form, through its `Codable` conformance. Members are named as the coding keys in snake case
/// (`earliestBegin` is `earliest_begin`); an empty coding key stands for members beside the others instead of in an
/// object of their own. Bytes are hexadecimal digits.
package protocol JSONCodable: Codable, JSONWritable {
    /// Left out instead of null without a value, and as a list without elements or a zero; by their names in JSON.
    static var leftOutMembers: [String] { get }
}

extension JSONCodable {
    package static var leftOutMembers: [String] { [] }

    package var json: JSONValue { JSONValueEncoder().encode(self) }

    /// Ignores unknown members. Throws `InvalidField` with the path of the member at fault, such as
    /// `actions[2].title`.
    package init(json: JSONValue) throws(InvalidField) {
        self = try JSONValueDecoder().decode(Self.self, from: json)
    }

    /// With its line feed.
    package var line: [UInt8] {
        var bytes = self.json.serialized
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Without its line feed. Throws `InvalidField` with the path of the member at fault, or `line` for anything but
    /// a JSON object.
    package init(line: some Collection<UInt8>, depthMax: Int = 64) throws(InvalidField) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: line, depthMax: depthMax) } catch {
            throw InvalidField(field: "line", rule: "must be one JSON object: \(error)")
        }
        self = try JSONValueDecoder(root: "line").decode(Self.self, from: json)
    }
}

/// An enumeration written as one flat object: one member names the case, the others are its values. `Codable` is
/// synthesized.
package protocol JSONTagged: JSONCodable {
    static var tag: JSONTag { get }
}

package struct JSONTag: Sendable {
    /// The member that names the case.
    let key: String
    let meaning: String
    /// True if words are the Swift names of the cases, not snake case.
    let keepsCaseNames: Bool
    private let names: [String: [String: String]]

    /// `names` has, by Swift case, names of values by Swift label. `_0` is an unlabelled first value and is named as
    /// the case unless given here. An empty name puts the value's own members beside the others; an empty label gives
    /// the case's own word.
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

    /// The case's coding key decides whether there is one.
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

package enum JSONName {
    /// `earliestBegin` becomes `earliest_begin`, `apnsID` becomes `apns_id`; snake case stays.
    package static func snakeCase(_ name: String) -> String {
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

    /// For words without runs of capitals.
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

/// A value that is not made of others.
protocol JSONScalar: JSONWritable {
    init?(scalar: JSONValue)
    static func rule(_ value: JSONValue) -> String
}

extension Bool: JSONScalar {
    init?(scalar: JSONValue) {
        guard let flag = scalar.boolValue else { return nil }
        self = flag
    }
    package var json: JSONValue { .bool(self) }
    static func rule(_ value: JSONValue) -> String { "must be a Boolean, got \(value.typeName)" }
}

extension String: JSONScalar {
    init?(scalar: JSONValue) {
        guard let text = scalar.stringValue else { return nil }
        self = text
    }
    package var json: JSONValue { .string(self) }
    static func rule(_ value: JSONValue) -> String { "must be a string, got \(value.typeName)" }
}

extension Double: JSONScalar {
    init?(scalar: JSONValue) {
        guard case .number(let number) = scalar else { return nil }
        self = number.double
    }
    /// Null for infinity and not-a-number.
    package var json: JSONValue { JSONNumber(self).map { .number($0) } ?? .null }
    static func rule(_ value: JSONValue) -> String { "must be a number, got \(value.typeName)" }
}

extension Float: JSONScalar {
    init?(scalar: JSONValue) {
        guard let double = Double(scalar: scalar) else { return nil }
        self.init(double)
    }
    package var json: JSONValue { Double(self).json }
    static func rule(_ value: JSONValue) -> String { Double.rule(value) }
}

extension JSONWritable where Self: FixedWidthInteger {
    package var json: JSONValue { .int(self) }
}

/// Read from the digits: none is rounded.
extension JSONScalar where Self: FixedWidthInteger {
    init?(scalar: JSONValue) {
        guard case .number(let number) = scalar else { return nil }
        self.init(number.literal)
    }
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

/// A dictionary by names, which are written as they are.
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
        if let writing = encoder as? JSONWriting { return writing.setValue(self) }
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
        if let writing = encoder as? JSONWriting { return writing.setValue(.object(self)) }
        var container = encoder.container(keyedBy: JSONStep.self)
        for (key, value) in self.members { try container.encode(value, forKey: .member(key)) }
    }
}

/// A JSON value (RFC 8259). Booleans and numbers are different types, and a number keeps the text it was written with.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// A whole number.
    public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

    /// An object from a literal list of members; a repeated key keeps the last value.
    public static func members(_ members: [(String, JSONValue)]) -> JSONValue { .object(JSONObject(members)) }

    package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    package static func optional(_ number: (some BinaryInteger)?) -> JSONValue { number.map { .int($0) } ?? .null }

    /// The member of an object; nil for a missing key and for anything but an object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let object) = self else { return nil }
        return object[key]
    }

    /// The text of a string; nil for anything else.
    public var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The truth value of a Boolean; nil for anything else, also for the numbers 0 and 1.
    public var boolValue: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// A number that is whole and fits 64 bits; nil for anything else.
    public var intValue: Int64? {
        guard case .number(let number) = self else { return nil }
        return number.int64
    }

    /// The elements of an array; nil for anything else.
    public var arrayValue: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object; nil for anything else.
    public var objectValue: JSONObject? {
        guard case .object(let object) = self else { return nil }
        return object
    }

    package var members: [(String, JSONValue)] { self.objectValue?.members.map { ($0.key, $0.value) } ?? [] }

    /// The JSON type's name, for error messages.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A Boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with its members in this order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .members(elements) }
}

/// A JSON number as the text it was written with: writing it again changes no byte. Equal if the texts are.
public struct JSONNumber: Hashable, Sendable {
    /// The text, by the grammar of RFC 8259 §6.
    public let literal: String

    init(checked literal: String) { self.literal = literal }

    /// A whole number.
    public init(_ value: some BinaryInteger) { self.literal = String(value) }

    /// A finite number in Swift's shortest form that reads back the same; nil for infinity and not-a-number, which JSON lacks.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.literal = "\(value)"
    }

    /// The value if it is whole, written without fraction or exponent, and fits 64 bits.
    public var int64: Int64? { Int64(self.literal) }

    /// The nearest double; infinity if the text is beyond the range.
    public var double: Double { Double(self.literal) ?? .nan }
}

/// Keeps its members in the order they were written; equal with equal members in any order.
public struct JSONObject: Sendable {
    /// The members in order; keys are unique.
    public private(set) var members: [(key: String, value: JSONValue)]

    /// An object without members.
    public init() { self.members = [] }

    /// An object of the given members in order; a repeated key keeps the last value at the first place.
    public init(_ members: [(String, JSONValue)]) {
        self.members = []
        self.members.reserveCapacity(members.count)
        for (key, value) in members { self[key] = value }
    }

    mutating func append(key: String, value: JSONValue) { self.members.append((key, value)) }

    /// The value of a key. Setting appends a new key at the end; setting nil removes it. Cost: linear in the members.
    public subscript(key: String) -> JSONValue? {
        get { self.members.first { $0.key == key }?.value }
        set {
            let index = self.members.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): self.members[index].value = value
            case (let index?, nil): self.members.remove(at: index)
            case (nil, let value?): self.members.append((key, value))
            case (nil, nil): break
            }
        }
    }
}

extension JSONObject: Hashable {
    /// Equal in all members, in whatever order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.members.count == right.members.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    /// Hashes alike what is equal.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.members.count)
        for key in self.members.map(\.key).sorted() { hasher.combine(key) }
    }
}

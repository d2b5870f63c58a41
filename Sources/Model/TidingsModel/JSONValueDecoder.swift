/// Reads `Codable` values from JSON values, with the names of `JSONCodable`. An optional value may be missing or
/// null. Whole numbers are read exactly, within the limits of their type.
package struct JSONValueDecoder: Sendable {
    private let refusesUnknown: Bool
    private let root: String

    /// `refusesUnknown`: members that nothing reads are errors. `root` names the whole value in errors; members are
    /// named without it.
    package init(refusesUnknown: Bool = false, root: String = "value") {
        self.refusesUnknown = refusesUnknown
        self.root = root
    }

    /// Throws `InvalidField` with the path of what is missing or wrong, such as `device.settings[2].name`.
    package func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue) throws(InvalidField) -> Value {
        try JSONReading(value: json, codingPath: [], root: self.root, refusesUnknown: self.refusesUnknown).decode(type)
    }
}

/// A value whose parts can be right while the whole is not; checked after reading.
package protocol JSONChecked {
    /// The field is empty for the value itself.
    func check() throws(InvalidField)
}

final class AskedMembers {
    var names: [String] = []
}

struct JSONReading: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    let root: String
    let refusesUnknown: Bool
    private var tag: JSONTag?
    fileprivate private(set) var leftOut: [String] = []
    private var keepsKeys = false
    /// Shared with the values whose members lie beside the others.
    private var asked: AskedMembers?
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(value: JSONValue, codingPath: [any CodingKey], root: String, refusesUnknown: Bool) {
        self.value = value
        self.codingPath = codingPath
        self.root = root
        self.refusesUnknown = refusesUnknown
    }

    // MARK: Values

    func decode<Value: Decodable>(_ type: Value.Type) throws(InvalidField) -> Value {
        do {
            return try self.read(type)
        } catch let error as InvalidField {
            throw error
        } catch {
            throw self.problem("cannot be read: \(error)")
        }
    }

    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let scalar = type as? any JSONScalar.Type {
            guard let value = scalar.init(scalar: self.value) as? Value else {
                throw self.problem(scalar.rule(self.value))
            }
            return value
        }
        if type == [UInt8].self {
            guard let bytes = Hexadecimal.bytes((self.value.stringValue ?? "-").utf8) as? Value else {
                throw self.problem("must be pairs of hexadecimal digits")
            }
            return bytes
        }
        var reading = self
        reading.tag = (type as? any JSONTagged.Type)?.tag
        reading.leftOut = (type as? any JSONCodable.Type)?.leftOutMembers ?? []
        reading.keepsKeys = type is any JSONDictionary.Type
        let asked = self.asked ?? AskedMembers()
        reading.asked = asked
        do {
            let value = try Value(from: reading)
            // A value of any form, and a dictionary, read no member by name.
            if self.refusesUnknown, self.asked == nil, !reading.keepsKeys, !asked.names.isEmpty {
                try reading.refuseUnknown(asked)
            }
            if let value = value as? any JSONChecked { try self.check(value) }
            return value
        } catch let error as DecodingError {
            // No case has this raw value, or a type's own `init(from:)` refuses it.
            throw self.problem(self.rule(error, type))
        }
    }

    private func check(_ value: any JSONChecked) throws(InvalidField) {
        do throws(InvalidField) { try value.check() } catch { throw self.problem(error.rule, at: error.field) }
    }

    private func rule(_ error: DecodingError, _ type: Any.Type) -> String {
        switch error {
        case .dataCorrupted where type is any RawRepresentable.Type:
            guard let words = Self.words(type) else { return "is not a known number: \(self.value.text)" }
            return "must be one of \(words), got \(self.value.stringValue ?? self.value.text)"
        case .dataCorrupted(let context), .typeMismatch(_, let context), .keyNotFound(_, let context),
            .valueNotFound(_, let context):
            return context.debugDescription
        @unknown default: return "cannot be read: \(error)"
        }
    }

    /// nil for anything but an enumeration with texts.
    private static func words(_ type: Any.Type) -> String? {
        func list<Choice: CaseIterable>(_ type: Choice.Type) -> [String] {
            type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        }
        guard let choice = type as? any CaseIterable.Type else { return nil }
        let words = list(choice)
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    func refuseUnknown(_ asked: AskedMembers) throws(InvalidField) {
        guard case .object(let object) = self.value else { return }
        for (name, _) in object.members where !asked.names.contains(name) {
            let known = Set(asked.names).sorted().joined(separator: ", ")
            throw self.problem("is not known here; known are \(known)", at: name)
        }
    }

    func object() throws(InvalidField) -> JSONObject {
        guard let object = self.value.objectValue else {
            throw self.problem("must be an object, got \(self.value.typeName)")
        }
        return object
    }

    // MARK: Places

    func problem(_ rule: String, at member: String = "") -> InvalidField {
        var path = ""
        for key in self.codingPath {
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        if !member.isEmpty { path += path.isEmpty ? member : ".\(member)" }
        return InvalidField(field: path.isEmpty ? self.root : path, rule: rule)
    }

    func at(_ step: JSONStep, _ value: JSONValue) -> JSONReading {
        JSONReading(
            value: value, codingPath: self.codingPath + [step], root: self.root, refusesUnknown: self.refusesUnknown)
    }

    func member(_ name: String, of object: JSONObject) throws(InvalidField) -> JSONReading {
        // Members that lie beside the others.
        if name.isEmpty { return self }
        self.recordRead(name)
        guard let value = object[name] else { throw self.problem("is missing", at: name) }
        return self.at(.member(name), value)
    }

    fileprivate func recordRead(_ name: String) { self.asked?.names.append(name) }

    fileprivate func name(_ key: any CodingKey, in caseName: String?) -> String {
        if self.keepsKeys { return key.stringValue }
        if let caseName, let tag = self.tag { return tag.name(of: key.stringValue, in: caseName) }
        return JSONName.snakeCase(key.stringValue)
    }

    // MARK: Containers

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let object = try self.object()
        guard let tag = self.tag else {
            return KeyedDecodingContainer(ReadMembers(reading: self, object: object, chosen: nil, caseName: nil))
        }
        let word = try self.member(tag.key, of: object).read(String.self)
        guard let key = Key(stringValue: tag.caseName(word)), tag.word(key.stringValue) == word else {
            throw self.problem("is not \(tag.meaning): \(word)", at: tag.key)
        }
        return KeyedDecodingContainer(ReadMembers(reading: self, object: object, chosen: key, caseName: nil))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = self.value.arrayValue else {
            throw self.problem("must be an array, got \(self.value.typeName)")
        }
        return ReadElements(reading: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ReadScalar(reading: self) }
}

private struct ReadMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reading: JSONReading
    let object: JSONObject
    let chosen: Key?
    let caseName: String?
    var codingPath: [any CodingKey] { self.reading.codingPath }
    var allKeys: [Key] { self.chosen.map { [$0] } ?? self.object.members.compactMap { Key(stringValue: $0.key) } }

    private func member(_ key: Key) throws(InvalidField) -> JSONReading {
        try self.reading.member(self.reading.name(key, in: self.caseName), of: self.object)
    }

    func contains(_ key: Key) -> Bool {
        let name = self.reading.name(key, in: self.caseName)
        if !name.isEmpty { self.reading.recordRead(name) }
        return name.isEmpty || self.object[name] != nil
    }
    func decodeNil(forKey key: Key) throws -> Bool { self.object[self.reading.name(key, in: self.caseName)] == .null }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let name = self.reading.name(key, in: self.caseName)
        if self.reading.leftOut.contains(name), self.object[name] == nil {
            return try self.reading.at(.member(name), type == Int64.self ? 0 : []).read(type)
        }
        return try self.reading.member(name, of: self.object).read(type)
    }
    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        guard self.chosen == nil else {
            return KeyedDecodingContainer(
                ReadMembers<Nested>(reading: self.reading, object: self.object, chosen: nil, caseName: key.stringValue))
        }
        return try self.member(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.member(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try self.reading.member("super", of: self.object) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try self.member(key) }
}

private struct ReadElements: UnkeyedDecodingContainer {
    let reading: JSONReading
    let elements: [JSONValue]
    var currentIndex = 0
    var codingPath: [any CodingKey] { self.reading.codingPath }
    var count: Int? { self.elements.count }
    var isAtEnd: Bool { self.currentIndex == self.elements.count }

    private mutating func next() throws(InvalidField) -> JSONReading {
        let step = JSONStep.element(self.currentIndex)
        guard !self.isAtEnd else { throw self.reading.at(step, .null).problem("is missing") }
        defer { self.currentIndex += 1 }
        return self.reading.at(step, self.elements[self.currentIndex])
    }

    mutating func decodeNil() throws -> Bool {
        guard !self.isAtEnd, self.elements[self.currentIndex] == .null else { return false }
        self.currentIndex += 1
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try self.next().read(type) }
    mutating func nestedContainer<Nested>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try self.next().container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try self.next().unkeyedContainer()
    }
    mutating func superDecoder() throws -> any Decoder { try self.next() }
}

private struct ReadScalar: SingleValueDecodingContainer {
    let reading: JSONReading
    var codingPath: [any CodingKey] { self.reading.codingPath }

    func decodeNil() -> Bool { self.reading.value == .null }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try self.reading.read(type) }
}

/// Writes `Codable` values as JSON values, with the names of `JSONCodable`: members in the order of the coding keys,
/// nil as null, whole numbers exactly, dictionaries by key.
package struct JSONValueEncoder: Sendable {
    package init() {}

    /// Null for a value whose own `encode(to:)` throws; synthesized ones do not.
    package func encode(_ value: some Encodable) -> JSONValue {
        let node = JSONNode()
        do { try JSONWriting(node: node).write(value) } catch { return .null }
        return node.value
    }
}

/// A place in the JSON being written.
private final class JSONNode {
    private enum Content {
        case value(JSONValue)
        case object([(String, JSONNode)])
        case array([JSONNode])
    }

    private var content = Content.value(.null)

    var value: JSONValue {
        get {
            switch self.content {
            case .value(let value): value
            case .object(let members): .object(Self.object(members))
            case .array(let nodes): .array(nodes.map(\.value))
            }
        }
        set { self.content = .value(newValue) }
    }

    private static func object(_ members: [(String, JSONNode)]) -> JSONObject {
        var object = JSONObject()
        for (name, node) in members { object.append(key: name, value: node.value) }
        return object
    }

    var count: Int {
        guard case .array(let nodes) = self.content else { return 0 }
        return nodes.count
    }

    func makeObject() {
        if case .object = self.content { return }
        self.content = .object([])
    }

    func makeArray() { self.content = .array([]) }

    func sortMembers() {
        guard case .object(let members) = self.content else { return }
        self.content = .object(members.sorted { $0.0 < $1.0 })
    }

    func member(_ name: String) -> JSONNode {
        guard case .object(var members) = self.content else { return JSONNode() }
        let node = JSONNode()
        self.content = .value(.null)
        members.append((name, node))
        self.content = .object(members)
        return node
    }

    func element() -> JSONNode {
        guard case .array(var nodes) = self.content else { return JSONNode() }
        let node = JSONNode()
        self.content = .value(.null)
        nodes.append(node)
        self.content = .array(nodes)
        return node
    }
}

struct JSONWriting: Encoder {
    fileprivate let node: JSONNode
    fileprivate var leftOut: [String] = []
    fileprivate var tag: JSONTag?
    fileprivate var keepsKeys = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func write<Value: Encodable>(_ value: Value) throws {
        if let scalar = value as? any JSONScalar { return self.node.value = scalar.json }
        if Value.self == [UInt8].self, let bytes = value as? [UInt8] {
            return self.node.value = .string(Hexadecimal.text(bytes))
        }
        var writing = JSONWriting(node: self.node)
        writing.leftOut = (Value.self as? any JSONCodable.Type)?.leftOutMembers ?? []
        writing.tag = (Value.self as? any JSONTagged.Type)?.tag
        writing.keepsKeys = Value.self is any JSONDictionary.Type
        try value.encode(to: writing)
        // A dictionary's order must not leave the process.
        if writing.keepsKeys { self.node.sortMembers() }
    }

    func setValue(_ value: JSONValue) {
        guard case .object(let object) = value else { return self.node.value = value }
        self.node.makeObject()
        for (key, value) in object.members { self.node.member(key).value = value }
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        self.node.makeObject()
        return KeyedEncodingContainer(WrittenMembers(writing: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        self.node.makeArray()
        return WrittenElements(writing: self)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { WrittenScalar(writing: self) }
}

private struct WrittenMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writing: JSONWriting
    var caseName: String?
    var codingPath: [any CodingKey] { [] }

    private func name(_ key: any CodingKey) -> String {
        if self.writing.keepsKeys { return key.stringValue }
        if let caseName = self.caseName, let tag = self.writing.tag {
            return tag.name(of: key.stringValue, in: caseName)
        }
        return JSONName.snakeCase(key.stringValue)
    }

    private func member(_ name: String) -> JSONWriting {
        // Members that lie beside the others.
        if name.isEmpty { return JSONWriting(node: self.writing.node) }
        return JSONWriting(node: self.writing.node.member(name))
    }

    func encodeNil(forKey key: Key) { self.member(self.name(key)).node.value = .null }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let name = self.name(key)
        if self.writing.leftOut.contains(name), (value as? any Collection)?.isEmpty ?? (value as? Int64 == 0) { return }
        try self.member(name).write(value)
    }
    private func encodeOrNull<Value: Encodable>(_ value: Value?, _ key: Key) throws {
        if let value { return try self.member(self.name(key)).write(value) }
        let name = self.name(key)
        if !name.isEmpty, !self.writing.leftOut.contains(name) { self.member(name).node.value = .null }
    }

    // The standard library has a method of each of these types that writes nothing for nil; the generic one does not stand in for it.
    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        try self.encodeOrNull(value, key)
    }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try self.encodeOrNull(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try self.encodeOrNull(value, key) }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        // Synthesized code nests a container of the case's values in one of the cases.
        if let tag = self.writing.tag, self.caseName == nil {
            self.member(tag.key).node.value = .string(tag.word(key.stringValue))
            return KeyedEncodingContainer(WrittenMembers<Nested>(writing: self.writing, caseName: key.stringValue))
        }
        return self.member(self.name(key)).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        self.member(self.name(key)).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { self.member("super") }
    func superEncoder(forKey key: Key) -> any Encoder { self.member(self.name(key)) }
}

private struct WrittenElements: UnkeyedEncodingContainer {
    let writing: JSONWriting
    var codingPath: [any CodingKey] { [] }
    var count: Int { self.writing.node.count }

    private func next() -> JSONWriting { JSONWriting(node: self.writing.node.element()) }

    func encodeNil() { _ = self.next() }
    func encode<Value: Encodable>(_ value: Value) throws { try self.next().write(value) }
    func nestedContainer<Nested>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        self.next().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self.next().unkeyedContainer() }
    func superEncoder() -> any Encoder { self.next() }
}

private struct WrittenScalar: SingleValueEncodingContainer {
    let writing: JSONWriting
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { self.writing.node.value = .null }
    func encode<Value: Encodable>(_ value: Value) throws { try self.writing.write(value) }
}

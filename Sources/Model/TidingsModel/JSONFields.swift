/// Reads the members of an object from outside one by one, where the later ones depend on the earlier. Every method
/// throws `InvalidField` with the path of the member at fault.
package struct JSONFields {
    package let object: JSONObject
    private let reading: JSONReading
    private let asked = AskedMembers()
    /// True if unknown members and values, which another build has written, are skipped instead of refused.
    package let isLenient: Bool

    package init(_ json: JSONValue, root: String = "value", isLenient: Bool = false) throws(InvalidField) {
        try self.init(JSONReading(value: json, codingPath: [], root: root, refusesUnknown: false), isLenient)
    }

    /// For a type of a record that reads its members itself, from what a store keeps.
    package init(stored decoder: any Decoder) throws {
        guard let reading = decoder as? JSONReading else { throw InvalidField(field: "value", rule: "must be JSON") }
        try self.init(reading, true)
    }

    /// One JSON text in UTF-8.
    package init(
        parsing text: some Sequence<UInt8>, depthMax: Int = 64, root: String = "body", isLenient: Bool = false
    ) throws(InvalidField) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: text, depthMax: depthMax) } catch {
            throw InvalidField(field: root, rule: "must be JSON: \(error)")
        }
        guard json.objectValue != nil else {
            throw InvalidField(field: root, rule: "must be a JSON object, got \(json.typeName)")
        }
        try self.init(json, root: root, isLenient: isLenient)
    }

    private init(_ reading: JSONReading, _ isLenient: Bool) throws(InvalidField) {
        self.isLenient = isLenient
        self.reading = reading
        self.object = try reading.object()
    }

    package func get<Value: Decodable>(_ key: String, as type: Value.Type = Value.self) throws(InvalidField) -> Value {
        try self.member(key).decode(type)
    }

    package func optional<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(InvalidField) -> Value? {
        self.asked.names.append(key)
        return self.has(key) ? try self.get(key) : nil
    }

    /// May be missing, but not null.
    package func given<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(InvalidField) -> Value? {
        self.asked.names.append(key)
        return self.object[key] == nil ? nil : try self.get(key)
    }

    package func fields(_ key: String) throws(InvalidField) -> JSONFields {
        try JSONFields(try self.member(key), self.isLenient)
    }

    package func list(_ key: String) throws(InvalidField) -> [JSONFields] {
        let elements = try self.get(key, as: [JSONValue].self)
        let place = try self.member(key)
        var list: [JSONFields] = []
        for (index, element) in elements.enumerated() {
            list.append(try JSONFields(place.at(.element(index), element), self.isLenient))
        }
        return list
    }

    package func has(_ key: String) -> Bool { self.object[key].map { $0 != .null } ?? false }

    package func problem(_ key: String, _ rule: String) -> InvalidField { self.reading.problem(rule, at: key) }

    /// Refuses every other member.
    package func only(_ names: [String]) throws(InvalidField) {
        for (name, _) in self.object.members where !names.contains(name) {
            throw self.problem(name, "is not one of \(names.joined(separator: ", "))")
        }
    }

    /// Refuses every member that was not read: a misspelt one must not be ignored.
    package func refuseUnknown() throws(InvalidField) {
        if !self.isLenient { try self.reading.refuseUnknown(self.asked) }
    }

    private func member(_ key: String) throws(InvalidField) -> JSONReading {
        self.asked.names.append(key)
        return try self.reading.member(key, of: self.object)
    }
}

/// The members of an object that came from outside, read one by one: where what is asked for depends on what is there.
///
/// Every method throws `InvalidField` naming the member that is missing or wrong by its path.
package struct JSONFields {
    /// The object.
    package let object: JSONObject
    private let reading: JSONReading
    private let asked = AskedMembers()

    /// - Parameters:
    ///   - json: the object.
    ///   - root: what an error about the whole calls it.
    package init(_ json: JSONValue, root: String = "value") throws(InvalidField) {
        try self.init(JSONReading(value: json, codingPath: [], root: root, refusesUnknown: false))
    }

    /// - Parameter text: one JSON text in UTF-8.
    package init(
        parsing text: some Sequence<UInt8>, depthMax: Int = 64, root: String = "body"
    ) throws(InvalidField) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: text, depthMax: depthMax) } catch {
            throw InvalidField(field: root, rule: "must be JSON: \(error)")
        }
        guard json.objectValue != nil else {
            throw InvalidField(field: root, rule: "must be a JSON object, got \(json.typeName)")
        }
        try self.init(json, root: root)
    }

    private init(_ reading: JSONReading) throws(InvalidField) {
        self.reading = reading
        self.object = try reading.object()
    }

    /// A member that must be there.
    package func get<Value: Decodable>(_ key: String, as type: Value.Type = Value.self) throws(InvalidField) -> Value {
        try self.member(key).decode(type)
    }

    /// A member that may be missing or null.
    package func optional<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(InvalidField) -> Value? {
        self.asked.names.append(key)
        return self.has(key) ? try self.get(key) : nil
    }

    /// A member that may be missing, but not null.
    package func given<Value: Decodable>(
        _ key: String, as type: Value.Type = Value.self
    ) throws(InvalidField) -> Value? {
        self.asked.names.append(key)
        return self.object[key] == nil ? nil : try self.get(key)
    }

    /// An object that must be there.
    package func fields(_ key: String) throws(InvalidField) -> JSONFields { try JSONFields(try self.member(key)) }

    /// An array of objects that must be there.
    package func list(_ key: String) throws(InvalidField) -> [JSONFields] {
        let elements = try self.get(key, as: [JSONValue].self)
        let place = try self.member(key)
        var list: [JSONFields] = []
        for (index, element) in elements.enumerated() {
            list.append(try JSONFields(place.at(.element(index), element)))
        }
        return list
    }

    /// Whether a member is there and not null.
    package func has(_ key: String) -> Bool { self.object[key].map { $0 != .null } ?? false }

    /// What is wrong with a member.
    package func problem(_ key: String, _ rule: String) -> InvalidField { self.reading.problem(rule, at: key) }

    /// Refuses every member that is not named.
    package func only(_ names: [String]) throws(InvalidField) {
        for (name, _) in self.object.members where !names.contains(name) {
            throw self.problem(name, "is not one of \(names.joined(separator: ", "))")
        }
    }

    /// Refuses every member that nobody has asked for: a misspelt one must not be passed over.
    package func refuseUnknown() throws(InvalidField) { try self.reading.refuseUnknown(self.asked) }

    private func member(_ key: String) throws(InvalidField) -> JSONReading {
        self.asked.names.append(key)
        return try self.reading.member(key, of: self.object)
    }
}

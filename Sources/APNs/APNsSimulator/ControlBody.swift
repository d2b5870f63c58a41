import TidingsModel

/// The JSON object of a request to the control port; what is wrong is named by member and rule.
struct ControlBody: Sendable {
    private let object: JSONObject

    /// - Throws: `InvalidField` for `body`. Nothing at all counts as `{}`.
    init(_ bytes: some Collection<UInt8>) throws(InvalidField) {
        guard !bytes.isEmpty else {
            self.object = JSONObject()
            return
        }
        do {
            guard let object = try JSONValue(parsing: bytes, depthMax: 8).objectValue else {
                throw InvalidField(field: "body", rule: "must be a JSON object")
            }
            self.object = object
        } catch let fault as InvalidField {
            throw fault
        } catch {
            throw InvalidField(field: "body", rule: "must be JSON: \(error)")
        }
    }

    /// Refuses every member that is not named.
    func only(_ names: [String]) throws(InvalidField) {
        for (name, _) in self.object.members where !names.contains(name) {
            throw InvalidField(field: name, rule: "is not one of \(names.joined(separator: ", "))")
        }
    }

    func text(_ name: String) throws(InvalidField) -> String? {
        guard let value = self.object[name] else { return nil }
        guard let text = value.stringValue else { throw InvalidField(field: name, rule: "must be text") }
        return text
    }

    func flag(_ name: String) throws(InvalidField) -> Bool {
        guard let flag = self.object[name]?.boolValue else {
            throw InvalidField(field: name, rule: "must be true or false")
        }
        return flag
    }

    func texts(_ name: String) throws(InvalidField) -> [String]? {
        guard let value = self.object[name] else { return nil }
        guard let values = value.arrayValue else { throw InvalidField(field: name, rule: "must be an array of texts") }
        var texts: [String] = []
        for value in values {
            guard let text = value.stringValue else {
                throw InvalidField(field: name, rule: "must be an array of texts")
            }
            texts.append(text)
        }
        return texts
    }

    func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(InvalidField) -> Word? where Word.RawValue == String {
        guard let text = try self.text(name) else { return nil }
        return try Self.word(text, name)
    }

    /// One of the words of a type.
    static func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, _ name: String
    ) throws(InvalidField) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidField(field: name, rule: "must be one of \(words)")
        }
        return word
    }

    /// The member `environments`.
    func environments() throws(InvalidField) -> [PushEnvironment]? {
        guard let texts = try self.texts("environments") else { return nil }
        guard !texts.isEmpty else { throw InvalidField(field: "environments", rule: "must not be empty") }
        var environments: [PushEnvironment] = []
        for text in texts { environments.append(try Self.word(text, "environments")) }
        return environments
    }
}

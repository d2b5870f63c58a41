package import TidingsModel

/// Reads the members of an object that came from outside, naming what is wrong.
package struct Fields {
    /// The object.
    package let object: JSONValue

    /// Wraps an object; anything else has no members.
    package init(_ object: JSONValue) { self.object = object }

    /// A member; nil if it is missing or null.
    package subscript(key: String) -> JSONValue? {
        let value = self.object[key]
        return value == .null ? nil : value
    }

    /// A member that must be there.
    package func value(_ key: String) throws(InvalidField) -> JSONValue {
        guard let value = self.object[key] else { throw InvalidField(field: key, rule: "is missing") }
        return value
    }

    /// A member that must be a string.
    package func string(_ key: String) throws(InvalidField) -> String {
        let value = try self.value(key)
        guard let text = value.stringValue else {
            throw InvalidField(field: key, rule: "must be a string, got \(value.typeName)")
        }
        return text
    }

    /// A string; nil if the member is missing or null.
    package func optionalString(_ key: String) throws(InvalidField) -> String? {
        try self[key] == nil ? nil : self.string(key)
    }

    /// A whole number within the type; nil if the member is missing or null.
    package func optionalInt<Number: FixedWidthInteger>(_ key: String) throws(InvalidField) -> Number? {
        if self[key] == nil { return nil }
        return try self.int(key)
    }

    /// A member that must be a whole number within the type.
    package func int<Number: FixedWidthInteger>(_ key: String) throws(InvalidField) -> Number {
        let value = try self.value(key)
        guard let number = value.intValue.flatMap({ Number(exactly: $0) }) else {
            throw InvalidField(field: key, rule: "must be a whole number, got \(value.text)")
        }
        return number
    }

    /// A member that must be a number.
    package func double(_ key: String) throws(InvalidField) -> Double {
        guard case .number(let number) = try self.value(key) else {
            throw InvalidField(field: key, rule: "must be a number")
        }
        return number.double
    }

    /// A member that must be a Boolean.
    package func bool(_ key: String) throws(InvalidField) -> Bool {
        let value = try self.value(key)
        guard let flag = value.boolValue else {
            throw InvalidField(field: key, rule: "must be a Boolean, got \(value.typeName)")
        }
        return flag
    }

    /// A member that must be an object.
    package func members(_ key: String) throws(InvalidField) -> JSONObject {
        let value = try self.value(key)
        guard let object = value.objectValue else {
            throw InvalidField(field: key, rule: "must be an object, got \(value.typeName)")
        }
        return object
    }

    /// A member that must be an array.
    package func array(_ key: String) throws(InvalidField) -> [JSONValue] {
        let value = try self.value(key)
        guard let elements = value.arrayValue else {
            throw InvalidField(field: key, rule: "must be an array, got \(value.typeName)")
        }
        return elements
    }

    /// An array of strings; nil if the member is missing or null.
    package func strings(_ key: String) throws(InvalidField) -> [String]? {
        guard self[key] != nil else { return nil }
        var texts: [String] = []
        for element in try self.array(key) {
            guard let text = element.stringValue else {
                throw InvalidField(field: key, rule: "must hold strings, got \(element.typeName)")
            }
            texts.append(text)
        }
        return texts
    }

    /// A member that must be one of the raw values of an enumeration.
    package func choice<Choice: RawRepresentable & CaseIterable>(_ key: String) throws(InvalidField) -> Choice
    where Choice.RawValue == String {
        let text = try self.string(key)
        guard let choice = Choice(rawValue: text) else {
            let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidField(field: key, rule: "must be one of \(allowed), got \(text)")
        }
        return choice
    }

    /// A member that must be the raw value of an enumeration with whole numbers.
    package func number<Choice: RawRepresentable>(_ key: String) throws(InvalidField) -> Choice
    where Choice.RawValue: FixedWidthInteger {
        let raw: Choice.RawValue = try self.int(key)
        guard let choice = Choice(rawValue: raw) else {
            throw InvalidField(field: key, rule: "is not a known number: \(raw)")
        }
        return choice
    }
}

extension JSONValue {
    /// A string, or null.
    package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
    /// A whole number, or null.
    package static func optional(_ number: (some BinaryInteger)?) -> JSONValue { number.map { .int($0) } ?? .null }
}

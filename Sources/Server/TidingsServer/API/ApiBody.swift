import HTTPTypes
import TidingsModel

/// The members of a request's JSON object, read by name. A missing member, a wrong type and a member nobody asked for are
/// errors that name it.
struct ApiBody {
    private let members: JSONObject
    private let prefix: String
    private var known: Set<String> = []

    /// Parses a body.
    ///
    /// - Throws: `ApiProblem` if it is not a JSON object.
    init(_ bytes: some Sequence<UInt8>) throws(ApiProblem) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes, depthMax: 16)
        } catch {
            throw ApiProblem(.badRequest, code: "malformed_json", field: "body", rule: "must be JSON: \(error)")
        }
        guard let members = value.objectValue else {
            throw ApiProblem(
                .badRequest, code: "malformed_json", field: "body", rule: "must be a JSON object, got \(value.typeName)"
            )
        }
        self.members = members
        self.prefix = ""
    }

    private init(_ members: JSONObject, prefix: String) {
        self.members = members
        self.prefix = prefix
    }

    /// A string that must be there.
    mutating func string(_ key: String) throws(ApiProblem) -> String {
        guard let text = try self.optionalString(key) else { throw self.problem(key, "must be present") }
        return text
    }

    /// A string that may be missing or null.
    mutating func optionalString(_ key: String) throws(ApiProblem) -> String? {
        guard let value = self.value(key) else { return nil }
        guard let text = value.stringValue else { throw self.problem(key, "must be a string, got \(value.typeName)") }
        return text
    }

    /// A truth value, or the default if it is missing.
    mutating func bool(_ key: String, default fallback: Bool) throws(ApiProblem) -> Bool {
        guard let value = self.value(key) else { return fallback }
        guard let flag = value.boolValue else { throw self.problem(key, "must be a Boolean, got \(value.typeName)") }
        return flag
    }

    /// A whole number within a range, or the default if it is missing.
    mutating func integer(
        _ key: String, in range: ClosedRange<Int64>, default fallback: Int64
    ) throws(ApiProblem) -> Int64 {
        try self.optionalInteger(key, in: range) ?? fallback
    }

    /// A whole number within a range that must be there.
    mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(ApiProblem) -> Int64 {
        guard let number = try self.optionalInteger(key, in: range) else {
            throw self.problem(key, "must be present")
        }
        return number
    }

    /// A whole number within a range that may be missing or null.
    mutating func optionalInteger(_ key: String, in range: ClosedRange<Int64>) throws(ApiProblem) -> Int64? {
        guard let value = self.value(key) else { return nil }
        guard let number = value.intValue, range.contains(number) else {
            throw self.problem(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A list of whole numbers, sorted, without repeats; empty if it is missing.
    mutating func integers(_ key: String, in range: ClosedRange<Int64>) throws(ApiProblem) -> [Int] {
        guard let value = self.value(key) else { return [] }
        guard let list = value.arrayValue else { throw self.problem(key, "must be an array, got \(value.typeName)") }
        var numbers: Set<Int> = []
        for (index, element) in list.enumerated() {
            guard let number = element.intValue, range.contains(number) else {
                throw self.problem(
                    "\(key)[\(index)]", "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            numbers.insert(Int(number))
        }
        return numbers.sorted()
    }

    /// A list of strings, or the default if it is missing; without one it must be there.
    mutating func strings(_ key: String, default fallback: [String]? = nil) throws(ApiProblem) -> [String] {
        guard let value = self.value(key) else {
            guard let fallback else { throw self.problem(key, "must be present") }
            return fallback
        }
        guard let list = value.arrayValue else { throw self.problem(key, "must be an array, got \(value.typeName)") }
        var texts: [String] = []
        for (index, element) in list.enumerated() {
            guard let text = element.stringValue else {
                throw self.problem("\(key)[\(index)]", "must be a string, got \(element.typeName)")
            }
            texts.append(text)
        }
        return texts
    }

    /// An object that must be there.
    mutating func object(_ key: String) throws(ApiProblem) -> ApiBody {
        guard let body = try self.optionalObject(key) else { throw self.problem(key, "must be present") }
        return body
    }

    /// An object that may be missing or null.
    mutating func optionalObject(_ key: String) throws(ApiProblem) -> ApiBody? {
        guard let members = try self.optionalMembers(key) else { return nil }
        return ApiBody(members, prefix: "\(self.prefix)\(key).")
    }

    /// An object of anything, empty if it is missing.
    mutating func members(_ key: String) throws(ApiProblem) -> JSONObject {
        try self.optionalMembers(key) ?? JSONObject()
    }

    /// An object of texts, empty if it is missing.
    mutating func texts(_ key: String) throws(ApiProblem) -> [(key: String, text: String)] {
        var texts: [(key: String, text: String)] = []
        for (name, value) in try self.members(key).members {
            guard let text = value.stringValue else {
                throw self.problem("\(key).\(name)", "must be a string, got \(value.typeName)")
            }
            texts.append((name, text))
        }
        return texts
    }

    private mutating func optionalMembers(_ key: String) throws(ApiProblem) -> JSONObject? {
        guard let value = self.value(key) else { return nil }
        guard let members = value.objectValue else {
            throw self.problem(key, "must be an object, got \(value.typeName)")
        }
        return members
    }

    /// Whether a member is there, also as null.
    func has(_ key: String) -> Bool { self.members[key] != nil }

    /// Refuses null where a member that is there decides what is asked for.
    func refuseNull(_ keys: String...) throws(ApiProblem) {
        for key in keys where self.members[key] == .null { throw self.problem(key, "must not be null") }
    }

    /// Refuses members that were not asked for: a misspelt one must not be passed over.
    func refuseUnknown() throws(ApiProblem) {
        for (key, _) in self.members.members where !self.known.contains(key) {
            let known = self.known.sorted().joined(separator: ", ")
            throw self.problem(key, "is not known here; known are \(known)")
        }
    }

    private mutating func value(_ key: String) -> JSONValue? {
        self.known.insert(key)
        let value = self.members[key]
        return value == .null ? nil : value
    }

    private func problem(_ key: String, _ rule: String) -> ApiProblem {
        ApiProblem(InvalidField(field: self.prefix + key, rule: rule))
    }
}

import HTTPTypes
import TidingsModel

/// The members of a request's JSON object, read by name. A missing member, a wrong type and an unknown member are errors that name
/// it.
struct APIBody {
    private let fields: JSONFields

    init(_ bytes: some Sequence<UInt8>) throws(APIProblem) {
        do throws(InvalidField) {
            self.fields = try JSONFields(parsing: bytes, depthMax: 16)
        } catch {
            throw APIProblem(.malformedJSON, field: error.field, rule: error.rule)
        }
    }

    init(_ fields: JSONFields) { self.fields = fields }

    /// For a type that reads its members itself.
    var allMembers: JSONFields { self.fields }

    func optionalMembers(_ key: String) throws(InvalidField) -> JSONFields? {
        guard try self.optional(key) as JSONValue? != nil else { return nil }
        return try self.fields.fields(key)
    }

    private func optional<Value: Decodable>(_ key: String) throws(InvalidField) -> Value? {
        try self.fields.optional(key)
    }

    private func needed<Value>(_ key: String, _ value: Value?) throws(InvalidField) -> Value {
        guard let value else { throw self.fields.problem(key, "must be present") }
        return value
    }

    func string(_ key: String) throws(InvalidField) -> String { try self.needed(key, try self.optional(key)) }

    func optionalString(_ key: String) throws(InvalidField) -> String? { try self.optional(key) }

    /// JSON as a text, or an object, which becomes one.
    func optionalContent(_ key: String) throws(InvalidField) -> String? {
        guard let value: JSONValue = try self.optional(key) else { return nil }
        if value.objectValue != nil { return value.text }
        guard let text = value.stringValue else { throw self.problem(key, "must be an object, or JSON as text") }
        return text
    }

    func problem(_ key: String, _ rule: String) -> InvalidField { self.fields.problem(key, rule) }

    func bool(_ key: String) throws(InvalidField) -> Bool { try self.needed(key, try self.optional(key)) }

    func bool(_ key: String, default fallback: Bool) throws(InvalidField) -> Bool { try self.optional(key) ?? fallback }

    func optionalBool(_ key: String) throws(InvalidField) -> Bool? { try self.optional(key) }

    func integer(_ key: String, in range: ClosedRange<Int64>, default fallback: Int64) throws(InvalidField) -> Int64 {
        try self.optionalInteger(key, in: range) ?? fallback
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) throws(InvalidField) -> Int64 {
        try self.needed(key, try self.optionalInteger(key, in: range))
    }

    func optionalInteger(_ key: String, in range: ClosedRange<Int64>) throws(InvalidField) -> Int64? {
        guard let value: JSONValue = try self.optional(key) else { return nil }
        return try self.number(value, key, range)
    }

    private func number(_ value: JSONValue, _ key: String, _ range: ClosedRange<Int64>) throws(InvalidField) -> Int64 {
        guard let number = value.intValue, range.contains(number) else {
            throw self.fields.problem(key, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// A moment (`GivenTime`), as a number or a text. - Parameter orNone: 0 is one, too, and means no moment.
    func optionalTime(_ key: String, orNone: Bool = false) throws(InvalidField) -> Int64? {
        guard let value: JSONValue = try self.optional(key) else { return nil }
        guard let time = value.intValue ?? value.stringValue.flatMap(GivenTime.read) else {
            throw self.fields.problem(key, GivenTime.rule)
        }
        if !(orNone && time == 0), let rule = GivenTime.fault(of: time) { throw self.fields.problem(key, rule) }
        return time
    }

    /// Sorted, without repeats; empty if it is missing.
    func integers(_ key: String, in range: ClosedRange<Int64>) throws(InvalidField) -> [Int] {
        let list: [JSONValue] = try self.optional(key) ?? []
        var numbers: Set<Int> = []
        for (index, element) in list.enumerated() {
            numbers.insert(Int(try self.number(element, "\(key)[\(index)]", range)))
        }
        return numbers.sorted()
    }

    /// Required without a fallback.
    func strings(_ key: String, default fallback: [String]? = nil) throws(InvalidField) -> [String] {
        try self.needed(key, try self.optional(key) ?? fallback)
    }

    func optionalStrings(_ key: String) throws(InvalidField) -> [String]? { try self.optional(key) }

    func object(_ key: String) throws(InvalidField) -> APIBody { try self.needed(key, try self.optionalObject(key)) }

    /// - Parameter example: what is meant, for a caller who has given something else.
    func object(_ key: String, suchAs example: String) throws(InvalidField) -> APIBody {
        if let value: JSONValue = try self.optional(key), value.objectValue == nil {
            throw self.fields.problem(key, "must be an object such as \(example), got \(value.typeName)")
        }
        return try self.object(key)
    }

    func optionalObject(_ key: String) throws(InvalidField) -> APIBody? {
        try self.optionalMembers(key).map { APIBody($0) }
    }

    /// Options of notifications.
    func pushOptions(_ key: String = "push") throws(InvalidField) -> PushOptions? {
        guard let members = try self.optionalMembers(key) else { return nil }
        return try PushOptions(members, path: key).nonEmpty
    }

    /// A list of objects.
    func list(_ key: String) throws(InvalidField) -> [APIBody] {
        _ = try self.needed(key, try self.optional(key) as JSONValue?)
        return try self.fields.list(key).map { APIBody($0) }
    }

    /// A list of texts, or of objects for those of which more is said.
    func textsOrObjects(_ key: String) throws(InvalidField) -> [TextOrObject] {
        let list: [JSONValue] = try self.needed(key, try self.optional(key))
        var elements: [TextOrObject] = []
        for (index, element) in list.enumerated() {
            if let text = element.stringValue {
                elements.append(.text(text))
            } else {
                elements.append(.object(APIBody(try JSONFields(element, root: "\(key)[\(index)]"))))
            }
        }
        return elements
    }

    enum TextOrObject {
        case text(String)
        case object(APIBody)
    }

    /// An object of anything; empty if it is missing.
    func members(_ key: String) throws(InvalidField) -> JSONObject { try self.optional(key) ?? JSONObject() }

    /// An object of texts in their order; empty if it is missing.
    func texts(_ key: String) throws(InvalidField) -> [(key: String, text: String)] {
        guard let body = try self.optionalObject(key) else { return [] }
        var texts: [(key: String, text: String)] = []
        for (name, value) in body.fields.object.members {
            // Not looked up by name: a body may have a hundred thousand members.
            guard let text = value.stringValue else {
                throw body.fields.problem(name, "must be a string, got \(value.typeName)")
            }
            texts.append((name, text))
        }
        return texts
    }

    /// Also if it is null.
    func has(_ key: String) -> Bool { self.fields.object[key] != nil }

    /// Refuses null where the presence of a member decides what is asked for.
    func refuseNull(_ keys: String...) throws(InvalidField) {
        for key in keys where self.fields.object[key] == .null { throw self.fields.problem(key, "must not be null") }
    }

    /// Refuses members that were not read: a misspelt one must not be ignored.
    func refuseUnknown() throws(InvalidField) { try self.fields.refuseUnknown() }
}

import Testing
import TidingsModel
import Yams

@testable import TidingsServer

/// What the OpenAPI document says may be answered. Every answer that a test gets is held against it: an undeclared status, header, code of a
/// problem or member of the body fails the test.
enum DescribedAnswers {
    typealias Members = [String: JSONValue]

    struct Operation: Sendable {
        let method: String
        let path: String
        let description: Members

        var segments: [Substring] {
            self.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        }
        var responses: [Int: Members] {
            var found: [Int: Members] = [:]
            for (status, response) in self.description["responses"].parts {
                if let number = Int(status) { found[number] = DescribedAnswers.resolved(response.parts) }
            }
            return found
        }
        /// Whether the good answers tell what is left of a limit.
        var isLimited: Bool {
            self.responses.contains { status, response in
                status < 300 && response["headers"].parts["RateLimit"] != nil
            }
        }
        func hasParameter(_ name: String) -> Bool {
            (self.description["parameters"]?.arrayValue ?? []).contains {
                DescribedAnswers.resolved($0.parts)["name"]?.stringValue == name
            }
        }
        var hasBody: Bool { self.description["requestBody"] != nil }
        var hasJSONBody: Bool { self.description["requestBody"].parts["content"].parts["application/json"] != nil }

        /// The codes of the problems with this status.
        func codes(_ status: Int) -> Set<String> {
            guard let schema = self.responses[status].flatMap(DescribedAnswers.schema(of:)) else { return [] }
            let code = DescribedAnswers.flat(schema)["properties"].parts["code"].parts
            return Set((code["enum"]?.arrayValue ?? []).compactMap(\.stringValue))
        }
    }

    static let document: Members =
        (try? Yams.load(yaml: OpenAPI.document)).map { JSONValue(yaml: $0 as Any).parts } ?? [:]

    static let operations: [Operation] = {
        var all: [Operation] = []
        for (path, methods) in Self.document["paths"].parts {
            // Besides methods a path may have members that hold for all of them.
            for (method, operation) in methods.parts where !operation.parts.isEmpty {
                all.append(Operation(method: method.uppercased(), path: path, description: operation.parts))
            }
        }
        return all.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
    }()

    static func operation(_ method: String, _ path: String) -> Operation? {
        let path = path.prefix { $0 != "?" }
        let segments = (path == "/console/" ? "/console" : path).dropFirst()
            .split(separator: "/", omittingEmptySubsequences: false)
        let found = Self.operations.filter { operation in
            operation.method == method && operation.segments.count == segments.count
                && zip(operation.segments, segments).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
        }
        // RFC 9110 §9.3.2: most have none of their own.
        if method == "HEAD", found.isEmpty { return Self.operation("GET", String(path)) }
        return found.min { $0.path.count(where: { $0 == "{" }) < $1.path.count(where: { $0 == "{" }) }
    }

    /// The statuses by method and path; a route that is not described has no answer but that it is not there.
    static func statuses(_ method: String, _ path: String) -> Set<Int> {
        Self.operation(method, path).map { Set($0.responses.keys) } ?? [404, 405]
    }

    /// Fails the test if something in the answer is not described.
    static func check(_ answer: APIResponse, _ method: String, _ path: String) {
        let faults = Self.faults(in: answer, method, path)
        #expect(faults == [], "\(method) \(path): \(answer.status) \(answer.text)")
    }

    static func faults(in answer: APIResponse, _ method: String, _ path: String) -> [String] {
        let operation = Self.operation(method, path)
        guard Self.statuses(method, path).contains(answer.status) else { return ["status \(answer.status)"] }
        var faults: [String] = []
        if answer.header("X-Request-Id") == nil { faults.append("X-Request-Id is missing") }
        for name in ["RateLimit", "RateLimit-Policy"] where operation?.isLimited != true && answer.header(name) != nil {
            faults.append("\(name) is not declared")
        }
        if answer.status == 429 || answer.status == 503, path.hasPrefix("/v1/"), answer.header("Retry-After") == nil {
            faults.append("Retry-After is missing")
        }
        // RFC 9110 §9.3.2: what is described of the content is what GET would have.
        if method == "HEAD" { return faults + (answer.text.isEmpty ? [] : ["HEAD has a body"]) }
        guard let content = (operation?.responses[answer.status] ?? Self.notThere)["content"]?.parts else {
            return faults + (answer.text.isEmpty ? [] : ["the body is not declared"])
        }
        let type = String(answer.header("Content-Type")?.prefix { $0 != ";" } ?? "")
        guard let media = content[type]?.parts else { return faults + ["the type \(type) is not declared"] }
        guard let schema = media["schema"]?.parts else { return faults }
        return faults + Self.faults(in: answer.json, schema, "body")
    }

    private static let notThere: Members = [
        "content": ["application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]]
    ]

    // MARK: - Schemas

    static func schema(of response: Members) -> Members? {
        response["content"].parts.values.compactMap { $0.parts["schema"]?.parts }.first
    }

    static func resolved(_ members: Members) -> Members {
        guard let reference = members["$ref"]?.stringValue else { return members }
        var found = Self.document
        for part in reference.split(separator: "/").dropFirst() { found = found[String(part)].parts }
        return found
    }

    /// With what it refers to; what stands beside a reference adds to it (JSON Schema 2020-12 §8.2.3.1).
    static func flat(_ schema: Members) -> Members {
        guard schema["$ref"] != nil else { return schema }
        var all = Self.flat(Self.resolved(schema))
        for (key, value) in schema where key != "$ref" {
            guard key == "properties" else {
                all[key] = value
                continue
            }
            var properties = all[key].parts
            for (name, part) in value.parts {
                properties[name] = JSONValue(parts: properties[name].parts.merging(part.parts) { $1 })
            }
            all[key] = JSONValue(parts: properties)
        }
        return all
    }

    static func faults(in value: JSONValue, _ schema: Members, _ path: String) -> [String] {
        let schema = Self.flat(schema)
        if let choices = schema["oneOf"]?.arrayValue {
            let all = choices.map { Self.faults(in: value, $0.parts, path) }
            return all.contains([]) ? [] : all.last ?? []
        }
        var faults: [String] = []
        if let type = schema["type"] {
            let types = (type.arrayValue ?? [type]).compactMap(\.stringValue)
            guard types.contains(where: value.isOf) else { return ["\(path) is \(value.typeName), not \(types)"] }
        }
        if value == .null { return [] }
        if let words = schema["enum"]?.arrayValue, !words.contains(value) {
            faults.append("\(path) is \(value.text), none of \(words)")
        }
        if let pattern = schema["pattern"]?.stringValue, let text = value.stringValue,
            let regex = try? Regex(pattern), text.firstMatch(of: regex) == nil
        {
            faults.append("\(path) does not match \(pattern)")
        }
        if let most = schema["maxItems"]?.intValue, let count = value.arrayValue?.count, count > most {
            faults.append("\(path) has more than \(most)")
        }
        if let items = schema["items"]?.parts {
            for (index, item) in (value.arrayValue ?? []).enumerated() {
                faults += Self.faults(in: item, items, "\(path)[\(index)]")
            }
        }
        return faults + Self.faults(inMembersOf: value, schema, path)
    }

    private static func faults(inMembersOf value: JSONValue, _ schema: Members, _ path: String) -> [String] {
        guard let object = value.objectValue else { return [] }
        let properties = schema["properties"]?.parts
        let more = schema["additionalProperties"]?.objectValue.map { _ in schema["additionalProperties"].parts }
        var faults: [String] = []
        for name in (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue) where object[name] == nil {
            faults.append("\(path).\(name) is missing")
        }
        for (name, member) in object.members {
            if let described = properties?[name]?.parts {
                faults += Self.faults(in: member, described, "\(path).\(name)")
            } else if let more {
                faults += Self.faults(in: member, more, "\(path).\(name)")
            } else if properties != nil {
                faults.append("\(path).\(name) is not declared")
            }
        }
        return faults
    }
}

extension JSONValue {
    /// What Yams has read.
    init(yaml value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let flag as Bool: self = .bool(flag)
        case let number as Int: self = .int(number)
        case let list as [Any]: self = .array(list.map { JSONValue(yaml: $0) })
        case let members as [String: Any]:
            self = .members(members.sorted { $0.key < $1.key }.map { ($0.key, JSONValue(yaml: $0.value)) })
        default: self = .null
        }
    }

    fileprivate init(parts: [String: JSONValue]) { self = .members(parts.map { ($0.key, $0.value) }) }

    /// Empty for anything but an object.
    var parts: [String: JSONValue] {
        Dictionary(
            (self.objectValue?.members ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    fileprivate func isOf(_ type: String) -> Bool {
        switch type {
        case "string": self.stringValue != nil
        case "integer": self.intValue != nil
        case "boolean": self == true || self == false
        case "array": self.arrayValue != nil
        case "object": self.objectValue != nil
        case "null": self == .null
        default: false
        }
    }
}

extension JSONValue? {
    var parts: [String: JSONValue] { self?.parts ?? [:] }
}

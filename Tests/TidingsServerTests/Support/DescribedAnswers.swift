import Testing
import TidingsModel
import Yams

@testable import TidingsServer

/// What the OpenAPI document says may be answered. Every answer that a test gets is held against it: an undeclared status, header, code of a
/// problem or member of the body fails the test.
enum DescribedAnswers {
    typealias Members = [String: Any]

    struct Operation {
        let method: String
        let path: String
        let description: Members

        var segments: [Substring] { self.path.split(separator: "/") }
        var responses: [Int: Members] {
            var found: [Int: Members] = [:]
            for (status, response) in self.description["responses"] as? Members ?? [:] {
                guard let number = Int(status), let response = response as? Members else { continue }
                found[number] = DescribedAnswers.resolved(response)
            }
            return found
        }
        /// Whether the good answers tell what is left of a limit.
        var isLimited: Bool {
            self.responses.contains { status, response in
                status < 300 && (response["headers"] as? Members)?["RateLimit"] != nil
            }
        }
        var parameters: [Members] {
            (self.description["parameters"] as? [Members] ?? []).map(DescribedAnswers.resolved)
        }
        func hasParameter(_ name: String) -> Bool { self.parameters.contains { $0["name"] as? String == name } }
        var hasBody: Bool { self.description["requestBody"] != nil }

        /// The codes of the problems with this status.
        func codes(_ status: Int) -> Set<String> {
            guard let schema = self.responses[status].flatMap(DescribedAnswers.schema(of:)) else { return [] }
            let properties = DescribedAnswers.flat(schema)["properties"] as? Members ?? [:]
            return Set((properties["code"] as? Members)?["enum"] as? [String] ?? [])
        }
    }

    static let document = ((try? Yams.load(yaml: OpenAPI.document)) as? Members) ?? [:]

    static let operations: [Operation] = {
        let paths = Self.document["paths"] as? [String: Members] ?? [:]
        return paths.flatMap { path, methods in
            methods.compactMap { method, operation -> Operation? in
                // Besides methods a path may have members that hold for all of them.
                guard let members = operation as? Members else { return nil }
                return Operation(method: method.uppercased(), path: path, description: members)
            }
        }.sorted { ($0.path, $0.method) < ($1.path, $1.method) }
    }()

    static func operation(_ method: String, _ path: String) -> Operation? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
        let found = Self.operations.filter { operation in
            operation.method == method && operation.segments.count == segments.count
                && zip(operation.segments, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        return found.min { $0.path.count(where: { $0 == "{" }) < $1.path.count(where: { $0 == "{" }) }
    }

    /// The statuses by method and path; a route that is not described has no answer but that it is not there.
    static func statuses(_ method: String, _ path: String) -> Set<Int> {
        Self.operation(method, path).map { Set($0.responses.keys) } ?? [404, 405]
    }

    /// Fails the test if something in the answer is not described.
    static func check(_ answer: APIResponse, _ method: String, _ path: String) {
        let faults = Self.faults(in: answer, method, path)
        #expect(faults == [], "\(method) \(path): \(answer.text)")
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
        let response = operation?.responses[answer.status] ?? ["content": ["application/problem+json": Self.problem]]
        guard let content = response["content"] as? Members else {
            return faults + (answer.text.isEmpty ? [] : ["the body is not declared"])
        }
        let type = answer.header("Content-Type")?.prefix { $0 != ";" } ?? ""
        guard let media = content[String(type)] as? Members else {
            return faults + ["the type \(type) is not declared"]
        }
        guard let schema = media["schema"] as? Members else { return faults }
        return faults + Self.faults(in: answer.json, schema, "body")
    }

    private static let problem: Members = ["schema": ["$ref": "#/components/schemas/Problem"]]

    // MARK: - Schemas

    static func schema(of response: Members) -> Members? {
        (response["content"] as? Members)?.values.compactMap { ($0 as? Members)?["schema"] as? Members }.first
    }

    static func resolved(_ members: Members) -> Members {
        guard let reference = members["$ref"] as? String else { return members }
        var found: Any? = Self.document
        for part in reference.split(separator: "/").dropFirst() { found = (found as? Members)?[String(part)] }
        return found as? Members ?? [:]
    }

    /// With what it refers to; what stands beside a reference adds to it (JSON Schema 2020-12 §8.2.3.1).
    static func flat(_ schema: Members) -> Members {
        guard schema["$ref"] != nil else { return schema }
        let base = Self.flat(Self.resolved(schema))
        var all = base
        for (key, value) in schema where key != "$ref" {
            if key == "properties", var properties = base[key] as? Members, let more = value as? Members {
                for (name, part) in more {
                    properties[name] = (properties[name] as? Members ?? [:]).merging(part as? Members ?? [:]) { $1 }
                }
                all[key] = properties
            } else {
                all[key] = value
            }
        }
        return all
    }

    static func faults(in value: JSONValue, _ schema: Members, _ path: String) -> [String] {
        let schema = Self.flat(schema)
        if let choices = schema["oneOf"] as? [Members] {
            let all = choices.map { Self.faults(in: value, $0, path) }
            return all.contains([]) ? [] : all.last ?? []
        }
        var faults: [String] = []
        if let types = schema["type"].map({ $0 as? [String] ?? [$0 as? String ?? ""] }) {
            guard types.contains(where: value.isOf) else { return ["\(path) is \(value.typeName), not \(types)"] }
        }
        if value == .null { return [] }
        if let words = schema["enum"] as? [Any] {
            let texts = words.compactMap { $0 as? String }
            if value.stringValue.map(texts.contains) != true { faults.append("\(path) is none of \(texts)") }
        }
        if let pattern = schema["pattern"] as? String, let text = value.stringValue,
            let regex = try? Regex(pattern), text.firstMatch(of: regex) == nil
        {
            faults.append("\(path) does not match \(pattern)")
        }
        if let most = schema["maxItems"] as? Int, let count = value.arrayValue?.count, count > most {
            faults.append("\(path) has more than \(most)")
        }
        if let items = schema["items"] as? Members {
            for (index, item) in (value.arrayValue ?? []).enumerated() {
                faults += Self.faults(in: item, items, "\(path)[\(index)]")
            }
        }
        return faults + Self.faults(inMembersOf: value, schema, path)
    }

    private static func faults(inMembersOf value: JSONValue, _ schema: Members, _ path: String) -> [String] {
        guard let object = value.objectValue else { return [] }
        let properties = schema["properties"] as? Members
        let more = schema["additionalProperties"] as? Members
        var faults: [String] = []
        for name in schema["required"] as? [String] ?? [] where object[name] == nil {
            faults.append("\(path).\(name) is missing")
        }
        for (name, member) in object.members {
            if let described = properties?[name] as? Members {
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

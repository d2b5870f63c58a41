import Testing
import Yams

@testable import TidingsServer

/// What the OpenAPI document says may be answered. Every answer that a test gets is held against it.
enum DescribedStatuses {
    private struct Operation {
        let method: String
        let segments: [Substring]
        let statuses: Set<Int>
    }

    private static let operations: [Operation] = {
        let document = (try? Yams.load(yaml: OpenAPI.document)) as? [String: Any]
        let paths = document?["paths"] as? [String: [String: Any]] ?? [:]
        return paths.flatMap { path, methods in
            methods.compactMap { method, operation -> Operation? in
                // Besides methods a path may have members that hold for all of them.
                guard let responses = (operation as? [String: Any])?["responses"] as? [String: Any] else { return nil }
                return Operation(
                    method: method.uppercased(), segments: path.split(separator: "/"),
                    statuses: Set(responses.keys.compactMap { Int($0) }))
            }
        }
    }()

    /// The statuses by method and path; a route that is not described has no answer but that it is not there.
    static func of(_ method: String, _ path: String) -> Set<Int> {
        let segments = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
        let found = Self.operations.filter { operation in
            operation.method == method && operation.segments.count == segments.count
                && zip(operation.segments, segments).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
        }
        return found.isEmpty ? [404, 405] : found.reduce(into: []) { $0.formUnion($1.statuses) }
    }

    /// Fails the test if a status is not described.
    static func check(_ status: Int, _ method: String, _ path: String) {
        #expect(Self.of(method, path).contains(status), "\(method) \(path) is not described to answer this")
    }
}

import Testing
import TidingsModel
import Yams

@testable import TidingsServer

@Suite struct `What the file of the API names once` {
    private static let parts = """
        x-parts:
          problems:
            - &Invalid {"400": {a: invalid}}
            - &Unknown {"404": {a: "unknown"}}
            - &Internal {"500": {a: internal}}
          kinds:
            - &read {<<: [*Internal, *Invalid]}

        """

    @Test func `is written out where it is named, its statuses in their order`() throws {
        let written = try OpenAPI.writtenOut(
            """
            openapi: 3.1.0
            \(Self.parts)get:
              description: |
                Two
                lines
              "201": {description: Made}
              "200": {description: "Done", headers: [*Invalid, a]}
              <<: [*read, *Unknown]
            last: true
            """)
        #expect(
            written == """
                openapi: 3.1.0
                get:
                  description: |
                    Two
                    lines
                  "201": {description: Made}
                  "200": {description: "Done", headers: [{"400": {a: invalid}}, a]}
                  "400": {a: invalid}
                  "404": {a: "unknown"}
                  "500": {a: internal}
                last: true

                """)
    }

    @Test func `gives way to what the mapping says itself`() throws {
        let written = try OpenAPI.writtenOut("\(Self.parts)get: {<<: *read, \"400\": {a: own}}")
        #expect(written == "get: {\"500\": {a: internal}, \"400\": {a: own}}\n")
    }

    @Test(arguments: [
        "get: {<<: *write}", "get: *write", "get: {<<: [*read, *Invalid]}", "get: {<<: [*read, a]}", "get: {<<: a}",
        "get: {\"400\": a, \"400\": b}", "- *read", "", "get: {",
    ])
    func `is refused where nothing has the name, or two have one member`(text: String) {
        let parts = text.hasPrefix("get") ? Self.parts : ""
        #expect(throws: (any Error).self) { try OpenAPI.writtenOut(parts + text) }
    }

    @Test func `is in the document as readers of YAML understand it, and nowhere by name`() throws {
        let document = try OpenAPI.writtenOut(OpenAPI.source)
        #expect(document == OpenAPI.document)
        #expect(document.hasPrefix("openapi: 3.1.0\n"))
        var understood = try #require(try Yams.load(yaml: OpenAPI.source) as? [String: Any])
        #expect(understood.removeValue(forKey: "x-parts") != nil)
        let served = try #require(try Yams.load(yaml: document) as? [String: Any])
        #expect(JSONValue(yaml: served) == JSONValue(yaml: understood))
        #expect(!document.contains("<<:") && !document.contains("x-parts"))
    }

    @Test func `makes an operation answer what its kind says`() throws {
        let reading = ["200", "400", "401", "403", "421", "500", "503"]
        let operation = try #require(DescribedAnswers.operation("GET", "/v1/apps"))
        #expect(operation.description["responses"].parts.keys.sorted() == reading)
        #expect(operation.codes(403).contains("missing_role"))
        for operation in DescribedAnswers.operations {
            for (status, response) in operation.responses {
                let headers = response["headers"].parts
                #expect(headers["X-Request-Id"] != nil, "\(operation.method) \(operation.path) \(status)")
            }
        }
    }
}

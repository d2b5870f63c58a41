import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

/// `application/problem+json` (RFC 9457) with the members `code`, `field` and `request_id`. `detail` has field and rule in one sentence.
struct APIProblem: Error, Equatable {
    var code: Code
    /// Empty if no field is at fault.
    var field: String
    /// The rule for the field, or the remedy.
    var rule: String
    var headers: HTTPFields = [:]

    init(_ code: Code, field: String = "", rule: String, headers: HTTPFields = [:]) {
        self.code = code
        self.field = field
        self.rule = rule
        self.headers = headers
    }

    init(_ code: Own, field: String = "", rule: String, headers: HTTPFields = [:]) {
        self.init(.own(code), field: field, rule: rule, headers: headers)
    }

    init(_ invalid: InvalidField) { self.init(.told(.invalidField), field: invalid.field, rule: invalid.rule) }

    init(_ problem: ServerFrame.Problem) {
        guard let code = Told(problem.code) else {
            self = .bug
            return
        }
        // RFC 9110 §10.2.3 counts in seconds; one too early would be refused again.
        let wait = problem.retryAfterMilliseconds.map { max(1, (Int64($0) + 999) / 1_000) }
        let seconds = wait ?? (code == .unavailable || code == .rateLimited ? 1 : nil)
        self.init(
            .told(code), field: problem.field, rule: problem.rule,
            headers: seconds.map { [.retryAfter: "\($0)"] } ?? [:])
    }

    static let bug = APIProblem(.internal, rule: "the server failed; see its log")

    var status: HTTPResponse.Status { self.code.status }

    /// - Parameter requestID: of the request that it answers.
    func response(to requestID: String) -> Response {
        var headers = self.headers
        headers[.contentType] = Self.contentType
        return Response(
            status: self.status, headers: headers,
            body: .init(byteBuffer: self.json(requestID: requestID).line))
    }

    static let contentType = "application/problem+json"

    func json(requestID: String) -> JSONValue {
        JSONMembers([
            "type": "urn:tidings:problem:\(self.code.rawValue)", "title": self.code.title, "status": self.status.code,
            "detail": self.field.isEmpty ? self.rule : "\(self.field) \(self.rule)", "code": self.code.rawValue,
            "field": self.field, "request_id": requestID,
        ]).json
    }
}

extension JSONValue {
    /// Returns the text with a line break behind it, so that a shell's prompt begins a line of its own.
    var line: ByteBuffer {
        var bytes = ByteBuffer(bytes: self.serialized)
        bytes.writeInteger(UInt8(ascii: "\n"))
        return bytes
    }
}

extension Response {
    static func json(_ members: JSONMembers, status: HTTPResponse.Status = .ok) -> Response {
        .json(members.json, status: status)
    }

    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: value.line))
    }

    static func text(_ text: String, type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

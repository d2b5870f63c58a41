import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

/// `application/problem+json` (RFC 9457) with the members `code`, `field`, `rule` and `request_id`.
struct APIProblem: Error, Equatable {
    var code: Code
    /// Empty if no field is at fault.
    var field: String
    /// What the field must be, or what to do.
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
            body: .init(byteBuffer: ByteBuffer(bytes: self.json(requestID: requestID).serialized)))
    }

    static let contentType = "application/problem+json"

    func json(requestID: String) -> JSONValue {
        let detail = self.field.isEmpty ? self.rule : "\(self.field) \(self.rule)"
        return [
            "type": .string("urn:tidings:problem:\(self.code.rawValue)"), "title": .string(self.code.title),
            "status": .int(self.status.code), "detail": .string(detail),
            "instance": .string("urn:tidings:request:\(Self.escaped(requestID))"),
            "code": .string(self.code.rawValue), "field": .string(self.field), "rule": .string(self.rule),
            "request_id": .string(requestID),
        ]
    }

    /// RFC 8141 §2.2 allows less in a URN than an id may hold.
    private static func escaped(_ requestID: String) -> String {
        let allowed = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/")
        return requestID.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }
}

extension Response {
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: value.serialized)))
    }

    static func text(_ text: String, type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

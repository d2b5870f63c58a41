import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TidingsModel

/// `application/problem+json` (RFC 9457) with the members `code`, `field` and `rule`.
struct APIProblem: Error, Equatable, HTTPResponseError {
    var status: HTTPResponse.Status
    /// For a program; also in the problem's type.
    var code: String
    /// Empty if no field is at fault.
    var field: String
    /// What the field must be, or what to do.
    var rule: String
    var headers: HTTPFields = [:]

    init(_ status: HTTPResponse.Status, code: String, field: String = "", rule: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.field = field
        self.rule = rule
        self.headers = headers
    }

    init(_ invalid: InvalidField) { self.init(field: invalid.field, rule: invalid.rule) }

    init(field: String, rule: String) {
        self.init(.badRequest, code: "invalid_field", field: field, rule: rule)
    }

    init(_ problem: ServerFrame.Problem) {
        // RFC 9110 §10.2.3 counts in seconds; one too early would be refused again.
        let wait = problem.retryAfterMilliseconds.map { max(1, (Int64($0) + 999) / 1_000) }
        let seconds = wait ?? (problem.code == .unavailable ? 1 : nil)
        self.init(
            Self.status(of: problem.code), code: problem.code.rawValue, field: problem.field, rule: problem.rule,
            headers: seconds.map { [.retryAfter: "\($0)"] } ?? [:])
    }

    private static func status(of code: ServerFrame.Problem.Code) -> HTTPResponse.Status {
        switch code {
        case .unavailable: .serviceUnavailable
        case .rateLimited: .tooManyRequests
        case .storageFull: .init(code: 507, reasonPhrase: "Insufficient Storage")
        case .unknownConversation, .unknownMessage: .notFound
        case .notAMember, .notAllowed, .blocked, .disabled, .banned: .forbidden
        case .exists, .tooLate: .conflict
        case .invalidField, .unknownObjectName, .invalidToken, .expiredToken, .wrongApp, .unsupportedVersion,
            .malformedFrame, .frameTooLarge, .unexpectedFrame, .superseded, .timedOut, .slowReader, .kicked,
            .tokenRevoked:
            .badRequest
        }
    }

    static let bug = APIProblem(.internalServerError, code: "internal", rule: "the server failed; see its log")

    func response(from request: Request, context: some RequestContext) throws -> Response { self.response }

    var response: Response {
        var headers = self.headers
        headers[.contentType] = "application/problem+json"
        return Response(
            status: self.status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: self.json.serialized)))
    }

    var json: JSONValue {
        let detail = self.field.isEmpty ? self.rule : "\(self.field) \(self.rule)"
        return [
            "type": .string("urn:tidings:problem:\(self.code)"), "title": .string(self.status.reasonPhrase),
            "status": .int(self.status.code), "detail": .string(detail), "code": .string(self.code),
            "field": .string(self.field), "rule": .string(self.rule),
        ]
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

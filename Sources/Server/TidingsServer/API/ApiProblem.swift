import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import TidingsModel

/// Why a request was refused, as `application/problem+json` (RFC 9457) with the members `code`, `field` and `rule`.
struct ApiProblem: Error, Equatable, HTTPResponseError {
    /// The status of the response.
    var status: HTTPResponse.Status
    /// For a program; also in the problem's type.
    var code: String
    /// The field at fault, or empty.
    var field: String
    /// The rule it breaks, or what to do, in words.
    var rule: String
    /// More headers, for example `WWW-Authenticate`.
    var headers: HTTPFields = [:]

    /// A problem from its parts.
    init(_ status: HTTPResponse.Status, code: String, field: String = "", rule: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.field = field
        self.rule = rule
        self.headers = headers
    }

    /// Bad input.
    init(_ invalid: InvalidField) {
        self.init(.badRequest, code: "invalid_field", field: invalid.field, rule: invalid.rule)
    }

    /// What the core refused.
    init(_ problem: ServerFrame.Problem) {
        let isBusy = problem.code == .unavailable
        self.init(
            Self.status(of: problem.code), code: problem.code.rawValue, field: problem.field, rule: problem.rule,
            headers: isBusy ? [.retryAfter: "1"] : [:])
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

    /// A fault of our own.
    static let bug = ApiProblem(.internalServerError, code: "internal", rule: "the server failed; see its log")

    func response(from request: Request, context: some RequestContext) throws -> Response { self.response }

    /// The response.
    var response: Response {
        var headers = self.headers
        headers[.contentType] = "application/problem+json"
        let detail = self.field.isEmpty ? self.rule : "\(self.field) \(self.rule)"
        let body: JSONValue = [
            "type": .string("urn:tidings:problem:\(self.code)"), "title": .string(self.status.reasonPhrase),
            "status": .int(self.status.code), "detail": .string(detail), "code": .string(self.code),
            "field": .string(self.field), "rule": .string(self.rule),
        ]
        return Response(
            status: self.status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body.serialized)))
    }
}

/// Turns every error into a problem and counts the request by its route.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Where requests are counted.
    let metrics: ServerMetrics

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let problem as ApiProblem {
            response = problem.response
        } catch let error as any HTTPResponseError {
            response = Self.problem(for: error, request).response
        } catch {
            context.logger.log(.error, "request failed", [.path: context.endpointPath ?? "", .error: "\(error)"])
            response = ApiProblem.bug.response
        }
        self.metrics.request(route: context.endpointPath ?? "NotFound", status: response.status.code)
        return response
    }

    private static func problem(for error: any HTTPResponseError, _ request: Request) -> ApiProblem {
        switch error.status {
        case .notFound:
            ApiProblem(
                .notFound, code: "unknown_route", field: "path",
                rule: "\(request.method.rawValue) \(request.uri.path) is not part of the API; see /openapi.yaml")
        case .contentTooLarge:
            ApiProblem(
                .contentTooLarge, code: "body_too_large", field: "body", rule: "is larger than api.body_bytes_max")
        default:
            ApiProblem(error.status, code: "bad_request", rule: error.status.reasonPhrase)
        }
    }
}

extension Response {
    /// A JSON response.
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: value.serialized)))
    }

    /// A text response.
    static func text(_ text: String, type: String) -> Response {
        Response(status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

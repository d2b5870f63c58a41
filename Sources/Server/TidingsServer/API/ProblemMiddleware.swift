import HTTPTypes
import HTTPUpgrades
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import ServerCore
import StoreModel
import Synchronization
import TidingsModel

/// Around every route of a listener: finds out where a request comes from, gives it an id, turns every error into a problem, tells what is
/// left of the limits the route has, counts the request by its route and writes the audit log.
struct ProblemMiddleware: RouterMiddleware {
    typealias Context = APIContext

    let listener: Listener
    let routes: RouteTable
    let core: @Sendable (APICommand) async -> APIResult
    let metrics: ServerMetrics
    let proxies: TrustedProxies
    let audit: AuditLog
    let connections: HTTPConnections?

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var (request, context) = (request, context)
        if request.headers[.expect] != nil {
            request.body = RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: context.channel))
        }
        let forwarded = request.headers[values: Self.forwardedFor].joined(separator: ",")
        context.client = self.proxies.remote(peer: context.peer, forwardedFor: forwarded.isEmpty ? nil : forwarded)
        context.connections = self.connections
        self.connections?.noteEvent(.asked(from: context.client.network), context.channel, at: .now())
        self.proxies.warn(
            of: context.peer, forwardedFor: forwarded.isEmpty ? nil : forwarded,
            hasProxyMarks: API.hasProxyMarks(request), context.logger)
        context.requestID = RequestID.make(from: request.headers[Self.requestID])
        var (response, problem) = await self.answer(request, context, next)
        // RFC 9110 §9.3.2: the head of an answer alone, also of a problem.
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[Self.requestID] = context.requestID
        if let question = context.share.question, case .quotas(let quotas) = await self.core(.quotas(question)) {
            RateLimitHeaders.add(quotas, to: &response.headers)
        }
        let route = context.endpointPath ?? "NotFound"
        self.metrics.countRequest(route: route, status: response.status.code)
        self.audit.logCall(
            AuditLog.Call(
                address: context.client, requestID: context.requestID, method: request.method.rawValue, route: route,
                path: request.uri.path, actor: request.member("actor"), status: response.status.code,
                code: problem?.code.rawValue), context.note)
        return response
    }

    private static let forwardedFor = Self.name("X-Forwarded-For")
    private static let requestID = Self.name(RequestID.header)

    /// The constants above are valid names; `date` is never used.
    private static func name(_ text: String) -> HTTPField.Name { HTTPField.Name(text) ?? .date }

    private func answer(
        _ request: Request, _ context: Context, _ next: (Request, Context) async throws -> Response
    ) async -> (Response, APIProblem?) {
        let problem: APIProblem
        do {
            // The router passes over them: an id that was left empty would make another request of this one.
            let path = request.uri.path
            guard !RequestTarget.hasEmptySegment(path) || path == API.consoleFolder else { throw self.unknown(request) }
            let response = try await next(request, context)
            try await self.keepCall(context, response)
            return (response, nil)
        } catch let found as APIProblem {
            problem = found
        } catch let invalid as InvalidField {
            problem = APIProblem(invalid)
        } catch let error as any HTTPResponseError {
            problem = self.problem(for: error, request)
        } catch is HTTPParserError {
            // The parser has given up on the connection, so nothing can follow.
            problem = APIProblem(
                .malformedBody, field: "body",
                rule: "must be as long as Content-Length says, or in whole chunks (RFC 9112 §6)",
                headers: [.connection: "close"])
        } catch is IOError, is ChannelError {
            // The client has hung up; nobody reads this.
            problem = APIProblem(.connectionLost, rule: "the connection was lost")
        } catch {
            context.logger.log(
                .error, "request failed",
                [.route: context.endpointPath ?? "", .request: context.requestID, .error: "\(error)"])
            problem = .bug
        }
        return (problem.response(to: context.requestID), problem)
    }

    /// Before the answer goes out: what it shows or confirms has its record in the store then.
    private func keepCall(_ context: Context, _ response: Response) async throws {
        guard response.status.kind == .successful, let author = context.author, var call = context.note.audited
        else { return }
        if call.subject.isEmpty { call.subject = context.note.made ?? context.note.user ?? "" }
        let result = await self.core(.changeControl(.by(author, .noteCall(call))))
        if case .refused(let problem) = result { throw APIProblem(problem) }
        _ = try result.control.orBug()
    }

    private func problem(for error: any HTTPResponseError, _ request: Request) -> APIProblem {
        switch error.status {
        case .notFound: self.unknown(request)
        case .contentTooLarge:
            APIProblem(.bodyTooLarge, field: "body", rule: "is larger than api.body_bytes_max")
        default:
            APIProblem(.badRequest, rule: "cannot be read: \(error.status.reasonPhrase)")
        }
    }

    private static let phonePaths = ["/v1/extension/", "/v1/media/", "/v1/installations"]

    private func unknown(_ request: Request) -> APIProblem {
        let methods = self.routes.methods(of: request.uri.path).joined(separator: ", ")
        guard methods.isEmpty else {
            return APIProblem(
                .methodNotAllowed, field: "method", rule: "must be one of \(methods)",
                headers: [.allow: methods])
        }
        let isForPhones = self.listener != .phone && Self.phonePaths.contains { request.uri.path.hasPrefix($0) }
        return APIProblem(
            .unknownRoute, field: "path",
            rule: isForPhones
                ? "is for phones, and served on phone.port"
                : "\(request.method.rawValue) \(request.uri.path) is not part of the API; see /openapi.yaml")
    }
}

/// A body whose client is told to send it when it is asked for, not before (RFC 9110 §10.1.1).
private struct AwaitedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var body: RequestBody.AsyncIterator
        var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            self.channel?.triggerUserOutboundEvent(RequestRules.BodyWanted(), promise: nil)
            self.channel = nil
            return try await self.body.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self.body.makeAsyncIterator(), channel: self.channel)
    }
}

extension APIProblem {
    /// Requests that are refused before a route sees them.
    @Sendable static func answer(to fault: RequestFault, _ headers: HTTPHeaders) -> (headers: HTTPHeaders, body: String)
    {
        let (_, code, field, rule) = fault.row
        let requestID = RequestID.make(from: headers.first(name: RequestID.header))
        let problem = APIProblem(Own.allCases.first { $0.name == code } ?? .badRequest, field: field, rule: rule)
        return (
            ["content-type": Self.contentType, RequestID.header: requestID],
            problem.json(requestID: requestID).text + "\n"
        )
    }
}

/// Tells a path that has other methods from one that does not exist.
final class RouteTable: Sendable {
    private let routes = Mutex<[(segments: [Substring], method: String)]>([])

    func setRoutes(of router: Router<APIContext>) {
        var all = router.routes.map { (Self.segments($0.path.description), $0.method.rawValue) }
        // RFC 9110 §9.3.2: the router answers both.
        all += all.filter { $0.1 == "GET" }.map { ($0.0, "HEAD") }
        self.routes.withLock { $0 = all.sorted { $0.1 < $1.1 } }
    }

    /// Sorted; empty if there is no such path.
    func methods(of path: String) -> [String] {
        let segments = Self.segments(path == API.consoleFolder ? "/console" : path)
        let methods = self.routes.withLock { routes in
            routes.filter { route in
                route.segments.count == segments.count
                    && zip(route.segments, segments).allSatisfy { part, given in
                        part == given || (part.hasPrefix("{") && !given.isEmpty)
                    }
            }.map(\.method)
        }
        // Some have a HEAD of their own.
        return Set(methods).sorted()
    }

    private static func segments(_ path: String) -> [Substring] {
        path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    }
}

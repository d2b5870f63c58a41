import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import ServerCore
import TidingsModel

@testable import TidingsServer

/// The HTTP API in front of a core that writes down what it is asked and answers what it was told to.
struct APIDouble {
    private let api: API
    private let asked = NIOLockedValueBox<[APICommand]>([])

    init(answering result: APIResult = .answer(.done(1)), scopes: [APIScope] = APIScope.allCases) async throws {
        var app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        app.apiKeys = [.init(id: "operator", sha256: TestServer.hash(TestServer.key), scopes: scopes)]
        let registry = PrometheusRegistry()
        self.api = API(
            core: { [asked] command in
                asked.withLockedValue { $0.append(command) }
                return result
            }, metrics: ServerMetrics(factory: registry), tokens: try await UserTokens(apps: [app]),
            keys: APIKeys(apps: [app]), readiness: Readiness(),
            disk: StoreDisk(path: NSTemporaryDirectory() + "tidings-api-double.sqlite"), registry: registry,
            bodyBytesMax: 65_536, proxies: TrustedProxies([]),
            audit: AuditLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    var commands: [APICommand] { self.asked.withLockedValue { $0 } }

    func forget() { self.asked.withLockedValue { $0 = [] } }

    func request(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil) async throws -> APIResponse {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: "/v1/apps/demo/\(path)",
            headerFields: [.authorization: "Bearer \(TestServer.key)"])
        let request = Request(head: head, body: .init(buffer: ByteBuffer(string: body ?? "")))
        let context = API.Context(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let response = try await self.api.router().buildResponder().respond(to: request, context: context)
        DescribedStatuses.check(response.status.code, method.rawValue, "/v1/apps/demo/\(path)")
        let text = NIOLockedValueBox("")
        try await response.body.write(Collector(text: text))
        let type = response.headers[.contentType].map { "content-type: \($0)" } ?? ""
        return APIResponse(status: response.status.code, head: type, text: text.withLockedValue { $0 })
    }

    private struct Collector: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>

        mutating func write(_ buffer: ByteBuffer) { self.text.withLockedValue { $0 += String(buffer: buffer) } }
        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

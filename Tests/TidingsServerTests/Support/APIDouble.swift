import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOPosix
import StoreModel
import Testing
import TidingsModel

@testable import ServerCore
@testable import TidingsServer

/// The HTTP API in front of a core and a store that write down what they are asked and answer what they were told to.
struct APIDouble {
    let api: API
    private let asked = NIOLockedValueBox<[APICommand]>([])
    private let read = NIOLockedValueBox<[StoreCommand]>([])
    let feed: EventFeed
    private let apps: AppRegistry

    /// - Parameters: answering: what the core says. reading: what the store says; the core's push where it is nil. audience: what every
    ///   audience is counted as; nil answers that, too, with `result`. message: what is there to read or edit.
    init(
        answering result: APIResult = .answer(.done(1)), reading stored: StoreResult? = nil,
        scopes: [APIScope] = APIScope.allCases,
        search: (any MessageSearch)? = nil, audience: AudienceCount? = nil,
        message: MessageTrace? = nil
    ) async throws {
        var app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        app.apiKeys = [.init(id: "operator", sha256: TestServer.hash(TestServer.key), scopes: scopes)]
        let registry = PrometheusRegistry()
        self.feed = EventFeed(eventLoop: MultiThreadedEventLoopGroup.singleton.any())
        let apps = try AppRegistry(apps: [app])
        self.apps = apps
        var api = API(
            core: { [asked] command in
                if case .quotas = command { return .quotas([Self.quota]) }
                asked.withLockedValue { $0.append(command) }
                if case .countAudience = command, let audience { return .audience(audience) }
                // The record of an operator's call.
                if case .changeControl(.by(_, .noteCall)) = command { return .control(.noted) }
                return result
            },
            store: { [read] command in
                read.withLockedValue { $0.append(command) }
                if let stored { return stored }
                if case .pushJob(let job) = result { return .pushJob(job) }
                if case .readMessage = command { return .trace(message) }
                return .done
            }, metrics: ServerMetrics(factory: registry), tokens: UserTokens(apps),
            keys: APIKeys(apps), readiness: Readiness(),
            disk: StoreDisk(path: NSTemporaryDirectory() + "tidings-api-double.sqlite"), registry: registry,
            bodyBytesMax: 65_536, proxies: TrustedProxies([]),
            audit: AuditLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }), feed: self.feed,
            access: ConsoleAccess(apps, ServerConfiguration.Console()))
        api.search = search
        self.api = api
    }

    private static let quota = RateQuota(
        scope: .app, kind: .requests, limit: RateLimit(perSecond: 20, burst: 210), remaining: 7, fullIn: 10_001)

    /// Of both listeners, as `METHOD /path`.
    var routes: [String] {
        (self.api.router().routes + self.api.phoneRouter().routes).map {
            "\($0.method.rawValue) /\($0.path.description.trimmingPrefix("/"))"
        }
    }

    var commands: [APICommand] { self.asked.withLockedValue { $0 } }
    var reads: [StoreCommand] { self.read.withLockedValue { $0 } }

    /// An operator with a session of the console; answers the headers of its requests.
    func signIn(_ role: OperatorRole = .send, password: String? = TestServer.password) async throws -> [(
        String, String
    )] {
        let access = self.api.access
        var record = OperatorRecord(
            name: "anna", role: role, hashes: KeyHashes(Array(repeating: 1, count: 32)), createdAt: 0)
        if let password { record.password = try await access.passwords.hash(password) }
        let (secret, token, session) = access.drawSession()
        record.sessions = [session]
        try self.apps.apply(.addOperator(record), .ofOperator(record))
        return [("Cookie", "__Host-tidings=\(secret)"), ("X-CSRF-Token", token)]
    }

    func forget() {
        self.asked.withLockedValue { $0 = [] }
        self.read.withLockedValue { $0 = [] }
    }

    func request(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, headers: [(String, String)] = [],
        key: String? = TestServer.key
    ) async throws -> APIResponse {
        var fields = HTTPFields()
        if let key { fields[.authorization] = "Bearer \(key)" }
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: "/v1/apps/demo/\(path)",
            headerFields: fields)
        let request = Request(head: head, body: .init(buffer: ByteBuffer(string: body ?? "")))
        let context = API.Context(
            source: ApplicationRequestContextSource(
                channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let response = try await self.api.router().buildResponder().respond(to: request, context: context)
        let text = NIOLockedValueBox("")
        try await response.body.write(Collector(text: text))
        let lines = response.headers.map { "\($0.name.canonicalName): \($0.value)" }
        let answer = APIResponse(
            status: response.status.code, head: lines.joined(separator: "\n"), text: text.withLockedValue { $0 })
        let route = "/v1/apps/demo/\(path)"
        DescribedAnswers.check(answer, method.rawValue, route)
        if DescribedAnswers.operation(method.rawValue, route)?.isLimited == true {
            #expect(answer.header("RateLimit") == "\"app.requests\";r=7;t=11", "\(method) \(path)")
            #expect(answer.header("RateLimit-Policy") == "\"app.requests\";q=210;w=11", "\(method) \(path)")
        }
        return answer
    }

    private struct Collector: ResponseBodyWriter {
        let text: NIOLockedValueBox<String>

        mutating func write(_ buffer: ByteBuffer) { self.text.withLockedValue { $0 += String(buffer: buffer) } }
        consuming func finish(_ trailingHeaders: HTTPFields?) {}
    }
}

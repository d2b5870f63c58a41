import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

@testable import TidingsServer

/// What the server takes for `tidings phones`: writes down what it is asked, and answers what it was told to.
final class PhoneHostDouble: Sendable {
    struct Asked: Equatable {
        var method: String
        var path: String
        var body = ""
    }

    /// What a test tells it to answer with.
    enum Answer: Sendable {
        case json(Int, String)
        /// Events, and then nothing until the reader has gone or the test is over.
        case events([String])
        /// So many chunks of 64 KiB.
        case chunks(Int)
    }

    static let token = "a-token-of-at-least-thirty-two-characters"

    private let answer = NIOLockedValueBox(Answer.json(200, "{}"))
    private let asked = NIOLockedValueBox<[Asked]>([])
    private let heads = NIOLockedValueBox<[HTTPFields]>([])
    /// How many chunks were written, and how many streams have ended.
    let written = NIOLockedValueBox(0)
    let ended = NIOLockedValueBox(0)
    private let isOver = NIOLockedValueBox(false)

    var requests: [Asked] { self.asked.withLockedValue { $0 } }
    var headers: [HTTPFields] { self.heads.withLockedValue { $0 } }

    func setAnswer(_ answer: Answer) { self.answer.withLockedValue { $0 = answer } }

    func forget() {
        self.asked.withLockedValue { $0 = [] }
        self.heads.withLockedValue { $0 = [] }
    }

    /// Runs it, and a server that knows it, with the token in a file.
    static func with(
        token: String? = PhoneHostDouble.token, audit: Logger? = nil,
        _ body: (TestServer, PhoneHostDouble) async throws -> Void
    ) async throws {
        let double = PhoneHostDouble()
        try await double.run { port in
            try await TestServer.withFolder { folder in
                let path = "\(folder)/control.token"
                if let token { try "\(token)\n".write(toFile: path, atomically: true, encoding: .utf8) }
                try await TestServer.with(
                    folder: folder, audit: audit,
                    {
                        $0.console.phones = "127.0.0.1:\(port)"
                        $0.console.phonesTokenPath = path
                    }
                ) { server in try await body(server, double) }
            }
        }
    }

    private func run(_ body: (Int) async throws -> Void) async throws {
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        let responder = CallbackResponder<BasicRequestContext> { request, _ in try await self.respond(request) }
        let application = Application(
            responder: responder, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in announce.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .singleton, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await application.run() }
        defer {
            self.isOver.withLockedValue { $0 = true }
            running.cancel()
        }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { throw RawClient.UnexpectedAnswer(text: "no port") }
        try await body(port)
    }

    private func respond(_ request: Request) async throws -> Response {
        let bytes = try await request.body.collect(upTo: 1 << 20)
        self.heads.withLockedValue { $0.append(request.headers) }
        self.asked.withLockedValue {
            $0.append(Asked(method: request.method.rawValue, path: request.uri.string, body: String(buffer: bytes)))
        }
        switch self.answer.withLockedValue({ $0 }) {
        case .json(let status, let text):
            return Response(
                status: .init(code: status), headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        case .events(let events): return self.stream { writer in try await self.write(events, to: &writer) }
        case .chunks(let count):
            return self.stream { writer in
                let chunk = ByteBuffer(repeating: UInt8(ascii: ":"), count: 65_536)
                for _ in 0..<count {
                    try await writer.write(chunk)
                    self.written.withLockedValue { $0 += 1 }
                    // A write returns before the event loop knows that the socket is full: without a pause thousands would be counted that
                    // nobody has taken.
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
    }

    private func write(_ events: [String], to writer: inout any ResponseBodyWriter) async throws {
        for event in events { try await writer.write(ByteBuffer(string: event)) }
        // Until nobody reads any more.
        while !self.isOver.withLockedValue({ $0 }) {
            try await writer.write(ByteBuffer(string: ":\n\n"))
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func stream(
        _ body: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                defer { self.ended.withLockedValue { $0 += 1 } }
                try await body(&writer)
                try await writer.finish(nil)
            })
    }
}

/// A client that sends, and never reads.
struct SilentReader {
    private let channel: any Channel

    static func connect(port: Int) async throws -> SilentReader {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
            .connect(host: "127.0.0.1", port: port).get()
        return SilentReader(channel: channel)
    }

    func send(_ text: String) async throws { try await self.channel.writeAndFlush(ByteBuffer(string: text)) }

    func close() async { try? await self.channel.close() }
}

import Foundation
import SDKTestSupport
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import ClientCore
@testable import TidingsClient

private let key = "pk_0123456789abcdef"

/// The server's routes for installations. In the client's tests a token is the id of its person.
private final class InstallationServer: MediaHTTP {
    struct State {
        var requests: [String] = []
        var made = 0
        /// Instead of what it does by itself.
        var status: Int?
        /// Milliseconds from the clock's beginning; a renewed token is good for a day more.
        var lifetime: Int64 = 86_400
    }

    let state = Mutex(State())
    private let clock: ForwardingClock

    init(_ clock: ForwardingClock) { self.clock = clock }

    var requests: [String] { self.state.withLock { $0.requests } }

    func send(_ request: MediaHTTPRequest) async throws -> MediaHTTPAnswer {
        let now = self.clock.now.wall
        return self.state.withLock { state in
            state.requests.append("\(request.method) \(request.url.path) \(request.token)")
            if let status = state.status { return MediaHTTPAnswer(status: status) }
            let expiresAt = now + state.lifetime * 1_000
            guard request.url.path.hasSuffix("/token") else {
                state.made += 1
                let user = "anon-\(state.made)"
                return Self.answer(
                    201,
                    [
                        "app": "demo", "user": .string(user), "token": .string(user), "expires_at": .int(expiresAt),
                        "renewal": .string("renewal of \(user)"),
                    ])
            }
            let user = request.url.deletingLastPathComponent().lastPathComponent
            guard request.token == "renewal of \(user)" else { return MediaHTTPAnswer(status: 401) }
            return Self.answer(200, ["token": .string(user), "expires_at": .int(expiresAt)])
        }
    }

    private static func answer(_ status: Int, _ body: JSONValue) -> MediaHTTPAnswer {
        MediaHTTPAnswer(status: status, body: Data(body.serialized))
    }
}

extension ClientBench {
    fileprivate func client(_ server: InstallationServer, secrets: (any SecretStore)? = nil) throws -> ChatClient {
        try self.client(secrets: secrets, mediaHTTP: server) { $0.apiURL = URL(string: "https://phone.example.com") }
    }
}

extension ChatClient {
    /// The process dies: nothing of it is told to anybody.
    fileprivate func end() async {
        let (engine, leaving) = self.state.withLock { ($0.engine, $0.leaving) }
        await engine?.finish()
        try? engine?.store.close()
        await leaving?.finish()
    }
}

@Suite struct `Without sign-in` {
    private static let made = "POST /v1/installations \(key)"
    private static let renewed = "POST /v1/installations/anon-1/token renewal of anon-1"

    @Test func `an installation is one person, also for the next process`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        try await client.connectAnonymously(clientKey: key)
        #expect(client.userID == "anon-1")
        #expect(server.requests == [Self.made])
        await client.end()
        let next = try bench.client(server)
        try await next.connectAnonymously(clientKey: key)
        #expect(next.userID == "anon-1")
        #expect(server.requests == [Self.made])
        await next.end()
        // A day later its token is another one.
        bench.clock.advance(seconds: 86_000)
        let later = try bench.client(server)
        try await later.connectAnonymously(clientKey: key)
        #expect(later.userID == "anon-1")
        #expect(server.requests == [Self.made, Self.renewed])
        await later.end()
    }

    @Test func `a person who cannot be kept is not used`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        // A folder where the file has to be.
        _ = try client.folders.deviceID(app: "demo")
        let name = "installation-\(Hexadecimal.text("demo".utf8)).json"
        let file = bench.folder.appendingPathComponent("app/\(name)")
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
        await #expect(throws: ChatError.self) { try await client.connectAnonymously(clientKey: key) }
        #expect(client.userID == nil)
        #expect(bench.server.frames.isEmpty)
    }

    @Test func `signing in takes the phone, and tells the server that the anonymous person has gone`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        try await client.connectAnonymously(clientKey: key)
        try await client.connect(userID: "alice", token: "alice")
        #expect(client.userID == "alice")
        await bench.passTime { bench.server.hasGot(.signOut) }
        #expect(bench.server.hasGot(.signOut))
        await bench.passTime { client.folders.pendingSignOut(app: "demo") == nil }
        // And back: the same one.
        try await client.signOut(returningWith: key)
        #expect(client.userID == "anon-1")
        #expect(server.requests == [Self.made])
        await client.end()
    }

    @Test func `a process that ends while signing in leaves it to the next one to tell`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        try await client.connectAnonymously(clientKey: key)
        await client.end()
        let next = try bench.client(server)
        await next.leaveAnonymousPerson(for: "alice")
        await next.end()
        let last = try bench.client(server)
        #expect(last.folders.pendingSignOut(app: "demo")?.person == "anon-1")
        try await last.connect(userID: "alice", token: "alice")
        await bench.passTime { last.folders.pendingSignOut(app: "demo") == nil }
        #expect(bench.server.hasGot(.signOut))
        await last.end()
    }

    @Test func `nobody else is made where one signs in who was signed in`() async throws {
        let bench = try ClientBench()
        let client = try bench.client(InstallationServer(bench.clock))
        try await client.connect(userID: "alice", token: "alice")
        await client.leaveAnonymousPerson(for: "bob")
        #expect(client.folders.pendingSignOut(app: "demo") == nil)
        await client.end()
    }

    @Test func `whose renewal was revoked is somebody else from then on`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        try await client.connectAnonymously(clientKey: key)
        await client.signOut()
        try client.folders.keepInstallation(
            Installation(user: "anon-1", token: "anon-1", expiresAt: 0, renewal: "revoked"), app: "demo")
        try await client.connectAnonymously(clientKey: key)
        #expect(client.userID == "anon-2")
        await client.end()
    }

    @Test func `what the server refuses is told, and nobody is signed in`() async throws {
        let bench = try ClientBench()
        let server = InstallationServer(bench.clock)
        let client = try bench.client(server)
        for (status, message) in [
            (401, "the server refused: invalid_token: clientKey must be a client key of the app"),
            (429, "the server cannot do it just now, try again: try again later"),
        ] {
            server.state.withLock { $0.status = status }
            await #expect { try await client.connectAnonymously(clientKey: key) } throws: { "\($0)" == message }
            #expect(client.userID == nil)
        }
        let without = try bench.client(mediaHTTP: server)
        await #expect(throws: ChatError.self) { try await without.connectAnonymously(clientKey: key) }
    }
}

import ClientCore
import Foundation
import Requirements
import SDKTestSupport
import ServerCore
import Synchronization
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

extension ForwardingClock {
    /// Rounded: 1.001 s times 1,000 is less than 1,001 in binary, and a sleeper of 1,001 ms would never wake.
    func advance(seconds: Double) { self.advance(by: Int64((seconds * 1_000).rounded())) }
}

/// A client on a folder of its own.
struct ClientBench {
    let server: ServerTransport
    let clock: ForwardingClock
    let folder: URL

    init() throws {
        let clock = ForwardingClock()
        self.clock = clock
        self.server = ServerTransport(now: { clock.now })
        self.folder = testFolder()
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    static func withClient() throws -> (Self, ChatClient) {
        let bench = try Self()
        return (bench, try bench.client())
    }

    /// A client that alice has signed in to.
    static func connected() async throws -> (Self, ChatClient) {
        let (bench, client) = try Self.withClient()
        try await client.connect(userID: "alice", token: "alice")
        return (bench, client)
    }

    func client(
        tokens: (any ExtensionTokens)? = nil, secrets: (any SecretStore)? = nil,
        safety: any FileSafety = SystemFileSafety(), mediaHTTP: any MediaHTTP = URLSessionMediaHTTP(),
        _ change: (inout ChatClient.Configuration) -> Void = { _ in }
    ) throws -> ChatClient {
        var configuration = ChatClient.Configuration(
            appKey: "demo", serverURL: URL(fileURLWithPath: "/in-memory"))
        configuration.storeFolder = self.folder.appendingPathComponent("app")
        configuration.appGroupFolder = self.folder.appendingPathComponent("group")
        configuration.bundleIdentifier = "com.example.chat"
        change(&configuration)
        return ChatClient(
            configuration: configuration, transport: self.server, clock: self.clock, tokens: tokens, secrets: secrets,
            safety: safety, mediaHTTP: mediaHTTP)
    }

    /// Lets back-offs and deadlines pass until something holds: slowly while there is a connection, so that neither end is late. Gives up after
    /// two minutes, so that what is expected next tells what is there.
    func passTime(until holds: () -> Bool) async {
        let end = ContinuousClock.now.advanced(by: .seconds(120))
        while !holds(), ContinuousClock.now < end {
            self.clock.advance(seconds: self.server.connections.isEmpty ? 60 : 1)
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}

extension ServerTransport {
    /// A one-to-one message.
    @discardableResult
    func deliver(
        _ text: String, from sender: UserID, to recipient: UserID, beforehand: (MessageID) -> Void = { _ in }
    ) -> MessageID {
        self.send(
            text, from: sender, to: ConversationID(type: .direct, target: recipient.rawValue), beforehand: beforehand)
    }

    /// Does for a person what their device would ask for.
    func request(_ request: ClientRequest, as person: UserID) {
        self.request(.request(Self.app, actor: person, request))
    }

    /// Sends get no answer, and arrive nowhere.
    func ignoreSends() {
        self.setScript { $0.answer = { _, frame in if case .send = frame { [] } else { nil } } }
    }

    /// Answers all requests alike; nil for no answer.
    func answerRequests(_ answer: ClientAnswer?) {
        self.setScript { script in
            script.answer = { _, frame in
                guard case .request(let number, _) = frame else { return nil }
                return answer.map { [.answer(number, $0)] } ?? []
            }
        }
    }

    /// From now on the server does everything itself again.
    func behave() { self.setScript { _ in } }

    func hasGot(_ frame: ClientFrame) -> Bool { self.frames.contains(frame) }
    var hasGotSend: Bool { self.frames.contains { if case .send = $0 { true } else { false } } }
}

extension ClientFrame {
    /// Whether it tells this push registration, under whatever number.
    func registers(_ registration: PushRegistration?) -> Bool {
        if case .registerPush(registration, _) = self { true } else { false }
    }
}

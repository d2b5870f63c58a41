package import Foundation
package import ServerCore
import SimulatedServer
import StoreModel
package import Synchronization
package import Testing
package import TidingsClient
package import TidingsModel
import TidingsWire

/// `SimulatedServer` behind the SDK's transport; every frame crosses the wire format. Its tokens are the ids of people.
///
/// The server's own deadlines never pass. What a real server never does is the work of a `Script`, and what a network does that of `network` and
/// `drop`. A test that waits for a frame that never comes goes on after two minutes, with an issue.
package final class ServerTransport: ClientTransport {
    /// What happens to connections on the way.
    package enum Network: CaseIterable, Sendable {
        case works
        /// Connections open, and nothing that is sent on them arrives.
        case isSilent
        /// No connection opens.
        case refuses
    }

    /// A server that misbehaves: answers instead of the real one, and changes to what the real one says.
    package struct Script: Sendable {
        /// What a frame of a person is answered; nil leaves it to the real server, which otherwise does not learn of it.
        package var answer: @Sendable (UserID, ClientFrame) -> [ServerFrame]? = { _, _ in nil }
        /// What becomes of a frame of the real server; nil loses it.
        package var change: @Sendable (ServerFrame) -> ServerFrame? = { $0 }

        package init() {}
    }

    package static let app: AppID = "demo"

    private struct Link: Sendable {
        let connection: Connection
        let events: @Sendable (TransportEvent) -> Void
        /// Whose it is; nil before the hello.
        var person: UserID?
        /// Nothing arrives on it in either direction.
        var isDead: Bool
    }

    /// `@unchecked Sendable`: `server` is guarded by the lock around the state, which alone holds it.
    private struct State: @unchecked Sendable {
        let server: SimulatedServer
        var network = Network.works
        var script = Script()
        var links: [SessionID: Link] = [:]
        var lastSession: UInt64 = 0
        var lastDraft = 0
        var frames: [ClientFrame] = []
        var welcomes: [UserID: ServerFrame.Welcome] = [:]
        var acknowledged: LogPosition = 0
        /// Called outside the lock, and in order: what clients are told, and the tests that have waited for a frame.
        var outbox: [@Sendable () -> Void] = []
        var isDelivering = false
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    private struct Waiter: Sendable {
        let test: @Sendable (ClientFrame) -> Bool
        let continuation: CheckedContinuation<ClientFrame?, Never>
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Now

    /// - Parameter now: the clock of the server.
    package init(now: @escaping @Sendable () -> Now) {
        self.now = now
        var settings = ServerSettings()
        // Tests do more in no time than a person, and flood a client.
        settings.limits = .none
        settings.liveWindowMax = 1_000
        self.state = Mutex(
            State(
                server: SimulatedServer(
                    settings: settings, at: now(), checkToken: SimulatedServer.tokenIsUser(in: Self.app))))
    }

    // MARK: The client's side

    package func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
        self.change { state in
            state.lastSession += 1
            let session = SessionID(state.lastSession)
            let connection = Connection(server: self, session: session)
            guard state.network != .refuses else {
                state.outbox.append { events(.closed(reason: "unreachable")) }
                return connection
            }
            state.links[session] = Link(connection: connection, events: events, isDead: state.network == .isSilent)
            state.outbox.append { events(.opened) }
            return connection
        }
    }

    private func receive(_ bytes: [UInt8], on session: SessionID) {
        guard let frame = try? FrameCodec.decodeClientFrame(bytes, as: .protobuf) else { return }
        self.change { state in
            guard let link = state.links[session], !link.isDead else { return }
            state.frames.append(frame)
            // Whoever waited for the frame finds it answered.
            defer { Self.resumeWaiters(for: frame, &state) }
            if case .hello(let hello) = frame {
                state.links[session]?.person = UserID(hello.token)
                state.acknowledged = hello.after
            }
            if case .ack(let ack) = frame { state.acknowledged = max(state.acknowledged, ack.stored) }
            if let answers = state.script.answer(state.links[session]?.person ?? "", frame) {
                for answer in answers { Self.write(answer, on: session, &state) }
                return
            }
            let outputs = state.server.receive(frame, on: session, at: self.now())
            self.carryOut(outputs, &state)
        }
    }

    private static func resumeWaiters(for frame: ClientFrame, _ state: inout State) {
        for (number, waiter) in state.waiters.sorted(by: { $0.key < $1.key }) where waiter.test(frame) {
            state.waiters[number] = nil
            state.outbox.append { waiter.continuation.resume(returning: frame) }
        }
    }

    private func close(_ session: SessionID, reason: String) {
        self.change { self.endLink(session, reason: reason, isKnown: true, &$0) }
    }

    // MARK: The server's side

    /// Changes the state, then tells clients what came of it.
    private func change<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let result = self.state.withLock { change(&$0) }
        while let next = self.state.withLock({ state -> (@Sendable () -> Void)? in
            guard !state.isDelivering, !state.outbox.isEmpty else { return nil }
            state.isDelivering = true
            return state.outbox.removeFirst()
        }) {
            next()
            self.state.withLock { $0.isDelivering = false }
        }
        return result
    }

    private func carryOut(_ outputs: [SimulatedServer.Output], _ state: inout State) {
        for output in outputs {
            switch output {
            case .write(let session, let frame):
                if case .welcome(let welcome) = frame, let person = state.links[session]?.person {
                    state.welcomes[person] = welcome
                }
                if let changed = state.script.change(frame) { Self.write(changed, on: session, &state) }
            case .close(let session): self.endLink(session, reason: "closed by the server", isKnown: false, &state)
            case .fault(let text): preconditionFailure("the server has met a bug of its own: \(text)")
            // The server probes at a deadline only.
            case .probe, .push, .reply, .stored: break
            }
        }
    }

    private static func write(_ frame: ServerFrame, on session: SessionID, _ state: inout State) {
        Self.write(FrameCodec.encode(frame, as: .protobuf), on: session, &state)
    }

    private static func write(_ bytes: [UInt8], on session: SessionID, _ state: inout State) {
        guard let link = state.links[session], !link.isDead else { return }
        state.outbox.append { link.events(.received(bytes)) }
    }

    /// - Parameter isKnown: whether the server is to be told.
    private func endLink(_ session: SessionID, reason: String, isKnown: Bool, _ state: inout State) {
        guard let link = state.links.removeValue(forKey: session) else { return }
        state.outbox.append { link.events(.closed(reason: reason)) }
        guard isKnown else { return }
        let outputs = state.server.hangUp(session, at: self.now())
        self.carryOut(outputs, &state)
    }

    /// A connection as the client holds it, and what it has asked of it.
    package final class Connection: TransportConnection {
        package let limits = Mutex<[Int]>([])
        package let readings = Mutex<[Bool]>([])
        private let server: ServerTransport
        private let session: SessionID

        fileprivate init(server: ServerTransport, session: SessionID) {
            self.server = server
            self.session = session
        }

        package func send(_ bytes: [UInt8]) { self.server.receive(bytes, on: self.session) }
        package func close() { self.server.close(self.session, reason: "closed by the client") }
        package func limitReceived(to bytes: Int) { self.limits.withLock { $0.append(bytes) } }
        package func setReading(_ isReading: Bool) { self.readings.withLock { $0.append(isReading) } }
    }
}

// What a test does to server and network, and sees of them.
extension ServerTransport {
    /// Changes what happens to connections. Those that died of silence end when it does, and refusing ends all.
    ///
    /// - Parameter isNoticed: whether the server learns that connections have ended.
    package func setNetwork(_ network: Network, isNoticed: Bool = true) {
        self.change { state in
            state.network = network
            for (session, link) in state.links.sorted(by: { $0.key < $1.key }) {
                switch network {
                case .isSilent: state.links[session]?.isDead = true
                case .works where !link.isDead: break
                case .works, .refuses: self.endLink(session, reason: "lost", isKnown: isNoticed, &state)
                }
            }
        }
    }

    /// Drops every connection without a word.
    package func drop() {
        self.change { state in
            for session in state.links.keys.sorted() { self.endLink(session, reason: "lost", isKnown: true, &state) }
        }
    }

    package func setScript(_ change: @Sendable (inout Script) -> Void) {
        self.state.withLock { state in
            state.script = Script()
            change(&state.script)
        }
    }

    /// Writes bytes to all connections of a person, such as a frame that only a newer server would send.
    package func write(_ bytes: [UInt8], to person: UserID) {
        self.change { state in
            for (session, link) in state.links.sorted(by: { $0.key < $1.key }) where link.person == person {
                Self.write(bytes, on: session, &state)
            }
        }
    }

    package func write(_ frame: ServerFrame, to person: UserID) {
        self.write(FrameCodec.encode(frame, as: .protobuf), to: person)
    }

    /// Does what the app's backend requests, which must not be refused: whoever waits for what comes of it would wait for ever.
    package func request(_ command: APICommand) { self.request(command) { _ in } }

    private func request(_ command: APICommand, beforehand: (APIResult?) -> Void) {
        self.change { state in
            let (answer, outputs) = state.server.request(command, at: self.now())
            if case .refused(let problem)? = answer { preconditionFailure("the server refuses \(command): \(problem)") }
            beforehand(answer)
            self.carryOut(outputs, &state)
        }
    }

    /// A message through the HTTP API.
    ///
    /// - Parameter beforehand: is told the id before any client is told of the message; must not use the server.
    @discardableResult
    package func send(
        _ text: String, from sender: UserID, to conversation: ConversationID, lifetimeMilliseconds: Int64? = nil,
        push: PushOptions? = nil, beforehand: (MessageID) -> Void = { _ in }
    ) -> MessageID {
        let number = self.state.withLock { state in
            state.lastDraft += 1
            return state.lastDraft
        }
        let draft = MessageDraft(
            clientMessageID: ClientMessageID("d\(number)"), conversation: conversation, objectName: .text,
            content: JSONValue.members([("content", .string(text))]).text,
            lifetimeMilliseconds: lifetimeMilliseconds, push: push)
        var id: MessageID?
        self.request(.send(UserKey(app: Self.app, user: sender), draft)) { answer in
            guard case .accepted(let accepted, _)? = answer else { return }
            id = accepted.messageID
            beforehand(accepted.messageID)
        }
        guard let id else { preconditionFailure("the server does not answer a send at once") }
        return id
    }

    /// A person does something on another device.
    package func act(as person: UserID, _ frames: [ClientFrame]) {
        self.change { state in
            state.lastSession += 1
            let session = SessionID(state.lastSession)
            let hello = ClientFrame.Hello(
                versions: 1...1, token: person.rawValue, device: "other", platform: "test",
                runState: .background(remainingMilliseconds: 0), after: 0)
            var outputs = ([.hello(hello)] + frames).flatMap { frame in
                state.server.receive(frame, on: session, at: self.now())
            }
            outputs += state.server.hangUp(session, at: self.now())
            self.carryOut(outputs, &state)
        }
    }

    package var frames: [ClientFrame] { self.state.withLock { $0.frames } }
    package var hellos: [ClientFrame.Hello] {
        self.frames.compactMap { if case .hello(let hello) = $0 { hello } else { nil } }
    }
    package var requests: [ClientRequest] {
        self.frames.compactMap { if case .request(_, let request) = $0 { request } else { nil } }
    }
    package func forgetFrames() { self.state.withLock { $0.frames = [] } }

    /// The first frame that passes the test, also one that has come already.
    package func frame(
        where test: @escaping @Sendable (ClientFrame) -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) async -> ClientFrame {
        let number = self.state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(120))
            self.state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: nil)
        }
        defer { limit.cancel() }
        let frame: ClientFrame? = await withCheckedContinuation { continuation in
            let found = self.state.withLock { state -> ClientFrame? in
                if let frame = state.frames.first(where: test) { return frame }
                state.waiters[number] = Waiter(test: test, continuation: continuation)
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
        guard let frame else {
            Issue.record("no such frame has come", sourceLocation: sourceLocation)
            return .ping(0)
        }
        return frame
    }

    package var connections: [Connection] {
        self.state.withLock { state in state.links.sorted { $0.key < $1.key }.map(\.value.connection) }
    }
    /// Whether somebody was welcomed on a connection that works.
    package var hasListener: Bool {
        self.state.withLock { state in state.links.values.contains { $0.person != nil && !$0.isDead } }
    }
    package var network: Network { self.state.withLock { $0.network } }
    /// Up to where the newest client says it has stored a log.
    package var acknowledged: LogPosition { self.state.withLock { $0.acknowledged } }

    package func welcome(of person: UserID) -> ServerFrame.Welcome? { self.state.withLock { $0.welcomes[person] } }
    package func log(of person: UserID) -> [LogEntry] {
        self.state.withLock { $0.server.log(of: UserKey(app: Self.app, user: person)) }
    }
    package func unread(of person: UserID) -> (count: Int, head: LogPosition) {
        self.state.withLock { $0.server.unread(of: UserKey(app: Self.app, user: person)) }
    }
}

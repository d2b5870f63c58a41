import ClientCore
import Foundation
import Synchronization
import TidingsAppGroup
import TidingsModel
import TidingsWire

@testable import TidingsClient

/// A server in memory that works: it keeps logs, accepts messages once, and answers pages. One transport per device of it.
final class ServerDouble: ClientTransport {
    struct State {
        var logs: [UserID: [LogEntry]] = [:]
        var accepted: [ClientMessageID: MessageID] = [:]
        var connections: [ObjectIdentifier: Connection] = [:]
        var frames: [ClientFrame] = []
        var lastID: UInt64 = 0
        var isReachable = true
        var greeting: (@Sendable (ClientFrame.Hello) -> ServerFrame?)?
        var answersSends = true
        /// Why sends are refused; nil if they are not.
        var refusal: ServerFrame.Problem?
        /// What requests of a person are answered; nil for no answer.
        var answer: (@Sendable (UserID, ClientRequest) -> ClientAnswer?)?
        /// Whether frames of a session still arrive; a dead connection takes everything and answers nothing.
        var isDeaf = false
        /// The largest frame of the server, as its welcome says; 0 as an older one.
        var serverFrameBytesMax: UInt32 = 0
        /// Entries up to here are gone from every log.
        var trimmedUpTo: LogPosition = 0
        var waiters: [(test: @Sendable (ClientFrame) -> Bool, resume: CheckedContinuation<ClientFrame, Never>)] = []
    }

    let state = Mutex(State())

    func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
        let connection = Connection(server: self, events: events)
        guard self.state.withLock({ $0.isReachable }) else {
            events(.closed(reason: "unreachable"))
            return connection
        }
        self.state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
        events(.opened)
        return connection
    }

    /// The next frame that passes the test, also one that has come already.
    func frame(where test: @escaping @Sendable (ClientFrame) -> Bool) async -> ClientFrame {
        await withCheckedContinuation { continuation in
            let found = self.state.withLock { state -> ClientFrame? in
                if let frame = state.frames.first(where: test) { return frame }
                state.waiters.append((test, continuation))
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    /// Puts a message of `sender` into the recipient's log and writes it to whoever is connected.
    @discardableResult
    func deliver(_ text: String, from sender: UserID, to recipient: UserID) -> Message {
        let (message, entry, connections) = self.state.withLock { state in
            state.lastID += 1
            let message = Message(
                id: MessageID(rawValue: state.lastID), app: "demo", sender: sender,
                conversation: ConversationID(type: .direct, target: recipient.rawValue),
                clientMessageID: ClientMessageID("d\(state.lastID)"), objectName: .text,
                content: JSONValue.members([("content", .string(text))]).text, flags: .normal, pushText: nil,
                sentAt: 1_800_000_000_000)
            let log = state.logs[recipient, default: []]
            let entry = LogEntry(position: LogPosition(log.count + 1), body: .message(message))
            state.logs[recipient] = log + [entry]
            return (message, entry, state.connections.values.filter { $0.user.withLock { $0 } == recipient })
        }
        for connection in connections { connection.say(.entry(entry)) }
        return message
    }

    /// Puts an entry of any kind into a person's log and writes it to whoever is connected.
    func append(_ body: LogEntry.Body, for person: UserID) {
        let (entry, connections) = self.state.withLock { state in
            let log = state.logs[person, default: []]
            let entry = LogEntry(position: LogPosition(log.count + 1), body: body)
            state.logs[person] = log + [entry]
            return (entry, state.connections.values.filter { $0.user.withLock { $0 } == person })
        }
        for connection in connections { connection.say(.entry(entry)) }
    }

    /// Writes bytes to everybody, such as a frame that only a newer server would send.
    func say(bytes: [UInt8]) {
        for connection in self.state.withLock({ Array($0.connections.values) }) { connection.say(bytes: bytes) }
    }

    /// Writes a signal to a person's connections.
    func signal(_ signal: Signal, to person: UserID) {
        let connections = self.state.withLock { state in
            state.connections.values.filter { $0.user.withLock { $0 } == person }
        }
        for connection in connections { connection.say(.signal(signal)) }
    }

    /// Drops every connection without a word.
    func dropAll() {
        let connections = self.state.withLock { state in
            defer { state.connections = [:] }
            return Array(state.connections.values)
        }
        for connection in connections { connection.drop() }
    }

    fileprivate func receive(_ frame: ClientFrame, on connection: Connection) {
        guard !self.state.withLock({ $0.isDeaf }) else { return }
        let waiters = self.state.withLock { state in
            state.frames.append(frame)
            let ready = state.waiters.filter { $0.test(frame) }
            state.waiters.removeAll { $0.test(frame) }
            return ready
        }
        for answer in self.answers(to: frame, on: connection) { connection.say(answer) }
        for waiter in waiters { waiter.resume.resume(returning: frame) }
        // The sign-out is stored a little later; until then the session is there.
        if frame == .signOut { connection.isSignedOut.withLock { $0 = true } }
        if case .ping = frame, connection.isSignedOut.withLock({ $0 }) { connection.drop() }
    }

    private func answers(to frame: ClientFrame, on connection: Connection) -> [ServerFrame] {
        self.state.withLock { state in
            let user = connection.user.withLock { $0 } ?? ""
            switch frame {
            case .hello(let hello):
                // The double's token is the user's id.
                let user = UserID(hello.token)
                connection.user.withLock { $0 = user }
                if let special = state.greeting?(hello) { return [special] }
                let head = LogPosition(state.logs[user, default: []].count)
                return [
                    .welcome(
                        ServerFrame.Welcome(
                            version: 1, serverTime: 0, head: head, unread: 0, heartbeatMilliseconds: 30_000,
                            frameBytesMax: 65_536, recipientTag: "tag-\(user)", extensionToken: "extension",
                            serverFrameBytesMax: state.serverFrameBytesMax))
                ]
            case .send(let draft):
                guard state.answersSends else { return [] }
                if let refusal = state.refusal { return [.sendRefused(draft.clientMessageID, refusal)] }
                if let known = state.accepted[draft.clientMessageID] {
                    return [
                        .sendAccepted(
                            .init(clientMessageID: draft.clientMessageID, messageID: known, sentAt: 1, position: 0))
                    ]
                }
                state.lastID += 1
                let id = MessageID(rawValue: state.lastID)
                state.accepted[draft.clientMessageID] = id
                let message = Message(
                    id: id, app: "demo", sender: user, conversation: draft.conversation,
                    clientMessageID: draft.clientMessageID, objectName: draft.objectName, content: draft.content,
                    flags: draft.flags, pushText: draft.pushText, sentAt: 1, mentions: draft.mentions,
                    recipients: draft.recipients, expiresAt: draft.lifetimeMilliseconds.map { 1 + $0 })
                let position = LogPosition(state.logs[user, default: []].count + 1)
                state.logs[user, default: []].append(LogEntry(position: position, body: .message(message)))
                return [
                    .sendAccepted(
                        .init(clientMessageID: draft.clientMessageID, messageID: id, sentAt: 1, position: position))
                ]
            case .sync(let after, let limit):
                let log = state.logs[user, default: []]
                let entries = log.filter { $0.position > max(after, state.trimmedUpTo) }.prefix(Int(limit))
                return [
                    .page(.init(after: after, entries: Array(entries), head: LogPosition(log.count), unread: 0))
                ]
            case .markRead(let conversation, let position):
                let entry = LogEntry(
                    position: LogPosition(state.logs[user, default: []].count + 1),
                    body: .read(conversation: conversation, upTo: position))
                state.logs[user, default: []].append(entry)
                return [.entry(entry)]
            case .ping(let number): return [.pong(number)]
            case .ack, .runState, .registerPush, .signOut, .deviceStatus, .opened, .typing: return []
            case .request(let number, let request):
                return state.answer?(user, request).map { [.answer(number, $0)] } ?? []
            }
        }
    }

    final class Connection: TransportConnection {
        let user = Mutex<UserID?>(nil)
        let isSignedOut = Mutex(false)
        /// What the client has asked of the transport.
        let limits = Mutex<[Int]>([])
        let readings = Mutex<[Bool]>([])
        private let server: ServerDouble
        private let events: @Sendable (TransportEvent) -> Void
        private let isOpen = Mutex(true)

        init(server: ServerDouble, events: @escaping @Sendable (TransportEvent) -> Void) {
            self.server = server
            self.events = events
        }

        func send(_ bytes: [UInt8]) {
            guard self.isOpen.withLock({ $0 }), let frame = try? FrameCodec.decodeClientFrame(bytes, as: .protobuf)
            else { return }
            self.server.receive(frame, on: self)
        }

        func say(_ frame: ServerFrame) { self.say(bytes: FrameCodec.encode(frame, as: .protobuf)) }

        func say(bytes: [UInt8]) {
            guard self.isOpen.withLock({ $0 }) else { return }
            self.events(.received(bytes))
        }

        func close() { self.end("closed by the client") }
        func limitReceived(to bytes: Int) { self.limits.withLock { $0.append(bytes) } }
        func setReading(_ isReading: Bool) { self.readings.withLock { $0.append(isReading) } }
        func drop() { self.end("dropped by the server") }

        private func end(_ reason: String) {
            let wasOpen = self.isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            guard wasOpen else { return }
            self.server.state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(self)) }
            self.events(.closed(reason: reason))
        }
    }
}

/// A clock that stands until the test moves it.
final class ManualClock: ClientClock {
    private struct State {
        var now: Int64 = 0
        var sleepers: [UInt64: (deadline: Int64, resume: CheckedContinuation<Void, Never>)] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    var now: Now {
        let now = self.state.withLock { $0.now }
        return Now(monotonic: now, wall: 1_800_000_000_000 + now)
    }

    func sleep(untilMonotonic deadline: Int64) async {
        let number = self.state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    if state.now >= deadline || Task.isCancelled { return true }
                    state.sleepers[number] = (deadline, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.sleepers.removeValue(forKey: number) }?.resume.resume()
        }
    }

    /// Moves the clock by seconds and wakes who waited for it.
    func advance(by seconds: Double) {
        let woken = self.state.withLock { state in
            state.now += Int64(seconds * 1_000)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers.removeValue(forKey: number) }
            return due.values.map(\.resume)
        }
        for continuation in woken { continuation.resume() }
    }
}

/// A client on a folder of its own that is deleted afterwards.
struct ClientBench {
    let server: ServerDouble
    let clock = ManualClock()
    let folder: URL

    init(server: ServerDouble = ServerDouble()) throws {
        self.server = server
        self.folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
    }

    func client(
        tokens: (any ExtensionTokens)? = nil, secrets: (any SecretStore)? = nil,
        safety: any FileSafety = SystemFileSafety(), _ change: (inout ChatClient.Configuration) -> Void = { _ in }
    ) throws -> ChatClient {
        var configuration = ChatClient.Configuration(
            appKey: "demo", serverURL: URL(fileURLWithPath: "/in-memory"))
        configuration.storeFolder = self.folder.appendingPathComponent("app")
        configuration.appGroupFolder = self.folder.appendingPathComponent("group")
        configuration.bundleIdentifier = "com.example.chat"
        change(&configuration)
        return ChatClient(
            configuration: configuration, transport: self.server, clock: self.clock, tokens: tokens, secrets: secrets,
            safety: safety)
    }

    func remove() { try? FileManager.default.removeItem(at: self.folder) }
}

extension ClientFrame {
    /// Whether it tells this push registration, under whatever number.
    func registers(_ registration: PushRegistration?) -> Bool {
        if case .registerPush(registration, _) = self { true } else { false }
    }
}

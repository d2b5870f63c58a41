import Foundation
import Synchronization
import TidingsClient
import TidingsModel
import TidingsWire

/// A server for alice, with a log, that can be told to stop answering.
final class ForwardingServer: ClientTransport {
    /// How it meets those who call.
    enum Habit: CaseIterable {
        /// It answers everything.
        case answers
        /// Connections open, and nothing is ever said on them.
        case isMute
        /// No connection opens.
        case refuses
    }

    static let tag = "tag-of-alice"
    static let withBob = ConversationID(type: .direct, target: "bob")

    private struct Line {
        var events: @Sendable (TransportEvent) -> Void
        var isWelcome = false
        /// Nothing is answered on it any more.
        var isDead = false
        var isLeaving = false
    }

    private struct State {
        var habit = Habit.answers
        var log: [LogEntry] = []
        /// Where the unread messages stand in it.
        var unread: [LogPosition] = []
        var lines: [UInt64: Line] = [:]
        var last: UInt64 = 0
        var sent: UInt64 = 0
        /// Up to where the newest connection says it has stored the log.
        var acknowledged: LogPosition = 0
    }

    private let state = Mutex(State())

    var habit: Habit { self.state.withLock { $0.habit } }
    var log: [LogEntry] { self.state.withLock { $0.log } }
    var isAcknowledged: Bool { self.state.withLock { $0.acknowledged == LogPosition($0.log.count) } }
    /// Whether somebody is connected who can still be told something.
    var hasListener: Bool { self.state.withLock { $0.lines.values.contains { $0.isWelcome && !$0.isDead } } }
    var lineCount: Int { self.state.withLock { $0.lines.count } }

    /// Unread messages by the log alone: what others wrote after the last "read up to here".
    var unread: Int { self.state.withLock { $0.unread.count } }

    /// What it would say of the number on the icon.
    var badge: (number: Int, position: LogPosition) {
        self.state.withLock { ($0.unread.count, LogPosition($0.log.count)) }
    }

    /// The ids of the newest messages, oldest first.
    func newest(_ count: Int) -> [MessageID] {
        self.log.compactMap { if case .message(let message) = $0.body { message.id } else { nil } }.suffix(count)
    }

    /// Changes how it meets those who call. Whoever is connected to a server that stops is lost without a word, and hears of
    /// it when the server is back.
    func become(_ habit: Habit) {
        self.state.withLock { state in
            state.habit = habit
            guard habit != .isMute else {
                for number in state.lines.keys { state.lines[number]?.isDead = true }
                return
            }
            for (number, line) in state.lines.sorted(by: { $0.key < $1.key }) where habit == .refuses || line.isDead {
                state.lines[number] = nil
                line.events(.closed(reason: "the server went away"))
            }
        }
    }

    func open(_ url: URL, events: @escaping @Sendable (TransportEvent) -> Void) -> any TransportConnection {
        let number = self.state.withLock { state -> UInt64? in
            guard state.habit != .refuses else { return nil }
            state.last += 1
            state.lines[state.last] = Line(events: events, isDead: state.habit == .isMute)
            return state.last
        }
        events(number == nil ? .closed(reason: "refused") : .opened)
        return End(server: self, number: number)
    }

    /// A message of bob's.
    @discardableResult
    func say(_ text: String) -> MessageID {
        self.state.withLock { state in
            let id = MessageID(rawValue: 1_000 + UInt64(state.log.count + 1))
            Self.append(
                .message(Self.message(id, from: "bob", to: "alice", text: text, number: "c")), to: &state)
            return id
        }
    }

    /// Another device of the person's has read everything.
    func readElsewhere() {
        self.state.withLock { state in
            let head = LogPosition(state.log.count)
            Self.append(.read(conversation: Self.withBob, upTo: head), to: &state)
        }
    }

    /// What is said is said under the lock, so that everybody hears it in the order of the log.
    @discardableResult
    private static func append(_ body: LogEntry.Body, to state: inout State) -> LogPosition {
        let entry = LogEntry(position: LogPosition(state.log.count + 1), body: body)
        state.log.append(entry)
        switch body {
        case .message(let message) where message.sender != "alice": state.unread.append(entry.position)
        case .read(_, let position): state.unread.removeAll { $0 <= position }
        default: break
        }
        for (_, line) in state.lines.sorted(by: { $0.key < $1.key }) where line.isWelcome && !line.isDead {
            Self.answer(.entry(entry), line)
        }
        return entry.position
    }

    private static func message(
        _ id: MessageID, from sender: UserID, to target: String, text: String, number: ClientMessageID
    ) -> Message {
        Message(
            id: id, app: "demo", sender: sender, conversation: ConversationID(type: .direct, target: target),
            clientMessageID: number, objectName: .text, content: JSONValue.members([("content", .string(text))]).text,
            flags: .normal, pushText: nil, sentAt: 0)
    }

    private func receive(_ frame: ClientFrame, on number: UInt64) {
        self.state.withLock { state in
            guard let line = state.lines[number], !line.isDead else { return }
            Self.take(frame, on: number, line, in: &state)
        }
    }

    private static func take(_ frame: ClientFrame, on number: UInt64, _ line: Line, in state: inout State) {
        let head = LogPosition(state.log.count)
        switch frame {
        case .hello(let hello):
            state.acknowledged = hello.after
            state.lines[number]?.isWelcome = true
            Self.answer(
                .welcome(
                    ServerFrame.Welcome(
                        version: 1, serverTime: 0, head: head, unread: 0, heartbeatMilliseconds: 60_000,
                        frameBytesMax: 65_536, recipientTag: Self.tag, extensionToken: "")), line)
        case .sync(let after, let limit):
            let entries = state.log.dropFirst(Int(after)).prefix(Int(limit))
            Self.answer(.page(.init(after: after, entries: Array(entries), head: head, unread: 0)), line)
        case .send(let draft):
            state.sent += 1
            let id = MessageID(rawValue: 900_000_000 + state.sent)
            let text = (try? JSONValue(parsing: draft.content))?["content"]?.stringValue ?? ""
            let target = draft.conversation.target
            let position = Self.append(
                .message(Self.message(id, from: "alice", to: target, text: text, number: draft.clientMessageID)),
                to: &state)
            Self.answer(
                .sendAccepted(
                    .init(clientMessageID: draft.clientMessageID, messageID: id, sentAt: 1, position: position)), line)
        case .markRead(let conversation, let position):
            Self.append(.read(conversation: conversation, upTo: position), to: &state)
        case .ping(let nonce):
            Self.answer(.pong(nonce), line)
            guard line.isLeaving else { return }
            state.lines[number] = nil
            line.events(.closed(reason: "signed out"))
        case .signOut: state.lines[number]?.isLeaving = true
        case .ack(let ack): state.acknowledged = max(state.acknowledged, ack.stored)
        case .runState, .registerPush, .deviceStatus, .opened, .request, .typing: break
        }
    }

    private static func answer(_ frame: ServerFrame, _ line: Line) {
        line.events(.received(FrameCodec.encode(frame, as: .protobuf)))
    }

    private func close(_ number: UInt64) {
        self.state.withLock { $0.lines.removeValue(forKey: number) }?.events(.closed(reason: "closed"))
    }

    private struct End: TransportConnection {
        let server: ForwardingServer
        /// Nil for one that never opened.
        let number: UInt64?
        func send(_ bytes: [UInt8]) {
            guard let number, let frame = try? FrameCodec.decodeClientFrame(bytes, as: .protobuf) else { return }
            self.server.receive(frame, on: number)
        }
        func close() { if let number { self.server.close(number) } }
        func limitReceived(to bytes: Int) {}
        func setReading(_ isReading: Bool) {}
    }
}

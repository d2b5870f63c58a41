import APNsModel
import ServerCore
import SimulatedServer
import StoreModel
import Testing
import TidingsModel

private let app: AppID = "demo"
private let alice = UserKey(app: app, user: "alice")
private let start = Now(monotonic: 0, wall: 1_767_225_600_000)
private let registration = PushRegistration(token: "c0ffee", environment: .sandbox, topic: "com.example.chat")

/// A server and everything that came out of it.
private struct Bench {
    var server = SimulatedServer(at: start, checkToken: SimulatedServer.tokenIsUser(in: app))
    var now = start
    private(set) var outputs: [SimulatedServer.Output] = []

    mutating func connect(_ session: SessionID, state: ReportedRunState = .foreground) {
        let hello = ClientFrame.Hello(
            versions: 1...1, token: "alice", device: "phone", platform: "ios", runState: state, after: 0)
        self.receive(.hello(hello), on: session)
        self.receive(.registerPush(registration), on: session)
    }

    mutating func receive(_ frame: ClientFrame, on session: SessionID) {
        self.outputs += self.server.receive(frame, on: session, at: self.now)
    }

    mutating func handle(_ event: ServerEvent) { self.outputs += self.server.handle(event, at: self.now) }

    mutating func hangUp(_ session: SessionID) {
        self.outputs += self.server.hangUp(session, at: self.now)
    }

    @discardableResult
    mutating func send(_ text: String) -> APIResult? {
        let draft = MessageDraft(
            clientMessageID: ClientMessageID(text),
            conversation: ConversationID(type: .direct, target: alice.user.rawValue), objectName: .text,
            content: JSONValue.members([("content", .string(text))]).text)
        let (answer, outputs) = self.server.request(.send(UserKey(app: app, user: "bob"), draft), at: self.now)
        self.outputs += outputs
        return answer
    }

    mutating func pass(_ milliseconds: Int64) {
        let end = self.now.monotonic + milliseconds
        while let next = self.server.nextDeadline, next <= end {
            self.move(to: max(next, self.now.monotonic))
            self.handle(.timeReached)
        }
        self.move(to: end)
    }

    private mutating func move(to moment: Int64) {
        self.now = Now(monotonic: moment, wall: start.wall + moment)
    }

    var written: [ServerFrame] {
        self.outputs.compactMap { if case .write(_, let frame) = $0 { frame } else { nil } }
    }
    var pushes: Int { self.outputs.count { if case .push = $0 { true } else { false } } }
}

@Suite struct `A server that answers at once` {
    @Test func `welcomes, writes a message to the connection in the foreground, and pushes nothing`() {
        var bench = Bench()
        bench.connect(SessionID(1))
        guard case .accepted(let accepted, _)? = bench.send("hello") else {
            Issue.record("the message was not accepted")
            return
        }
        guard case .welcome? = bench.written.first, case .entry(let entry)? = bench.written.last,
            case .message(let message) = entry.body
        else {
            Issue.record("\(bench.written)")
            return
        }
        #expect(message.id == accepted.messageID)
        #expect(bench.pushes == 0)
        #expect(bench.server.log(of: alice) == [entry])
        #expect(bench.server.unread(of: alice).count == 1)
        #expect(bench.server.unread(of: alice).head == 1)
    }

    @Test func `pushes to a phone that has hung up, and what a connection does not settle in time`() {
        var bench = Bench()
        bench.connect(SessionID(1), state: .background(remainingMilliseconds: 60_000))
        bench.send("unsettled")
        #expect(bench.pushes == 0)
        bench.pass(5_000)
        #expect(bench.pushes == 1)
        bench.send("gone")
        #expect(bench.pushes == 2)
    }

    @Test func `answers the ping behind a sign-out before it closes the session`() {
        var bench = Bench()
        bench.connect(SessionID(1))
        bench.receive(.signOut, on: SessionID(1))
        #expect(!bench.outputs.contains(.close(SessionID(1))))
        bench.receive(.ping(7), on: SessionID(1))
        let ends = bench.outputs.filter { [.write(SessionID(1), .pong(7)), .close(SessionID(1))].contains($0) }
        #expect(ends == [.write(SessionID(1), .pong(7)), .close(SessionID(1))])
    }

    @Test func `signs out a phone that hangs up at once`() {
        var bench = Bench()
        bench.connect(SessionID(1))
        bench.receive(.signOut, on: SessionID(1))
        bench.hangUp(SessionID(1))
        bench.send("late")
        bench.pass(60_000)
        #expect(bench.pushes == 0)
    }

    @Test func `keeps the answer to the API out of what leaves it otherwise`() {
        var bench = Bench()
        bench.send("hello")
        #expect(!bench.outputs.contains { if case .reply = $0 { true } else { false } })
        #expect(!bench.outputs.contains { if case .fault = $0 { true } else { false } })
    }

    @Test func `starts with what its store was prepared with`() {
        let message = Message(
            id: MessageID(wallMilliseconds: start.wall - 1, node: 2, counter: 1), app: app, sender: "bob",
            conversation: ConversationID(type: .direct, target: "alice"), clientMessageID: "earlier",
            objectName: .text, content: #"{"content":"earlier"}"#, flags: .normal, pushText: nil,
            sentAt: start.wall - 1)
        let server = SimulatedServer(
            prepared: [.accept(message: message, senderDevice: nil)], at: start,
            checkToken: SimulatedServer.tokenIsUser(in: app))
        #expect(server.log(of: alice).map(\.position) == [1])
    }
}

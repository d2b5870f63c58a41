import ClientCore
import Foundation
import Requirements
import SDKTestSupport
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")

private func isAck(upTo position: LogPosition, _ disposition: Disposition) -> @Sendable (ClientFrame) -> Bool {
    { frame in
        guard case .ack(let ack) = frame else { return false }
        return ack.settled.contains { $0.upTo >= position && $0.disposition == disposition }
    }
}

@Suite struct `A client of the core library` {
    @Test(.requirement("S0.2")) func `sends, and returns when the server has it`() async throws {
        let (bench, client) = try await ClientBench.connected()
        #expect(client.connectionStatus == .connected)
        let sent = try await client.send(text: "hi", to: withBob)
        #expect(sent.sender == alice)
        #expect(sent.text == "hi")
        _ = await bench.server.frame(where: isAck(upTo: 1, .shown))
        #expect(try client.history(conversation: withBob).map(\.text) == ["hi"])
        #expect(try client.unreadMessageCount() == 0)
        await client.signOut()
    }

    @Test func `receives in order, once, and counts what is unread`() async throws {
        let (bench, client) = try await ClientBench.connected()
        var messages = client.messages.makeAsyncIterator()
        for number in 1...5 { bench.server.deliver("m\(number)", from: bob, to: alice) }
        var texts: [String?] = []
        for _ in 1...5 { texts.append(await messages.next()?.text) }
        #expect(texts == ["m1", "m2", "m3", "m4", "m5"])
        #expect(try client.unreadMessageCount() == 5)
        try client.markRead(withBob)
        _ = await bench.server.frame { $0 == .markRead(withBob, upTo: 5) }
        #expect(try client.unreadMessageCount() == 0)
        #expect(try client.conversations().map(\.conversation) == [withBob])
    }

    @Test func `stays connected to a server that says more than it understands`() async throws {
        let (bench, client) = try await ClientBench.connected()
        var messages = client.messages.makeAsyncIterator()
        // A frame of field 15, which this build does not know, then an entry that is a position alone.
        bench.server.write([0x7a, 0x02, 0x08, 0x01], to: alice)
        bench.server.setScript { script in
            script.change = { frame in
                guard case .entry(let entry) = frame, entry.position == 1 else { return frame }
                return .entry(LogEntry(position: 1, body: .unknown))
            }
        }
        bench.server.deliver("not understood", from: bob, to: alice)
        bench.server.deliver("understood", from: bob, to: alice)
        #expect(await messages.next()?.text == "understood")
        _ = await bench.server.frame(where: isAck(upTo: 2, .shown))
        #expect(bench.server.hellos.count == 1)
        #expect(try client.unreadMessageCount() == 1)
    }

    @Test func `keeps everything over a restart and syncs what it missed`() async throws {
        let bench = try ClientBench()
        let first = try bench.client()
        try await first.connect(userID: alice, token: "alice")
        bench.server.deliver("before", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .shown))
        first.disconnect()
        for await status in first.connectionStatuses where status == .disconnected { break }
        bench.server.deliver("while away", from: bob, to: alice)

        let second = try bench.client()
        try await second.connect(userID: alice, token: "alice")
        _ = await bench.server.frame(where: isAck(upTo: 2, .shown))
        #expect(try second.history(conversation: withBob).map(\.text) == ["before", "while away"])
        let hellos = bench.server.hellos
        #expect(hellos.map(\.after) == [0, 1])
        #expect(Set(hellos.map(\.device)).count == 1)
    }

    @Test func `makes one message of a send whose answer was lost`() async throws {
        let (bench, client) = try await ClientBench.connected()
        bench.server.setScript { $0.change = { if case .sendAccepted = $0 { nil } else { $0 } } }
        async let sent = client.send(text: "hi", to: withBob)
        let lost = await bench.server.frame { if case .send = $0 { true } else { false } }
        bench.server.behave()
        bench.server.forgetFrames()
        bench.server.drop()
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        bench.clock.advance(seconds: 1)
        let again = await bench.server.frame { if case .send = $0 { true } else { false } }
        #expect(again == lost)
        #expect(try await sent.text == "hi")
        #expect(bench.server.log(of: alice).count == 1)
    }

    @Test func `sends after a restart what it could not send before`() async throws {
        let bench = try ClientBench()
        let first = try bench.client()
        try await first.connect(userID: alice, token: "alice")
        bench.server.ignoreSends()
        let waiting = Task { try await first.send(text: "late", to: withBob) }
        _ = await bench.server.frame { if case .send = $0 { true } else { false } }
        // The process dies: nothing of it reaches the server any more.
        bench.server.behave()
        bench.server.forgetFrames()
        let second = try bench.client()
        try await second.connect(userID: alice, token: "alice")
        _ = await bench.server.frame { if case .send = $0 { true } else { false } }
        _ = await bench.server.frame(where: isAck(upTo: 1, .shown))
        #expect(try second.history(conversation: withBob).map(\.text) == ["late"])
        waiting.cancel()
        // The server has closed the connection of the process that died: its sign-out does not wait for an answer.
        for await status in first.connectionStatuses { if case .waiting = status { break } }
        await first.signOut()
        await #expect(throws: ChatError.self) { try await waiting.value }
    }

    @Test func `sends nothing again that was refused while its phone was full, and tells the app once`() async throws {
        let bench = try ClientBench()
        let first = try bench.client()
        try await first.connect(userID: alice, token: "alice")
        let problem = ServerFrame.Problem(
            code: .blocked, field: "conversation.target",
            rule: "must name a person who accepts messages, \"bob\" has blocked the sender")
        bench.server.request(.setBlocked(alice, true), as: bob)
        try #require(first.engine?.store).refuseRemovals(true)
        await #expect(throws: ChatError(problem)) { try await first.send(text: "hi", to: withBob) }
        // The refusal costs nothing else: the connection goes on.
        bench.server.deliver("still there", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .shown))
        #expect(first.connectionStatus == .connected)
        // The process dies. Now the server would take it.
        bench.server.request(.setBlocked(alice, false), as: bob)
        bench.server.forgetFrames()
        let second = try bench.client()
        try await second.connect(userID: alice, token: "alice")
        #expect(try await second.send(text: "later", to: withBob).text == "later")
        let sent = bench.server.frames.filter { if case .send = $0 { true } else { false } }
        #expect(sent.count == 1)
        for await status in first.connectionStatuses { if case .waiting = status { break } }
        await first.signOut()
    }

    @Test func `refuses bad input and names the field`() async throws {
        let client = try ClientBench().client()
        await #expect(throws: ChatError.notSignedIn) { try await client.send(text: "hi", to: withBob) }
        await #expect(throws: ChatError.invalid(InvalidField(field: "user_id", rule: "must not be empty"))) {
            try await client.connect(userID: "", token: "x")
        }
        try await client.connect(userID: alice, token: "alice")
        await #expect(
            throws: ChatError.invalid(InvalidField(field: "conversation.target", rule: "must not be empty"))
        ) {
            try await client.send(text: "hi", to: ConversationID(type: .direct, target: ""))
        }
        #expect(throws: ChatError.invalid(InvalidField(field: "device_token", rule: "must not be empty"))) {
            try client.register(deviceToken: DeviceToken(Data()), environment: .sandbox)
        }
    }

    @Test func `tells why the server refuses it`() async throws {
        let bench = try ClientBench()
        let problem = ServerFrame.Problem(code: .invalidToken, field: "token", rule: "is not signed by this server")
        bench.server.setScript { $0.answer = { _, _ in [.problem(problem, isFatal: true)] } }
        let client = try bench.client()
        await #expect(throws: ChatError.refused(problem)) { try await client.connect(userID: alice, token: "x") }
        #expect(client.connectionStatus == .refused(problem))
    }

    @Test func `asks for a token again when it has expired`() async throws {
        let bench = try ClientBench()
        let expired = ServerFrame.Problem(code: .expiredToken, field: "token", rule: "has expired")
        bench.server.setScript { $0.answer = { name, _ in name == "old" ? [.problem(expired, isFatal: true)] : nil } }
        let tokens = Mutex(["alice", "old"])
        let client = try bench.client()
        try await client.connect(userID: alice) { tokens.withLock { $0.popLast() ?? "none" } }
        #expect(client.connectionStatus == .connected)
    }

    @Test func `says in time that a server cannot be reached, and goes on trying`() async throws {
        let bench = try ClientBench()
        bench.server.setNetwork(.refuses)
        let client = try bench.client { $0.connectTimeLimit = 3 }
        let connect = Task { try await client.connect(userID: alice, token: "alice") }
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        bench.clock.advance(seconds: 3)
        await #expect(throws: ChatError.timedOut(reason: "unreachable")) { try await connect.value }
        bench.server.setNetwork(.works)
        for await status in client.connectionStatuses {
            if status == .connected { break }
            bench.clock.advance(seconds: 60)
        }
        #expect(client.connectionStatus == .connected)
    }

    @Test(.requirement("S2.7")) func `registers its device token with the app's bundle identifier as topic`()
        async throws
    {
        let (bench, client) = try ClientBench.withClient()
        let token = DeviceToken(Data([0xab, 0x01, 0xff]))
        #expect(token.hexString == "ab01ff")
        #expect(token.base64EncodedString == "qwH/")
        try client.register(deviceToken: token, environment: .sandbox)
        try await client.connect(userID: alice, token: "alice")
        let registration = PushRegistration(token: "ab01ff", environment: .sandbox, topic: "com.example.chat")
        #expect(await bench.server.frame { $0.registers(registration) }.registers(registration))
    }

    @Test func `keeps two persons of one device apart`() async throws {
        let (bench, client) = try await ClientBench.connected()
        bench.server.deliver("for alice", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .shown))
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        let tag = try #require(bench.server.welcome(of: alice)?.recipientTag)
        #expect(try group.update { $0.recipient?.tag } == tag)
        try await client.connect(userID: "carol", token: "carol")
        #expect(try client.history(conversation: withBob).isEmpty)
        await client.signOut()
        #expect(try group.update { $0.recipient } == nil)
        // Nothing of hers was left; the server has it.
        let messages = client.messages
        try await client.connect(userID: alice, token: "alice")
        for await message in messages where message.text == "for alice" { break }
    }
}

@Suite struct `A client under the kit` {
    /// A client in the background, the kit attached.
    private func inBackground(_ bench: ClientBench, _ kit: KitDouble) async throws -> ChatClient {
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        client.applicationWillResignActive()
        client.applicationDidEnterBackground(remaining: 30)
        _ = await bench.server.frame { $0 == .runState(.background(remainingMilliseconds: 25_000)) }
        return client
    }

    @Test(.requirement("S0.3", "S0.4", "S3.1"))
    func `shows a local notification in the background, with the badge, and settles it`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        let message = bench.server.deliver("hi", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .notified))
        let posted = kit.state.withLock { $0.posted }
        #expect(posted.map(\.message) == [message])
        #expect(posted.first?.title == "Bob")
        #expect(posted.first?.body == "hi")
        #expect(kit.state.withLock { $0.badges } == [1])
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        #expect(try group.update { $0.ledger[message]?.isShown } == true)
        #expect(try group.update { $0.badge } == Badge(server: 1, foreign: 0, position: 1))
        #expect(client.runState == .backgroundActive)
    }

    @Test func `does not ring for what the extension has shown`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        bench.server.deliver("hi", from: bob, to: alice) { id in
            try? group.update { $0.ledger.markShown(id, by: .pushExtension, wall: 0) }
        }
        _ = await bench.server.frame(where: isAck(upTo: 1, .suppressed(.alreadyShown)))
        #expect(kit.state.withLock { $0.posted }.isEmpty)
        #expect(try client.unreadMessageCount() == 1)
    }

    @Test(.requirement("S0.1", "S0.7", "S3.2")) func `hangs up before the system freezes it, and says so`() async throws
    {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        bench.clock.advance(seconds: 25)
        _ = await bench.server.frame { $0 == .runState(.suspending) }
        for await run in client.runStates where run == .backgroundSuspended { break }
        for await status in client.connectionStatuses where status == .suspended { break }
        #expect(bench.server.connections.isEmpty)
        client.applicationWillEnterForeground()
        for await status in client.connectionStatuses where status == .connected { break }
        #expect(client.runState == .foreground)
        await kit.until { $0.tasks.count == 2 }
        #expect(kit.state.withLock { $0.tasks } == ["begin", "end"])
    }

    @Test(.requirement("S3.3")) func `shows nothing when the switch is off`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        client.isLocalNotificationEnabled = false
        bench.server.deliver("hi", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .suppressed(.switchedOff)))
        #expect(kit.state.withLock { $0.posted }.isEmpty)
    }

    @Test(.requirement("S2.17")) func `clears a conversation's notifications when it is read, and writes the badge`()
        async throws
    {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        bench.server.deliver("hi", from: bob, to: alice)
        _ = await bench.server.frame(where: isAck(upTo: 1, .notified))
        client.applicationWillEnterForeground()
        try client.markRead(withBob)
        _ = await bench.server.frame { $0 == .markRead(withBob, upTo: 1) }
        await kit.until { $0.delivered.isEmpty }
        #expect(kit.state.withLock { $0.delivered }.isEmpty)
        var entries = client.logEntries.makeAsyncIterator()
        bench.server.deliver("in the foreground", from: bob, to: alice)
        while let entry = await entries.next() { if case .message = entry.body { break } }
        client.applicationWillResignActive()
        client.applicationDidEnterBackground(remaining: 30)
        for await run in client.runStates where run == .backgroundActive { break }
        await kit.until { $0.shownBadge == 1 }
        #expect(kit.state.withLock { $0.shownBadge } == 1)
    }

    @Test(.requirement("S2.19")) func `leaves no older number on the icon when an extension counts a push meanwhile`()
        async throws
    {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        kit.state.withLock { state in
            state.beforeBadge = {
                let shown = try? group.update { contents in
                    contents.badge?.pushedByAnother(isRecall: false)
                    return contents.badge?.shown
                }
                kit.state.withLock { $0.shownBadge = shown ?? nil }
            }
        }
        client.applicationWillResignActive()
        client.applicationDidEnterBackground(remaining: 30)
        for await run in client.runStates where run == .backgroundActive { break }
        // Between the two the icon has the extension's number for a moment, too.
        await kit.until { $0.written == [0, 1] }
        #expect(kit.state.withLock { $0.shownBadge } == 1)
        #expect(try group.update { $0.badge } == Badge(server: 0, foreign: 1, position: 0))
    }

    @Test func `recovers a claim of a process that died before it could show`() async throws {
        let bench = try ClientBench()
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        let kit = KitDouble()
        let client = try await self.inBackground(bench, kit)
        bench.server.deliver("hi", from: bob, to: alice) { id in
            try? group.update { _ = $0.ledger.claim(id, by: .kit(process: 1), wall: 0) }
        }
        _ = await bench.server.frame(where: isAck(upTo: 1, .notified))
        #expect(kit.state.withLock { $0.posted.count } == 1)
        #expect(try client.unreadMessageCount() == 1)
    }
}

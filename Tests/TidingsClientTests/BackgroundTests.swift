import ClientCore
import Foundation
import Requirements
import SDKTestSupport
import ServerCore
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")

@Suite struct `A client in a process that a push has started` {
    @Test func `connects, catches up, hangs up, and answers that there is something new`() async throws {
        let bench = try ClientBench()
        bench.server.deliver("missed", from: bob, to: alice)
        let client = try bench.client { $0.isStartedInForeground = false }
        let connect = Task { try await client.connect(userID: alice, token: "alice") }
        #expect(await client.performBackgroundRefresh(remaining: 30) == .newData)
        try await connect.value
        #expect(try client.history(conversation: withBob).map(\.text) == ["missed"])
        #expect(bench.server.connections.isEmpty)
        #expect(bench.server.frames.last == .runState(.suspending))
        #expect(client.runState == .backgroundSuspended)
        #expect(await client.performBackgroundRefresh() == .noData)
    }

    @Test func `answers though the server cannot be reached`() async throws {
        let bench = try ClientBench()
        bench.server.setNetwork(.refuses)
        let client = try bench.client { $0.isStartedInForeground = false }
        let connect = Task { try await client.connect(userID: alice, token: "alice") }
        let refresh = Task { await client.performBackgroundRefresh(remaining: 30) }
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        bench.clock.advance(seconds: 25)
        #expect(await refresh.value == .failed)
        bench.clock.advance(seconds: 30)
        await #expect(throws: ChatError.self) { try await connect.value }
    }

    @Test func `sends nothing for somebody who has signed in since it was asked for`() async throws {
        let (bench, client) = try ClientBench.withClient()
        var problems = client.problems.makeAsyncIterator()
        try await client.connect(userID: alice, token: "alice")
        let asAlice = client.signInNote
        try await client.connect(userID: bob, token: "bob")
        let reply = BackgroundWork.reply("yes", to: withBob, upTo: nil, message: nil)
        #expect(await client.perform(reply, remaining: 30, signIn: asAlice) == .failed)
        #expect(await problems.next() == .replyLost(conversation: withBob))
        #expect(await client.perform(.refresh, remaining: 30, signIn: asAlice) != .failed)
        #expect(!bench.server.hasGotSend)
        await client.signOut()
    }

    @Test func `answers though nobody signs in, and says that a reply was lost`() async throws {
        let bench = try ClientBench()
        let client = try bench.client { $0.isStartedInForeground = false }
        var problems = client.problems.makeAsyncIterator()
        let reply = Task {
            await client.perform(.reply("yes", to: withBob, upTo: 3, message: nil), remaining: 30)
        }
        while client.state.withLock({ $0.pendingWakes.isEmpty }) { await Task.yield() }
        bench.clock.advance(seconds: 10)
        #expect(await reply.value == .failed)
        #expect(await problems.next() == .replyLost(conversation: withBob))
    }

    @Test func `sends a reply that came before the sign-in, and marks as read`() async throws {
        let bench = try ClientBench()
        bench.server.deliver("how are you?", from: bob, to: alice)
        let client = try bench.client { $0.isStartedInForeground = false }
        let reply = Task {
            await client.perform(.reply("fine", to: withBob, upTo: 1, message: nil), remaining: 30)
        }
        while client.state.withLock({ $0.pendingWakes.isEmpty }) { await Task.yield() }
        try await client.connect(userID: alice, token: "alice")
        #expect(await reply.value == .newData)
        let log = bench.server.log(of: alice)
        #expect(
            log.contains { entry in
                guard case .message(let message) = entry.body else { return false }
                return message.text == "fine" && message.sender == alice
            })
        #expect(log.contains { $0.body == .read(conversation: withBob, upTo: 1) })
        #expect(try client.unreadMessageCount() == 0)
    }
}

@Suite struct `A custom message on its way to the app` {
    private func custom(_ number: UInt64) -> CustomMessage {
        CustomMessage(
            id: MessageID(rawValue: number), title: "title \(number)", content: "content \(number)",
            contentType: "text", extras: JSONObject([("number", .int(number))]), sentAt: 1)
    }

    private func send(_ message: CustomMessage, _ bench: ClientBench) {
        bench.server.request(
            .sendCustom(
                ServerTransport.app, message, recipients: [alice],
                clientMessageID: ClientMessageID("custom\(message.id)")))
    }

    @Test func `is dropped when it has expired by the server's clock, and waits while that is not known`() throws {
        let bench = try ClientBench()
        let store = try LocalStore(file: bench.folder.appendingPathComponent("store.sqlite"))
        var messages = [1, 2, 3, 4].map { self.custom($0) }
        messages[1].expiresAt = 2_000
        messages[2].expiresAt = 5_000
        let entries = messages.enumerated().map {
            LogEntry(position: LogPosition($0.offset + 1), body: .custom($0.element))
        }
        _ = try store.writeEntries(entries, person: alice)
        // In order: nothing goes before one that may still be good.
        #expect(try store.takeCustomMessages(wall: nil) == [messages[0]])
        #expect(try store.restored().hasCustomMessages)
        #expect(try store.takeCustomMessages(wall: nil) == [])
        #expect(try store.takeCustomMessages(wall: 2_000) == [messages[2], messages[3]])
        #expect(try !store.restored().hasCustomMessages)
        // Expired ones are done with as well.
        _ = try store.writeEntries(entries, person: alice)
        #expect(try store.takeCustomMessages(wall: 0) == [])
    }

    @Test(.requirement("S4.10", "S4.12"))
    func `reaches every observer, in order, and as a notification of the process`() async throws {
        let (bench, client) = try ClientBench.withClient()
        let posted = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: ChatClient.didReceiveCustomMessageNotification, object: client, queue: nil
        ) { notification in
            let info = notification.userInfo ?? [:]
            let extras = info["extras"] as? [AnyHashable: Any] ?? [:]
            posted.withLock {
                $0.append("\(info["title"] ?? "") \(info["content"] ?? "") \(extras["number"] ?? "")")
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        var first = client.customMessages.makeAsyncIterator()
        var second = client.customMessages.makeAsyncIterator()
        try await client.connect(userID: alice, token: "alice")
        for number in 1...3 as ClosedRange<UInt64> { self.send(self.custom(number), bench) }
        for number in 1...3 as ClosedRange<UInt64> {
            let message = await first.next()
            #expect(await second.next() == message)
            #expect(message?.title == "title \(number)")
            #expect(message?.content == "content \(number)")
            #expect(message?.extras["number"] == .int(Int64(number)))
        }
        #expect(
            posted.withLock { $0 } == ["title 1 content 1 1", "title 2 content 2 2", "title 3 content 3 3"])
        #expect(try client.unreadMessageCount(includingMuted: true) == 0)
    }

    @Test(.requirement("S4.10")) func `is kept while the app is in the background, and over the death of the process`()
        async throws
    {
        let bench = try ClientBench()
        let first = try bench.client { $0.isStartedInForeground = false }
        self.send(self.custom(1), bench)
        let connect = Task { try await first.connect(userID: alice, token: "alice") }
        _ = await first.performBackgroundRefresh()
        try await connect.value
        let second = try bench.client()
        try await second.connect(userID: alice, token: "alice")
        var messages = second.customMessages.makeAsyncIterator()
        #expect(await messages.next()?.content == "content 1")
    }

    @Test(.requirement("S4.10")) func `is handed over at most once, also when the store was lost and is synced again`()
        throws
    {
        let bench = try ClientBench()
        let file = bench.folder.appendingPathComponent("store.sqlite")
        let entries = [1, 2].map { LogEntry(position: $0, body: .custom(self.custom($0))) }
        do {
            let store = try LocalStore(file: file)
            _ = try store.writeEntries([entries[0]], person: alice)
            #expect(try store.restored().hasCustomMessages)
            #expect(try store.takeCustomMessages(wall: 0) == [self.custom(1)])
            #expect(try store.takeCustomMessages(wall: 0) == [])
            #expect(try !store.restored().hasCustomMessages)
            try store.close()
        }
        try Data("no database".utf8).write(to: file)
        let store = try LocalStore(file: file)
        #expect(store.setAside != nil)
        _ = try store.writeEntries(entries, person: alice)
        #expect(try store.takeCustomMessages(wall: 0) == [self.custom(2)])
    }
}

@Suite struct `A client that something goes wrong with` {
    @Test func `sets a damaged store aside, says so, and syncs again`() async throws {
        let bench = try ClientBench()
        let written = Mutex<[ClientProblem]>([])
        let first = try bench.client()
        try await first.connect(userID: alice, token: "alice")
        bench.server.deliver("hi", from: bob, to: alice)
        var messages = first.messages.makeAsyncIterator()
        _ = await messages.next()
        let file = first.folders.store(app: "demo", person: alice)
        await first.signOutWithoutAWord()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try Data(repeating: 0x5a, count: 8_192).write(to: file)

        let client = try bench.client { $0.log = { problem in written.withLock { $0.append(problem) } } }
        var problems = client.problems.makeAsyncIterator()
        var again = client.messages.makeAsyncIterator()
        try await client.connect(userID: alice, token: "alice")
        guard case .storeSetAside(let path)? = await problems.next() else {
            Issue.record("nothing was said of the damaged store")
            return
        }
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(written.withLock { $0 } == [.storeSetAside(path: path)])
        #expect(await again.next()?.text == "hi")
    }

    @Test(.requirement("S0.4", "S3.5")) func `says that a name was missing`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        kit.state.withLock { $0.names = ResolvedNames() }
        let client = try bench.client()
        var problems = client.problems.makeAsyncIterator()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        client.applicationDidEnterBackground(remaining: 30)
        for await run in client.runStates where run == .backgroundActive { break }
        let message = bench.server.deliver("hi", from: bob, to: alice)
        #expect(await problems.next() == .nameMissing(message: message, conversation: withBob))
        #expect(kit.state.withLock { $0.posted }.isEmpty)
    }

    @Test func `recalls a recalled message from the store, the count and the notification centre`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        client.applicationWillResignActive()
        client.applicationDidEnterBackground(remaining: 30)
        for await run in client.runStates where run == .backgroundActive { break }
        let message = bench.server.deliver("hi", from: bob, to: alice)
        _ = await bench.server.frame { frame in
            guard case .ack(let ack) = frame else { return false }
            return ack.settled.contains { $0.disposition == .notified }
        }
        #expect(kit.state.withLock { $0.badges } == [1])
        bench.server.request(.recall(message), as: bob)
        _ = await bench.server.frame { frame in
            guard case .ack(let ack) = frame else { return false }
            return ack.stored == 2
        }
        await kit.until { $0.posted.count == 2 }
        let replacement = try #require(kit.state.withLock { $0.delivered[message] })
        #expect(replacement.isSilent)
        #expect(replacement.body == "A message was recalled")
        #expect(try client.unreadMessageCount() == 0)
        let stored = try #require(try client.history(conversation: withBob).first)
        #expect(stored.isRecalled)
        #expect(stored.text == nil)
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        #expect(try group.update { $0.badge?.shown } == 0)
    }

    @Test func `tells the server what the person allows`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        let frame = await bench.server.frame { if case .deviceStatus = $0 { true } else { false } }
        guard case .deviceStatus(let status) = frame else { return }
        #expect(status.authorization == .provisional)
        #expect(status.backgroundRefresh == .denied)
    }

    @Test(.requirement("S2.17")) func `writes the badge before it returns when the process ends`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        try await client.connect(userID: alice, token: "alice")
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("one", from: bob, to: alice)
        bench.server.deliver("two", from: bob, to: alice)
        _ = await messages.next()
        _ = await messages.next()
        client.applicationWillTerminate()
        #expect(kit.state.withLock { $0.shownBadge } == 2)
    }

    @Test(.requirement("S2.11")) func `leaves the badge alone if the app wants it so`() async throws {
        let bench = try ClientBench()
        let kit = KitDouble()
        let client = try bench.client()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        client.isBadgeManaged = false
        try await client.connect(userID: alice, token: "alice")
        client.applicationWillTerminate()
        #expect(kit.state.withLock { $0.shownBadge } == nil)
    }

    @Test(.requirement("S2.12")) func `counts unread messages without muted conversations, and with them`() async throws
    {
        let (bench, client) = try await ClientBench.connected()
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("one", from: bob, to: alice)
        bench.server.deliver("two", from: "carol", to: alice)
        _ = await messages.next()
        _ = await messages.next()
        try client.setNotificationLevel(.blocked, for: withBob)
        #expect(try client.unreadMessageCount() == 1)
        #expect(try client.unreadMessageCount(includingMuted: true) == 2)
    }
}

@Suite struct `A person who signs out where the server cannot be reached` {
    private func leave(_ bench: ClientBench) async throws -> ChatClient {
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        bench.server.setNetwork(.refuses)
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        await client.signOut()
        #expect(client.userID == nil)
        #expect(client.connectionStatus == .disconnected)
        bench.server.setNetwork(.works)
        return client
    }

    @Test func `is told to the server as soon as it is there`() async throws {
        let bench = try ClientBench()
        let client = try await self.leave(bench)
        let told = Mutex(false)
        let waiting = Task {
            _ = await bench.server.frame { $0 == .signOut }
            told.withLock { $0 = true }
        }
        await bench.passTime { told.withLock { $0 } }
        await waiting.value
        while client.folders.pendingSignOut(app: "demo") != nil { await Task.yield() }
        #expect(client.connectionStatus == .disconnected)
    }

    @Test func `is told by the next process, beside the next person's session`() async throws {
        let bench = try ClientBench()
        let first = try await self.leave(bench)
        #expect(first.folders.pendingSignOut(app: "demo")?.person == alice)
        // The first process dies.
        await first.state.withLock { $0.leaving }?.finish()
        let second = try bench.client()
        try await second.connect(userID: "carol", token: "carol")
        _ = await bench.server.frame { $0 == .signOut }
        while second.folders.pendingSignOut(app: "demo") != nil { await Task.yield() }
        #expect(second.userID == "carol")
        #expect(second.connectionStatus == .connected)
    }
}

extension ChatClient {
    /// The process dies: nothing of it is told to anybody.
    fileprivate func signOutWithoutAWord() async {
        let engine = self.state.withLock { $0.engine }
        await engine?.finish()
        try? engine?.store.close()
    }
}

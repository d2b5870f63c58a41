import ClientCore
import Foundation
import GRDB
import SDKTestSupport
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")

extension ChatClient {
    fileprivate func damageStore() throws { try #require(self.engine?.store).damage() }
}

extension LocalStore {
    /// Writes nonsense over the file while it is open.
    fileprivate func damage() throws {
        try self.current.withLock { current in
            _ = try current.queue?.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            current.queue?.releaseMemory()
        }
        let handle = try FileHandle(forWritingTo: self.file)
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: Data(repeating: 0x5a, count: Int(size)))
        try handle.close()
    }
}

@Suite struct `A store that is full` {
    /// Found by the World.
    @Test func `forgets a message that was accepted with the next that it can write`() async throws {
        let bench = try ClientBench()
        let client = try bench.client { $0.log = { _ in } }
        try await client.connect(userID: alice, token: "alice")
        let queue = try #require(client.engine?.store.current.withLock { $0.queue })
        try await queue.write {
            try $0.execute(
                sql: "CREATE TRIGGER full BEFORE DELETE ON outbox BEGIN SELECT RAISE(ABORT, 'no space left'); END")
        }
        _ = try await client.send(text: "one", to: withBob)
        let waiting: @Sendable (Database) throws -> Int = {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM outbox") ?? 0
        }
        #expect(try await queue.read(waiting) == 1)
        try await queue.write { try $0.execute(sql: "DROP TRIGGER full") }
        _ = try await client.send(text: "two", to: withBob)
        #expect(try await queue.read(waiting) == 0)
    }
}

@Suite struct `A store that is damaged in the middle of a session` {
    /// A client of alice's that has one message, and problems from now on.
    private func connected(_ bench: ClientBench) async throws -> (ChatClient, AsyncStream<ClientProblem>) {
        let client = try bench.client { $0.log = { _ in } }
        let problems = client.problems
        try await client.connect(userID: alice, token: "alice")
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("one", from: bob, to: alice)
        _ = await messages.next()
        return (client, problems)
    }

    /// Lets the back-off pass until the client has all of it.
    private func until(_ client: ChatClient, has texts: [String], _ bench: ClientBench) async {
        await bench.passTime { (try? client.history(conversation: withBob).map(\.text)) == texts }
    }

    @Test func `is set aside when a write finds it, and the log is synced again`() async throws {
        let bench = try ClientBench()
        let (client, stream) = try await self.connected(bench)
        var problems = stream.makeAsyncIterator()
        try client.damageStore()
        bench.server.deliver("two", from: bob, to: alice)
        guard case .storeSetAside(let path)? = await problems.next() else {
            Issue.record("nothing was said of the damaged store")
            return
        }
        #expect(FileManager.default.fileExists(atPath: path))
        await self.until(client, has: ["one", "two"], bench)
        #expect(try client.unreadMessageCount() == 2)
        #expect(client.storeFault == nil)
        await client.signOut()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `is set aside when the app's reading finds it, once`() async throws {
        let bench = try ClientBench()
        let asides = Mutex(0)
        let client = try bench.client { configuration in
            configuration.log = { if case .storeSetAside = $0 { asides.withLock { $0 += 1 } } }
        }
        try await client.connect(userID: alice, token: "alice")
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("one", from: bob, to: alice)
        _ = await messages.next()
        try client.damageStore()
        #expect(throws: ChatError.self) { try client.history(conversation: withBob) }
        _ = try? client.history(conversation: withBob)
        await self.until(client, has: ["one"], bench)
        #expect(asides.withLock { $0 } == 1)
    }

    @Test func `is not found damaged by an error of the one before`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try LocalStore(file: folder.appendingPathComponent("store.sqlite"))
        try store.damage()
        let errors = [1, 2].map { _ in #expect(throws: DatabaseError.self) { try store.counts() } }.compactMap(\.self)
        #expect(errors.map { store.isFirstDamage($0) } == [true, false])
        _ = try store.renew()
        #expect(errors.map { store.isFirstDamage($0) } == [false, false])
        #expect(try store.counts().unread == 0)
        try store.close()
    }

    @Test func `is read and closed by several at once, and once closed says so`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try LocalStore(file: folder.appendingPathComponent("store.sqlite"))
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        _ = try? store.counts()
                        if reader == 0 { _ = try? store.renew() }
                    }
                }
            }
        }
        #expect(try store.counts().unread == 0)
        try store.close()
        #expect(throws: DatabaseError.self) { try store.counts() }
        #expect(throws: DatabaseError.self) { try store.removeOutgoing(ClientMessageID("c1")) }
    }

    @Test func `keeps what the person has silenced and what waits to be sent`() async throws {
        let bench = try ClientBench()
        let (client, stream) = try await self.connected(bench)
        var problems = stream.makeAsyncIterator()
        // Nor does it answer what the person has set.
        bench.server.setScript {
            $0.answer = { _, frame in
                switch frame {
                case .send, .request: []
                default: nil
                }
            }
        }
        try client.setNotificationLevel(.blocked, for: withBob)
        let waiting = Task { try await client.send(text: "mine", to: withBob) }
        _ = await bench.server.frame { if case .send = $0 { true } else { false } }
        try client.damageStore()
        bench.server.deliver("two", from: bob, to: alice)
        _ = await problems.next()
        while (try? client.engine?.store.restored().outbox.count) != 1 { await Task.yield() }
        let mute = PendingSettingsChange.conversation(withBob, ConversationSettings(level: .blocked))
        while (try? client.engine?.store.restored().pendingChanges) != [mute] { await Task.yield() }
        bench.server.behave()
        await self.until(client, has: ["one", "two", "mine"], bench)
        #expect(try await waiting.value.text == "mine")
        #expect(try client.unreadMessageCount() == 0)
    }
}

@Suite struct `A log that the server has trimmed up to its head` {
    @Test func `is caught up with, and gone on with`() async throws {
        let bench = try ClientBench()
        for number in 1...3 { bench.server.deliver("old \(number)", from: bob, to: alice) }
        bench.server.setScript { script in
            script.change = { frame in
                guard case .page(var page) = frame else { return frame }
                page.entries.removeAll { $0.position <= 3 }
                return .page(page)
            }
        }
        let client = try bench.client()
        try await client.connect(userID: alice, token: "alice")
        _ = await bench.server.frame { if case .ack(let ack) = $0 { ack.stored == 3 } else { false } }
        var messages = client.messages.makeAsyncIterator()
        bench.server.deliver("new", from: bob, to: alice)
        #expect(await messages.next()?.text == "new")
        #expect(try client.history(conversation: withBob).map(\.position) == [4])
        #expect(await client.performBackgroundRefresh() == .noData)
    }
}

@Suite struct `A device that is unregistered` {
    private let token = DeviceToken(Data([0xab]))

    private func registrations(_ bench: ClientBench) -> [PushRegistration?] {
        bench.server.frames.compactMap { frame -> PushRegistration?? in
            guard case .registerPush(let registration, _) = frame else { return nil }
            return .some(registration)
        }
    }

    @Test func `is told to the server by a later process, until the app registers again`() async throws {
        let bench = try ClientBench()
        try bench.client().unregisterDevice()
        let second = try bench.client()
        try await second.connect(userID: alice, token: "alice")
        #expect(await bench.server.frame { $0.registers(nil) }.registers(nil))
        try second.register(deviceToken: self.token, environment: .sandbox)
        _ = await bench.server.frame { if case .registerPush(.some, _) = $0 { true } else { false } }
        second.disconnect()
        for await status in second.connectionStatuses where status == .disconnected { break }
        bench.server.forgetFrames()
        let third = try bench.client()
        try await third.connect(userID: alice, token: "alice")
        // An ack after the greeting: whatever is said of the registration was said before.
        bench.server.deliver("hi", from: bob, to: alice)
        _ = await bench.server.frame { if case .ack = $0 { true } else { false } }
        #expect(self.registrations(bench) == [])
    }
}

/// A keychain that can refuse.
private final class TokensDouble: ExtensionTokens {
    let state = Mutex<(token: String?, refuses: Bool)>((nil, false))
    func read() -> String? { self.state.withLock { $0.token } }
    func write(_ token: String?) throws(KeychainFault) {
        let isRefused = self.state.withLock { state in
            if !state.refuses { state.token = token }
            return state.refuses
        }
        if isRefused { throw KeychainFault(account: "extension-token", accessGroup: "team.chat", status: -34_018) }
    }
}

@Suite struct `An extension token with a place of its own` {
    @Test func `stands in no file, and goes with the person`() async throws {
        let bench = try ClientBench()
        let tokens = TokensDouble()
        let client = try bench.client(tokens: tokens)
        try await client.connect(userID: alice, token: "alice")
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        let welcome = try #require(bench.server.welcome(of: alice))
        #expect(tokens.read() == welcome.extensionToken)
        let recipient = Recipient(tag: welcome.recipientTag, extensionToken: "", position: 0)
        #expect(try group.update { $0.recipient } == recipient)
        await client.signOut()
        #expect(tokens.read() == nil)
        // A process in which nobody connects signs out as well.
        tokens.state.withLock { $0.token = "left" }
        await (try bench.client(tokens: tokens)).signOut()
        #expect(tokens.read() == nil)
    }

    @Test func `that cannot be kept is told, and costs nothing else`() async throws {
        let bench = try ClientBench()
        let tokens = TokensDouble()
        tokens.state.withLock { $0.refuses = true }
        let client = try bench.client(tokens: tokens) { $0.log = { _ in } }
        try await client.connect(userID: alice, token: "alice")
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        let tag = try #require(bench.server.welcome(of: alice)?.recipientTag)
        #expect(try group.update { $0.recipient } == Recipient(tag: tag, extensionToken: "", position: 0))
        let fault = KeychainFault(account: "extension-token", accessGroup: "team.chat", status: -34_018)
        #expect(client.storeFault == fault.description)
        #expect(fault.description.hasPrefix("keychainAccessGroup \"team.chat\" cannot hold the extension token"))
    }
}

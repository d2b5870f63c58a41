import ClientCore
import Foundation
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
    /// The process dies: nothing of it is told to anybody.
    fileprivate func die() async {
        let (engine, leaving) = self.state.withLock { ($0.engine, $0.leaving) }
        await engine?.finish()
        try? engine?.store.close()
        await leaving?.finish()
    }

    /// Waits until so many sign-ins and sign-outs stand in line.
    fileprivate func line(of count: Int) async {
        while self.state.withLock({ $0.gateWaiters.count }) < count { await Task.yield() }
    }
}

extension ClientBench {
    fileprivate var group: AppGroup {
        get throws { try AppGroup(folder: self.folder.appendingPathComponent("group")) }
    }

    /// An earlier process in which alice signed in and got a message.
    fileprivate func earlier() async throws {
        let client = try self.client()
        try await client.connect(userID: alice, token: "alice")
        var messages = client.messages.makeAsyncIterator()
        self.server.deliver("hi", from: bob, to: alice)
        _ = await messages.next()
        await client.die()
    }
}

/// A host in whose hands something happens in the middle of a sign-in.
private final class InterruptingKit: KitHost {
    private let base = KitDouble()
    let interruption = Mutex<(@Sendable () -> Void)?>(nil)

    func names(_ question: NameQuestion) async -> ResolvedNames { await self.base.names(question) }
    func handles(_ message: Message, senderName: String) async -> Bool { false }
    func ringInForeground(_ notification: LocalNotification) {}
    func post(_ notification: LocalNotification, badge: Int?) async -> PostResult {
        await self.base.post(notification, badge: badge)
    }
    let major = 17
    func deliveredNotifications() async -> [NotificationCenterQueue.Entry] {
        await self.base.deliveredNotifications()
    }
    func removeDeliveredNotifications(_ identifiers: [String]) { self.base.removeDeliveredNotifications(identifiers) }
    func removeScheduledNotifications() async { self.interruption.withLock { $0.take() }?() }
    func deviceStatus() async -> DeviceStatus? { nil }
    func showBadgeNow(_ number: Int) { self.base.showBadgeNow(number) }
    func showBadge(_ number: Int) async { await self.base.showBadge(number) }
    func donate(_ form: CommunicationForm) {}
    func deleteDonations(_ scope: DonationScope) {}
    func beginBackgroundTask(for engine: ObjectIdentifier) { self.base.beginBackgroundTask(for: engine) }
    func endBackgroundTask(for engine: ObjectIdentifier) { self.base.endBackgroundTask(for: engine) }
}

@Suite struct `A sign-in` {
    @Test func `with an app group that cannot be written is reported, not stuck`() async throws {
        let bench = try ClientBench()
        try await bench.earlier()
        // A folder where the lock file has to be: nothing in the app group can be changed any more.
        let lock = bench.folder.appendingPathComponent("group/Tidings/lock")
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: true)
        let faults = Mutex(0)
        let client = try bench.client {
            $0.log = { if case .storeFault = $0 { faults.withLock { $0 += 1 } } }
        }
        try await client.connect(userID: alice, token: "alice")
        #expect(faults.withLock { $0 } > 0)
        #expect(client.storeFault != nil)
        #expect(client.connectionStatus == .connected)
    }

    @Test func `hears that the app came to the foreground meanwhile`() async throws {
        let bench = try ClientBench()
        try await bench.earlier()
        let client = try bench.client { $0.isStartedInForeground = false }
        let kit = InterruptingKit()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        kit.interruption.withLock { $0 = { client.applicationWillEnterForeground() } }
        try await client.connect(userID: bob, token: "bob")
        #expect(client.connectionStatus == .connected)
        #expect(client.runState == .foreground)
    }

    @Test func `hears that the app went to the background meanwhile, and how much time has passed since`() async throws
    {
        let bench = try ClientBench()
        try await bench.earlier()
        let client = try bench.client()
        let kit = InterruptingKit()
        client.attach(host: kit, settings: client.kitSettings(hasDelegate: false))
        kit.interruption.withLock {
            $0 = {
                client.applicationDidEnterBackground(remaining: 30)
                bench.clock.advance(seconds: 5)
            }
        }
        try await client.connect(userID: bob, token: "bob")
        let hello = await bench.server.frame { if case .hello(let hello) = $0 { hello.token == "bob" } else { false } }
        guard case .hello(let hello) = hello else { return }
        #expect(hello.runState == .background(remainingMilliseconds: 20_000))
    }

    @Test func `takes away what somebody before has left, and nothing where nobody was before`() async throws {
        let bench = try ClientBench()
        let cleared = Mutex(0)
        let first = try bench.client()
        let kit = InterruptingKit()
        first.attach(host: kit, settings: first.kitSettings(hasDelegate: false))
        kit.interruption.withLock { $0 = { cleared.withLock { $0 += 1 } } }
        try await first.connect(userID: alice, token: "alice")
        #expect(cleared.withLock { $0 } == 0)
        await first.die()
        let second = try bench.client()
        second.attach(host: kit, settings: second.kitSettings(hasDelegate: false))
        try await second.connect(userID: bob, token: "bob")
        #expect(cleared.withLock { $0 } == 1)
    }

    @Test func `of two persons at once ends with the last, and never answers one with the other`() async throws {
        let (bench, client) = try ClientBench.withClient()
        await client.enterGate()
        let first = Task { try await client.connect(userID: alice, token: "alice") }
        await client.line(of: 1)
        let second = Task { try await client.connect(userID: bob, token: "bob") }
        await client.line(of: 2)
        client.leaveGate()
        try await second.value
        #expect(client.userID == bob)
        // Connected before the other came, or overtaken.
        do { try await first.value } catch { #expect(error as? ChatError == .cancelled) }
        #expect(try bench.group.update { $0.recipient?.tag } == bench.server.welcome(of: bob)?.recipientTag)
    }

    @Test func `that somebody signs out of meanwhile is void`() async throws {
        let (bench, client) = try ClientBench.withClient()
        await client.enterGate()
        let connect = Task { try await client.connect(userID: alice, token: "alice") }
        await client.line(of: 1)
        let signOut = Task { await client.signOut() }
        await client.line(of: 2)
        client.leaveGate()
        await #expect(throws: ChatError.cancelled) { try await connect.value }
        await signOut.value
        #expect(client.userID == nil)
        #expect(bench.server.frames.isEmpty)
    }

    @Test func `on an engine that has ended is cancelled at once, and so is a send`() async throws {
        let client = try ClientBench().client()
        try await client.connect(userID: alice, token: "alice")
        let engine = try #require(client.engine)
        await engine.finish()
        await #expect(throws: ChatError.cancelled) {
            try await engine.connect(tokenProvider: { "alice" }, limit: 1_000)
        }
        await #expect(throws: ChatError.cancelled) { try await client.send(text: "hi", to: withBob) }
        await engine.signOut()
    }
}

@Suite struct `A sign-out` {
    @Test func `before anybody connected forgets who signed in earlier, and tells the server`() async throws {
        let bench = try ClientBench()
        try await bench.earlier()
        #expect(try bench.group.update { $0.recipient?.tag } == bench.server.welcome(of: alice)?.recipientTag)
        let client = try bench.client()
        await client.signOut()
        #expect(try bench.group.update { $0.recipient } == nil)
        #expect(try bench.group.update { $0.signIn } == .signedOut)
        let store = try LocalStore(file: client.folders.store(app: "demo", person: alice))
        #expect(try store.history(withBob, before: nil, limit: 9).isEmpty)
        _ = await bench.server.frame { $0 == .signOut }
        while client.folders.pendingSignOut(app: "demo") != nil { await Task.yield() }
        #expect(client.folders.signedIn(app: "demo") == nil)
        #expect(client.folders.token(of: alice, app: "demo") == nil)
    }

    @Test func `before anybody ever signed in does nothing`() async throws {
        let (bench, client) = try ClientBench.withClient()
        await client.signOut()
        #expect(client.folders.pendingSignOut(app: "demo") == nil)
        #expect(bench.server.frames.isEmpty)
    }

    @Test func `over a connection that is dead is kept, and said again`() async throws {
        let (bench, client) = try await ClientBench.connected()
        bench.server.setNetwork(.isSilent)
        let signOut = Task { await client.signOut() }
        while client.state.withLock({ $0.signOutWaiters.isEmpty }) { await Task.yield() }
        #expect(client.folders.pendingSignOut(app: "demo")?.person == alice)
        #expect(client.connectionStatus == .disconnected)
        // The app waits two seconds, the pending sign-out ten, then it takes another connection.
        bench.clock.advance(seconds: 2)
        await signOut.value
        bench.server.setNetwork(.works)
        await bench.passTime { client.folders.pendingSignOut(app: "demo") == nil }
        #expect(bench.server.hasGot(.signOut))
    }

    @Test func `without a connection outlives the sign-out of whoever came while the server was out of reach`()
        async throws
    {
        let (bench, client) = try await ClientBench.connected()
        bench.server.setNetwork(.refuses)
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        await client.signOut()
        let connect = Task { try await client.connect(userID: bob, token: "bob") }
        for await status in client.connectionStatuses { if case .waiting = status { break } }
        await client.signOut()
        await #expect(throws: ChatError.cancelled) { try await connect.value }
        #expect(client.folders.pendingSignOut(app: "demo")?.person == alice)
        bench.server.setNetwork(.works)
        await bench.passTime { client.folders.pendingSignOut(app: "demo") == nil }
        #expect(bench.server.hasGot(.signOut))
    }

    @Test func `over a connection that works has reached the server when it returns`() async throws {
        let (bench, client) = try await ClientBench.connected()
        await client.signOut()
        #expect(client.folders.pendingSignOut(app: "demo") == nil)
        #expect(bench.server.hasGot(.signOut))
        #expect(bench.server.connections.isEmpty)
    }
}

@Suite struct `What a client keeps on the device` {
    @Test func `goes on after a part of the log that the server has trimmed, and only after that place`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try LocalStore(file: folder.appendingPathComponent("store.sqlite"))
        func entry(_ position: LogPosition) -> LogEntry {
            LogEntry(position: position, body: .read(conversation: withBob, upTo: position))
        }
        #expect(try store.skip(after: 3, upTo: 7).stored == 0)
        #expect(try store.writeEntries([entry(8)], person: alice).stored == 0)
        #expect(try store.skip(after: 0, upTo: 7).stored == 7)
        #expect(try store.writeEntries([entry(8), entry(9)], person: alice).stored == 9)
        #expect(try store.skip(after: 9, upTo: 4).stored == 9)
        #expect(try store.restored().stored == 9)
    }

    @Test func `names the person that signed in, whatever the id`() throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let folders = ClientFolders(root: root)
        try folders.noteSignIn("a/b é", app: "demo")
        #expect(folders.signedIn(app: "demo") == "a/b é")
        #expect(folders.signedIn(app: "other") == nil)
        try folders.forgetSignIn(app: "other")
        #expect(folders.signedIn(app: "demo") == "a/b é")
    }

    #if canImport(Darwin)
        @Test func `stays out of backups where it names the device or a token`() throws {
            let root = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: root) }
            let folders = ClientFolders(root: root)
            _ = try folders.deviceID(app: "demo")
            try folders.write(ClientFolders.PendingSignOut(person: alice, token: "t"), app: "demo")
            try folders.keepToken("t", of: alice, app: "demo")
            for file in try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil) {
                #expect(try file.resourceValues(forKeys: [.isExcludedFromBackupKey]).isExcludedFromBackup == true)
            }
        }
    #endif
}

@Suite struct `A client's clock and pushes` {
    @Test func `sleeps without end until it is cancelled`() async {
        let sleeper = Task { await SystemClientClock().sleep(untilMonotonic: .max) }
        await Task.yield()
        sleeper.cancel()
        await sleeper.value
    }

    @Test func `are taken back when the app wants none, also if it says so before it connects`() async throws {
        let (bench, client) = try ClientBench.withClient()
        client.unregisterDevice()
        try await client.connect(userID: alice, token: "alice")
        #expect(await bench.server.frame { $0.registers(nil) }.registers(nil))
    }

    @Test func `keeps no name for the extension that the app gives after the sign-out`() async throws {
        let (bench, client) = try await ClientBench.connected()
        let engine = try #require(client.engine)
        let group = try AppGroup(folder: bench.folder.appendingPathComponent("group"))
        func remembered() throws -> String? {
            engine.remember(ResolvedNames(user: "Bob"), for: NameQuestion(sender: bob, group: nil))
            return try group.update { $0.settings[name: .user(bob)] }
        }
        #expect(try remembered() == "Bob")
        await client.signOut()
        #expect(try remembered() == nil)
    }
}

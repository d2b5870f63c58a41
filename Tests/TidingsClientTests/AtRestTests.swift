import ClientCore
import Foundation
import GRDB
import SDKTestSupport
import Synchronization
import Testing
import TidingsAppGroup
import TidingsModel

@testable import TidingsClient

#if TIDINGS_UIKIT
    import PhoneCore
    @testable import VirtualPhone
#endif

private let alice: UserID = "alice"
private let bob: UserID = "bob"
private let withBob = ConversationID(type: .direct, target: "bob")

private final class SafetyDouble: FileSafety {
    private let state = Mutex<(classes: [String: FileProtectionClass], excluded: Set<String>)>(([:], []))
    var classes: [String: FileProtectionClass] { self.state.withLock { $0.classes } }
    var excluded: Set<String> { self.state.withLock { $0.excluded } }

    func protect(_ path: String, as protection: FileProtectionClass) throws {
        self.state.withLock { $0.classes[path] = protection }
    }
    func excludeFromBackup(_ path: String) throws { self.state.withLock { _ = $0.excluded.insert(path) } }

    /// The class a file has, its own or that of the folder it was made in.
    func resolved(_ path: String) -> FileProtectionClass? {
        self.classes[path] ?? self.classes[(path as NSString).deletingLastPathComponent]
    }
    func isExcluded(_ path: String) -> Bool {
        self.excluded.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
}

/// A keychain in memory, which outlives every app.
private final class SecretDouble: SecretStore {
    let state = Mutex<(values: [String: String], status: Int32)>(([:], 0))
    var values: [String: String] { self.state.withLock { $0.values } }

    func read(_ name: String) throws(KeychainFault) -> [UInt8]? {
        try self.check(name)
        return self.values[name].map { Array($0.utf8) }
    }
    func write(_ value: [UInt8]?, as name: String) throws(KeychainFault) {
        try self.check(name)
        self.state.withLock { $0.values[name] = value.map { String(decoding: $0, as: UTF8.self) } }
    }
    private func check(_ name: String) throws(KeychainFault) {
        let status = self.state.withLock { $0.status }
        guard status == 0 else { throw KeychainFault(account: name, status: status) }
    }
}

extension ClientBench {
    /// The files below the bench, with what they hold.
    fileprivate func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        let names = FileManager.default.enumerator(atPath: self.folder.path)?.compactMap { $0 as? String } ?? []
        for name in names {
            let path = self.folder.appendingPathComponent(name)
            if let bytes = try? Data(contentsOf: path) { files[name] = bytes }
        }
        return files
    }

    /// A client of alice's that has a message.
    fileprivate func withMessage(
        secrets: (any SecretStore)? = nil, safety: any FileSafety = SystemFileSafety(), text: String = "for alice"
    ) async throws -> ChatClient {
        let client = try self.client(secrets: secrets, safety: safety) { $0.log = { _ in } }
        try await client.connect(userID: alice, token: "alice")
        self.server.deliver(text, from: bob, to: alice)
        _ = await self.server.frame { if case .ack(let ack) = $0 { ack.stored == 1 } else { false } }
        return client
    }

    fileprivate func stores(of client: ChatClient) throws -> [String] {
        try self.files().keys.filter { $0.contains(".sqlite") && !$0.hasSuffix(LocalStore.handOverSuffix) }.sorted()
    }
}

@Suite struct `What lies on the device` {
    @Test func `can be read from the first unlock on, and is in no backup`() async throws {
        let bench = try ClientBench()
        let safety = SafetyDouble()
        let client = try await bench.withMessage(safety: safety)
        let store = client.folders.store(app: "demo", person: alice).path
        #expect(try bench.files().keys.contains { $0.hasSuffix(".sqlite-wal") })
        for name in try bench.files().keys {
            let path = bench.folder.appendingPathComponent(name).path
            #expect(safety.resolved(path) == .completeUntilFirstUserAuthentication, "\(name)")
            #expect(safety.isExcluded(path), "\(name)")
        }
        // Its folder first: SQLite makes its journal by itself.
        #expect(safety.classes[(store as NSString).deletingLastPathComponent] != nil)
    }

    @Test func `can be read while the phone is unlocked only, once it is damaged and set aside`() async throws {
        let bench = try ClientBench()
        let safety = SafetyDouble()
        let client = try await bench.withMessage(safety: safety)
        let aside = try #require(try client.engine?.store.renew())
        #expect(safety.classes[aside.path] == .completeUnlessOpen)
        #expect(safety.isExcluded(aside.path))
    }

    @Test func `is written over where it is deleted`() async throws {
        let bench = try ClientBench()
        let client = try await bench.withMessage()
        let mode = try client.engine?.store.read { try Int.fetchOne($0, sql: "PRAGMA secure_delete") }
        #expect(mode == 1)
    }
}

@Suite struct `A person who leaves a full phone` {
    @Test func `leaves no store behind, where not a row could be deleted`() async throws {
        let bench = try ClientBench()
        let client = try await bench.withMessage(text: "between us")
        let queue = try #require(client.engine?.store.current.withLock { $0.queue })
        try await queue.write {
            try $0.execute(
                sql: "CREATE TRIGGER full BEFORE DELETE ON message BEGIN SELECT RAISE(ABORT, 'disk is full'); END")
        }
        await client.signOut()
        #expect(try bench.stores(of: client) == [])
        #expect(try bench.files().values.allSatisfy { $0.range(of: Data("between us".utf8)) == nil })
        #expect(client.storeFault == nil)
        #expect(bench.server.hasGot(.signOut))
    }

    @Test func `leaves none either before anybody has connected, with what was set aside`() async throws {
        let bench = try ClientBench()
        let first = try await bench.withMessage()
        _ = try first.engine?.store.renew()
        await first.engine?.finish()
        let second = try bench.client()
        #expect(try !bench.stores(of: second).isEmpty)
        await second.signOut()
        #expect(try bench.stores(of: second) == [])
    }
}

@Suite struct `A person who did not sign out` {
    @Test func `leaves nothing that the next one could read`() async throws {
        let bench = try ClientBench()
        let client = try await bench.withMessage(text: "between us")
        try await client.connect(userID: "carol", token: "carol")
        let carol = client.folders.store(app: "demo", person: "carol").lastPathComponent
        #expect(try bench.stores(of: client).allSatisfy { $0.contains(carol) })
        #expect(try bench.files().values.allSatisfy { $0.range(of: Data("between us".utf8)) == nil })
    }
}

@Suite struct `The user token` {
    private func token(_ bench: ClientBench, in secrets: SecretDouble) throws -> [String] {
        let note = "\"token\":\"secret-token\""
        return try bench.files().filter { $0.value.range(of: Data(note.utf8)) != nil }.keys.sorted()
            + secrets.values.filter { $0.value.contains(note) }.keys.sorted()
    }

    private func connect(_ bench: ClientBench, _ secrets: SecretDouble?) async throws -> ChatClient {
        let client = try bench.client(secrets: secrets) { $0.log = { _ in } }
        try await client.connect(userID: "secret-token", token: "secret-token")
        return client
    }

    @Test func `lies in the keychain and in no file, until the person signs out`() async throws {
        let bench = try ClientBench()
        let secrets = SecretDouble()
        let client = try await self.connect(bench, secrets)
        #expect(try self.token(bench, in: secrets) == ["user-token-64656d6f"])
        await client.signOut()
        #expect(try self.token(bench, in: secrets) == [])
    }

    @Test func `moves into the keychain from the file of an earlier version, and is as good there`() async throws {
        let bench = try ClientBench()
        let earlier = try await self.connect(bench, nil)
        await earlier.engine?.finish()
        let secrets = SecretDouble()
        #expect(try self.token(bench, in: secrets) == ["app/token-64656d6f.json"])
        let client = try bench.client(secrets: secrets)
        #expect(client.folders.token(of: "secret-token", app: "demo") == "secret-token")
        #expect(try self.token(bench, in: secrets) == ["user-token-64656d6f"])
        // A process in which nobody connects signs out with it.
        await client.signOut()
        _ = await bench.server.frame { $0 == .signOut }
        while client.folders.pendingSignOut(app: "demo") != nil { await Task.yield() }
        #expect(try self.token(bench, in: secrets) == [])
    }

    @Test func `stays in a file where there is no keychain, and is told where it cannot be kept`() async throws {
        for (status, files, hasFault) in [
            (-25_291, ["app/token-64656d6f.json"], false), (-25_308, [], true),
        ] as [(Int32, [String], Bool)] {
            let bench = try ClientBench()
            let secrets = SecretDouble()
            secrets.state.withLock { $0.status = status }
            let client = try await self.connect(bench, secrets)
            #expect(try self.token(bench, in: secrets) == files)
            #expect((client.storeFault != nil) == hasFault)
        }
    }

    @Test func `of an installation that was removed is none of the next one's`() async throws {
        let secrets = SecretDouble()
        let first = try ClientBench()
        _ = try await self.connect(first, secrets)
        try FileManager.default.removeItem(at: first.folder)
        let second = try ClientBench()
        let client = try second.client(secrets: secrets)
        #expect(client.folders.token(of: "secret-token", app: "demo") == nil)
        _ = try client.folders.deviceID(app: "demo")
        #expect(secrets.values == [:])
    }
}

#if TIDINGS_UIKIT
    /// A phone that is there for one question: whether it is unlocked.
    private struct UnlockedPhone: PhoneLink {
        func send(_ message: ProcessMessage) {}
        func answer(to query: Query, number: QueryNumber) -> QueryAnswer? { .protectedData(isAvailable: true) }
    }

    @Suite struct `The keychain of a virtual phone` {
        @Test func `has the user token for the app alone, and the extension token for the extension too`() throws {
            let bench = try ClientBench()
            func process(_ role: PhoneProcessFacts.Role) -> PhoneProcess {
                PhoneProcess(
                    facts: PhoneProcessFacts(
                        role: role, bundleID: "com.example.chat", osVersion: "17", phoneID: "phone", home: "/",
                        groups: ["group.chat": "/"], keychain: bench.folder.appendingPathComponent("keychain.json").path
                    ),
                    link: UnlockedPhone())
            }
            let app = process(.app)
            let service = process(.notificationService)
            let folders = ClientFolders(root: bench.folder.appendingPathComponent("app"), secrets: KeychainSecrets())
            let tokens = KeychainTokens(accessGroup: "group.chat")
            try withPhoneProcess(app) {
                _ = try folders.deviceID(app: "demo")
                try folders.keepToken("first", of: alice, app: "demo")
                try folders.keepToken("secret", of: alice, app: "demo")
                try tokens.write("extension")
                #expect(folders.token(of: alice, app: "demo") == "secret")
            }
            withPhoneProcess(service) {
                #expect(tokens.read() == "extension")
                #expect(folders.token(of: alice, app: "demo") == nil)
            }
            try withPhoneProcess(app) {
                try folders.forgetSignIn(app: "demo")
                try tokens.write(nil)
                #expect(folders.token(of: alice, app: "demo") == nil)
                #expect(tokens.read() == nil)
                #expect(throws: KeychainFault(account: "extension-token", accessGroup: "group.other", status: -34_018))
                {
                    try KeychainTokens(accessGroup: "group.other").write("x")
                }
            }
        }
    }
#endif

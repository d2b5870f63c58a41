import APNsClient
import Crypto
import Foundation
import NIOConcurrencyHelpers
import ServerCore
import StoreMachine
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// The store in memory as one that answers at once.
///
/// `@unchecked Sendable`: the state is guarded by the lock.
private final class PlainStore: BatchStore, @unchecked Sendable {
    private let state: NIOLockedValueBox<(store: MemoryStore, epoch: UInt64)>

    init() {
        let store = MemoryStore()
        let opening = store.open()
        self.state = NIOLockedValueBox((store, opening.epoch))
    }

    func submit(_ commands: [StoreCommand], completion: @escaping @Sendable ([StoreResult]) -> Void) {
        completion(self.state.withLockedValue { (try? $0.store.apply(commands, epoch: $0.epoch)) ?? [] })
    }

    var control: ControlState {
        self.state.withLockedValue { state in
            guard case .controlState(let control)? = try? state.store.apply(.readControl, epoch: state.epoch) else {
                return ControlState()
            }
            return control
        }
    }

    func change(_ change: ControlChange) -> StoreResult? {
        self.state.withLockedValue { try? $0.store.apply(.changeControl(change, at: 2), epoch: $0.epoch) }
    }
}

@Suite struct `The configuration's apps at the start` {
    private static let section: ServerConfiguration.App = {
        var app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        app.apiKeys = [.init(id: "ops", sha256: TestServer.hash("key").uppercased(), scopes: [.trace, .messages])]
        app.settings.membersMax = 50
        app.previousSecret = Secret("the secret before, of thirty-two bytes")
        return app
    }()

    private let store = PlainStore()
    private let log = LineLog()
    private let keys = MasterKeys.drawn()

    @discardableResult
    private func start(
        _ apps: [ServerConfiguration.App] = [Self.section], keys: MasterKeys? = nil
    ) async throws -> AppRegistry {
        let control = self.store.control
        let (after, registry) = try await AppImport(store: self.store, logger: self.log.logger)
            .run(apps, into: control, keys ?? self.keys, at: 1)
        #expect(after == self.store.control)
        return registry
    }

    /// What was warned of, without the rest of the line.
    private var warnings: [String] {
        self.log.lines.compactMap { line in
            guard let start = line.range(of: " warning ")?.upperBound else { return nil }
            return line[start...].trimmingCharacters(in: .newlines)
        }
    }

    private func warning(_ fields: String, app: String = "demo") -> String {
        "the configuration differs from the app; the store wins advice=use tidings app apply, or drop the section app=\(app) field=\(fields)"
    }

    @Test func `are made once, with their keys and secrets, and nothing of a secret in the clear`() async throws {
        let registry = try await self.start()
        let app = try #require(self.store.control[app: "demo"])
        #expect(app.settings == Self.section.settings)
        #expect(app.secrets.map(\.id) == ["imported", "imported-previous"])
        #expect(app.apiKeys.map(\.scopes) == [["messages", "trace"]])
        #expect(app.importedDigest?.count == 32)
        #expect(!"\(app)".contains(TestServer.secret.value))
        let made = UserTokens(registry)
        let token = try #require(made.token(for: UserKey(app: "demo", user: "alice"), expiresAtSeconds: 4_000_000_000))
        let before = try UserTokens(apps: [Self.section])
        guard case .valid = before.verdict(on: token, device: nil, wallMilliseconds: 1) else {
            Issue.record("the secret is another one")
            return
        }
        #expect(APIKeys(registry).access(app: "demo", key: "key", scope: .trace) == .granted(.key("ops")))
        try await self.start()
        #expect(self.store.control.apps == [app])
        #expect(self.warnings == [])
    }

    @Test func `bring their client keys, which are told of where they differ later`() async throws {
        try await self.start()
        let digest = self.store.control[app: "demo"]?.importedDigest
        var shop = ServerConfiguration.App(id: "shop", tokenSecret: TestServer.secret)
        shop.clientKeys = [.init(name: "ios", key: "pk_0123456789abcdef")]
        let registry = try await self.start([Self.section, shop])
        #expect(self.store.control[app: "demo"]?.importedDigest == digest)
        #expect(registry.app(ofClientKey: "pk_0123456789abcdef")?.record.id == "shop")
        #expect(registry.app("shop")?.installations != nil)
        try await self.start([shop])
        #expect(self.warnings == [])
        shop.clientKeys.append(.init(name: "beta", key: "pk_0123456789abcdeg"))
        try await self.start([shop])
        #expect(self.warnings == [self.warning("client_keys", app: "shop")])
        var other = ServerConfiguration.App(id: "club", tokenSecret: TestServer.secret)
        other.clientKeys = [.init(name: "ios", key: "pk_0123456789abcdef")]
        await #expect(throws: ConfigurationFaults.self) { try await self.start([other]) }
    }

    @Test func `are sealed under the new master key with the secret of their anonymous people`() async throws {
        let old = "old \(Data(repeating: 1, count: 32).base64EncodedString())"
        let new = "new \(Data(repeating: 2, count: 32).base64EncodedString())"
        var shop = ServerConfiguration.App(id: "shop", tokenSecret: TestServer.secret)
        shop.clientKeys = [.init(name: "ios", key: "pk_0123456789abcdef")]
        let user = UserKey(app: "shop", user: "anon-1")
        let before = try await self.start([shop], keys: MasterKeys(parsing: old))
        let renewal = try #require(UserTokens(before).renewal(for: user, issuedAt: 1))
        try await self.start([shop], keys: MasterKeys(parsing: "\(new)\n\(old)"))
        #expect(self.store.control[app: "shop"]?.installationSecret?.keyID == "new")
        let after = try await self.start([shop], keys: MasterKeys(parsing: new))
        #expect(UserTokens(after).checked(renewal: renewal)?.user == user)
    }

    @Test func `are left alone where only the app has changed since`() async throws {
        try await self.start()
        _ = self.store.change(.setAppSettings("demo", AppSettings(), revision: nil))
        _ = self.store.change(.removeAPIKey("demo", name: "ops"))
        try await self.start()
        #expect(self.store.control[app: "demo"]?.settings == AppSettings())
        #expect(self.warnings == [])
    }

    @Test func `are told of at each start where the section has changed, member by member, and the store wins`()
        async throws
    {
        try await self.start()
        var changed = Self.section
        changed.settings.membersMax = 60
        changed.settings.push.clientSounds = ["a.caf"]
        changed.tokenSecret = Secret("a third secret of at least thirty-two bytes")
        changed.previousSecret = TestServer.secret
        changed.apiKeys[0].scopes = [.trace]
        changed.apiKeys.append(.init(id: "new", sha256: TestServer.hash("new"), scopes: [.trace]))
        let told = self.warning(
            "members_max, push.client_sounds, token_secret, token_secret_previous, api_key.new, api_key.ops")
        try await self.start([changed])
        #expect(self.warnings == [told])
        try await self.start([changed])
        #expect(self.warnings == [told, told])
        #expect(self.store.control[app: "demo"]?.settings.membersMax == 50)
        // As soon as the app is what the section says, there is nothing to tell.
        try await self.start()
        #expect(self.warnings.count == 2)
    }

    @Test func `are not told of once the app says what the changed section says`() async throws {
        try await self.start()
        var changed = Self.section
        changed.settings.membersMax = 60
        _ = self.store.change(.setAppSettings("demo", changed.settings, revision: nil))
        try await self.start([changed])
        #expect(self.warnings == [])
    }

    @Test func `are told of where a key was taken out of the section: it opens the app all the same`() async throws {
        try await self.start()
        var changed = Self.section
        changed.apiKeys = []
        try await self.start([changed])
        #expect(self.warnings == [self.warning("api_key.ops")])
    }

    @Test func `are known again under new master keys`() async throws {
        let old = MasterKeys.drawLine(id: "1")
        try await self.start(keys: try MasterKeys(parsing: old))
        _ = self.store.change(.setAppSettings("demo", AppSettings(), revision: nil))
        try await self.start(keys: try MasterKeys(parsing: MasterKeys.drawLine(id: "2") + old))
        #expect(self.warnings == [])
    }

    @Test func `are sealed again under new master keys, and need the old ones no more`() async throws {
        let (old, new) = (MasterKeys.drawLine(id: "1"), MasterKeys.drawLine(id: "2"))
        try await TestServer.withFolder { folder in
            let section = try Self.section(P256.Signing.PrivateKey(), in: folder)
            try await self.start([section], keys: try MasterKeys(parsing: old))
            let before = try #require(self.store.control[app: "demo"])
            try await self.start([section], keys: try MasterKeys(parsing: new + old))
            let after = try #require(self.store.control[app: "demo"])
            #expect(
                (after.secrets.map(\.sealed) + after.pushCredentials.map(\.sealed)).map(\.keyID) == ["2", "2", "2"])
            #expect(after.revision == before.revision && after.importedDigest != before.importedDigest)
            let registry = try await self.start([section], keys: try MasterKeys(parsing: new))
            #expect(self.store.control[app: "demo"] == after)
            #expect(self.warnings == [])
            let open = try #require(registry.app("demo"))
            #expect(open.secrets.map(\.text) == [TestServer.secret, Self.section.previousSecret])
            #expect(open.pushCredentials.count == 1)
        }
    }

    @Test func `bring a key for the topics of other builds, too`() async throws {
        try await TestServer.withFolder { folder in
            var section = try Self.section(P256.Signing.PrivateKey(), in: folder)
            section.settings.pushTopics = ["com.example.chat", "com.example.chat.beta"]
            try await self.start([section])
            let app = try #require(self.store.control[app: "demo"])
            #expect(app.pushCredentials.map(\.topics) == [["com.example.chat", "com.example.chat.beta"]])
        }
    }

    @Test func `are made beside those that the store has, but for a credential alone`() async throws {
        _ = self.store.change(
            .createApp(
                "shop", AppSettings(),
                TokenSecret(id: "s", sealed: try self.keys.seal("x", of: "shop", id: "s"), createdAt: 1)))
        var credential = ServerConfiguration.App(id: "mail", tokenSecret: Secret(""))
        credential.apns = ServerConfiguration.APNs()
        try await self.start([Self.section, credential])
        #expect(self.store.control.apps.map(\.id) == ["demo", "shop"])
        try await self.start([])
        #expect(self.store.control.apps.map(\.id) == ["demo", "shop"])
    }

    /// The section with a key of Apple's in a file of the folder.
    private static func section(_ key: P256.Signing.PrivateKey, in folder: String) throws -> ServerConfiguration.App {
        var app = Self.section
        var apns = ServerConfiguration.APNs()
        apns.environment = .sandbox
        (apns.teamID, apns.keyID, apns.topic) = ("DEF123GHIJ", "ABC123DEFG", "com.example.chat")
        apns.keyPath = "\(folder)/key.p8"
        try key.pemRepresentation.write(toFile: apns.keyPath, atomically: true, encoding: .utf8)
        app.apns = apns
        return app
    }

    @Test func `bring their key for pushes once, which needs its file no more`() async throws {
        try await TestServer.withFolder { folder in
            let key = P256.Signing.PrivateKey()
            let section = try Self.section(key, in: folder)
            let registry = try await self.start([section])
            let app = try #require(self.store.control[app: "demo"])
            let record = try #require(app.pushCredentials.first)
            #expect(record.state == .active)
            #expect(record.keyID == "ABC123DEFG" && record.teamID == "DEF123GHIJ")
            #expect(record.topics == ["com.example.chat"] && record.environments == [.sandbox])
            guard
                case .token(let token)? = registry.pushCredential(
                    PushClient("demo", credential: record.id, .sandbox))
            else {
                Issue.record("no key")
                return
            }
            #expect(token.keyID == "ABC123DEFG")
            #expect(!"\(record)".contains(key.pemRepresentation.split(separator: "\n")[1]))
            try FileManager.default.removeItem(atPath: "\(folder)/key.p8")
            try await self.start([section])
            #expect(self.store.control[app: "demo"]?.pushCredentials == [record])
            #expect(self.warnings == [])
            // Another key in its place is told, and not taken.
            try await self.start([try Self.section(P256.Signing.PrivateKey(), in: folder)])
            #expect(self.store.control[app: "demo"]?.pushCredentials == [record])
            #expect(self.warnings.count == 1)
            #expect(self.warnings.first?.contains("field=apns") == true)
        }
    }

    @Test func `bring a key to an app that has none`() async throws {
        try await TestServer.withFolder { folder in
            try await self.start()
            try await self.start([try Self.section(P256.Signing.PrivateKey(), in: folder)])
            #expect(self.store.control[app: "demo"]?.pushCredentials.map(\.state) == [.active])
            #expect(self.warnings == [])
        }
    }

    @Test func `keep the server from starting where the store's secrets do not open`() async throws {
        try await self.start()
        let faults = await #expect(throws: ConfigurationFaults.self) {
            try await self.start(keys: try MasterKeys(parsing: MasterKeys.drawLine(id: "1")))
        }
        #expect(
            faults?.faults.map { "\($0.field) \($0.rule)" } == [
                "store.master_key_path must hold the key \"process\", under which the token secret \"imported\" of \"demo\" is kept"
            ])
    }

    @Test func `keep it from starting where the store refuses a section`() async throws {
        var broken = Self.section
        broken.apiKeys[0].id = "a key"
        let faults = await #expect(throws: ConfigurationFaults.self) { try await self.start([broken]) }
        #expect(
            faults?.faults.map { "\($0.field) \($0.rule)" } == [
                "app.demo.api_keys must be 1 to 64 letters of ASCII, digits and - _ ."
            ])
        #expect(self.store.control.apps == [])
    }
}

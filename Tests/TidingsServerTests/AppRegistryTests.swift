import Foundation
import HTTPTypes
import NIOCore
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

/// A registry as the owner loop keeps it: each change goes through the rules of the store first.
struct RegistryBench {
    static let now: Int64 = 1_800_000_000_000
    static let hour: Int64 = 3_600_000

    let keys = MasterKeys.drawn()
    let registry: AppRegistry
    private(set) var control = ControlState()

    init() throws { self.registry = try AppRegistry(ControlState(), keys: self.keys) }

    var apiKeys: APIKeys { APIKeys(self.registry) }
    var tokens: UserTokens { UserTokens(self.registry) }

    mutating func change(_ change: ControlChange, at now: Int64 = Self.now) throws {
        try self.registry.apply(change, try self.control.apply(change, at: now))
    }

    func secret(_ text: String, id: String, of app: AppID = "shop") throws -> TokenSecret {
        TokenSecret(id: id, sealed: try self.keys.seal(text, of: app, id: id), createdAt: Self.now)
    }

    mutating func makeApp(
        _ app: AppID = "shop", secret: String = "first secret", settings: AppSettings = AppSettings()
    ) throws {
        try self.change(.createApp(app, settings, try self.secret(secret, id: "s1", of: app)))
    }

    mutating func addKey(_ name: String, _ key: String, _ scopes: [APIScope], to app: AppID = "shop") throws {
        let record = APIKeyRecord(
            name: name, hashes: KeyHashes(APIKeys.hash(of: key)), scopes: scopes.map(\.rawValue), createdAt: Self.now)
        try self.change(.addAPIKey(app, record))
    }

    /// Answers the key.
    mutating func addOperator(_ name: String, _ role: OperatorRole) throws -> String {
        let (key, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        try self.change(
            .addOperator(OperatorRecord(name: name, role: role, hashes: KeyHashes(hash), createdAt: Self.now)))
        return key
    }
}

@Suite struct `The registry of apps` {
    private static let alice = UserKey(app: "shop", user: "alice")

    private func isGood(_ token: String, _ tokens: UserTokens, at now: Int64 = RegistryBench.now) -> Bool {
        guard case .valid = tokens.verdict(on: token, device: nil, wallMilliseconds: now) else { return false }
        return true
    }

    private func token(_ tokens: UserTokens) throws -> String {
        try #require(tokens.token(for: Self.alice, expiresAtSeconds: RegistryBench.now / 1_000 + 86_400))
    }

    @Test func `knows an app from its making on`() throws {
        var bench = try RegistryBench()
        let tokens = bench.tokens
        #expect(tokens.token(for: Self.alice, expiresAtSeconds: 1) == nil)
        try bench.makeApp()
        #expect(self.isGood(try self.token(tokens), tokens))
        #expect(bench.registry.apps.map(\.id) == ["shop"])
    }

    @Test func `takes tokens of the secret before until its end, and makes them with the new one`() throws {
        var bench = try RegistryBench()
        let tokens = bench.tokens
        try bench.makeApp()
        let old = try self.token(tokens)
        guard
            case .valid(_, let ofExtension) = tokens.verdict(on: old, device: "phone", wallMilliseconds: bench.nowTime)
        else { Issue.record("the token was refused"); return }
        let end = RegistryBench.now + RegistryBench.hour
        try bench.change(.addSecret("shop", try bench.secret("second secret", id: "s2"), previousEndsAt: end))
        let new = try self.token(tokens)
        #expect(new != old)
        for (time, isOldGood) in [(end - 1, true), (end, false)] {
            #expect(self.isGood(old, tokens, at: time) == isOldGood)
            #expect((tokens.checked(extensionToken: ofExtension, wallMilliseconds: time) != nil) == isOldGood)
            #expect(self.isGood(new, tokens, at: time))
        }
        try bench.change(.removeSecret("shop", id: "s1"))
        #expect(!self.isGood(old, tokens))
    }

    @Test func `takes a replaced key until its end, and a removed one no more`() throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        try bench.addKey("ops", "old", [.messages])
        let keys = bench.apiKeys
        let end = RegistryBench.now + RegistryBench.hour
        try bench.change(.rotateAPIKey("shop", name: "ops", hash: APIKeys.hash(of: "new"), previousEndsAt: end))
        func access(_ key: String, at now: Int64) -> APIKeys.Access {
            keys.access(app: "shop", key: key, scope: .messages, at: now)
        }
        #expect(access("old", at: end - 1) == .granted(.key("ops")))
        #expect(access("old", at: end) == .unknownKey)
        #expect(access("new", at: end) == .granted(.key("ops")))
        try bench.change(.removeAPIKey("shop", name: "ops"))
        #expect(access("new", at: end - 1) == .unknownKey)
    }

    @Test func `refuses the keys and tokens of a suspended app until it is resumed`() throws {
        var bench = try RegistryBench()
        let tokens = bench.tokens
        try bench.makeApp()
        try bench.addKey("ops", "key", [.messages])
        let sender = try bench.addOperator("sam", .send)
        let token = try self.token(tokens)
        guard
            case .valid(_, let ofExtension) = tokens.verdict(
                on: token, device: "phone", wallMilliseconds: bench.nowTime)
        else { Issue.record("the token was refused"); return }
        try bench.change(.suspendApp("shop", true))
        let keys = bench.apiKeys
        #expect(keys.access(app: "shop", key: "key", scope: .messages) == .refused(.key("ops"), .suspended))
        // Whoever has no key is not told.
        #expect(keys.access(app: "shop", key: "other", scope: .messages) == .unknownKey)
        #expect(tokens.checked(extensionToken: ofExtension, wallMilliseconds: bench.nowTime) == nil)
        // Operators still look at it.
        #expect(keys.access(app: "shop", key: sender, scope: .trace) == .granted(.ofOperator("sam")))
        #expect(
            keys.access(app: "shop", key: sender, scope: .messages, method: .post)
                == .refused(.ofOperator("sam"), .suspended))
        try bench.change(.suspendApp("shop", false))
        #expect(keys.access(app: "shop", key: "key", scope: .messages) == .granted(.key("ops")))
        #expect(tokens.checked(extensionToken: ofExtension, wallMilliseconds: bench.nowTime) != nil)
    }

    @Test func `goes by the settings as they are now`() throws {
        var bench = try RegistryBench()
        let tokens = bench.tokens
        try bench.makeApp()
        let token = try self.token(tokens)
        var settings = AppSettings()
        settings.tokens.demandsAudience = true
        settings.needsMediaApproval = true
        settings.hasOwnProfiles = true
        settings.tokens.keySource = .address("https://keys.example.com/", trustRootsPath: nil)
        try bench.change(.setAppSettings("shop", settings, revision: nil))
        #expect(tokens.verdict(on: token, device: nil, wallMilliseconds: bench.nowTime) == .wrongAudience)
        #expect(self.isGood(try self.token(tokens), tokens))
        let limits = bench.registry.completed(MediaLimits())
        #expect(limits.appsWithApproval == ["shop"] && limits.appsWithOwnProfiles == ["shop"])
        #expect(bench.registry.keySources == ["shop": .address("https://keys.example.com/", trustRootsPath: nil)])
        #expect(tokens.keys.due(every: .hours(1)) == ["shop"])

        try bench.change(.setAppSettings("shop", AppSettings(), revision: nil))
        #expect(self.isGood(token, tokens))
        #expect(bench.registry.completed(MediaLimits()) == MediaLimits())
        #expect(tokens.keys.due(every: .hours(1)) == [])
    }

    @Test func `looks for the keys of a set at its new address before it refuses tokens`() throws {
        var bench = try RegistryBench()
        let tokens = bench.tokens
        var settings = AppSettings()
        settings.tokens.keySource = .address("https://one.example.com/", trustRootsPath: nil)
        try bench.makeApp(settings: settings)
        let header = Base64.encode(#"{"alg":"ES256","kid":"k"}"#.utf8, .url)
        let claims = Base64.encode(#"{"app":"shop","sub":"alice","exp":1900000000}"#.utf8, .url)
        let token = "\(header).\(claims).AAAA"
        #expect(tokens.verdict(on: token, device: nil, wallMilliseconds: bench.nowTime) == .keyPending)
        settings.tokens.keySource = nil
        try bench.change(.setAppSettings("shop", settings, revision: nil))
        #expect(tokens.verdict(on: token, device: nil, wallMilliseconds: bench.nowTime) == .invalid)
    }

    @Test func `does not start with a secret that it cannot open`() throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        let control = bench.control
        #expect(throws: MasterKeys.Fault.self) { try AppRegistry(control, keys: MasterKeys.drawn()) }
        // Moved from one app to another within the database.
        try bench.makeApp("mail", secret: "secret of mail")
        var moved = bench.control
        moved.apps[1].secrets = moved.apps[0].secrets
        #expect(throws: MasterKeys.Fault.self) { try AppRegistry(moved, keys: bench.keys) }
    }

    @Test func `knows when keys were used, to the minute, and tells it once`() async throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        try bench.addKey("ops", "key", [.messages])
        let key = try bench.addOperator("olga", .view)
        let minute = RegistryBench.now - RegistryBench.now % 60_000
        let (ops, olga) = (KeyUse.Key.api("shop", name: "ops"), KeyUse.Key.ofOperator(name: "olga"))
        #expect(bench.registry.lastUse(of: ops, stored: nil) == nil)
        for later in [1, 2, 59_999] as [Int64] {
            // Also where it is refused: somebody has it.
            _ = bench.apiKeys.access(app: "shop", key: "key", scope: .trace, at: minute + later)
        }
        _ = bench.apiKeys.operatorRecord(key: key, at: minute + 60_000)
        _ = bench.apiKeys.access(app: "shop", key: "wrong", scope: .trace, at: minute + 120_000)
        let uses = bench.registry.untoldUses
        #expect(uses == [KeyUse(ops, at: minute), KeyUse(olga, at: minute + 60_000)])
        await bench.registry.tellUses { _ in .keyInUse }
        #expect(bench.registry.untoldUses == uses)
        await bench.registry.tellUses { _ in .control(.noted) }
        #expect(bench.registry.untoldUses == [])
        #expect(bench.registry.lastUse(of: ops, stored: nil) == minute)
        #expect(bench.registry.lastUse(of: ops, stored: minute + 60_000) == minute + 60_000)
        // A new key under the name of a removed one was never used.
        try bench.change(.removeAPIKey("shop", name: "ops"))
        #expect(bench.registry.lastUse(of: ops, stored: nil) == nil)
    }
}

@Suite struct `An operator's key` {
    private static func needed(_ scope: APIScope, _ method: HTTPRequest.Method) -> OperatorRole {
        scope.role(for: method)
    }

    @Test func `opens by its role what API keys open by their scopes`() {
        let table: [(APIScope, HTTPRequest.Method, OperatorRole)] = [
            (.trace, .get, .view), (.settings, .get, .view), (.conversations, .get, .view), (.accounts, .get, .view),
            (.history, .get, .content), (.media, .get, .content), (.media, .head, .content),
            (.messages, .post, .send), (.messages, .patch, .administer), (.messages, .delete, .administer),
            (.conversations, .post, .administer), (.conversations, .put, .administer), (.settings, .put, .administer),
            (.accounts, .delete, .administer), (.media, .post, .administer), (.media, .put, .administer),
            (.tokens, .post, .administer),
        ]
        for (scope, method, role) in table { #expect(Self.needed(scope, method) == role, "\(scope) \(method)") }
    }

    @Test func `opens every app that there is, and each role what those before it open`() throws {
        var bench = try RegistryBench()
        try bench.makeApp()
        for (place, role) in OperatorRole.allCases.enumerated() {
            let key = try bench.addOperator("\(role)", role)
            #expect(key.wholeMatch(of: /to_[A-Za-z0-9_-]{43}/) != nil)
            let keys = bench.apiKeys
            let opened: [(APIScope, HTTPRequest.Method)] = [
                (.trace, .get), (.history, .get), (.messages, .post), (.tokens, .post),
            ]
            for (index, (scope, method)) in opened.enumerated() {
                let access = keys.access(app: "shop", key: key, scope: scope, method: method)
                let needed = OperatorRole.allCases[index]
                #expect(
                    access
                        == (index <= place
                            ? .granted(.ofOperator("\(role)")) : .refused(.ofOperator("\(role)"), .missingRole(needed)))
                )
            }
            #expect(keys.access(app: "elsewhere", key: key, scope: .trace) == .unknownApp)
        }
    }

    @Test func `is replaced with or without a time in which both are good`() throws {
        var bench = try RegistryBench()
        let key = try bench.addOperator("olga", .administer)
        let (new, hash) = APIKeys.draw(APIKeys.operatorPrefix)
        try bench.change(.rotateOperator(name: "olga", hash: hash, previousEndsAt: RegistryBench.now + 5))
        let keys = bench.apiKeys
        #expect(keys.operatorRecord(key: key, at: RegistryBench.now + 4)?.name == "olga")
        #expect(keys.operatorRecord(key: key, at: RegistryBench.now + 5) == nil)
        #expect(keys.operatorRecord(key: new, at: RegistryBench.now + 5)?.name == "olga")
        // Only what the server has drawn is held against operators.
        #expect(keys.operatorRecord(key: String(new.dropFirst(3))) == nil)
    }
}

extension RegistryBench {
    var nowTime: Int64 { Self.now }
}

import StoreMachine
import Testing
import TidingsModel

@testable import StoreModel

private let minute: Int64 = 60_000

private func secret(_ id: String, at: Int64 = 1, endsAt: Int64? = nil) -> TokenSecret {
    TokenSecret(id: id, sealed: SealedBytes(keyID: "m1", bytes: [1, 2, 3]), createdAt: at, endsAt: endsAt)
}

private func hash(_ byte: UInt8) -> [UInt8] { Array(repeating: byte, count: 32) }

private func key(_ name: String, _ byte: UInt8 = 1, scopes: [String] = ["messages"]) -> APIKeyRecord {
    APIKeyRecord(name: name, hashes: KeyHashes(hash(byte)), scopes: scopes, createdAt: 2)
}

private func person(_ name: String, _ role: OperatorRole = .administer, _ byte: UInt8 = 7) -> OperatorRecord {
    OperatorRecord(name: name, role: role, hashes: KeyHashes(hash(byte)), createdAt: 3)
}

private func settings(_ change: (inout AppSettings) -> Void) -> AppSettings {
    var settings = AppSettings()
    change(&settings)
    return settings
}

extension Opened {
    fileprivate mutating func control(_ change: ControlChange, at: Int64 = 10) throws -> StoreResult {
        try self.apply(.changeControl(change, at: at))
    }

    fileprivate var control: ControlState { self.store.dump().control }

    /// With the shop, made at 10.
    fileprivate static func withShop() throws -> Opened {
        var opened = Opened()
        _ = try opened.control(.createApp("shop", AppSettings(), secret("s1")))
        return opened
    }

    /// What answers a change of the shop; nil for a refusal.
    fileprivate mutating func shop(_ change: ControlChange, at: Int64 = 10) throws -> ManagedApp? {
        guard case .control(.app(let app)) = try self.control(change, at: at) else { return nil }
        return app
    }
}

@Suite struct `An app of the store` {
    @Test func `is made with its secret and settings, and told as it is`() throws {
        var opened = Opened()
        let wanted = settings { ($0.name, $0.membersMax) = ("The shop", 7) }
        let made = try opened.control(.createApp("shop", wanted, secret("s1")), at: 10)
        var app = ManagedApp(id: "shop", settings: wanted, secrets: [secret("s1")], createdAt: 10)
        #expect(made == .control(.app(app)))
        #expect(app.revision == 1)
        _ = try opened.control(.createApp("club", AppSettings(), secret("s1")))
        var state = ControlState()
        state.apps = [ManagedApp(id: "club", secrets: [secret("s1")], createdAt: 10), app]
        #expect(try opened.apply(.readControl) == .controlState(state))
        app.isSuspended = true
        app.revision = 2
        #expect(try opened.control(.suspendApp("shop", true)) == .control(.app(app)))
        // It is suspended already.
        #expect(try opened.control(.suspendApp("shop", true)) == .control(.app(app)))
        #expect(opened.store.open().control[app: "shop"] == app)
    }

    @Test func `is refused with what breaks a rule, and then nothing changes`() throws {
        var opened = try Opened.withShop()
        let before = opened.store.dump()
        func create(_ id: AppID, _ settings: AppSettings = AppSettings(), _ secret: TokenSecret = secret("s1"))
            -> ControlChange
        {
            .createApp(id, settings, secret)
        }
        var open = secret("s1")
        open.sealed.bytes = []
        let changes: [(ControlChange, String)] = [
            (create("shop"), "exists id"), (create("a b"), "invalid_field id"), (create(""), "invalid_field id"),
            (create("new", AppSettings(), secret("a b")), "invalid_field secret"),
            (create("new", AppSettings(), open), "invalid_field secret.sealed"),
            (create("new", settings { $0.membersMax = 0 }), "invalid_field members_max"),
            (create("new", settings { $0.tokens.keySource = .file(path: "/k") }), "invalid_field tokens.jwks"),
            (.suspendApp("new", true), "invalid_field app"),
            (.setAppSettings("new", AppSettings(), revision: nil), "invalid_field app"),
            (.setAppSettings("shop", settings { $0.name = "\u{7}" }, revision: nil), "invalid_field name"),
            (.setAppSettings("shop", AppSettings(), revision: 2), "not_allowed revision"),
            (.addSecret("new", secret("s2"), previousEndsAt: 20), "invalid_field app"),
            (.addSecret("shop", secret("s1"), previousEndsAt: 20), "exists secret"),
            (.removeSecret("shop", id: "s2"), "invalid_field secret"),
            (.removeSecret("shop", id: "s1"), "not_allowed secret"),
            (.addAPIKey("shop", key("a b")), "invalid_field name"),
            (.addAPIKey("shop", key("a", scopes: [])), "invalid_field scopes"),
            (.addAPIKey("shop", key("a", scopes: ["All of it"])), "invalid_field scopes"),
            (.rotateAPIKey("shop", name: "a", hash: hash(1), previousEndsAt: 20), "invalid_field name"),
            (.removeAPIKey("shop", name: "a"), "invalid_field name"),
            (.importApp(ManagedApp(id: "new", createdAt: 1)), "invalid_field secrets"),
        ]
        for (change, answer) in changes { #expect(refused(try opened.control(change)) == answer, "\(change)") }
        #expect(opened.store.dump() == before)
    }

    @Test func `has its settings replaced as a whole, where they are those that were read`() throws {
        var opened = try Opened.withShop()
        let first = settings { $0.name = "First" }
        #expect(try opened.shop(.setAppSettings("shop", first, revision: 1))?.revision == 2)
        #expect(
            refused(try opened.control(.setAppSettings("shop", AppSettings(), revision: 1))) == "not_allowed revision")
        let app = try opened.shop(.setAppSettings("shop", settings { $0.membersMax = 5 }, revision: 2))
        #expect(app?.settings == settings { $0.membersMax = 5 })
        #expect(app?.revision == 3)
        // The same once more is no change.
        #expect(try opened.shop(.setAppSettings("shop", settings { $0.membersMax = 5 }, revision: nil))?.revision == 3)
    }

    @Test func `keeps of settings what their JSON form says`() throws {
        var opened = try Opened.withShop()
        let untidy = settings {
            $0.pushTopics = ["b", "a", "b"]
            $0.push.options = PushOptions()
        }
        let app = try opened.shop(.setAppSettings("shop", untidy, revision: nil))
        #expect(app?.settings == settings { $0.pushTopics = ["a", "b"] })
    }

    @Test func `reads files of the server as the configuration file has named them, and no others`() throws {
        var opened = Opened()
        let source = AppSettings.KeySource.address("https://a/k", trustRootsPath: "/roots.pem")
        let imported = ManagedApp(
            id: "shop", settings: settings { $0.tokens.keySource = source }, secrets: [secret("s1")], createdAt: 4)
        #expect(try opened.shop(.importApp(imported))?.settings.tokens.keySource == source)
        let other = settings { $0.tokens.keySource = .address("https://b/k", trustRootsPath: "/roots.pem") }
        #expect(
            refused(try opened.control(.setAppSettings("shop", other, revision: nil))) == "invalid_field tokens.jwks")
        var kept = imported.settings
        kept.name = "Shop"
        #expect(try opened.shop(.setAppSettings("shop", kept, revision: nil))?.settings == kept)
        let open = settings { $0.tokens.keySource = .address("https://b/k", trustRootsPath: nil) }
        #expect(try opened.shop(.setAppSettings("shop", open, revision: nil))?.settings == open)
        // What it no longer names it may not name again.
        #expect(
            refused(try opened.control(.setAppSettings("shop", kept, revision: nil))) == "invalid_field tokens.jwks")
    }

    @Test func `is imported once`() throws {
        var opened = Opened()
        var section = ManagedApp(
            id: "shop", settings: settings { $0.name = "Shop" },
            secrets: [secret("s2", at: 5), secret("s1", at: 4)], createdAt: 6)
        section.apiKeys = [key("web", 2), key("backend", 1)]
        section.importedDigest = hash(9)
        section.revision = 44
        var app = section
        app.revision = 1
        app.apiKeys.reverse()
        #expect(try opened.shop(.importApp(section)) == app)
        section.settings.name = "Other"
        #expect(try opened.shop(.importApp(section)) == app)
        _ = try opened.control(.suspendApp("shop", true))
        #expect(try opened.shop(.importApp(section))?.isSuspended == true)
        // What is not allowed in an app is not in a section either.
        section.id = "new"
        section.secrets.append(secret("s2"))
        #expect(refused(try opened.control(.importApp(section))) == "exists secret")
        #expect(opened.control.apps.map(\.id) == ["shop"])
    }

    @Test func `is one of at most a thousand`() throws {
        var opened = Opened()
        for number in 1...ControlState.appsMax {
            _ = try opened.control(.createApp(AppID("a\(number)"), AppSettings(), secret("s1")))
        }
        #expect(opened.control.apps.count == 1_000)
        #expect(refused(try opened.control(.createApp("shop", AppSettings(), secret("s1")))) == "invalid_field id")
    }
}

@Suite struct `A token secret` {
    @Test func `is followed by a new one that signs, and is good until its time is over`() throws {
        var opened = try Opened.withShop()
        let app = try opened.shop(.addSecret("shop", secret("s2", at: 20), previousEndsAt: 50), at: 20)
        #expect(app?.secrets == [secret("s2", at: 20), secret("s1", endsAt: 50)])
        #expect(app?.revision == 2)
        // The end that was said first stays where it is the earlier one.
        let third = try opened.shop(.addSecret("shop", secret("s3", at: 30), previousEndsAt: 90), at: 30)
        #expect(
            third?.secrets == [secret("s3", at: 30), secret("s2", at: 20, endsAt: 90), secret("s1", endsAt: 50)])
        // Whatever is changed then, it goes.
        #expect(try opened.shop(.suspendApp("shop", true), at: 49)?.secrets.count == 3)
        #expect(try opened.shop(.suspendApp("shop", false), at: 50)?.secrets.map(\.id) == ["s3", "s2"])
        // Without an overlap the ones before go at once.
        let last = try opened.shop(.addSecret("shop", secret("s4", at: 60), previousEndsAt: 60), at: 60)
        #expect(last?.secrets == [secret("s4", at: 60)])
    }

    @Test func `is taken back before its time, but for the one that signs`() throws {
        var opened = try Opened.withShop()
        _ = try opened.shop(.addSecret("shop", secret("s2"), previousEndsAt: 50))
        #expect(refused(try opened.control(.removeSecret("shop", id: "s2"))) == "not_allowed secret")
        #expect(try opened.shop(.removeSecret("shop", id: "s1"))?.secrets == [secret("s2")])
        #expect(refused(try opened.control(.removeSecret("shop", id: "s1"))) == "invalid_field secret")
    }

    @Test func `is one of at most four, those that have ended not counted`() throws {
        var opened = try Opened.withShop()
        for number in 2...4 { _ = try opened.shop(.addSecret("shop", secret("s\(number)"), previousEndsAt: 50)) }
        let more = ControlChange.addSecret("shop", secret("s5"), previousEndsAt: 90)
        #expect(refused(try opened.control(more, at: 49)) == "invalid_field secrets")
        #expect(try opened.shop(more, at: 50)?.secrets.map(\.id) == ["s5", "s4"])
        // Of a section of the configuration, too.
        let many = (1...5).map { secret("s\($0)") }
        let section = ManagedApp(id: "club", secrets: many, createdAt: 1)
        #expect(refused(try opened.control(.importApp(section))) == "invalid_field secrets")
    }
}

@Suite struct `A key of an app's backend` {
    @Test func `is added, replaced and removed by name`() throws {
        var opened = try Opened.withShop()
        _ = try opened.shop(.addAPIKey("shop", key("web", 1, scopes: ["trace", "messages", "trace"])))
        let two = try opened.shop(.addAPIKey("shop", key("backend", 2)))
        #expect(two?.apiKeys == [key("backend", 2), key("web", 1, scopes: ["messages", "trace"])])
        #expect(two?.revision == 3)
        #expect(refused(try opened.control(.addAPIKey("shop", key("web", 3)))) == "exists name")
        let replaced = try opened.shop(
            .rotateAPIKey("shop", name: "backend", hash: hash(4), previousEndsAt: 50), at: 20)
        #expect(
            replaced?.apiKeys[0].hashes
                == KeyHashes(hash(4), previous: KeyHashes.Previous(hash: hash(2), endsAt: 50)))
        #expect(
            refused(
                try opened.control(.rotateAPIKey("shop", name: "backend", hash: hash(4), previousEndsAt: 50)))
                == "invalid_field hash")
        #expect(
            refused(try opened.control(.rotateAPIKey("shop", name: "backend", hash: [1], previousEndsAt: 50)))
                == "invalid_field hash")
        #expect(try opened.shop(.removeAPIKey("shop", name: "web"), at: 49)?.apiKeys[0].hashes.previous != nil)
        // The one before goes with the next change after its time.
        #expect(try opened.shop(.suspendApp("shop", true), at: 50)?.apiKeys[0].hashes == KeyHashes(hash(4)))
        #expect(try opened.shop(.removeAPIKey("shop", name: "backend"))?.apiKeys == [])
    }

    @Test func `is not kept once it is replaced without an overlap`() throws {
        var opened = try Opened.withShop()
        _ = try opened.shop(.addAPIKey("shop", key("web")))
        let app = try opened.shop(.rotateAPIKey("shop", name: "web", hash: hash(2), previousEndsAt: 10))
        #expect(app?.apiKeys[0].hashes == KeyHashes(hash(2)))
    }

    @Test func `is one of at most a hundred`() throws {
        var opened = try Opened.withShop()
        for number in 1...ManagedApp.apiKeysMax { _ = try opened.shop(.addAPIKey("shop", key("k\(number)"))) }
        #expect(refused(try opened.control(.addAPIKey("shop", key("one")))) == "invalid_field api_keys")
        #expect(opened.control[app: "shop"]?.apiKeys.count == 100)
    }

    @Test func `was used last when it is noted, to the minute`() throws {
        var opened = try Opened.withShop()
        var used = key("web")
        used.lastUsedAt = 99
        #expect(try opened.shop(.addAPIKey("shop", used))?.apiKeys == [key("web")])
        _ = try opened.control(.addOperator(person("ann")))
        let uses = [
            KeyUse(.api("shop", name: "web"), at: 5 * minute + 1), KeyUse(.api("shop", name: "gone"), at: minute),
            KeyUse(.api("new", name: "web"), at: minute), KeyUse(.ofOperator(name: "ann"), at: 3 * minute - 1),
            KeyUse(.ofOperator(name: "bob"), at: minute),
        ]
        #expect(try opened.control(.noteUses(uses)) == .control(.noted))
        #expect(opened.control[app: "shop"]?.apiKeys[0].lastUsedAt == 5 * minute)
        #expect(opened.control[operatorNamed: "ann"]?.lastUsedAt == 2 * minute)
        // Told late, it changes nothing; and it is no change of the app.
        _ = try opened.control(.noteUses([KeyUse(.api("shop", name: "web"), at: minute)]))
        #expect(opened.control[app: "shop"]?.apiKeys[0].lastUsedAt == 5 * minute)
        #expect(opened.control[app: "shop"]?.revision == 2)
        let replaced = try opened.shop(.rotateAPIKey("shop", name: "web", hash: hash(2), previousEndsAt: 50))
        #expect(replaced?.apiKeys[0].lastUsedAt == 5 * minute)
        // Another key of that name has not been used.
        _ = try opened.control(.removeAPIKey("shop", name: "web"))
        #expect(try opened.shop(.addAPIKey("shop", key("web")))?.apiKeys == [key("web")])
    }
}

@Suite struct `An operator` {
    @Test func `is added, given another role and key, and removed`() throws {
        var opened = Opened()
        #expect(try opened.control(.addOperator(person("ann"))) == .control(.ofOperator(person("ann"))))
        _ = try opened.control(.addOperator(person("amy@example.com", .view, 8)))
        #expect(opened.control.operators == [person("amy@example.com", .view, 8), person("ann")])
        #expect(
            try opened.control(.setOperatorRole(name: "amy@example.com", .send))
                == .control(.ofOperator(person("amy@example.com", .send, 8))))
        var replaced = person("ann", .administer, 9)
        replaced.hashes.previous = KeyHashes.Previous(hash: hash(7), endsAt: 50)
        #expect(
            try opened.control(.rotateOperator(name: "ann", hash: hash(9), previousEndsAt: 50))
                == .control(.ofOperator(replaced)))
        #expect(
            try opened.control(.setOperatorRole(name: "ann", .administer), at: 60) == .control(.ofOperator(replaced)))
        #expect(
            try opened.control(.rotateOperator(name: "ann", hash: hash(1), previousEndsAt: 60), at: 60)
                == .control(.ofOperator(person("ann", .administer, 1))))
        #expect(try opened.control(.removeOperator(name: "amy@example.com")) == .control(.ofOperator(nil)))
        #expect(opened.control.operators.map(\.name) == ["ann"])
    }

    @Test func `is refused with what breaks a rule, and then nothing changes`() throws {
        var opened = Opened()
        _ = try opened.control(.addOperator(person("ann")))
        let before = opened.store.dump()
        let changes: [(ControlChange, String)] = [
            (.addOperator(person("ann", .view)), "exists name"), (.addOperator(person("a b")), "invalid_field name"),
            (.addOperator(person("")), "invalid_field name"),
            (
                .addOperator(OperatorRecord(name: "bob", role: .view, hashes: KeyHashes([1]), createdAt: 1)),
                "invalid_field hash"
            ),
            (.setOperatorRole(name: "bob", .view), "invalid_field name"),
            (.rotateOperator(name: "bob", hash: hash(1), previousEndsAt: 9), "invalid_field name"),
            (.rotateOperator(name: "ann", hash: hash(7), previousEndsAt: 9), "invalid_field hash"),
            (.removeOperator(name: "bob"), "invalid_field name"),
        ]
        for (change, answer) in changes { #expect(refused(try opened.control(change)) == answer, "\(change)") }
        #expect(opened.store.dump() == before)
    }

    @Test func `who alone may administer stays, and goes on to`() throws {
        var opened = Opened()
        // Before there is one, nobody has to be.
        _ = try opened.control(.addOperator(person("vic", .view)))
        _ = try opened.control(.removeOperator(name: "vic"))
        _ = try opened.control(.addOperator(person("ann")))
        _ = try opened.control(.addOperator(person("bob", .send)))
        #expect(refused(try opened.control(.removeOperator(name: "ann"))) == "not_allowed name")
        #expect(refused(try opened.control(.setOperatorRole(name: "ann", .send))) == "not_allowed role")
        _ = try opened.control(.setOperatorRole(name: "bob", .administer))
        #expect(try opened.control(.setOperatorRole(name: "ann", .view)) == .control(.ofOperator(person("ann", .view))))
        #expect(refused(try opened.control(.removeOperator(name: "bob"))) == "not_allowed name")
    }

    @Test func `is not called as those without a name, nor but on the server's machine as the one of its links`() throws
    {
        var opened = Opened()
        _ = try opened.control(.addOperator(person("root")))
        func mayAdd(_ name: String, _ kind: ControlAuthor.Kind) throws -> Bool {
            let answer = try opened.control(.by(ControlAuthor(kind, name: "root"), .addOperator(person(name))))
            if case .control = answer { return true }
            #expect(refused(answer) == "invalid_field name")
            return false
        }
        for name in ["command_line", "configuration"] {
            for kind in ControlAuthor.Kind.allCases { #expect(try !mayAdd(name, kind), "\(name) \(kind)") }
        }
        #expect(try !mayAdd("local", .ofOperator))
        #expect(try mayAdd("local", .commandLine))
        for name in ["operator", "Local", "localhost"] { #expect(try mayAdd(name, .ofOperator), "\(name)") }
    }

    @Test func `may do what the role says, and what the ones before it do`() {
        #expect(OperatorRole.allCases.sorted() == [.view, .content, .send, .administer])
    }

    @Test func `is one of at most a thousand`() throws {
        var opened = Opened()
        for number in 1...ControlState.operatorsMax { _ = try opened.control(.addOperator(person("o\(number)"))) }
        #expect(refused(try opened.control(.addOperator(person("ann")))) == "invalid_field name")
    }
}

@Suite struct `A change of apps under an idempotency key` {
    @Test func `is made once`() throws {
        var opened = Opened()
        func once(_ change: ControlChange, _ text: String) -> StoreCommand {
            let key = IdempotencyKey(app: "shop", apiKey: "ann", text: text)
            return .once(
                IdempotentRequest(key: key, fingerprint: [1], keptMax: 9, at: 5), .changeControl(change, at: 5))
        }
        let create = once(.createApp("shop", AppSettings(), secret("s1")), "k1")
        guard case .control(.app) = try opened.apply(create) else { return #expect(Bool(false), "it is made") }
        guard case .kept(let kept?) = try opened.apply(create) else { return #expect(Bool(false), "it is kept") }
        #expect(kept.answer == .done)
        // A refusal is judged anew.
        let suspend = once(.suspendApp("club", true), "k2")
        #expect(refused(try opened.apply(suspend)) == "invalid_field app")
        _ = try opened.apply(.changeControl(.createApp("club", AppSettings(), secret("s1")), at: 5))
        guard case .control(.app(let app)) = try opened.apply(suspend) else {
            return #expect(Bool(false), "it is done")
        }
        #expect(app.isSuspended)
    }
}

import Testing
import TidingsModel

@testable import StoreModel

private func read(_ json: JSONValue) throws(InvalidField) -> AppSettings { try AppSettings(json: JSONFields(json)) }

private func read(_ text: String, isLenient: Bool = false) throws(InvalidField) -> AppSettings {
    try AppSettings(json: JSONFields(parsing: text.utf8, isLenient: isLenient))
}

/// Every member, none with its default.
private let full = #"""
    {"name":"The shop","members_max":50,"devices_max":3,"limits":{"person":{"messages":"1/600","connects":"none"},"app":{"bytes":"1000/2000"}},"own_profiles":true,"offered_accounts":["help","news"],"tags":["gold","new"],"push":{"topics":["com.example.app","com.example.beta"],"text":"id_only","only_sender":true,"options":{"sound":"bell.caf","interruption_level":"time-sensitive","relevance_score":0.5},"entitlements":["critical","time_sensitive"],"client_options":["text","title"],"client_sounds":["b.caf","a.caf"],"client_categories":["chat"],"image_hosts":["*.example.com"]},"media":{"approval":"required"},"words":{"language":"de","languages":{"de":{"other":"Neue Nachricht","neutral":"Sie haben Post","hidden":"Sie haben Post","recalled":"Widerrufen","several":"{count} Nachrichten","kinds":{"RC:ImgMsg":"[Bild]"}}}},"tokens":{"audiences":["tidings"],"audience_required":true,"jwks":"https://id.example.com/keys","jwks_trust_roots_path":"/etc/roots.pem"}}
    """#

@Suite struct `Settings of an app` {
    @Test func `have one form as JSON, which they are read from again`() throws {
        let settings = try read(full)
        #expect(settings.json.text == full)
        #expect(settings.faults(in: "shop") == [])
        #expect(settings.membersMax == 50)
        #expect(settings.devicesMax == 3)
        #expect(settings.limits[.person, .messages] == .limit(RateLimit(perSecond: 1, burst: 600)))
        #expect(settings.limits[.person, .connects] == .unlimited)
        #expect(settings.limits[.app, .messages] == nil)
        #expect(settings.push.entitlements == [.critical, .timeSensitive])
        #expect(settings.push.options?.relevance == 500)
        #expect(settings.words.words(for: "de").words.kinds["RC:ImgMsg"] == "[Bild]")
        #expect(settings.tokens.keySource == .address("https://id.example.com/keys", trustRootsPath: "/etc/roots.pem"))
    }

    @Test func `have their defaults where nothing is said`() throws {
        #expect(try read("{}") == AppSettings())
        let nulls =
            #"{"name":null,"members_max":null,"devices_max":null,"limits":{"person":null,"app":{"bytes":null}},"push":{"topics":null,"text":null},"media":null,"tokens":{"jwks":null}}"#
        #expect(try read(nulls) == AppSettings())
        let json = #"""
            {"name":"","own_profiles":false,"offered_accounts":[],"tags":[],"push":{"topics":[],"text":"extension","only_sender":false,"entitlements":[],"client_options":[],"client_sounds":[],"client_categories":[],"image_hosts":[]},"media":{"approval":"none"},"words":{"language":"en","languages":{}},"tokens":{"audiences":[],"audience_required":false}}
            """#
        #expect(AppSettings().json.text == json)
        #expect(try read(json) == AppSettings())
        #expect(AppSettings().faults(in: "shop") == [])
    }

    @Test func `fill the words of a language from the built-in ones`() throws {
        let words = #"{"words":{"language":"ZH","languages":{"ZH":{"other":"新"}}}}"#
        let settings = try read(words)
        var expected = NotificationWords.simplifiedChinese
        expected.other = "新"
        #expect(settings.words == AppWords(language: "zh", complete: ["zh": expected]))
        #expect(try read(settings.json) == settings)
    }

    @Test func `put in order what has none`() throws {
        let settings = try read(
            #"{"offered_accounts":["b","a","b"],"tags":["new","gold"],"push":{"topics":["z","y","z"]}}"#)
        #expect(settings.offeredAccounts == ["a", "b"])
        #expect(settings.tags == ["gold", "new"])
        #expect(settings.pushTopics == ["y", "z"])
    }

    private static let unknown: [(json: String, field: String)] = [
        (#"{"nmae":"x"}"#, "nmae"), (#"{"push":{"topic":"x"}}"#, "push.topic"),
        (#"{"push":{"options":{"tone":"x"}}}"#, "push.options.tone"), (#"{"media":{"x":1}}"#, "media.x"),
        (#"{"words":{"x":1}}"#, "words.x"),
        (#"{"words":{"languages":{"de":{"x":"y"}}}}"#, "words.languages.de.x"),
        (#"{"tokens":{"x":1}}"#, "tokens.x"), (#"{"limits":{"address":{}}}"#, "limits.address"),
        (#"{"limits":{"app":{"refusals":"1/2"}}}"#, "limits.app.refusals"),
    ]

    @Test(arguments: Self.unknown)
    func `with a member that there is not are refused, but for those in a store`(json: String, field: String) throws {
        #expect(Self.field(json) == field)
        #expect(throws: Never.self) { try read(json, isLenient: true) }
    }

    /// At fault; nil if the settings are taken.
    private static func field(_ json: String) -> String? {
        do throws(InvalidField) { _ = try read(json) } catch { return error.field }
        return nil
    }

    private static let malformed: [(json: String, field: String)] = [
        (#"{"name":1}"#, "name"),
        (#"{"members_max":"many"}"#, "members_max"), (#"{"limits":{"app":{"bytes":5}}}"#, "limits.app.bytes"),
        (#"{"limits":{"person":{"bytes":"5"}}}"#, "limits.person.bytes"),
        (#"{"limits":{"person":{"bytes":"0/5"}}}"#, "limits.person.bytes"),
        (#"{"push":{"text":"loud"}}"#, "push.text"), (#"{"push":{"entitlements":["x"]}}"#, "push.entitlements"),
        (#"{"push":{"client_options":["x"]}}"#, "push.client_options"), (#"{"push":[]}"#, "push"),
        (#"{"media":{"approval":"maybe"}}"#, "media.approval"),
        (#"{"words":{"languages":{"de":{},"DE":{}}}}"#, "words.languages.DE"),
        (#"{"words":{"languages":{"de":{"kinds":{"x":1}}}}}"#, "words.languages.de.kinds.x"),
        (#"{"tokens":{"jwks_trust_roots_path":"/r"}}"#, "tokens.jwks_trust_roots_path"),
        (#"{"tokens":{"jwks":"/k","jwks_trust_roots_path":"/r"}}"#, "tokens.jwks_trust_roots_path"),
    ]

    @Test(arguments: Self.malformed)
    func `of another form are refused by the path of the member`(json: String, field: String) {
        #expect(Self.field(json) == field)
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private static let topics = (0...16).map { "\"t\($0)\"" }.joined(separator: ",")

    private static let tags = (0...1_000).map { "\"t\($0)\"" }.joined(separator: ",")

    private static let forbidden: [(json: String, fields: String)] = [
        (#"{"name":"\#(text(129))"}"#, "name"), (#"{"name":"a\nb"}"#, "name"), (#"{"members_max":0}"#, "members_max"),
        (#"{"devices_max":0}"#, "devices_max"), (#"{"devices_max":101}"#, "devices_max"),
        (#"{"members_max":3001}"#, "members_max"), (#"{"push":{"topics":["a b"]}}"#, "push.topics"),
        (#"{"push":{"topics":[\#(topics)]}}"#, "push.topics"), (#"{"offered_accounts":["a b"]}"#, "offered_accounts"),
        (#"{"tags":["a b"]}"#, "tags"), (#"{"tags":[""]}"#, "tags"), (#"{"tags":[\#(tags)]}"#, "tags"),
        // With the app's id and a slash it is longer than an id may be.
        (#"{"offered_accounts":["\#(text(60))"]}"#, "offered_accounts"),
        (#"{"push":{"options":{"interruption_level":"critical"}}}"#, "push.options.interruption_level"),
        (#"{"push":{"options":{"image":"https://a/b"}}}"#, "push.options.image"),
        (#"{"words":{"language":"de"}}"#, "words.language"),
        (#"{"words":{"languages":{"zh":{"several":"many"}}}}"#, "words.languages.zh.several"),
        (#"{"words":{"languages":{"zh":{"other":"\#(text(257))"}}}}"#, "words.languages.zh.other"),
        (#"{"words":{"languages":{"zh":{"kinds":{"a b":"x"}}}}}"#, "words.languages.zh.kinds"),
        // A tag of a built-in language that is none as a whole.
        (#"{"words":{"languages":{"zh-a b":{}}}}"#, "words.languages"),
        (#"{"tokens":{"audiences":[""]}}"#, "tokens.audiences"), (#"{"tokens":{"jwks":""}}"#, "tokens.jwks"),
        (#"{"tokens":{"jwks":"ftp://a/k"}}"#, "tokens.jwks"), (#"{"tokens":{"jwks":"https://"}}"#, "tokens.jwks"),
        // Without built-in words all are needed.
        (
            #"{"words":{"languages":{"de":{"other":"Neu","several":"{count}"}}}}"#,
            "words.languages.de.neutral words.languages.de.hidden words.languages.de.recalled"
        ),
        (#"{"members_max":0,"tokens":{"jwks":""}}"#, "members_max tokens.jwks"),
    ]

    @Test(arguments: Self.forbidden)
    func `that break rules name each of them`(json: String, fields: String) throws {
        let settings = try read(json)
        let faults = settings.faults(in: "shop")
        #expect(faults.map(\.field).joined(separator: " ") == fields, "\(faults)")
        #expect(throws: try #require(faults.first)) { try settings.validate(in: "shop") }
    }

    @Test func `are at most 256 KiB`() throws {
        var settings = AppSettings()
        settings.push.clientSounds = [String(repeating: "x", count: AppSettings.bytesMax)]
        #expect(settings.faults(in: "shop").map(\.field) == ["settings"])
    }
}

@Suite struct `A stored app` {
    /// It is read by every later version.
    private static let text = #"""
        {"id":"shop","revision":3,"created_at":5,"suspended":true,"settings":{"name":"Shop","later":1},"secrets":[{"id":"s2","key":"m1","sealed":"01ff","created_at":7},{"id":"s1","key":"m0","sealed":"02","created_at":6,"ends_at":9}],"api_keys":[{"name":"web","hash":"0a0b","previous_hash":"0c","previous_ends_at":8,"scopes":["media","messages"],"created_at":4}],"imported":"dd","later":[1]}
        """#

    private static let app: ManagedApp = {
        var settings = AppSettings()
        settings.name = "Shop"
        var app = ManagedApp(
            id: "shop", settings: settings,
            secrets: [
                TokenSecret(id: "s2", sealed: SealedBytes(keyID: "m1", bytes: [1, 255]), createdAt: 7),
                TokenSecret(id: "s1", sealed: SealedBytes(keyID: "m0", bytes: [2]), createdAt: 6, endsAt: 9),
            ], createdAt: 5)
        app.revision = 3
        app.isSuspended = true
        let hashes = KeyHashes([10, 11], previous: KeyHashes.Previous(hash: [12], endsAt: 8))
        app.apiKeys = [APIKeyRecord(name: "web", hashes: hashes, scopes: ["media", "messages"], createdAt: 4)]
        app.importedDigest = [221]
        return app
    }()

    @Test func `is read from its text, whatever a later version has added`() throws {
        #expect(try ManagedApp(line: Self.text.utf8) == Self.app)
    }

    @Test func `is read from what was written of it, but for when its keys were used`() throws {
        var app = Self.app
        app.apiKeys[0].lastUsedAt = 77
        #expect(try ManagedApp(json: app.json) == Self.app)
        var bare = ManagedApp(id: "club", createdAt: 1)
        #expect(try ManagedApp(json: bare.json) == bare)
        bare.settings = try read(full)
        #expect(try ManagedApp(json: bare.json) == bare)
    }

    @Test func `and a stored operator are refused where something is missing or wrong`() throws {
        let text = #"{"name":"ann","role":"send","hash":"01","created_at":2}"#
        let ann = OperatorRecord(name: "ann", role: .send, hashes: KeyHashes([1]), createdAt: 2)
        #expect(try OperatorRecord(line: text.utf8) == ann)
        #expect(ann.json.text == text)
        for (wrong, field) in [
            (text.replacing("send", with: "rule"), "role"), (text.replacing("\"01\"", with: "\"0\""), "hash"),
            (text.replacing("name", with: "nmae"), "name"),
        ] {
            do throws(InvalidField) {
                _ = try OperatorRecord(line: wrong.utf8)
                Issue.record("\(wrong) is taken")
            } catch {
                #expect(error.field == field)
            }
        }
        #expect(throws: InvalidField.self) { try ManagedApp(line: #"{"id":"shop"}"#.utf8) }
    }
}

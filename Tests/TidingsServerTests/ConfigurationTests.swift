import APNsClient
import Foundation
import ServerCore
import StoreModel
import Testing
import TidingsModel

@testable import TidingsServer

@Suite struct `A configuration` {
    private static let file = """
        gateway:
          port: 7500
          backlog_bytes_max: 100000
        api:
          port: 7501
        store:
          path: /tmp/somewhere.sqlite
        node: 5
        lease:
          foreground_ack_milliseconds: 2000
        log:
          level: debug
        apns:
          sandbox_host: localhost
          sandbox_port: 7443
          sandbox_management_host: localhost
          sandbox_management_port: 7446
          trust_roots_path: ca.pem
          proxy: alice:se@cret@proxy.example.com:3128
        apps: [demo, shop]
        app:
          demo:
            token_secret: 0123456789abcdef0123456789abcdef
            api_keys: [ops]
            api_key:
              ops:
                sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
                scopes: [messages, trace]
            apns:
              environment: sandbox
              team_id: TEAM123456
              key_id: KEY1234567
              key_path: key.p8
              topic: com.example.chat
          shop:
            token_secret: fedcba9876543210fedcba9876543210
        """

    private func load(
        _ yaml: String, environment: [String: String] = [:], overrides: [String: String] = [:]
    ) async throws -> ServerConfiguration {
        try await TestServer.withFolder { folder in
            let path = folder + "/tidings.yaml"
            try yaml.write(toFile: path, atomically: true, encoding: .utf8)
            return try await ServerConfiguration.load(file: path, environment: environment, overrides: overrides)
        }
    }

    private func faults(
        _ yaml: String, environment: [String: String] = [:], overrides: [String: String] = [:]
    ) async throws -> [String] {
        do {
            _ = try await self.load(yaml, environment: environment, overrides: overrides)
            return []
        } catch let faults as ConfigurationFaults {
            // The file has a new path in every run.
            return faults.faults.map { fault in
                let rule = fault.rule.replacing(/\(in .*tidings\.yaml\)/, with: "(in FILE)")
                return "\(fault.field) \(rule)"
            }
        }
    }

    @Test func `is read from a file`() async throws {
        let configuration = try await self.load(Self.file)
        #expect(configuration.gateway.port == 7_500)
        #expect(configuration.gateway.host == "127.0.0.1")
        #expect(configuration.gateway.backlogBytesMax == 100_000)
        #expect(configuration.store.path == "/tmp/somewhere.sqlite")
        #expect(configuration.core.node == 5)
        #expect(configuration.core.foregroundAckDeadline == 2_000)
        #expect(configuration.apps.map(\.id) == ["demo", "shop"])
        #expect(configuration.apps[0].apiKeys.map(\.scopes) == [[.messages, .trace]])
        var apns = ServerConfiguration.APNs()
        apns.environment = .sandbox
        (apns.teamID, apns.keyID, apns.keyPath) = ("TEAM123456", "KEY1234567", "key.p8")
        apns.topic = "com.example.chat"
        #expect(configuration.apps[0].apns == apns)
        #expect(
            configuration.apns.sandbox
                == .init(host: "localhost", port: 7_443, managementHost: "localhost", managementPort: 7_446))
        #expect(configuration.apns.production == .init(host: "", port: 443))
        #expect(configuration.apns.trustRootsPath == "ca.pem")
        #expect(
            try configuration.apns.parsedProxy
                == .init(
                    host: "proxy.example.com", port: 3_128, credentials: .init(user: "alice", password: "se@cret")))
        #expect(configuration.apps[1].apns == nil)
    }

    @Test func `takes a flag before the environment and the environment before the file`() async throws {
        let configuration = try await self.load(
            Self.file,
            environment: ["TIDINGS_GATEWAY_PORT": "7600", "TIDINGS_API_PORT": "7601", "GATEWAY_HOST": "0.0.0.0"],
            overrides: ["gateway.port": "7700"])
        #expect(configuration.gateway.port == 7_700)
        #expect(configuration.api.port == 7_601)
        #expect(configuration.gateway.host == "127.0.0.1")
    }

    @Test func `can come from the environment alone`() async throws {
        let configuration = try await ServerConfiguration.load(
            file: nil,
            environment: [
                "TIDINGS_APPS": "demo", "TIDINGS_APP_DEMO_TOKEN_SECRET": TestServer.secret.value,
                "TIDINGS_APP_DEMO_API_KEYS": "ops", "TIDINGS_APP_DEMO_API_KEY_OPS_SHA256": TestServer.hash("x"),
                "TIDINGS_APP_DEMO_API_KEY_OPS_SCOPES": "tokens,messages",
            ])
        #expect(configuration.apps.map(\.tokenSecret) == [TestServer.secret])
        #expect(configuration.apps[0].apiKeys[0].scopes == [.tokens, .messages])
    }

    @Test func `lists everything that is wrong at once, by field`() async throws {
        let broken = """
            gateway:
              port: 70000
              prot: 7400
              backlog_bytes_max: many
            store:
              path: ""
            node: 64
            log:
              format: xml
            apps: [demo]
            app:
              demo:
                token_secret: short
                api_keys: [ops]
                api_key:
                  ops:
                    sha256: abc
                    scopes: [everything]
                apns:
                  environment: test
                  team_id: x
                  key_id: KEY1234567
                  key_path: key.p8
            """
        #expect(
            try await self.faults(broken) == [
                "gateway.backlog_bytes_max must be a whole number from 65536 to 1073741824, got \"many\"",
                "app.demo.api_key.ops.scopes must not name \"everything\"",
                "app.demo.apns.environment must be sandbox or production, got \"test\"",
                "gateway.prot is not a key of the configuration (in FILE)",
                "gateway.port must be 0 to 65535, got 70000",
                "store.path must not be empty",
                "node must be 0 to 63, got 64",
                "log.format must be one of auto, json, text, got \"xml\"",
                "app.demo.token_secret must be at least 32 bytes, got 5",
                "app.demo.api_key.ops.sha256 must be 64 hexadecimal digits",
                "app.demo.apns.team_id must be 10 letters and digits, got \"x\"",
                "app.demo.apns.topic must not be empty",
            ])
    }

    @Test func `says of what an app's section had once where it is now`() async throws {
        let old = Self.file.replacing("topic: com.example.chat", with: "topic: com.example.chat\n      host: localhost")
        #expect(
            try await self.faults(old.replacing("proxy: alice:se@cret@", with: "proxy: ")) == [
                "app.demo.apns.host must not be set of an app"
            ])
        for proxy in ["proxy.example.com", ":3128", "a@proxy.example.com:3128", "proxy.example.com:0"] {
            #expect(
                try await self.faults("apns: {proxy: \"\(proxy)\"}") == [
                    "apns.proxy must be HOST:PORT or USER:PASSWORD@HOST:PORT"
                ])
        }
    }

    @Test func `names a file that is missing or is not YAML`() async throws {
        await #expect {
            try await ServerConfiguration.load(file: "/nonexistent/tidings.yaml")
        } throws: { error in
            (error as? ConfigurationFaults)?.faults.map { "\($0.field) \($0.rule)" }
                == ["/nonexistent/tidings.yaml cannot be read as configuration: no such file"]
        }
        let faults = try await self.faults("gateway: [1, 2")
        #expect(faults.count == 1)
        #expect(faults.first?.contains("cannot be read as configuration") == true)
    }

    private static let words =
        Self.file + """

                members_max: 50
                devices_max: 3
                limits: {person: {messages: 1/600, connects: none}}
                own_profiles: true
                offered_accounts: [news, weather]
                tags: [shoes, quiet]
                push:
                  text: id_only
                languages: [de, zh-Hant]
                language: de-AT
                words:
                  de:
                    other: Neue Nachricht
                    neutral: Du hast eine neue Nachricht
                    hidden: Du hast eine neue Nachricht
                    recalled: Eine Nachricht wurde zurückgezogen
                    several: "{count} neue Nachrichten"
                    kinds: ["RC:ImgMsg=[Bild]", "my:Poll=[Umfrage: ja=nein]"]
                  zh-Hant:
                    neutral: 您收到一則新訊息
            """

    @Test func `gives an app words and limits of its own, and the general ones where it has none`() async throws {
        let settings = try await self.load(Self.words).coreSettings
        let words = try #require(settings.words["shop"])
        #expect(words.words(for: nil).tag == "de")
        #expect(words.words(for: nil).words.kinds == ["RC:ImgMsg": "[Bild]", "my:Poll": "[Umfrage: ja=nein]"])
        #expect(words.words(for: "de-DE").words.neutral == "Du hast eine neue Nachricht")
        #expect(words.words(for: "zh-Hant-TW").words.neutral == "您收到一則新訊息")
        #expect(words.words(for: "zh-Hant-TW").words.several == NotificationWords.simplifiedChinese.several)
        #expect(words.words(for: "en-GB").words == .english)
        #expect(settings.words["demo"] == AppWords())
        #expect(settings.membersMax(in: "shop") == 50)
        #expect(settings.membersMax(in: "demo") == 3_000)
        #expect(settings.devicesMax(in: "shop") == 3)
        #expect(settings.devicesMax(in: "demo") == 20)
        #expect(settings.limits(of: "shop")[.person, .messages] == RateLimit(perSecond: 1, burst: 600))
        #expect(settings.limits(of: "shop")[.person, .connects] == nil)
        #expect(settings.limits(of: "shop")[.app, .messages] == settings.limits[.app, .messages])
        #expect(settings.limits(of: "demo") == settings.limits)
        #expect(settings.pushTextModes == ["shop": .idOnly])
        #expect(settings.appsWithOwnProfiles == ["shop"])
        #expect(settings.tags == ["shop": ["quiet", "shoes"]])
        #expect(
            settings.offeredAccounts == [
                "shop/news": UserKey(app: "shop", user: "news"), "shop/weather": UserKey(app: "shop", user: "weather"),
            ])
    }

    @Test func `refuses words that are missing, too long or without a number, and a language nobody has`() async throws
    {
        let broken =
            Self.file + """

                    members_max: 3001
                    devices_max: 101
                    limits: {app: {bytes: many}}
                    own_profiles: maybe
                    offered_accounts: ["a b"]
                    tags: ["a tag"]
                    push:
                      text: none
                      options: '{"sound": ""}'
                      entitlements: [loud]
                      client_options: [sound]
                    languages: [fr, "d e"]
                    language: it
                    words:
                      fr:
                        other: \(String(repeating: "é", count: 129))
                        neutral: Vous avez un nouveau message
                        hidden: Vous avez un nouveau message
                        several: des messages
                        kinds: ["RC:ImgMsg", "a b=Image"]
                """
        #expect(
            try await self.faults(broken) == [
                "app.shop.push.text must be one of extension, alert, id_only, got \"none\"",
                "app.shop.push.options.sound must be 1 to 64 bytes, got 0",
                "app.shop.push.entitlements must not name \"loud\"",
                "app.shop.push.client_options must not name \"sound\"",
                "app.shop.limits.app.bytes must be RATE/BURST with whole numbers from 1 to 100000000 and 1000000000, or none, "
                    + "got \"many\"",
                "app.shop.words.fr.kinds must be a list of NAME=WORDS, got \"RC:ImgMsg\"",
                "app.shop.own_profiles must be true or false, got \"maybe\"",
                "app.shop.offered_accounts must not contain spaces or control characters, in \"a b\"",
                "app.shop.tags must not contain spaces or control characters",
                "app.shop.members_max must be 1 to 3000, got 3001",
                "app.shop.devices_max must be 1 to 100, got 101",
                "app.shop.languages must be a BCP 47 tag of 1 to 35 letters, digits and hyphens, got \"d e\"",
                "app.shop.words.d e.other must be 1 to 256 bytes, got 0",
                "app.shop.words.d e.neutral must be 1 to 256 bytes, got 0",
                "app.shop.words.d e.hidden must be 1 to 256 bytes, got 0",
                "app.shop.words.d e.recalled must be 1 to 256 bytes, got 0",
                "app.shop.words.d e.several must be 1 to 256 bytes, got 0",
                "app.shop.words.fr.other must be 1 to 256 bytes, got 258",
                "app.shop.words.fr.recalled must be 1 to 256 bytes, got 0",
                "app.shop.words.fr.several must contain {count}, got \"des messages\"",
                "app.shop.language must be a language with words, got \"it\"",
            ])
    }

    @Test func `has the options of an app's notifications, and what else may be asked for`() async throws {
        let own = """

                push:
                  options: '{"title": {"loc_key": "FROM"}, "interruption_level": "time-sensitive"}'
                  entitlements: [time_sensitive]
                  client_options: [subtitle, custom]
                  client_sounds: [a.caf, b.caf]
                  client_categories: [REPLY]
                  image_hosts: ["*.example.com"]
            """
        let settings = try await self.load(Self.file + own).coreSettings
        var rules = PushRules()
        rules.options = PushOptions(title: .localized(key: "FROM"), interruptionLevel: .timeSensitive)
        rules.entitlements = [.timeSensitive]
        rules.clientOptions = ["subtitle", "custom"]
        rules.clientSounds = ["a.caf", "b.caf"]
        rules.clientCategories = ["REPLY"]
        rules.imageHosts = ["*.example.com"]
        #expect(settings.pushRules == ["shop": rules])
        #expect(
            try await self.faults(Self.file + own.replacingOccurrences(of: "[time_sensitive]", with: "[critical]")) == [
                "app.shop.push.options.interruption_level must be passive or active: the app does not declare the entitlement time_sensitive"
            ])
    }

    @Test func `needs no app: the store may have all there are`() {
        #expect(ServerConfiguration().validate() == [])
    }

    @Test func `may have of an app nothing but its credential for pushes`() async throws {
        let alone = """
            apps: [demo]
            app:
              demo:
                apns: {team_id: TEAM123456, key_id: KEY1234567, key_path: key.p8, topic: com.example.chat}
            """
        let configuration = try await self.load(alone)
        #expect(configuration.apps.map(\.isCredentialAlone) == [true])
        #expect(
            try await self.faults(alone + "\n    own_profiles: true") == [
                "app.demo.token_secret must be at least 32 bytes, got 0"
            ])
    }

    @Test func `has the master keys in a file, or in the environment`() async throws {
        let key = "1 \(Data(repeating: 7, count: 32).base64EncodedString())"
        let configuration = try await self.load(
            "store: {master_key_path: /run/keys}", environment: ["TIDINGS_MASTER_KEY": key])
        #expect(configuration.store.masterKeyPath == "/run/keys")
        #expect(configuration.store.masterKeys == Secret(key))
    }

    @Test func `refuses one port for both servers`() async throws {
        let faults = try await self.faults(Self.file, overrides: ["api.port": "7500"])
        #expect(faults == ["api.port must not be the gateway's, got 7500"])
    }

    @Test func `never prints a secret`() {
        let app = ServerConfiguration.App(id: "demo", tokenSecret: TestServer.secret)
        var configuration = ServerConfiguration()
        configuration.apps = [app]
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains(TestServer.secret.value))
        }
        #expect("\(app)".contains("<secret>"))
    }

    @Test func `has defaults within the range of every key`() {
        var configuration = ServerConfiguration()
        configuration.apps = [.init(id: "demo", tokenSecret: TestServer.secret)]
        #expect(configuration.validate() == [])
        let names = ConfigurationKey.all.map(\.name)
        #expect(Set(names).count == names.count)
    }
}

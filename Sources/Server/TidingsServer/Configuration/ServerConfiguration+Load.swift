import Configuration
import Foundation
import StoreModel
import TidingsModel
import Yams

extension ServerConfiguration {
    /// A flag goes before the environment, the environment before the file, the file before the default.
    /// - Parameters: file: path of a YAML file. environment: variables that start with `TIDINGS_` are read. overrides: values of
    ///   flags by key name, for example `["gateway.port": "7400"]`.
    /// - Throws: everything that is wrong: unreadable values, unknown keys, and what `validate()` finds.
    package static func load(
        file: String?, environment: [String: String] = [:], overrides: [String: String] = [:]
    ) async throws(ConfigurationFaults) -> ServerConfiguration {
        var reader = try await ConfigurationReading(file: file, environment: environment, overrides: overrides)
        var configuration = ServerConfiguration()
        for key in ConfigurationKey.all {
            let path = key.name.split(separator: ".").map(String.init)
            let text = key.isList ? await reader.list(path)?.joined(separator: ",") : await reader.text(path)
            guard let text else { continue }
            if let fault = key.set(text, in: &configuration) { reader.faults.append(fault) }
        }
        for id in await reader.list(["apps"]) ?? [] { configuration.apps.append(await reader.app(id)) }
        configuration.store.masterKeys = environment[Self.masterKeyVariable].map { Secret($0) }
        reader.refuseUnknownKeys(overrides: overrides)
        let unreadable = Set(reader.faults.map(\.field))
        let faults = reader.faults + configuration.validate().filter { !unreadable.contains($0.field) }
        guard faults.isEmpty else { throw ConfigurationFaults(faults) }
        return configuration
    }
}

/// Reads values through swift-configuration and remembers what was asked for.
private struct ConfigurationReading {
    var faults: [ConfigurationFault] = []
    private let reader: ConfigReader
    private var known: Set<String> = []
    private let fileKeys: [String]
    private let file: String?
    private let variables: [String]

    init(file: String?, environment: [String: String], overrides: [String: String]) async throws(ConfigurationFaults) {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, text) in overrides {
            let key = AbsoluteConfigKey(name.split(separator: ".").map(String.init))
            values[key] = ConfigValue(.string(text), isSecret: name.contains("secret"))
        }
        let prefix = "TIDINGS_"
        let ours = environment.filter { $0.key.hasPrefix(prefix) }
        self.variables = ours.filter { !ConfigurationSpelling.isOther($0.key, $0.value) }.keys.sorted()
        let variables = Dictionary(
            uniqueKeysWithValues: ours.map { (String($0.key.dropFirst(prefix.count)), FileText.line($0.value)) })
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "flags", values: values),
            EnvironmentVariablesProvider(environmentVariables: variables),
        ]
        self.file = file
        guard let file else {
            self.fileKeys = []
            self.reader = ConfigReader(providers: providers)
            return
        }
        do {
            // swift-configuration cannot list the keys of a file; without a list a misspelt key would be passed over.
            let text = try FileText.read(Data(contentsOf: URL(fileURLWithPath: file)), field: "its text")
            self.fileKeys = try Self.keys(in: text)
            let path = InMemoryProvider(name: "file", values: ["filePath": ConfigValue(.string(file), isSecret: false)])
            providers.append(try await FileProvider<YAMLSnapshot>(config: ConfigReader(provider: path)))
        } catch {
            throw ConfigurationFaults(
                field: file, rule: "cannot be read as configuration: \(Self.reason(for: error))",
                remedy: "check that the file exists, is readable and is YAML with one mapping at the top")
        }
        self.reader = ConfigReader(providers: providers)
    }

    private static func reason(for error: any Error) -> String {
        if let error = error as? YamlError { return "\(error)" }
        return (error as? CocoaError).map { $0.code == .fileReadNoSuchFile ? "no such file" : $0.localizedDescription }
            ?? "\(error)"
    }

    private static func keys(in yaml: String) throws -> [String] {
        guard let root = try Yams.compose(yaml: yaml) else { return [] }
        var nodes = 0
        try Self.count(root, &nodes)
        var keys: [String] = []
        func walk(_ node: Node, _ path: String) {
            guard case .mapping(let mapping) = node else { return keys.append(path) }
            for (key, value) in mapping {
                walk(value, path.isEmpty ? key.string ?? "?" : "\(path).\(key.string ?? "?")")
            }
        }
        walk(root, "")
        return keys
    }

    /// Aliases of aliases can grow without end.
    private static let nodesMax = 100_000

    private struct TooManyValues: Error, CustomStringConvertible {
        var description: String {
            "it has more than \(ConfigurationReading.nodesMax) values when its aliases are written out"
        }
    }

    private static func count(_ node: Node, _ nodes: inout Int) throws {
        nodes += 1
        guard nodes <= self.nodesMax else { throw TooManyValues() }
        switch node {
        case .mapping(let mapping): for (_, value) in mapping { try self.count(value, &nodes) }
        case .sequence(let sequence): for element in sequence { try self.count(element, &nodes) }
        case .scalar, .alias: break
        }
    }

    mutating func text(_ path: [String], isSecret: Bool = false) async -> String? {
        let name = path.joined(separator: ".")
        self.known.insert(name)
        do {
            let text = try await self.reader.fetchString(forKey: ConfigKey(path), isSecret: isSecret)
            guard text?.utf8.contains(0) != true else {
                self.faults.append(field: name, rule: "must be without zero bytes", remedy: "write it again")
                return nil
            }
            return text.map { FileText.line($0) }
        } catch {
            self.faults.append(
                field: name, rule: "must be one value", remedy: "give a single value, not a list or mapping")
            return nil
        }
    }

    /// A list in the file, or one text with commas in a flag or the environment.
    mutating func list(_ path: [String]) async -> [String]? {
        let name = path.joined(separator: ".")
        self.known.insert(name)
        if let list = try? await self.reader.fetchStringArray(forKey: ConfigKey(path)) { return list }
        guard let text = try? await self.reader.fetchString(forKey: ConfigKey(path)) else { return nil }
        return text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    mutating func app(_ id: String) async -> ServerConfiguration.App {
        let secret = await self.text(["app", id, "token_secret"], isSecret: true)
        var app = ServerConfiguration.App(id: AppID(id), tokenSecret: Secret(secret ?? ""))
        for key in await self.list(["app", id, "api_keys"]) ?? [] {
            let path = ["app", id, "api_key", key]
            let hash = await self.text(path + ["sha256"])
            var scopes: [APIScope] = []
            for word in await self.list(path + ["scopes"]) ?? [] {
                if let scope = APIScope(rawValue: word) {
                    scopes.append(scope)
                } else {
                    self.refuse(word, in: path + ["scopes"], APIScope.allCases.map(\.rawValue))
                }
            }
            app.apiKeys.append(.init(id: key, sha256: hash ?? "", scopes: scopes))
        }
        app.clientKeys = await self.clientKeys(["app", id, "client_keys"])
        app.previousSecret = await self.text(["app", id, "token_secret_previous"], isSecret: true).map { Secret($0) }
        app.settings = await self.settings(["app", id])
        app.apns = await self.apns(["app", id, "apns"])
        return app
    }

    private mutating func clientKeys(_ path: [String]) async -> [ServerConfiguration.ClientKey] {
        var keys: [ServerConfiguration.ClientKey] = []
        for entry in await self.list(path) ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                self.faults.append(
                    field: path.joined(separator: "."), rule: "must be a list of NAME=KEY, got \"\(entry)\"",
                    remedy: "write for example ios=pk_2mB7t0pXq9Zr4Ls1")
                continue
            }
            keys.append(.init(name: String(parts[0]), key: String(parts[1])))
        }
        return keys
    }

    private mutating func settings(_ path: [String]) async -> AppSettings {
        var settings = AppSettings()
        settings.tokens = await self.tokens(path)
        settings.pushTopics = Set(await self.list(path + ["push", "topics"]) ?? []).sorted()
        settings.pushText = await self.pushText(path + ["push", "text"])
        settings.isOnlyPushSender = await self.flag(path + ["push", "only_sender"])
        settings.push = await self.pushRules(path + ["push"])
        let membersMax = path + ["members_max"]
        settings.membersMax = self.integer(
            await self.text(membersMax), membersMax, from: "1 to 3000", remedy: "leave it out for policy.members_max")
        let devicesMax = path + ["devices_max"]
        settings.devicesMax = self.integer(
            await self.text(devicesMax), devicesMax, from: "1 to 100", remedy: "leave it out for policy.devices_max")
        settings.limits = await self.limits(path + ["limits"])
        settings.words = await self.words(path)
        settings.offeredAccounts = Set(await self.list(path + ["offered_accounts"]) ?? []).sorted()
        settings.tags = Set(await self.list(path + ["tags"]) ?? []).sorted()
        settings.hasOwnProfiles = await self.flag(path + ["own_profiles"])
        settings.needsMediaApproval = await self.mediaApproval(path + ["media", "approval"])
        return settings
    }

    private mutating func limits(_ path: [String]) async -> AppLimits {
        var limits = AppLimits()
        for scope in AppLimits.scopes {
            for kind in AppLimits.kinds {
                let path = path + [scope.rawValue, kind.rawValue]
                guard let text = await self.text(path) else { continue }
                let name = path.joined(separator: ".")
                limits[scope, kind] = AppLimits.Rate(text)
                guard limits[scope, kind] == nil else { continue }
                self.faults.append(
                    field: name, rule: "\(AppLimits.Rate.rule), got \"\(text)\"",
                    remedy: "leave it out for limits.\(scope.rawValue).\(kind.rawValue)")
            }
        }
        return limits
    }

    private mutating func tokens(_ path: [String]) async -> AppSettings.TokenRules {
        var rules = AppSettings.TokenRules()
        rules.audiences = await self.list(path + ["token_audiences"]) ?? []
        rules.demandsAudience = await self.flag(path + ["token_audience_required"])
        let trustRoots = await self.text(path + ["token_jwks_trust_roots_path"])
        if let text = await self.text(path + ["token_jwks"]) {
            rules.keySource = AppSettings.KeySource(text, trustRootsPath: trustRoots)
        }
        return rules
    }

    private mutating func pushText(_ path: [String]) async -> PushTextMode {
        guard let text = await self.text(path) else { return .serviceExtension }
        if let mode = PushTextMode(rawValue: text) { return mode }
        let modes = PushTextMode.allCases.map(\.rawValue).joined(separator: ", ")
        self.faults.append(
            field: path.joined(separator: "."), rule: "must be one of \(modes), got \"\(text)\"",
            remedy: "leave it out for extension")
        return .serviceExtension
    }

    private mutating func mediaApproval(_ path: [String]) async -> Bool {
        switch await self.text(path) {
        case nil, "none"?: return false
        case "required"?: return true
        case let text?:
            self.faults.append(
                field: path.joined(separator: "."), rule: "must be none or required, got \"\(text)\"",
                remedy: "leave it out for none")
            return false
        }
    }

    private mutating func pushRules(_ path: [String]) async -> PushRules {
        var rules = PushRules()
        if let text = await self.text(path + ["options"]) {
            do throws(InvalidField) {
                rules.options = try PushOptions(parsing: text.utf8, path: (path + ["options"]).joined(separator: "."))
                    .nonEmpty
            } catch {
                self.faults.append(
                    field: error.field, rule: error.rule,
                    remedy: "write JSON as for push in POST /messages, for example '{\"sound\": \"chime.caf\"}'")
            }
        }
        for word in await self.list(path + ["entitlements"]) ?? [] {
            if let entitlement = PushRules.Entitlement(rawValue: word) {
                rules.entitlements.insert(entitlement)
            } else {
                self.refuse(word, in: path + ["entitlements"], PushRules.Entitlement.allCases.map(\.rawValue))
            }
        }
        for name in await self.list(path + ["client_options"]) ?? [] {
            if PushRules.clientOptionNames.contains(name) {
                rules.clientOptions.insert(name)
            } else {
                self.refuse(name, in: path + ["client_options"], PushRules.clientOptionNames)
            }
        }
        rules.clientSounds = await self.list(path + ["client_sounds"]) ?? []
        rules.clientCategories = await self.list(path + ["client_categories"]) ?? []
        rules.imageHosts = await self.list(path + ["image_hosts"]) ?? []
        return rules
    }

    private mutating func refuse(_ word: String, in path: [String], _ words: [String]) {
        self.faults.append(
            field: path.joined(separator: "."), rule: "must not name \"\(word)\"",
            remedy: "choose from \(words.joined(separator: ", "))")
    }

    private mutating func flag(_ path: [String]) async -> Bool {
        switch await self.text(path) {
        case nil, "false"?: return false
        case "true"?: return true
        case let text?:
            self.faults.append(
                field: path.joined(separator: "."), rule: "must be true or false, got \"\(text)\"",
                remedy: "leave it out for false")
            return false
        }
    }

    private mutating func integer(_ text: String?, _ path: [String], from range: String, remedy: String) -> Int? {
        guard let text else { return nil }
        if let number = Int(text) { return number }
        self.faults.append(
            field: path.joined(separator: "."), rule: "must be a whole number from \(range), got \"\(text)\"",
            remedy: remedy)
        return nil
    }

    /// Reads words; a language's missing ones are the built-in words, if there are any in that language.
    private mutating func words(_ path: [String]) async -> AppWords {
        let language = await self.text(path + ["language"])?.lowercased()
        var words: [String: NotificationWords] = [:]
        for tag in await self.list(path + ["languages"]) ?? [] {
            let path = path + ["words", tag]
            var own = NotificationWords.builtIn(for: tag) ?? NotificationWords()
            for member in NotificationWords.pushMembers {
                if let text = await self.text(path + [member.name]) { own[keyPath: member.path] = text }
            }
            for entry in await self.list(path + ["kinds"]) ?? [] {
                let parts = entry.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else {
                    self.faults.append(
                        field: (path + ["kinds"]).joined(separator: "."),
                        rule: "must be a list of NAME=WORDS, got \"\(entry)\"",
                        remedy: "write for example \"RC:ImgMsg=[Image]\"")
                    continue
                }
                own.kinds[ObjectName(String(parts[0]))] = String(parts[1])
            }
            words[tag.lowercased()] = own
        }
        return AppWords(language: language ?? "en", complete: words)
    }

    private mutating func apns(_ path: [String]) async -> ServerConfiguration.APNs? {
        var apns = ServerConfiguration.APNs()
        let environment = await self.text(path + ["environment"])
        let teamID = await self.text(path + ["team_id"])
        let keyID = await self.text(path + ["key_id"])
        let keyPath = await self.text(path + ["key_path"])
        let topic = await self.text(path + ["topic"])
        await self.refuseMoved(path)
        guard environment != nil || teamID != nil || keyID != nil || keyPath != nil || topic != nil else { return nil }
        apns.teamID = teamID ?? ""
        apns.keyID = keyID ?? ""
        apns.keyPath = keyPath ?? ""
        apns.topic = topic ?? ""
        if let environment {
            if let side = PushEnvironment(rawValue: environment) {
                apns.environment = side
            } else {
                self.faults.append(
                    field: (path + ["environment"]).joined(separator: "."),
                    rule: "must be sandbox or production, got \"\(environment)\"",
                    remedy: "sandbox for development builds, production for App Store and TestFlight builds")
            }
        }
        return apns
    }

    /// Refuses keys that an app's section had once and are the server's now.
    private mutating func refuseMoved(_ path: [String]) async {
        for (name, key) in [
            ("host", "apns.sandbox_host or apns.production_host"),
            ("port", "apns.sandbox_port or apns.production_port"),
            ("trust_roots_path", "apns.trust_roots_path"),
        ] where await self.text(path + [name]) != nil {
            self.faults.append(
                field: (path + [name]).joined(separator: "."), rule: "must not be set of an app",
                remedy: "set \(key), which holds for all apps")
        }
    }

    mutating func refuseUnknownKeys(overrides: [String: String]) {
        for (keys, source) in [(self.fileKeys, self.file ?? ""), (overrides.keys.sorted(), "the flags")] {
            self.refuse(unknown: keys, of: self.known, rule: "is not a key of the configuration (in \(source))")
        }
        self.refuse(
            unknown: self.variables, of: Set(self.known.map(ConfigurationSpelling.variable)),
            rule: "is not a key of the configuration (in the environment)")
    }

    private mutating func refuse(unknown names: [String], of known: Set<String>, rule: String) {
        for (index, name) in names.filter({ !known.contains($0) }).enumerated() {
            let isTried = index < ConfigurationSpelling.guessesMax
            let most = min(3, name.count / 5)
            let meant = isTried ? Spelling.nearest(to: name, among: known.sorted(), most: most) : nil
            self.faults.append(
                field: name, rule: rule,
                remedy: meant.map { "did you mean \($0)?" }
                    ?? "check its spelling against docs/server/configuration.md")
        }
    }
}

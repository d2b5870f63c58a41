import Crypto
import Foundation
import TidingsModel
import TidingsServer

/// A server, and on request a local APNs, as child processes on fresh temporary state.
final class LocalServer {
    static let app = AppID("demo")
    static let topic = "com.example.chat"

    let folder: TemporaryFolder
    let apiKey: String
    private let topic: String
    private let ports: [Int]
    /// Makes the user token of a person.
    let userToken: (String) throws -> String
    private(set) var server: ManagedProcess?
    private(set) var apns: ManagedProcess?

    var gatewayPort: Int { self.ports[0] }
    var apiPort: Int { self.ports[1] }
    var apnsPort: Int { self.ports[2] }
    var courierPort: Int { self.ports[3] }
    var controlPort: Int { self.ports[4] }
    private var phonePort: Int { self.ports[5] }

    var database: String { "\(self.folder.path)/tidings.sqlite" }
    var phonesFolder: String { "\(self.folder.path)/phones" }
    var phonesTokenPath: String { "\(self.phonesFolder)/control.token" }
    var gatewayAddress: String { "ws://127.0.0.1:\(self.gatewayPort)" }
    var apiAddress: String { "http://127.0.0.1:\(self.apiPort)" }
    var phoneAddress: String { "http://127.0.0.1:\(self.phonePort)" }

    private init(
        folder: TemporaryFolder, topic: String, ports: [Int], apiKey: String,
        userToken: @escaping (String) throws -> String
    ) {
        self.folder = folder
        self.topic = topic
        self.ports = ports
        self.apiKey = apiKey
        self.userToken = userToken
    }

    /// - Parameters:
    ///   - topic: the bundle identifier of the app it pushes to.
    ///   - settings: keys of the server's configuration, for example `["limits.mode": "none"]`.
    ///   - ports: gateway, API, APNs, courier, APNs control, phones; nil for free ones.
    ///   - withSearch: keeps an index, so that messages are found by their words.
    ///   - phonesPort: where `tidings phones` will run, with `phonesFolder`, for the console; nil for no phones there.
    ///   - under: a command that runs the server in its own process, for example `["taskset", "--cpu-list", "0"]`.
    static func start(
        name: String, withAPNs: Bool, topic: String = LocalServer.topic, settings: [String: String] = [:],
        ports: [Int]? = nil, withSearch: Bool = false, phonesPort: Int? = nil, under: [String] = []
    ) async throws -> LocalServer {
        for (port, use) in zip(
            ports ?? [], ["gateway", "HTTP API", "local APNs", "courier", "local APNs' control", "phones"])
        where !isPortFree(port) {
            throw ToolFailure(
                """
                port \(port) (\(use)) on 127.0.0.1 is in use: another `make run` may still be running, or a server. End it first, \
                or play the demo on free ports: tidings demo
                """)
        }
        let folder = try TemporaryFolder(name)
        do {
            func random() -> String { SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() } }
            let secret = random()
            let ports = try ports ?? (0..<6).map { _ in try freePort() }
            let site = LocalServer(
                folder: folder, topic: topic, ports: ports, apiKey: random(),
                userToken: try Self.userTokens(of: Self.app, secret: secret))
            do {
                if withAPNs { try await site.startAPNs() }
                var settings = settings
                if withSearch { settings["search.path"] = "\"\(folder.path)/search.sqlite\"" }
                if let phonesPort {
                    settings["console.phones"] = "127.0.0.1:\(phonesPort)"
                    settings["console.phones_token_path"] = "\"\(site.phonesTokenPath)\""
                }
                try site.writeConfiguration(secret: secret, withAPNs: withAPNs, settings: settings)
                try await site.startServer(under: under)
            } catch {
                await site.stop()
                throw error
            }
            return site
        } catch {
            folder.remove()
            throw error
        }
    }

    private func startAPNs() async throws {
        let process = try ManagedProcess(
            name: "apns", executable: ownExecutable(),
            arguments: [
                "apns", "--port", "\(self.apnsPort)", "--courier-port", "\(self.courierPort)", "--control-port",
                "\(self.controlPort)", "--channel-port", "0", "--state", "\(self.folder.path)/apns-state", "--topic",
                self.topic,
            ], folder: self.folder.path)
        self.apns = process
        try await HTTP.waitUntilReady("http://127.0.0.1:\(self.controlPort)/devices", process: process)
    }

    private func writeConfiguration(secret: String, withAPNs: Bool, settings: [String: String]) throws {
        let hash = Hexadecimal.text(SHA256.hash(data: Data(self.apiKey.utf8)))
        var text = """
            gateway: {port: \(self.gatewayPort)}
            api: {port: \(self.apiPort)}
            phone: {port: \(self.phonePort)}
            store: {path: "\(self.database)"}
            media: {path: "\(self.folder.path)/media"}
            apps: [\(Self.app)]
            app:
              \(Self.app):
                token_secret: "\(secret)"
                own_profiles: true
                api_keys: [tool]
                api_key:
                  tool:
                    sha256: "\(hash)"
                    scopes: [tokens, messages, conversations, history, settings, trace, accounts]

            """
        if withAPNs {
            let credential = try JSONValue(
                parsing: Data(contentsOf: URL(fileURLWithPath: "\(self.folder.path)/apns-state/credential.json")))
            func member(_ name: String) throws -> String {
                guard let text = credential[name]?.stringValue else {
                    throw ToolFailure("the local APNs wrote no \(name) into credential.json")
                }
                return text
            }
            text += """
                    apns:
                      environment: sandbox
                      team_id: "\(try member("team_id"))"
                      key_id: "\(try member("key_id"))"
                      key_path: "\(try member("p8_path"))"
                      topic: \(self.topic)
                apns:
                  sandbox_host: localhost
                  sandbox_port: \(self.apnsPort)
                  trust_roots_path: "\(try member("ca_path"))"

                """
        }
        var groups: [String: [String]] = [:]
        for (key, value) in settings {
            let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
            groups[parts[0], default: []].append("  \(parts[1]): \(value)")
        }
        for (group, lines) in groups.sorted(by: { $0.key < $1.key }) {
            text += (["\(group):"] + lines.sorted()).joined(separator: "\n") + "\n"
        }
        try self.folder.write(text, to: "server.yaml")
    }

    func startServer(under: [String] = []) async throws {
        let command = [ownExecutable(), "serve", "--config", "\(self.folder.path)/server.yaml"]
        let process = try ManagedProcess(
            name: "server", executable: under.isEmpty ? command[0] : "/usr/bin/env",
            arguments: under.isEmpty ? Array(command.dropFirst()) : under + command, folder: self.folder.path)
        self.server = process
        try await HTTP.waitUntilReady("\(self.apiAddress)/readyz", process: process)
    }

    /// Makes user tokens as an app with this secret takes them, for a day.
    static func userTokens(of app: AppID, secret: String) throws -> (String) throws -> String {
        var settings = ServerConfiguration.App(id: app, tokenSecret: Secret(secret))
        settings.apiKeys = []
        let tokens = try UserTokens(apps: [settings])
        let expiry = Int64(Date().timeIntervalSince1970) + 86_400
        return { user in
            let key = UserKey(app: app, user: UserID(user))
            guard let token = tokens.token(for: key, expiresAtSeconds: expiry) else {
                throw ToolFailure("no token for \(key)")
            }
            return token
        }
    }

    func stop() async {
        await self.server?.stop()
        await self.apns?.stop()
    }

    func remove() { self.folder.remove() }
}

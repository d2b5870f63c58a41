import Foundation
import Testing

@testable import TidingsServer

@Suite struct `The variables of a configuration` {
    private func load(_ environment: [String: String]) async throws -> ServerConfiguration {
        let ours = ["TIDINGS_APPS": "demo", "TIDINGS_APP_DEMO_TOKEN_SECRET": TestServer.secret.value]
        return try await ServerConfiguration.load(file: nil, environment: environment.merging(ours) { $1 })
    }

    @Test func `are refused where they are misspelt, with what was meant`() async throws {
        let meant = [
            "TIDINGS_GATEWAY_PROT": "TIDINGS_GATEWAY_PORT", "TIDINGS_GATWAY_PORT": "TIDINGS_GATEWAY_PORT",
            "TIDINGS_gateway_port": "TIDINGS_GATEWAY_PORT", "TIDINGS_STORE_PAHT": "TIDINGS_STORE_PATH", "TIDINGS_": nil,
            "TIDINGS_NODES": "TIDINGS_NODE", "TIDINGS_APP_DEMO_TOKEN_SECRETS": "TIDINGS_APP_DEMO_TOKEN_SECRET",
            // An app that `apps` does not name.
            "TIDINGS_APP_NOTES_TOKEN_SECRET": nil, "TIDINGS_LIMITS_PERSON_REQUESTS_": "TIDINGS_LIMITS_PERSON_REQUESTS",
            "TIDINGS_CONSOLE": nil, "TIDINGS_SERVICE": nil, "TIDINGS_PORT": nil,
        ]
        do {
            _ = try await self.load(meant.mapValues { _ in "7600" })
            Issue.record("none is refused")
        } catch let faults as ConfigurationFaults {
            #expect(
                faults.faults.map { "\($0.field) \($0.rule): \($0.remedy)" }
                    == meant.keys.sorted().enumerated().map { index, name in
                        let rule = "is not a key of the configuration (in the environment)"
                        guard index < ConfigurationSpelling.guessesMax, let key = meant[name] ?? nil else {
                            return "\(name) \(rule): check its spelling against docs/server/configuration.md"
                        }
                        return "\(name) \(rule): did you mean \(key)?"
                    })
        }
    }

    @Test func `stand beside those of the tool, of tests, and of Kubernetes`() async throws {
        let environment = [
            "TIDINGS_API_KEY": "k", "TIDINGS_OPERATOR_KEY": "k", "TIDINGS_TOOL": "/tmp/tidings", "TIDINGS_UIKIT": "1",
            "TIDINGS_CASES_PERCENT": "10", "TIDINGS_SERVICE_HOST": "10.0.0.1", "TIDINGS_SERVICE_PORT": "7400",
            "TIDINGS_SERVICE_PORT_HTTP_API": "7480", "TIDINGS_PORT": "tcp://10.0.0.1:7400",
            "TIDINGS_PORT_7400_TCP": "tcp://10.0.0.1:7400", "TIDINGS_PORT_7400_TCP_PROTO": "tcp",
            "TIDINGS_CHAT_PORT_7400_TCP_ADDR": "10.0.0.1", "TIDINGS_CHAT_PORT": "tcp://10.0.0.1:7400",
            "tidings_gateway_prot": "7", "MY_TIDINGS_X": "7",
        ]
        #expect(try await self.load(environment).gateway.port == 7_400)
    }

    @Test func `are those that swift-configuration reads`() async throws {
        for id in ["demo", "com.example.chat", "myApp", "a-b", "größe", "X1y"] {
            let name = ConfigurationSpelling.variable(of: "app.\(id).token_secret")
            let configuration = try await ServerConfiguration.load(
                file: nil, environment: ["TIDINGS_APPS": id, name: TestServer.secret.value])
            #expect(configuration.apps.map(\.tokenSecret) == [TestServer.secret], "\(name)")
        }
        for key in ConfigurationKey.all {
            #expect(ConfigurationSpelling.variable(of: key.name) == key.environmentVariable)
        }
    }

    @Test func `are told from all others that anything in the repository reads`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var names: Set<String> = []
        for folder in ["Sources/Tool", "Sources/Phone", "Tests", "dev", "Examples"] {
            let root = root.appendingPathComponent(folder).resolvingSymlinksInPath()
            let files = FileManager.default.enumerator(atPath: root.path)
            while let name = files?.nextObject() as? String {
                guard name.hasSuffix(".swift") || name.hasSuffix(".py") || folder == "dev",
                    let text = try? String(
                        contentsOf: root.appendingPathComponent(name), encoding: .utf8)
                else { continue }
                // Swift, Python and the shell.
                let read = /(environ(ment)?(\.get\(|\[)|getenv\(|\$\{)"?(TIDINGS_[A-Z_]+)/
                for match in text.matches(of: read) { names.insert(String(match.output.4)) }
            }
        }
        #expect(names.count > 12)
        let keys = Set(ConfigurationKey.all.map(\.environmentVariable))
        #expect(names.filter { !ConfigurationSpelling.isOther($0, "x") && !keys.contains($0) }.sorted() == [])
    }
}

import ArgumentParser
import Foundation
import TidingsModel

struct AppCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Upload, prove, activate and roll back what an app's pushes go out with.",
        discussion: "'tidings credential inspect' says beforehand what a file holds.",
        subcommands: [
            List.self, Add.self, Prove.self, Activate.self, RollBack.self, Retire.self, Remove.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the app's push credentials, one a line.")
        @OptionGroup var app: AppOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let answer = try await self.app.request("GET", "/push-credentials")
            guard !self.json else { return print(answer.text) }
            let all = answer["push_credentials"]?.arrayValue ?? []
            if all.isEmpty { return print("there are no push credentials") }
            for line in TextTable.lines(all.map { Self.row($0) }) { print(line) }
        }

        private static func row(_ credential: JSONValue) -> [String] {
            func text(_ name: String) -> String { credential[name]?.stringValue ?? "" }
            func list(_ name: String) -> String {
                (credential[name]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: ", ")
            }
            let proofs = (credential["proofs"]?.arrayValue ?? []).map { proof in
                let side = proof["environment"]?.stringValue ?? ""
                return proof["good"]?.boolValue == true
                    ? "proven in \(side)" : "refused in \(side) (\(proof["reason"]?.stringValue ?? "TLS"))"
            }
            let end = credential["expires_at"]?.intValue == nil ? "" : "until \(TextTable.time(credential["expires_at"]))"
            return [
                text("id"), text("state").replacingOccurrences(of: "_", with: " "),
                text("kind") == "certificate" ? "certificate" : "key \(text("key_id"))", list("environments"),
                list("topics"), proofs.isEmpty ? "not proven" : proofs.joined(separator: ", "), end,
            ]
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Upload a key or certificate, and print the id it gets.",
            discussion: "Nothing goes out with it before 'tidings app credential activate'.")
        @OptionGroup var app: AppOptions
        @OptionGroup var file: CredentialOptions
        @Option(help: "A bundle identifier the key was made for; give it once for each; all of the team's if left out.")
        var topic: [String] = []
        @Option(help: "A side the key is good on, sandbox or production; both if left out.")
        var environment: [PushEnvironment] = []

        func run() async throws {
            var members = try self.file.members()
            if !self.topic.isEmpty { members.append(("topics", JSONValue(texts: self.topic))) }
            if !self.environment.isEmpty {
                members.append(("environments", JSONValue(texts: self.environment.map(\.rawValue))))
            }
            let answer = try await self.app.request("POST", "/push-credentials", body: .members(members))
            guard let id = answer["id"]?.stringValue else { throw ToolFailure("the answer holds no id") }
            print(id)
        }
    }

    struct Prove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Have the server ask APNs whether a credential is good, and keep the answer.")
        @OptionGroup var credential: OneCredential
        @Option(help: "sandbox or production.") var environment: PushEnvironment
        @Option(help: "The topic; the first of its own if left out.") var topic: String?
        @Option(help: "The device token of a phone that has the app, which proves the topic, too.") var token: String?

        func run() async throws {
            var members: [(String, JSONValue)] = [("environment", .string(self.environment.rawValue))]
            if let topic = self.topic { members.append(("topic", .string(topic))) }
            if let token = self.token { members.append(("token", .string(token))) }
            let answer = try await self.credential.request("/prove", .members(members))
            let verdict = answer["verdict"]?.stringValue ?? ""
            let words = [verdict.replacingOccurrences(of: "_", with: " "), answer["reason"]?.stringValue]
            print((words + [answer["meaning"]?.stringValue]).compactMap { $0 }.joined(separator: ": "))
            if !["proven", "topic_proven"].contains(verdict) { throw ExitCode.failure }
        }
    }

    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let pushes go out with a credential from now on.")
        @OptionGroup var credential: OneCredential
        @Option(help: "The active one that it replaces, which is kept for a roll-back.") var inPlaceOf: String?
        @Flag(help: "Even if APNs has not taken it yet.") var unproven = false

        func run() async throws {
            var members: [(String, JSONValue)] = [("unproven", .bool(self.unproven))]
            if let other = self.inPlaceOf { members.append(("in_place_of", .string(other))) }
            try await self.credential.request("/activate", .members(members))
        }
    }

    struct RollBack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "roll-back", abstract: "Go back to the credential that this one has replaced.")
        @OptionGroup var credential: OneCredential

        func run() async throws { try await self.credential.request("/roll-back", [:]) }
    }

    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send no more pushes with a credential, and keep it.")
        @OptionGroup var credential: OneCredential

        func run() async throws { try await self.credential.request("/retire", [:]) }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a credential that is not active.")
        @OptionGroup var credential: OneCredential

        func run() async throws { try await self.credential.request("", nil, method: "DELETE") }
    }
}

struct OneCredential: ParsableArguments {
    @OptionGroup var app: AppOptions
    @Argument(help: "The credential's id.") var id: String

    @discardableResult
    func request(_ part: String, _ body: JSONValue?, method: String = "POST") async throws -> JSONValue {
        try await self.app.request(method, "/push-credentials/\(APIOptions.escaped(self.id))\(part)", body: body)
    }
}

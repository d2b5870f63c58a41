import ArgumentParser
import Foundation
import TidingsModel

struct AppCredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Upload, prove, activate and roll back what an app's pushes go out with.",
        discussion: "'tidings credential inspect' says beforehand what a file holds.",
        subcommands: [
            List.self, Show.self, Add.self, Prove.self, Activate.self, RollBack.self, Retire.self, Remove.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the app's push credentials, one a line.")
        @OptionGroup var app: AppOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let answer = try await self.app.request("GET", "/push-credentials")
            guard !self.json else { return print(answer) }
            print(list: PushCredentialText.list(answer["push_credentials"]?.arrayValue ?? []))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what a credential is for, what APNs has said of it, and when it expires.")
        @OptionGroup var credential: OneCredential
        @Flag(help: "Print the server's JSON instead of lines.") var json = false

        func run() async throws {
            let answer = try await self.credential.request("", nil, method: "GET")
            if self.json { print(answer) } else { PushCredentialText.one(answer).forEach { print($0) } }
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
            abstract: "Have the server ask APNs whether a credential is good, and keep the answers.",
            discussion: """
                One push for each environment, on a connection of its own, to a device token that nobody has: BadDeviceToken shows that \
                APNs takes the credential. Exits with status 0 only if it is proven in every environment asked.
                """)
        @OptionGroup var credential: OneCredential
        @Option(help: "sandbox or production; give it again to ask both; those it is for if left out.")
        var environment: [PushEnvironment] = []
        @Option(help: "The topic; the first of its own if left out.") var topic: String?
        @Option(help: "The device token of a phone that has the app, in one environment, which proves the topic, too.")
        var token: String?

        func validate() throws {
            guard self.token == nil || self.environment.count == 1 else {
                throw ValidationError("--token is of one environment: give it with --environment")
            }
        }

        func run() async throws {
            var isProven = true
            for environment in try await self.environments() {
                let body = JSONMembers.given(["environment": environment, "topic": self.topic, "token": self.token])
                let answer = try await self.credential.request("/prove", body.json)
                let verdict = answer["verdict"]?.stringValue ?? ""
                let words = [environment, verdict.replacingOccurrences(of: "_", with: " ")]
                let reasons = [answer["reason"]?.stringValue, answer["meaning"]?.stringValue].compactMap { $0 }
                print((words + reasons).joined(separator: ": "))
                if !["proven", "topic_proven"].contains(verdict) { isProven = false }
            }
            if !isProven { throw ExitCode.failure }
        }

        private func environments() async throws -> [String] {
            guard self.environment.isEmpty else { return self.environment.map(\.rawValue) }
            let answer = try await self.credential.request("", nil, method: "GET")
            return (answer["environments"]?.arrayValue ?? []).compactMap(\.stringValue)
        }
    }

    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let pushes go out with a credential from now on.",
            discussion: "No push is lost: what is on its way is answered, and what waits goes out with the new one.")
        @OptionGroup var credential: OneCredential
        @Option(help: "The active one that it replaces, which is kept for a roll-back.") var inPlaceOf: String?
        @Flag(help: "Even if APNs has not taken it yet.") var unproven = false

        func run() async throws {
            let body = JSONMembers.given(["unproven": self.unproven, "in_place_of": self.inPlaceOf])
            try await self.credential.request("/activate", body.json)
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

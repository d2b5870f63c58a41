import ArgumentParser
import TidingsModel

struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Ban people, let them in again, sign them out everywhere, and revoke their tokens.",
        discussion: "The API key needs the scope accounts.",
        subcommands: [Show.self, Ban.self, Unban.self, RevokeTokens.self, SignOut.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print whether a person is banned, and before which time their tokens are revoked.")
        @OptionGroup var person: PersonOptions
        @Flag(help: "Print the server's JSON instead of a line.") var json = false

        func run() async throws {
            let account = try await self.person.request("GET", "account")
            if self.json { print(account) } else { print(Self.line(self.person.user, account)) }
        }

        static func line(_ user: String, _ account: JSONValue) -> String {
            let until = account["ban"]?["until"]?.intValue.map { " until \(TextTable.time(.int($0)))" } ?? ""
            let reason = account["ban"]?["reason"]?.stringValue.map { " (\($0))" } ?? ""
            let state = account["banned"]?.boolValue == true ? "banned\(until)\(reason)" : "may sign in"
            guard let time = account["tokens_not_before"]?.intValue else { return "\(user)  \(state)" }
            return "\(user)  \(state)  tokens issued before \(time) are revoked"
        }
    }

    struct Ban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a person out on all devices, and let nobody sign in as them.",
            discussion: "Messages to them are kept in their log; whoever sends them is not told.")
        @OptionGroup var person: PersonOptions
        @Option(help: "The reason, which the backend and operators alone are told.") var reason: String?
        @Option(help: "The ban's end: 2026-11-27T09:30:00Z, or milliseconds since 1970.") var until: String?

        func validate() throws { _ = try milliseconds("--until", self.until) }

        func run() async throws {
            let reason = self.reason.map { JSONValue.string($0) } ?? .null
            let until = try milliseconds("--until", self.until).map { JSONValue.int($0) } ?? .null
            _ = try await self.person.request("PUT", "ban", body: ["reason": reason, "until": until])
        }
    }

    struct Unban: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a person in again.")
        @OptionGroup var person: PersonOptions

        func run() async throws { _ = try await self.person.request("DELETE", "ban") }
    }

    struct RevokeTokens: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke-tokens",
            abstract: "Revoke the user tokens a person was issued before now.",
            discussion: """
                Connections that live on one are closed. Devices stay signed in, and get pushes; sign-out ends that, too.
                """)
        @OptionGroup var person: PersonOptions
        @Option(help: "Those issued before this time instead, in milliseconds since 1970.") var before: Int64?

        func run() async throws {
            _ = try await self.person.request(
                "POST", "revoke-tokens", body: self.before.map { ["before": .int($0)] } ?? .members([]))
        }
    }

    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out",
            abstract: "Sign a person out on all devices, and revoke the user tokens they were issued before now.",
            discussion: "They can sign in again with a token that is issued from now on.")
        @OptionGroup var person: PersonOptions

        func run() async throws {
            _ = try await self.person.request("POST", "revoke-tokens", body: ["sign_out": true])
        }
    }
}

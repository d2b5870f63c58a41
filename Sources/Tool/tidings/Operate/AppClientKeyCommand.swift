import ArgumentParser
import TidingsModel

struct AppClientKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-key",
        abstract: "Add, list and revoke the keys with which an app's installations get a person without sign-in.",
        discussion: "A client key stands in the app's binary and is no secret.",
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a client key, and print it.")
        @OptionGroup var app: AppOptions
        @Argument(help: "What the key is called: letters, digits, '-', '_' and '.'.") var name: String
        @Option(help: "A key to take instead of a new one, such as that of an app that moves here.") var take: String?
        @Flag(help: "Print the server's JSON instead of the key alone.") var json = false

        func run() async throws {
            var members: [(String, JSONValue)] = [("name", .string(self.name))]
            if let key = self.take { members.append(("key", .string(key))) }
            let answer = try await self.app.request("POST", "/client-keys", body: .members(members))
            if self.json { print(answer) } else { print(answer["key"]?.stringValue ?? "?") }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the client keys, one a line.")
        @OptionGroup var app: AppOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let keys = try await self.app.request("GET", "/client-keys")["client_keys"] ?? .array([])
            if self.json { return print(keys) }
            print(list: ControlText.clientKeys(keys, nothing: "there are no client keys"))
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let nobody become a person with a client key from now on.",
            discussion: "Whoever has become one with it stays one. A key that is revoked never comes back.")
        @OptionGroup var app: AppOptions
        @Argument(help: "The key, or its name.") var key: String

        func run() async throws {
            try await self.app.request("DELETE", "/client-keys/\(APIOptions.escaped(self.key))")
        }
    }
}

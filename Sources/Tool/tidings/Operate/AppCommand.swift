import ArgumentParser
import TidingsModel

struct AppCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Make, show, change and suspend apps, their keys, token secrets and push credentials.",
        discussion: """
            The key of an operator is read from TIDINGS_OPERATOR_KEY; changes need the role administer. All of it holds at once, \
            without a restart of the server.
            """,
        subcommands: [
            List.self, Create.self, Show.self, Apply.self, Export.self, Suspend.self, Resume.self, AppKeyCommand.self,
            AppClientKeyCommand.self, AppSecretCommand.self, AppCredentialCommand.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the apps, one a line.")
        @OptionGroup var options: OperatorOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let apps = try await self.options.access().list("apps", "apps")
            if self.json { print(JSONValue.array(apps)) } else { print(list: ControlText.list(apps)) }
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an app, and print its token secret, this once.",
            discussion: """
                Its settings are the defaults; 'tidings app apply' makes one with others. The backend signs user tokens with the \
                secret, or asks the server for them with an API key ('tidings app key add').
                """)
        @OptionGroup var app: AppOptions
        @OptionGroup var secret: SecretOptions

        func run() async throws {
            let answer = try await self.app.options.request("POST", "apps", body: ["id": .string(self.app.app)])
            if self.secret.json { return print(answer) }
            try self.secret.printMember("secret", of: answer["token_secret"] ?? .null)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print an app's settings, and what its keys and secrets are called.")
        @OptionGroup var app: AppOptions
        @Flag(help: "Print the server's JSON instead of lines.") var json = false

        func run() async throws {
            let app = try await self.app.request("GET")
            if self.json { print(app) } else { ControlText.app(app).forEach { print($0) } }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print an app's settings and client keys as a file for 'tidings app apply'.",
            discussion: """
                API keys and secrets are not part of it: the server tells them to nobody a second time. Nor are webhooks, each of which \
                has a secret.
                """)
        @OptionGroup var app: AppOptions
        @Flag(help: "As JSON instead of YAML.") var json = false

        func run() async throws {
            let app = try await self.app.request("GET")
            let file = AppFile(id: self.app.app, app: app)
            if self.json { print(file.json) } else { file.yaml.forEach { print($0) } }
        }
    }

    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let nobody of an app connect, refuse its keys, and hold its pushes back.",
            discussion: "Nothing is deleted; what waits to be pushed is pushed after 'tidings app resume'.")
        @OptionGroup var app: AppOptions

        func run() async throws { try await self.app.request("POST", "/suspend") }
    }

    struct Resume: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take back 'tidings app suspend'.")
        @OptionGroup var app: AppOptions

        func run() async throws { try await self.app.request("POST", "/resume") }
    }
}

struct AppKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Add, rotate and remove an app's keys for the HTTP API.",
        subcommands: [Add.self, Rotate.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an API key, and print it, this once.")
        @OptionGroup var app: AppOptions
        @OptionGroup var secret: SecretOptions
        @Argument(help: "What the key is called: letters, digits, '-', '_' and '.'.") var name: String
        @Option(
            help: """
                What it may do: tokens, messages, conversations, history, settings, trace, accounts or media; give it once for \
                each.
                """) var scope: [String]

        func run() async throws {
            let body: JSONValue = ["name": .string(self.name), "scopes": JSONValue(texts: self.scope)]
            try self.secret.printMember("key", of: try await self.app.request("POST", "/api-keys", body: body))
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make another key in the place of one, with the same scopes, and print it, this once.")
        @OptionGroup var app: AppOptions
        @OptionGroup var overlap: OverlapOptions
        @OptionGroup var secret: SecretOptions
        @Argument(help: "The key's name.") var name: String

        func run() async throws {
            let part = "/api-keys/\(APIOptions.escaped(self.name))/rotate"
            try self.secret.printMember("key", of: try await self.app.request("POST", part, body: self.overlap.body))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an API key, which opens nothing from then on.")
        @OptionGroup var app: AppOptions
        @Argument(help: "The key's name.") var name: String

        func run() async throws {
            try await self.app.request("DELETE", "/api-keys/\(APIOptions.escaped(self.name))")
        }
    }
}

struct AppSecretCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Rotate and remove the secrets that sign an app's user tokens.",
        subcommands: [Rotate.self, Remove.self])

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make another token secret, and print it, this once.",
            discussion:
                "The server signs with it from now on. Tokens of the ones before are good until the overlap is over.")
        @OptionGroup var app: AppOptions
        @OptionGroup var overlap: OverlapOptions
        @OptionGroup var secret: SecretOptions

        func run() async throws {
            let answer = try await self.app.request("POST", "/token-secrets", body: self.overlap.body)
            try self.secret.printMember("secret", of: answer)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a token secret, whose tokens are refused from then on.",
            discussion: "'tidings app show' names them. The one that signs stays: rotate it first.")
        @OptionGroup var app: AppOptions
        @Argument(help: "The secret's id.") var id: String

        func run() async throws {
            try await self.app.request("DELETE", "/token-secrets/\(APIOptions.escaped(self.id))")
        }
    }
}

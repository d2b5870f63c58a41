import ArgumentParser
import TidingsModel

struct WebhookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract:
            "Add, show, change and test where an app's backend is told what happens, and send dead letters again.",
        discussion: """
            The key of an operator is read from TIDINGS_OPERATOR_KEY; changes need the role administer. All of it holds at once, \
            without a restart of the server.
            """,
        subcommands: [
            List.self, Show.self, Add.self, Set.self, Rotate.self, Test.self, DeadLetters.self, Retry.self,
            Discard.self,
            Remove.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the app's webhooks, one a line.")
        @OptionGroup var app: AppOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let answer = try await self.app.request("GET", "/webhooks")
            guard !self.json else { return print(answer) }
            print(list: WebhookText.list(answer["webhooks"]?.arrayValue ?? []))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a webhook, and how it goes with its deliveries.")
        @OptionGroup var webhook: OneWebhook
        @Flag(help: "Print the server's JSON instead of lines.") var json = false

        func run() async throws {
            let answer = try await self.webhook.request("GET")
            if self.json { print(answer) } else { WebhookText.one(answer).forEach { print($0) } }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a webhook, and print the secret its requests are signed with, this once.",
            discussion: "It is told what happens from then on.")
        @OptionGroup var app: AppOptions
        @OptionGroup var secret: SecretOptions
        @Argument(help: "What it is called, for people.") var name: String
        @Argument(help: "Where it goes, an address that begins with https://.") var url: String
        @Option(
            help: """
                What it is told: message_accepted, message_edited, message_recalled, leg_ended, receipt, device_signed_in, \
                device_signed_out or push_job; give it once for each.
                """) var type: [String]
        @Flag(help: "Tell it nothing before 'tidings webhook set --enable'.") var disabled = false

        func run() async throws {
            let body: JSONValue = [
                "name": .string(self.name), "url": .string(self.url), "types": JSONValue(texts: self.type),
                "enabled": .bool(!self.disabled),
            ]
            try self.secret.printMember("secret", of: try await self.app.request("POST", "/webhooks", body: body))
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a webhook; what is left out stays.")
        @OptionGroup var webhook: OneWebhook
        @Option(help: "What it is called.") var name: String?
        @Option(help: "Where it goes.") var url: String?
        @Option(help: "What it is told, in place of all that it was told; give it once for each.") var type: [String] =
            []
        @Flag(help: "Tell it what happens from now on, and send what waited.") var enable = false
        @Flag(help: "Tell it nothing from now on; what is pending waits.") var disable = false

        func validate() throws {
            guard !self.enable || !self.disable else { throw ValidationError("give --enable or --disable, not both") }
            guard !self.members.isEmpty else {
                throw ValidationError("give --name, --url, --type, --enable or --disable")
            }
        }

        private var members: [(String, JSONValue)] {
            var members: [(String, JSONValue)] = []
            if let name = self.name { members.append(("name", .string(name))) }
            if let url = self.url { members.append(("url", .string(url))) }
            if !self.type.isEmpty { members.append(("types", JSONValue(texts: self.type))) }
            if self.enable || self.disable { members.append(("enabled", .bool(self.enable))) }
            return members
        }

        func run() async throws { try await self.webhook.request("PATCH", body: .members(self.members)) }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make another secret, and print it, this once.",
            discussion: "Requests are signed with the one before, too, until the overlap is over.")
        @OptionGroup var webhook: OneWebhook
        @OptionGroup var overlap: OverlapOptions
        @OptionGroup var secret: SecretOptions

        func run() async throws {
            let answer = try await self.webhook.request("POST", "/secret", body: self.overlap.body)
            try self.secret.printMember("secret", of: answer)
        }
    }

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a delivery of the type test at once, and print what came of it.",
            discussion: "One attempt. Exits with status 0 only if it was answered with 2xx in time.")
        @OptionGroup var webhook: OneWebhook
        @Flag(help: "Print the server's JSON instead of a line.") var json = false

        func run() async throws {
            let answer = try await self.webhook.request("POST", "/test", body: [:])
            if self.json { print(answer) } else { print(WebhookText.test(answer)) }
            guard answer["delivered"]?.boolValue == true else { throw ExitCode.failure }
        }
    }

    struct DeadLetters: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Print what was given up, one a line: when it happened, how often it was tried, and why it failed.")
        @OptionGroup var webhook: OneWebhook
        @Flag(help: "Print the server's JSON, with what the deliveries say, instead of a table.") var json = false

        func run() async throws {
            let all = try await self.webhook.list("/dead-letters", "dead_letters")
            if self.json {
                print(JSONValue.array(all))
            } else {
                print(list: WebhookText.deadLetters(all))
            }
        }
    }

    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send dead letters again, and print how many.",
            discussion: "'tidings webhook dead-letters' prints their ids.")
        @OptionGroup var webhook: OneWebhook
        @Argument(help: "The deliveries' ids; all of the webhook's if left out.") var deliveries: [String] = []

        func run() async throws {
            let body: JSONValue = self.deliveries.isEmpty ? [:] : ["ids": JSONValue(texts: self.deliveries)]
            let answer = try await self.webhook.request("POST", "/dead-letters/retry", body: body)
            print("\(answer["retried"]?.intValue ?? 0) to be sent again")
        }
    }

    struct Discard: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a dead letter.")
        @OptionGroup var webhook: OneWebhook
        @Argument(help: "The delivery's id.") var delivery: String

        func run() async throws {
            try await self.webhook.request("DELETE", "/dead-letters/\(APIOptions.escaped(self.delivery))")
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a webhook, with what is pending and its dead letters.")
        @OptionGroup var webhook: OneWebhook

        func run() async throws { try await self.webhook.request("DELETE") }
    }
}

struct OneWebhook: ParsableArguments {
    @OptionGroup var app: AppOptions
    @Argument(help: "The webhook's name or id.") var webhook: String

    private var path: String { "/webhooks/\(APIOptions.escaped(self.webhook))" }

    @discardableResult
    func request(_ method: String, _ part: String = "", body: JSONValue? = nil) async throws -> JSONValue {
        try await self.app.request(method, self.path + part, body: body)
    }

    func list(_ part: String, _ member: String) async throws -> [JSONValue] {
        try await self.app.options.access().list(
            "apps/\(APIOptions.escaped(self.app.app))\(self.path)\(part)", member)
    }
}

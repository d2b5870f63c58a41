import ArgumentParser
import TidingsModel

struct ConversationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conversation",
        abstract: "Make, show and change groups, discussions and chat rooms.",
        discussion: """
            A conversation is named by kind and id, as a trace prints it: GRP:team, DS:circle or CHRM:lobby. The API key needs \
            the scope conversations; 'messages' needs history.
            """,
        subcommands: [Create.self, Show.self, Add.self, Remove.self, Rename.self, Dissolve.self, Messages.self])

    struct Place: ParsableArguments {
        @OptionGroup var options: APIOptions
        @Option(help: "Who does it; without it the app's backend, which may do everything.") var actor: String?
        @Argument(help: "The conversation, for example GRP:team.") var conversation: ConversationArgument

        @discardableResult
        func request(_ method: String, _ part: String = "", body: JSONValue? = nil) async throws -> JSONValue {
            try await self.options.request(
                method, "conversations/\(self.conversation.path)\(part)", query: [("actor", self.actor)], body: body)
        }
    }

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a conversation; the actor, if any, owns it.")
        @OptionGroup var place: Place
        @Option(help: "The title of its notifications.") var name: String
        @Option(help: "A member; give it once for each.") var member: [String] = []

        func run() async throws {
            try await self.place.request(
                "POST", body: ["name": .string(self.name), "members": JSONValue(texts: self.member)])
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print name, version and members.")
        @OptionGroup var place: Place
        @Flag(help: "Print the server's JSON instead of lines.") var json = false

        func run() async throws {
            let info = try await self.place.request("GET")
            if self.json { print(info) } else { Self.lines(info).forEach { print($0) } }
        }

        static func lines(_ info: JSONValue) -> [String] {
            let members = info["members"]?.arrayValue ?? []
            let dissolved = info["is_dissolved"]?.boolValue == true ? ", dissolved" : ""
            let title = "\(info["name"]?.stringValue ?? ""), version \(info["version"]?.intValue ?? 0)\(dissolved)"
            return ["\(title), \(counted(members.count, "member"))"]
                + members.map { member in
                    let nickname = member["nickname"]?.stringValue.map { " \"\($0)\"" } ?? ""
                    let role = member["role"]?.stringValue ?? "member"
                    return "  \(member["user"]?.stringValue ?? "?")\(nickname)\(role == "member" ? "" : " \(role)")"
                }
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add members.")
        @OptionGroup var place: Place
        @Argument(help: "Whom.") var users: [String]

        func run() async throws {
            try await self.place.request("POST", "/members", body: ["users": JSONValue(texts: self.users)])
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a member.")
        @OptionGroup var place: Place
        @Argument(help: "Whom.") var user: String

        func run() async throws {
            try await self.place.request("DELETE", "/members/\(APIOptions.escaped(self.user))")
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give it another name.")
        @OptionGroup var place: Place
        @Argument(help: "The name.") var name: String

        func run() async throws { try await self.place.request("PUT", "/name", body: ["name": .string(self.name)]) }
    }

    struct Dissolve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Dissolve it: nobody can write any more.")
        @OptionGroup var place: Place

        func run() async throws { try await self.place.request("DELETE") }
    }

    struct Messages: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the messages a person can read there, newest first, one line of JSON each.",
            discussion: "The conversation is named as the person sees it: PR:alice is the one with alice.")
        @OptionGroup var options: APIOptions
        @Argument(help: "The conversation, for example GRP:team.") var conversation: ConversationArgument
        @Option(help: "Who reads.") var user: String
        @Option(help: "Only what is older than this message.") var before: String?
        @Option(help: "At most so many, 1 to 100.") var limit = 20

        func validate() throws { try check("--limit", self.limit, in: 1...100) }

        func run() async throws {
            let answer = try await self.options.request(
                "GET", "conversations/\(self.conversation.path)/messages",
                query: [("user", self.user), ("before", self.before), ("limit", "\(self.limit)")])
            for message in answer["messages"]?.arrayValue ?? [] { print(message) }
        }
    }
}

import ArgumentParser
import TidingsModel

struct SettingsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settings",
        abstract: "Show and change what a person has set, and the app's object names.",
        discussion: "The API key needs the scope settings.",
        subcommands: [Show.self, Level.self, Unread.self, ObjectNames.self])

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print everything a person has set, as JSON.")
        @OptionGroup var person: PersonOptions

        func run() async throws {
            print(try await self.person.request("GET", "settings"))
        }
    }

    struct Level: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set how loud a conversation may be for a person.",
            discussion: "The level 'default' takes back what was set for the conversation.")
        @OptionGroup var person: PersonOptions
        @Argument(help: "The conversation as the person sees it, for example GRP:team.")
        var conversation: ConversationArgument
        @Argument(help: ArgumentHelp("One of \(Self.words).")) var level: String
        @Option(help: "Until when, in milliseconds since 1970.") var until: Int?

        static let words = (NotificationLevel.allCases.map(\.rawValue) + ["default"]).joined(separator: ", ")

        func validate() throws {
            guard self.level == "default" || NotificationLevel(rawValue: self.level) != nil else {
                throw ValidationError("level must be one of \(Self.words), got \"\(self.level)\"")
            }
            guard self.level != "default" || self.until == nil else {
                throw ValidationError("--until needs another level than default")
            }
        }

        func run() async throws {
            let isDefault = self.level == "default"
            let until: JSONValue = self.until.map { .int($0) } ?? .null
            _ = try await self.person.request(
                isDefault ? "DELETE" : "PUT", "settings/\(self.conversation.path)",
                body: isDefault ? nil : ["level": .string(self.level), "level_until": until])
        }
    }

    struct Unread: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print how much a person has not read, in all or in one conversation.")
        @OptionGroup var person: PersonOptions
        @Argument(help: "The conversation as the person sees it, for example GRP:team.")
        var conversation: ConversationArgument?
        @Flag(help: "Print the server's JSON instead of a line.") var json = false

        func run() async throws {
            let part = self.conversation.map { "/\($0.path)" } ?? ""
            let answer = try await self.person.request("GET", "unread\(part)")
            if self.json { print(answer) } else { print(Self.line(answer)) }
        }

        static func line(_ answer: JSONValue) -> String {
            func number(_ name: String) -> Int64 { answer[name]?.intValue ?? 0 }
            let mentions = counted(number("mentions"), "mention")
            if let isMuted = answer["is_muted"]?.boolValue {
                return "\(number("unread")) unread, \(mentions)\(isMuted ? ", muted" : "")"
            }
            return "\(number("unread")) unread, \(number("unread_with_muted")) with muted conversations, "
                + mentions
        }
    }

    struct ObjectNames: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the app's own object names, or register others in their place.",
            discussion: """
                Once an app has registered any, a message of another name that is not built in is refused with \
                unknown_object_name.
                """)
        @OptionGroup var options: APIOptions
        @Option(help: "A name to register; give it once for each.") var register: [String] = []
        @Flag(help: "Register none: any well-formed name is accepted again.") var clear = false

        func validate() throws {
            guard self.register.isEmpty || !self.clear else {
                throw ValidationError("--register and --clear must not be given together")
            }
        }

        func run() async throws {
            if self.clear || !self.register.isEmpty {
                try await self.options.request(
                    "PUT", "object-names", body: ["names": JSONValue(texts: self.register)])
            }
            for name in try await self.options.list("object-names", "names") {
                print(name.stringValue ?? "")
            }
        }
    }
}

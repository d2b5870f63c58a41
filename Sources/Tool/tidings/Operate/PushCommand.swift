import ArgumentParser
import TidingsModel

struct PushCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Push to an audience, and see and stop such pushes.",
        discussion: "The API key needs the scope messages; 'list' and 'show' need trace.",
        subcommands: [Send.self, List.self, Show.self, Cancel.self, Recall.self])

    struct Send: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Push a text, now or later; prints the push's id.",
            discussion: """
                Give whom it is for: --everybody, --user, --device, --alias, --tag, of which any is enough, or --audience with JSON as of the HTTP \
                API: '{"all": [{"tag": "a"}, {"not": {"tag": "b"}}]}'.
                """)
        @OptionGroup var options: APIOptions
        @Flag(help: "To everybody with a device that is signed in.") var everybody = false
        @Option(help: "To a person; give it once for each.") var user: [String] = []
        @Option(help: "To one device of a person, USER/DEVICE; give it once for each.") var device: [String] = []
        @Option(help: "To whom the alias names; give it once for each.") var alias: [String] = []
        @Option(help: "To who has the tag; give it once for each.") var tag: [String] = []
        @Option(help: "To an audience, as JSON.") var audience: String?
        @Option(help: "The notification's title.") var title: String?
        @Option(help: "The account it is from, for example MP:news.") var account: ConversationArgument?
        @Option(help: "When, in milliseconds since 1970.") var at: Int64?
        @Option(help: "When on people's own clocks, for example 2026-12-01T09:00.") var atLocal: String?
        @Option(help: "With --at-local: the clock of people of whom no zone is known, for example Europe/Berlin.")
        var timeZone: String?
        @Option(help: "How many people a second at most.") var rate: Int?
        @Flag(help: "It stands among the conversations of its people.") var conversation = false
        @Flag(help: "With --conversation: it counts as unread.") var counted = false
        @Argument(help: "The text.") var text: String

        func validate() throws {
            _ = try self.whom()
            guard (self.atLocal == nil) == (self.timeZone == nil) else {
                throw ValidationError("give --at-local and --time-zone together, or none of them")
            }
            guard self.at == nil || self.atLocal == nil else {
                throw ValidationError("give --at or --at-local, not both")
            }
            guard self.conversation || !self.counted else {
                throw ValidationError("--counted needs --conversation: what is in no list stays unread")
            }
        }

        func run() async throws {
            let account = self.account.map { ["kind": $0.type, "id": $0.target] as JSONMembers }
            let body: JSONMembers = [
                "notification": JSONMembers.given(["text": self.text, "title": self.title]),
                "audience": try self.whom(), "account": account, "send_at": self.at, "send_at_local": self.atLocal,
                "time_zone": self.timeZone, "rate_per_second": self.rate, "counted": self.counted,
                "conversation": self.conversation,
            ]
            let push = try await self.options.request("POST", "pushes", body: body.json)
            guard let id = push["id"]?.stringValue else { throw ToolFailure("the answer holds no id") }
            print(id)
        }

        func whom() throws -> JSONValue {
            var parts: [JSONValue] = []
            if self.everybody { parts.append(["everybody": true]) }
            if !self.user.isEmpty { parts.append(["users": JSONValue(texts: self.user)]) }
            if !self.device.isEmpty { parts.append(["devices": .array(try self.device.map(Self.device))]) }
            parts += self.alias.map { ["alias": .string($0)] }
            parts += self.tag.map { ["tag": .string($0)] }
            if let audience {
                guard let json = try? JSONValue(parsing: audience) else {
                    throw ValidationError("--audience must be JSON, got \"\(audience)\"")
                }
                parts.append(json)
            }
            guard let first = parts.first else {
                throw ValidationError("give --everybody, --user, --device, --alias, --tag or --audience")
            }
            return parts.count == 1 ? first : ["any": .array(parts)]
        }

        /// A device's name has no slash of its own; a person's may have some.
        private static func device(_ text: String) throws -> JSONValue {
            guard let slash = text.lastIndex(of: "/"), slash != text.startIndex,
                text.index(after: slash) != text.endIndex
            else { throw ValidationError("--device must be USER/DEVICE, got \"\(text)\"") }
            return [
                "user": .string(String(text[..<slash])), "device": .string(String(text[text.index(after: slash)...])),
            ]
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the app's pushes, newest first, one a line.")
        @OptionGroup var options: APIOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let pushes = try await self.options.list("pushes", "pushes")
            if self.json { print(JSONValue.array(pushes)) } else { print(list: PushCommand.list(pushes)) }
        }
    }

    struct One: ParsableArguments {
        @OptionGroup var options: APIOptions
        @Argument(help: "The push's id, 13 characters.") var push: String
        @Flag(help: "Print the server's JSON instead of lines.") var json = false

        func request(_ method: String, _ part: String = "", body: JSONValue? = nil) async throws {
            let push = try await self.options.request(
                method, "pushes/\(APIOptions.escaped(self.push))\(part)", body: body)
            if self.json { print(push) } else { PushCommand.lines(push).forEach { print($0) } }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print how a push stands.")
        @OptionGroup var one: One

        func run() async throws { try await self.one.request("GET") }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send nothing more of a push; what was sent stays.")
        @OptionGroup var one: One

        func run() async throws { try await self.one.request("POST", "/cancel", body: .members([])) }
    }

    struct Recall: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send nothing more of a push, and take back what was sent.")
        @OptionGroup var one: One

        func run() async throws { try await self.one.request("DELETE") }
    }

    static func list(_ pushes: [JSONValue]) -> [String] {
        TextTable.list(["push", "state", "people"], pushes.map(self.row), nothing: "there are no pushes", numbers: [2])
    }

    private static func row(_ push: JSONValue) -> [String] {
        [
            push["id"]?.stringValue ?? "?", push["state"]?.stringValue ?? "?",
            "\(push["progress"]?["recipients"]?.intValue ?? 0)",
        ]
    }

    /// Ends that there are none of are left out.
    static func lines(_ push: JSONValue) -> [String] {
        let statistics = push["statistics"]
        func count(_ name: String) -> Int64 { statistics?[name]?.intValue ?? 0 }
        let ends = (statistics?["ends"]?.objectValue?.members ?? []).filter { $0.value != .int(0) }
        var time: [String] = []
        if let local = push["send_at_local"]?.stringValue {
            // The last zone's time stays when it is over.
            let isNext = push["state"]?.stringValue == "scheduled"
            time = [
                "  at \(local) on people's own clocks" + (isNext ? ", next \(TextTable.time(push["send_at"]))" : "")
            ]
            time += (push["moments"]?.arrayValue ?? []).map { moment in
                let zones = moment["time_zones"]?.arrayValue?.compactMap(\.stringValue) ?? []
                return "  \(moment["utc"]?.stringValue ?? "?")  \(zones.prefix(3).joined(separator: ", "))"
                    + (zones.count > 3 ? " and \(zones.count - 3) more" : "")
            }
        }
        let people = counted(push["progress"]?["recipients"]?.intValue ?? 0, "person", "people")
        let title = (self.row(push).dropLast() + [people]).joined(separator: "  ")
        return [title, "  for \(push["audience"]?.text ?? "?")"] + time + [
            "  shown at least \(count("shown"))  opened \(count("opened"))  repeated at most \(count("repeated"))"
                + "  recalled \(count("recalled"))"
        ] + ends.map { "  \($0.key)  \($0.value.intValue ?? 0)" }
    }
}

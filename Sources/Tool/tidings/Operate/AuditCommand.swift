import ArgumentParser
import TidingsModel

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print who has changed what of apps and operators, and what operators have done in apps.",
        subcommands: [List.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print what was done, the newest first, one a line.",
            discussion: """
                When, who, from where, what, in which app and of what there, and the code if it was refused. The key of an operator with \
                the role administer is read from TIDINGS_OPERATOR_KEY.
                """)
        @OptionGroup var options: OperatorOptions
        @Argument(help: "Records of this app alone.") var app: String?
        @Option(help: "Records of this operator, or of 'configuration' or 'command_line'.") var actor: String?
        @Option(help: "How many at most, 1 to 100000.") var limit = 50
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func validate() throws { try tidings.check("--limit", self.limit, in: 1...100_000) }

        func run() async throws {
            let records = try await self.records(self.options.access())
            if self.json { print(JSONValue.array(records)) } else { print(list: AuditCommand.lines(records)) }
        }

        private func records(_ access: APIAccess) async throws -> [JSONValue] {
            var records: [JSONValue] = []
            var cursor: String?
            repeat {
                let page = try await access.request(
                    "GET", "audit",
                    query: [
                        ("limit", "\(min(100, self.limit - records.count))"), ("app", self.app),
                        ("actor", self.actor), ("cursor", cursor),
                    ])
                records += page["records"]?.arrayValue ?? []
                cursor = page["next"]?.stringValue
            } while cursor != nil && records.count < self.limit
            return records
        }
    }

    static func lines(_ records: [JSONValue]) -> [String] {
        let rows = records.map { record in
            [
                TextTable.time(record["at"]), Self.actor(record), record["address"]?.stringValue ?? "",
                record["action"]?.stringValue ?? "?", record["app"]?.stringValue ?? "",
                record["subject"]?.stringValue ?? "",
                Self.refusal(record),
            ]
        }
        return TextTable.list(
            ["time", "who", "from", "what", "app", "of what", "outcome"], rows, nothing: "nothing is kept of this")
    }

    private static func refusal(_ record: JSONValue) -> String {
        let outcome = record["outcome"]?.stringValue ?? "?"
        return outcome == "done" ? outcome : "refused: \(outcome)"
    }

    private static func actor(_ record: JSONValue) -> String {
        switch record["actor"]?["kind"]?.stringValue {
        case "operator"?: record["actor"]?["name"]?.stringValue ?? "?"
        case let kind?: "(\(kind.replacing("_", with: " ")))"
        case nil: "?"
        }
    }
}

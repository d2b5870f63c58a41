import ArgumentParser
import TidingsModel

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print who has changed what of apps and operators, and what operators have done in apps.",
        discussion: """
            The newest first: when, who, from where, what, in which app and of what there, and the code if it was refused. The key of \
            an operator with the role administer is read from TIDINGS_OPERATOR_KEY.
            """)
    @OptionGroup var options: OperatorOptions
    @Option(help: "Records of this app alone.") var app: String?
    @Option(help: "Records of this operator, or of 'configuration' or 'command_line'.") var actor: String?
    @Option(help: "How many at most, 1 to 100000.") var limit = 50
    @Flag(help: "Print the server's JSON instead of a table.") var json = false

    func validate() throws { try tidings.check("--limit", self.limit, in: 1...100_000) }

    func run() async throws {
        let records = try await self.records(self.options.access())
        if self.json { print(JSONValue.array(records)) } else { Self.lines(records).forEach { print($0) } }
    }

    private func records(_ access: APIAccess) async throws -> [JSONValue] {
        var records: [JSONValue] = []
        var cursor: String?
        repeat {
            let page = try await access.request(
                "GET", "audit",
                query: [
                    ("limit", "\(min(100, self.limit - records.count))"), ("app", self.app), ("actor", self.actor),
                    ("cursor", cursor),
                ])
            records += page["records"]?.arrayValue ?? []
            cursor = page["next"]?.stringValue
        } while cursor != nil && records.count < self.limit
        return records
    }

    static func lines(_ records: [JSONValue]) -> [String] {
        let rows = records.map { record in
            [
                TextTable.time(record["at"]), Self.actor(record), Self.text(record["address"]),
                record["action"]?.stringValue ?? "?", Self.text(record["app"]), Self.text(record["subject"]),
                Self.refusal(record),
            ]
        }
        return rows.isEmpty ? ["nothing is kept of this"] : TextTable.lines(rows)
    }

    private static func text(_ value: JSONValue?) -> String {
        guard let text = value?.stringValue, !text.isEmpty else { return "-" }
        return text
    }

    private static func refusal(_ record: JSONValue) -> String {
        let outcome = record["outcome"]?.stringValue ?? "?"
        return outcome == "done" ? "" : "refused: \(outcome)"
    }

    private static func actor(_ record: JSONValue) -> String {
        switch record["actor"]?["kind"]?.stringValue {
        case "operator"?: record["actor"]?["name"]?.stringValue ?? "?"
        case let kind?: "(\(kind.replacing("_", with: " ")))"
        case nil: "?"
        }
    }
}

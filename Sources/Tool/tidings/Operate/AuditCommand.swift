import ArgumentParser
import TidingsModel

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print who has changed what of apps and operators, the newest first.",
        discussion: "The key of an operator is read from TIDINGS_OPERATOR_KEY; the role administer is needed.")
    @OptionGroup var options: OperatorOptions
    @Option(help: "Changes of this app alone.") var app: String?
    @Option(help: "Changes by this operator or API key, or by configuration or command_line.") var actor: String?
    @Option(help: "How many, 1 to 100.") var limit = 50
    @Flag(help: "Print the server's JSON instead of a table.") var json = false

    func validate() throws { try tidings.check("--limit", self.limit, in: 1...100) }

    func run() async throws {
        let filters = [("app", self.app), ("actor", self.actor)].compactMap { name, value in
            value.map { "&\(name)=\(APIOptions.escaped($0))" }
        }
        let answer = try await self.options.request("GET", "audit?limit=\(self.limit)\(filters.joined())")
        if self.json { print(answer.text) } else { Self.lines(answer).forEach { print($0) } }
    }

    static func lines(_ answer: JSONValue) -> [String] {
        let rows = (answer["records"]?.arrayValue ?? []).map { record in
            [
                TextTable.time(record["at"]), Self.actor(record), record["address"]?.stringValue ?? "",
                record["action"]?.stringValue ?? "?", record["app"]?.stringValue ?? "-",
                record["subject"]?.stringValue ?? "", record["outcome"]?.stringValue ?? "?",
            ]
        }
        return rows.isEmpty ? ["nothing was changed"] : TextTable.lines(rows)
    }

    private static func actor(_ record: JSONValue) -> String {
        let kind = record["actor"]?["kind"]?.stringValue ?? "?"
        guard let name = record["actor"]?["name"]?.stringValue, !name.isEmpty else { return kind }
        return "\(kind) \(name)"
    }
}

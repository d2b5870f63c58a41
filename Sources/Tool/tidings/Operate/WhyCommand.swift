import ArgumentParser
import Foundation
import TidingsModel

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why a person's phones were silent around a time, or what else became of messages to them.",
        discussion: """
            One sentence for each message and device, the newest message first, with the message's time and id. The API key needs the \
            scope trace.
            """)
    @OptionGroup var options: APIOptions
    @Argument(help: "The person.") var user: String
    @Option(help: "The time: 2026-11-27T09:30:00Z, or milliseconds since 1970. Now if it is left out.") var at: String?
    @Option(help: "How far to look around it, in minutes.") var within = 60
    @Option(help: "On this device alone.") var device: String?
    @Option(help: "Of this message alone.") var message: String?
    @Option(help: "Of this end or wait alone, or 'open' or 'ended'.") var state: String?
    @Option(help: "With this in the reason alone.") var reason: String?
    @Option(help: "How many at most, 1 to 1000.") var limit = 50
    @Flag(help: "Print the server's JSON instead of sentences.") var json = false

    func validate() throws {
        try tidings.check("--within", self.within, in: 1...525_600)
        try tidings.check("--limit", self.limit, in: 1...1_000)
        _ = try milliseconds("--at", self.at)
    }

    func run() async throws {
        let legs = try await self.legs()
        if self.json { print(JSONValue.array(legs)) } else { LegSentence.lines(legs).forEach { print($0) } }
    }

    private func legs() async throws -> [JSONValue] {
        let time = try milliseconds("--at", self.at) ?? Int64(Date().timeIntervalSince1970 * 1_000)
        let around = Int64(self.within) * 60_000
        var legs: [JSONValue] = []
        var cursor: String?
        repeat {
            let page = try await self.options.request(
                "GET", "legs",
                query: [
                    ("user", self.user), ("device", self.device), ("message_id", self.message), ("state", self.state),
                    ("reason", self.reason), ("since", "\(max(0, time - around))"), ("until", "\(time + around)"),
                    ("limit", "\(min(100, self.limit - legs.count))"), ("cursor", cursor),
                ])
            legs += page["legs"]?.arrayValue ?? []
            cursor = page["next"]?.stringValue
        } while cursor != nil && legs.count < self.limit
        return legs
    }
}

import ArgumentParser
import Foundation

@main
struct Tidings: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidings",
        abstract: "Self-hosted instant messaging and push for iOS apps.",
        discussion: """
            Start with 'tidings demo', which shows the whole way of a message on this machine. What runs is called by its name; \
            everything else is 'tidings NOUN VERB', and names its app first. Every command prints its options with --help.
            """,
        groupedSubcommands: [
            CommandGroup(name: "Run", subcommands: [Demo.self, Serve.self, APNs.self, Phone.self, Phones.self]),
            CommandGroup(
                name: "Server",
                subcommands: [
                    AppCommand.self, CredentialCommand.self, WebhookCommand.self, OperatorCommand.self,
                    AuditCommand.self, ConsoleCommand.self, StoreCommand.self,
                ]),
            CommandGroup(
                name: "App",
                subcommands: [
                    MessageCommand.self, ConversationCommand.self, PushCommand.self, UserCommand.self,
                    DeviceCommand.self, SettingsCommand.self, TokenCommand.self,
                ]),
            CommandGroup(
                name: "Test", subcommands: [ScenarioCommand.self, Simulate.self, Chaos.self, Bench.self]),
            CommandGroup(name: "Shell", subcommands: [CompletionCommand.self]),
        ])

    @Flag(help: "Show the version.") var version = false

    // Every command would list a version of its own if the configuration had it.
    func validate() throws { if self.version { throw CleanExit.message(toolVersion) } }

    /// Runs the command, or says why it could not.
    static func main() async {
        self.refuseCoreDumps()
        do {
            if let fault = CommandWords.fault(in: Array(CommandLine.arguments.dropFirst()), of: self) {
                throw ValidationError(fault)
            }
            var command = try await self.asyncParseAsRoot()
            // A server and phones outlive the reader of their lines.
            if !(command is Serve || command is Phones) { Leftovers.endWithReader() }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let (text, code) = (self.fullMessage(for: error), self.exitCode(for: error))
            if !text.isEmpty { code == .success ? print(lines: text) : printError(text, .red) }
            Foundation.exit(code.rawValue)
        }
    }

    /// A dump holds messages, keys and tokens. The hard limit stays: `prlimit --core=unlimited --pid PID` allows them again.
    private static func refuseCoreDumps() {
        let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = 0
        setrlimit(resource, &limit)
    }
}

let toolVersion = "0.1.0"

/// Ends a command with one sentence: what was wrong, and the remedy. No stack trace.
struct ToolFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

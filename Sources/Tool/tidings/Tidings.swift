import ArgumentParser
import Foundation

@main
struct Tidings: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidings",
        abstract: "Self-hosted instant messaging and push for iOS apps.",
        discussion: """
            Start with 'tidings demo', which shows the whole way of a message on this machine. Every command prints its \
            options with --help.
            """,
        version: toolVersion,
        subcommands: [
            Serve.self, APNs.self, Phone.self, Phones.self, Demo.self, Send.self, Trace.self, WhyCommand.self,
            Token.self,
            ConversationCommand.self,
            SettingsCommand.self, PushCommand.self, DeviceCommand.self, UserCommand.self, AppCommand.self,
            WebhookCommand.self,
            OperatorCommand.self, ConsoleCommand.self, AuditCommand.self,
            CredentialCommand.self, Simulate.self, ScenarioCommand.self, Bench.self, Chaos.self, Backup.self,
            Restore.self, Check.self, Rebuild.self,
        ])

    /// Runs the command, or says why it could not.
    static func main() async {
        self.refuseCoreDumps()
        do {
            var command = try await self.asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            let (text, code) = (self.fullMessage(for: error), self.exitCode(for: error))
            if !text.isEmpty { code == .success ? print(lines: text) : printError(text) }
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

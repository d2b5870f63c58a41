import ArgumentParser

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
}

let toolVersion = "0.1.0"

/// Ends a command with one sentence: what was wrong, and the remedy. No stack trace.
struct ToolFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

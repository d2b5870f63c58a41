import ArgumentParser
import Testing

@testable import tidings

@Suite struct `The command line` {
    /// Every command with the words that lead to it.
    private static func commands(
        below command: any ParsableCommand.Type = Tidings.self, _ words: [String] = []
    ) -> [(words: [String], command: any ParsableCommand.Type)] {
        [(words: words, command: command)]
            + command.configuration.subcommands.flatMap { self.commands(below: $0, words + [$0._commandName]) }
    }

    @Test func `lists the commands in groups`() {
        let help = Tidings.helpMessage(columns: 120)
        for group in ["RUN", "SERVER", "APP", "TEST", "SHELL"] { #expect(help.contains("\n\(group) SUBCOMMANDS:\n")) }
        #expect(!help.contains("\nSUBCOMMANDS:\n"))
        #expect(Tidings.configuration.subcommands.allSatisfy { !$0.configuration.abstract.isEmpty })
    }

    @Test func `offers the version once`() {
        for (words, command) in Self.commands() {
            let help = Tidings.helpMessage(for: command, columns: 120)
            #expect(help.contains("--version ") == words.isEmpty, "\(words)")
        }
    }

    @Test func `prints the version whatever stands before`() {
        for arguments in [["--version"], ["serve", "--version"], ["app", "list", "--version"]] {
            let error = #expect(throws: (any Error).self) { try Tidings.parseAsRoot(arguments) }
            #expect(error.map { Tidings.fullMessage(for: $0) } == toolVersion)
            #expect(error.map { Tidings.exitCode(for: $0) } == .success)
        }
    }

    @Test(arguments: [
        ("serv", "there is no 'tidings serv'; did you mean 'tidings serve'?"),
        ("app lst demo", "there is no 'tidings app lst'; did you mean 'tidings app list'?"),
        ("app key ad demo", "there is no 'tidings app key ad'; did you mean 'tidings app key add'?"),
        ("bench lives --pairs 1", "there is no 'tidings bench lives'; did you mean 'tidings bench live'?"),
        ("doctor", "there is no 'tidings doctor': 'tidings --help' lists the commands"),
    ])
    func `names the command that was meant`(line: String, fault: String) {
        #expect(CommandWords.fault(in: line.split(separator: " ").map(String.init), of: Tidings.self) == fault)
    }

    @Test(arguments: ["", "--help", "serve --config x", "help serv", "bench --pairs 1", "scenario nowhere", "--vers x"])
    func `leaves every other line to the parser`(line: String) {
        #expect(CommandWords.fault(in: line.split(separator: " ").map(String.init), of: Tidings.self) == nil)
    }

    @Test func `is a noun and a verb for all that does not run by itself`() {
        let running = ["demo", "serve", "apns", "phone", "phones", "scenario", "simulate", "chaos"]
        for command in Tidings.configuration.subcommands where command.configuration.subcommands.isEmpty {
            #expect(running.contains(command._commandName))
        }
    }

    @Test func `has one name for each key, store and port`() {
        for (words, command) in Self.commands() {
            let help = Tidings.helpMessage(for: command, columns: 120)
            for gone in ["--api-key ", "--path ", "--ca ", "--control "] {
                #expect(!help.contains(gone), "\(words): \(gone)")
            }
        }
    }

    @Test func `prints JSON wherever it lists or shows what a server has`() {
        // It prints JSON alone.
        let plain = ["settings show"]
        for (words, command) in Self.commands() where ["list", "show", "unread", "trace", "why"].contains(words.last) {
            guard !plain.contains(words.joined(separator: " ")) else { continue }
            #expect(Tidings.helpMessage(for: command, columns: 120).contains("--json "), "\(words)")
        }
    }

    @Test func `sends a push that counts only with a conversation to read it in`() {
        func parse(_ flags: String...) throws {
            _ = try PushCommand.Send.parse(["demo", "--everybody"] + flags + ["Hi"])
        }
        #expect(throws: Never.self) { try parse("--conversation", "--counted") }
        #expect(throws: (any Error).self) { try parse("--counted") }
    }

    @Test func `names the app first`() throws {
        for line in ["push list chat", "device list chat bob", "message trace chat 01qdq6qdr0000", "audit list chat"] {
            #expect(throws: Never.self) { try Tidings.parseAsRoot(line.split(separator: " ").map(String.init)) }
        }
        let list = try #require(try Tidings.parseAsRoot(["device", "list", "chat", "bob"]) as? DeviceCommand.List)
        #expect([list.person.options.app, list.person.user] == ["chat", "bob"])
        #expect(throws: (any Error).self) { try Tidings.parseAsRoot(["push", "list"]) }
    }

    @Test func `finds every command there is`() {
        for (words, _) in Self.commands() {
            #expect(CommandWords.fault(in: words, of: Tidings.self) == nil, "\(words)")
        }
    }

    @Test func `is completed from where each shell looks`() {
        let home = ["HOME": "/home/ann", "XDG_CONFIG_HOME": ""]
        let moved = home.merging(["XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/etc/ann"]) { $1 }
        func path(_ shell: CompletionShell, _ environment: [String: String]) -> String {
            CompletionCommand.Install.path(for: shell, in: environment)
        }
        #expect(path(.bash, home) == "/home/ann/.local/share/bash-completion/completions/tidings")
        #expect(path(.bash, moved) == "/data/bash-completion/completions/tidings")
        #expect(path(.zsh, home) == "/home/ann/.local/share/zsh/site-functions/_tidings")
        #expect(path(.fish, home) == "/home/ann/.config/fish/completions/tidings.fish")
        #expect(path(.fish, moved) == "/etc/ann/fish/completions/tidings.fish")
    }
}

@Suite struct `The table of the demo` {
    @Test func `fits a terminal of 120 columns`() {
        let line = TextTable.row(
            [
                "125.895", "alice's phone", "the SDK hung up, iOS froze the app", "banner, list, sound, badge 2",
                "each message once, one ring.",
            ], widths: Timeline.widths)
        #expect(line.count == Timeline.widths.reduce(0, +) + 2 * 4)
        #expect(line.count <= 120)
    }

    @Test func `moves what stands behind a cell that is too long, and ends at its last word`() {
        #expect(TextTable.row(["abc", "d", ""], widths: [2, 3, 5]) == "abc  d")
        #expect(TextTable.row(["a", "7"], widths: [2, 3], numbers: [1]) == "a     7")
    }
}

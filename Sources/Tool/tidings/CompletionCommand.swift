import ArgumentParser
import Foundation

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion", abstract: "Have the shell complete commands, options and their values.",
        subcommands: [Install.self])

    struct Install: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write the completion script to the folder in which the shell looks for it, and print its path.",
            discussion: """
                New shells use it; run this again after an update. bash needs the package bash-completion, zsh a line in ~/.zshrc, which \
                is printed. For another folder print the script alone: tidings --generate-completion-script bash.
                """)
        @Argument(help: "bash, zsh or fish; the one that SHELL names if left out.") var shell: String?

        func run() throws {
            let named = self.shell ?? CompletionShell.autodetected()?.rawValue ?? ""
            guard let shell = CompletionShell(rawValue: named) else {
                throw ValidationError("the shell must be bash, zsh or fish, got \"\(named)\"")
            }
            let path = Self.path(for: shell, in: ProcessInfo.processInfo.environment)
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try Tidings.completionScript(for: shell).write(toFile: path, atomically: true, encoding: .utf8)
            } catch {
                throw ToolFailure("\(path) cannot be written: \(error.localizedDescription)")
            }
            print(path)
            if shell == .zsh {
                printError("put into ~/.zshrc: fpath=(\(folder.path) $fpath); autoload -Uz compinit; compinit")
            }
        }

        /// Returns the file that the shell reads when 'tidings' is completed for the first time.
        static func path(for shell: CompletionShell, in environment: [String: String]) -> String {
            func folder(_ variable: String, _ usual: String) -> String {
                let named = environment[variable] ?? ""
                return named.isEmpty ? "\(environment["HOME"] ?? NSHomeDirectory())/\(usual)" : named
            }
            switch shell {
            case .fish: return folder("XDG_CONFIG_HOME", ".config") + "/fish/completions/tidings.fish"
            case .zsh: return folder("XDG_DATA_HOME", ".local/share") + "/zsh/site-functions/_tidings"
            default: return folder("XDG_DATA_HOME", ".local/share") + "/bash-completion/completions/tidings"
            }
        }
    }
}

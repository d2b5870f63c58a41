import ArgumentParser
import TidingsModel

/// Compares the first words of a command line with the commands that there are.
enum CommandWords {
    /// Returns a sentence about the first word that is no command, with the one that was probably meant; nil if there is none.
    ///
    /// - Parameter arguments: without the tool's own name.
    static func fault(in arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = root._commandName
        for word in arguments {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
            guard let next = commands.first(where: { $0._commandName == word }) else {
                let names = commands.map { $0._commandName }
                let near = Spelling.nearest(to: word, among: names, most: max(2, word.count / 3))
                return "there is no '\(path) \(word)'"
                    + (near.map { "; did you mean '\(path) \($0)'?" } ?? ": '\(path) --help' lists the commands")
            }
            (command, path) = (next, "\(path) \(word)")
        }
        return nil
    }
}

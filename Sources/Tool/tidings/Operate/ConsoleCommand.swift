import ArgumentParser
import NIOPosix
import StoreModel
import TidingsServer

struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Let an operator into the console, in a browser on this machine.",
        subcommands: [Link.self])

    static let usualName = OperatorRecord.localName

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a link that signs you in.",
            discussion: """
                The running server is asked over the socket beside its database, as its user. The link is good once, for ten minutes, \
                and printed at a terminal only. An operator who is not there yet is added, and may administer. From other machines \
                operators sign in with a password.
                """)
        @OptionGroup var place: StoreOptions
        @Option(name: .customLong("operator"), help: "Whom the link signs in.") var name = ConsoleCommand.usualName

        func run() async throws {
            let database = try await self.place.database()
            guard let link = try await ConsoleCommand.linkForTerminal(database: database, name: self.name) else {
                throw ToolFailure(
                    "the link is printed at a terminal only, since it signs in whoever reads it: run this without a pipe or a file"
                )
            }
            print(link)
        }
    }

    /// Nil, and none is made, unless the output is a terminal: a link is for eyes alone, and what is piped into a file would stay there.
    static func linkForTerminal(database: String, name: String) async throws -> String? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        return try await OperatorCommand.answer(at: database) {
            try await StoreControl.makeConsoleLink(
                database: database, name: name, group: MultiThreadedEventLoopGroup.singleton)
        }
    }
}

import ArgumentParser
import NIOPosix
import StoreModel
import TidingsServer

struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Print a link that signs you in to the console, in a browser on this machine.",
        discussion: """
            The running server is asked over the socket beside its database, as its user. The link is good once, for ten minutes, and \
            printed at a terminal only. An operator who is not there yet is added, and may administer. From other machines operators sign in \
            with a password.
            """)

    static let usualName = OperatorRecord.localName

    @Option(help: "The database of the running server on this machine.") var store: String?
    @Option(name: [.short, .long], help: "The server's configuration file, for its store.path.") var config: String?
    @Option(name: .customLong("operator"), help: "Whom the link signs in.") var name = ConsoleCommand.usualName

    func validate() throws {
        guard self.store == nil || self.config == nil else {
            throw ValidationError("--store and --config must not be given together")
        }
    }

    func run() async throws {
        var place = StoreOptions()
        (place.path, place.config) = (self.store, self.config)
        guard let link = try await Self.linkForTerminal(database: try await place.database(), name: self.name) else {
            throw ToolFailure(
                "the link is printed at a terminal only, since it signs in whoever reads it: run this without a pipe or a file"
            )
        }
        print(link)
    }

    /// Nil, and none is made, unless the output is a terminal: a link is for eyes alone, and what is piped into a file would stay there.
    static func linkForTerminal(database: String, name: String) async throws -> String? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        let answer: Result<String, StoreControl.Failure>
        do {
            answer = try await StoreControl.makeConsoleLink(
                database: database, name: name, group: MultiThreadedEventLoopGroup.singleton)
        } catch {
            throw ToolFailure(
                "no server answers beside \(database) (\(error)): start it, or run this on its machine, as its user")
        }
        switch answer {
        case .success(let link): return link
        case .failure(let failure): throw ToolFailure(failure.reason)
        }
    }
}

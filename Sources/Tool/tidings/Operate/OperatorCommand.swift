import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import StoreModel
import TidingsModel
import TidingsServer

struct OperatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operator",
        abstract: "Add, list and remove those who run the server, and say what they may do.",
        discussion: """
            The key of an operator is read from TIDINGS_OPERATOR_KEY; changes need the role administer. The first operator is \
            added on the server's own machine, without a key: 'tidings operator add NAME --role administer --store FILE'.
            """,
        subcommands: [Add.self, List.self, Role.self, Rotate.self, Remove.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an operator, and print the key, this once.",
            discussion: """
                With --store or --config the running server is asked over the socket beside its database, as its user and without a \
                key. An operator who is there already gets the role and another key in place of a lost one.
                """)
        @OptionGroup var options: OperatorOptions
        @OptionGroup var secret: SecretOptions
        @Argument(help: "The name: letters, digits, '-', '_', '.' and '@'.") var name: String
        @Option(help: "What the operator may do: view, content, send or administer, each what the ones before may.")
        var role: OperatorRole
        @OptionGroup var place: StoreOptions

        func run() async throws {
            let isLocal = self.place.store != nil || self.place.config != nil
            try self.secret.printMember("key", of: isLocal ? await self.addOverSocket() : await self.addOverHTTP())
        }

        private func addOverHTTP() async throws -> JSONValue {
            try await self.options.request(
                "POST", "operators", body: ["name": .string(self.name), "role": .string(self.role.rawValue)])
        }

        private func addOverSocket() async throws -> JSONValue {
            let key = try await OperatorCommand.addOverSocket(
                database: try await self.place.database(), name: self.name, role: self.role)
            return ["name": .string(self.name), "role": .string(self.role.rawValue), "key": .string(key)]
        }
    }

    /// Adds an operator, or gives one who is there the role and another key, by the socket of the server on this machine.
    static func addOverSocket(database: String, name: String, role: OperatorRole) async throws -> String {
        try await Self.answer(at: database) {
            try await StoreControl.setOperator(
                database: database, name: name, role: role.rawValue, group: MultiThreadedEventLoopGroup.singleton)
        }
    }

    /// Returns what the server beside the database answers; a failure says why, and what to do where no server listens.
    static func answer(
        at database: String, to ask: () async throws -> Result<String, StoreControl.Failure>
    ) async throws -> String {
        do {
            return try await ask().get()
        } catch let failure as StoreControl.Failure {
            throw ToolFailure(failure.reason)
        } catch {
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw ToolFailure(
                "no server answers at \(database).control (\(reason)): start it, or run this on its machine, as its user"
            )
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the operators, one a line.")
        @OptionGroup var options: OperatorOptions
        @Flag(help: "Print the server's JSON instead of a table.") var json = false

        func run() async throws {
            let operators = try await self.options.access().list("operators", "operators")
            if self.json { print(JSONValue.array(operators)) } else { print(list: Self.lines(operators)) }
        }

        static func lines(_ operators: [JSONValue]) -> [String] {
            let rows = operators.map { person in
                [person["name"]?.stringValue ?? "?", person["role"]?.stringValue ?? "?"] + ControlText.uses(person)
            }
            return TextTable.list(
                ["operator", "role"] + ControlText.useHeader, rows, nothing: "there are no operators")
        }
    }

    struct Role: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what an operator may do.",
            discussion: "The last one who may administer keeps the role.")
        @OptionGroup var options: OperatorOptions
        @Argument(help: "The operator.") var name: String
        @Argument(help: "view, content, send or administer.") var role: OperatorRole

        func run() async throws {
            try await self.options.request(
                "PATCH", "operators/\(APIOptions.escaped(self.name))", body: ["role": .string(self.role.rawValue)])
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give an operator another key, and print it, this once.",
            discussion: "The one before opens nothing any more, unless an overlap is given.")
        @OptionGroup var options: OperatorOptions
        @Option(help: "How long the key before is good still, in seconds, 0 to 2592000 (30 days).") var overlap = 0
        @OptionGroup var secret: SecretOptions
        @Argument(help: "The operator.") var name: String

        func validate() throws { try OverlapOptions.check(self.overlap) }

        func run() async throws {
            let path = "operators/\(APIOptions.escaped(self.name))/rotate"
            try self.secret.printMember(
                "key", of: try await self.options.request("POST", path, body: OverlapOptions.body(self.overlap)))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an operator, whose key opens nothing from then on.",
            discussion: "The last one who may administer stays.")
        @OptionGroup var options: OperatorOptions
        @Argument(help: "The operator.") var name: String

        func run() async throws {
            try await self.options.request("DELETE", "operators/\(APIOptions.escaped(self.name))")
        }
    }
}

extension OperatorRole: ExpressibleByArgument {}

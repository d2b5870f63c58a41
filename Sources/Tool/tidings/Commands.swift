public import ArgumentParser
import Foundation
import TidingsClient
public import TidingsModel

/// The options of a command that an API key of its app opens.
struct APIOptions: ParsableArguments {
    @Option(help: "Address of the server's HTTP API.") var api = "http://127.0.0.1:7480"
    @Option(
        name: .customLong("key"),
        help: "An API key of the app, or an operator's; better in the environment as TIDINGS_API_KEY.")
    var apiKey: String?
    @Argument(help: "The app.") var app: String

    func key() throws -> String {
        guard let key = Secrets.find(self.apiKey, "TIDINGS_API_KEY") else {
            throw ToolFailure("an API key is needed: set TIDINGS_API_KEY or give --key")
        }
        return key
    }
}

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Ask the server for user tokens.",
        discussion: "The API key needs the scope tokens.", subcommands: [Create.self])

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ask the server for a user token.",
            discussion:
                "Prints the token alone, so that it can go into a variable: TOKEN=$(tidings token create demo alice).")
        @OptionGroup var person: PersonOptions
        @Option(help: "How long it is good, in seconds.") var seconds = 86_400

        func validate() throws {
            guard self.seconds >= 1 else { throw ValidationError("--seconds must be at least 1, got \(self.seconds)") }
        }

        func run() async throws {
            print(try await self.person.options.userToken(for: self.person.user, seconds: self.seconds))
        }
    }
}

struct MessageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message", abstract: "Send a message, and say what has become of messages.",
        discussion: "The API key needs the scope tokens to send, and trace for the others.",
        subcommands: [Send.self, Trace.self, WhyCommand.self])
}

struct Trace: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the life of one message: every leg with its end, reason and times, and its steps.",
        discussion: "A recall and a custom message have ids and lives of their own.")
    @OptionGroup var options: APIOptions
    @Argument(help: "The message's id, 13 characters.") var message: String
    @Flag(help: "Print the server's JSON instead of a table.") var json = false

    func run() async throws {
        guard let id = MessageID(self.message) else {
            throw ValidationError("message must be the 13 characters of a message id, got \"\(self.message)\"")
        }
        let trace = try await self.options.request("GET", "messages/\(id)/trace")
        if self.json { print(trace) } else { TraceTable(trace).lines.forEach { print($0) } }
    }
}

struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send one message through the SDK and wait until the server has it on disk.",
        discussion: "Prints the message's id. Without a user token one is asked for with the API key.")
    @OptionGroup var options: APIOptions
    @Option(help: "Address of the gateway.") var gateway = "ws://127.0.0.1:7400"
    @Option(help: "Who sends.") var from: String
    @Option(help: "Who receives, or the conversation's id.") var to: String
    @Option(help: "Kind of conversation: PR, DS, GRP, CS, SYS, MC, MP, PH or CHRM.")
    var type = ConversationType.direct
    @Option(help: "Whom the message mentions; give it once for each.") var mention: [String] = []
    @Flag(help: "The message mentions everybody.") var mentionAll = false
    @Option(help: "For which members alone it is; give it once for each.") var recipient: [String] = []
    @Option(help: "The sender's user token; better in the environment as TIDINGS_TOKEN.") var userToken: String?
    @Argument(help: "The text.") var text: String

    func validate() throws {
        guard self.mention.isEmpty || !self.mentionAll else {
            throw ValidationError("--mention and --mention-all must not be given together")
        }
    }

    func run() async throws {
        let folder = try TemporaryFolder("send")
        defer { folder.remove() }
        let given = Secrets.find(self.userToken, "TIDINGS_TOKEN")
        let token = if let given { given } else { try await self.options.userToken(for: self.from, seconds: 300) }
        guard let url = URL(string: self.gateway) else { throw ToolFailure("\(self.gateway) is not an address") }
        var configuration = ChatClient.Configuration(appKey: AppID(self.options.app), serverURL: url)
        configuration.storeFolder = URL(fileURLWithPath: folder.path, isDirectory: true)
        configuration.connectTimeLimit = 10
        let client = ChatClient(configuration: configuration)
        try await client.connect(userID: UserID(self.from), token: token)
        let conversation = ConversationID(type: self.type, target: self.to)
        let mentioned = self.mention.map { UserID($0) }
        let mentions: Mentions = self.mentionAll ? .everyone : mentioned.isEmpty ? .none : .users(mentioned)
        let sent = try await client.send(
            text: self.text, to: conversation, mentions: mentions, recipients: self.recipient.map { UserID($0) })
        // This device exists for one message only; signed out, it gets no legs.
        await client.signOut()
        print(sent.id)
    }
}

extension ConversationType: ExpressibleByArgument {}
extension PushEnvironment: ExpressibleByArgument {}

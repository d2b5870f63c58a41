import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The backend of the example app, as every app with Tidings has one: it knows who may sign in, and asks the server for user
/// tokens with its API key, which no phone ever sees.
@main struct ChatBackend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ChatBackend",
        abstract: "The example app's backend: signs people in, and hands out user tokens that it asks Tidings for.",
        subcommands: [ServePhones.self, AddUser.self], defaultSubcommand: ServePhones.self)
}

/// The folder of users and sessions.
struct StateOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Folder for users.json and sessions.json; made if missing.", valueName: "folder"))
    var state = "chat-backend"

    var folder: URL { URL(fileURLWithPath: self.state, isDirectory: true) }
}

struct AddUser: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let somebody sign in, or give them another password, which ends their sessions.",
        discussion: """
            On a terminal it asks for the password, twice, and shows nothing of it; otherwise the password is the first line of \
            standard input, or of --password-file. It must have \(SignInRule.password).
            """)

    @OptionGroup var options: StateOptions
    @Option(help: ArgumentHelp("A file with the password in its first line.", valueName: "file"))
    var passwordFile: String?
    @Argument(help: "The user's id: \(SignInRule.user).") var user: String

    func run() async throws {
        umask(0o077)
        try await People(folder: self.options.folder).setPassword(try self.password(), of: self.user)
        print("\(self.user) can sign in")
    }

    private func password() throws -> String {
        guard let path = self.passwordFile else { return try self.typedPassword() }
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8)
        else { throw ValidationError("--password-file must be a readable file in UTF-8, got \"\(path)\"") }
        // The end of a line may have two characters' length.
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }

    private func typedPassword() throws -> String {
        guard isatty(STDIN_FILENO) == 1 else { return readLine() ?? "" }
        let password = Self.readAnswer(to: "Password of \(self.user): ")
        guard Self.readAnswer(to: "Once more: ") == password else {
            throw ValidationError("the password was typed in two ways: nothing has changed")
        }
        return password
    }

    /// A line from the terminal, of which it shows nothing.
    private static func readAnswer(to question: String) -> String {
        var shown = termios()
        let isKnown = tcgetattr(STDIN_FILENO, &shown) == 0
        if isKnown {
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        }
        // Only now: what is typed before is thrown away.
        FileHandle.standardError.write(Data(question.utf8))
        defer {
            if isKnown { tcsetattr(STDIN_FILENO, TCSANOW, &shown) }
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine() ?? ""
    }
}

struct ServePhones: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Answer POST /sign-in, /token and /sign-out (this is what it does without a subcommand).",
        discussion: """
            The API key, which needs the scope 'tokens', is read from TIDINGS_API_KEY.

            POST /sign-in   {"user":"alice","password":"…"}        answers session, user, app, server_url and api_url
            POST /token     Authorization: Bearer SESSION          answers token, user and expires_at
            POST /sign-out  Authorization: Bearer SESSION          ends the session
            GET  /healthz

            What is wrong is said as application/problem+json. Passwords travel as they are: put a proxy with TLS before it \
            wherever it is reached from other machines.
            """)

    @OptionGroup var options: StateOptions
    @Option(help: "Address to listen on. Anything but loopback makes it reachable for others.") var host = "127.0.0.1"
    @Option(help: "Port to listen on; 0 takes a free one.") var port = 7_490
    @Option(help: ArgumentHelp("Tidings' HTTP API.", valueName: "url")) var tidings = "http://127.0.0.1:7480"
    @Option(help: "The app on that server.") var app = "demo"
    @Option(help: ArgumentHelp("Tidings' gateway, as phones are told it.", valueName: "url"))
    var gateway = "ws://127.0.0.1:7400"
    @Option(help: ArgumentHelp("Tidings' routes for phones, as phones are told them.", valueName: "url"))
    var phoneRoutes = "http://127.0.0.1:7481"
    @Option(help: "How long a user token is good, in seconds: 60 to 86400.") var tokenSeconds = 3_600
    @Option(help: "How long somebody stays signed in, in days: 1 to 365.") var sessionDays = 90

    func validate() throws {
        guard (0...65_535).contains(self.port) else {
            throw ValidationError("--port must be 0 to 65535, got \(self.port)")
        }
        let isAllowed: (UnicodeScalar) -> Bool = { $0.value > 32 && $0.value != 127 && $0 != "/" }
        guard (1...64).contains(self.app.utf8.count), self.app.unicodeScalars.allSatisfy(isAllowed) else {
            throw ValidationError(
                "--app must have 1 to 64 bytes, without spaces, control characters and '/', got \"\(self.app)\"")
        }
        guard (60...86_400).contains(self.tokenSeconds) else {
            throw ValidationError("--token-seconds must be 60 to 86400, got \(self.tokenSeconds)")
        }
        guard (1...365).contains(self.sessionDays) else {
            throw ValidationError("--session-days must be 1 to 365, got \(self.sessionDays)")
        }
    }

    func run() async throws {
        guard let key = ProcessInfo.processInfo.environment["TIDINGS_API_KEY"], !key.isEmpty else {
            throw ValidationError(
                "TIDINGS_API_KEY must be set: an API key of the app \(self.app) with the scope tokens")
        }
        umask(0o077)
        let people = People(folder: self.options.folder, sessionSeconds: Int64(self.sessionDays) * 86_400)
        try await people.makeFolder()
        var logger = Logger(label: "chat.backend")
        logger.logLevel = .notice
        let routes = BackendRoutes(
            people: people,
            tokens: UserTokenSource(
                address: try Self.url(self.tidings, "--tidings", ["http", "https"]), app: self.app, apiKey: key,
                seconds: self.tokenSeconds),
            told: [
                "app": self.app, "server_url": try Self.url(self.gateway, "--gateway", ["ws", "wss"]).absoluteString,
                "api_url": try Self.url(self.phoneRoutes, "--phone-routes", ["http", "https"]).absoluteString,
            ], logger: logger)
        let (host, port) = (self.host, self.port)
        let application = Application(
            router: routes.router(), configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                print("listening on http://\(host):\(channel.localAddress?.port ?? 0)")
                fflush(nil)
            }, logger: logger)
        do {
            try await application.runService()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw StartFailure(
                description: "port \(port) on \(host) is in use: end what uses it, or choose another with --port")
        }
    }

    private static func url(_ text: String, _ option: String, _ schemes: [String]) throws -> URL {
        guard let url = URL(string: text), let scheme = url.scheme, schemes.contains(scheme), url.host != nil else {
            let forms = schemes.map { "\($0)://" }.joined(separator: " or ")
            throw ValidationError("\(option) must be an address with \(forms), got \"\(text)\"")
        }
        return url
    }
}

/// Why the backend cannot begin; a sentence.
struct StartFailure: Error, CustomStringConvertible {
    var description: String
}

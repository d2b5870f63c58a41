import ArgumentParser
import TidingsModel

/// The options of a command that needs the key of an operator.
struct OperatorOptions: ParsableArguments {
    @Option(help: "Address of the server's HTTP API.") var api = "http://127.0.0.1:7480"
    @Option(help: "The key of an operator; better in the environment as TIDINGS_OPERATOR_KEY.") var key: String?

    func access() throws -> APIAccess {
        guard let key = Secrets.find(self.key, "TIDINGS_OPERATOR_KEY") else {
            throw ToolFailure("the key of an operator is needed: set TIDINGS_OPERATOR_KEY or give --key")
        }
        return APIAccess(api: self.api, key: key)
    }

    /// - Parameter path: what follows `/v1/`, its parts escaped.
    @discardableResult
    func request(
        _ method: String, _ path: String, headers: [String: String] = [:], body: JSONValue? = nil
    ) async throws -> JSONValue {
        try await self.access().request(method, path, headers: headers, body: body)
    }
}

/// The options of a command about one app.
struct AppOptions: ParsableArguments {
    @OptionGroup var options: OperatorOptions
    @Argument(help: "The app.") var app: String

    /// - Parameter part: what follows `/v1/apps/APP`, with its slash.
    @discardableResult
    func request(_ method: String, _ part: String = "", body: JSONValue? = nil) async throws -> JSONValue {
        try await self.options.request(method, "apps/\(APIOptions.escaped(self.app))\(part)", body: body)
    }
}

/// How long what a new key or secret takes the place of is good still.
struct OverlapOptions: ParsableArguments {
    @Option(help: "How long the one before is good still, in seconds, 0 to 2592000 (30 days).") var overlap = 86_400

    func validate() throws { try Self.check(self.overlap) }

    var body: JSONValue { Self.body(self.overlap) }

    static func check(_ seconds: Int) throws { try tidings.check("--overlap", seconds, in: 0...2_592_000) }
    static func body(_ seconds: Int) -> JSONValue { ["overlap_seconds": .int(seconds)] }
}

/// How a command tells what the server answers a single time.
struct SecretOptions: ParsableArguments {
    @Flag(help: "Print the server's JSON instead of the secret alone.") var json = false

    /// The member alone, so that it can go into a variable.
    func printMember(_ member: String, of answer: JSONValue) throws {
        guard let text = answer[member]?.stringValue else { throw ToolFailure("the answer holds no \(member)") }
        if self.json { print(answer) } else { print(text) }
    }
}

import Foundation
import NIOPosix
import TidingsModel

@testable import TidingsServer

extension TestServer {
    /// Adds an operator on the server's machine, or has the key of one there is drawn anew.
    func operatorKey(_ name: String = "olga", _ role: String = "administer") async throws -> String {
        try await StoreControl.setOperator(
            database: self.configuration.store.path, name: name, role: role,
            group: MultiThreadedEventLoopGroup.singleton
        ).get()
    }

    /// Runs a server with an operator who may do everything, of whom `body` gets the key.
    static func withOperator(_ body: (TestServer, String) async throws -> Void) async throws {
        try await Self.with { server in try await body(server, try await server.operatorKey()) }
    }

    /// An app with everything by its default; answers its token secret.
    func makeApp(_ id: String = "shop", key: String) async throws -> String {
        let made = try await self.request("POST", "/v1/apps", key: key, body: #"{"id":"\#(id)"}"#)
        guard let secret = made.json["token_secret"]?["secret"]?.stringValue else {
            throw RawClient.UnexpectedAnswer(text: made.text)
        }
        return secret
    }

    /// Makes an API key; answers it.
    func makeKey(_ scopes: String, app: String = "shop", key: String) async throws -> String {
        let made = try await self.request(
            "POST", "/v1/apps/\(app)/api-keys", key: key, body: #"{"name":"backend","scopes":\#(scopes)}"#)
        guard let drawn = made.json["key"]?.stringValue else { throw RawClient.UnexpectedAnswer(text: made.text) }
        return drawn
    }

    /// What a client with a token for the app is told first.
    func welcome(_ user: UserID, app: AppID, secret: String) async throws -> (client: RawClient, problem: String?) {
        let tokens = try UserTokens(apps: [.init(id: app, tokenSecret: Secret(secret))])
        let token = tokens.token(for: UserKey(app: app, user: user), expiresAtSeconds: 4_000_000_000) ?? ""
        let client = try await RawClient.open(port: self.listening.gatewayPort)
        try await client.send(self.hello(user, token: token))
        switch try await client.nextFrame() {
        case .welcome?: return (client, nil)
        case .problem(let problem, _)?: return (client, problem.code.rawValue)
        default: return (client, "neither")
        }
    }
}

import NIOPosix
import TidingsModel

@testable import TidingsServer

/// A browser that is signed in: it sends the cookie with everything, and the token with what changes something.
struct Browser {
    let server: TestServer
    let cookie: String
    let token: String

    func request(
        _ method: String, _ path: String, body: String? = nil, headers: [String] = [], host: String = "localhost"
    ) async throws -> APIResponse {
        let token = method == "GET" ? [] : ["X-CSRF-Token: \(self.token)"]
        return try await self.bare(method, path, body: body, headers: token + headers, host: host)
    }

    /// Without the token.
    func bare(
        _ method: String, _ path: String, body: String? = nil, headers: [String] = [], host: String = "localhost"
    ) async throws -> APIResponse {
        try await self.server.request(
            method, path, key: nil, body: body, headers: ["Cookie: \(self.cookie)"] + headers, host: host)
    }
}

extension TestServer {
    static let password = "a long pass phrase"

    /// Adds an operator with a password, on the server's machine.
    @discardableResult
    func operatorWithPassword(
        _ name: String = "olga", _ role: String = "administer", password: String = Self.password
    ) async throws -> String {
        let key = try await self.operatorKey(name, role)
        let admin = role == "administer" ? key : try await self.operatorKey("root")
        let set = try await self.request(
            "PUT", "/v1/operators/\(name)/password", key: admin, body: #"{"password":"\#(password)"}"#)
        guard set.status == 204 else { throw RawClient.UnexpectedAnswer(text: set.text) }
        return key
    }

    func signIn(
        _ name: String = "olga", password: String = Self.password, headers: [String] = [], host: String = "localhost"
    ) async throws -> APIResponse {
        try await self.request(
            "POST", "/v1/session", key: nil, body: #"{"operator":"\#(name)","password":"\#(password)"}"#,
            headers: headers, host: host)
    }

    func browser(_ name: String = "olga", password: String = Self.password) async throws -> Browser {
        try self.browser(of: try await self.signIn(name, password: password))
    }

    func browser(of answer: APIResponse) throws -> Browser {
        guard answer.status == 200, let cookie = answer.header("Set-Cookie"),
            let token = answer.json["csrf_token"]?.stringValue
        else { throw RawClient.UnexpectedAnswer(text: answer.text) }
        return Browser(server: self, cookie: String(cookie.prefix { $0 != ";" }), token: token)
    }

    /// What the socket beside the database answers.
    func consoleLink(_ name: String = "local") async throws -> Result<String, StoreControl.Failure> {
        try await StoreControl.makeConsoleLink(
            database: self.configuration.store.path, name: name, group: MultiThreadedEventLoopGroup.singleton)
    }

    /// Signs in with the secret of a link.
    func use(_ link: String, headers: [String] = []) async throws -> APIResponse {
        let secret = link.split(separator: "=").last ?? ""
        return try await self.request(
            "POST", "/v1/session", key: nil, body: #"{"link":"\#(secret)"}"#, headers: headers)
    }
}

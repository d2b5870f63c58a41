import ArgumentParser
import Foundation
import TidingsModel

/// Kind and id as traces print them, for example `GRP:team`.
struct ConversationArgument: ExpressibleByArgument, Equatable {
    var type: ConversationType
    var target: String

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else { return nil }
        self.type = type
        self.target = String(parts[1])
    }

    var path: String { "\(self.type.rawValue)/\(APIOptions.escaped(self.target))" }
}

/// The options of a command about one person.
struct PersonOptions: ParsableArguments {
    @OptionGroup var options: APIOptions
    @Argument(help: "The person.") var user: String

    /// - Parameter path: what follows `/v1/apps/APP/users/USER/`.
    func request(_ method: String, _ path: String, body: JSONValue? = nil) async throws -> JSONValue {
        try await self.options.request(method, "users/\(APIOptions.escaped(self.user))/\(path)", body: body)
    }
}

extension APIOptions {
    func userToken(for user: String, seconds: Int) async throws -> String {
        let answer = try await self.request(
            "POST", "tokens", body: ["user": .string(user), "expires_in_seconds": .int(seconds)])
        guard let token = answer["token"]?.stringValue else { throw ToolFailure("the answer holds no token") }
        return token
    }

    /// - Parameter path: what follows `/v1/apps/APP/`, its parts escaped.
    @discardableResult
    func request(
        _ method: String, _ path: String, query: [(String, String?)] = [], body: JSONValue? = nil
    ) async throws -> JSONValue {
        try await self.access().request(
            method, "apps/\(Self.escaped(self.app))/\(path)", query: query, body: body)
    }

    /// All elements of a list, page by page.
    func list(_ path: String, _ member: String) async throws -> [JSONValue] {
        try await self.access().list("apps/\(Self.escaped(self.app))/\(path)", member)
    }

    private func access() throws -> APIAccess { APIAccess(api: self.api, key: try self.key()) }

    static func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}

/// A server's HTTP API, and a key for it.
struct APIAccess {
    var api: String
    var key: String

    /// - Parameter path: what follows `/v1/`, its parts escaped.
    @discardableResult
    func request(
        _ method: String, _ path: String, query: [(String, String?)] = [], headers: [String: String] = [:],
        body: JSONValue? = nil
    ) async throws -> JSONValue {
        let items = query.compactMap { name, value in value.map { "\(name)=\(APIOptions.escaped($0))" } }
        let address = "\(self.api)/v1/\(path)"
        return try await HTTP.json(
            method, items.isEmpty ? address : "\(address)?\(items.joined(separator: "&"))", key: self.key,
            headers: headers, body: body)
    }

    /// All elements of a list, page by page.
    func list(_ path: String, _ member: String) async throws -> [JSONValue] {
        var all: [JSONValue] = []
        var cursor: String?
        repeat {
            let page = try await self.request("GET", path, query: [("limit", "100"), ("cursor", cursor)])
            all += page[member]?.arrayValue ?? []
            cursor = page["next"]?.stringValue
        } while cursor != nil
        return all
    }
}

extension JSONValue {
    init(texts: [String]) { self = .array(texts.map { .string($0) }) }
}

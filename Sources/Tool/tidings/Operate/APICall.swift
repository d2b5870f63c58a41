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

extension APIOptions {
    /// - Parameters: - path: what follows `/v1/apps/APP/`, its parts escaped. - query: those without a value are left
    /// out.
    func ask(
        _ method: String, _ path: String, query: [(String, String?)] = [], body: JSONValue? = nil
    ) async throws -> JSONValue {
        let items = query.compactMap { name, value in value.map { "\(name)=\(Self.escaped($0))" } }
        let address = "\(self.api)/v1/apps/\(Self.escaped(self.app))/\(path)"
        return try await HTTP.json(
            method, items.isEmpty ? address : "\(address)?\(items.joined(separator: "&"))", key: try self.key(),
            body: body)
    }

    /// RFC 3986 §2.3.
    static func escaped(_ text: String) -> String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }
}

extension JSONValue {
    init(texts: [String]) { self = .array(texts.map { .string($0) }) }
}

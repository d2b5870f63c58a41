/// The values that `${…}` in a text stands for: parts of the case's own server.
package enum ServerWords: Hashable, Sendable {
    /// The address at which people of `server.people` sign in.
    case backend
    /// The address clients connect to.
    case gateway
    /// The address of the HTTP API.
    case api
    /// The address of the routes for phones.
    case phones
    /// A user token.
    case token(String)

    static let allowed = ["backend", "gateway", "api", "phones", "token of USER"]

    init?(_ name: String) {
        switch name {
        case "backend": self = .backend
        case "gateway": self = .gateway
        case "api": self = .api
        case "phones": self = .phones
        default:
            guard name.hasPrefix("token of "), name.count > "token of ".count else { return nil }
            self = .token(String(name.dropFirst("token of ".count)))
        }
    }

    static func names(in text: String) -> [String] { Self.parts(of: text).compactMap { $0.isName ? $0.text : nil } }

    /// The text with what its names stand for; a name that is none stays.
    package static func fill(_ text: String, by value: (ServerWords) throws -> String) rethrows -> String {
        try Self.parts(of: text).map { part in
            guard part.isName else { return part.text }
            return try Self.init(part.text).map(value) ?? "${\(part.text)}"
        }.joined()
    }

    private static func parts(of text: String) -> [(text: String, isName: Bool)] {
        var parts: [(text: String, isName: Bool)] = []
        var rest = Substring(text)
        while let start = Self.start(in: rest), let end = rest[start...].firstIndex(of: "}") {
            parts.append((String(rest[..<start]), false))
            parts.append((String(rest[rest.index(start, offsetBy: 2)..<end]), true))
            rest = rest[rest.index(after: end)...]
        }
        return parts + [(String(rest), false)]
    }

    private static func start(in text: Substring) -> Substring.Index? {
        var index = text.startIndex
        while let dollar = text[index...].firstIndex(of: "$") {
            index = text.index(after: dollar)
            if index < text.endIndex, text[index] == "{" { return dollar }
        }
        return nil
    }
}

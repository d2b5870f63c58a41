import Crypto
import Foundation
import Hummingbird
import TidingsModel

/// One page of a list: the query's `cursor` says after which element, `limit` how many; the answer's `next` is the cursor of the next page,
/// null with the last one. A cursor names the element itself, so elements that come or go between two pages neither repeat nor hide others.
struct Paging: Sendable {
    static let query = ["cursor", "limit"]
    static let limitMax: Int64 = 100
    static let limitUsual: Int64 = 50

    let limit: Int
    /// The content of the cursor; nil for the first page.
    private let last: String?
    private let list: [UInt8]

    private static let rule = "must be the next of an earlier answer of this list"
    private static let digestBytes = 6

    /// - Parameters: limitMax: the most elements of a page, and how many without a limit.
    ///   of: members of the query that say which list it is.
    init(_ request: Request, limitMax: Int64? = nil, of members: [String] = []) throws(InvalidField) {
        self.limit = Int(
            try API.number(
                request, "limit", 1...(limitMax ?? Self.limitMax), default: limitMax ?? Self.limitUsual))
        let identity = [request.uri.path] + members.map { request.member($0) ?? "" }
        self.list = Array(SHA256.hash(data: Data(identity.joined(separator: "\n").utf8)).prefix(Self.digestBytes))
        guard let cursor = request.member("cursor") else {
            self.last = nil
            return
        }
        guard let bytes = Base64.decode(cursor.utf8, isStrict: true), bytes.starts(with: self.list),
            let after = String(validating: bytes.dropFirst(Self.digestBytes), as: UTF8.self), !after.isEmpty
        else { throw Self.bad }
        self.last = after
    }

    static var bad: InvalidField { InvalidField(field: "cursor", rule: Self.rule) }

    /// Reads what the cursor holds.
    func after<Value>(_ read: (String) -> Value?) throws(InvalidField) -> Value? {
        guard let text = self.last else { return nil }
        guard let value = read(text) else { throw Self.bad }
        return value
    }

    func cursor(after element: String) -> String { Base64.encode(self.list + Array(element.utf8), .url) }

    func next(after element: String?, hasMore: Bool) -> JSONValue {
        guard hasMore, let element else { return .null }
        return .string(self.cursor(after: element))
    }

    /// One page of what is left after the cursor of a list that is sorted by `key`.
    func page<Element, Key: Comparable>(
        of all: [Element], by key: (Element) -> Key, text: (Key) -> String, read: (String) -> Key?
    ) throws(InvalidField) -> (elements: [Element], next: JSONValue) {
        let after = try self.after(read)
        let rest = after.map { after in all.drop { key($0) <= after } } ?? all[...]
        let page = Array(rest.prefix(self.limit))
        return (page, self.next(after: page.last.map { text(key($0)) }, hasMore: rest.count > page.count))
    }
}

extension ConversationID {
    /// In a cursor.
    var place: String { "\(self.type.rawValue) \(self.target)" }

    init?(place: String) {
        let parts = place.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let type = ConversationType(rawValue: String(parts[0])) else { return nil }
        self.init(type: type, target: String(parts[1]))
    }
}

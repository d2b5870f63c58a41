import Foundation
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

/// What many routes read of a request, and how they ask the core what a client could ask, too.
extension API {
    // MARK: - Asking

    /// Asks as a person, or as the app's backend without an actor.
    ///
    /// - Throws: `APIProblem` for bad input and for what the core refuses.
    func answer(
        _ app: AppID, _ actor: UserID?, _ question: ClientRequest
    ) async throws(APIProblem) -> ClientAnswer {
        try self.checked { () throws(InvalidField) in try question.validate() }
        switch await self.core(.request(app, actor: actor, question)) {
        case .answer(.refused(let problem)), .refused(let problem): throw APIProblem(problem)
        case .answer(let answer): return answer
        case .userAccount, .accepted, .done, .trace, .page, .unread, .objectNames, .accounts, .bans, .devices, .missed:
            throw APIProblem.bug
        }
    }

    /// Asks for something that is answered by nothing but that it is done: status 204.
    func done(
        _ app: AppID, _ actor: UserID?, _ question: ClientRequest
    ) async throws(APIProblem) -> Response {
        guard case .done = try await self.answer(app, actor, question) else { throw APIProblem.bug }
        return Response(status: .noContent)
    }

    // MARK: - Reading

    /// A part of the path by its name; the router leaves it as it was sent, with its percent signs (RFC 3986 §2.1).
    static func parameter(_ name: String, _ context: Context) throws(APIProblem) -> String {
        guard let text = (context.parameters.get(name) ?? "").removingPercentEncoding else {
            throw APIProblem(InvalidField(field: name, rule: Self.percentEncoded))
        }
        return text
    }

    private static let percentEncoded = "must be UTF-8, with percent signs for what a URL cannot hold (RFC 3986 §2.1)"

    /// Refuses members of the query that are not known, or are there twice: a misspelt one must not be passed over.
    static func checkQuery(_ request: Request, _ known: [String]) throws(APIProblem) {
        guard (request.uri.query ?? "").removingPercentEncoding != nil else {
            throw APIProblem(InvalidField(field: "query", rule: Self.percentEncoded))
        }
        var seen: Set<Substring> = []
        for (key, _) in request.uri.queryParameters where !key.isEmpty {
            let field = String(key.prefix(64))
            guard known.contains(String(key)) else {
                let rule = known.isEmpty ? "nothing is" : "known are \(known.joined(separator: ", "))"
                throw APIProblem(InvalidField(field: field, rule: "is not known in the query here; \(rule)"))
            }
            guard seen.insert(key).inserted else {
                throw APIProblem(InvalidField(field: field, rule: "must not be there twice"))
            }
        }
    }

    /// Who acts, by the query's `actor`; nil for the app's backend, which may do everything.
    func actor(_ request: Request) throws(APIProblem) -> UserID? {
        guard let actor = request.uri.queryParameters.get("actor") else { return nil }
        return try self.identifier(actor, "actor")
    }

    /// The person of the path.
    func person(_ context: Context) throws(APIProblem) -> UserID {
        try self.identifier(try Self.parameter("user", context), "user")
    }

    /// The conversation of the path.
    func place(_ context: Context, hasMembers: Bool = false) throws(APIProblem) -> ConversationID {
        let type: ConversationType = try self.word(try Self.parameter("type", context), "type")
        guard !hasMembers || !type.targetIsPeer else {
            throw APIProblem(InvalidField(field: "type", rule: "must be DS, GRP or CHRM: others have no members"))
        }
        let id: UserID = try self.identifier(try Self.parameter("id", context), "id")
        return ConversationID(type: type, target: id.rawValue)
    }

    /// Text from outside as an id.
    func identifier<ID: StringIdentifier>(_ text: String, _ field: String) throws(APIProblem) -> ID {
        try self.checked { () throws(InvalidField) in try ID.validated(text, field: field) }
    }

    /// A list of people.
    ///
    /// - Parameter max: how many there may be, repeats counted; nil where nothing but the core limits them.
    func identifiers(_ texts: [String], _ field: String, max: Int? = nil) throws(APIProblem) -> [UserID] {
        if let max, texts.count > max {
            throw APIProblem(InvalidField(field: field, rule: "must be at most \(max) people, got \(texts.count)"))
        }
        var users: [UserID] = []
        for (index, text) in texts.enumerated() { users.append(try self.identifier(text, "\(field)[\(index)]")) }
        return users
    }

    /// A message id of the path, the query or a body.
    func messageID(_ text: String, _ field: String) throws(APIProblem) -> MessageID {
        guard let id = MessageID(text) else {
            throw APIProblem(InvalidField(field: field, rule: "must be a message id of 13 characters"))
        }
        return id
    }

    /// A word of a closed list, such as a conversation's kind by its code.
    func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, _ field: String
    ) throws(APIProblem) -> Word where Word.RawValue == String {
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw APIProblem(InvalidField(field: field, rule: "must be one of \(words)"))
    }

    /// A whole number of the query; required without a fallback.
    func number(
        _ request: Request, _ name: String, _ range: ClosedRange<Int64>, default fallback: Int64?
    ) throws(APIProblem) -> Int64 {
        let rule = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = request.uri.queryParameters.get(name) else {
            guard let fallback else { throw APIProblem(InvalidField(field: name, rule: rule)) }
            return fallback
        }
        guard let number = Int64(text), range.contains(number) else {
            throw APIProblem(InvalidField(field: name, rule: rule))
        }
        return number
    }

    /// Runs a check of the model's.
    func checked<Value>(_ check: () throws(InvalidField) -> Value) throws(APIProblem) -> Value {
        do throws(InvalidField) { return try check() } catch { throw APIProblem(error) }
    }
}

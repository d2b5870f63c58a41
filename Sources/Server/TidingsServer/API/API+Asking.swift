import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    // MARK: - Asking

    /// Asks as a person, or as the app's backend without an actor, and returns the answer that the question has.
    func ask<Answer>(
        _ app: AppID, _ actor: UserID?, _ question: ClientRequest, _ answer: KeyPath<ClientAnswer, Answer?>,
        once: Once? = nil
    ) async throws -> Answer {
        try question.validate()
        let told = try await self.ask(.request(app, actor: actor, question), \.answer, once: once)
        if case .refused(let problem) = told { throw APIProblem(problem) }
        return try told[keyPath: answer].orBug()
    }

    /// Asks the core, and returns the answer that the command has.
    ///
    /// - Throws: `APIProblem` for what the core refuses.
    func ask<Answer>(
        _ command: APICommand, _ answer: KeyPath<APIResult, Answer?>, once: Once? = nil
    ) async throws -> Answer {
        try await self.result(of: command, once: once)[keyPath: answer].orBug()
    }

    /// Returns the core's answer, of whatever kind.
    ///
    /// - Parameter once: its idempotency key, if it has one.
    /// - Throws: `APIProblem` for what the core refuses.
    func result(of command: APICommand, once: Once? = nil) async throws -> APIResult {
        let result = await self.core(once?.wrap(command) ?? command)
        switch result {
        case .refused(let problem): throw APIProblem(problem)
        case .keyReused: throw APIProblem.keyReused
        case .keyInUse: throw APIProblem.keyInUse
        default: return result  // tidy: which of the others it must be, the caller knows
        }
    }

    /// Reads from the store, and returns the answer that the command has.
    ///
    /// - Throws: `APIProblem` for what the store refuses.
    func read<Answer>(_ command: StoreCommand, _ answer: KeyPath<StoreResult, Answer?>) async throws -> Answer {
        let result = await self.store(command)
        if case .refused(let problem) = result { throw APIProblem(problem) }
        return try result[keyPath: answer].orBug()
    }

    /// Carries out what is answered by nothing but that it is done: status 204.
    func execute(_ command: APICommand, once: Once? = nil) async throws -> Response {
        try await self.ask(command, \.done, once: once)
        return Response(status: .noContent)
    }

    func execute(
        _ app: AppID, _ actor: UserID?, _ question: ClientRequest, once: Once? = nil
    ) async throws -> Response {
        _ = try await self.ask(app, actor, question, \.done, once: once)
        return Response(status: .noContent)
    }

    // MARK: - Reading

    /// The router leaves the path as it was sent, with its percent signs (RFC 3986 §2.1).
    static func parameter(_ name: String, _ context: Context) throws(InvalidField) -> String {
        guard let text = PercentEncoding.decode(context.parameters.get(name) ?? "") else {
            throw InvalidField(field: name, rule: Self.percentEncoded)
        }
        return text
    }

    /// Returns the record that a part of the path names: by the first of these, or else by the next.
    /// - Throws: status 404.
    static func record<Record>(
        _ part: String, _ context: Context, among records: [Record], by names: KeyPath<Record, String>...,
        else code: APIProblem.Own, _ rule: String
    ) throws -> Record {
        let text = try Self.parameter(part, context)
        for name in names {
            if let record = records.first(where: { $0[keyPath: name] == text }) { return record }
        }
        throw APIProblem(code, field: part, rule: rule)
    }

    private static let percentEncoded = "must be UTF-8, with percent signs for what a URL cannot hold (RFC 3986 §2.1)"

    /// Refuses a body where the route has none: what it says would be passed over. These headers say that there is one (RFC 9112 §6.3).
    static func refuseBody(_ request: Request) throws(InvalidField) {
        let hasBody = Self.contentLength(of: request) ?? 0 > 0 || request.headers[.transferEncoding] != nil
        try InvalidField.check(!hasBody, "body", "must be left out: this route has none")
    }

    /// Refuses members of the query that are not known, or are there twice: a misspelt one must not be ignored. So must a body.
    ///
    /// - Parameter hasBody: whether the route has one; nil for what its method usually has.
    static func checkQuery(_ request: Request, _ known: [String], hasBody: Bool? = nil) throws(InvalidField) {
        if !(hasBody ?? ![.get, .head, .delete].contains(request.method)) { try Self.refuseBody(request) }
        guard let members = PercentEncoding.members(of: request.uri.query ?? "") else {
            throw InvalidField(field: "query", rule: Self.percentEncoded)
        }
        var seen: Set<String> = []
        for (key, _) in members where !key.isEmpty {
            let field = String(key.prefix(64))
            guard known.contains(key) else {
                let rule = known.isEmpty ? "nothing is" : "known are \(known.joined(separator: ", "))"
                throw InvalidField(field: field, rule: "is not known in the query here; \(rule)")
            }
            try InvalidField.check(seen.insert(key).inserted, field, "must not be there twice")
        }
    }

    /// A member of the query that is written out, not a name: a plus sign is a space, as forms encode it and most libraries send it
    /// (WHATWG URL §5.1).
    static func writtenOut(_ name: String, in request: Request) -> String? {
        PercentEncoding.members(of: (request.uri.query ?? "").replacing("+", with: " "))?.first { $0.name == name }?
            .value
    }

    /// The query's `actor`; nil for the app's backend, which may do everything.
    func actor(_ request: Request) throws(InvalidField) -> UserID? {
        guard let actor = request.member("actor") else { return nil }
        return try UserID.validated(actor, field: "actor")
    }

    func person(_ context: Context) throws(InvalidField) -> UserID {
        try UserID.validated(try Self.parameter("user", context), field: "user")
    }

    func place(_ context: Context, hasMembers: Bool = false) throws(InvalidField) -> ConversationID {
        let type: ConversationType = try self.word(try Self.parameter("type", context), "type")
        try InvalidField.check(
            !hasMembers || !type.targetIsPeer, "type", "must be discussion, group or chat_room: others have no members")
        let id = try UserID.validated(try Self.parameter("id", context), field: "id")
        return ConversationID(type: type, target: id.rawValue)
    }

    /// Sorted, repeats dropped.
    /// - Parameter max: how many there may be, repeats counted; nil where only the core limits them.
    func people(_ texts: [String], _ field: String, max: Int? = nil) throws(InvalidField) -> [UserID] {
        if let max { try InvalidField.check(texts.count, atMost: max, field, unit: " people") }
        var users: Set<UserID> = []
        for (index, text) in texts.enumerated() {
            users.insert(try UserID.validated(text, field: "\(field)[\(index)]"))
        }
        return users.sorted()
    }

    func messageID(_ text: String, _ field: String) throws(InvalidField) -> MessageID {
        guard let id = MessageID(text) else {
            throw InvalidField(field: field, rule: "must be a message id of 13 characters")
        }
        return id
    }

    /// One of a closed list.
    func word<Word: RawRepresentable & CaseIterable>(
        _ text: String, _ field: String
    ) throws(InvalidField) -> Word where Word.RawValue == String {
        if let word = Word(rawValue: text) { return word }
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw InvalidField(field: field, rule: "must be one of \(words)")
    }

    /// Reads a conversation's kind, by its code or its word.
    func word(_ text: String, _ field: String) throws(InvalidField) -> ConversationType {
        if let type = ConversationType(word: text) { return type }
        let words = ConversationType.allCases.map { "\($0.word) (\($0.rawValue))" }.joined(separator: ", ")
        throw InvalidField(field: field, rule: "must be one of \(words)")
    }

    /// Required without a fallback.
    static func number(
        _ request: Request, _ name: String, _ range: ClosedRange<Int64>, default fallback: Int64?
    ) throws(InvalidField) -> Int64 {
        let rule = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        guard let text = request.member(name) else {
            guard let fallback else { throw InvalidField(field: name, rule: rule) }
            return fallback
        }
        guard let number = Int64(digits: text), range.contains(number) else {
            throw InvalidField(field: name, rule: rule)
        }
        return number
    }
}

extension Request {
    /// A member of the query, byte for byte; nil without it, and in a query that `API.checkQuery` refuses.
    func member(_ name: String) -> String? {
        PercentEncoding.members(of: self.uri.query ?? "")?.first { $0.name == name }?.value
    }
}

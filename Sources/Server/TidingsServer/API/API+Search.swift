import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

extension API {
    private static let textBytesMax = 512
    private static let searchMembers = ["text", "user", "conversation_type", "conversation_id", "since", "until"]

    static let searchRoutes: [Route] = [
        .app(
            .get, "messages", .history, limited: .requests, query: searchMembers + Paging.query, API.searchMessages)
    ]

    /// Newest first.
    private func searchMessages(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        guard let search = self.search else {
            throw APIProblem(.searchOff, field: "search.path", rule: "must be set in the server's configuration")
        }
        guard let text = Self.writtenOut("text", in: request) else {
            throw InvalidField(field: "text", rule: "must be present")
        }
        try InvalidField.check(text.utf8.count, in: 1...Self.textBytesMax, "text", unit: " bytes")
        let paging = try Paging(request, of: Self.searchMembers)
        var question = MessageQuestion(app: app, text: text, limit: paging.limit)
        question.user = try request.member("user").map { try UserID.validated($0, field: "user") }
        question.conversation = try self.searchedPlace(request, seenBy: question.user)
        (question.since, question.until) = try Self.times(request)
        question.before = try paging.after { MessageID($0) }
        let found = try await self.find(question, search)
        return .json([
            "messages": found.messages.map(\.json),
            "next": paging.next(after: found.messages.last?.id.description, hasMore: found.hasMore),
            "indexed_until": found.indexedUntil, "behind": found.isBehind,
        ])
    }

    private func find(_ question: MessageQuestion, _ search: any MessageSearch) async throws -> FoundMessages {
        do throws(MessageSearchFault) {
            return try await search.find(question)
        } catch {
            switch error {
            case .noWords:
                throw InvalidField(field: "text", rule: "must have a letter, a digit or a character to look for")
            // The last one of a page of another store: one that was restored since.
            case .unknownMessage: throw Paging.bad
            case .tooSlow:
                throw APIProblem(
                    .told(.unavailable), field: "text",
                    rule: "takes too long to find: ask for more or longer words, one conversation, or less time",
                    headers: [.retryAfter: "1"])
            case .unavailable:
                throw APIProblem(
                    .told(.unavailable), rule: "the search index cannot be used now; the server's log says why",
                    headers: [.retryAfter: "5"])
            }
        }
    }

    /// Named as histories name it.
    private func searchedPlace(_ request: Request, seenBy user: UserID?) throws(InvalidField) -> ConversationID? {
        let (type, id) = ("conversation_type", "conversation_id")
        guard let kind = request.member(type) else {
            try InvalidField.check(request.member(id) == nil, type, "must be there beside \(id)")
            return nil
        }
        let found: ConversationType = try self.word(kind, type)
        guard let target = request.member(id) else {
            throw InvalidField(field: id, rule: "must be there beside \(type)")
        }
        try InvalidField.check(
            user != nil || !found.targetIsPeer, "user",
            "must be present: a conversation of type \(found.rawValue) is named as one of its two sees it")
        return ConversationID(type: found, target: try UserID.validated(target, field: id).rawValue)
    }

    static func times(_ request: Request) throws(InvalidField) -> (since: Int64?, until: Int64?) {
        let (since, until) = (try Self.time(request, "since"), try Self.time(request, "until"))
        try InvalidField.check(since ?? .min <= until ?? .max, "until", "must not be before since")
        return (since, until)
    }

    private static func time(_ request: Request, _ name: String) throws(InvalidField) -> Int64? {
        guard let text = request.member(name) else { return nil }
        guard let time = Int64(digits: text) ?? GivenTime.read(text) else {
            throw InvalidField(field: name, rule: GivenTime.rule)
        }
        try GivenTime.check(time, name)
        return time
    }
}

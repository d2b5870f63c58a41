import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

/// The routes of the notification service extension, with the token its device received at the last connect (design.md §7 "Extension").
extension API {
    /// How many entries one fetch brings at most (design.md §5 "Keep-one").
    private static let missedMax: Int64 = 20

    static let extensionRoutes: [Route] = [
        .open(.post, "v1/extension/receipts", API.receipt), .open(.get, "v1/extension/missed", API.missed),
    ]

    private static let unauthorizedExtension = Self.unauthorized(
        "must be \"Bearer TOKEN\" with the extension token of the last connect of a device that is signed in")

    private func token(
        _ request: Request, _ context: Context, query: [String] = []
    ) throws -> UserTokens.ExtensionToken {
        guard let token = Self.bearer(request),
            let checked = self.tokens.checked(extensionToken: token, wallMilliseconds: Clocks.now().wall)
        else { throw Self.unauthorizedExtension }
        try context.count(for: checked.device.user)
        try Self.checkQuery(request, query)
        return checked
    }

    /// The core knows whether the device is still signed in.
    private func ask<Answer>(
        _ question: ExtensionRequest, _ token: UserTokens.ExtensionToken, _ answer: KeyPath<APIResult, Answer?>
    ) async throws -> Answer {
        let result = await self.core(
            .fromExtension(
                token.device, tokenIssuedAt: token.issuedAt, userTokenIssuedAt: token.userTokenIssuedAt, question))
        guard case .refused(let problem) = result else { return try result[keyPath: answer].orBug() }
        throw problem.code == .invalidToken ? Self.unauthorizedExtension : APIProblem(problem)
    }

    private func receipt(_ request: Request, _ context: Context) async throws -> Response {
        let token = try self.token(request, context)
        let body = try await self.body(request)
        let messages = try self.receiptMessages(body)
        guard let receipt = LegReceipt(rawValue: try body.string("receipt")) else {
            throw InvalidField(field: "receipt", rule: "must be shown or opened")
        }
        try body.refuseUnknown()
        for message in messages { try await self.ask(.receipt(message, receipt), token, \.done) }
        return Response(status: .noContent)
    }

    /// One message, or those of one fetch: an extension has no time for a request each.
    private func receiptMessages(_ body: APIBody) throws -> [MessageID] {
        try body.refuseNull("message_id", "message_ids")
        let texts = try body.strings("message_ids", default: [])
        guard let text = try body.optionalString("message_id") else {
            try InvalidField.check(
                1...Int(Self.missedMax) ~= texts.count, "message_ids",
                "must be 1 to \(Self.missedMax) ids without message_id, got \(texts.count)")
            return try texts.enumerated().map { try self.messageID($1, "message_ids[\($0)]") }
        }
        try InvalidField.check(!body.has("message_ids"), "message_ids", "must not be there beside message_id")
        return [try self.messageID(text, "message_id")]
    }

    /// `after` is what the phone knows by itself; `cursor` leads on from there.
    private func missed(_ request: Request, _ context: Context) async throws -> Response {
        let token = try self.token(request, context, query: ["after"] + Paging.query)
        let paging = try Paging(request, limitMax: Self.missedMax)
        let question = ExtensionRequest.missed(after: try self.start(request, paging), limit: paging.limit)
        let (page, words, hidesContent) = try await self.ask(question, token, \.missed)
        let last = page.entries.last?.position
        let next = paging.next(after: last.map { "\($0)" }, hasMore: last.map { $0 < page.head } ?? false)
        let answer = page.missedAnswer(for: token.device.user.user, in: words, hidesContent: hidesContent)
        var members = try answer.objectValue.orBug()
        members["next"] = next
        return .json(.object(members))
    }

    private func start(_ request: Request, _ paging: Paging) throws(InvalidField) -> LogPosition {
        guard let after = try paging.after({ LogPosition($0) }) else {
            return LogPosition(try Self.number(request, "after", 0...Int64.max, default: nil))
        }
        try InvalidField.check(
            request.member("after") == nil, "after", "must not be there beside cursor")
        return after
    }
}

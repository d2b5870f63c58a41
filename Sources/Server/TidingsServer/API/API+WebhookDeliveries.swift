import HTTPTypes
import Hummingbird
import MessageStore
import StoreModel
import TidingsModel

/// What became of the deliveries of a webhook (docs/webhooks.md).
extension API {
    private static let retriedMax = 1_000

    func addWebhookDeliveries(to app: RouterGroup<Context>) {
        let one = app.group("webhooks/{webhook}")
        one.post("test") { try await self.testWebhook($0, $1) }
        one.get("dead-letters") { try await self.deadLetters($0, $1) }
        one.post("dead-letters/retry") { try await self.retryDeadLetters($0, $1) }
        one.delete("dead-letters/{delivery}") { try await self.removeDeadLetter($0, $1) }
    }

    /// A repeat tries again.
    private func testWebhook(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let key = try self.changedWebhook(request, context)
        let (body, _) = try await self.keyedBody(request, context, key.app, mayBeEmpty: true)
        try body.refuseUnknown()
        guard let test = await self.webhookStates.test(key) else { throw Self.webhooksUnavailable }
        return .json([
            "delivered": .bool(test.failure == nil), "status": .optional(test.status),
            "reason": .optional(test.failure?.reason.rawValue), "milliseconds": .int(test.milliseconds),
        ])
    }

    /// Newest first.
    private func deadLetters(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view, query: Paging.query)
        let key = try self.webhookKey(context)
        let paging = try Paging(request)
        let before = try paging.after { Int64($0) }
        guard let found = await self.webhookStates.deadLetters(of: key, before: before, limit: paging.limit + 1)
        else { throw Self.webhooksUnavailable }
        let page = found.prefix(paging.limit)
        return .json([
            "dead_letters": .array(page.map(\.told)),
            "next": paging.next(after: page.last.map { "\($0.number)" }, hasMore: found.count > page.count),
        ])
    }

    private func retryDeadLetters(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let key = try self.changedWebhook(request, context)
        let (body, _) = try await self.keyedBody(request, context, key.app, mayBeEmpty: true)
        let ids = try body.optionalStrings("ids")
        try body.refuseUnknown()
        if let ids { try InvalidField.check(ids.count, in: 1...Self.retriedMax, "ids", unit: " ids") }
        guard let retried = await self.webhookStates.retry(ids, of: key) else { throw Self.webhooksUnavailable }
        return .json(["retried": .int(retried)])
    }

    private func removeDeadLetter(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let key = try self.changedWebhook(request, context)
        let id = try Self.parameter("delivery", context)
        guard let isRemoved = await self.webhookStates.removeDeadLetter(id, of: key) else {
            throw Self.webhooksUnavailable
        }
        guard isRemoved else {
            throw APIProblem(.unknownDelivery, field: "delivery", rule: "names no dead letter of the webhook")
        }
        return Response(status: .noContent)
    }

    private func webhookKey(_ context: Context) throws -> WebhookKey {
        let (app, record) = try self.knownWebhook(context)
        return WebhookKey(app: app.id, webhook: record.id)
    }

    /// What is done with its deliveries is kept as what an operator does in an app is.
    private func changedWebhook(_ request: Request, _ context: Context) throws -> WebhookKey {
        let key = try self.webhookKey(context)
        context.note.audited = try context.audited(key.app, .messages, request)
        return key
    }

    private static var webhooksUnavailable: APIProblem {
        APIProblem(
            .told(.unavailable), rule: "the file of webhooks cannot be used now; the server's log says why",
            headers: [.retryAfter: "5"])
    }
}

extension WebhookDeadLetter {
    fileprivate var told: JSONValue {
        [
            "id": .string(self.delivery.id), "type": .string(self.delivery.type), "at": .int(self.delivery.at),
            "attempts": .int(self.attempts), "died_at": .int(self.diedAt),
            "reason": .string(self.failure.reason.rawValue), "status": .optional(self.failure.status),
            "data": (try? JSONValue(parsing: self.delivery.data)) ?? .null,
        ]
    }
}

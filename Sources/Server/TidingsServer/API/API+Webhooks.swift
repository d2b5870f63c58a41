import Foundation
import HTTPTypes
import Hummingbird
import MessageStore
import StoreModel
import TidingsModel

/// Where an app's backend is told what happens (docs/server/webhooks.md). A secret is shown once, with the answer that has it drawn.
extension API {
    private static let retriedMax = 1_000

    static let webhookRoutes: [Route] = [
        .managed(.get, "webhooks", .view, API.webhooks),
        .managed(.post, "webhooks", .administer, API.addWebhook),
        .managed(.get, "webhooks/{webhook}", .view, API.webhook),
        .managed(.patch, "webhooks/{webhook}", .administer, API.setWebhook),
        .managed(.delete, "webhooks/{webhook}", .administer, API.removeWebhook),
        .managed(.post, "webhooks/{webhook}/secret", .administer, API.rotateSecret),
        .managed(.post, "webhooks/{webhook}/test", .administer, API.testWebhook),
        .managed(.get, "webhooks/{webhook}/dead-letters", .view, query: Paging.query, API.deadLetters),
        .managed(.post, "webhooks/{webhook}/dead-letters/retry", .administer, API.retryDeadLetters),
        .managed(.delete, "webhooks/{webhook}/dead-letters/{delivery}", .administer, API.removeDeadLetter),
    ]

    private func webhooks(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        .json(["webhooks": await self.told(app.webhooks, of: app.id)])
    }

    private func webhook(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownWebhook(app, context)
        return .json(await self.told(record, of: app.id))
    }

    private func addWebhook(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app.id)
        let (name, url) = (try body.string("name"), try body.string("url"))
        let kinds = try self.webhookKinds(try body.strings("types"))
        let isEnabled = try body.bool("enabled", default: true)
        try await self.confirm(body, request, context)
        try self.check(webhookURL: url)
        let id = "w" + Hexadecimal.text(UInt64.random(in: .min ... .max))
        let secret = WebhookSecrets.draw()
        let record = WebhookRecord(
            id: id, name: name, url: url, kinds: kinds, isEnabled: isEnabled,
            secret: try self.apps.keys.sealWebhookSecret(secret, of: id, in: app.id), createdAt: Clocks.now().wall)
        context.note.change = id
        let changed = try await self.changedApp(context, .changeWebhook(app.id, .add(record)), once, draws: true)
        let added = changed.webhooks.first { $0.id == id } ?? record
        return .json(["webhook": await self.told(added, of: app.id), "secret": secret], status: .created)
    }

    private func setWebhook(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownWebhook(app, context)
        let body = try await self.body(request)
        var edit = WebhookEdit(name: try body.optionalString("name"), url: try body.optionalString("url"))
        edit.kinds = try body.optionalStrings("types").map { try self.webhookKinds($0) }
        edit.isEnabled = try body.optionalBool("enabled")
        try await self.confirm(body, request, context, isNeeded: edit.url.map { $0 != record.url } ?? false)
        if let url = edit.url { try self.check(webhookURL: url) }
        let changed = try await self.changedApp(context, .changeWebhook(app.id, .set(id: record.id, edit)))
        return .json(await self.told(changed.webhooks.first { $0.id == record.id } ?? record, of: app.id))
    }

    private func removeWebhook(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownWebhook(app, context)
        _ = try await self.changedApp(context, .changeWebhook(app.id, .remove(id: record.id)))
        return Response(status: .noContent)
    }

    private func rotateSecret(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let record = try self.knownWebhook(app, context)
        let (end, once) = try await self.replacement(request, context, app.id)
        let secret = WebhookSecrets.draw()
        let sealed = try self.apps.keys.sealWebhookSecret(secret, of: record.id, in: app.id)
        let changed = try await self.changedApp(
            context, .changeWebhook(app.id, .rotateSecret(id: record.id, sealed, previousEndsAt: end)), once,
            draws: true)
        let rotated = changed.webhooks.first { $0.id == record.id } ?? record
        return .json(["webhook": await self.told(rotated, of: app.id), "secret": secret])
    }

    // MARK: - What they share

    /// The webhook of the path.
    /// - Throws: status 404.
    func knownWebhook(_ app: ManagedApp, _ context: Context) throws -> WebhookRecord {
        try Self.record(
            "webhook", context, among: app.webhooks, by: \.id, \.name, else: .unknownWebhook,
            "names no webhook of the app")
    }

    private func webhookKinds(_ words: [String]) throws(InvalidField) -> [WebhookEventKind] {
        try InvalidField.check(!words.isEmpty, "types", "must name at least one")
        var kinds: [WebhookEventKind] = []
        for (index, word) in words.enumerated() { kinds.append(try self.word(word, "types[\(index)]")) }
        return kinds
    }

    /// Checks what the store does not look at: if it can be connected to at all, and if it may be without TLS.
    private func check(webhookURL text: String) throws(InvalidField) {
        guard self.webhookStates.allowsPlainHTTP || !text.hasPrefix("http://") else {
            throw InvalidField(
                field: "url", rule: "must begin with https://: webhooks.allowed_networks of the server names no network"
            )
        }
        let url = URLComponents(string: text, encodingInvalidCharacters: false)
        try InvalidField.check(!(url?.host ?? "").isEmpty, "url", "must be an address with a host (RFC 3986)")
        try InvalidField.check((1...65_535).contains(url?.port ?? 443), "url", "must have a port from 1 to 65535")
    }

    private func told(_ record: WebhookRecord, of app: AppID) async -> JSONMembers {
        await self.told([record], of: app).first ?? [:]
    }

    /// The webhooks are the store's, and are told also where nothing is known of their deliveries.
    private func told(_ records: [WebhookRecord], of app: AppID) async -> [JSONMembers] {
        guard let states = await self.webhookStates.states(of: app, records.map(\.id)) else {
            return records.map { Self.told($0, WebhookState.unknown) }
        }
        return zip(records, states).map { Self.told($0, $1.json) }
    }

    /// Nothing of it is a secret.
    private static func told(_ record: WebhookRecord, _ state: JSONValue) -> JSONMembers {
        let isRotating = record.previousSecret != nil && Clocks.now().wall < record.previousEndsAt
        return [
            "id": record.id, "name": record.name, "url": record.url, "types": record.kinds, "enabled": record.isEnabled,
            "created_at": record.createdAt, "previous_secret_ends_at": isRotating ? record.previousEndsAt : nil,
            "state": state,
        ]
    }

    // MARK: - Deliveries (docs/server/webhooks.md)

    /// A repeat tries again.
    private func testWebhook(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let key = try self.changedWebhook(app, request, context)
        let (body, _) = try await self.keyedBody(request, context, key.app, mayBeEmpty: true)
        try body.refuseUnknown()
        guard let test = await self.webhookStates.test(key) else { throw Self.webhooksUnavailable }
        return .json([
            "delivered": test.failure == nil, "status": test.status, "reason": test.failure?.reason,
            "milliseconds": test.milliseconds,
        ])
    }

    /// Newest first.
    private func deadLetters(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let key = try self.webhookKey(app, context)
        let paging = try Paging(request)
        let before = try paging.after { Int64($0) }
        guard let found = await self.webhookStates.deadLetters(of: key, before: before, limit: paging.limit + 1)
        else { throw Self.webhooksUnavailable }
        let page = found.prefix(paging.limit)
        return .json([
            "dead_letters": page.map(\.told),
            "next": paging.next(after: page.last.map { "\($0.number)" }, hasMore: found.count > page.count),
        ])
    }

    private func retryDeadLetters(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let key = try self.changedWebhook(app, request, context)
        let (body, _) = try await self.keyedBody(request, context, key.app, mayBeEmpty: true)
        let ids = try body.optionalStrings("ids")
        try body.refuseUnknown()
        if let ids { try InvalidField.check(ids.count, in: 1...Self.retriedMax, "ids", unit: " ids") }
        guard let retried = await self.webhookStates.retry(ids, of: key) else { throw Self.webhooksUnavailable }
        return .json(["retried": retried])
    }

    private func removeDeadLetter(_ app: ManagedApp, _ request: Request, _ context: Context) async throws -> Response {
        let key = try self.changedWebhook(app, request, context)
        let id = try Self.parameter("delivery", context)
        guard let isRemoved = await self.webhookStates.removeDeadLetter(id, of: key) else {
            throw Self.webhooksUnavailable
        }
        guard isRemoved else {
            throw APIProblem(.unknownDelivery, field: "delivery", rule: "names no dead letter of the webhook")
        }
        return Response(status: .noContent)
    }

    private func webhookKey(_ app: ManagedApp, _ context: Context) throws -> WebhookKey {
        WebhookKey(app: app.id, webhook: try self.knownWebhook(app, context).id)
    }

    /// Returns the webhook of a change of its deliveries, and has the change kept like other acts of an operator in an app.
    private func changedWebhook(_ app: ManagedApp, _ request: Request, _ context: Context) throws -> WebhookKey {
        let key = try self.webhookKey(app, context)
        context.note.audited = try context.audited(key.app, .messages, request, ids: ["webhook": key.webhook])
        return key
    }

    private static var webhooksUnavailable: APIProblem {
        APIProblem(
            .told(.unavailable), rule: "the file of webhooks cannot be used now; the server's log says why",
            headers: [.retryAfter: "5"])
    }
}

extension WebhookDeadLetter {
    fileprivate var told: JSONMembers {
        [
            "id": self.delivery.id, "type": self.delivery.type, "at": self.delivery.at, "attempts": self.attempts,
            "died_at": self.diedAt, "reason": self.failure.reason, "status": self.failure.status,
            "data": (try? JSONValue(parsing: self.delivery.data)) ?? .null,
        ]
    }
}

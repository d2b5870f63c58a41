import Foundation
import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// Where an app's backend is told what happens (docs/webhooks.md). A secret is shown once, with the answer that has it drawn.
extension API {
    func addWebhooks(to app: RouterGroup<Context>) {
        let all = app.group("webhooks")
        all.get { try await self.webhooks($0, $1) }
        all.post { try await self.addWebhook($0, $1) }
        all.get("{webhook}") { try await self.webhook($0, $1) }
        all.patch("{webhook}") { try await self.setWebhook($0, $1) }
        all.delete("{webhook}") { try await self.removeWebhook($0, $1) }
        all.post("{webhook}/secret") { try await self.rotateWebhookSecret($0, $1) }
    }

    private func webhooks(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        let app = try self.known(context)
        return .json(["webhooks": .array(await self.told(app.webhooks, of: app.id))])
    }

    private func webhook(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .view)
        let (app, record) = try self.knownWebhook(context)
        return .json(await self.told(record, of: app.id))
    }

    private func addWebhook(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let app = try self.known(context)
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
        return .json(["webhook": await self.told(added, of: app.id), "secret": .string(secret)], status: .created)
    }

    private func setWebhook(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownWebhook(context)
        let body = try await self.body(request)
        var edit = WebhookEdit(name: try body.optionalString("name"), url: try body.optionalString("url"))
        edit.kinds = try body.optionalStrings("types").map { words throws(InvalidField) in
            try self.webhookKinds(words)
        }
        edit.isEnabled = try body.optionalBool("enabled")
        try await self.confirm(body, request, context, isNeeded: edit.url.map { $0 != record.url } ?? false)
        if let url = edit.url { try self.check(webhookURL: url) }
        let changed = try await self.changedApp(context, .changeWebhook(app.id, .set(id: record.id, edit)))
        return .json(await self.told(changed.webhooks.first { $0.id == record.id } ?? record, of: app.id))
    }

    private func removeWebhook(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownWebhook(context)
        _ = try await self.changedApp(context, .changeWebhook(app.id, .remove(id: record.id)))
        return Response(status: .noContent)
    }

    private func rotateWebhookSecret(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        let (app, record) = try self.knownWebhook(context)
        let (body, once) = try await self.keyedBody(request, context, app.id, mayBeEmpty: true)
        let end = try Self.overlapEnd(body, usual: Self.overlapSecondsUsual)
        try await self.confirm(body, request, context)
        let secret = WebhookSecrets.draw()
        let sealed = try self.apps.keys.sealWebhookSecret(secret, of: record.id, in: app.id)
        let changed = try await self.changedApp(
            context, .changeWebhook(app.id, .rotateSecret(id: record.id, sealed, previousEndsAt: end)), once,
            draws: true)
        let rotated = changed.webhooks.first { $0.id == record.id } ?? record
        return .json(["webhook": await self.told(rotated, of: app.id), "secret": .string(secret)])
    }

    // MARK: - What they share

    /// The app and the webhook of the path.
    /// - Throws: status 404.
    func knownWebhook(_ context: Context) throws -> (app: ManagedApp, record: WebhookRecord) {
        let app = try self.known(context)
        let id = try Self.parameter("webhook", context)
        guard let record = app.webhooks.first(where: { $0.id == id }) else {
            throw APIProblem(.unknownWebhook, field: "webhook", rule: "names no webhook of the app")
        }
        return (app, record)
    }

    private func webhookKinds(_ words: [String]) throws(InvalidField) -> [WebhookEventKind] {
        try InvalidField.check(!words.isEmpty, "types", "must name at least one")
        var kinds: [WebhookEventKind] = []
        for (index, word) in words.enumerated() { kinds.append(try self.word(word, "types[\(index)]")) }
        return kinds
    }

    /// What the store does not look at: whether it can be connected to at all, and whether it may be without TLS.
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

    private func told(_ record: WebhookRecord, of app: AppID) async -> JSONValue {
        await self.told([record], of: app).first ?? .null
    }

    /// The webhooks are the store's, and are told also where nothing is known of their deliveries.
    private func told(_ records: [WebhookRecord], of app: AppID) async -> [JSONValue] {
        guard let states = await self.webhookStates.states(of: app, records.map(\.id)) else {
            return records.map { Self.told($0, WebhookState.unknown) }
        }
        return zip(records, states).map { Self.told($0, $1.json) }
    }

    /// Nothing of it is a secret.
    private static func told(_ record: WebhookRecord, _ state: JSONValue) -> JSONValue {
        let isRotating = record.previousSecret != nil && Clocks.now().wall < record.previousEndsAt
        return [
            "id": .string(record.id), "name": .string(record.name), "url": .string(record.url),
            "types": .array(record.kinds.map { .string($0.rawValue) }), "enabled": .bool(record.isEnabled),
            "created_at": .int(record.createdAt),
            "previous_secret_ends_at": .optional(isRotating ? record.previousEndsAt : nil),
            "state": state,
        ]
    }
}

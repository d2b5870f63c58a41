import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addSettings(to app: RouterGroup<Context>) {
        let user = app.group("users/{user}")
        user.get("settings") { try await self.settings($0, $1) }
        user.put("settings") { try await self.putSettings($0, $1) }
        user.put("settings/{type}/{id}") { try await self.putConversationSettings($0, $1) }
        user.delete("settings/{type}/{id}") { try await self.deleteConversationSettings($0, $1) }
        user.put("blocked/{other}") { try await self.block($0, $1, true) }
        user.delete("blocked/{other}") { try await self.block($0, $1, false) }
        user.get("unread") { try await self.unread($0, $1) }
        user.get("unread/{type}/{id}") { try await self.unreadInConversation($0, $1) }
        app.get("object-names") { try await self.objectNames($0, $1) }
        app.put("object-names") { try await self.putObjectNames($0, $1) }
    }

    private func settings(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        guard case .settings(let settings) = try await self.answer(app, try self.person(context), .settings) else {
            throw APIProblem.bug
        }
        return .json(settings.json)
    }

    /// Replaces everything that does not belong to one conversation, but for `may_be_added_by`, which stays where it is not named.
    private func putSettings(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let user = try self.person(context)
        let body = try await self.body(request)
        var levels: [ConversationType: NotificationLevel] = [:]
        for (type, level) in try body.texts("levels") {
            levels[try self.word(type, "levels")] = try self.word(level, "levels.\(type)")
        }
        let consent: AddingConsent? = try body.optionalString("may_be_added_by").map { text throws(InvalidField) in
            try self.word(text, "may_be_added_by")
        }
        let settings = PersonSettings(
            levels: levels, quietHours: try self.quietHours(body),
            hidesContent: try body.bool("hides_content", default: false), language: try body.optionalString("language"),
            mayBeAddedBy: consent)
        try body.refuseUnknown()
        return try await self.execute(app, user, .setPersonSettings(settings))
    }

    private func quietHours(_ body: APIBody) throws(InvalidField) -> QuietHours? {
        guard let hours = try body.optionalObject("quiet_hours") else { return nil }
        let minutes: ClosedRange<Int64> = 0...1_439
        let quiet = QuietHours(
            start: Int(try hours.integer("start", in: minutes)), end: Int(try hours.integer("end", in: minutes)),
            weekdays: try hours.integers("weekdays", in: 1...7), timeZone: try hours.string("time_zone"),
            manner: try self.word(
                try hours.optionalString("manner") ?? QuietHours.Manner.defer.rawValue, "quiet_hours.manner"))
        try hours.refuseUnknown()
        return quiet
    }

    private func putConversationSettings(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let user = try self.person(context)
        let conversation = try self.place(context)
        let body = try await self.body(request)
        let level: NotificationLevel = try self.word(try body.string("level"), "level")
        let until = try body.optionalTime("level_until")
        try body.refuseUnknown()
        let settings = ConversationSettings(level: level, levelUntil: until)
        return try await self.execute(app, user, .setConversationSettings(conversation, settings))
    }

    private func deleteConversationSettings(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let conversation = try self.place(context)
        return try await self.execute(
            app, try self.person(context), .setConversationSettings(conversation, ConversationSettings()))
    }

    private func block(_ request: Request, _ context: Context, _ isBlocked: Bool) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let other = try UserID.validated(try Self.parameter("other", context), field: "other")
        return try await self.execute(app, try self.person(context), .setBlocked(other, isBlocked))
    }

    private func unread(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let report = try await self.report(of: UserKey(app: app, user: try self.person(context)), in: nil)
        return .json([
            "unread": .int(report.counts.unread), "unread_with_muted": .int(report.counts.unreadWithMuted),
            "mentions": .int(report.counts.mentions), "head": .int(report.head),
        ])
    }

    private func unreadInConversation(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let conversation = try self.place(context)
        let user = UserKey(app: app, user: try self.person(context))
        guard let part = try await self.report(of: user, in: conversation).conversation else { throw APIProblem.bug }
        return .json([
            "conversation": part.id.json, "unread": .int(part.unread), "mentions": .int(part.mentions),
            "is_muted": .bool(part.isMuted), "read_up_to": .int(part.readUpTo),
        ])
    }

    private func report(
        of user: UserKey, in conversation: ConversationID?
    ) async throws -> UnreadReport {
        guard case .unread(let report) = try await self.result(of: .unread(user, conversation)) else {
            throw APIProblem.bug
        }
        return report
    }

    // MARK: - What holds for the app

    private func objectNames(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let paging = try Paging(request)
        guard case .objectNames(let names) = try await self.result(of: .objectNames(app)) else { throw APIProblem.bug }
        let (page, next) = try paging.page(of: names, by: { $0 }, text: \.rawValue, read: { ObjectName($0) })
        return .json(["names": .array(page.map { .string($0.rawValue) }), "next": next])
    }

    private func putObjectNames(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let body = try await self.body(request)
        var names: [ObjectName] = []
        let texts = try body.strings("names")
        try InvalidField.check(texts.count, atMost: StoreRules.objectNamesMax, "names")
        for (index, text) in texts.enumerated() {
            names.append(try ObjectName.validated(text, field: "names[\(index)]"))
        }
        try body.refuseUnknown()
        return try await self.execute(.setObjectNames(app, names))
    }
}

import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    static let settingsRoutes: [Route] = [
        .user(.get, "settings", .settings, limited: .requests, API.settings),
        .user(.put, "settings", .settings, limited: .requests, API.putSettings),
        .user(.put, "settings/{type}/{id}", .settings, limited: .requests, API.setConversation),
        .user(.delete, "settings/{type}/{id}", .settings, limited: .requests, API.resetConversation),
        .user(.put, "blocked/{other}", .settings, limited: .requests, hasBody: false) { api in
            { user, _, context in try await api.block(user, context, true) }
        },
        .user(.delete, "blocked/{other}", .settings, limited: .requests) { api in
            { user, _, context in try await api.block(user, context, false) }
        },
        .user(.get, "unread", .settings, API.unread),
        .user(.get, "unread/{type}/{id}", .settings, API.unreadThere),
        .app(.get, "object-names", .settings, query: Paging.query, API.objectNames),
        .app(.put, "object-names", .settings, API.putObjectNames),
        .user(.post, "read", .settings, limited: .requests, API.markRead),
    ]

    private func settings(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        .json(try await self.ask(user.app, user.user, .settings, \.settings).json)
    }

    /// Replaces everything that does not belong to one conversation, but for `may_be_added_by`, which stays where it is not named.
    private func putSettings(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let body = try await self.body(request)
        var levels: [ConversationType: NotificationLevel] = [:]
        for (type, level) in try body.texts("levels") {
            let kind: ConversationType = try self.word(type, "levels")
            try InvalidField.check(levels[kind] == nil, "levels.\(type)", "must not be there twice, by code and word")
            levels[kind] = try self.word(level, "levels.\(type)")
        }
        let consent: AddingConsent? = try body.optionalString("may_be_added_by").map {
            try self.word($0, "may_be_added_by")
        }
        let settings = PersonSettings(
            levels: levels, quietHours: try self.quietHours(body),
            hidesContent: try body.bool("hides_content", default: false), language: try body.optionalString("language"),
            mayBeAddedBy: consent)
        try body.refuseUnknown()
        return try await self.execute(user.app, user.user, .setPersonSettings(settings))
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

    private func setConversation(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let conversation = try self.place(context)
        let body = try await self.body(request)
        let level: NotificationLevel = try self.word(try body.string("level"), "level")
        let until = try body.optionalTime("level_until")
        try body.refuseUnknown()
        let settings = ConversationSettings(level: level, levelUntil: until)
        return try await self.execute(user.app, user.user, .setConversationSettings(conversation, settings))
    }

    private func resetConversation(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let conversation = try self.place(context)
        return try await self.execute(
            user.app, user.user, .setConversationSettings(conversation, ConversationSettings()))
    }

    private func block(_ user: UserKey, _ context: Context, _ isBlocked: Bool) async throws -> Response {
        let other = try UserID.validated(try Self.parameter("other", context), field: "other")
        return try await self.execute(user.app, user.user, .setBlocked(other, isBlocked))
    }

    private func unread(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let report = try await self.read(.readUnread(user, nil), \.unread)
        return .json([
            "unread": report.counts.unread, "unread_with_muted": report.counts.unreadWithMuted,
            "mentions": report.counts.mentions, "head": report.head,
        ])
    }

    private func unreadThere(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let conversation = try self.place(context)
        let part = try await self.read(.readUnread(user, conversation), \.unread).conversation.orBug()
        return .json([
            "conversation": part.id, "unread": part.unread, "mentions": part.mentions, "is_muted": part.isMuted,
            "read_up_to": part.readUpTo,
        ])
    }

    // MARK: - What holds for the app

    private func objectNames(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let names = try await self.read(.readObjectNames(app), \.objectNames)
        let (page, next) = try paging.page(of: names, by: { $0 }, text: \.rawValue, read: { ObjectName($0) })
        return .json(["names": page, "next": next])
    }

    private func putObjectNames(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let body = try await self.body(request)
        var names: [ObjectName] = []
        let texts = try body.strings("names")
        try InvalidField.check(texts.count, atMost: StoreRules.objectNamesMax, "names")
        for (index, text) in texts.enumerated() {
            let name = try ObjectName.validated(text, field: "names[\(index)]")
            try InvalidField.check(
                ObjectName(word: text) == name, "names[\(index)]", "must not be the word for a built-in type")
            names.append(name)
        }
        try body.refuseUnknown()
        return try await self.execute(.setObjectNames(app, names))
    }

    private func markRead(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, user.app)
        let conversation = try self.conversation(body)
        let upTo = try body.optionalString("up_to").map { try self.messageID($0, "up_to") }
        try body.refuseUnknown()
        return try await self.execute(.markRead(user, conversation, upTo: upTo), once: once)
    }
}

extension AllSettings {
    var json: JSONMembers {
        [
            "levels": JSONMembers(
                pairs: self.person.levels.sorted { $0.key < $1.key }.map { ($0.key.rawValue, $0.value) }),
            "quiet_hours": self.person.quietHours?.json, "hides_content": self.person.hidesContent,
            "language": self.person.language, "may_be_added_by": self.person.mayBeAddedBy ?? AddingConsent.everybody,
            "conversations": self.conversations.sorted { $0.key < $1.key }.objects { conversation, settings in
                ["conversation": conversation, "level": settings.level, "level_until": settings.levelUntil]
            }, "blocked": self.blocked,
        ]
    }
}

extension QuietHours {
    fileprivate var json: JSONMembers {
        [
            "start": self.start, "end": self.end, "weekdays": self.weekdays, "time_zone": self.timeZone,
            "manner": self.manner,
        ]
    }
}

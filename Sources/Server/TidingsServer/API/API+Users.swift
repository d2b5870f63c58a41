import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    private static let tokenSeconds: (max: Int64, usual: Int64) = (365 * 86_400, 86_400)

    static let userRoutes: [Route] = [
        .app(.get, "users", .accounts, query: Paging.query, API.users),
        .user(.get, "", .accounts, API.user),
        .user(.get, "conversations", .settings, query: Paging.query, API.conversationList),
        .user(.get, "account", .accounts, API.account),
        .user(.put, "ban", .accounts, API.ban),
        .user(.delete, "ban", .accounts) { api in
            { user, _, _ in try await api.execute(.changeAccount(user, .unban)) }
        },
        .user(.post, "revoke-tokens", .accounts, API.revokeTokens),
        .user(.get, "profile", .accounts, API.profile),
        .user(.put, "profile", .accounts, API.setProfile),
        .user(.delete, "profile", .accounts) { api in
            { user, _, _ in try await api.execute(.setProfiles(user.app, [UserProfile(user.user, Profile())])) }
        },
        .app(.put, "profiles", .accounts, API.setProfiles),
        .user(.get, "aliases", .settings) { api in { user, _, _ in try await api.labels(user, "aliases", \.aliases) } },
        .user(.put, "aliases", .settings, limited: .requests) { api in
            { user, request, _ in try await api.setLabels(user, request, "aliases") { .aliases($0.map { Alias($0) }) } }
        },
        .user(.delete, "aliases", .settings, limited: .requests) { api in
            { user, _, _ in try await api.execute(.setLabels(user, .aliases([]))) }
        },
        .user(.get, "tags", .settings) { api in { user, _, _ in try await api.labels(user, "tags", \.tags) } },
        .user(.put, "tags", .settings, limited: .requests) { api in
            { user, request, _ in try await api.setLabels(user, request, "tags") { .tags($0) } }
        },
        .user(.delete, "tags", .settings, limited: .requests) { api in
            { user, _, _ in try await api.execute(.setLabels(user, .tags([]))) }
        },
        .app(.post, "tokens", .tokens, API.issueToken),
    ]

    private func users(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let question = StoreCommand.readPeople(app, after: try paging.after { UserID($0) }, limit: paging.limit)
        let (people, hasMore) = try await self.read(question, \.people)
        return .json([
            "users": people.map(\.json), "next": paging.next(after: people.last?.id.rawValue, hasMore: hasMore),
        ])
    }

    /// Asked one after the other: they may differ by what happens in between.
    private func user(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let account = try await self.account(of: user)
        let profile = try await self.profile(of: user.user, in: user.app)
        let report = try await self.read(.readUnread(user, nil), \.unread)
        let devices = try await self.ask(.devices(user), \.devices)
        let head: JSONMembers = ["id": user.user]
        return .json(
            head + account.ban.told + [
                "tokens_not_before": account.tokensNotBefore,
                "name": profile.name, "portrait": profile.portrait, "unread": report.counts.unread,
                "unread_with_muted": report.counts.unreadWithMuted, "mentions": report.counts.mentions,
                "head": report.head,
                "devices": Self.summary(of: devices),
            ])
    }

    /// Lists a person's conversations as their phones have them, without texts.
    private func conversationList(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let paging = try Paging(request)
        let before = try paging.after { LogPosition($0) }
        let (found, hasMore) = try await self.read(
            .readConversationList(user, before: before, limit: paging.limit), \.conversationList)
        return .json([
            "conversations": found.map(\.json),
            "next": paging.next(after: found.last.map { "\($0.place)" }, hasMore: hasMore),
        ])
    }

    private static func summary(of devices: [DeviceInfo]) -> JSONMembers {
        var push = (none: 0, registered: 0, quarantined: 0, dead: 0)
        for device in devices {
            switch device.push {
            case .none: push.none += 1
            case .registered: push.registered += 1
            case .quarantined: push.quarantined += 1
            case .dead: push.dead += 1
            }
        }
        return [
            "count": devices.count, "here": devices.count { $0.presence != .away },
            "push": JSONMembers([
                "none": push.none, "registered": push.registered, "quarantined": push.quarantined, "dead": push.dead,
            ]),
        ]
    }

    // MARK: - Accounts

    func account(of user: UserKey) async throws -> AccountState {
        try await self.read(.readAccount(user), \.userAccount)
    }

    private func account(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let account = try await self.account(of: user)
        return .json(account.ban.told + ["tokens_not_before": account.tokensNotBefore])
    }

    private func revokeTokens(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, user.app)
        let time = try body.optionalTime("before") ?? Clocks.now().wall
        let signsOut = try body.bool("sign_out", default: false)
        try body.refuseUnknown()
        let change = AccountChange.revokeTokens(before: time, signsOut: signsOut)
        return try await self.execute(.changeAccount(user, change), once: once)
    }

    /// Bans a person, in place of the ban before.
    private func ban(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let body = try await self.optionalBody(request)
        let ban = AccountBan(reason: try body.optionalString("reason"), until: try body.optionalTime("until"))
        try body.refuseUnknown()
        try ban.validate()
        return try await self.execute(.changeAccount(user, .ban(ban)))
    }

    // MARK: - What people and accounts are called, and look like

    /// Returns the profile of a person or an account; an empty one where none was set.
    func profile(of user: UserID, in app: AppID) async throws -> Profile {
        try await self.read(.readProfiles(app, [user]), \.profiles).first?.profile ?? Profile()
    }

    private func profile(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        .json(UserProfile(user.user, try await self.profile(of: user.user, in: user.app)).json)
    }

    private func setProfile(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let body = try await self.body(request)
        let profile = try body.profile()
        try body.refuseUnknown()
        try profile.validate()
        return try await self.execute(.setProfiles(user.app, [UserProfile(user.user, profile)]))
    }

    private func setProfiles(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let body = try await self.body(request)
        let list = try body.list("profiles")
        try body.refuseUnknown()
        try InvalidField.check(list.count, in: 1...StoreRules.profilesMax, "profiles")
        var profiles: [UserProfile] = []
        for (index, entry) in list.enumerated() {
            let user = try UserID.validated(try entry.string("user"), field: "profiles[\(index)].user")
            let profile = try entry.profile()
            try entry.refuseUnknown()
            do throws(InvalidField) { try profile.validate() } catch {
                throw InvalidField(field: "profiles[\(index)].\(error.field)", rule: error.rule)
            }
            profiles.append(UserProfile(user, profile))
        }
        return try await self.execute(.setProfiles(app, profiles))
    }

    // MARK: - What an app calls a person, for the audiences of pushes

    private func labels(
        _ user: UserKey, _ name: String, _ list: KeyPath<PersonLabels, [some JSONWritable]>
    ) async throws -> Response {
        .json([name: try await self.read(.readLabels(user), \.labels)[keyPath: list]])
    }

    private func setLabels(
        _ user: UserKey, _ request: Request, _ name: String, _ change: ([String]) -> LabelChange
    ) async throws -> Response {
        let body = try await self.body(request)
        let labels = try body.strings(name)
        try body.refuseUnknown()
        return try await self.execute(.setLabels(user, change(labels)))
    }

    // MARK: - Tokens

    private func issueToken(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, app)
        let user = try UserID.validated(try body.string("user"), field: "user")
        context.note.user = user.rawValue
        let seconds = try body.integer(
            "expires_in_seconds", in: 1...Self.tokenSeconds.max, default: Self.tokenSeconds.usual)
        try await self.confirm(body, request, context)
        let key = UserKey(app: app, user: user)
        // A token follows from when it was issued, so a repeat needs no more than that: no token is kept anywhere.
        let now = try await self.ask(.issueToken(key), \.mayIssueToken, once: once)
        let expiresAt = now / 1_000 + seconds
        let token = try self.tokens.token(for: key, issuedAt: now, expiresAtSeconds: expiresAt).orBug()
        return .json(["token": token, "app": app, "user": user, "expires_at": expiresAt * 1_000], status: .created)
    }
}

extension PersonSummary {
    fileprivate var json: JSONMembers {
        let head: JSONMembers = ["id": self.id]
        return head + self.ban.told + ["devices": self.devices, "unread": self.unread]
    }
}

extension PersonalConversation {
    fileprivate var json: JSONMembers {
        [
            "conversation": self.id, "name": self.name, "portrait": self.portrait, "unread": self.unread,
            "mentions": self.mentions, "is_muted": self.isMuted, "level": self.settings.level,
            "level_until": self.settings.levelUntil, "pinned_at": self.settings.pinnedAt,
            "is_archived": self.settings.isArchived, "is_hidden": self.isHidden, "is_dissolved": self.isDissolved,
            "last_message": self.newest?.json,
        ]
    }
}

extension PersonalConversation.Newest {
    fileprivate var json: JSONMembers {
        [
            "message_id": self.id, "sender": self.sender, "object_name": self.objectName,
            "object_type": self.objectName.word, "sent_at": self.sentAt,
        ]
    }
}

extension AccountBan? {
    /// Tells the ban that holds now.
    var told: JSONMembers {
        guard let ban = self, ban.holds(at: Clocks.now().wall) else { return ["banned": false, "ban": nil] }
        return ["banned": true, "ban": JSONMembers(["reason": ban.reason, "until": ban.until])]
    }
}

extension APIBody {
    fileprivate func profile() throws(InvalidField) -> Profile {
        Profile(name: try self.optionalString("name"), portrait: try self.optionalString("portrait"))
    }
}

extension UserProfile {
    fileprivate var json: JSONMembers {
        ["user": self.id, "name": self.profile.name, "portrait": self.profile.portrait]
    }
}

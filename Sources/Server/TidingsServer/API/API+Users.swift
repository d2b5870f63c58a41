import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addUsers(to app: RouterGroup<Context>) {
        app.get("users") { try await self.users($0, $1) }
        app.get("users/{user}") { try await self.user($0, $1) }
        app.get("users/{user}/conversations") { try await self.conversationList($0, $1) }
    }

    private func users(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts, query: Paging.query)
        let paging = try Paging(request)
        let question = APICommand.people(app, after: try paging.after { UserID($0) }, limit: paging.limit)
        guard case .people(let people, let hasMore) = try await self.result(of: question) else { throw APIProblem.bug }
        return .json([
            "users": .array(people.map(\.json)),
            "next": paging.next(after: people.last?.id.rawValue, hasMore: hasMore),
        ])
    }

    /// Asked one after the other: they may differ by what happens in between.
    private func user(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let user = UserKey(app: app, user: try self.person(context))
        let account = try await self.account(of: user)
        guard case .profiles(let profiles) = try await self.result(of: .profiles(app, [user.user])),
            case .unread(let report) = try await self.result(of: .unread(user, nil)),
            case .devices(let devices) = try await self.result(of: .devices(user))
        else { throw APIProblem.bug }
        let profile = profiles.first?.profile ?? Profile()
        return .json([
            "id": .string(user.user.rawValue), "banned": .bool(account.isBanned),
            "tokens_not_before": .optional(account.tokensNotBefore), "name": .optional(profile.name),
            "portrait": .optional(profile.portrait), "unread": .int(Int64(report.counts.unread)),
            "unread_with_muted": .int(Int64(report.counts.unreadWithMuted)),
            "mentions": .int(Int64(report.counts.mentions)), "head": .int(Int64(report.head)),
            "devices": Self.summary(of: devices),
        ])
    }

    /// Somebody's list as their phones have it, without texts.
    private func conversationList(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .settings, query: Paging.query)
        let user = UserKey(app: app, user: try self.person(context))
        let paging = try Paging(request)
        let before = try paging.after { LogPosition($0) }
        guard
            case .conversationList(let found, let hasMore) = try await self.result(
                of: .conversationList(user, before: before, limit: paging.limit))
        else { throw APIProblem.bug }
        return .json([
            "conversations": .array(found.map(\.json)),
            "next": paging.next(after: found.last.map { "\($0.place)" }, hasMore: hasMore),
        ])
    }

    private static func summary(of devices: [DeviceInfo]) -> JSONValue {
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
            "count": .int(Int64(devices.count)),
            "here": .int(Int64(devices.count { $0.presence != .away })),
            "push": [
                "none": .int(Int64(push.none)), "registered": .int(Int64(push.registered)),
                "quarantined": .int(Int64(push.quarantined)), "dead": .int(Int64(push.dead)),
            ],
        ]
    }
}

extension PersonSummary {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.id.rawValue), "banned": .bool(self.isBanned), "devices": .int(Int64(self.devices)),
            "unread": .int(Int64(self.unread)),
        ]
    }
}

extension PersonalConversation {
    fileprivate var json: JSONValue {
        [
            "conversation": self.id.json, "name": .optional(self.name), "portrait": .optional(self.portrait),
            "unread": .int(Int64(self.unread)), "mentions": .int(Int64(self.mentions)), "is_muted": .bool(self.isMuted),
            "level": .optional(self.settings.level?.rawValue), "level_until": .optional(self.settings.levelUntil),
            "pinned_at": .optional(self.settings.pinnedAt), "is_archived": .bool(self.settings.isArchived),
            "is_hidden": .bool(self.isHidden), "is_dissolved": .bool(self.isDissolved),
            "last_message": self.newest?.json ?? .null,
        ]
    }
}

extension PersonalConversation.Newest {
    fileprivate var json: JSONValue {
        [
            "message_id": .string(self.id.description), "sender": .string(self.sender.rawValue),
            "object_name": .string(self.objectName.rawValue), "sent_at": .int(self.sentAt),
        ]
    }
}

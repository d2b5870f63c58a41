import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

extension API {
    func addUsers(to app: RouterGroup<Context>) {
        app.get("users") { try await self.users($0, $1) }
        app.get("users/{user}") { try await self.user($0, $1) }
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

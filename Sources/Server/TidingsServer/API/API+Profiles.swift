import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

// What people and accounts are called, and look like.
extension API {
    func addProfiles(to app: RouterGroup<Context>) {
        app.get("users/{user}/profile") { try await self.profile($0, $1) }
        app.put("users/{user}/profile") { try await self.setProfile($0, $1) }
        app.delete("users/{user}/profile") { try await self.deleteProfile($0, $1) }
        app.put("profiles") { try await self.setProfiles($0, $1) }
    }

    private func profile(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let result = try await self.result(of: .profiles(app, [try self.person(context)]))
        guard case .profiles(let profiles) = result, let found = profiles.first else { throw APIProblem.bug }
        return .json(found.json)
    }

    private func setProfile(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        let user = try self.person(context)
        let body = try await self.body(request)
        let profile = try body.profile()
        try body.refuseUnknown()
        try profile.validate()
        return try await self.execute(.setProfiles(app, [UserProfile(user, profile)]))
    }

    private func deleteProfile(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
        return try await self.execute(.setProfiles(app, [UserProfile(try self.person(context), Profile())]))
    }

    private func setProfiles(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .accounts)
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
}

extension APIBody {
    fileprivate func profile() throws(InvalidField) -> Profile {
        Profile(name: try self.optionalString("name"), portrait: try self.optionalString("portrait"))
    }
}

extension UserProfile {
    fileprivate var json: JSONValue {
        [
            "user": .string(self.id.rawValue), "name": .optional(self.profile.name),
            "portrait": .optional(self.profile.portrait),
        ]
    }
}

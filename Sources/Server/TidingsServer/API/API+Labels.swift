import HTTPTypes
import Hummingbird
import ServerCore
import StoreModel
import TidingsModel

// What an app calls a person, for the audiences of pushes.
extension API {
    func addLabels(to app: RouterGroup<Context>) {
        let user = app.group("users/{user}")
        user.get("aliases") { try await self.labels($0, $1, "aliases") { $0.aliases } }
        user.put("aliases") { try await self.setLabels($0, $1, "aliases") { .aliases($0) } }
        user.delete("aliases") { try await self.clearLabels($0, $1, .aliases([])) }
        user.get("tags") { try await self.labels($0, $1, "tags") { $0.tags } }
        user.put("tags") { try await self.setLabels($0, $1, "tags") { .tags($0) } }
        user.delete("tags") { try await self.clearLabels($0, $1, .tags([])) }
    }

    private func labels(
        _ request: Request, _ context: Context, _ name: String, _ read: (PersonLabels) -> [String]
    ) async throws -> Response {
        let app = try self.authorize(request, context, .settings)
        let user = UserKey(app: app, user: try self.person(context))
        guard case .labels(let labels) = try await self.result(of: .labels(user)) else { throw APIProblem.bug }
        return .json(.members([(name, .array(read(labels).map { .string($0) }))]))
    }

    private func setLabels(
        _ request: Request, _ context: Context, _ name: String, _ change: ([String]) -> LabelChange
    ) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        let user = UserKey(app: app, user: try self.person(context))
        let body = try await self.body(request)
        let labels = try body.strings(name)
        try body.refuseUnknown()
        return try await self.execute(.setLabels(user, change(labels)))
    }

    private func clearLabels(
        _ request: Request, _ context: Context, _ change: LabelChange
    ) async throws -> Response {
        let app = try self.authorize(request, context, .settings, limited: .requests)
        return try await self.execute(.setLabels(UserKey(app: app, user: try self.person(context)), change))
    }
}

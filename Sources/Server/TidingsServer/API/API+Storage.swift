import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// How much is kept of an app (docs/server/api-watch.md, "Storage").
extension API {
    static let storageRoutes: [Route] = [.app(.get, "storage", .trace, API.storage)]

    private func storage(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        let use = try await self.read(.readStorageUse(app), \.storageUse)
        let media = self.media?.use(of: app)
        return .json([
            "messages": use.messages.json, "custom_messages": use.customMessages.json, "pushes": use.pushes.json,
            "media": Self.amount(media?.files ?? 0, bytes: media?.bytes ?? 0),
            "log_entries": Self.amount(use.logEntries), "conversations": Self.amount(use.conversations),
            "people": Self.amount(use.people), "devices": Self.amount(use.devices),
            "kept_answers": Self.amount(use.keptAnswers),
        ])
    }

    fileprivate static func amount(_ number: Int, bytes: Int64? = nil) -> JSONMembers {
        ["number": number, "bytes": bytes]
    }
}

extension StorageUse.Amount {
    fileprivate var json: JSONMembers { API.amount(self.number, bytes: Int64(self.bytes)) }
}

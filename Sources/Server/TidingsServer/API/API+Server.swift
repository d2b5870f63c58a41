import HTTPTypes
import Hummingbird
import StoreModel
import TidingsModel

/// The server itself, for those who look after it.
extension API {
    func addServer(to router: Router<Context>) {
        router.get("v1/server") { try await self.server($0, $1) }
    }

    private func server(_ request: Request, _ context: Context) async throws -> Response {
        try self.authorizeOperator(request, context, .administer)
        guard let status = self.status else { throw APIProblem.notReady }
        let now = Clocks.now().wall
        let backups = status.backups
        return .json([
            "started_at": .int(status.startedAt), "uptime_ms": .int(max(0, now - status.startedAt)),
            "version": .string(self.version), "schema": .int(Int64(status.schema)),
            "storage": [
                "state": .string(self.readiness.isStorageFull ? "full" : "ok"),
                "database_bytes": .optional(status.databaseBytes), "free_bytes": .optional(self.disk.free),
            ],
            "backup": [
                "running": backups.running?.json ?? .null, "last": backups.last?.json ?? .null,
                "last_good": backups.lastGood?.json ?? .null,
            ],
        ])
    }
}

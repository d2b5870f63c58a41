import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addStatistics(to app: RouterGroup<Context>) {
        app.get("statistics") { try await self.statistics($0, $1) }
    }

    private func statistics(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        guard let (counts, since) = self.feed.statistics(of: app) else { throw APIProblem.notReady }
        return .json(counts.json(since: since))
    }
}

extension AppStatistics {
    fileprivate func json(since: Int64) -> JSONValue {
        [
            "since": .int(since),
            "messages": [
                "accepted": .int(Int64(self.messages)), "custom": .int(Int64(self.customMessages)),
                "recalled": .int(Int64(self.recalls)), "edited": .int(Int64(self.edits)),
            ],
            "legs": .members(LegEnd.names.map { ($0, .int(Int64(self.legs[$0] ?? 0))) }),
            "pushes": [
                "accepted": .int(Int64(self.pushesAccepted)), "refused": .int(Int64(self.pushesRefused)),
                "unknown": .int(Int64(self.pushesUnknown)), "not_sent": .int(Int64(self.pushesNotSent)),
            ],
            "receipts": ["shown": .int(Int64(self.shown)), "opened": .int(Int64(self.opened))],
            "devices": ["signed_in": .int(Int64(self.signIns)), "signed_out": .int(Int64(self.signOuts))],
            "connections": .int(Int64(self.connections)),
        ]
    }
}

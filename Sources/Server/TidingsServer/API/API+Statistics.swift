import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    static let statisticsRoutes: [Route] = [
        .app(.get, "statistics", .trace, API.statistics),
        .app(.get, "statistics/history", .trace, API.statisticsHistory),
    ]

    private func statistics(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        guard let (counts, since) = self.feed.statistics(of: app) else { throw APIProblem.notReady }
        let (lanes, open) = try await self.ask(.pushLanes(app), \.pushLanes)
        guard let history = self.feed.history(of: app) else { throw APIProblem.notReady }
        return .json(
            counts.statistics.members(since: since) + [
                "open_legs": open.json, "legs_hour": history.endsOfAllSteps, "latency": counts.latency,
                "queue": JSONMembers([
                    "waiting": lanes.reduce(0) { $0 + $1.waiting }, "in_flight": lanes.reduce(0) { $0 + $1.inFlight },
                ]), "lanes": lanes.map(\.json),
            ])
    }

    private func statisticsHistory(_ app: AppID, _ request: Request, _ context: Context) async throws -> Response {
        guard let history = self.feed.history(of: app) else { throw APIProblem.notReady }
        return .json(history.json)
    }
}

extension AppStatistics {
    fileprivate func members(since: Int64) -> JSONMembers {
        [
            "since": since,
            "messages": JSONMembers([
                "accepted": self.messages, "custom": self.customMessages, "recalled": self.recalls,
                "edited": self.edits,
            ]), "legs": JSONMembers(pairs: LegEnd.names.map { ($0, self.legs[$0] ?? 0) }),
            "pushes": JSONMembers([
                "accepted": self.pushesAccepted, "refused": self.pushesRefused, "unknown": self.pushesUnknown,
                "not_sent": self.pushesNotSent,
            ]), "receipts": JSONMembers(["shown": self.shown, "opened": self.opened]),
            "devices": JSONMembers(["signed_in": self.signIns, "signed_out": self.signOuts]),
            "connections": self.connections,
        ]
    }
}

extension OpenLegCounts {
    fileprivate var json: JSONMembers {
        ["total": self.total, "waits": JSONMembers(pairs: LegWait.allCases.map { ($0.rawValue, self[$0]) })]
    }
}

extension ReportBuffer.AppCounts {
    fileprivate var latency: JSONMembers {
        [
            "delivered": JSONMembers([
                "five_minutes": self.fiveMinutes.delivered.json, "hour": self.hour.delivered.json,
            ]), "to_apns": JSONMembers(["five_minutes": self.fiveMinutes.toAPNs.json, "hour": self.hour.toAPNs.json]),
        ]
    }
}

extension LatencyHistogram.Summary {
    fileprivate var json: JSONMembers {
        ["count": self.count, "p50_ms": self.p50, "p95_ms": self.p95, "p99_ms": self.p99]
    }
}

extension [LatencyHistogram.Summary] {
    /// A list for each of its members.
    fileprivate var json: JSONMembers {
        ["count": self.map(\.count), "p50_ms": self.map(\.p50), "p95_ms": self.map(\.p95), "p99_ms": self.map(\.p99)]
    }
}

extension HistoryReport {
    fileprivate var endsOfAllSteps: JSONMembers {
        let counts = Dictionary(self.ends.map { ($0.name, $0.counts.reduce(0, +)) }) { $0 + $1 }
        return JSONMembers(pairs: LegEnd.names.map { ($0, counts[$0] ?? 0) })
    }

    fileprivate var json: JSONMembers {
        [
            "since": self.since, "from": self.from, "step_ms": self.stepMilliseconds, "connections": self.connections,
            "messages": self.messages,
            "pushes": JSONMembers([
                "accepted": self.accepted, "refused": self.refused, "unknown": self.unknown, "not_sent": self.notSent,
            ]), "legs": JSONMembers(pairs: self.ends.map { ($0.name, $0.counts) }), "delivered": self.delivered.json,
            "to_apns": self.toAPNs.json, "queue": JSONMembers(["waiting": self.waiting, "in_flight": self.inFlight]),
        ]
    }
}

extension PushLaneReport {
    fileprivate var json: JSONMembers {
        [
            "environment": self.environment, "topic": self.topic, "state": self.hold.name,
            "reason": self.outage?.reason ?? self.refusal, "waiting": self.waiting, "in_flight": self.inFlight,
            "refused_tokens": self.refused,
        ]
    }
}

extension PushFacts.LaneHold {
    /// In answers.
    var name: String {
        switch self {
        case .none: "usable"
        case .configFault: "config_fault"
        case .breakerOpen: "breaker_open"
        case .providerDown: "provider_down"
        }
    }
}

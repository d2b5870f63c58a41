import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addStatistics(to app: RouterGroup<Context>) {
        app.get("statistics") { try await self.statistics($0, $1) }
        app.get("statistics/history") { try await self.statisticsHistory($0, $1) }
    }

    private func statistics(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        guard let (counts, since) = self.feed.statistics(of: app) else { throw APIProblem.notReady }
        guard case .pushLanes(let lanes, let open) = try await self.result(of: .pushLanes(app)) else {
            throw APIProblem.bug
        }
        guard let history = self.feed.history(of: app) else { throw APIProblem.notReady }
        return .json(
            .members(
                counts.statistics.members(since: since) + [
                    ("open_legs", open.json), ("legs_hour", history.endsOfAllSteps),
                    ("latency", counts.latency),
                    (
                        "queue",
                        [
                            "waiting": .int(Int64(lanes.reduce(0) { $0 + $1.waiting })),
                            "in_flight": .int(Int64(lanes.reduce(0) { $0 + $1.inFlight })),
                        ]
                    ), ("lanes", .array(lanes.map(\.json))),
                ]))
    }

    private func statisticsHistory(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .trace)
        guard let history = self.feed.history(of: app) else { throw APIProblem.notReady }
        return .json(history.json)
    }
}

extension AppStatistics {
    fileprivate func members(since: Int64) -> [(String, JSONValue)] {
        [
            ("since", .int(since)),
            (
                "messages",
                [
                    "accepted": .int(Int64(self.messages)), "custom": .int(Int64(self.customMessages)),
                    "recalled": .int(Int64(self.recalls)), "edited": .int(Int64(self.edits)),
                ]
            ), ("legs", .members(LegEnd.names.map { ($0, .int(Int64(self.legs[$0] ?? 0))) })),
            (
                "pushes",
                [
                    "accepted": .int(Int64(self.pushesAccepted)), "refused": .int(Int64(self.pushesRefused)),
                    "unknown": .int(Int64(self.pushesUnknown)), "not_sent": .int(Int64(self.pushesNotSent)),
                ]
            ), ("receipts", ["shown": .int(Int64(self.shown)), "opened": .int(Int64(self.opened))]),
            ("devices", ["signed_in": .int(Int64(self.signIns)), "signed_out": .int(Int64(self.signOuts))]),
            ("connections", .int(Int64(self.connections))),
        ]
    }
}

extension OpenLegCounts {
    fileprivate var json: JSONValue {
        [
            "total": .int(Int64(self.total)),
            "waits": .members(LegWait.allCases.map { ($0.rawValue, .int(Int64(self[$0]))) }),
        ]
    }
}

extension ReportBuffer.AppCounts {
    fileprivate var latency: JSONValue {
        [
            "delivered": ["five_minutes": self.fiveMinutes.delivered.json, "hour": self.hour.delivered.json],
            "to_apns": ["five_minutes": self.fiveMinutes.toAPNs.json, "hour": self.hour.toAPNs.json],
        ]
    }
}

extension LatencyHistogram.Summary {
    fileprivate var json: JSONValue {
        [
            "count": .int(Int64(self.count)), "p50_ms": .optional(self.p50), "p95_ms": .optional(self.p95),
            "p99_ms": .optional(self.p99),
        ]
    }
}

extension [LatencyHistogram.Summary] {
    /// A list for each of its members.
    fileprivate var json: JSONValue {
        [
            "count": .array(self.map { .int(Int64($0.count)) }), "p50_ms": .array(self.map { .optional($0.p50) }),
            "p95_ms": .array(self.map { .optional($0.p95) }), "p99_ms": .array(self.map { .optional($0.p99) }),
        ]
    }
}

extension HistoryReport {
    fileprivate var endsOfAllSteps: JSONValue {
        let counts = Dictionary(self.ends.map { ($0.name, $0.counts.reduce(0, +)) }) { $0 + $1 }
        return .members(LegEnd.names.map { ($0, .int(Int64(counts[$0] ?? 0))) })
    }

    fileprivate var json: JSONValue {
        func list(_ numbers: [Int]) -> JSONValue { .array(numbers.map { .int(Int64($0)) }) }
        return [
            "since": .int(self.since), "from": .int(self.from), "step_ms": .int(self.stepMilliseconds),
            "connections": list(self.connections), "messages": list(self.messages),
            "pushes": [
                "accepted": list(self.accepted), "refused": list(self.refused), "unknown": list(self.unknown),
                "not_sent": list(self.notSent),
            ], "legs": .members(self.ends.map { ($0.name, list($0.counts)) }), "delivered": self.delivered.json,
            "to_apns": self.toAPNs.json,
            "queue": ["waiting": list(self.waiting), "in_flight": list(self.inFlight)],
        ]
    }
}

extension PushLaneReport {
    fileprivate var json: JSONValue {
        [
            "environment": .string(self.environment.rawValue), "topic": .optional(self.topic),
            "state": .string(self.hold.name), "reason": .optional(self.outage?.reason ?? self.refusal),
            "waiting": .int(Int64(self.waiting)), "in_flight": .int(Int64(self.inFlight)),
            "refused_tokens": .int(Int64(self.refused)),
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

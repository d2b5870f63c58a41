import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    func addTestPushes(to app: RouterGroup<Context>) {
        app.post("users/{user}/devices/{device}/test-push") { try await self.pushTest($0, $1) }
        app.post("users/{user}/silent-push") { try await self.pushSilently($0, $1) }
    }

    /// Answered when APNs is, or after some seconds.
    private func pushTest(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let device = DeviceKey(
            user: UserKey(app: app, user: try self.person(context)),
            device: try DeviceID.validated(try Self.parameter("device", context), field: "device"))
        let (body, once) = try await self.keyedBody(request, context, app)
        let test = TestPush(
            id: Once.id(once), title: try body.optionalString("title"), text: try body.string("text"))
        try body.refuseUnknown()
        try test.validate()
        guard case .testPush(let report) = try await self.result(of: .testPush(device, test), once: once) else {
            throw APIProblem.bug
        }
        return .json(report.json)
    }

    private func pushSilently(_ request: Request, _ context: Context) async throws -> Response {
        let app = try self.authorize(request, context, .messages, limited: .messages)
        let user = UserKey(app: app, user: try self.person(context))
        let (body, once) = try await self.keyedBody(request, context, app)
        let device = try body.optionalString("device").map { try DeviceID.validated($0, field: "device") }
        let push = SilentPush(id: Once.id(once), device: device, data: try body.members("data"))
        try body.refuseUnknown()
        try push.validate()
        guard case .silentPush(let report) = try await self.result(of: .silentPush(user, push), once: once) else {
            throw APIProblem.bug
        }
        return .json(report.json)
    }
}

extension TestPushReport {
    fileprivate var json: JSONValue {
        [
            "id": .string(self.id), "sent_at": .int(self.sentAt), "device": self.device.json,
            "token": .optional(self.request?.token.shortened), "lease": .string(self.lease.name),
            "lane": self.lane?.json ?? .null, "credential": self.credential,
            "verdict": [
                "result": .string(self.verdict.result), "reason": .optional(self.verdict.reason),
                "detail": .optional(self.verdict.detail), "tests": .array(self.tests.map(\.json)),
            ],
            "request": self.request?.json ?? .null, "answer": .members(self.state.members),
            "unknown": .array(self.unknowns.map { .string($0) }),
        ]
    }

    /// What is known of it by what APNs has said before, and says now.
    private var credential: JSONValue {
        switch (self.state, self.lane?.outage) {
        case (.accepted, _): ["state": "accepted", "reason": .null]
        case (.notSent(PassedPushState.noCredential), _): ["state": "missing", "reason": .null]
        case (_, let outage?) where outage.cause == .credential:
            outage.reason == "NoCredential"
                ? ["state": "missing", "reason": .null] : ["state": "refused", "reason": .string(outage.reason)]
        case (.refused(let refusal), _) where refusal.reaction == .config || refusal.reaction == .auth:
            ["state": "refused", "reason": .string(refusal.reason.name)]
        // APNs looks at the credential before it looks at the token.
        case (.refused, _): ["state": "accepted", "reason": .null]
        case (.pushing, _), (.notSent, _), (.unanswered, _): ["state": "unknown", "reason": .null]
        }
    }
}

extension TestPushReport.Lane {
    fileprivate var json: JSONValue {
        [
            "environment": .string(self.lane.environment.rawValue), "topic": .string(self.lane.topic),
            "state": .string(self.hold.name), "reason": .optional(self.outage?.reason),
            "waiting": .int(Int64(self.waiting)),
            "in_flight": .int(Int64(self.inFlight)),
        ]
    }
}

extension PushVerdict {
    fileprivate var result: String {
        switch self {
        case .send: "send"
        case .wait: "wait"
        case .end: "end"
        }
    }

    fileprivate var reason: String? {
        switch self {
        case .send: nil
        case .wait(let wait): wait.rawValue
        case .end(let end): end.name
        }
    }

    fileprivate var detail: String? {
        if case .end(let end) = self { end.detail } else { nil }
    }
}

extension PushVerdict.Test {
    fileprivate var json: JSONValue {
        [
            "fact": .string(self.fact), "passed": .bool(self.isPassed), "result": .string(self.verdict.result),
            "reason": .optional(self.verdict.reason),
        ]
    }
}

extension APNsRequest {
    fileprivate var json: JSONValue {
        [
            "method": .string(self.method), "path": .string("/3/device/\(self.token.shortened)"),
            "headers": .members(self.headerFields.map { ($0.name, .string($0.value)) }),
            "payload": (try? JSONValue(parsing: self.payload)) ?? .null,
        ]
    }
}

extension SilentPushReport {
    fileprivate var json: JSONValue {
        [
            "sent_at": .int(self.sentAt), "devices": .array(self.devices.map(\.json)),
            "notes": .array(Self.notes.map { .string($0) }),
        ]
    }
}

extension SilentPushReport.Device {
    fileprivate var json: JSONValue {
        let state: [(String, JSONValue)] =
            switch self.state {
            case .sent: [("state", "sent")]
            case .budgetSpent(let at): [("state", "budget_spent"), ("next_at", .int(at))]
            case .budgetUnknown(let at): [("state", "budget_unknown"), ("next_at", .int(at))]
            case .noToken: [("state", "no_token")]
            case .tokenDead: [("state", "token_dead")]
            case .tokenQuarantined(let reason): [("state", "token_quarantined"), ("reason", .string(reason))]
            case .notSent(let reason): [("state", "not_sent"), ("reason", .string(reason))]
            }
        return .members([("device", .string(self.id.rawValue))] + state)
    }
}

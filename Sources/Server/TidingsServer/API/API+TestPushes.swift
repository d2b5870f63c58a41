import APNsModel
import HTTPTypes
import Hummingbird
import ServerCore
import TidingsModel

extension API {
    static let testPushRoutes: [Route] = [
        .user(.post, "devices/{device}/test-push", .messages, limited: .messages, API.pushTest),
        .user(.post, "silent-push", .messages, limited: .messages, API.pushSilently),
    ]

    /// Answered when APNs is, or after some seconds.
    private func pushTest(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let device = try self.device(of: user, context)
        let (body, once) = try await self.keyedBody(request, context, user.app)
        let test = TestPush(
            id: Once.id(once), title: try body.optionalString("title"), text: try body.string("text"))
        try body.refuseUnknown()
        try test.validate()
        return .json(try await self.ask(.testPush(device, test), \.testPush, once: once).json)
    }

    private func pushSilently(_ user: UserKey, _ request: Request, _ context: Context) async throws -> Response {
        let (body, once) = try await self.keyedBody(request, context, user.app)
        let device = try body.optionalString("device").map { try DeviceID.validated($0, field: "device") }
        let push = SilentPush(id: Once.id(once), device: device, data: try body.members("data"))
        try body.refuseUnknown()
        try push.validate()
        return .json(try await self.ask(.silentPush(user, push), \.silentPush, once: once).json)
    }
}

extension TestPushReport {
    fileprivate var json: JSONMembers {
        [
            "id": self.id, "sent_at": self.sentAt, "device": self.device.json, "token": self.request?.token.shortened,
            "lease": self.lease.name, "lane": self.lane?.json, "credential": self.credential,
            "verdict": JSONMembers([
                "result": self.verdict.result, "reason": self.verdict.reason, "detail": self.verdict.detail,
                "tests": self.tests.map(\.json),
            ]), "request": self.request?.json, "answer": self.state.members, "unknown": self.unknowns,
        ]
    }

    /// The state of the credential by APNs's earlier answers and the present one.
    private var credential: JSONMembers {
        switch (self.state, self.lane?.outage) {
        case (.accepted, _): ["state": "accepted", "reason": nil]
        case (.notSent(PassedPushState.noCredential), _): ["state": "missing", "reason": nil]
        case (_, let outage?) where outage.cause == .credential:
            outage.reason == "NoCredential"
                ? ["state": "missing", "reason": nil] : ["state": "refused", "reason": outage.reason]
        case (.refused(let refusal), _) where refusal.reaction == .config || refusal.reaction == .auth:
            ["state": "refused", "reason": refusal.reason.name]
        // APNs looks at the credential before it looks at the token.
        case (.refused, _): ["state": "accepted", "reason": nil]
        case (.pushing, _), (.notSent, _), (.unanswered, _): ["state": "unknown", "reason": nil]
        }
    }
}

extension TestPushReport.Lane {
    fileprivate var json: JSONMembers {
        [
            "environment": self.lane.environment, "topic": self.lane.topic, "state": self.hold.name,
            "reason": self.outage?.reason, "waiting": self.waiting, "in_flight": self.inFlight,
        ]
    }
}

extension PushVerdict {
    fileprivate var detail: String? { if case .end(let end) = self { end.detail } else { nil } }
}

extension PushVerdict.Test {
    fileprivate var json: JSONMembers {
        ["fact": self.fact, "passed": self.isPassed, "result": self.verdict.result, "reason": self.verdict.reason]
    }
}

extension APNsRequest {
    fileprivate var json: JSONMembers {
        [
            "method": self.method, "path": "/3/device/\(self.token.shortened)",
            "headers": JSONMembers(pairs: self.headerFields.map { ($0.name, $0.value) }),
            "payload": try? JSONValue(parsing: self.payload),
        ]
    }
}

extension SilentPushReport {
    fileprivate var json: JSONMembers {
        ["sent_at": self.sentAt, "devices": self.devices, "notes": Self.notes]
    }
}

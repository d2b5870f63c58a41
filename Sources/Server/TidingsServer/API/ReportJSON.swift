import ServerCore
import StoreModel
import TidingsModel

extension ReportBuffer.Entry {
    var json: JSONValue { .members([("at", .int(self.at))] + self.report.members) }
}

extension ServerReport {
    fileprivate var members: [(String, JSONValue)] {
        switch self {
        case .accepted(let message, let sender, let conversation, let objectName, let recipients):
            [
                ("message_id", .string(message.description)), ("kind", "message"),
                ("sender", .string(sender.user.rawValue)), ("conversation", conversation.json),
                ("object_name", .string(objectName.rawValue)), ("recipients", .int(Int64(recipients))),
            ]
        case .acceptedCustom(let message, _, let recipients):
            [
                ("message_id", .string(message.description)), ("kind", "custom"),
                ("recipients", .int(Int64(recipients))),
            ]
        case .recalled(let message, let recall, let sender, let conversation):
            [
                ("message_id", .string(message.description)), ("recall", .string(recall.description)),
                ("sender", .string(sender.user.rawValue)), ("conversation", conversation.json),
            ]
        case .edited(let message, _, let conversation):
            [("message_id", .string(message.description)), ("conversation", conversation.json)]
        case .sentLeg(let leg, let apnsID): leg.reported + [("apns_id", .optional(apnsID))]
        case .waitingLeg(let open):
            open.leg.reported + [
                ("wait", .string(open.wait.rawValue)), ("attempts", .int(Int64(open.attempts))),
                ("not_before", .optional(open.notBefore)),
            ]
        case .endedLeg(let ended):
            ended.leg.reported + [("end", .string(ended.end.name)), ("detail", .optional(ended.end.detail))]
        case .receipt(let leg, let receipt): leg.reported + [("receipt", .string(receipt.rawValue))]
        case .device(let device, let change): device.reported + change.members
        case .answeredPush(let device, let subject, let result): device.reported + subject.members + result.members
        case .raisedAlarm(let lane, let alarm):
            lane.reported + [("state", .string(alarm.name)), ("reason", .string(alarm.reason))]
        case .clearedAlarm(let lane): lane.reported + [("state", "usable"), ("reason", .null)]
        case .pushJob(let job):
            [
                ("push", .string(job.id.description)), ("push_state", .string(job.state.rawValue)),
                ("is_news", .bool(job.isNews)), ("looked_at", .int(Int64(job.lookedAt))),
                ("recipients", .int(Int64(job.recipients))),
            ]
        case .expiringCredential(_, let credential, let end, let isExpired):
            [
                ("credential", .string(credential)), ("state", isExpired ? "expired" : "expiring"),
                ("expires_at", .int(end)),
            ]
        case .storage(let isFull, let free):
            [("state", isFull ? "full" : "ok"), ("free_bytes", .int(free))]
        }
    }
}

extension LegID {
    fileprivate var reported: [(String, JSONValue)] {
        [
            ("message_id", .string(self.message.description)), ("user", .string(self.user.user.rawValue)),
            ("device", .optional(self.device?.rawValue)),
        ]
    }
}

extension DeviceKey {
    fileprivate var reported: [(String, JSONValue)] {
        [("user", .string(self.user.user.rawValue)), ("device", .string(self.device.rawValue))]
    }
}

extension PushLane {
    fileprivate var reported: [(String, JSONValue)] {
        [("environment", .string(self.environment.rawValue)), ("topic", .string(self.topic))]
    }
}

extension ServerReport.DeviceChange {
    fileprivate var members: [(String, JSONValue)] {
        switch self {
        case .signedIn(let platform): [("platform", .string(platform))]
        case .lease(let lease): [("lease", .string(lease.name))]
        case .signedOut, .connected, .disconnected: []
        }
    }
}

extension ServerReport.PushSubject {
    fileprivate var members: [(String, JSONValue)] {
        switch self {
        case .message(let message): [("kind", "message"), ("message_id", .string(message.description))]
        case .badge: [("kind", "badge")]
        case .call(let call): [("kind", "call"), ("call", .string(call.rawValue))]
        case .test: [("kind", "test")]
        case .silent: [("kind", "silent")]
        }
    }
}

extension ServerReport.PushResult {
    /// Words of our own say what happened on the way; of APNs there are its reasons alone.
    fileprivate var members: [(String, JSONValue)] {
        let (outcome, apnsID, status, reason): (String, String?, Int64?, String?) =
            switch self {
            case .accepted(let apnsID): ("accepted", apnsID, 200, nil)
            case .refused(let apnsID, let status, let reason): ("refused", apnsID, Int64(status), reason)
            case .unknown(let words): ("unknown", nil, nil, words)
            case .notSent(let words): ("not_sent", nil, nil, words)
            case .noCredential: ("no_credential", nil, nil, nil)
            }
        return [
            ("outcome", .string(outcome)), ("apns_id", .optional(apnsID)), ("status", .optional(status)),
            ("reason", .optional(reason)),
        ]
    }
}

extension PushAlarm {
    fileprivate var name: String {
        switch self {
        case .configFault: "config_fault"
        case .tokenRefused: "token_refused"
        case .burst: "burst"
        case .providerDown: "provider_down"
        }
    }

    fileprivate var reason: String {
        switch self {
        case .configFault(let reason), .tokenRefused(let reason), .burst(let reason), .providerDown(let reason): reason
        }
    }
}

import Testing
import TidingsModel

@testable import tidings

@Suite struct `The life of a message as a table` {
    @Test func `shows each leg with its end, reason and time`() {
        let trace: JSONValue = [
            "message_id": "01qdq6qdr0000", "sender": "alice", "conversation": ["type": "PR", "target": "bob"],
            "sent_at": 1_767_225_600_000,
            "ended_legs": [
                ["user": "bob", "device": "phone", "end": "accepted", "detail": "apns-1", "at": 1_767_225_612_345],
                ["user": "alice", "device": "mac", "end": "own_device", "detail": .null, "at": 1_767_225_600_000],
            ],
            "open_legs": [
                [
                    "user": "bob", "device": "ipad", "wait": "provider_down", "attempts": 2,
                    "not_before": 1_767_225_660_000,
                ]
            ],
            "receipts": [["user": "bob", "device": "phone", "receipt": "shown", "at": 1_767_225_613_000]],
            "devices": [
                [
                    "user": "bob", "device": "ipad",
                    "status": Self.status("authorized", alert: true, refresh: "available"),
                ],
                ["user": "bob", "device": "phone", "status": Self.status("denied", alert: false, refresh: "denied")],
            ],
        ]
        #expect(
            TraceTable(trace).lines == [
                "message 01qdq6qdr0000 from alice to PR:bob, accepted 2026-01-01 00:00:00.000 UTC",
                "  alice/mac  ended    own_device                                              "
                    + "2026-01-01 00:00:00.000 UTC",
                "  bob/ipad   allows   authorized                                              "
                    + "2026-01-01 00:00:00.000 UTC",
                "  bob/ipad   open     provider_down  2 attempts                               "
                    + "not before 2026-01-01 00:01:00.000 UTC",
                "  bob/phone  allows   denied         off: alert, background_refresh (denied)  "
                    + "2026-01-01 00:00:00.000 UTC",
                "  bob/phone  ended    accepted       apns-1                                   "
                    + "2026-01-01 00:00:12.345 UTC",
                "  bob/phone  receipt  shown                                                   "
                    + "2026-01-01 00:00:13.000 UTC",
            ])
    }

    private static func status(_ authorization: String, alert: Bool, refresh: String) -> JSONValue {
        [
            "authorization": .string(authorization), "alert": .bool(alert), "sound": true, "badge": true,
            "lock_screen": true, "notification_center": true, "background_refresh": .string(refresh),
            "at": 1_767_225_600_000,
        ]
    }

    @Test func `names who has written as an account`() {
        let trace: JSONValue = [
            "message_id": "01qdq6qdr0000", "kind": "message", "sender": "help", "author": "olga",
            "conversation": ["type": "CS", "target": "bob"], "sent_at": 1_767_225_600_000,
        ]
        #expect(
            TraceTable(trace).lines.first
                == "message 01qdq6qdr0000 from help (written by olga) to CS:bob, accepted 2026-01-01 00:00:00.000 UTC")
    }

    @Test func `names a recall and a custom message as what they are`() {
        var trace: JSONValue = [
            "message_id": "01qdq6qdr0001", "kind": "recall", "sender": "alice", "recalls": "01qdq6qdr0000",
            "conversation": ["type": "GRP", "target": "team"], "sent_at": 1_767_225_600_000,
        ]
        #expect(
            TraceTable(trace).lines == [
                "recall 01qdq6qdr0001 of message 01qdq6qdr0000 by alice in GRP:team, "
                    + "accepted 2026-01-01 00:00:00.000 UTC", "no leg: no phone has to be told by a push",
            ])
        trace = [
            "message_id": "01qdq6qdr0002", "kind": "custom", "sent_at": 1_767_225_600_000,
            "deliveries": [["user": "bob", "position": 3]],
        ]
        #expect(
            TraceTable(trace).lines == [
                "custom message 01qdq6qdr0002 for 1 person, accepted 2026-01-01 00:00:00.000 UTC",
                "no leg: a custom message is never pushed",
            ])
    }

    @Test func `says so when there is no leg yet`() {
        let trace: JSONValue = [
            "message_id": "01qdq6qdr0000", "sender": "alice", "conversation": ["type": "GRP", "target": "team"],
            "sent_at": 1_767_225_600_000,
        ]
        #expect(TraceTable(trace).lines.last == "no leg yet: the message has just been accepted")
        let recalled: JSONValue = [
            "message_id": "01qdq6qdr0000", "kind": "message", "sender": "alice", "recall": "01qdq6qdr0001",
            "conversation": ["type": "GRP", "target": "team"], "sent_at": 1_767_225_600_000,
        ]
        #expect(TraceTable(recalled).lines.first?.hasSuffix("UTC, recalled by 01qdq6qdr0001") == true)
    }
}

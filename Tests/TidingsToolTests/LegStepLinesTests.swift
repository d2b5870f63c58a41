import Testing
import TidingsModel

@testable import tidings

@Suite struct `The steps of a message's legs, in lines` {
    private static let at: Int64 = 1_767_225_600_000

    private static func time(_ seconds: Int64) -> JSONValue { .int(Self.at + seconds * 1_000) }

    @Test func `tell waits with their cause, the device, pushes, answers, receipts and the end, by time`() {
        let trace: JSONValue = [
            "ended_legs": [
                [
                    "user": "bob", "device": "phone", "end": "accepted", "detail": "apns-2", "at": Self.time(70),
                    "steps": [
                        ["step": "device", "at": Self.time(5), "turn": "deadline_missed"],
                        ["step": "waiting", "at": Self.time(5), "wait": "active_elsewhere", "until": Self.time(35)],
                        ["step": "pushed", "at": Self.time(35), "request": Self.request(0)],
                        [
                            "step": "answered", "at": Self.time(36), "outcome": "refused", "status": 503,
                            "reason": "ServiceUnavailable",
                        ], ["step": "waiting", "at": Self.time(36), "wait": "provider_down", "until": .null],
                        ["step": "pushed", "at": Self.time(69), "request": Self.request(1)],
                    ],
                ], ["user": "alice", "device": "mac", "end": "own_device", "at": Self.time(0), "steps": []],
            ], "open_legs": [],
            "receipts": [
                ["user": "bob", "device": "phone", "receipt": "shown", "at": Self.time(71)],
                ["user": "bob", "device": "pad", "receipt": "shown", "at": Self.time(72)],
            ],
        ]
        #expect(
            LegStepLines.lines(trace) == [
                "", "bob/phone, step by step:",
                "  2026-01-01 00:00:05.000 UTC  the device had not settled it in time",
                "  2026-01-01 00:00:05.000 UTC  waits until 2026-01-01 00:00:35.000 UTC: active_elsewhere",
                "  2026-01-01 00:00:35.000 UTC  pushed to com.example.chat (production) as apns-1",
                "  2026-01-01 00:00:36.000 UTC  APNs refused the push: 503 ServiceUnavailable",
                "  2026-01-01 00:00:36.000 UTC  waits: provider_down",
                "  2026-01-01 00:01:09.000 UTC  pushed to com.example.chat (production) as apns-2, again (1)",
                "  2026-01-01 00:01:10.000 UTC  ended: accepted (apns-2)",
                "  2026-01-01 00:01:11.000 UTC  the phone says: shown",
            ])
    }

    private static func request(_ attempt: Int64) -> JSONValue {
        [
            "apns_id": .string("apns-\(attempt + 1)"), "attempt": .int(attempt), "topic": "com.example.chat",
            "environment": "production", "counted_by": .null,
        ]
    }

    private static func open(_ step: JSONValue) -> String? {
        let leg: JSONValue = ["user": "bob", "device": "phone", "wait": "grace", "steps": [step]]
        return LegStepLines.lines(["open_legs": [leg]]).last
    }

    @Test(
        arguments: [
            (["step": "device", "turn": "returned"], "the device came back"),
            (["step": "device", "turn": "suspended"], "the app said that it is about to be frozen"),
            (["step": "device", "turn": "new_one"], "the device: new_one"),
            (["step": "read", "device": "pad"], "bob read it on pad"),
            (["step": "read", "device": .null], "bob read it, on which device is not known"),
            (["step": "answered", "outcome": "unknown"], "the push was sent, and its answer never came"),
            (["step": "answered", "outcome": "no_credential"], "there was no push credential for it"),
            (["step": "waiting", "wait": "new_one", "until": .null], "waits: new_one"),
            (["step": "new_one"], "new_one"),
        ] as [(JSONValue, String)])
    func `have words of their own, and what is not known is told as it is`(step: JSONValue, words: String) {
        #expect(Self.open(step)?.hasSuffix("UTC  \(words)") == true)
    }

    @Test func `are behind the table`() {
        let leg: JSONValue = [
            "user": "bob", "device": "phone", "wait": "grace", "attempts": 0,
            "steps": [["step": "device", "at": Self.time(1), "turn": "silent"]],
        ]
        let trace: JSONValue = [
            "message_id": "01qdq6qdr0000", "sender": "alice", "conversation": ["type": "PR", "target": "bob"],
            "sent_at": Self.time(0), "open_legs": [leg],
        ]
        #expect(
            TraceTable(trace).lines == [
                "message 01qdq6qdr0000 from alice to PR:bob, accepted 2026-01-01 00:00:00.000 UTC",
                "  bob/phone  open  grace", "", "bob/phone, step by step:",
                "  2026-01-01 00:00:01.000 UTC  nothing was heard of the device",
            ])
    }
}

import Testing
import TidingsModel

@testable import tidings

@Suite struct `What became of a message, in a sentence` {
    private static func leg(_ more: [(String, JSONValue)]) -> JSONValue {
        .members(
            [
                ("message_id", "01qdq6qdr0000"), ("sender", "alice"), ("sent_at", 1_767_225_600_000), ("user", "bob"),
                ("device", "iphone"),
            ] + more)
    }

    @Test func `says where it was read and how long before the deadline`() {
        let leg = Self.leg([
            ("state", "ended"), ("end", "read_elsewhere"), ("at", 1_767_225_610_000),
            (
                "steps",
                [
                    ["step": "read", "at": 1_767_225_609_200, "device": "ipad"],
                    ["step": "device", "at": 1_767_225_610_000, "turn": "deadline_missed"],
                ]
            ),
        ])
        #expect(
            LegSentence.lines([leg]) == [
                "2026-01-01 00:00:00.000 UTC  01qdq6qdr0000 from alice  "
                    + "iphone of bob was not pushed: the message was read on ipad 0.8 s before the deadline."
            ])
    }

    @Test func `says only what is known where nothing was kept`() {
        let leg = Self.leg([("state", "ended"), ("end", "read_elsewhere"), ("at", 1_767_225_610_000), ("steps", [])])
        #expect(
            LegSentence.sentence(leg)
                == "iphone of bob was not pushed: the message was read elsewhere before a push was due.")
        #expect(LegSentence.waits(leg) == nil)
    }

    @Test func `says what held a push up, each with its time`() {
        let leg = Self.leg([
            ("state", "ended"), ("end", "accepted"), ("detail", "A"), ("at", 1_767_225_780_500),
            (
                "steps",
                [
                    ["step": "waiting", "at": 1_767_225_600_000, "wait": "quiet_hours"],
                    ["step": "pushed", "at": 1_767_225_720_000],
                    [
                        "step": "answered", "at": 1_767_225_720_100, "outcome": "refused", "status": 503,
                        "reason": "ServiceUnavailable",
                    ],
                    ["step": "pushed", "at": 1_767_225_780_000],
                ]
            ), ("shown_at", 1_767_225_781_000),
        ])
        #expect(
            LegSentence.sentence(leg) == "iphone of bob showed it at 2026-01-01 00:03:01.000 UTC; "
                + "APNs took the push 3 min after the message was stored.")
        #expect(
            LegSentence.waits(leg)
                == "Before that it was held up by quiet_hours (2 min), an answer of APNs (503 ServiceUnavailable).")
    }

    @Test(
        arguments: [
            (
                ["state": "ended", "end": "muted"],
                "iphone of bob stayed silent: bob has muted the conversation, or conversations of its kind."
            ),
            (
                ["state": "ended", "end": "token_quarantined", "detail": "400 BadDeviceToken"],
                "iphone of bob could not be pushed: APNs has refused its token (400 BadDeviceToken)."
            ),
            (
                ["state": "ended", "end": "settled", "detail": "suppressed(level)"],
                "iphone of bob has it and showed nothing: suppressed(level)."
            ),
            (["state": "open", "wait": "grace"], "It waits for iphone of bob: the phone may come straight back."),
        ] as [([String: String], String)])
    func `has words for ends and waits`(members: [String: String], sentence: String) {
        #expect(
            LegSentence.sentence(Self.leg(members.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
                == sentence)
    }

    @Test func `says so if there was nothing`() {
        #expect(LegSentence.lines([]) == ["no message was on its way to this person then"])
    }

    @Test(
        arguments: [
            (0, "0 ms"), (99, "99 ms"), (100, "0.1 s"), (1_000, "1 s"), (59_999, "59.9 s"), (90_000, "1.5 min"),
            (9_000_000, "2.5 h"),
        ] as [(Int64, String)])
    func `tells times in the unit that is read at a glance`(milliseconds: Int64, text: String) {
        #expect(LegSentence.duration(milliseconds) == text)
    }
}

import Testing
import TidingsModel

@testable import tidings

@Suite struct `What became of a message, in a sentence` {
    private static func sentence(_ text: JSONValue, _ places: JSONValue) -> JSONValue {
        ["key": "any", "text": text, "places": places]
    }

    @Test func `is the server's, with device, times and spans filled in`() {
        let places: JSONValue = ["user": "bob", "device": "iphone", "reader": "ipad", "before": 800]
        let leg: JSONValue = [
            "message_id": "01qdq6qdr0000", "sender": "alice", "sent_at": 1_767_225_600_000,
            "sentences": [
                Self.sentence("{device} was not pushed: it was read on {reader} {before} before the deadline.", places),
                Self.sentence(
                    "Before that it was held up by {causes}.",
                    [
                        "causes": [
                            Self.sentence("“{cause}” ({time})", ["cause": "quiet_hours", "time": 120_000]),
                            Self.sentence("an answer ({answer})", ["answer": "503 Busy"]),
                        ]
                    ]),
            ],
        ]
        #expect(
            LegSentence.lines([leg]) == [
                "2026-01-01 00:00:00.000 UTC  01qdq6qdr0000 from alice  "
                    + "iphone of bob was not pushed: it was read on ipad 0.8 s before the deadline. "
                    + "Before that it was held up by “quiet_hours” (2 min), an answer (503 Busy)."
            ])
    }

    @Test func `names the device alone beside its person, and tells times of the day`() {
        let places: JSONValue = ["user": "bob", "device": "iphone", "at": 1_767_225_781_000, "until": .null]
        #expect(
            LegSentence.text(Self.sentence("{user} opened it on {plain} at {at}.", places))
                == "bob opened it on iphone at 2026-01-01 00:03:01.000 UTC.")
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

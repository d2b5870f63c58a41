import Testing
import TidingsModel

@testable import tidings

@Suite struct `Webhooks as lines` {
    private static let time: JSONValue = 1_767_225_600_000

    private static let orders: JSONValue = [
        "id": "w1", "name": "Orders", "url": "https://example.com/a", "types": ["leg_ended", "receipt"],
        "enabled": true, "created_at": Self.time, "previous_secret_ends_at": 1_767_229_200_000,
        "state": [
            "pending": 12, "dead_letters": 1, "last_delivered_at": 1_767_225_660_000,
            "last_failure": ["at": 1_767_225_661_000, "reason": "status", "status": 503],
        ],
    ]

    private static let bills: JSONValue = [
        "id": "w2", "name": "Bills", "url": "https://example.com/bills", "types": ["push_job"], "enabled": false,
        "created_at": Self.time, "previous_secret_ends_at": .null,
        "state": ["pending": 0, "dead_letters": 0, "last_delivered_at": .null, "last_failure": .null],
    ]

    @Test func `one a line`() {
        #expect(
            WebhookText.list([Self.orders, Self.bills]) == [
                "id  name    state     goes to                    is told             deliveries",
                "w1  Orders  enabled   https://example.com/a      leg_ended, receipt  12 pending, 1 dead letter",
                "w2  Bills   disabled  https://example.com/bills  push_job            0 pending, 0 dead letters",
            ])
        #expect(WebhookText.list([]) == ["there are no webhooks"])
    }

    @Test func `one with its state`() {
        #expect(
            WebhookText.one(Self.orders) == [
                "id          w1", "name        Orders", "state       enabled", "goes to     https://example.com/a",
                "is told     leg_ended, receipt", "added       2026-01-01 00:00:00.000 UTC",
                "secret      the one before signs, too, until 2026-01-01 01:00:00.000 UTC",
                "deliveries  12 pending, 1 dead letter", "delivered   last 2026-01-01 00:01:00.000 UTC",
                "failed      last 2026-01-01 00:01:01.000 UTC, status 503",
            ])
        #expect(
            WebhookText.one(Self.bills) == [
                "id          w2", "name        Bills", "state       disabled",
                "goes to     https://example.com/bills", "is told     push_job",
                "added       2026-01-01 00:00:00.000 UTC", "deliveries  0 pending, 0 dead letters",
                "delivered   nothing yet",
            ])
    }

    @Test func `one of whose deliveries nothing is known says so, and no zero`() {
        var webhook = Self.bills.objectValue ?? JSONObject()
        webhook["state"] = ["pending": .null, "dead_letters": .null, "last_delivered_at": .null, "last_failure": .null]
        let unknown = "unknown: the server cannot read its file of deliveries"
        #expect(
            WebhookText.list([.object(webhook)]) == [
                "id  name   state     goes to                    is told   deliveries",
                "w2  Bills  disabled  https://example.com/bills  push_job  \(unknown)",
            ])
        #expect(
            WebhookText.one(.object(webhook)) == [
                "id          w2", "name        Bills", "state       disabled",
                "goes to     https://example.com/bills", "is told     push_job",
                "added       2026-01-01 00:00:00.000 UTC", "deliveries  \(unknown)",
            ])
    }

    @Test func `what came of a test`() {
        #expect(
            WebhookText.test(["delivered": true, "status": 204, "reason": .null, "milliseconds": 12])
                == "delivered: status 204, after 12 ms")
        #expect(
            WebhookText.test(["delivered": false, "status": 500, "reason": "status", "milliseconds": 3])
                == "not delivered: status 500, after 3 ms")
        #expect(
            WebhookText.test(["delivered": false, "status": .null, "reason": "timed_out", "milliseconds": 10_000])
                == "not delivered: timed out, after 10000 ms")
    }

    @Test func `dead letters, with how often they were tried and why they failed`() {
        let letters: [JSONValue] = [
            [
                "id": "d1", "type": "leg_ended", "at": Self.time, "attempts": 8, "reason": "status", "status": 500,
                "data": [:],
            ],
            [
                "id": "d2", "type": "receipt", "at": 1_767_225_660_000, "attempts": 1, "reason": "refused_connection",
                "status": .null, "data": [:],
            ],
        ]
        #expect(
            WebhookText.deadLetters(letters) == [
                "id  type       happened                     attempts  why",
                "d1  leg_ended  2026-01-01 00:00:00.000 UTC         8  status 500",
                "d2  receipt    2026-01-01 00:01:00.000 UTC         1  refused connection",
            ])
        #expect(WebhookText.deadLetters([]) == ["there are no dead letters"])
    }
}

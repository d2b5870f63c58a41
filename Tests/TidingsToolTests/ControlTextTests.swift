import Testing
import TidingsModel

@testable import tidings

@Suite struct `Apps and operators as lines` {
    private static let time: JSONValue = 1_767_225_600_000

    @Test func `one a line`() {
        let apps: [JSONValue] = [
            [
                "id": "demo", "revision": 3, "created_at": Self.time, "suspended": false, "settings": ["name": ""],
                "api_keys": [["name": "backend"]],
            ],
            [
                "id": "shop", "revision": 12, "created_at": Self.time, "suspended": true,
                "settings": ["name": "The shop"], "api_keys": [],
            ],
        ]
        #expect(
            ControlText.list(apps) == [
                "app   name      state      API keys  revision  since",
                "demo  -         active            1         3  2026-01-01 00:00:00.000 UTC",
                "shop  The shop  suspended         0        12  2026-01-01 00:00:00.000 UTC",
            ])
        #expect(ControlText.list([]) == ["there are no apps"])
        let operators: [JSONValue] = [
            [
                "name": "anna", "role": "administer", "created_at": Self.time, "last_used_at": 1_767_225_660_000,
                "previous_ends_at": .null,
            ],
            [
                "name": "grafana", "role": "view", "created_at": Self.time, "last_used_at": .null,
                "previous_ends_at": 1_767_229_200_000,
            ],
        ]
        #expect(
            OperatorCommand.List.lines(operators) == [
                "operator  role        since                        last used                    "
                    + "the one before is good until",
                "anna      administer  2026-01-01 00:00:00.000 UTC  2026-01-01 00:01:00.000 UTC  -",
                "grafana   view        2026-01-01 00:00:00.000 UTC  never                        "
                    + "2026-01-01 01:00:00.000 UTC",
            ])
        #expect(OperatorCommand.List.lines([]) == ["there are no operators"])
    }

    @Test func `an app with its settings, and what its secrets and keys are called`() {
        let app: JSONValue = [
            "id": "shop", "revision": 4, "created_at": Self.time, "suspended": false, "imported": true,
            "settings": ["name": "The shop", "push": ["text": "alert"]],
            "secrets": [
                ["id": "s2", "created_at": 1_767_225_660_000, "ends_at": .null],
                ["id": "s1", "created_at": Self.time, "ends_at": 1_767_312_060_000],
            ],
            "api_keys": [
                [
                    "name": "backend", "scopes": ["history", "tokens"], "created_at": Self.time, "last_used_at": .null,
                    "previous_ends_at": .null,
                ]
            ],
            "client_keys": [
                ["key": "pk_0123456789abcdef", "name": "ios", "created_at": Self.time, "revoked_at": .null],
                ["key": "pk_fedcba98", "name": "old", "created_at": Self.time, "revoked_at": 1_767_225_660_000],
            ],
        ]
        #expect(
            ControlText.app(app) == [
                "shop \"The shop\", active, revision 4, since 2026-01-01 00:00:00.000 UTC, from the configuration file",
                "settings:", "  name: \"The shop\"", "  push:", "    text: alert",
                "token secrets:", "  id  since                        state",
                "  s2  2026-01-01 00:01:00.000 UTC  signs",
                "  s1  2026-01-01 00:00:00.000 UTC  good until 2026-01-02 00:01:00.000 UTC", "API keys:",
                "  name     scopes           since                        last used  the one before is good until",
                "  backend  history, tokens  2026-01-01 00:00:00.000 UTC  never      -", "client keys:",
                "  name  key                  since                        state",
                "  ios   pk_0123456789abcdef  2026-01-01 00:00:00.000 UTC  good",
                "  old   pk_fedcba98          2026-01-01 00:00:00.000 UTC  revoked 2026-01-01 00:01:00.000 UTC",
            ])
    }

    @Test func `devices with what is known of each, and a dash for what is not`() {
        let devices: [JSONValue] = [
            [
                "id": "phone", "platform": "ios", "lease": "grace", "lease_until": Self.time, "push": "registered",
                "push_topic": "com.example.chat", "push_environment": "sandbox", "push_token": "abab…abab", "badge": 3,
                "status": ["authorization": "denied", "alert": false, "model": "iPhone16,1"],
            ],
            ["id": "mac", "platform": "macos", "lease": "gone", "last_seen_at": Self.time, "push": "none"],
        ]
        #expect(
            DeviceCommand.List.lines(devices, of: "bob") == [
                "device  platform  model       lease                                    last seen                    "
                    + "push                                           badge  notifications",
                "phone   ios       iPhone16,1  grace until 2026-01-01 00:00:00.000 UTC  -                            "
                    + "registered com.example.chat sandbox abab…abab  3      denied (off: alert)",
                "mac     macos     -           gone                                     2026-01-01 00:00:00.000 UTC  "
                    + "none                                           -      -",
            ])
        #expect(DeviceCommand.List.lines([], of: "bob") == ["bob is signed in on no device"])
    }

    @Test func `pushes with how many people they are for`() {
        let push: JSONValue = ["id": "01qdq6qdr0000", "state": "done", "progress": ["recipients": 12]]
        #expect(PushCommand.list([push]) == ["push           state  people", "01qdq6qdr0000  done       12"])
        #expect(PushCommand.list([]) == ["there are no pushes"])
    }

    @Test func `in columns as wide as their widest cell, counted in letters`() {
        #expect(
            TextTable.lines([["", "b", ""], ["👩‍👩‍👧", "bbb", "c"]], indent: " ") == ["    b", " 👩‍👩‍👧  bbb  c"])
        #expect(TextTable.lines([]) == [])
    }
}

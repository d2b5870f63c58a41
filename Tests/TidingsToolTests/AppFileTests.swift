// swift-format-ignore-file: NeverForceUnwrap
import Testing
import TidingsModel

@testable import tidings

@Suite struct `The settings of an app as a file` {
    private static let settings: JSONValue = [
        "name": "The shop: \"quoted\"\nand \\ more", "members_max": 50, "own_profiles": true,
        "offered_accounts": ["news", "no", "1e3"],
        "push": [
            "topics": ["com.example.chat"], "text": "alert", "only_sender": false,
            "options": [
                "sound": "chime.caf", "relevance_score": .number(JSONNumber(0.9)!), "custom": ["a": .null, "b": []],
            ],
            "image_hosts": ["*.example.com"],
        ],
        "words": [
            "language": "no",
            "languages": ["no": ["other": "~", "kinds": ["my:Poll": "[Spørring] \u{1F5F3}", "true": " # no remark"]]],
        ],
        "tokens": ["audiences": [], "audience_required": false, "jwks": .null],
        "more": .members([]),
    ]

    @Test func `is read as it was written`() throws {
        let file = AppFile(id: "shop", settings: Self.settings)
        #expect(try AppFile(text: file.yaml.joined(separator: "\n")) == file)
        #expect(try AppFile(text: file.json.text) == file)
    }

    @Test func `is one setting a line, and quoted where another reader could take it for something else`() {
        let file = AppFile(
            id: "shop",
            settings: ["push": ["text": "alert", "topics": ["com.example.chat"]], "words": ["language": "no"]])
        #expect(
            file.yaml == [
                "id: shop", "settings:", "  push:", "    text: alert", "    topics: [com.example.chat]", "  words:",
                "    language: \"no\"",
            ])
    }

    @Test func `keeps characters that YAML or a terminal would make something else of`() throws {
        let text = "\u{1}\u{7}\u{1B}[31m\u{7F}\u{85}\u{A0}\u{2028}\u{FEFF}\u{FFFE}\u{10FFFF}\t\r\n"
        let file = AppFile(id: "shop", settings: ["name": .string(text)])
        #expect(
            file.yaml.last?.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) || $0.value > 0xFFFF } == true)
        #expect(try AppFile(text: file.yaml.joined(separator: "\n")) == file)
    }

    @Test func `takes plain numbers and Booleans of JSON for values, and all other words for texts`() throws {
        let file = try AppFile(
            text: "id: 7up\nsettings:\n a: 7\n b: 0.5\n c: true\n d: no\n e: ~\n f: '7'\n g: 1:30\n h: null")
        #expect(
            file
                == AppFile(
                    id: "7up",
                    settings: [
                        "a": 7, "b": .number(JSONNumber(0.5)!), "c": true, "d": "no", "e": .null, "f": "7", "g": "1:30",
                        "h": .null,
                    ]))
    }

    @Test func `has the client keys that are good, which the app gets that lacks them`() throws {
        let app: JSONValue = [
            "settings": ["name": "Shop"],
            "client_keys": [
                ["key": "pk_0123456789abcdef", "name": "ios", "created_at": 1, "revoked_at": .null],
                ["key": "pk_fedcba9876543210", "name": "old", "created_at": 1, "revoked_at": 2],
            ],
        ]
        let file = AppFile(id: "shop", app: app)
        #expect(
            file.yaml == [
                "id: shop", "settings:", "  name: Shop", "client_keys:", "  ios: pk_0123456789abcdef",
            ])
        #expect(try AppFile(text: file.yaml.joined(separator: "\n")) == file)
        #expect(file.newClientKeys(besides: app).isEmpty)
        #expect(file.newClientKeys(besides: nil).map(\.key) == ["ios"])
        for text in ["ios: 7", "ios: pk_short", "ios: [pk_0123456789abcdef]"] {
            #expect(throws: InvalidField.self, "\(text)") { try AppFile(text: "id: shop\nclient_keys:\n  \(text)") }
        }
    }

    @Test func `may leave the settings out, and nothing else may stand beside them`() throws {
        #expect(try AppFile(text: "id: shop") == AppFile(id: "shop", settings: .members([])))
        for text in ["settings: {}", "id: shop\nsetings: {}", "- id", "", "id: [", "id: shop\nid: shop"] {
            #expect(throws: InvalidField.self, "\(text)") { try AppFile(text: text) }
        }
    }

    @Test func `does not grow without end by aliases`() {
        let lines = (1...20).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1)]" }
        #expect(throws: InvalidField(field: "file", rule: "must have at most 100000 values")) {
            try AppFile(text: (["id: shop", "a0: &a0 x"] + lines).joined(separator: "\n"))
        }
    }
}

@Suite struct `What changes of an app` {
    @Test func `is told setting by setting, with what was there and what is there now`() {
        let changes = SettingsChange.all(
            from: [
                "name": "Shop", "members_max": .null, "push": ["text": "extension", "topics": ["a"]],
                "words": ["languages": ["de": ["other": "Neu"]]],
            ],
            to: [
                "name": "Shop", "members_max": 50, "push": ["text": "alert", "topics": ["a", "b"]],
                "words": ["languages": .members([])],
            ])
        #expect(
            changes.map(\.line) == [
                "members_max: none -> 50", "push.text: \"extension\" -> \"alert\"",
                "push.topics: [\"a\"] -> [\"a\",\"b\"]", "words.languages.de.other: \"Neu\" -> none",
            ])
    }

    @Test func `is nothing where the order alone is another, or nothing is written as null`() {
        #expect(SettingsChange.all(from: ["a": 1, "b": .null], to: ["b": .null, "a": 1]).isEmpty)
        #expect(SettingsChange.all(from: ["a": 1, "b": .null], to: ["a": 1]).isEmpty)
    }

    @Test func `is the app's own members of pushes as a whole`() {
        let changes = SettingsChange.all(
            from: ["push": ["options": ["custom": ["a": 1]]]], to: ["push": ["options": ["custom": ["a": .null]]]])
        #expect(changes.map(\.line) == ["push.options.custom: {\"a\":1} -> {\"a\":null}"])
    }

    @Test func `is told as done, or as what would be done`() {
        let change = SettingsChange(name: "members_max", before: nil, after: 50)
        var done = AppliedSettings(app: "shop", isNew: false, isDone: true, changes: [change])
        #expect(done.lines == ["shop is changed", "  members_max: none -> 50"])
        done.isDone = false
        #expect(done.lines == ["shop would be changed", "  members_max: none -> 50"])
        done.changes = []
        #expect(done.lines == ["shop is as the file says"])
        done = AppliedSettings(app: "shop", isNew: true, isDone: true, changes: [change], tokenSecret: "5ec2e7")
        #expect(done.lines == ["shop is made", "  members_max: none -> 50", "token secret: 5ec2e7"])
        #expect(
            done.json == [
                "app": "shop", "is_new": true, "is_done": true,
                "changes": [["name": "members_max", "before": .null, "after": 50]], "token_secret": "5ec2e7",
            ])
        done = AppliedSettings(app: "shop", isNew: true, isDone: false, changes: [])
        #expect(done.lines == ["shop would be made"])
    }
}

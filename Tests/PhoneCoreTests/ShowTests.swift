import Requirements
import Testing
import TidingsModel

@testable import PhoneCore

/// What "show" means (ios-delivery.md §5.0), and the classes of §3.
@Suite struct `What is shown` {
    static let app = InstalledApp(bundleID: PhoneRig.chat, lifecycle: .application, methods: .receiveRemote)

    static func rig(_ version: OSVersion, style: AlertStyle = .banner, locked: Bool = false) -> PhoneRig {
        var rig = PhoneRig(version, Self.app)
        rig.person(.alertStyleChanged(PhoneRig.chat, style))
        if locked { rig.person(.locked) }
        rig.clear()
        return rig
    }

    @Test(arguments: [
        (OSVersion(4), AlertStyle.banner, false, "show(panel,sound,badge)"),
        (4, .banner, true, "show(panel,sound,badge,lit)"), (5, .banner, false, "show(banner,list,sound,badge)"),
        (5, .alert, false, "show(panel,list,sound,badge)"), (9, .none, false, "show(list,sound,badge)"),
        (9, .alert, true, "show(banner,list,sound,badge,lit)"), (10, .alert, false, "show(banner,list,sound,badge)"),
        (17, .banner, true, "show(banner,list,sound,badge,lit)"), (17, .none, false, "show(list,sound,badge)"),
    ])
    func `has the form of its era`(version: OSVersion, style: AlertStyle, locked: Bool, shown: String) {
        var rig = Self.rig(version, style: style, locked: locked)
        rig.push(Payload.alert)
        #expect(rig.story == [shown])
        #expect(rig.core.screen.isLit)
    }

    @Test func `on iOS 4 is one panel at a time, whose button is a tap`() {
        var rig = Self.rig(4)
        rig.push(Payload.alert, collapse: "a")
        rig.push(Payload.alert, collapse: "b")
        #expect(rig.core.screen.alertPanel?.key.identifier == "a")
        #expect(rig.core.screen.waitingPanels == 1)
        #expect(rig.list == [])
        rig.person(.alertPanelAnswered(opens: false))
        #expect(rig.calls == [])
        #expect(rig.core.screen.alertPanel?.key.identifier == "b")
        rig.person(.alertPanelAnswered(opens: true))
        #expect(rig.calls == ["WF", "DF(remoteNotification)", "DBA"])
        #expect(rig.core.screen.alertPanel == nil)
    }

    @Test func `leaves after five seconds as a banner, and stays as a persistent one`() {
        var brief = Self.rig(17)
        brief.push(Payload.alert, collapse: "m")
        brief.pass(seconds: 5)
        #expect(brief.banners == [])
        var persistent = Self.rig(17, style: .alert)
        persistent.push(Payload.alert, collapse: "m")
        persistent.pass(seconds: 3_600)
        #expect(persistent.banners == ["m"])
        persistent.tap("m")
        #expect(persistent.banners == [])
    }

    @Test func `lights a locked screen for a moment`() {
        var rig = Self.rig(17, locked: true)
        #expect(!rig.core.screen.isLit)
        rig.push(Payload.alert)
        #expect(rig.core.screen.isLit)
        rig.pass(seconds: 5)
        #expect(!rig.core.screen.isLit)
    }

    @Test func `has no sound without the key, and no entry without text`() {
        var rig = Self.rig(17)
        rig.push(["aps": ["alert": "hello"]])
        rig.push(["aps": ["sound": "default"]])
        rig.push(["aps": ["badge": 2]])
        rig.push(["aps": ["alert": ["title": "hello"], "badge": 0]])
        #expect(rig.story == ["show(banner,list)", "show(sound)", "show(badge)", "show(banner,list,badge)"])
        #expect(rig.badge == 0)
    }

    // MARK: Hidden previews

    static func hiddenRig(_ version: OSVersion, _ previews: ShowPreviews, locked: Bool) -> PhoneRig {
        var rig = Self.rig(version)
        rig.enter(.foregroundActive)
        rig.app(
            .categoriesSet([
                NotificationCategory(
                    identifier: "message", options: .hiddenPreviewsShowTitle,
                    hiddenPreviewsBodyPlaceholder: "New message")
            ]))
        rig.person(.wentHome)
        rig.person(.previewsChanged(PhoneRig.chat, previews))
        if locked { rig.person(.locked) }
        rig.push(["aps": ["alert": ["title": "Ann", "body": "secret"], "category": "message"]], collapse: "m")
        return rig
    }

    @Test func `hides its text behind the category's own text while previews are hidden`() {
        let hidden = HiddenPreview(body: "New message", showsTitle: true)
        var rig = Self.hiddenRig(17, .whenAuthenticated, locked: true)
        #expect(rig.core.screen.list.map(\.hidden) == [hidden])
        #expect(rig.core.screen.banners.map(\.hidden) == [hidden])
        rig.person(.unlocked)
        #expect(rig.core.screen.list.map(\.hidden) == [nil])
        #expect(Self.hiddenRig(17, .never, locked: false).core.screen.list.map(\.hidden) == [hidden])
        #expect(Self.hiddenRig(17, .always, locked: true).core.screen.list.map(\.hidden) == [nil])
        #expect(Self.hiddenRig(10, .never, locked: true).core.screen.list.map(\.hidden) == [nil], "from iOS 11")
    }

    @Test func `hides its text before the first unlock whatever the setting`() {
        var rig = Self.rig(17)
        rig.send(.system(.restarted))
        rig.push(Payload.alert, collapse: "m")
        #expect(rig.core.screen.list.map(\.hidden) == [HiddenPreview(body: "Notification")])
        rig.person(.unlocked)
        #expect(rig.core.screen.list.map(\.hidden) == [nil])
    }

    // MARK: Groups

    @Test func `is grouped by thread from iOS 12, summed up in the category's words`() {
        func play(_ version: OSVersion) -> PhoneRig {
            var rig = Self.rig(version)
            rig.enter(.foregroundActive)
            rig.app(
                .categoriesSet([
                    NotificationCategory(identifier: "message", categorySummaryFormat: "%u more from %@")
                ]))
            rig.person(.wentHome)
            for (name, thread, who) in [("a", "1", "Ann"), ("b", "2", "Bob"), ("c", "1", "Cid"), ("d", "1", "Ann")] {
                rig.push(
                    [
                        "aps": [
                            "alert": ["body": "x", "summary-arg": .string(who)], "thread-id": .string(thread),
                            "category": "message",
                        ]
                    ], collapse: name)
            }
            return rig
        }
        let groups = play(12).core.screen.groups
        #expect(groups.map(\.thread) == ["1", "2"])
        #expect(groups.map { $0.entries.map(\.key.identifier) } == [["d", "c", "a"], ["b"]])
        #expect(groups.map(\.summary) == ["2 more from Cid, Ann", nil])
        #expect(play(11).core.screen.groups.map { $0.entries.map(\.key.identifier) } == [["d"], ["c"], ["b"], ["a"]])
    }

    // MARK: Payloads

    @Test(.requirement("S4.6")) func `comes from a string or a dictionary`() {
        var rig = Self.rig(17)
        rig.push(["aps": ["alert": "plain"]], collapse: "a")
        rig.push(["aps": ["alert": ["title": "t", "subtitle": "s", "body": "b", "launch-image": "i"]]], collapse: "b")
        let contents = rig.core.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.body) == ["b", "plain"])
        #expect(contents.map(\.title) == ["t", ""])
        #expect(contents.map(\.subtitle) == ["s", ""])
        #expect(contents.map(\.launchImageName) == ["i", ""])
    }

    @Test func `is in the app's own words where the payload names a key`() {
        var app = Self.app
        app.localizations = ["FROM": "From %@", "TWO": "%2$@ before %1$@, 100%%", "SUB": "plain"]
        var rig = PhoneRig(17, app)
        rig.push([
            "aps": [
                "alert": [
                    "title-loc-key": "FROM", "title-loc-args": ["Ann"], "subtitle-loc-key": "SUB", "loc-key": "TWO",
                    "loc-args": ["first", "second"],
                ]
            ]
        ])
        rig.push(["aps": ["alert": ["loc-key": "MISSING", "title-loc-key": "FROM"]]])
        let contents = rig.core.screen.list.map(\.notification.request.content)
        #expect(contents.map(\.title) == ["From ", "From Ann"])
        #expect(contents.map(\.subtitle) == ["", "plain"])
        #expect(contents.map(\.body) == ["MISSING", "second before first, 100%"])
    }

    @Test func `carries every key of aps, and ignores values of a wrong type`() {
        var rig = Self.rig(17)
        rig.push(
            [
                "aps": [
                    "alert": ["body": "b", "summary-arg": "Ann", "summary-arg-count": 2], "badge": 4, "sound": "a.caf",
                    "thread-id": "t", "category": "c", "target-content-id": "w", "interruption-level": "passive",
                    "relevance-score": 1, "filter-criteria": "work",
                ], "rc": ["cType": "PR"],
            ], collapse: "m")
        rig.push(["aps": ["alert": ["body": 7, "title": "t"], "badge": "x", "sound": 1]], collapse: "n")
        let contents = rig.core.screen.list.map(\.notification.request.content)
        #expect(
            contents.last
                == NotificationContent(
                    body: "b", badge: 4, sound: .named("a.caf"), userInfo: contents.last?.userInfo ?? JSONObject(),
                    categoryIdentifier: "c", threadIdentifier: "t", targetContentIdentifier: "w",
                    interruptionLevel: .passive, relevanceScore: 1, summaryArgument: "Ann", summaryArgumentCount: 2,
                    filterCriteria: "work"))
        #expect(contents.last?.userInfo["rc"]?["cType"] == "PR")
        #expect(contents.first.map { [$0.body, $0.title] } == ["", "t"])
        #expect(contents.first?.badge == nil)
        #expect(contents.first?.sound == nil)
    }

    @Test(arguments: [
        (OSVersion(7), 256), (OSVersion(8), 2_048), (OSVersion(9), 4_096), (OSVersion(17), 4_096),
    ])
    func `is refused beyond the era's size, and arrives at exactly that size`(version: OSVersion, limit: Int) {
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        for (extra, story) in [(0, ["show(banner,list)"]), (1, ["refused(payloadTooLarge)"])] {
            var rig = Self.rig(version)
            rig.push(["aps": ["alert": .string(String(repeating: "x", count: limit - frame + extra))]])
            #expect(rig.story == story)
            #expect(rig.acknowledged.count == 1)
        }
    }

    @Test func `is counted as compact JSON, escapes included`() {
        let value: JSONValue = ["a": ["\"\\\n\u{1}ü"], "b": [:], "c": [], "d": [1, true, false, .null]]
        var rig = Self.rig(9)
        let length = value.text.utf8.count + #"{"aps":{"alert":""},"v":}"#.utf8.count
        rig.push(["aps": ["alert": .string(String(repeating: "x", count: 4_096 - length))], "v": value])
        rig.push(["aps": ["alert": .string(String(repeating: "x", count: 4_097 - length))], "v": value])
        #expect(rig.story == ["show(banner,list)", "refused(payloadTooLarge)"])
    }

    @Test func `is nothing for an empty aps or none`() {
        let payloads: [JSONValue] = [
            [:], ["aps": [:]], ["aps": ["content-available": 0]], ["aps": ["mutable-content": 1]],
        ]
        for payload in payloads {
            var rig = Self.rig(17)
            rig.enter(.foregroundActive)
            rig.push(payload)
            #expect(rig.story == [])
        }
    }
}

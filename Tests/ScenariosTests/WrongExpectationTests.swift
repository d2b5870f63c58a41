import ScenarioCore
import Scenarios
import Testing

/// A case with one expectation that iOS or the SDK does not fulfil.
struct WrongCase: CustomTestStringConvertible {
    /// What the case is about.
    var title: String
    /// The lines of phone, app, start and steps, up to the wrong expectation.
    var lines: [String]
    /// The wrong expectation.
    var wrong: String
    /// What must differ: the keys, and what is there instead.
    var differs: [String: [String]]

    var testDescription: String { self.title }

    fileprivate func file(expecting expectation: String) throws -> ScenarioFile {
        let lines = (self.lines + ["  - expect: \(expectation)"]).map { "    \($0)" }
        return try ScenarioFile(
            path: "f.yaml", text: (["title: t", "cases:", "  - case: c"] + lines).joined(separator: "\n"))
    }

    static let all = [
        WrongCase(
            title: "an answer for one notification",
            lines: [
                "app: {answers: {willPresent: {of: {two: {after: 6 s}}}}}", "start: foreground active", "steps:",
                "  - push: {id: one, alert: a}", "  - push: {id: two, alert: b}", "  - wait: 5 s",
            ], wrong: "{list: [two, one]}", differs: ["list": ["one"]]),
        WrongCase(
            title: "the custom callback for one message",
            lines: [
                "app: {sdk: {customCallback: {result: handled, of: {two: {result: handled, after: 3 s}}}}}",
                "start: background", "steps:", "  - message: {id: two}", "  - wait: 3 s",
            ], wrong: "{settled: ['two: app_handled']}", differs: ["settled": ["two: notified"]]),
        WrongCase(
            title: "the extension's best attempt",
            lines: [
                "app: {serviceExtension: {title: Bob, bestAttempt: changed}, answers: {serviceExtension: never}}",
                "steps:", "  - push: {alert: {body: hello}, mutable-content: 1}", "  - wait: 31 s",
            ], wrong: "{texts: [hello]}", differs: ["texts": ["Bob | hello"]]),
        WrongCase(
            title: "the extension's death for one push",
            lines: [
                "app: {serviceExtension: {title: Bob}, answers: {serviceExtension: {of: {m: crashes}}}}", "steps:",
                "  - push: {id: m, alert: {body: hello}, mutable-content: 1}",
            ], wrong: "{texts: [Bob | hello], ended: []}", differs: ["texts": ["hello"], "ended": ["crashed"]]),
        WrongCase(
            title: "how a notification comes",
            lines: [
                "app: {sdk: {push: {sound: chime.caf}}}", "start: not running", "steps:",
                "  - message: {id: m, push: {thread_id: orders, custom: {order: 7}}}",
            ], wrong: "{options: [chime.caf]}", differs: ["options": ["chime.caf | in orders | order 7"]]),
        WrongCase(
            title: "what the extension removes",
            lines: [
                "app: {serviceExtension: {removes: {n: [m]}}}", "steps:", "  - push: {id: m, alert: {body: a}}",
                "  - push: {id: n, alert: {body: b}, mutable-content: 1}",
            ], wrong: "{list: [n, m]}", differs: ["list": ["n"]]),
        WrongCase(
            title: "what the SDK told the app",
            lines: [
                "phone: {ios: 9.3}",
                "app: {lifecycle: application, implements: [didReceiveRemoteNotification], sdk: {}}",
                "start: foreground active", "steps:",
                "  - push: {alert: hello, data: {rc: {cType: PR, fId: bob, oName: 'RC:TxtMsg', tId: bob}}}",
            ], wrong: "{told: ['arrives in the foreground: hello', 'sound 1007']}",
            differs: ["told": ["arrives in the foreground: hello", "banner: hello", "sound 1312", "vibrates"]]),
        WrongCase(
            title: "the badge at the start",
            lines: [
                "app: {sdk: {unread: 2, badge: {server: 5, position: 9}}}", "steps:", "  - message: {id: m}",
            ], wrong: "{badge: 3}", differs: ["badge": ["5"]]),
        WrongCase(
            title: "the log position at the start",
            lines: ["app: {sdk: {position: 7, phonePosition: 4}}", "steps:", "  - message: {id: m}"],
            wrong: "{server: [receipt of m]}", differs: ["server": ["asks for 3 after 4", "receipt of m"]]),
        WrongCase(
            title: "the ledger at the start",
            lines: ["app: {sdk: {ledger: {m: shown}}}", "steps:", "  - message: {id: m}"],
            wrong: "{shown: [banner, list, sound, badge]}", differs: ["shown": ["m: list, badge"]]),
        WrongCase(
            title: "a mention",
            lines: [
                "app: {sdk: {levels: {'GRP:team': mentions}}}", "steps:",
                "  - message: {id: m, in: 'GRP:team', mentions: [carol]}",
            ], wrong: "{started: [serviceExtension]}", differs: ["started": []]),
        WrongCase(
            title: "a catch-up",
            lines: [
                "app: {sdk: {}}", "start: background", "steps:", "  - message: {id: m, catchUp: yes}",
                "  - wait: 10 s",
            ], wrong: "{started: [serviceExtension]}", differs: ["started": []]),
        WrongCase(
            title: "a late provider",
            lines: [
                "app: {sdk: {}}", "start: background", "steps:", "  - message: {id: m, namesAfter: 2500 ms}",
                "  - wait: 3 s",
            ], wrong: "{list: [m]}", differs: ["list": []]),
        WrongCase(
            title: "the way to a screen",
            lines: [
                "app: {sdk: {navigation: {tabs: [['PR:carol'], []], selected: 1}}}", "steps:", "  - message: {id: m}",
                "  - tap: m",
            ], wrong: "{way: [tab 0, 'PR:bob, animated']}",
            differs: ["way": ["tab 0", "to the root", "PR:bob, animated, without the bottom bar"]]),
        WrongCase(
            title: "an image",
            lines: [
                "app:", "  entitlements: [communication]",
                "  sdk: {imageHosts: [a.example.com], communication: yes, profiles: {bob: Bob}}", "steps:",
                "  - message: {id: m, type: 'RC:ImgMsg', image: 'https://a.example.com/1'}",
            ], wrong: "{attached: [], donations: []}",
            differs: ["attached": ["m: image", "m: from Bob: [Image]"], "donations": ["from Bob: [Image]"]]),
        WrongCase(
            title: "a lifetime",
            lines: [
                "app: {sdk: {}}", "start: background", "steps:", "  - system: freeze",
                "  - message: {id: m, lifetime: 2 s}", "  - wait: 3 s", "  - push: {content-available: 1}",
            ], wrong: "{settled: ['m: shown']}", differs: ["settled": ["m: suppressed(expired)"]]),
        WrongCase(
            title: "the app's own choice",
            lines: [
                "app: {serviceExtension: none, sdk: {presents: [list]}}", "start: foreground active", "steps:",
                "  - push: {id: m, alert: a, data: {rc: {cType: PR, fId: bob, oName: 'RC:TxtMsg', tId: bob}}}",
            ], wrong: "{shown: [banner, list]}", differs: ["shown": ["m: list"]]),
        WrongCase(
            title: "a sign-out",
            lines: [
                "app: {sdk: {unread: 2}}", "start: background", "steps:", "  - message: {id: m}", "  - signOut: yes",
            ], wrong: "{list: [m], badge: 3}", differs: ["list": [], "badge": ["0"]]),
        WrongCase(
            title: "a sign-in",
            lines: [
                "app: {sdk: {}}", "start: foreground active", "steps:", "  - signOut: yes", "  - signIn: carol",
                "  - clear: trace",
                "  - push: {alert: a, data: {tidings: {mid: 07b95tt4r2000, seq: 1, bseq: 1, to: carol-here}}}",
            ], wrong: "{told: []}", differs: ["told": ["arrives in the foreground: a, silenced"]]),
        WrongCase(
            title: "hidden content and a mention by content",
            lines: [
                "app: {sdk: {hidesContent: yes, levels: {'GRP:team': mentions}}}", "start: background", "steps:",
                "  - message: {id: m, in: 'GRP:team', contentMentions: all}",
            ], wrong: "{texts: ['team | bob: m']}", differs: ["texts": ["You have a new message"]]),
        WrongCase(
            title: "the number and the rings that are the app's own",
            lines: [
                "phone: {ios: 9.3}",
                "app: {lifecycle: application, sdk: {managesBadge: no, foreground: {vibration: no}}}",
                "start: foreground active", "steps:",
                "  - push: {alert: a, badge: 3, data: {rc: {cType: PR, fId: bob, oName: 'RC:TxtMsg', tId: bob}}}",
            ], wrong: "{told: ['arrives in the foreground: a', 'banner: a', sound 1312, vibrates]}",
            differs: ["told": ["arrives in the foreground: a", "banner: a", "sound 1312"]]),
        WrongCase(
            title: "a screen of the app's own",
            lines: [
                "app: {sdk: {navigation: {table: [{types: [comment], screen: thread, policy: onTop, bottomBar: yes}]}}}",
                "steps:", "  - push: {id: m, alert: a, data: {type: comment}}", "  - tap: m",
            ], wrong: "{way: []}", differs: ["way": ["detail thread, animated"]]),
        WrongCase(
            title: "content-available 0",
            lines: ["start: suspended", "steps:", "  - push: {id: m, content-available: 0}"],
            wrong: "{callbacks: [didReceiveRemoteNotificationFetch(background) of m]}", differs: ["callbacks": []]),
        WrongCase(
            title: "apns-expiration",
            lines: [
                "phone: {airplaneMode: on}", "start: suspended", "steps:",
                "  - push: {id: m, alert: a, headers: {apns-expiration: 1 min}}", "  - wait: 61 s",
                "  - airplaneMode: off",
            ], wrong: "{list: [m], undelivered: []}", differs: ["list": [], "undelivered": ["expired of m"]]),
        WrongCase(
            title: "restricted background refresh",
            lines: [
                "phone: {backgroundRefresh: restricted}", "start: suspended", "steps:",
                "  - push: {content-available: 1}",
            ], wrong: "{wakes: [delivered]}", differs: ["wakes": ["refreshOff"]]),
        WrongCase(
            title: "a restored phone",
            lines: [
                "start: suspended", "steps:", "  - system: restoreFromBackup", "  - person: open",
                "  - person: home", "  - push: {id: m, alert: a}",
            ], wrong: "{list: [m], undelivered: []}", differs: ["list": [], "undelivered": ["noToken of m"]]),
        WrongCase(
            title: "Turn Off",
            lines: [
                "phone: {notifications: provisional}", "steps:", "  - push: {id: m, alert: a}", "  - turnOff: m",
                "  - clear: trace", "  - push: {id: n, alert: b}",
            ], wrong: "{reasons: [provisional]}", differs: ["reasons": ["notAuthorized"]]),
        WrongCase(
            title: "a payload limit",
            lines: ["steps:", "  - push: {id: m, alert: a, size: 4097}"], wrong: "{list: [m]}",
            differs: ["list": []]),
        WrongCase(
            title: "a registration at every launch",
            lines: ["app: {lifecycle: application, registers: everyLaunch}", "steps:", "  - person: open"],
            wrong: "{callbacks: [willFinishLaunching, didFinishLaunching, didBecomeActive]}",
            differs: [
                "callbacks": [
                    "willFinishLaunching", "didFinishLaunching", "didBecomeActive", "didRegisterForRemoteNotifications",
                ]
            ]),
    ]
}

@Suite struct `An expectation that is not fulfilled` {
    @Test(arguments: WrongCase.all)
    func `fails the case, with what is there instead`(wrong: WrongCase) throws {
        let one = try #require(try wrong.file(expecting: wrong.wrong).scenario.cases.first)
        let differences = one.run().differences
        let actual = Dictionary(differences.map { ($0.key, $0.actual) }) { first, _ in first }
        #expect(actual == wrong.differs)
    }

    /// Two pushes, of which the second replaces nothing: the list is `[two, one]`.
    private func differences(from expectation: String) throws -> [Difference] {
        let file = try ScenarioFile(
            path: "f.yaml",
            text: """
                title: t
                cases:
                  - case: c
                    start: suspended
                    steps:
                      - push: {id: one, alert: a, badge: 1}
                      - push: {id: two, alert: b, badge: 2}
                      - expect: \(expectation)
                """)
        return try #require(file.scenario.cases.first).run().differences
    }

    @Test(arguments: [
        "{badge: {anyOf: [1, 2]}}", "{list: {anyOf: [[one, two], [two, one]]}}", "{list: {anywhere: [one]}}",
        "{list: {anywhere: [one, two]}}", "{list: {anyOf: [[], {anywhere: [two]}]}}",
        "{texts: {anywhere: [a, b]}}", "{shown: {anywhere: [{two: [banner, list, badge]}]}}",
        "{state: suspended, anyOf: [{badge: 1}, {badge: 2, list: [two, one]}]}",
    ])
    func `passes by any of its alternatives, and anywhere`(expectation: String) throws {
        #expect(try self.differences(from: expectation) == [])
    }

    @Test func `tells which alternative is the closest, and how that differs`() throws {
        let value = try self.differences(from: "{list: {anyOf: [[one], [one, two, one], [two]]}}")
        #expect(value.map(\.key) == ["list (value 3 of 3, the closest)"])
        #expect(value.map(\.actual) == [["two", "one"]])
        #expect(value.map(\.differing) == [[1]])

        let whole = try self.differences(
            from: "{lock: locked, anyOf: [{badge: 1, list: []}, {badge: 3, list: [two, one]}]}")
        #expect(whole.map(\.key) == ["lock", "badge (alternative 2 of 2, the closest)"])
    }

    @Test func `counts each row once wherever it stands, and finds a place for the row that says least`() throws {
        let twice = try self.differences(from: "{list: {anywhere: [one, one]}}")
        #expect(twice.map(\.expected) == [["anywhere: one", "anywhere: one"]])
        #expect(twice.map(\.differing) == [[1]])
        // The first row fits both notifications, the second only the first of them.
        let greedy = try ScenarioFile(
            path: "f.yaml",
            text: """
                title: t
                app: {lifecycle: application}
                cases:
                  - case: c
                    start: foreground active
                    steps:
                      - push: {id: one, alert: a}
                      - push: {id: two, alert: b}
                      - expect: {callbacks: {anywhere: [willPresent, willPresent of one]}}
                """)
        #expect(try #require(greedy.scenario.cases.first).run().differences == [])
    }

    @Test func `never hides a fault behind an alternative`() throws {
        let file = try ScenarioFile(
            path: "f.yaml",
            text: """
                title: t
                app: {answers: {didReceiveRemoteNotificationFetch: {twice: yes}}}
                cases:
                  - case: unspoken
                    start: suspended
                    steps:
                      - push: {content-available: 1}
                      - expect: {anyOf: [{badge: 0}, {badge: 1}]}
                  - case: spoken of
                    start: suspended
                    steps:
                      - push: {content-available: 1}
                      - expect: {anyOf: [{badge: 1}, {faults: [answered once]}]}
                """)
        let results = file.scenario.cases.map { $0.run() }
        #expect(results[0].differences.map(\.key) == ["faults"])
        #expect(results[1].differences == [])
    }

    @Test(arguments: [
        ("message: {id: m, catchUp: yes}", "the app has no connection that could break: not running"),
        ("turnOff: old", "a provisional notification needs iOS 12"),
        ("signOut: yes", "the app is not running: only a running app can call anything"),
        ("signIn: carol", "somebody is signed in"),
    ]) func `says so where a step cannot be done`(step: String, reason: String) throws {
        let file = try ScenarioFile(
            path: "f.yaml",
            text: """
                title: t
                phone: {ios: 11}
                app: {sdk: {}}
                cases:
                  - case: c
                    steps:
                      - push: {id: old, alert: a}
                      - \(step)
                      - expect: {callbacks: []}
                """)
        #expect(try #require(file.scenario.cases.first).run().differences.map(\.actual) == [[reason]])
    }
}

import Scenarios
import Testing

/// The problems of a text, as a person reads them.
private func problems(_ text: String) -> [String] {
    do {
        _ = try ScenarioFile(path: "f.yaml", text: text)
        return []
    } catch {
        return error.problems
    }
}

/// A file whose one case has these lines in its steps.
private func steps(_ lines: String..., app: String = "{}") -> String {
    """
    title: t
    app: \(app)
    cases:
      - case: c
        steps:
    \(lines.map { "      - \($0)" }.joined(separator: "\n"))
          - expect: {callbacks: []}
    """
}

@Suite struct `A scenario that says something not allowed` {
    @Test func `names line, column, the key, the word probably meant and the allowed ones`() {
        let found = problems("title: t\nphone: {ios: 17, lokced: yes}\ncases: [{case: c, steps: [expect: {badge: 0}]}]")
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix(
                "f.yaml:2:18: unknown key \"lokced\" in phone; did you mean \"locked\"? (allowed: ios, ") == true)
    }

    @Test(arguments: [
        (
            "wait: 30",
            "6:15: wait must be a whole number and a unit such as 30 s, at most 366 d, got \"30\" (units: ms, s, min, h, d)"
        ),
        ("wait: -1 s", "6:15: wait must be a whole number and a unit"),
        ("tap: m", "6:14: tap: no earlier step has brought a notification \"m\" (allowed: none so far)"),
        ("lok", "6:9: unknown key \"lok\" in steps"),
        ("lock: maybe", "6:9: unknown key \"lock\" in steps"),
        ("airplane maybe", "6:9: airplaneMode must be on or off (or yes or no), got \"maybe\""),
        ("person: hom", "6:17: unknown person \"hom\"; did you mean \"home\"?"),
        ("setBadgeCount: many", "6:24: setBadgeCount must be a whole number of 0 or more, got \"many\""),
        ("airplaneMode: maybe", "6:23: airplaneMode must be on or off (or yes or no), got \"maybe\""),
        ("{push: {alert: a}, wait: 1 s}", "6:9: a step has exactly one key, got push and wait"),
        ("message: {id: m}", "6:9: message needs an app with the SDK: give app.sdk"),
        ("expect: {runState: foreground}", "6:18: runState needs an app with the SDK: give app.sdk"),
        ("push: {alert: a, data: {aps: {}}}", "6:33: aps is written by the keys beside data"),
        ("push: {alert: a, content-available: 2}", "unknown content-available \"2\""),
        ("push: {alert: a, headers: {apns-id: 1}}", "6:36: unknown header \"apns-id\""),
        ("push: {alert: a, apns-collapse-id: x}", "unknown key \"apns-collapse-id\" in push; it stands in headers"),
        ("local: {body: a}", "6:16: local needs the key \"id\""),
        ("local: {id: a, repeats: yes, in: 5 s}", "a repeating notification needs `in` of 1 min or more"),
        ("expect: {callbacks: [didReceve]}", "6:30: unknown callback \"didReceve\"; did you mean \"didReceive\"?"),
        (
            "expect: {callbacks: [didReceiveRemoteNotification]}",
            "needs its applicationState: active, inactive or background"
        ),
        ("expect: {callbacks: [didReceive(a, b)]}", "inside [ ] one with a comma needs quotes"),
        ("expect: {shown: [baner]}", "unknown part \"baner\"; did you mean \"banner\"?"),
        ("expect: {shown: []}", "shown must name parts; write `nothing` for none"),
        ("expect: {}", "6:17: expect must check something"),
        ("set: {}", "6:14: a switch must be named"),
        ("push: {alert: [a]}", "6:23: alert must be a text, got a list"),
        ("push: {alert: {boddy: a}}", "6:24: unknown key \"boddy\" in alert; did you mean \"body\"?"),
        ("push: {sound: {critical: 1}}", "6:23: sound needs the key \"name\""),
        ("push: {relevance-score: 2}", "6:33: relevance-score must be a number from 0 to 1, got \"2\""),
        ("push: {headers: {apns-push-type: alarm}}", "6:42: unknown apns-push-type \"alarm\""),
        ("local: {id: a, in: 0 s}", "6:28: `in` must be more than 0 s"),
        ("local: {id: a, in: 1 s, region: r}", "6:28: a notification waits for a time or for a region, not for both"),
        ("local: {id: a, on: enter}", "6:28: `on` needs `region`"),
        ("enterRegion: r", "6:22: enterRegion: no earlier step has brought a region \"r\" (allowed: none so far)"),
        ("releaseLock: l", "6:22: releaseLock: no earlier step has brought a lock \"l\""),
        ("endActivity: ride", "6:22: endActivity: no earlier step has brought a Live Activity \"ride\""),
        ("startActivity: {id: ride}", "6:24: startActivity needs the key \"content-state\""),
        ("activityPush: {event: begin, id: ride}", "unknown event \"begin\" (allowed: start, update, end)"),
        ("summaryTimes: [25:00]", "6:24: summaryTimes must be a time from 00:00 to 23:59, got \"25:00\""),
        ("expect: {faults: ['']}", "6:27: faults: a text must say something"),
        (
            "expect: {callbacks: [didFinishLaunching(remoteNotifikation)]}",
            "unknown argument \"remoteNotifikation\" of didFinishLaunching; did you mean \"remoteNotification\"?"
        ),
        ("expect: {callbacks: [didBecomeActive(reply)]}", "unknown argument \"reply\" of didBecomeActive"),
        ("expect: {activityChanges: [updated of ride]}", "a change of a Live Activity is written `update of id`"),
        ("expect: {activities: [ride]}", "activities: no earlier step has brought a Live Activity \"ride\""),
        ("push: {alert: a, mutable-content: 0}", "unknown mutable-content \"0\"; did you mean \"1\"? (allowed: 1)"),
        ("push: {alert: a, headers: {apns-expiration: 5}}", "6:53: apns-expiration must be a whole number and a unit"),
        ("push: {alert: a, size: 20}", "6:32: size must be 33 or more for this payload, got 20"),
        ("push: {alert: a, size: 99, data: {filler: 1}}", "data has no key filler then"),
        ("backgroundRefresh: never", "6:28: backgroundRefresh must be on, off or restricted, got \"never\""),
        ("turnOff: m", "6:18: turnOff: no earlier step has brought a notification \"m\""),
        (
            "expect: {undelivered: [late of m]}",
            "6:32: what never arrived is written `expired of id`, got \"late of m\" (reasons: noToken, payloadTooLarge, "
        ),
        ("expect: {undelivered: [expired of m]}", "undelivered: no earlier step has brought a notification \"m\""),
        ("expect: {badge: {anyOf: [1]}}", "6:26: anyOf must hold two values or more, got 1"),
        ("expect: {badge: {anywhere: [1]}}", "6:26: badge is no list: it has one value and no anywhere"),
        ("expect: {callbacks: {anywhere: []}}", "6:30: anywhere must name something"),
        ("expect: {callbacks: {somewhere: []}}", "6:30: unknown key \"somewhere\" in value (allowed: anyOf, anywhere)"),
        ("expect: {badge: {anyOf: [1, 2], anywhere: 3}}", "badge is a mapping with one key, anyOf or anywhere"),
        ("expect: {badge: {anyOf: [1, {anyOf: [1, 2]}]}}", "a value of anyOf has no alternatives of its own"),
        ("expect: {anyOf: [{badge: 1}]}", "6:25: anyOf must hold two expectations or more, got 1"),
        ("expect: {anyOf: [{badge: 1}, {}]}", "6:38: an alternative must check something"),
        (
            "expect: {badge: 1, anyOf: [{badge: 1}, {prompt: no}]}",
            "6:37: badge stands beside anyOf already: one of the two can go"
        ),
        (
            "expect: {anyOf: [{prompt: no}, {anyOf: [{badge: 1}, {badge: 2}]}]}",
            "6:48: an alternative has no alternatives of its own"
        ),
    ])
    func `is told where and what`(line: String, message: String) {
        let found = problems(steps(line))
        #expect(found.count >= 1)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test(arguments: [
        ("message: {id: m, mentions: all}", "6:36: mentions needs a conversation with members: give `in`"),
        ("message: {id: m, in: 'CS:help', mentions: [bob]}", "mentions needs a conversation with members"),
        (
            "message: {id: m, in: 'GRP:team', mentions: []}",
            "6:52: mentions must be all or a list of 1 to 100 people, got a list"
        ),
        ("message: {id: m, in: 'GRP:team', mentions: everybody}", "mentions must be a list, got \"everybody\""),
        (
            "message: {id: m, for: zoe, catchUp: yes}",
            "what is for somebody else is in no log of this phone: no catchUp"
        ),
        (
            "message: {id: m, contentMentions: []}",
            "6:43: contentMentions must be all or a list of 1 to 100 people, got a list"
        ),
        ("message: {id: m, image: 'https://example.com/1.jpg'}", "image needs a message of type RC:ImgMsg"),
        ("message: {id: m, answers: alice}", "answers needs a message of type RC:ReferenceMsg"),
        ("message: {id: m, edits: n}", "edits: no earlier step has brought a notification \"n\""),
        (
            "message: {id: m}\n      - message: {id: n, recalls: m, edits: m}",
            "a recall edits nothing: give recalls or edits"
        ),
        ("message: {id: m, push: {sound: ''}}", "push.sound must be 1 to 64 bytes, got 0"),
        ("message: {id: m, push: {badge: 1}}", "push.badge is not known here"),
        ("message: {id: m, lifetime: long}", "6:36: lifetime must be a whole number and a unit"),
        ("message: {id: m, namesAfter: soon}", "6:38: namesAfter must be a whole number and a unit"),
        ("message: {id: m, for: zoe, namesAfter: 1 s}", "nobody asks for the names of this: no namesAfter"),
    ])
    func `is told what a message cannot be`(line: String, message: String) {
        let found = problems(steps(line, app: "{sdk: {}}"))
        #expect(found.count >= 1)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test(arguments: [
        (
            "{answers: {willPresent: {of: {m: [banner]}}}}",
            "2:36: answers.willPresent.of: no step of the case \"c\" brings a notification \"m\" (allowed: none)"
        ),
        (
            "{answers: {didFinishLaunching: {of: {m: never}}}}",
            "didFinishLaunching is about no notification: `of` has no meaning"
        ),
        ("{answers: {willPresent: {of: {}}}}", "of must name a notification"),
        (
            "{answers: {didReceive: {of: {m: {of: {n: never}}}}}}",
            "an answer for one notification has no `of` of its own"
        ),
        ("{answers: {didReceive: crashes}}", "unknown didReceive \"crashes\" (allowed: returns, never)"),
        (
            "{answers: {serviceExtension: {result: crashes, twice: yes}}}",
            "a process that crashes answers nothing, and not twice"
        ),
        ("{serviceExtension: {bestAttempt: {}}}", "bestAttempt must change something; write `changed`"),
        ("{serviceExtension: {bestAttempt: {memory: 1 MB}}}", "unknown key \"memory\" in bestAttempt"),
        (
            "{serviceExtension: {bestAttempt: {empty: yes, title: a}}}",
            "an empty content can have a badge and nothing else"
        ),
        ("{serviceExtension: {removes: {m: [n]}}}", "serviceExtension.removes: no step of the case \"c\" brings"),
        ("{sdk: {}, serviceExtension: {removes: {m: [n]}}}", "the service extension's content is the SDK's to decide"),
        (
            "{sdk: {}, serviceExtension: {bestAttempt: {body: a}}}",
            "the service extension's content is the SDK's to decide"
        ),
        ("{registers: always}", "2:18: registers must be yes, no or everyLaunch, got \"always\""),
        ("{sdk: {badge: {foreign: 1}}}", "badge needs the key \"server\""),
        ("{sdk: {badge: {server: 2, foreign: -3}}}", "foreign must be a whole number of -2 or more, got \"-3\""),
        ("{sdk: {navigation: {stack: [], tabs: [[]]}}}", "an app has tabs or one stack: one of the two can go"),
        ("{sdk: {navigation: {tabs: [[]], selected: 1}}}", "selected must be one of the tabs, counted from 0, got 1"),
        ("{sdk: {navigation: {selected: 0}}}", "selected must be one of the tabs, counted from 0, got 0"),
        ("{sdk: {navigation: {stack: [chat]}}}", "a conversation is a kind and a target such as PR:bob or GRP:team"),
        (
            "{sdk: {navigation: {table: [{tab: 1}]}}}",
            "2:34: a row is for `conversations` or for `types`: one of the two"
        ),
        (
            "{sdk: {navigation: {table: [{conversations: all, types: [a], screen: a}]}}}",
            "a row is for `conversations` or for `types`: one of the two"
        ),
        (
            "{sdk: {navigation: {table: [{conversations: GRP, screen: a}]}}}",
            "conversations have their chat screens: no `screen`"
        ),
        ("{sdk: {navigation: {table: [{types: [a]}]}}}", "table needs the key \"screen\""),
        (
            "{sdk: {navigation: {table: [{conversations: groups}]}}}",
            "unknown conversations \"groups\" (allowed: all, PR,"
        ),
        (
            "{sdk: {navigation: {table: [{conversations: CHRM}]}}}",
            "table[0].kind must not be chatRoom: no notification opens one"
        ),
        (
            "{sdk: {navigation: {table: [{types: [rc], screen: a}]}}}",
            "2:33: table[0].types must not hold \"rc\", which names a part of every payload"
        ),
        ("{sdk: {navigation: {table: [{types: [a], screen: a, tab: -1}]}}}", "tab must be a whole number of 0 or more"),
        ("{sdk: {presents: {twice: yes}}}", "the app chooses by returning, for all alike: no `twice`"),
        ("{sdk: {presents: [baner]}}", "unknown presentation option \"baner\"; did you mean \"banner\"?"),
        ("{sdk: {position: 4, phonePosition: 5}}", "phonePosition must be at most position, which is 4, got 5"),
        ("{sdk: {badge: {server: 2000000000}}}", "server must be at most 1000000000, got 2000000000"),
        ("{sdk: {unread: 5000000000}}", "unread must be at most 1000000000, got 5000000000"),
        ("{sdk: {position: 10001}}", "position must be at most 10000, got 10001"),
        ("{sdk: {ledger: {m: read}}}", "unknown ledger \"read\" (allowed: shown, claimed, recalled)"),
        ("{sdk: {ledger: {m: shown}}}", "sdk.ledger: no step of the case \"c\" brings a message \"m\""),
        ("{sdk: {customCallback: {result: handled, twice: yes}}}", "the custom callback answers by returning"),
        ("{sdk: {customCallback: {result: never, after: 1 s}}}", "what is never answered has no `after`"),
        ("{sdk: {customCallback: {result: none, of: {m: handled}}}}", "without a custom callback `of` has no meaning"),
    ])
    func `is told what an app cannot be`(app: String, message: String) {
        let found = problems(steps("wait: 1 s", app: app))
        #expect(found.count >= 1)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test func `is told that an app which runs knows what its log has`() {
        let found = problems(
            """
            title: t
            app: {sdk: {position: 4, phonePosition: 2}}
            cases:
              - {case: c, for: {start: [NK, SU]}, steps: [message: {id: m}, expect: {badge: 1}]}
            """)
        #expect(
            found == [
                "f.yaml:4:5: phonePosition needs a start without a process (not running, force-quit, before first "
                    + "unlock): an app that runs knows what it has, got suspended"
            ])
    }

    @Test func `is told that only the kit asks for names`() {
        let found = problems(steps("message: {id: m, namesAfter: 1 s}", app: "{sdk: {kit: no}}"))
        #expect(
            found == ["f.yaml:6:38: namesAfter needs the kit, which asks the providers: app.sdk.kit is no"])
    }

    @Test(arguments: [
        ("", "f.yaml:1:1: the file is empty"),
        ("title: [", "not YAML"),
        ("title: a\ntitle: b\ncases: []", "the same key twice: title"),
        ("cases: []", "file needs the key \"title\""),
        ("title: t", "file needs the key \"cases\""),
        ("title: t\ncases: []", "cases must hold at least one case"),
        ("title: t\ncases: [{case: c, steps: [wait: 1 s]}]", "must hold at least one expect"),
        (
            "title: t\ncases: [{case: c, steps: [expect: {badge: 0}]}, {case: c, steps: [expect: {badge: 0}]}]",
            "used twice"
        ),
        ("title: t\nphone: {ios: 2}\ncases: [{case: c, steps: [expect: {badge: 0}]}]", "3 or later"),
        (
            "title: t\nphone: {quirks: {Q99: on}}\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "unknown key \"Q99\" in quirks"
        ),
        ("title: t\ncases: [{case: c, start: asleep, steps: [expect: {badge: 0}]}]", "unknown state \"asleep\""),
        (
            "title: t\nrequirement: S9.1\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "requirement must be S0.1 to S4.13"
        ),
        (
            "title: t\nrequirement: [S0.1, S0.2, S0.3, S0.4]\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "1 to 3 requirements, got 4"
        ),
        (
            "title: t\ncases: [{case: c, columns: {A: {steps: [wait: 1 s]}}, matrix: {FA: {B: {badge: 0}}}}]",
            "unknown column \"B\""
        ),
        (
            "title: t\ncases: [{case: c, columns: {A: {steps: [wait: 1 s]}}, matrix: {FA: {}}}]",
            "row \"FA\" has no cell for the column \"A\""
        ),
        (
            "title: t\ncases: [{case: c, columns: {A: {steps: [wait: 1 s]}}, matrix: {FA: {A: cannot happen}}}]",
            "2:63: matrix must hold at least one cell that can happen"
        ),
        (
            "title: t\ncases: [{case: c, for: {start: [SU]}, columns: {A: {steps: [wait: 1 s]}}, "
                + "matrix: {FA: {A: {badge: 0}}}}]",
            "2:32: a case with a matrix has its start states in its rows"
        ),
        ("title: t\ncases: [{case: c, for: {}, steps: [expect: {badge: 0}]}]", "for must name at least one of"),
        (
            "title: t\ncases: [{case: c, start: SU, for: {start: [FA]}, steps: [expect: {badge: 0}]}]",
            "2:26: start stands in `for` already"
        ),
        (
            "title: t\napp: {sdk: {}, serviceExtension: {title: Bob}}\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "2:34: with app.sdk the service extension's content is the SDK's to decide"
        ),
        (
            "title: t\napp: {serviceExtension: {empty: yes, title: Bob}}\n"
                + "cases: [{case: c, steps: [expect: {badge: 0}]}]",
            "an empty content can have a badge and nothing else"
        ),
        (
            "title: t\nphone: {extensionMemory: 24}\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "2:26: extensionMemory must be a whole number of at most 1000000 and a unit such as 24 MB, got \"24\""
        ),
        (
            "title: t\nphone: {clock: noon}\ncases: [{case: c, steps: [expect: {badge: 0}]}]",
            "2:16: clock must be a time from 00:00 to 23:59, got \"noon\""
        ),
    ])
    func `is told what the file lacks`(text: String, message: String) {
        let found = problems(text)
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test func `hears of every problem at once, in the order of the file`() {
        let found = problems(steps("wait: soon", "person: sleep", "system: explode"))
        #expect(found.map { $0.split(separator: ":")[1] } == ["6", "7", "8"])
    }
}

import ClientCore
import Requirements
import Testing
import TidingsModel

private let bobs = Route(conversation: withBob)
private let teams = Route(conversation: team)

@Suite struct `A tap on a notification` {
    @Test(.requirement("S1.17", "S1.18")) func `goes outermost, chooses the tab, and pushes`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 1, stacks: [[], [nil]])) == [
                .popToRoot(animated: false), .selectTab(0), .push(bobs, animated: true, hidesBottomBar: true),
            ])
    }

    @Test(.requirement("S0.18")) func `pushes only, when nothing is open`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 0, stacks: [[], []]))
                == [.push(bobs, animated: true, hidesBottomBar: true)])
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(stacks: [[]]))
                == [.push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test(.requirement("S4.8")) func `does nothing when the conversation is open already`() throws {
        let state = NavigationState(selectedTab: 0, stacks: [[teams, bobs], []])
        #expect(NotificationRouter().steps(for: bobs, current: state) == [])
        #expect(try NotificationRouter(table: [.conversations(.onTop)]).steps(for: bobs, current: state) == [])
    }

    @Test func `leaves another conversation before it opens its own`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 0, stacks: [[teams], []]))
                == [.popToRoot(animated: false), .push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test(.requirement("S4.8")) func `stays on top of what is open, if the app wants that`() throws {
        #expect(
            try NotificationRouter(table: [.conversations(.onTop)]).steps(
                for: bobs, current: NavigationState(selectedTab: 1, stacks: [[], [teams]]))
                == [.push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test func `finds the conversation open in the other tab`() {
        let state = NavigationState(selectedTab: 1, stacks: [[bobs], []])
        #expect(NotificationRouter().steps(for: bobs, current: state) == [.selectTab(0)])
    }

    @Test func `brings the other tab to its root too`() {
        let state = NavigationState(selectedTab: 1, stacks: [[teams], [nil]])
        #expect(
            NotificationRouter().steps(for: bobs, current: state) == [
                .popToRoot(animated: false), .selectTab(0), .popToRoot(animated: false),
                .push(bobs, animated: true, hidesBottomBar: true),
            ])
    }

    private func tap(
        _ origin: PersonResponse.Origin, request: String? = nil, at date: Int64? = nil, content: String = "m",
        action: String = "tap"
    ) -> TapLog.Identity {
        TapLog.Identity(request: request, deliveredAt: date, content: content, action: action, origin: origin)
    }

    @Test(.requirement("S0.19", "S0.21")) func `counts once, though it comes by two callback paths`() {
        var taps = TapLog()
        let first = taps.insert(self.tap(.launchOptions))
        let echo = taps.insert(self.tap(.callback, request: "r", at: 77))
        let other = taps.insert(self.tap(.callback, request: "r", at: 77, action: "reply"))
        let again = taps.insert(self.tap(.callback, request: "r", at: 77))
        #expect([first, echo, other, again] == [true, false, true, false])
    }

    @Test func `counts once when scene and callback tell the same delivery`() {
        var taps = TapLog()
        let first = taps.insert(self.tap(.sceneConnection, request: "r", at: 77))
        let echo = taps.insert(self.tap(.callback, request: "r", at: 77))
        #expect([first, echo] == [true, false])
    }

    @Test func `counts again when the notification was delivered again, with the same payload`() {
        var taps = TapLog()
        let first = taps.insert(self.tap(.callback, request: "r", at: 77))
        let again = taps.insert(self.tap(.callback, request: "r", at: 78))
        let other = taps.insert(self.tap(.callback, request: "s", at: 77))
        #expect([first, again, other] == [true, true, true])
    }

    @Test(.requirement("S1.10", "S1.11"))
    func `counts again on an old callback path that tells the same payload twice`() {
        var taps = TapLog()
        let launch = taps.insert(self.tap(.launchOptions))
        let echo = taps.insert(self.tap(.callback))
        let second = taps.insert(self.tap(.callback))
        #expect([launch, echo, second] == [true, false, true])
    }
}

@Suite struct `What a payload opens` {
    private let router = NotificationRouter()

    @Test(.requirement("S0.15", "S1.15")) func `is the chat of its conversation, and nothing without one`() {
        let ours: JSONValue = [
            "rc": ["cType": "GRP", "fId": "bob", "oName": "RC:TxtMsg", "tId": "team", "mId": "", "id": ""]
        ]
        #expect(self.router.route(for: ours) == .conversation(team))
        #expect(self.router.route(for: [:]) == nil)
    }

    @Test(.requirement("S0.17")) func `is never a chat room`() {
        let room: JSONValue = ["rc": ["cType": "CHRM", "fId": "bob", "oName": "RC:TxtMsg", "tId": "room"]]
        #expect(self.router.route(for: room) == nil)
    }

    @Test(.requirement("S1.16", "S1.18"))
    func `is the screen its type has in the table, and the app's business without`()
        throws
    {
        let router = try NotificationRouter(table: [
            .detail(types: ["commentpass", "commentfail"], screen: "comments"), .detail(types: ["7"], screen: "seven"),
        ])
        #expect(router.route(for: ["type": "commentpass"]) == .detail(screen: "comments"))
        #expect(router.route(for: ["type": "commentfail"]) == .detail(screen: "comments"))
        #expect(router.route(for: ["type": "comments"]) == nil)
        #expect(router.route(for: ["type": 7]) == nil)
        #expect(self.router.route(for: ["type": "commentpass"]) == nil)
    }

    @Test(
        .requirement("S1.16"),
        arguments: [
            ("commentpass", .detail(screen: "comments")), ("commentfail", .conversation(team)),
            (7, .conversation(team)), (nil, .conversation(team)), (["commentpass"], .conversation(team)),
            ("CommentPass", .conversation(team)), ("", .conversation(team)),
        ] as [(JSONValue?, Route)])
    func `is the screen of its type before the chat of its conversation`(type: JSONValue?, route: Route) throws {
        let router = try NotificationRouter(table: [
            .conversations(.onTop), .detail(types: ["commentpass"], screen: "comments"), .kind(.group, .onTop),
        ])
        var push = JSONObject()
        push["rc"] = ["cType": "GRP", "fId": "bob", "oName": "RC:TxtMsg", "tId": "team"]
        push["type"] = type
        #expect(router.route(for: .object(push)) == route)
        #expect(self.router.route(for: .object(push)) == .conversation(team), "no row names it")
    }

    @Test(.requirement("S1.17", "S1.18")) func `is pushed on the root of the first tab, animated, the bar hidden`()
        throws
    {
        let state = NavigationState(selectedTab: 1, stacks: [[nil], [nil, nil]])
        let router = try NotificationRouter(table: [.detail(types: ["commentpass"], screen: "comments")])
        #expect(
            router.steps(for: .detail(screen: "comments"), current: state) == [
                .popToRoot(animated: false), .selectTab(0), .popToRoot(animated: false),
                .push(.detail(screen: "comments"), animated: true, hidesBottomBar: true),
            ])
    }
}

@Suite struct `A table of screens` {
    private static let table: [NavigationEntry] = [
        .detail(types: ["commentpass"], screen: "comments", .fromRoot(tab: 2)),
        .detail(types: ["news"], screen: "paper", .onTop(tab: 1)),
        .detail(types: ["hint"], screen: "hint", NavigationPolicy(popsToRoot: false, hidesBottomBar: false)),
        .kind(.group, .fromRoot(tab: 1)), .conversations(.onTop),
    ]
    private static let open = NavigationState(selectedTab: 0, stacks: [[nil], [nil], [nil]])

    @Test(
        .requirement("S1.16", "S1.17", "S1.18"),
        arguments: [
            (
                Route.detail(screen: "comments"),
                [.popToRoot(animated: false), .selectTab(2), .popToRoot(animated: false)], true
            ),
            (.detail(screen: "paper"), [.selectTab(1)], true), (.detail(screen: "hint"), [], false),
            (.conversation(team), [.popToRoot(animated: false), .selectTab(1), .popToRoot(animated: false)], true),
            (.conversation(withBob), [], true),
            (.detail(screen: "settings"), [.popToRoot(animated: false)], true),
        ] as [(Route, [NavigationStep], Bool)])
    func `says for each type and each kind of conversation in which tab its screen opens, and how`(
        route: Route, steps: [NavigationStep], hidesBottomBar: Bool
    ) throws {
        for table in [Self.table, Self.table.reversed()] {
            #expect(
                try NotificationRouter(table: table).steps(for: route, current: Self.open)
                    == steps + [.push(route, animated: true, hidesBottomBar: hidesBottomBar)])
        }
    }

    @Test(.requirement("S4.8")) func `opens nothing twice in the tab it names`() throws {
        let router = try NotificationRouter(table: Self.table)
        let paper = Route.detail(screen: "paper")
        #expect(
            router.steps(for: paper, current: NavigationState(selectedTab: 0, stacks: [[], [paper]])) == [.selectTab(1)]
        )
        #expect(router.steps(for: paper, current: NavigationState(selectedTab: 1, stacks: [[], [paper]])) == [])
    }

    @Test func `leaves alone what a tab that the app does not have would ask for, and opens the screen where it is`()
        throws
    {
        let comments = Route.detail(screen: "comments")
        let steps: [NavigationStep] = [
            .popToRoot(animated: false), .push(comments, animated: true, hidesBottomBar: true),
        ]
        let router = try NotificationRouter(table: Self.table)
        #expect(router.steps(for: comments, current: NavigationState(selectedTab: 0, stacks: [[nil], []])) == steps)
        #expect(router.steps(for: comments, current: NavigationState(stacks: [[nil]])) == steps)
    }

    @Test(
        arguments: [
            ([.conversations(.fromRoot(tab: -1))], "table[0].tab must be 0 or more, got -1"),
            ([.conversations(.onTop), .kind(.group, .onTop(tab: -2))], "table[1].tab must be 0 or more, got -2"),
            ([.kind(.chatRoom, .onTop)], "table[0].kind must not be chatRoom: no notification opens one"),
            ([.detail(types: [], screen: "a")], "table[0].types must name a type"),
            ([.detail(types: ["a", ""], screen: "a")], "table[0].types must not hold an empty text"),
            ([.detail(types: ["a"], screen: "")], "table[0].screen must not be empty"),
            (
                [.detail(types: ["rc"], screen: "a")],
                "table[0].types must not hold \"rc\", which names a part of every payload"
            ),
            (
                [.detail(types: ["tidings"], screen: "a")],
                "table[0].types must not hold \"tidings\", which names a part of every payload"
            ),
            (
                [.detail(types: ["aps"], screen: "a")],
                "table[0].types must not hold \"aps\", which names a part of every payload"
            ),
            (
                [.detail(types: ["a"], screen: "a"), .detail(types: ["b", "a"], screen: "b")],
                "table[1].types must not be \"a\": a row before is for it"
            ),
            (
                [.detail(types: ["a", "a"], screen: "a")], "table[0].types must not be \"a\": a row before is for it"
            ),
            (
                [.detail(types: ["a"], screen: "a"), .detail(types: ["b"], screen: "a")],
                "table[1].screen must not be \"a\": a row before is for it"
            ),
            (
                [.kind(.group, .onTop), .kind(.group, .fromRoot)],
                "table[1].kind must not be group: a row before is for it"
            ),
            (
                [.conversations(.onTop), .conversations(.onTop)],
                "table[1].conversations must not be told twice: a row before is for it"
            ),
        ] as [([NavigationEntry], String)])
    func `is refused with the row, the field and the rule`(table: [NavigationEntry], problem: String) {
        let error = #expect(throws: InvalidField.self) { try NotificationRouter(table: table) }
        #expect(error?.description == problem)
    }
}

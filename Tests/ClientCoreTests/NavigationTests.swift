import ClientCore
import Requirements
import Testing
import TidingsModel

private let bobs = Route(conversation: withBob)
private let teams = Route(conversation: team)

@Suite struct `A tap on a notification` {
    @Test(.requirement("S1.17", "S1.18")) func `goes outermost, chooses the tab, and pushes`() {
        let router = NotificationRouter(policy: .fromRoot)
        #expect(
            router.steps(for: bobs, current: NavigationState(selectedTab: 1, stacks: [[], [nil]])) == [
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

    @Test(.requirement("S4.8")) func `does nothing when the conversation is open already`() {
        let state = NavigationState(selectedTab: 0, stacks: [[teams, bobs], []])
        #expect(NotificationRouter(policy: .fromRoot).steps(for: bobs, current: state) == [])
        #expect(NotificationRouter(policy: .onTop).steps(for: bobs, current: state) == [])
    }

    @Test func `leaves another conversation before it opens its own`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 0, stacks: [[teams], []]))
                == [.popToRoot(animated: false), .push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test(.requirement("S4.8")) func `stays on top of what is open, if the app wants that`() {
        #expect(
            NotificationRouter(policy: .onTop).steps(
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
    @Test(.requirement("S0.15", "S1.15")) func `is the chat of its conversation, and nothing without one`() {
        let ours: JSONValue = [
            "rc": ["cType": "GRP", "fId": "bob", "oName": "RC:TxtMsg", "tId": "team", "mId": "", "id": ""]
        ]
        #expect(Route(userInfo: ours) == .conversation(team))
        #expect(Route(userInfo: [:]) == nil)
    }

    @Test(.requirement("S0.17")) func `is never a chat room`() {
        let room: JSONValue = ["rc": ["cType": "CHRM", "fId": "bob", "oName": "RC:TxtMsg", "tId": "room"]]
        #expect(Route(userInfo: room) == nil)
    }

    @Test(.requirement("S1.16")) func `is the screen of its type, where the app has one`() {
        let passed: JSONValue = ["type": "commentpass"]
        #expect(Route(userInfo: passed, types: ["commentpass"]) == .detail(type: "commentpass"))
        #expect(Route(userInfo: passed, types: ["news"]) == nil)
        #expect(Route(userInfo: ["type": 7], types: ["7"]) == nil)
    }

    @Test(.requirement("S1.17", "S1.18")) func `is pushed on the root of the first tab, animated, the bar hidden`() {
        let state = NavigationState(selectedTab: 1, stacks: [[nil], [nil, nil]])
        #expect(
            NotificationRouter(policy: .fromRoot).steps(for: .detail(type: "commentpass"), current: state) == [
                .popToRoot(animated: false), .selectTab(0), .popToRoot(animated: false),
                .push(.detail(type: "commentpass"), animated: true, hidesBottomBar: true),
            ])
    }
}

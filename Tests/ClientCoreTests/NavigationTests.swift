import ClientCore
import Testing
import TidingsModel

private let bobs = Route(conversation: withBob)
private let teams = Route(conversation: team)

@Suite struct `A tap on a notification` {
    @Test func `goes outermost, chooses the tab, and pushes`() {
        let router = NotificationRouter(policy: .fromRoot)
        #expect(
            router.steps(for: bobs, current: NavigationState(selectedTab: 1, stacks: [[], [nil]])) == [
                .popToRoot(animated: false), .selectTab(0), .push(bobs, animated: true, hidesBottomBar: true),
            ])
    }

    @Test func `pushes only, when nothing is open`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 0, stacks: [[], []]))
                == [.push(bobs, animated: true, hidesBottomBar: true)])
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(stacks: [[]]))
                == [.push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test func `does nothing when the conversation is open already`() {
        let state = NavigationState(selectedTab: 0, stacks: [[teams, bobs], []])
        #expect(NotificationRouter(policy: .fromRoot).steps(for: bobs, current: state) == [])
        #expect(NotificationRouter(policy: .onTop).steps(for: bobs, current: state) == [])
    }

    @Test func `leaves another conversation before it opens its own`() {
        #expect(
            NotificationRouter().steps(for: bobs, current: NavigationState(selectedTab: 0, stacks: [[teams], []]))
                == [.popToRoot(animated: false), .push(bobs, animated: true, hidesBottomBar: true)])
    }

    @Test func `stays on top of what is open, if the app wants that`() {
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

    @Test func `counts once, though it comes by two roads`() {
        var taps = TapLog()
        let first = taps.note(.init(request: "m", deliveredAt: 0, action: "tap"))
        let echo = taps.note(.init(request: "m", deliveredAt: 77, action: "tap"))
        let other = taps.note(.init(request: "m", deliveredAt: 0, action: "reply"))
        #expect([first, echo, other] == [true, false, true])
    }

    @Test func `counts again when the notification was delivered again`() {
        var taps = TapLog()
        let first = taps.note(.init(request: "m", deliveredAt: 77, action: "tap"))
        let again = taps.note(.init(request: "m", deliveredAt: 78, action: "tap"))
        #expect([first, again] == [true, true])
    }
}

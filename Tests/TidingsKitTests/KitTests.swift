import ClientCore
import Foundation
import PhoneCore
import Testing
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsKit

private let withBob = ConversationID(type: .direct, target: "bob")

private func settles(_ frame: ClientFrame, _ disposition: Disposition) -> Bool {
    guard case .ack(let ack) = frame else { return false }
    return ack.settled.contains { $0.disposition == disposition }
}

@MainActor @Suite(.serialized) struct `An app with the kit` {
    @Test func `hands its device token to the server after connecting`() async throws {
        let bench = await ChatBench()
        defer { bench.remove() }
        await bench.until { $0.server.frames.contains { if case .registerPush = $0 { true } else { false } } }
        let registrations = bench.server.frames.compactMap { frame -> PushRegistration? in
            guard case .registerPush(let registration) = frame else { return nil }
            return registration
        }
        let registration = try #require(registrations.first)
        #expect(registration.topic == "com.example.chat")
        #expect(registration.environment == .sandbox)
        #expect(bench.phone.faults == [])
    }

    @Test func `shows no notification in front, and settles what is stored`() async {
        let bench = await ChatBench()
        defer { bench.remove() }
        bench.server.say("hi")
        await bench.until { $0.server.frames.contains { settles($0, .shown) } }
        #expect(bench.server.frames.contains { settles($0, .shown) })
        #expect(bench.phone.presentations.isEmpty)
    }

    @Test(arguments: [LifecycleStyle.scenes, .application])
    func `shows a local notification in the background, and a tap opens the conversation once`(
        lifecycle: LifecycleStyle
    ) async throws {
        let bench = await ChatBench(lifecycle: lifecycle)
        defer { bench.remove() }
        await bench.phone.home()
        await bench.until { $0.kit?.client.runState == .backgroundActive }
        let id = bench.server.say("hi")
        await bench.until { !$0.phone.presentations.isEmpty }
        let shown = try #require(bench.phone.presentations.first)
        #expect(shown.identifier == id.description)
        #expect(shown.isRing)
        #expect(shown.badge == 1)
        #expect(bench.phone.presentations.count == 1)
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect(content.title == "Bob")
        #expect(content.body == "hi")
        #expect(content.threadIdentifier == "PR:bob")
        await bench.until { $0.server.frames.contains { settles($0, .shown) } }
        #expect(bench.server.frames.contains { settles($0, .shown) })
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.phone.faults == [])
    }

    @Test func `shows nothing without a user info provider, and says why`() async {
        let bench = await ChatBench(hasNames: false)
        defer { bench.remove() }
        await bench.phone.home()
        await bench.until { $0.kit?.client.runState == .backgroundActive }
        bench.server.say("hi")
        await bench.until { $0.server.frames.contains { settles($0, .suppressed(.providerMissing)) } }
        #expect(bench.server.frames.contains { settles($0, .suppressed(.providerMissing)) })
        #expect(bench.phone.presentations.isEmpty)
    }

    @Test func `tells the server how long it stays in the background`() async {
        let bench = await ChatBench()
        defer { bench.remove() }
        await bench.phone.home()
        await bench.until { $0.kit?.client.runState == .backgroundActive }
        let told = bench.server.frames.compactMap { frame -> Int64? in
            guard case .runState(.background(let remaining)) = frame else { return nil }
            return remaining
        }
        #expect(told.count == 1)
        #expect((20_000...25_000).contains(told.first ?? 0))
    }

    @Test func `hangs up and says so when the system's time is over`() async {
        let bench = await ChatBench()
        defer { bench.remove() }
        await bench.phone.home()
        await bench.until { $0.kit?.client.runState == .backgroundActive }
        bench.kit?.client.backgroundTimeWillExpire()
        await bench.until { !$0.server.isConnected }
        #expect(bench.server.frames.last == .runState(.suspending))
        await bench.phone.launch()
        await bench.until { $0.server.isConnected }
        #expect(bench.kit?.client.runState == .foreground)
    }

    @Test(arguments: [LifecycleStyle.scenes, .application])
    func `opens the conversation of a push that is tapped when the app is gone`(lifecycle: LifecycleStyle) async {
        let bench = await ChatBench(lifecycle: lifecycle)
        defer { bench.remove() }
        await bench.phone.home()
        await bench.phone.terminate()
        let id = MessageID(rawValue: 77)
        await bench.phone.deliver(bench.push(id), collapseID: id.description)
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.phone.faults == [])
    }

    @Test func `does not present a push in front for a message it has, and presents another one`() async {
        let bench = await ChatBench()
        defer { bench.remove() }
        let id = bench.server.say("hi")
        await bench.until { (try? $0.kit?.client.unreadMessageCount()) == 1 }
        await bench.phone.deliver(bench.push(id), collapseID: id.description)
        #expect(bench.phone.presentations.filter(\.isRing).isEmpty)
        let other = MessageID(rawValue: 9_999)
        await bench.phone.deliver(bench.push(other), collapseID: other.description)
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [other.description])
    }

    @Test func `writes its badge when it resigns active`() async {
        let bench = await ChatBench()
        defer { bench.remove() }
        bench.server.say("one")
        bench.server.say("two")
        await bench.until { (try? $0.kit?.client.unreadMessageCount()) == 2 }
        await bench.phone.home()
        await bench.until { $0.phone.screen.badge(of: TestApp.bundle) == 2 }
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 2)
    }

    @Test func `clears a conversation's notifications when it is read`() async throws {
        let bench = await ChatBench()
        defer { bench.remove() }
        await bench.phone.home()
        await bench.until { $0.kit?.client.runState == .backgroundActive }
        bench.server.say("hi")
        await bench.until { !$0.phone.screen.list.isEmpty }
        await bench.phone.launch()
        try bench.kit?.client.markRead(withBob)
        await bench.until { $0.phone.screen.list.isEmpty }
        #expect(bench.phone.screen.list.isEmpty)
    }
}

@MainActor private final class Chat: UIViewController, RoutedScreen {
    let route: Route
    init(_ route: Route) {
        self.route = route
        super.init()
    }
}

@MainActor @Suite struct `The executor of navigation steps` {
    private func window() -> (UIWindow, UITabBarController) {
        let tabs = UITabBarController()
        tabs.setViewControllers(
            [
                UINavigationController(rootViewController: UIViewController()),
                UINavigationController(rootViewController: UIViewController()),
            ], animated: false)
        let window = UIWindow()
        window.rootViewController = tabs
        window.makeKeyAndVisible()
        return (window, tabs)
    }

    @Test func `pops, chooses the tab, and pushes with the bottom bar hidden`() throws {
        let (window, tabs) = self.window()
        let second = try #require(tabs.viewControllers?[1] as? UINavigationController)
        tabs.selectedIndex = 1
        second.pushViewController(UIViewController(), animated: false)
        let executor = NavigationExecutor(window: window) { Chat($0) }
        #expect(executor.open(Route(conversation: withBob)))
        let first = try #require(tabs.viewControllers?[0] as? UINavigationController)
        #expect(tabs.selectedIndex == 0)
        #expect(second.viewControllers.count == 1)
        #expect((first.topViewController as? Chat)?.route == Route(conversation: withBob))
        #expect(first.topViewController?.hidesBottomBarWhenPushed == true)
        #expect(executor.open(Route(conversation: withBob)))
        #expect(first.viewControllers.count == 2)
    }

    @Test func `leaves a root it does not know to the app`() {
        let window = UIWindow()
        window.rootViewController = UIViewController()
        #expect(!NavigationExecutor(window: window) { Chat($0) }.open(Route(conversation: withBob)))
    }
}

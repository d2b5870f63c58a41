import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import ServerCore
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsUI

@MainActor @Suite(.serialized) struct `A banner in the app` {
    @Test(.requirement("S4.6"), arguments: [(15, LifecycleStyle.application), (26, .scenes)])
    func `shows who writes and what, for another conversation than the open one`(
        system: Int, lifecycle: LifecycleStyle
    ) async {
        let bench = await BannerBench(osVersion: OSVersion(system), lifecycle: lifecycle)
        #expect(bench.banners == [])
        bench.say("Lunch?")
        await bench.untilBanner(says: "Lunch?")
        #expect(
            bench.banners == [
                ViewNode(
                    .button, label: "Bob, Lunch?", hint: "Opens the conversation", identifier: "tidings.banner",
                    actions: [.tap, .named("Dismiss")],
                    children: [ViewNode(.text, text: "Bob"), ViewNode(.text, text: "Lunch?")])
            ])
        #expect(bench.phone.reports.contains(.log(app: BannerBench.bundle, level: "voiceover", text: "Bob, Lunch?")))
        #expect(bench.phone.screen.list.isEmpty, "the system shows nothing")
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S4.6")) func `is one at a time: a later one takes its place, and its full time`() async {
        let bench = await BannerBench()
        bench.say("one")
        await bench.untilBanner(says: "one")
        await bench.advance(by: 4_000)
        bench.say("two", from: "carol")
        await bench.untilBanner(says: "two")
        #expect(bench.banners.map(\.texts) == [["Carol", "two"]])
        await bench.advance(by: 4_000)
        #expect(bench.banners.count == 1)
        await bench.advance(by: 1_000)
        await bench.until { $0.banners.isEmpty }
        #expect(bench.banners.isEmpty)
        #expect(bench.app?.opened == [])
    }

    @Test(.requirement("S4.7")) func `opens its conversation when it is tapped, once, and is gone`() async {
        let bench = await BannerBench()
        bench.say("Lunch?")
        await bench.untilBanner(says: "Lunch?")
        let view = bench.presenter?.current
        #expect(await bench.phone.touch("Bob, Lunch?"))
        #expect(bench.screens == ["Conversations", "Chat PR:bob"])
        #expect(bench.banners == [])
        // A second tap of the same finger.
        await bench.phone.inApp { @MainActor in view?.sendActions(for: .touchUpInside) }
        #expect(await !bench.phone.touch("tidings.banner"))
        #expect(bench.app?.opened == [BannerBench.withBob])
        #expect(bench.screens == ["Conversations", "Chat PR:bob"])
    }

    @Test(arguments: [ViewAction.swipe(.up), .named("Dismiss"), .escape])
    func `goes when it is swiped up or VoiceOver is told to, and opens nothing`(_ action: ViewAction) async {
        let bench = await BannerBench()
        bench.say("Lunch?")
        await bench.untilBanner(says: "Lunch?")
        #expect(await bench.phone.touch("tidings.banner", action))
        #expect(bench.banners == [])
        #expect(bench.app?.opened == [])
        #expect(bench.presenter?.current == nil)
    }

    @Test func `stays when a finger goes down or aside`() async {
        let bench = await BannerBench()
        bench.say("Lunch?")
        await bench.untilBanner(says: "Lunch?")
        for direction in [ViewAction.Direction.down, .left, .right] {
            await bench.phone.touch("tidings.banner", .swipe(direction))
        }
        #expect(bench.banners.count == 1)
        #expect(bench.app?.opened == [])
    }

    @Test func `goes after five seconds, or the time the app has chosen`() async {
        let bench = await BannerBench()
        for (chosen, stays) in [(nil, 5_000), (12_000, 12_000)] as [(Int64?, Int64)] {
            if let chosen { bench.presenter?.millisecondsShown = chosen }
            bench.say("\(stays)")
            await bench.untilBanner(says: "\(stays)")
            await bench.advance(by: stays - 500)
            #expect(bench.banners.count == 1)
            await bench.advance(by: 500)
            await bench.until { $0.banners.isEmpty }
            #expect(bench.banners == [])
        }
    }

    @Test func `says nothing of a message whose content is hidden, and shows no portrait`() async {
        let bench = await BannerBench(people: People(portraits: ["bob"]))
        bench.kit?.client.showsNotificationContent = false
        bench.say("secret")
        await bench.untilBanner(says: "You have a new message")
        #expect(bench.banners.map(\.texts) == [["You have a new message"]])
        #expect(bench.banners.map(\.label) == ["You have a new message"])
        #expect(bench.banners.flatMap(\.children).map(\.role) == [.text])
        #expect(!"\(bench.phone.views())\(bench.phone.reports)".contains("secret"))
    }

    @Test func `has the portrait of who writes, and in a group the group's`() async {
        let bench = await BannerBench(people: People(portraits: ["bob", "team"]))
        let team = ConversationAction.create(name: "Team", portrait: nil, members: ["alice", "bob", "carol"])
        bench.server.request(.request(ServerTransport.app, actor: nil, .change(BannerBench.team, team)))
        bench.say("hi")
        await bench.untilBanner(says: "hi")
        #expect(bench.banners.flatMap(\.children).map(\.role) == [.image, .text, .text])
        #expect(bench.presenter?.current?.portraitView.image == UIImage(data: People.png))
        bench.say("without", from: "carol")
        await bench.untilBanner(says: "without")
        #expect(bench.banners.flatMap(\.children).map(\.role) == [.text, .text])
        bench.say("all", from: "carol", to: BannerBench.team)
        await bench.until { $0.banners.last?.texts.first == "Our team" }
        #expect(bench.banners.flatMap(\.children).map(\.role) == [.image, .text, .text])
        #expect(bench.banners.map(\.texts) == [["Our team", "Carol: all"]])
    }

    @Test func `is not shown for the open conversation, nor for what the person wrote`() async {
        let bench = await BannerBench()
        bench.kit?.client.activeConversation = BannerBench.withBob
        let here = bench.say("on the screen")
        bench.server.send("from my other phone", from: "alice", to: BannerBench.withBob)
        await bench.until { (try? $0.kit?.client.history(conversation: BannerBench.withBob).count) == 2 }
        await bench.settle()
        #expect(bench.banners == [])
        #expect((try? bench.kit?.client.history(conversation: BannerBench.withBob).first?.id) == here)
    }

    @Test func `is not shown for a message that was recalled while the app was asked for a name`() async {
        let (permits, name) = AsyncStream.makeStream(of: Void.self)
        let bench = await BannerBench(people: People(permits: permits))
        let message = bench.say("oops")
        await bench.until { (try? $0.kit?.client.history(conversation: BannerBench.withBob).count) == 1 }
        bench.server.request(.request(ServerTransport.app, actor: "bob", .recall(message)))
        await bench.until { (try? $0.kit?.client.history(conversation: BannerBench.withBob).first?.isRecalled) == true }
        name.yield()
        await bench.settle()
        #expect(bench.banners == [])
        bench.say("well said")
        name.yield()
        await bench.untilBanner(says: "well said")
        #expect(bench.banners.map(\.texts) == [["Bob", "well said"]])
    }

    @Test func `is not shown for a message that has expired on its way`() async {
        let bench = await BannerBench()
        let clock = bench.clock
        // The network holds it back until its lifetime is over.
        bench.server.setScript { script in
            script.change = { frame in
                if case .entry(let entry) = frame, case .message(let message) = entry.body {
                    clock.advance(by: message.expiresAt.map { max(0, $0 - clock.now.wall) } ?? 0)
                }
                return frame
            }
        }
        bench.say("lunch in a second?", lifetime: 1_000)
        await bench.until { (try? $0.kit?.client.history(conversation: BannerBench.withBob).count) == 1 }
        await bench.settle()
        #expect(bench.banners == [])
        bench.server.setScript { _ in }
        bench.say("tomorrow then", lifetime: 60_000)
        await bench.untilBanner(says: "tomorrow then")
        #expect(bench.banners.map(\.texts) == [["Bob", "tomorrow then"]])
    }

    @Test func `goes when its message is recalled, or its conversation read on another device`() async {
        let bench = await BannerBench()
        let message = bench.say("oops")
        await bench.untilBanner(says: "oops")
        bench.server.request(.request(ServerTransport.app, actor: "bob", .recall(message)))
        await bench.until { $0.banners.isEmpty }
        #expect(bench.banners == [])
        await bench.settle()
        #expect(bench.banners == [], "a recall has no banner of its own")

        bench.say("again")
        await bench.untilBanner(says: "again")
        bench.server.act(as: "alice", [.markRead(BannerBench.withBob, upTo: bench.lastPosition)])
        await bench.until { $0.banners.isEmpty }
        #expect(bench.banners == [])
    }

    @Test func `stays while its conversation is read up to what came before it`() async {
        let bench = await BannerBench()
        bench.say("one")
        await bench.untilBanner(says: "one")
        let before = bench.lastPosition
        bench.say("two")
        await bench.untilBanner(says: "two")
        bench.server.act(as: "alice", [.markRead(BannerBench.withBob, upTo: before)])
        await bench.until { (try? $0.kit?.client.unreadCount(of: BannerBench.withBob)) == 1 }
        await bench.settle()
        #expect(bench.banners.map(\.texts) == [["Bob", "two"]])
        bench.server.act(as: "alice", [.markRead(BannerBench.withBob, upTo: bench.lastPosition)])
        await bench.until { $0.banners.isEmpty }
        #expect(bench.banners == [])
    }

    @Test func `stays a millisecond to a day, whatever the app has chosen`() async {
        let bench = await BannerBench()
        let chosen: [Int64: Int64] = [0: 1, -5: 1, 1: 1, 86_400_000: 86_400_000, .max: 86_400_000]
        for (time, stays) in chosen {
            bench.presenter?.millisecondsShown = time
            #expect(bench.presenter?.millisecondsShown == stays)
        }
    }

    @Test func `goes with the app's stay in front, and with the person`() async {
        let bench = await BannerBench()
        bench.say("one")
        await bench.untilBanner(says: "one")
        await bench.phone.home()
        #expect(bench.presenter?.current == nil)
        await bench.phone.launch()
        await bench.until { $0.kit?.client.connectionStatus == .connected }
        #expect(bench.banners == [])
        bench.say("two")
        await bench.untilBanner(says: "two")
        await bench.phone.inApp { @MainActor in await bench.kit?.client.signOut() }
        await bench.until { $0.banners.isEmpty }
        #expect(bench.banners == [])
    }

    @Test func `speaks Chinese where the app does`() async {
        let bench = await BannerBench(language: "zh-Hans-CN")
        bench.say("吃饭吗？")
        await bench.untilBanner(says: "吃饭吗？")
        #expect(bench.banners.map(\.hint) == ["打开会话"])
        #expect(bench.banners.map(\.actions) == [[.tap, .named("关闭")]])
    }

    @Test func `is the app's own view where it has one, and has words of its own`() async {
        final class Card: InAppBannerView {}
        let bench = await BannerBench()
        bench.presenter?.words = InterfaceWords(dismiss: "Weg")
        bench.presenter?.makeView = { Card($0, portrait: $1, words: $2) }
        bench.say("hi")
        await bench.untilBanner(says: "hi")
        #expect(bench.presenter?.current is Card)
        #expect(bench.banners.first?.actions == [.tap, .named("Weg")])
        #expect(bench.banners.first?.hint == "Opens the conversation")
    }
}

@MainActor @Suite struct `The view of a banner` {
    private let banner = InAppBanner(
        text: AlertText(title: "Bob", subtitle: "Lunch", body: "At one?"), userInfo: .object(JSONObject([])))

    @Test func `follows text size, appearance and direction of writing`() {
        let view = InAppBannerView(self.banner, portrait: nil, words: .english)
        let labels = [view.titleLabel, view.subtitleLabel, view.textLabel]
        #expect(labels.map(\.text) == ["Bob", "Lunch", "At one?"])
        #expect(labels.map(\.font) == [.headline, .subheadline, .subheadline].map { .preferredFont(forTextStyle: $0) })
        #expect(labels.allSatisfy { $0.adjustsFontForContentSizeCategory && $0.textAlignment == .natural })
        #expect(labels.allSatisfy { $0.textColor == .label })
        #expect(view.backgroundColor == .secondarySystemBackground)
        #expect(view.accessibilityLabel == "Bob, Lunch, At one?")
        #expect(view.accessibilityTraits == .button)
        let edges = view.constraints.map(\.firstAttribute)
        #expect([.leading, .trailing, .top, .bottom].allSatisfy(edges.contains))
    }

    @Test func `hides its portrait without a conflict of widths`() {
        let view = InAppBannerView(self.banner, portrait: nil, words: .english)
        let width = view.portraitView.constraints.first { $0.secondItem == nil && $0.firstAttribute == .width }
        #expect(width?.priority == UILayoutPriority(999))
    }

    @Test func `leaves out what is empty, and a portrait that is no image`() {
        var bare = self.banner
        bare.text = AlertText(body: "hi")
        let view = InAppBannerView(bare, portrait: Data("<svg></svg>".utf8), words: .english)
        #expect(view.titleLabel.isHidden && view.subtitleLabel.isHidden && view.portraitView.isHidden)
        #expect(!view.textLabel.isHidden)
        #expect(view.accessibilityLabel == "hi")
    }

    @Test func `tells its owner of taps and of being sent away`() {
        var heard: [String] = []
        let view = InAppBannerView(self.banner, portrait: nil, words: .english)
        view.onOpen = { heard.append("open") }
        view.onDismiss = { heard.append("away") }
        view.sendActions(for: .touchUpInside)
        #expect(view.accessibilityPerformEscape())
        #expect(heard == ["open", "away"])
        view.onDismiss = nil
        #expect(!view.accessibilityPerformEscape(), "VoiceOver is not told of what did not happen")
        #expect(view.accessibilityCustomActions?.map { $0.actionHandler?($0) } == [false])
    }

    @Test(arguments: [
        ("en", "Dismiss"), ("de", "Dismiss"), ("zh", "关闭"), ("zh-Hans-CN", "关闭"), ("ZH-hant", "关闭"), ("", "Dismiss"),
        ("zhx", "Dismiss"),
    ])
    func `has words in the language of a tag`(tag: String, word: String) {
        #expect(InterfaceWords.words(for: tag).dismiss == word)
    }
}

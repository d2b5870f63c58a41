import ClientCore
import PhoneCore
import SDKTestSupport
import ServerCore
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsUI

@MainActor @Suite(.serialized) struct `The list of conversations` {
    private let team = ConversationBench.team

    @Test(arguments: [15, 26])
    func `shows names, messages and how many are unread, the newest first, as they come`(system: Int) async {
        let bench = await ConversationBench(osVersion: OSVersion(system))
        await bench.showList()
        #expect(bench.texts.contains("No conversations yet"))
        #expect(bench.title == "Chats")
        bench.say("Lunch?")
        bench.say("At one?")
        bench.say("Hello", from: "carol")
        await bench.until { $0.lines == [["Carol", "Hello", "1"], ["Bob", "At one?", "2"]] }
        #expect(bench.lines == [["Carol", "Hello", "1"], ["Bob", "At one?", "2"]])
        #expect(!bench.texts.contains("No conversations yet"))
        #expect(bench.badge("First") == "3")
        let spoken = bench.rowNodes.last?.label ?? ""
        #expect(spoken.hasPrefix("Bob, 2 unread, At one?, "))
        #expect(bench.rowNodes.last?.hint == "Opens the conversation")
    }

    @Test func `opens a conversation by a tap, and has less unread when the person comes back`() async {
        let bench = await ConversationBench()
        await bench.showList()
        bench.say("Lunch?")
        await bench.until(reads: "Lunch?")
        #expect(await bench.tap("Bob"))
        await bench.until { $0.title == "Bob" }
        #expect(bench.title == "Bob")
        #expect(await bench.tap("back"))
        await bench.until { $0.lines == [["Bob", "Lunch?"]] }
        #expect(bench.lines == [["Bob", "Lunch?"]])
        #expect(bench.badge("First") == nil)
    }

    @Test func `says who wrote in a group, and that a draft waits`() async throws {
        let bench = await ConversationBench()
        bench.makeTeam()
        bench.say("All here?", from: "carol", to: self.team)
        await bench.showList()
        await bench.until { $0.lines == [["Our team", "Carol: All here?", "1"]] }
        #expect(bench.lines == [["Our team", "Carol: All here?", "1"]])
        try bench.client?.setDraft("Dear all", for: self.team)
        await bench.until { $0.lines == [["Our team", "[Draft] Dear all", "1"]] }
        #expect(bench.lines == [["Our team", "[Draft] Dear all", "1"]])
    }

    @Test func `pins, mutes, reads and hides by a swipe`() async throws {
        let bench = await ConversationBench()
        await bench.showList()
        bench.say("one")
        bench.say("two", from: "carol")
        await bench.until(lists: ["Carol", "Bob"])
        #expect(await bench.touch("Bob", .swipe(.right)))
        #expect(await bench.tap("Pin"))
        await bench.until(lists: ["Bob", "Carol"])
        #expect(bench.firsts == ["Bob", "Carol"])
        #expect(bench.rowNodes.first?.label?.hasSuffix("Pinned") == true)

        #expect(await bench.touch("Carol", .swipe(.left)))
        #expect(await bench.tap("Mute"))
        await bench.until { $0.rowNodes.last?.label?.hasSuffix("Muted") == true }
        #expect(try bench.client?.notificationLevel(of: ConversationID(type: .direct, target: "carol")) == .blocked)
        await bench.until { $0.badge("First") == "1" }
        #expect(bench.badge("First") == "1", "what is muted does not count")

        // As VoiceOver offers it.
        #expect(await bench.choose("Mark as Read", ofRow: "Bob"))
        await bench.until { $0.badge("First") == nil }
        #expect(bench.badge("First") == nil)
        #expect(await bench.choose("Hide", ofRow: "Bob"))
        await bench.until(lists: ["Carol"])
        #expect(bench.firsts == ["Carol"])
        bench.say("back again")
        await bench.until(lists: ["Bob", "Carol"])
        #expect(bench.firsts == ["Bob", "Carol"])
    }

    @Test func `has a menu on a row, in Chinese too`() async throws {
        let bench = await ConversationBench(language: "zh-Hans")
        await bench.showList()
        #expect(bench.title == "消息" && bench.texts.contains("还没有会话"))
        bench.say("吃饭吗？")
        await bench.until(reads: "吃饭吗？")
        #expect(await bench.touch("Bob", .longPress))
        let menu = bench.nodes.flatMap { $0.all(.menu) }.last?.texts
        #expect(menu == ["标为已读", "置顶", "免打扰", "不显示"])
        #expect(await bench.tap("免打扰"))
        await bench.until { $0.rowNodes.first?.label?.hasSuffix("已免打扰") == true }
        #expect(bench.rowNodes.first?.label?.hasPrefix("Bob, 1 条未读, 吃饭吗？, ") == true)
        #expect(await bench.choose("取消免打扰", ofRow: "Bob"))
        await bench.until { $0.rowNodes.first?.label?.hasSuffix("已免打扰") == false }
        #expect(try bench.client?.notificationLevel(of: ConversationBench.withBob) == .all)
    }

    @Test func `says that there is no connection, and lists all the same`() async {
        let bench = await ConversationBench()
        bench.say("Lunch?")
        await bench.showList()
        await bench.until(lists: ["Bob"])
        bench.server.setNetwork(.refuses)
        await bench.until { $0.firsts == ["No connection. Trying again…", "Bob"] }
        #expect(bench.firsts == ["No connection. Trying again…", "Bob"])
        bench.server.setNetwork(.works)
        await bench.advance(by: 60_000)
        await bench.until(lists: ["Bob"])
        #expect(bench.firsts == ["Bob"])
    }

    @Test func `asks whether the person comes in where somebody invites them`() async throws {
        let bench = await ConversationBench()
        await bench.showList()
        try bench.client?.setMayBeAdded(by: .nobody)
        await bench.until { _ in
            bench.server.requests.contains { if case .setPersonSettings = $0 { true } else { false } }
        }
        for name in ["red", "blue"] {
            bench.request(
                .change(
                    ConversationID(type: .group, target: name), .create(name: name, portrait: nil, members: ["alice"])),
                as: "bob")
        }
        await bench.until { Set($0.firsts) == ["red", "blue"] }
        #expect(bench.lines == [["red", "Bob invites you"], ["blue", "Bob invites you"]])
        #expect(await bench.tap("red"))
        #expect(bench.alert == ["red", "Bob invites you", "Accept", "Decline", "Cancel"])
        #expect(await bench.tap("Decline"))
        await bench.until(lists: ["blue"])
        #expect(bench.firsts == ["blue"])
        #expect(await bench.tap("blue"))
        #expect(await bench.tap("Accept"))
        await bench.until { $0.title == "Our blue" }
        #expect(bench.title == "Our blue", "the screen of the group")
        #expect(await bench.tap("back"))
        await bench.until { $0.firsts.isEmpty }
        #expect(bench.firsts == [])
    }

    @Test func `says what did not work`() async throws {
        let bench = await ConversationBench()
        try bench.client?.setMayBeAdded(by: .nobody)
        await bench.settle()
        let red = ConversationID(type: .group, target: "red")
        bench.request(.change(red, .create(name: "red", portrait: nil, members: ["alice"])), as: "bob")
        await bench.showList()
        await bench.until(lists: ["red"])
        bench.server.setNetwork(.refuses)
        await bench.settle()
        #expect(await bench.tap("red"))
        #expect(await bench.tap("Accept"))
        await bench.until { $0.alert.first == "There is no connection" }
        #expect(bench.alert == ["There is no connection", "OK"])
    }

    @Test func `asks for names anew, of rows that stand there and of a conversation opened from one`() async {
        let bench = await ConversationBench()
        bench.say("Hi")
        await bench.showList()
        await bench.until(lists: ["Bob"])
        #expect(await bench.tap("Bob"))
        await bench.until { $0.title == "Bob" }
        let interface = bench.interface
        let rename: (String) async -> Void = { name in
            _ = await bench.inApp {
                interface?.kit.userInfoProvider = People(names: ["bob": name])
                interface?.forgetNames()
            }
        }
        await rename("Robert")
        await bench.until { $0.title == "Robert" }
        #expect(bench.title == "Robert")
        #expect(await bench.tap("back"))
        await bench.until(lists: ["Robert"])
        #expect(bench.firsts == ["Robert"])
        await rename("Rob")
        await bench.until(lists: ["Rob"])
        #expect(bench.firsts == ["Rob"])
    }

    @Test func `makes rows as they come into view, however many there are`() async {
        let bench = await ConversationBench()
        for number in 1...130 { bench.say("hi", from: UserID("p\(1_000 + number)")) }
        await bench.showList()
        await bench.until { $0.firsts.first == "P1130" }
        #expect(bench.rows.count < 20)
        for _ in 1...3 {
            while await bench.phone.touch("tidings.conversations", .scroll(.down)) {}
            await bench.settle()
        }
        #expect(bench.firsts.last == "P1001")
    }

    @Test func `shows on its tab what is unread before anybody has looked at it`() async {
        let bench = await ConversationBench()
        bench.say("Lunch?")
        let app = bench.app
        _ = await bench.inApp {
            guard let window = app?.window, let interface = app?.interface else { return }
            let first = UIViewController()
            first.tabBarItem = UITabBarItem(title: "First", image: nil, tag: 0)
            let list = UINavigationController(rootViewController: ConversationListViewController(interface: interface))
            list.tabBarItem = UITabBarItem(title: "Chats", image: nil, tag: 1)
            let tabs = UITabBarController()
            tabs.viewControllers = [first, list]
            window.rootViewController = tabs
        }
        await bench.until { $0.badge("Chats") == "1" }
        #expect(bench.badge("Chats") == "1")
        bench.say("At one?")
        await bench.until { $0.badge("Chats") == "2" }
        #expect(bench.badge("Chats") == "2")
        let tabs = bench.app?.window?.rootViewController as? UITabBarController
        let list = (tabs?.viewControllers?.last as? UINavigationController)?.viewControllers.first
        #expect(list?.isViewLoaded == false)
        #expect(await bench.tap("Chats"))
        await bench.until(lists: ["Bob"])
        #expect(bench.firsts == ["Bob"])
    }

    @Test func `yields where a stack hides portrait or badge`() {
        let cell = ConversationCell(style: .default, reuseIdentifier: nil)
        var views = [cell.contentView as UIView]
        var constraints: [NSLayoutConstraint] = []
        while let view = views.popLast() {
            views += view.subviews
            constraints += view.constraints
        }
        let width = constraints.filter { $0.firstItem === cell.portraitView && $0.firstAttribute == .width }
        #expect(width.map(\.priority.rawValue) == [999])
        let badge = constraints.filter { $0.firstItem === cell.badgeLabel && $0.firstAttribute == .trailing }
        #expect(badge.map(\.priority.rawValue) == [999])
    }

    @Test func `shows nothing of a person who has signed out`() async {
        let bench = await ConversationBench()
        bench.say("Lunch?")
        await bench.showList()
        await bench.until(lists: ["Bob"])
        let client = bench.client
        _ = await bench.inApp { await client?.signOut() }
        await bench.until { $0.firsts == ["Not connected"] }
        #expect(bench.firsts == ["Not connected"])
        #expect(bench.badge("First") == nil)
    }

    @Test func `is the app's own where a subclass says otherwise`() async {
        final class Cell: ConversationCell {}
        final class List: ConversationListViewController {
            var opened: [ConversationID] = []
            override var cellClass: ConversationCell.Type { Cell.self }
            override func didSelect(_ item: ConversationSummary) { self.opened.append(item.conversation) }
            override func willShow(_ items: [ConversationSummary]) -> [ConversationSummary] {
                items.filter { $0.conversation.target != "carol" }
            }
        }
        let bench = await ConversationBench { $0.conversationTypes = [.direct] }
        bench.makeTeam()
        bench.say("all", to: self.team)
        bench.say("hi")
        bench.say("ho", from: "carol")
        await bench.show { List(interface: $0) }
        await bench.until(lists: ["Bob"])
        #expect(bench.firsts == ["Bob"])
        #expect(await bench.tap("Bob"))
        let tabs = bench.app?.window?.rootViewController as? UITabBarController
        let list = (tabs?.selectedViewController as? UINavigationController)?.topViewController as? List
        #expect(list?.opened == [ConversationBench.withBob])
        #expect(list?.tableView.cellForRow(at: IndexPath(row: 0, section: 0)) is Cell)
    }
}

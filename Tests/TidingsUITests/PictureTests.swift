import Foundation
import PhoneCore
import SDKTestSupport
import ServerCore
import Testing
import TidingsModel
import UIKit

@testable import PhoneTerminal
@testable import TidingsUI
@testable import VirtualPhone

/// The pictures in docs/testing/phone-screen.md: the SDK's own screens, as `tidings phone` draws them in a terminal of 120×28.
///
/// `TIDINGS_WRITE_DOCS=1` writes them; otherwise they are compared.
@MainActor @Suite(.serialized) struct `A picture of the SDK's screens` {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/testing/phone-screen.md")
    private static let begin = "<!-- pictures of the screens -->\n"
    private static let end = "<!-- end of the pictures -->\n"

    @Test func `stands on the page of the virtual phone`() async throws {
        let bench = await Story.bench()
        try await Story.showList(bench)
        let list = Self.picture(of: bench)
        await Story.showChat(bench)
        let chat = Self.picture(of: bench)
        #expect(bench.phone.faults == [])
        let pictures = "```text\n\(list)\n```\n\n```text\n\(chat)\n```\n"

        var page = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(page.range(of: Self.begin))
        let end = try #require(page.range(of: Self.end))
        if ProcessInfo.processInfo.environment["TIDINGS_WRITE_DOCS"] == "1" {
            page.replaceSubrange(begin.upperBound..<end.lowerBound, with: pictures)
            try page.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(
                page[begin.upperBound..<end.lowerBound] == pictures,
                """
                The screens look otherwise than in docs/testing/phone-screen.md. If they should: run this test with \
                TIDINGS_WRITE_DOCS=1 and read what it has written there.
                """)
        }
    }

    /// What the terminal shows of the phone and its trace.
    private static func picture(of bench: ConversationBench) -> String {
        let phone = bench.phone
        let app: JSONMembers = ["state": phone.state()?.rawValue]
        var screen = phone.screen.members { _ in [] }
        screen += ["apps": [ConversationBench.bundle.rawValue: app] as JSONMembers]
        var snapshot = PhoneSnapshot(screen: screen.json)
        snapshot.views = bench.nodes
        var machine = TerminalMachine(size: TerminalSize(columns: 120, rows: 28))
        _ = machine.handle(.refreshed(snapshot))
        for record in phone.trace { _ = machine.handle(.traced(PhoneTraceLine(record.json))) }
        return PhoneView(title: "alice  iOS \(phone.osVersion)").frame(of: machine).lines.joined(separator: "\n")
    }
}

/// What has happened to alice by Wednesday, 4 November 2026, 9:42.
@MainActor private enum Story {
    private static let midnight: Int64 = 1_793_750_400_000
    private static let alice: UserID = "alice"
    private static let toAlice = ConversationID(type: .direct, target: "alice")
    private static let withBob = ConversationBench.withBob
    private static let withCarol = ConversationID(type: .direct, target: "carol")
    private static let family = ConversationID(type: .group, target: "family")
    private static let climbers = ConversationID(type: .group, target: "climbers")

    static func bench() async -> ConversationBench {
        let names = ["climbers": "周末爬山群", "family": "Family", "hong": "小红"]
        let bench = await ConversationBench(
            people: People(names: names), wall: Self.time(0, 9, 42), history: { Self.happen($0) })
        if let interface = bench.interface {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
            interface.times = ChatTimes(
                words: interface.words, calendar: calendar, locale: Locale(identifier: "en_GB"))
        }
        return bench
    }

    static func showList(_ bench: ConversationBench) async throws {
        try bench.client?.setPinned(true, for: Self.family)
        try bench.client?.setNotificationLevel(.blocked, for: Self.climbers)
        try bench.client?.setDraft("Two nights would be enough", for: Self.withCarol)
        await Self.leaveAndComeBack(bench)
        await bench.show(tabs: ("Chats", "Settings")) { interface in
            let list = ConversationListViewController(interface: interface)
            let item = UIBarButtonItem(systemItem: .compose, primaryAction: UIAction { _ in })
            item.accessibilityLabel = "New Chat"
            list.navigationItem.rightBarButtonItem = item
            return list
        }
        await bench.until { $0.firsts.first == "Family" && $0.badge("Chats") == "5" }
        await bench.until { $0.texts.contains { $0.hasPrefix("小红: ") } && $0.texts.contains { $0.hasPrefix("Mum: ") } }
        await bench.settle()
        #expect(bench.firsts == ["Family", "Bob", "周末爬山群", "Carol", "Dave"])
    }

    static func showChat(_ bench: ConversationBench) async {
        await bench.tap("Bob")
        await bench.until { $0.title == "Bob" && $0.texts.contains("Read") }
        await bench.write("I will ask Carol whether she knows somebody who has one")
        await bench.until(reads: "Sent")
        await bench.touch("tidings.input", .enter("Where do we meet?"))
        await bench.until { $0.server.unread(of: Self.alice).count == 2 }
        await bench.settle()
    }

    /// Asks for notifications, and goes home for the badge. How many milliseconds it takes to connect is not the same each time, but
    /// it is less than a second.
    private static func leaveAndComeBack(_ bench: ConversationBench) async {
        await bench.advance(by: 1_000 - bench.phone.elapsedMilliseconds % 1_000)
        let interface = bench.interface
        _ = await bench.inApp { await interface?.kit.registerForNotifications() }
        await bench.phone.home()
        for _ in 1...1_000 where bench.phone.screen.badges.isEmpty { await bench.advance(by: 0) }
        await bench.phone.launch()
    }

    // MARK: Before the launch

    /// - Parameter day: 0 is Wednesday.
    private static func time(_ day: Int64, _ hour: Int64, _ minute: Int64) -> Int64 {
        Self.midnight + ((day * 24 + hour) * 60 + minute) * 60_000
    }

    private static func happen(_ bench: ConversationBench) {
        func at(_ day: Int64, _ hour: Int64, _ minute: Int64) {
            bench.clock.advance(by: Self.time(day, hour, minute) - bench.clock.now.wall)
        }
        func read(_ conversation: ConversationID, by person: UserID = Self.alice) {
            let newest = bench.server.log(of: person).last?.position ?? 0
            bench.server.act(as: person, [.markRead(conversation, upTo: newest)])
        }
        func make(_ group: ConversationID, by owner: UserID) {
            let members = [Self.alice, "bob", "carol"]
            bench.request(.change(group, .create(name: group.target, portrait: nil, members: members)), as: owner)
        }
        at(-7, 12, 5)
        Self.post(.image(.init(url: "https://dave.example.com/hut.jpg")), "dave", Self.toAlice, bench)
        read(ConversationID(type: .direct, target: "dave"))
        at(-2, 16, 20)
        bench.say("Shall I book the cabin?", from: "carol")
        read(Self.withCarol)
        at(-1, 18, 30)
        bench.say("Are you coming to the lake on Sunday?")
        read(Self.withBob)
        at(-1, 18, 32)
        bench.say("Yes! Who else?", from: Self.alice, to: Self.withBob)
        read(Self.toAlice, by: "bob")
        at(-1, 20, 14)
        make(Self.climbers, by: "hong")
        for number in 1...11 { bench.say("第\(number)个人报名了", from: "hong", to: Self.climbers) }
        bench.say("明天早上七点半在南门集合，记得带够水和雨衣", from: "hong", to: Self.climbers)
        at(0, 8, 15)
        make(Self.family, by: "mum")
        bench.say("Grandpa is well again", from: "mum", to: Self.family)
        bench.say("Dinner on Sunday at seven?", from: "mum", to: Self.family)
        at(0, 9, 31)
        bench.say("Carol, and maybe Dave with a friend. This is the boat that we can have for the whole afternoon:")
        Self.post(
            .image(.init(url: "https://bob.example.com/boat.jpg", thumbnail: People.png.base64EncodedString())), "bob",
            Self.toAlice, bench)
        read(Self.withBob)
        at(0, 9, 34)
        let small = Self.post(.text("It looks small for five of us"), Self.alice, Self.withBob, bench)
        read(Self.toAlice, by: "bob")
        at(0, 9, 40)
        Self.post(.reply("You are right 😅", to: MessageQuote(of: small)), "bob", Self.toAlice, bench)
        bench.say("老王那里也许还有一条大一点的船")
        bench.say("Do you know anybody who has one?")
    }

    @discardableResult
    private static func post(
        _ content: MessageContent, _ sender: UserID, _ conversation: ConversationID, _ bench: ConversationBench
    ) -> Message {
        let draft = MessageDraft(
            clientMessageID: ClientMessageID("p\(bench.clock.now.wall)"), conversation: conversation,
            objectName: content.objectName, content: content.json)
        bench.server.request(.send(UserKey(app: ServerTransport.app, user: sender), draft))
        guard case .message(let message)? = bench.server.log(of: Self.alice).last?.body else {
            preconditionFailure("the server does not write a message at once")
        }
        return message
    }
}

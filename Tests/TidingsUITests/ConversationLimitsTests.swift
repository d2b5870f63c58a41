import ClientCore
import Foundation
import SDKTestSupport
import ServerCore
import Synchronization
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsKit
@testable import TidingsUI

@MainActor @Suite(.serialized) struct `A conversation of which much is told at once` {
    private let withBob = ConversationBench.withBob
    private let lobby = ConversationBench.lobby

    private func openLobby(_ bench: ConversationBench) async {
        bench.server.request(
            .request(
                ServerTransport.app, actor: nil,
                .change(self.lobby, .create(name: "Lobby", portrait: nil, members: ["bob"]))))
        await bench.open(self.lobby)
        let lobby = self.lobby
        await bench.until { $0.server.requests.contains(.enterRoom(lobby, history: 20)) }
        bench.say("r0", to: self.lobby)
        await bench.until(reads: "r0")
    }

    @Test func `has all of it, also what fell out of the client's stream`() async {
        let bench = await ConversationBench(streamElementsMax: 5)
        bench.say("before")
        await bench.open(self.withBob)
        await bench.until(reads: "before")
        let gaps = Seen()
        let stream = bench.client?.streamGaps
        let follower = Task { if let stream { for await gap in stream { gaps.streams.insert(gap) } } }
        await bench.settle()
        var last = MessageID(rawValue: 0)
        for number in 1...60 { last = bench.say("m\(number)") }
        bench.holdApp(until: last)
        await bench.until { $0.screen?.messages.count == 61 }
        #expect(bench.screen?.messages.compactMap(\.text) == ["before"] + (1...60).map { "m\($0)" })
        await bench.until { _ in gaps.streams.contains(.logEntries) }
        #expect(gaps.streams.contains(.logEntries))
        follower.cancel()
    }

    @Test func `enters a room again where messages fell out of its stream`() async {
        let bench = await ConversationBench(streamElementsMax: 5)
        await self.openLobby(bench)
        for number in 1...60 { bench.say("r\(number)", to: self.lobby) }
        // Told after all of them.
        bench.holdApp(until: bench.say("Lunch?"))
        let lobby = self.lobby
        await bench.until { $0.server.requests.count { $0 == .enterRoom(lobby, history: 20) } == 2 }
        await bench.until { $0.screen?.messages.first?.text == "r41" && $0.screen?.messages.count == 20 }
        #expect(bench.screen?.messages.compactMap(\.text) == (41...60).map { "r\($0)" })
    }

    @Test func `keeps the newest of a room alone`() async {
        let bench = await ConversationBench()
        await self.openLobby(bench)
        for number in 1...520 { bench.say("r\(number)", to: self.lobby) }
        await bench.until(reads: "r520")
        await bench.until { $0.screen?.messages.count == 500 }
        #expect(bench.screen?.messages.compactMap(\.text) == (21...520).map { "r\($0)" })
        #expect(bench.screen?.log.hasEarlierOnServer == true)
    }

    @Test func `loads earlier messages after a scroll, not in it`() async {
        let bench = await ConversationBench()
        for number in 1...60 { bench.say("m\(number)") }
        await bench.until { (try? $0.client?.history(conversation: ConversationBench.withBob, limit: 99).count) == 60 }
        try? bench.client?.markRead(self.withBob)
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        await bench.open(self.withBob)
        let screen = bench.screen
        let before = screen?.messages.count
        let during = await bench.inApp {
            screen?.tableView.contentOffset = .zero
            return screen?.messages.count
        }
        #expect(during == .some(before) && before != 60)
        await bench.until { _ in screen?.messages.count == 60 }
        #expect(screen?.messages.count == 60)
    }
}

@MainActor private final class Seen {
    var streams: Set<ClientStream> = []
}

@MainActor @Suite(.serialized) struct `What a conversation's screen asks of the server` {
    private let withBob = ConversationBench.withBob
    private let team = ConversationBench.team

    @Test func `is ended by the last of its screens`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.until { $0.server.requests.contains(.watch(["bob"])) }
        let (client, interface) = (bench.client, bench.interface)
        // As in another window.
        let other = await bench.inApp {
            let other = ConversationViewController(type: .direct, target: "bob", title: "Mine", interface: interface)
            _ = other.view
            other.viewWillAppear(false)
            other.viewDidAppear(false)
            return other
        }
        await bench.settle()
        _ = await bench.inApp { other?.viewWillDisappear(false) }
        await bench.settle()
        #expect(!bench.server.requests.contains(.unwatch(["bob"])))
        #expect(client?.activeConversation == self.withBob)
        await bench.signIn("alice")
        await bench.until { _ in other?.title == "Mine" }
        #expect(other?.title == "Mine", "the title that the app has given")
        await bench.back()
        await bench.until { $0.server.requests.contains(.unwatch(["bob"])) }
        #expect(bench.server.requests.contains(.unwatch(["bob"])))
        #expect(client?.activeConversation == nil)
    }

    @Test func `is once of each own message in a group who has read it`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        for number in 1...20 { bench.say("m\(number)", from: "alice", to: self.team) }
        let head = bench.server.log(of: "bob").last?.position ?? 0
        bench.server.act(as: "bob", [.markRead(self.team, upTo: head)])
        let team = self.team
        await bench.until { (try? $0.client?.history(conversation: team, limit: 99).count) == 20 }
        await bench.open(self.team)
        await bench.until { $0.row("m12")?.value == "Read by 1 of 2" }
        #expect(bench.row("m20")?.value == "Read by 1 of 2" && bench.row("m12")?.value == "Read by 1 of 2")
        for _ in 1...5 where bench.row("m1") == nil { await bench.touch("tidings.messages", .scroll(.up)) }
        await bench.until { $0.row("m1")?.value == "Read by 1 of 2" }
        #expect(bench.row("m1")?.value == "Read by 1 of 2")
        let asked = bench.server.requests.compactMap { if case .receipts(let message) = $0 { message } else { nil } }
        #expect(asked.count == Set(asked).count && asked.count <= 20)
    }

    @Test func `takes unsent messages from a file that can be read only later, and has not written over it`()
        async throws
    {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.writeUnsent("First")
        let file = try #require(try bench.client?.screensFolder()).appendingPathComponent("outgoing.json")
        let kept = try Data(contentsOf: file)
        bench.person = nil
        await bench.restart()
        let (client, interface) = (bench.client, bench.interface)
        _ = await bench.inApp {
            interface?.outgoing.readFile = { _ in throw CocoaError(.fileReadNoPermission) }
            Task { try await client?.connect(userID: "alice", token: "alice") }
        }
        await bench.until { $0.client?.userID != nil }
        await bench.open(self.withBob)
        await bench.write("Second")
        await bench.until { $0.row("Second") != nil }
        #expect(bench.row("Second") != nil && bench.row("First") == nil)
        #expect(try Data(contentsOf: file) == kept)
        #expect(client?.storeFault != nil)
        _ = await bench.inApp { interface?.outgoing.readFile = { try Data(contentsOf: $0) } }
        bench.server.setNetwork(.works)
        await bench.advance(by: 5_000)
        await bench.until { $0.server.log(of: "bob").count == 2 && $0.row("First")?.value == "Sent" }
        #expect(bench.server.log(of: "bob").count == 2)
        #expect(bench.rows.count { $0.contains("First") } == 1 && bench.rows.count { $0.contains("Second") } == 1)
        #expect(try Data(contentsOf: file) == Data("[]".utf8))
    }
}

@MainActor @Suite(.serialized) struct `The parts of a conversation's screen` {
    private let withBob = ConversationBench.withBob

    @Test func `keep the newest message above the keyboard, and what a person reads where it is`() async {
        let bench = await ConversationBench()
        for number in 1...60 { bench.say("m\(number)") }
        await bench.until { (try? $0.client?.history(conversation: ConversationBench.withBob, limit: 99).count) == 60 }
        await bench.open(self.withBob)
        #expect(bench.texts.contains("m60"))
        let screen = bench.screen
        func changeHeight(by points: CGFloat) async {
            _ = await bench.inApp {
                // As if the table had had another height.
                screen?.tableHeight = 0
                screen?.tableView.contentOffset.y -= points
                screen?.view.setNeedsLayout()
                screen?.view.layoutIfNeeded()
            }
        }
        await changeHeight(by: 300)
        #expect(bench.texts.contains("m60"))
        for _ in 1...2 { await bench.touch("tidings.messages", .scroll(.up)) }
        let rows = bench.rows
        await changeHeight(by: 0)
        #expect(bench.rows == rows && !bench.texts.contains("m60"))
    }

    @Test func `prompt for a text while there is none, and scroll a long one`() {
        let bar = InputBar(words: .english)
        let prompt = bar.subviews.compactMap { $0 as? UILabel }.first
        func isTall() -> Bool {
            self.constraints(below: bar).contains { $0.firstItem === bar.textView && $0.firstAttribute == .height }
        }
        #expect(prompt?.text == "Message" && prompt?.isHidden == false)
        bar.text = "Hi"
        #expect(prompt?.isHidden == true && !bar.textView.isScrollEnabled && !isTall())
        bar.text = String(repeating: "a\n", count: 9)
        #expect(prompt?.isHidden == true && bar.textView.isScrollEnabled && isTall())
        bar.text = ""
        #expect(prompt?.isHidden == false && !bar.textView.isScrollEnabled && !isTall())
        bar.show(notice: "You may not write here")
        #expect(prompt?.isHidden == true)
    }

    @Test func `yield where a stack hides a portrait or a picture`() {
        let cells: [(MessageCell, Int)] = [
            (TextMessageCell(style: .default, reuseIdentifier: nil), 1),
            (ImageMessageCell(style: .default, reuseIdentifier: nil), 2),
        ]
        for (cell, count) in cells {
            let widths = self.constraints(below: cell.contentView).filter {
                $0.firstItem is UIImageView && $0.firstAttribute == .width
            }
            #expect(widths.map(\.priority.rawValue) == Array(repeating: 999, count: count))
        }
    }

    private func constraints(below view: UIView) -> [NSLayoutConstraint] {
        view.constraints + view.subviews.flatMap { self.constraints(below: $0) }
    }

    @Test func `have images no larger than they are shown, and a few at once`() async throws {
        let bench = await ConversationBench()
        let images = try #require(bench.interface?.images)
        let asked = Numbers()
        images.loadWebImage = { _ in People.png }
        images.decode = { data, pixels in
            asked.add(pixels)
            return UIImage(data: data)
        }
        let sources = (1...41).map {
            MessageImages.Source.message(MessageID(rawValue: $0), address: "https://example.com/\($0).png")
        }
        for source in sources { #expect(await images.load(source) != nil) }
        #expect(images.image(at: sources[0]) == nil)
        #expect(sources.dropFirst().allSatisfy { images.image(at: $0) != nil })
        #expect(await images.loadForScreen(sources[0]) != nil)
        #expect(images.image(at: sources[0]) == nil)
        let file = URL(fileURLWithPath: bench.folder).appendingPathComponent("own.png")
        try People.png.write(to: file)
        #expect(await images.load(.file(file)) != nil)
        #expect(asked.all == Array(repeating: 800, count: 41) + [2_732, 800])
    }
}

private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])
    var all: [Int] { self.numbers.withLock { $0 } }
    func add(_ number: Int) { self.numbers.withLock { $0.append(number) } }
}

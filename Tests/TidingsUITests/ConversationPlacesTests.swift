import ClientCore
import Foundation
import PhoneCore
import SDKTestSupport
import ServerCore
import Testing
import TidingsClient
import TidingsModel
import UIKit
import VirtualPhone

@testable import TidingsUI

@MainActor @Suite(.serialized) struct `Groups and chat rooms on the screen` {
    private let team = ConversationBench.team
    private let lobby = ConversationBench.lobby

    @Test func `name who writes, in both a group and a room, once in a row`() async {
        let bench = await ConversationBench(people: People(portraits: ["bob"]))
        bench.makeTeam()
        bench.say("one", to: self.team)
        bench.say("two", to: self.team)
        bench.say("three", from: "carol", to: self.team)
        await bench.open(self.team)
        await bench.until { $0.row("one")?.texts.first == "Bob" && $0.row("three")?.texts.first == "Carol" }
        #expect(bench.row("one")?.texts.first == "Bob")
        #expect(bench.row("two")?.texts.first == "two")
        #expect(bench.row("three")?.texts.first == "Carol")
        #expect(bench.row("two")?.label?.hasPrefix("Bob, two") == true)
        #expect(bench.row("one")?.all(.image).count == 1)
        #expect(bench.row("three")?.all(.image).isEmpty == true)
    }

    @Test func `say how many have read, and who`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        await bench.open(self.team)
        await bench.write("Agreed?")
        await bench.until { $0.row("Agreed?")?.value == "Sent" }
        let head = bench.server.log(of: "bob").last?.position ?? 0
        bench.server.act(as: "bob", [.markRead(self.team, upTo: head)])
        bench.say("Yes", to: self.team)
        await bench.until(reads: "Read by 1 of 2")
        #expect(bench.row("Agreed?")?.value == "Read by 1 of 2")
        #expect(await bench.act("Read By…", on: "Agreed?"))
        await bench.until { $0.nodes.contains { !$0.all(.alert).isEmpty } }
        #expect(bench.nodes.flatMap { $0.all(.alert) }.flatMap(\.texts).contains("Bob"))
        #expect(await bench.tap("OK"))
    }

    @Test func `offer members after an @, and mention who was chosen`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        await bench.open(self.team)
        await bench.until { $0.screen?.inputBar.candidates.map(\.name) == ["Everyone", "Bob", "Carol"] }
        await bench.touch("tidings.input", .enter("@"))
        #expect(["@Everyone", "@Bob", "@Carol"].allSatisfy(bench.texts.contains))
        await bench.touch("tidings.input", .enter("Hi @ca"))
        #expect(bench.texts.contains("@Carol") && !bench.texts.contains("@Bob"))
        #expect(await bench.tap("@Carol"))
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "Hi @Carol ")
        #expect(await bench.tap("Send"))
        await bench.until(reads: "Hi @Carol")
        await bench.until { $0.server.log(of: "carol").contains { if case .message = $0.body { true } else { false } } }
        guard case .message(let sent)? = bench.server.log(of: "carol").last?.body else {
            Issue.record("nothing came")
            return
        }
        #expect(sent.mentions == .users(["carol"]))
    }

    @Test func `say who may not write, in the place of the field`() async {
        let bench = await ConversationBench()
        bench.makeTeam(by: "bob", with: ["alice", "carol"])
        await bench.open(self.team)
        await bench.until { $0.screen?.info != nil }
        bench.server.request(
            .request(ServerTransport.app, actor: nil, .change(self.team, .mute(["alice"], until: nil))))
        await bench.until(reads: "You may not write here")
        #expect(!bench.texts.contains("Send"))
        bench.server.request(.request(ServerTransport.app, actor: nil, .change(self.team, .unmute(["alice"]))))
        await bench.until(readsNo: "You may not write here")
        #expect(bench.texts.contains("Send"))
    }

    @Test func `let an admin recall what somebody else has written`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        bench.say("Spam", to: self.team)
        await bench.open(self.team)
        await bench.until(reads: "Spam")
        await bench.until { $0.screen?.info != nil }
        await bench.settle()
        await bench.touch("Spam", .longPress)
        #expect(await bench.tap("Recall"))
        await bench.until(reads: "You recalled a message")
        #expect(!bench.texts.contains("Edit Again"))
    }

    @Test func `enter a room when they appear, and leave it when they disappear`() async {
        let bench = await ConversationBench()
        bench.server.request(
            .request(
                ServerTransport.app, actor: nil,
                .change(self.lobby, .create(name: "Lobby", portrait: nil, members: ["bob"]))))
        for number in 1...60 { bench.say("r\(number)", to: self.lobby) }
        await bench.open(self.lobby)
        await bench.until(reads: "r60")
        #expect(bench.server.requests.contains(.enterRoom(self.lobby, history: 20)))
        bench.say("live", to: self.lobby)
        await bench.until(reads: "live")
        await bench.write("mine")
        await bench.until { $0.row("mine")?.value == "Sent" }
        #expect(bench.rows.filter { $0.contains("mine") }.count == 1)
        // What was there before is asked of the server.
        for _ in 1...20 where !bench.texts.contains("r30") { await bench.touch("tidings.messages", .scroll(.up)) }
        #expect(bench.texts.contains("r30"))
        await bench.back()
        await bench.until { $0.server.requests.contains(.exitRoom(Self.lobbyRoom)) }
        #expect(bench.server.requests.last == .exitRoom(self.lobby))
        #expect((try? bench.client?.history(conversation: self.lobby))?.isEmpty == true)
    }

    private static let lobbyRoom = ConversationBench.lobby
}

@MainActor @Suite(.serialized) struct `Earlier messages on the screen` {
    private let withBob = ConversationBench.withBob

    @Test func `are loaded at the top, and what is seen stays`() async {
        let bench = await ConversationBench()
        for number in 1...100 { bench.say("m\(number)") }
        await bench.until {
            (try? $0.client?.history(conversation: ConversationBench.withBob, limit: 200).count) == 100
        }
        try? bench.client?.markRead(self.withBob)
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        await bench.open(self.withBob)
        #expect(bench.texts.contains("m100") && !bench.texts.contains("m80"))
        #expect(bench.screen?.messages.count == 30)
        var seen: [String] = []
        for _ in 1...40 {
            let top = bench.rows.first?.first { $0.hasPrefix("m") }
            await bench.touch("tidings.messages", .scroll(.up))
            if let top, bench.rows.flatMap(\.self).contains(top) { seen.append(top) }
            if bench.texts.contains("m1") { break }
        }
        #expect(bench.texts.contains("m1"))
        #expect(seen.count > 8, "each step shows a row of the one before: \(seen)")
        #expect(bench.screen?.messages.count == 100)
    }

    @Test func `are gone to where unread ones begin, with a line above them`() async {
        let bench = await ConversationBench()
        for number in 1...40 { bench.say("m\(number)") }
        await bench.until { (try? $0.client?.history(conversation: ConversationBench.withBob, limit: 200).count) == 40 }
        try? bench.client?.markRead(self.withBob)
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        for number in 41...75 { bench.say("m\(number)") }
        await bench.until { (try? $0.client?.unreadMessageCount()) == 35 }
        await bench.open(self.withBob)
        #expect(bench.texts.contains("m75"))
        #expect(!bench.texts.contains("m41"))
        #expect(await bench.tap("↑ 35 unread"))
        #expect(bench.rows.prefix(2).map(\.first) == ["New messages", "m41"])
        #expect(!bench.texts.contains("↑ 35 unread"))
    }

    @Test func `stay on the screen while new ones come, which a button counts and shows`() async {
        let bench = await ConversationBench()
        for number in 1...60 { bench.say("m\(number)") }
        await bench.until { (try? $0.client?.history(conversation: ConversationBench.withBob, limit: 200).count) == 60 }
        await bench.open(self.withBob)
        await bench.touch("tidings.messages", .scroll(.up))
        await bench.touch("tidings.messages", .scroll(.up))
        let before = bench.rows
        bench.say("new")
        bench.say("newer")
        await bench.until(reads: "↓ 2 new")
        #expect(bench.rows == before)
        #expect((try? bench.client?.unreadMessageCount()) == 2, "what is not seen is not read")
        #expect(await bench.tap("↓ 2 new"))
        #expect(bench.texts.contains("newer"))
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        #expect(!bench.texts.contains("↓ 2 new"))
    }

    @Test func `are read only while the app is in front`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.phone.home()
        bench.say("Away?")
        await bench.until { (try? $0.client?.unreadMessageCount()) == 1 }
        #expect((try? bench.client?.unreadMessageCount()) == 1)
        await bench.phone.launch()
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        #expect(bench.texts.contains("Away?"))
        #expect((try? bench.client?.unreadMessageCount()) == 0)
    }
}

@MainActor @Suite(.serialized) struct `Images on the screen` {
    private let withBob = ConversationBench.withBob
    private static let picture = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) + Data(count: 2_500_000)

    private func file(_ bench: ConversationBench) -> URL {
        let file = URL(fileURLWithPath: bench.folder).appendingPathComponent("picture.png")
        try? Self.picture.write(to: file)
        return file
    }

    private func send(_ file: URL, _ bench: ConversationBench) async {
        let screen = bench.screen
        _ = await bench.inApp { screen?.sendImage(file) ?? () }
        await bench.settle()
    }

    @Test func `are chosen among the phone's photos, sent, and opened`() async {
        let bench = await ConversationBench.opened(self.withBob)
        #expect(await bench.tap("More"))
        #expect(await bench.tap("Photo"))
        #expect(await bench.tap("Photo 1"))
        await bench.until { $0.rowNodes.last?.value == "Sent" }
        #expect(bench.rowNodes.last?.label?.hasPrefix("You, Image, ") == true)
        #expect(bench.media.files.count == 1)
        guard case .message(let sent)? = bench.server.log(of: "bob").last?.body, case .image = sent.typedContent else {
            Issue.record("no image came")
            return
        }
        await bench.until { $0.rowNodes.last?.all(.image).isEmpty == false }
        #expect(bench.rowNodes.last?.all(.image).count == 1)
        #expect(await bench.touch(bench.rowNodes.last?.identifier ?? "", .tap))
        await bench.until { $0.texts.contains("Close") }
        #expect(bench.nodes.flatMap { $0.all(.image) }.contains { $0.label?.hasPrefix("You, Image, ") == true })
        #expect(await bench.tap("Close"))
        #expect(!bench.texts.contains("Close"))
    }

    @Test func `show how far they are sent, and can be given up`() async {
        let bench = await ConversationBench.opened(self.withBob)
        bench.media.hold()
        await self.send(self.file(bench), bench)
        await bench.until { $0.rowNodes.last?.value.map { $0 != "0% sent" && $0.hasSuffix("% sent") } == true }
        #expect(bench.rowNodes.last?.value?.hasSuffix("% sent") == true)
        #expect(await bench.touch(bench.rowNodes.last?.identifier ?? "", .named("Cancel")))
        #expect(bench.rowNodes.isEmpty)
        bench.media.release()
        await bench.until { $0.media.deletedCount == 1 }
        #expect(bench.server.log(of: "bob").isEmpty)
    }

    @Test func `that the server refuses stay, and are sent again by a tap`() async {
        let bench = await ConversationBench.opened(self.withBob)
        bench.media.refuse((413, "media_quota_exceeded"))
        await self.send(self.file(bench), bench)
        await bench.until(reads: "Not sent: The file was not accepted")
        bench.media.refuse(nil)
        #expect(await bench.touch(bench.rowNodes.last?.identifier ?? "", .tap))
        await bench.until { $0.rowNodes.last?.value == "Sent" }
        #expect(bench.rowNodes.count == 2)
        #expect(bench.media.files == [Self.picture])
    }
}

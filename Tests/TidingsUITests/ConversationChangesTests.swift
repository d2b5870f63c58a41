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

@MainActor @Suite(.serialized) struct `An open conversation` {
    private let withBob = ConversationBench.withBob
    private let team = ConversationBench.team

    @Test func `has every message that came while the app was away`() async {
        let bench = await ConversationBench()
        bench.say("before")
        await bench.open(self.withBob)
        await bench.until(reads: "before")
        await bench.phone.home()
        await bench.loseConnection()
        for number in 1...100 { bench.say("m\(number)") }
        bench.server.setNetwork(.works)
        await bench.phone.launch()
        await bench.until(reads: "m100")
        await bench.until { $0.screen?.messages.count == 101 }
        #expect(bench.screen?.messages.compactMap(\.text) == ["before"] + (1...100).map { "m\($0)" })
    }

    @Test func `changes also what the server alone has`() async {
        let bench = await ConversationBench()
        // As if it had come before this device was there.
        bench.server.setScript { script in
            script.change = { frame in
                guard case .entry(var entry) = frame, case .message = entry.body else { return frame }
                entry.body = .unknown
                return .entry(entry)
            }
        }
        let (first, second) = (bench.say("one"), bench.say("two"))
        await bench.settle()
        bench.server.setScript { _ in }
        #expect((try? bench.client?.history(conversation: self.withBob))?.isEmpty == true)
        await bench.open(self.withBob)
        await bench.until(reads: "two")
        bench.server.request(.request(ServerTransport.app, actor: "bob", .recall(first)))
        await bench.until(reads: "Bob recalled a message")
        #expect(!bench.texts.contains("one"))
        bench.server.act(as: "bob", [.request(1, .edit(second, content: MessageContent.text("three").json))])
        await bench.until(reads: "three")
        #expect(bench.row("three")?.texts.contains("Edited") == true && !bench.texts.contains("two"))
    }

    @Test func `asks for names anew, and shows the earlier ones until they are there`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        bench.say("Hi", to: self.team)
        await bench.open(self.team)
        await bench.until { $0.row("Hi")?.texts.first == "Bob" }
        let interface = bench.interface
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        _ = await bench.inApp {
            interface?.kit.userInfoProvider = People(names: ["bob": "Robert"], permits: permits)
            interface?.forgetNames()
        }
        await bench.settle()
        #expect(bench.row("Hi")?.texts.first == "Bob")
        for _ in 1...8 { permit.yield() }
        await bench.until { $0.row("Hi")?.texts.first == "Robert" }
        #expect(bench.row("Hi")?.texts.first == "Robert")
    }

    @Test func `is called as the group is now, and its members as they are there`() async {
        let bench = await ConversationBench()
        let interface = bench.interface
        _ = await bench.inApp { interface?.kit.groupInfoProvider = nil }
        bench.makeTeam()
        bench.say("Hi", to: self.team)
        await bench.open(self.team)
        await bench.until { $0.title == "Team" && $0.row("Hi")?.texts.first == "Bob" }
        bench.server.request(.request(ServerTransport.app, actor: nil, .change(self.team, .rename("Crew"))))
        await bench.until { $0.title == "Crew" }
        #expect(bench.title == "Crew")
        bench.server.request(
            .request(ServerTransport.app, actor: nil, .change(self.team, .setNickname("bob", "Bobby"))))
        await bench.until { $0.row("Hi")?.texts.first == "Bobby" }
        #expect(bench.row("Hi")?.texts.first == "Bobby")
    }

    @Test func `asks the server for many names at once`() async {
        let bench = await ConversationBench()
        let interface = bench.interface
        _ = await bench.inApp { interface?.kit.userInfoProvider = nil }
        bench.client?.usesServerNames = true
        bench.makeTeam()
        await bench.open(self.team)
        await bench.settle()
        let questions = bench.server.requests.compactMap { if case .profiles(let users) = $0 { users } else { nil } }
        #expect(questions.contains { Set($0).isSuperset(of: ["bob", "carol"]) }, "\(questions)")
    }

    @Test func `sends a command that neither counts nor is shown, and nothing that the server would not take`() async {
        let bench = await ConversationBench.opened(self.withBob)
        let screen = bench.screen
        let isSent = await bench.inApp { screen?.send(.command(.init(name: "refresh"))) }
        #expect(isSent == true)
        await bench.until { !$0.server.log(of: "bob").isEmpty }
        guard case .message(let sent)? = bench.server.log(of: "bob").last?.body else {
            Issue.record("nothing came")
            return
        }
        #expect(sent.flags == MessageContent.command(.init(name: "refresh")).defaultFlags)
        #expect(bench.server.unread(of: "bob").count == 0)
        #expect(bench.rowNodes.isEmpty)
        let isTaken = await bench.inApp { screen?.send(.text("")) }
        #expect(isTaken == false)
        #expect(bench.nodes.contains { !$0.all(.alert).isEmpty })
    }

    @Test func `keeps what was refused beside what cannot be read, and images that wait`() async throws {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.writeUnsent("Later")
        let folder = try #require(try bench.client?.screensFolder())
        let file = folder.appendingPathComponent("outgoing.json")
        let kept = try #require(String(data: try Data(contentsOf: file), encoding: .utf8))
        await bench.phone.forceQuit()
        let read = Data((kept.dropLast() + #",{"id":7}]"#).utf8)
        try read.write(to: file)
        let image = folder.appendingPathComponent("nobodys.image")
        try Data([1]).write(to: image)
        await bench.phone.launch()
        await bench.until { $0.client?.userID != nil }
        await bench.open(self.withBob)
        await bench.until(reads: "Later")
        #expect(bench.rows.filter { $0.contains("Later") }.count == 1)
        #expect(bench.client?.storeFault != nil)
        #expect(try Data(contentsOf: folder.appendingPathComponent("unread.outgoing.json")) == read)
        #expect(!FileManager.default.fileExists(atPath: image.path))
    }

    @Test func `mentions in a draft whom it names`() async {
        let bench = await ConversationBench()
        bench.makeTeam()
        await bench.open(self.team)
        await bench.until { $0.screen?.inputBar.candidates.map(\.name) == ["Everyone", "Bob", "Carol"] }
        await bench.touch("tidings.input", .enter("Hi @ca"))
        await bench.tap("@Carol")
        await bench.back()
        await bench.restart()
        await bench.untilConnected()
        await bench.open(self.team)
        await bench.until { $0.screen?.inputBar.mentions == .users(["carol"]) }
        #expect(bench.screen?.inputBar.text == "Hi @Carol ")
        #expect(bench.screen?.inputBar.mentions == .users(["carol"]))
    }
}

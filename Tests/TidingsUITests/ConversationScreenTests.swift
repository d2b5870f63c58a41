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

@MainActor @Suite(.serialized) struct `The screen of a conversation` {
    private let withBob = ConversationBench.withBob

    @Test(.requirement("C0.1")) func `shows what is said, and what becomes of what the person says`() async {
        let bench = await ConversationBench.opened(self.withBob)
        #expect(bench.title == "Bob")
        #expect(bench.texts.contains("No messages yet"))
        bench.say("Lunch?")
        await bench.until(reads: "Lunch?")
        #expect(bench.row("Lunch?")?.label?.hasPrefix("Bob, Lunch?, ") == true)
        #expect(bench.row("Lunch?")?.identifier?.hasPrefix("incoming.") == true)
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        await bench.until { $0.server.unread(of: "alice").count == 0 }
        #expect(bench.server.unread(of: "alice").count == 0)

        await bench.write("At one")
        await bench.until(reads: "Sent")
        #expect(bench.row("At one")?.texts.contains("Sent") == true)
        #expect(bench.row("At one")?.label?.hasPrefix("You, At one, ") == true)
        #expect(bench.row("At one")?.value == "Sent")
        let head = bench.server.log(of: "bob").last?.position ?? 0
        guard case .message(let sent)? = bench.server.log(of: "bob").last?.body else {
            Issue.record("nothing came")
            return
        }
        bench.server.write(.signal(.receipt(self.withBob, "bob", .delivered, upTo: sent.id)), to: "alice")
        await bench.until(reads: "Delivered")
        #expect(bench.row("At one")?.value == "Delivered")
        bench.server.act(as: "bob", [.markRead(ConversationID(type: .direct, target: "alice"), upTo: head)])
        await bench.until(reads: "Read")
        #expect(bench.row("At one")?.value == "Read")
        #expect(bench.rows.filter { $0.contains("At one") }.count == 1)
        #expect(bench.phone.faults == [])
    }

    @Test func `marks an answer as read on a screen that was empty`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.write("Lunch?")
        await bench.until(reads: "Sent")
        bench.say("At one")
        await bench.until(reads: "At one")
        await bench.until { $0.server.unread(of: "alice").count == 0 && (try? $0.client?.unreadMessageCount()) == 0 }
        #expect(bench.server.unread(of: "alice").count == 0)
        #expect((try? bench.client?.unreadMessageCount()) == 0)
    }

    @Test func `marks as read what it shows first together with earlier messages`() async {
        let bench = await ConversationBench.opened(self.withBob)
        let screen = bench.screen
        // As if what was just received were about to be shown.
        _ = await bench.inApp { screen?.rowsAreStale = true }
        bench.say("At one")
        await bench.until { _ in screen?.log.messages.isEmpty == false }
        #expect((try? bench.client?.unreadMessageCount()) == 1)
        _ = await bench.inApp { screen?.renderAbove() }
        await bench.until(reads: "At one")
        #expect((try? bench.client?.unreadMessageCount()) == 0)
    }

    @Test func `speaks Chinese where the app does`() async {
        let bench = await ConversationBench(language: "zh-Hans-CN")
        await bench.open(self.withBob)
        #expect(bench.texts.contains("暂无消息"))
        await bench.touch("tidings.input", .enter("吃饭吗？"))
        await bench.tap("发送")
        await bench.until(reads: "已发送")
        #expect(bench.rows.first == ["今天"])
        #expect(bench.row("吃饭吗？")?.label?.hasPrefix("你, 吃饭吗？, ") == true)
        #expect(bench.row("吃饭吗？")?.value == "已发送")
    }

    @Test func `keeps what was refused, also for the next process, until it is sent again`() async {
        let bench = await ConversationBench.opened(self.withBob)
        bench.server.setScript { script in
            script.answer = { _, frame in
                guard case .send(let draft) = frame else { return nil }
                return [.sendRefused(draft.clientMessageID, .init(code: .blocked, field: "", rule: "blocked"))]
            }
        }
        await bench.write("Hello?")
        let refused = "Not sent: The other person does not accept your messages"
        await bench.until(reads: refused)
        #expect(bench.row("Hello?")?.texts.suffix(2) == [refused, "Try Again"])
        await bench.back()
        await bench.restart()
        await bench.untilConnected()
        await bench.open(self.withBob)
        await bench.until(reads: refused)
        bench.server.setScript { _ in }
        #expect(await bench.tap("Try Again"))
        await bench.until(readsNo: refused)
        await bench.until(reads: "Sent")
        #expect(bench.rows.filter { $0.contains("Hello?") }.count == 1)
        #expect(bench.server.log(of: "bob").count == 1)
    }

    @Test func `sends what was written without a connection, once there is one, also from the next process`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.writeUnsent("Later")
        await bench.restart()
        await bench.open(self.withBob)
        await bench.until(reads: "Waiting for a connection")
        #expect(bench.rows.filter { $0.contains("Later") }.count == 1)
        bench.server.setNetwork(.works)
        await bench.advance(by: 5_000)
        await bench.until(reads: "Sent")
        #expect(bench.rows.filter { $0.contains("Later") }.count == 1)
        #expect(bench.server.log(of: "bob").count == 1)
    }

    @Test func `deletes what was refused, and what is on the server after asking`() async {
        let bench = await ConversationBench()
        bench.say("Old")
        await bench.open(self.withBob)
        await bench.until(reads: "Old")
        bench.server.setScript { script in
            script.answer = { _, frame in
                guard case .send(let draft) = frame else { return nil }
                return [.sendRefused(draft.clientMessageID, .init(code: .blocked, field: "", rule: "blocked"))]
            }
        }
        await bench.write("Hello?")
        await bench.until { $0.row("Hello?")?.texts.contains("Try Again") == true }
        await bench.touch("Hello?", .longPress)
        #expect(await bench.tap("Delete"))
        #expect(await bench.tap("Delete"))
        await bench.until(readsNo: "Hello?")
        #expect(!bench.texts.contains("Hello?") && bench.texts.contains("Old"))
        bench.server.setScript { _ in }
        await bench.touch("Old", .longPress)
        #expect(await bench.tap("Delete"))
        #expect(bench.texts.contains("Delete this message on all your devices?"))
        #expect(bench.texts.contains("Old"))
        #expect(await bench.tap("Delete"))
        await bench.until(readsNo: "Old")
        #expect((try? bench.client?.history(conversation: self.withBob))?.isEmpty == true)
    }

    @Test func `answers a message, and shows what is answered`() async {
        let bench = await ConversationBench()
        bench.say("At one?")
        await bench.open(self.withBob)
        await bench.until(reads: "At one?")
        await bench.touch("At one?", .longPress)
        #expect(await bench.tap("Reply"))
        #expect(bench.texts.contains("Reply to Bob"))
        await bench.write("Yes")
        await bench.until { $0.row("Yes")?.value == "Sent" }
        #expect(bench.row("Yes")?.texts.first == "Bob: At one?")
        #expect(bench.row("Yes")?.label?.hasPrefix("You, Reply to Bob: At one?, Yes, ") == true)
        #expect(!bench.texts.contains("Reply to Bob"))
        guard case .message(let sent)? = bench.server.log(of: "bob").last?.body else {
            Issue.record("nothing came")
            return
        }
        #expect(sent.objectName == .reference)
        #expect(sent.text == "Yes")
        #expect(sent.quote?.sender == "bob" && sent.quote?.text == "At one?")
    }

    @Test func `recalls a message, and gives its words back to be typed`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.write("Oops")
        await bench.until { $0.row("Oops")?.value == "Sent" }
        #expect(await bench.act("Recall", on: "Oops"))
        await bench.until(reads: "You recalled a message")
        #expect(!bench.texts.contains("Oops"))
        #expect(await bench.tap("Edit Again"))
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "Oops")
        let theirs = bench.say("Hm")
        await bench.until(reads: "Hm")
        bench.server.request(.request(ServerTransport.app, actor: "bob", .recall(theirs)))
        await bench.until(reads: "Bob recalled a message")
        #expect(!bench.texts.contains("Hm"))
    }

    @Test func `changes a message, and shows what others have changed`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.write("At one")
        await bench.until { $0.row("At one")?.value == "Sent" }
        await bench.touch("At one", .longPress)
        #expect(await bench.tap("Edit"))
        #expect(bench.texts.contains("Edit message"))
        await bench.touch("tidings.input", .enter("At two"))
        await bench.tap("Send")
        await bench.until { $0.row("At two")?.value == "Edited · Sent" }
        #expect(!bench.texts.contains("At one") && !bench.texts.contains("Edit message"))
        let theirs = bench.say("Where?")
        await bench.until(reads: "Where?")
        bench.server.act(as: "bob", [.request(1, .edit(theirs, content: MessageContent.text("Here").json))])
        await bench.until(reads: "Here")
        #expect(bench.row("Here")?.texts.contains("Edited") == true)
    }

    @Test func `says why something could not be done`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.write("Old")
        await bench.until { $0.row("Old")?.value == "Sent" }
        bench.server.setScript { script in
            script.answer = { _, frame in
                guard case .request(let number, .recall) = frame else { return nil }
                return [.answer(number, .refused(.init(code: .tooLate, field: "", rule: "two minutes")))]
            }
        }
        await bench.act("Recall", on: "Old")
        await bench.until { $0.nodes.contains { !$0.all(.alert).isEmpty } }
        #expect(bench.nodes.flatMap { $0.all(.alert) }.flatMap(\.texts).contains(ChatWords.english.tooLate))
        #expect(bench.row("Old") != nil)
    }

    @Test func `says who types, and tells others that the person does`() async {
        let bench = await ConversationBench.opened(self.withBob)
        bench.server.act(as: "bob", [.typing(ConversationID(type: .direct, target: "alice"), isTyping: true)])
        await bench.until { $0.title == "Bob is typing…" }
        #expect(bench.title == "Bob is typing…")
        await bench.advance(by: 6_000)
        await bench.until { $0.title == "Bob" }
        #expect(bench.title == "Bob")
        bench.server.forgetFrames()
        await bench.touch("tidings.input", .enter("H"))
        await bench.touch("tidings.input", .enter("He"))
        await bench.tap("Send")
        await bench.until { $0.texts.contains("Sent") }
        let said = bench.server.frames.compactMap { frame in
            if case .typing(_, let isTyping) = frame { isTyping } else { nil as Bool? }
        }
        #expect(said == [true, false])
    }

    @Test func `keeps what is typed as a draft`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.touch("tidings.input", .enter("Half a"))
        await bench.back()
        #expect((try? bench.client?.draft(for: self.withBob))?.text == "Half a")
        await bench.open(self.withBob)
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "Half a")
        await bench.write("Half a thought")
        await bench.until { $0.texts.contains("Sent") }
        #expect((try? bench.client?.draft(for: self.withBob)) == .some(nil))
    }

    @Test func `keeps the draft while a message is edited, whether or not it is changed`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.write("At one")
        await bench.until { $0.row("At one")?.value == "Sent" }
        await bench.touch("tidings.input", .enter("Half a"))
        await bench.act("Edit", on: "At one")
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "At one")
        #expect(await bench.tap("Cancel"))
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "Half a")
        await bench.act("Edit", on: "At one")
        await bench.touch("tidings.input", .enter("At two"))
        await bench.tap("Send")
        await bench.until { $0.row("At two")?.value == "Edited · Sent" }
        #expect(bench.nodes.compactMap { $0.first("tidings.input") }.first?.text == "Half a")
        await bench.back()
        #expect((try? bench.client?.draft(for: self.withBob))?.text == "Half a")
    }

    @Test func `is its person's own: emptied at a sign-out, and for nobody else`() async {
        let bench = await ConversationBench()
        bench.say("Secret")
        await bench.open(self.withBob)
        await bench.until(reads: "Secret")
        await bench.touch("tidings.input", .enter("More secrets"))
        let client = bench.client
        _ = await bench.inApp { await client?.signOut() }
        await bench.until(readsNo: "Secret")
        #expect(bench.texts.contains("You are signed out"))
        #expect(!"\(bench.nodes)".contains("ecret"))
        _ = await bench.inApp { try? await client?.connect(userID: "carol", token: "carol") }
        await bench.untilConnected()
        await bench.settle()
        #expect(bench.texts.contains("You are signed out"))
        #expect(!"\(bench.nodes)".contains("ecret") && !"\(bench.nodes)".contains("Bob"))
        bench.say("For carol", to: ConversationID(type: .direct, target: "carol"))
        await bench.settle()
        #expect(!bench.texts.contains("For carol"))
        let screen = bench.screen
        _ = await bench.inApp {
            screen?.viewWillDisappear(false)
            screen?.viewWillAppear(false)
            screen?.viewDidAppear(false)
        }
        #expect(bench.client?.activeConversation == nil)
    }

    @Test func `says which conversation is open only while it shows it, and is its person's again when they return`()
        async
    {
        let bench = await ConversationBench()
        bench.say("Old")
        await bench.open(self.withBob)
        await bench.until(reads: "Old")
        let (client, screen) = (bench.client, bench.screen)
        #expect(client?.activeConversation == self.withBob)
        _ = await bench.inApp { screen?.showLoading(true) }
        _ = await bench.inApp { await client?.signOut() }
        await bench.until(readsNo: "Old")
        #expect(client?.activeConversation == nil)
        #expect(screen?.isLoading == false)
        _ = await bench.inApp { try? await client?.connect(userID: "alice", token: "alice") }
        await bench.untilConnected()
        await bench.until(reads: "Old")
        await bench.until { $0.title == "Bob" }
        #expect(bench.title == "Bob")
        #expect(client?.activeConversation == self.withBob)
        bench.say("New")
        await bench.until(reads: "New")
        await bench.until { (try? $0.client?.unreadMessageCount()) == 0 }
        #expect((try? client?.unreadMessageCount()) == 0)
    }

    @Test func `opens before anybody has signed in, as from a cold tap`() async {
        let bench = await ConversationBench()
        bench.say("Early")
        await bench.settle()
        bench.person = nil
        await bench.restart()
        await bench.open(self.withBob)
        #expect(!bench.texts.contains("Early"))
        let client = bench.client
        #expect(client?.activeConversation == nil)
        _ = await bench.inApp { try? await client?.connect(userID: "alice", token: "alice") }
        await bench.until(reads: "Early")
        #expect(bench.title == "Bob")
        #expect(client?.activeConversation == self.withBob)
    }

    @Test func `is pushed once for two taps, and another one on a tap for another conversation`() async {
        let bench = await ConversationBench.opened(self.withBob)
        await bench.open(self.withBob)
        #expect(bench.app?.window?.visibleScreens == ["Start", "Bob"])
        #expect(bench.client?.activeConversation == self.withBob)
        bench.makeTeam()
        await bench.open(ConversationBench.team)
        #expect(bench.title == "Our team")
        #expect(bench.client?.activeConversation == ConversationBench.team)
        await bench.back()
        #expect(bench.client?.activeConversation == nil)
    }
}

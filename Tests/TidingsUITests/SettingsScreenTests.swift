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

@MainActor @Suite(.serialized) struct `The screen of notification settings` {
    private func bench(_ language: String = "en") async -> ConversationBench {
        let bench = await ConversationBench(language: language) { $0.conversationTypes = [.direct, .group] }
        await bench.show { NotificationSettingsViewController(interface: $0) }
        return bench
    }

    @Test func `says what iOS allows and sets the level of each kind`() async throws {
        let bench = await self.bench()
        #expect(bench.title == "Notifications")
        await bench.until(reads: "Not asked yet")
        #expect(bench.row("Not asked yet")?.texts == ["Notifications", "Not asked yet"])
        #expect(bench.row("Banners") == nil)
        await bench.register()
        await bench.until(reads: "Allowed")
        #expect(bench.row("Allowed")?.texts == ["Notifications", "Allowed"])
        #expect(bench.row("Banners")?.label == "Banners, On")
        #expect(bench.row("Groups")?.texts == ["Groups", "All messages"])
        #expect(await bench.tap("Groups"))
        #expect(bench.title == "Groups")
        #expect(
            bench.firsts == ["All messages", "Mentions", "Mentions of me", "Mentions of everybody", "Nothing"])
        #expect(bench.row("All messages")?.isSelected == true)
        #expect(await bench.tap("Mentions"))
        await bench.until { $0.title == "Notifications" }
        #expect(bench.row("Groups")?.texts == ["Groups", "Mentions"])
        #expect(try bench.client?.settings().person.levels == [.group: .mentions])
    }

    @Test func `sets quiet hours, and what becomes of pushes meanwhile`() async throws {
        let bench = await self.bench()
        func hours() throws -> QuietHours? { try bench.client?.settings().person.quietHours }
        #expect(bench.isOn("Quiet hours") == false)
        #expect(await bench.tap("Quiet hours"))
        #expect(bench.isOn("Quiet hours") == true)
        #expect(try hours() == NotificationForm.usualHours(in: TimeZone.current.identifier))
        #expect(await bench.touch("From", .enter("23:30")))
        #expect(await bench.touch("To", .enter("06:15")))
        #expect(try hours()?.start == 1_410)
        #expect(try hours()?.end == 375)
        while await bench.touch("tidings.notifications", .scroll(.down)) {}
        #expect(await bench.tap("Notify afterwards"))
        #expect(try hours()?.manner == .drop)
    }

    @Test func `hides text, and rings in the open app as the person wants`() async throws {
        let bench = await self.bench()
        let interface = try #require(bench.interface)
        let ringing = ForegroundRinging(client: interface.client)
        defer { ringing.defaults.removeObject(forKey: ringing.key) }
        while await bench.touch("tidings.notifications", .scroll(.down)) {}
        #expect(await bench.tap("Hide messages' text"))
        #expect(try bench.client?.settings().person.hidesContent == true)
        #expect(await bench.tap("Banner and sound while the app is open"))
        #expect(bench.client?.ringsInForeground == true)
        await bench.restart()
        #expect(bench.client?.ringsInForeground == true, "kept for the next launch")
    }

    @Test func `lists who is blocked, and unblocks them`() async throws {
        let bench = await self.bench()
        while await bench.touch("tidings.notifications", .scroll(.down)) {}
        #expect(bench.texts.contains("Nobody is blocked"))
        try await bench.client?.block("bob")
        await bench.until(reads: "Bob")
        while await bench.touch("tidings.notifications", .scroll(.down)) {}
        #expect(await bench.touch("Bob", .swipe(.left)))
        #expect(await bench.tap("Unblock"))
        #expect(bench.alert == ["Unblock Bob?", "Unblock", "Cancel"])
        #expect(await bench.tap("Unblock"))
        await bench.until(reads: "Nobody is blocked")
        #expect(try bench.client?.settings().blocked == [])
    }

    @Test func `shows nobody else whom a person has blocked, and changes nothing of theirs`() async throws {
        let bench = await self.bench()
        try await bench.client?.block("bob")
        await bench.until(reads: "Bob")
        await bench.signIn("carol", untilReadsNo: "Bob")
        #expect(bench.rows == [] && bench.headers == [])
        try await bench.client?.block("dave")
        await bench.settle()
        #expect(bench.rows == [], "carol's are on a screen of her own")
        await bench.signIn("alice")
        await bench.until(reads: "Bob")
        #expect(bench.row("Bob") != nil && bench.row("Dave") == nil)
    }

    @Test func `speaks Chinese where the app does`() async {
        let bench = await self.bench("zh-Hans-CN")
        #expect(bench.title == "通知")
        await bench.register()
        await bench.until(reads: "已允许")
        #expect(bench.row("已允许")?.label == "通知, 已允许")
        #expect(bench.row("群聊")?.label == "群聊, 所有消息")
        #expect(bench.headers.starts(with: ["系统", "通知范围"]))
        #expect(bench.isOn("勿扰时段") == false)
    }
}

@MainActor @Suite(.serialized) struct `The screen of devices` {
    @Test func `lists where the person is signed in, and signs out elsewhere`() async throws {
        let bench = await ConversationBench()
        bench.server.act(as: "alice", [])
        await bench.show { DevicesViewController(interface: $0) }
        await bench.until { $0.rows.count == 2 }
        #expect(bench.title == "My Devices")
        #expect(bench.headers == ["This device", "Other devices"])
        #expect(bench.rows[0][1].hasPrefix("Connected now"))
        #expect(bench.rows[1][0] == "test" && bench.rows[1][1].hasPrefix("Last seen "))
        #expect(await bench.touch("test", .swipe(.left)))
        #expect(await bench.tap("Sign Out"))
        #expect(bench.alert == ["Sign out on test?", "Sign Out", "Cancel"])
        #expect(await bench.tap("Sign Out"))
        await bench.until(reads: "No other devices")
        #expect(bench.texts.contains("No other devices"))
        #expect(try await bench.client?.devices().count == 1)
    }

    @Test func `says why it cannot, and tries again`() async {
        let bench = await ConversationBench(language: "zh")
        bench.server.setNetwork(.refuses)
        await bench.settle()
        await bench.show { DevicesViewController(interface: $0) }
        await bench.until(reads: "重试")
        #expect(bench.firsts == ["当前没有网络连接", "重试"])
        #expect(await bench.tap("重试"))
        await bench.until(reads: "重试")
        bench.server.setNetwork(.works)
        await bench.advance(by: 60_000)
        await bench.until(reads: "没有其他设备")
        #expect(bench.headers == ["本设备", "其他设备"])
    }

    @Test func `shows nobody else a person's devices, nor asks about them`() async throws {
        let bench = await ConversationBench()
        bench.server.act(as: "alice", [])
        await bench.show { DevicesViewController(interface: $0) }
        await bench.until(reads: "test")
        #expect(await bench.touch("test", .swipe(.left)))
        #expect(await bench.tap("Sign Out"))
        #expect(bench.alert.first == "Sign out on test?")
        await bench.signIn("carol", untilReadsNo: "test")
        #expect(bench.rows == [] && bench.headers == [] && bench.alert == [])
        #expect(try await bench.client?.devices().count == 1)
        await bench.signIn("alice")
        await bench.until(reads: "test")
        #expect(bench.rows.count == 2)
    }

    @Test func `leaves a device alone that the server does not sign out`() async {
        let bench = await ConversationBench()
        bench.server.act(as: "alice", [])
        await bench.show { DevicesViewController(interface: $0) }
        await bench.until { $0.rows.count == 2 }
        bench.server.setNetwork(.refuses)
        await bench.settle()
        #expect(await bench.tap("test"))
        #expect(await bench.tap("Sign Out"))
        await bench.until { $0.alert.first == "There is no connection" }
        #expect(await bench.tap("OK"))
        #expect(bench.rows.count == 2)
    }
}

@MainActor @Suite(.serialized) struct `The screen of one conversation's settings` {
    private let team = ConversationBench.team

    private func bench(_ conversation: ConversationID, _ title: String) async -> ConversationBench {
        let bench = await ConversationBench()
        bench.makeTeam()
        bench.say("hi", to: self.team)
        bench.say("hi")
        await bench.show { interface in
            let root = UIViewController()
            root.title = "Root"
            return root
        }
        let app = bench.app
        _ = await bench.inApp {
            let tabs = app?.window?.rootViewController as? UITabBarController
            let screen = ConversationSettingsViewController(
                conversation: conversation, title: title, interface: app?.interface)
            (tabs?.selectedViewController as? UINavigationController)?.pushViewController(screen, animated: false)
        }
        await bench.settle()
        return bench
    }

    @Test func `mutes for good, for a while, and by level`() async throws {
        let bench = await self.bench(self.team, "Team")
        func settings() throws -> ConversationSettings? { try bench.client?.settings().conversations[self.team] }
        #expect(bench.title == "Details" && bench.isOn("Mute") == false)
        #expect(await bench.tap("Mute"))
        #expect(bench.isOn("Mute") == true)
        #expect(try settings()?.level == .blocked)
        #expect(await bench.tap("Mute"))
        #expect(try settings()?.level == nil)
        #expect(await bench.tap("Mute for…"))
        #expect(bench.firsts == ["1 hour", "8 hours", "1 week"])
        #expect(await bench.tap("8 hours"))
        #expect(try settings()?.levelUntil.map { ($0 - bench.clock.now.wall + 300_000) / 3_600_000 } == 8)
        await bench.until { $0.texts.contains { $0.hasPrefix("Until ") } }
        #expect(bench.texts.contains { $0.hasPrefix("Until ") })
        bench.clock.advance(by: 8 * 3_600_000)
        await bench.settle()
        #expect(await bench.tap("Notify me of"))
        #expect(await bench.tap("Mentions of me"))
        #expect(try settings()?.level == .mentionsOfMe)
        #expect(bench.row("Notify me of")?.texts == ["Notify me of", "Mentions of me"])
        #expect(await bench.tap("Pin"))
        #expect(try settings()?.pinnedAt != nil)
    }

    @Test func `shows who is in a group, and takes a name`() async throws {
        let bench = await self.bench(self.team, "Team")
        await bench.until(reads: "Carol")
        #expect(bench.headers.contains("Members: 3"))
        #expect(bench.row("Alice")?.label == "Alice, Owner")
        #expect(await bench.tap("My name here"))
        #expect(bench.alert == ["My name here", "Save", "Cancel"])
        let field = bench.nodes.flatMap { $0.all(.alert) }.flatMap { $0.all(.textField) }.first
        #expect(field?.label == "My name here")
        #expect(await bench.phone.touch("My name here", .enter("Al")))
        #expect(await bench.tap("Save"))
        #expect(bench.server.requests.contains(.change(self.team, .setNickname("alice", "Al"))))
        // By default an app's backend alone says what people are called (`own_profiles`).
        await bench.until { $0.alert == ["You may not do that", "OK"] }
        #expect(bench.alert == ["You may not do that", "OK"])
        #expect(await bench.tap("OK"))
        bench.request(.change(self.team, .setNickname("alice", "Al")), as: nil)
        await bench.until { $0.row("My name here")?.texts == ["My name here", "Al"] }
        #expect(bench.row("My name here")?.texts == ["My name here", "Al"])
        #expect(bench.row("Owner")?.texts == ["Al", "Owner"])
    }

    @Test func `shows nobody else who is in a group`() async throws {
        let bench = await self.bench(self.team, "Team")
        await bench.until(reads: "Carol")
        #expect(await bench.tap("My name here"))
        #expect(await bench.phone.touch("My name here", .enter("Al")))
        await bench.signIn("dave", untilReadsNo: "Carol")
        #expect(bench.rows == [] && bench.headers == [] && bench.alert == [])
        #expect(!"\(bench.nodes)".contains("Al"))
        await bench.signIn("alice")
        await bench.until(reads: "Carol")
        #expect(bench.headers.contains("Members: 3"))
    }

    @Test func `offers nobody else what a person was choosing`() async throws {
        let bench = await self.bench(self.team, "Team")
        #expect(await bench.tap("Mute for…"))
        #expect(bench.firsts == ["1 hour", "8 hours", "1 week"])
        await bench.signIn("carol", untilReadsNo: "1 week")
        #expect(bench.rows == [])
        #expect(await bench.tap("back"))
        #expect(bench.title == "Details" && bench.rows == [])
        #expect(try bench.client?.settings().conversations == [:])
    }

    @Test func `leaves after a question`() async throws {
        let bench = await self.bench(self.team, "Team")
        await bench.until(reads: "Leave")
        #expect(await bench.tap("Leave"))
        #expect(bench.alert == ["Leave Team?", "Leave", "Cancel"])
        #expect(await bench.tap("Cancel"))
        #expect(bench.title == "Details")
        #expect(await bench.tap("Leave"))
        #expect(await bench.tap("Leave"))
        await bench.until { $0.title == "Root" }
        #expect(bench.title == "Root")
        #expect(try bench.client?.storedConversationInfo(self.team)?.members.map(\.id) == ["bob", "carol"])
    }

    @Test func `blocks the other person of a conversation of two after a question`() async throws {
        let bench = await self.bench(ConversationBench.withBob, "Bob")
        #expect(bench.row("Notify me of")?.texts == ["Notify me of", "As for all of its kind"])
        #expect(await bench.tap("Block"))
        #expect(bench.alert == ["Block Bob?", "Block", "Cancel"])
        #expect(await bench.tap("Block"))
        await bench.until(reads: "Unblock")
        #expect(try bench.client?.settings().blocked == ["bob"])
        #expect(await bench.tap("Unblock"))
        await bench.until(reads: "Block")
        #expect(try bench.client?.settings().blocked == [])
    }
}

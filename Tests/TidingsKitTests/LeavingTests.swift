import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import Testing
import TidingsAppGroup
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsKit

private let withBob = ConversationID(type: .direct, target: "bob")

extension ChatBench {
    /// What is in the notification centre.
    fileprivate var list: [String] { self.phone.screen.list.map(\.notification.request.identifier) }

    func group() async throws -> AppGroup {
        let container = await self.phone.inApp {
            FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.chat")
        }
        return try AppGroup(folder: try #require(container))
    }

    /// From now on the app group cannot be used, as before the first unlock.
    fileprivate func spoil(_ group: AppGroup) throws {
        // Moved, not removed: the app on the phone may be writing there just now.
        try FileManager.default.moveItem(at: group.folder, to: group.folder.appendingPathExtension("aside"))
        try Data().write(to: group.folder)
    }

    /// A push that offers the kit's actions.
    fileprivate func actionable(_ id: MessageID, tag: String) -> JSONValue {
        let info = PushInfo(message: id, position: 1, badgePosition: 1, recipientTag: tag)
        return [
            "aps": ["alert": ["body": "hi"], "category": .string(MessageCategory.identifier)],
            "rc": [
                "cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": "",
                "id": .string(id.description),
            ],
            "tidings": info.dictionary,
        ]
    }

    /// Lets time pass in which a client tries again, 8 s at most.
    fileprivate func passRetries(until holds: (ChatBench) -> Bool) async {
        for _ in 1...8 where !holds(self) {
            await self.advance(by: 1_000)
            for _ in 1...100 where !holds(self) { try? await Task.sleep(for: .milliseconds(2)) }
        }
        // A busy machine lets the app's threads wait.
        await self.until(holds)
        #expect(holds(self))
    }

    fileprivate var sent: [String] {
        self.server.frames.compactMap { if case .send(let draft) = $0 { draft.content } else { nil } }
    }
}

@MainActor @Suite(.serialized) struct `A person who leaves a phone` {
    @Test func `leaves nothing of ours in the notification centre, and everything of others`() async throws {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.say("secret")
        await bench.phone.deliver(bench.actionable(MessageID(rawValue: 77), tag: bench.server.tag()), collapseID: "77")
        await bench.phone.deliver(["aps": ["alert": "sale"]], collapseID: "sale")
        await bench.until { $0.list.count == 3 }
        #expect(bench.list.count == 3)
        let client = try #require(bench.kit?.client)
        Task { await client.signOut() }
        await bench.until { $0.list.count == 1 }
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["sale"])
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 0)
    }

    @Test(arguments: [false, true])
    func `lets the app rest as soon as the server has heard, behind the home screen too`(isOffline: Bool) async throws {
        let bench = await ChatBench()
        if isOffline { bench.server.setNetwork(.refuses) }
        await bench.until { ($0.kit?.client.connectionStatus == .connected) != isOffline }
        let client = try #require(bench.kit?.client)
        await bench.goHome()
        Task { await client.signOut() }
        await bench.until { $0.kit?.client.userID == nil }
        bench.server.setNetwork(.works)
        await bench.passRetries { $0.server.frames.contains(.signOut) && !$0.server.isConnected }
        // iOS lets the app run on for some seconds; the background task would be 30.
        await bench.advance(by: 12_000)
        await bench.until { $0.phone.state(of: TestApp.bundle) == .suspended }
        #expect(bench.phone.state(of: TestApp.bundle) == .suspended)
        await bench.advance(by: 60_000)
        let names = bench.phone.callbacks.map(\.callback.name)
        #expect(!names.contains("background task expiration handler"))
        #expect(bench.phone.faults == [])
    }

    @Test func `leaves the background task to the one who signs in, until that one has hung up`() async throws {
        let bench = await ChatBench()
        bench.server.setNetwork(.refuses)
        await bench.until { $0.kit?.client.connectionStatus != .connected }
        let client = try #require(bench.kit?.client)
        Task { await client.signOut() }
        await bench.until { $0.kit?.client.userID == nil }
        bench.person = "carol"
        if let kit = bench.kit { await bench.phone.inApp { bench.signIn(to: kit) } }
        await bench.until { $0.kit?.client.userID == "carol" }
        await bench.phone.home()
        bench.server.setNetwork(.works)
        await bench.passRetries { $0.server.frames.contains(.signOut) && $0.kit?.client.connectionStatus == .connected }
        let before = bench.server.frames.count
        await bench.advance(by: 15_000)
        #expect(bench.phone.state(of: TestApp.bundle) == .backgroundRunning)
        await bench.advance(by: 12_000)
        await bench.until { $0.frames(after: before).contains(.runState(.suspending)) }
        #expect(bench.frames(after: before).contains(.runState(.suspending)))
        await bench.advance(by: 60_000)
        #expect(bench.phone.state(of: TestApp.bundle) == .suspended)
        #expect(bench.phone.faults == [])
    }

    @Test func `leaves nothing of ours to the one who signs in over them`() async throws {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.say("secret")
        await bench.until { $0.phone.screen.badge(of: TestApp.bundle) == 1 }
        let group = try await bench.group()
        await bench.kill()
        await bench.phone.deliver(bench.actionable(MessageID(rawValue: 77), tag: bench.server.tag()), collapseID: "77")
        #expect(bench.list.count == 2)
        #expect(try group.update { $0.settings[name: .user("bob")] } != nil)
        #expect(try group.update { $0.badge?.position } != 0)
        bench.person = "carol"
        await bench.phone.launch()
        await bench.until {
            $0.list.isEmpty && $0.kit?.client.connectionStatus == .connected
                && $0.phone.screen.badge(of: TestApp.bundle) == 0
        }
        #expect(bench.list == [])
        #expect(bench.kit?.client.userID == "carol")
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 0)
        // Names only the other knew; and a number counted at a place in their log would outrank those of this one's pushes.
        #expect(try group.update { $0.settings[name: .user("bob")] } == nil)
        #expect(try group.update { $0.badge } == Badge())
    }

    @Test(arguments: [
        MessageCategory.replyAction, MessageCategory.markReadAction, MessageCategory.defaultAction,
    ])
    func `is not answered for, read for or looked up by the next`(action: String) async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.phone.deliver(bench.actionable(MessageID(rawValue: 77), tag: "another"), collapseID: "77")
        if action == MessageCategory.defaultAction {
            await bench.phone.tap()
        } else {
            await bench.phone.perform(action: action, text: action == MessageCategory.replyAction ? "mine" : nil)
        }
        // One for the person themselves comes through, so that what did not come is known to be refused.
        await bench.phone.home()
        await bench.phone.deliver(bench.actionable(MessageID(rawValue: 78), tag: bench.server.tag()), collapseID: "78")
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.responses.map { $0.payload?.messageUID } == [MessageID(rawValue: 78).description])
        #expect(bench.sent == [])
        #expect(!bench.server.frames.contains { if case .markRead = $0 { true } else { false } })
        #expect(bench.phone.faults == [])
    }

    @Test func `is not answered for by the next, though the answer waited for a sign-in`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.kill()
        await bench.phone.deliver(bench.actionable(MessageID(rawValue: 77), tag: bench.server.tag()), collapseID: "77")
        bench.person = "carol"
        bench.signsIn = false
        await bench.phone.perform(action: MessageCategory.replyAction, text: "alice's")
        await bench.until { !$0.responses.isEmpty }
        #expect(bench.problems == [])
        if let kit = bench.kit { await bench.phone.inApp { bench.signIn(to: kit) } }
        await bench.until { !$0.problems.isEmpty }
        #expect(bench.problems == [.replyLost(conversation: withBob)])
        await bench.phone.launch()
        await bench.until { $0.kit?.client.connectionStatus == .connected }
        #expect(bench.kit?.client.userID == "carol")
        #expect(bench.sent == [])
    }

    @Test func `keeps the next from signing in while the app group cannot be told`() async throws {
        let bench = await ChatBench()
        let group = try await bench.group()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tidings-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = ChatClient.Configuration(appKey: "demo", serverURL: URL(fileURLWithPath: "/in-memory"))
        configuration.log = { _ in }
        configuration.storeFolder = folder
        configuration.appGroupFolder = group.folder.deletingLastPathComponent()
        let client = ChatClient(configuration: configuration, transport: bench.server, clock: bench.clock)
        try await client.connect(userID: "alice", token: "alice")
        try bench.spoil(group)
        for _ in 1...2 {
            await #expect(throws: ChatError.self) { try await client.connect(userID: "carol", token: "carol") }
            #expect(client.userID == nil)
        }
        try FileManager.default.removeItem(at: group.folder)
        try await client.connect(userID: "carol", token: "carol")
        #expect(client.userID == "carol")
        client.disconnect()
    }
}

@MainActor @Suite(.serialized) struct `A conversation that is read` {
    private func twoShown() async -> (ChatBench, MessageID, MessageID) {
        let bench = await ChatBench()
        await bench.goHome()
        let first = bench.server.say("one")
        await bench.until { $0.list.count == 1 }
        let second = bench.server.say("two")
        await bench.until { $0.list.count == 2 }
        return (bench, first, second)
    }

    @Test func `on another device keeps the notification of what came after`() async {
        let (bench, first, second) = await self.twoShown()
        #expect(Set(bench.list) == [first.description, second.description])
        bench.server.readElsewhere(upTo: 1)
        await bench.until { $0.list.count == 1 }
        #expect(bench.list == [second.description])
        bench.server.readElsewhere(upTo: 2)
        await bench.until { $0.list.isEmpty }
        #expect(bench.list == [])
    }

    @Test func `from a notification keeps the newer one`() async {
        let (bench, first, second) = await self.twoShown()
        await bench.phone.perform(action: MessageCategory.markReadAction, on: first.description)
        await bench.until { $0.server.frames.contains(.markRead(withBob, upTo: 1)) }
        #expect(bench.server.frames.contains(.markRead(withBob, upTo: 1)))
        await bench.advance(by: 1_000)
        #expect(bench.list == [second.description])
    }

    @Test func `on this screen clears all of it`() async {
        let (bench, _, _) = await self.twoShown()
        await bench.phone.inApp { @MainActor in bench.kit?.didOpen(withBob) }
        await bench.until { $0.list.isEmpty }
        #expect(bench.list == [])
    }
}

@MainActor @Suite(.serialized) struct `An app group that fails` {
    @Test func `keeps the kit from ringing for what the extension may have shown, and settles nothing`() async throws {
        let bench = await ChatBench()
        await bench.goHome()
        try bench.spoil(try await bench.group())
        let before = bench.server.frames.count
        bench.server.say("hi")
        await bench.until { $0.problems.contains { if case .storeFault = $0 { true } else { false } } }
        await bench.advance(by: 3_000)
        #expect(bench.phone.presentations.isEmpty)
        let settled = bench.frames(after: before).compactMap { frame -> [ClientFrame.Settlement]? in
            if case .ack(let ack) = frame { ack.settled } else { nil }
        }
        #expect(settled.flatMap(\.self) == [])
    }
}

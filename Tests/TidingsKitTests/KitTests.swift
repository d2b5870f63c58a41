import ClientCore
import Foundation
import PhoneCore
import Requirements
import SDKTestSupport
import Synchronization
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

private func isSettling(_ frame: ClientFrame) -> Bool {
    guard case .ack(let ack) = frame else { return false }
    return !ack.settled.isEmpty
}

@MainActor @Suite(.serialized) struct `An app with the kit` {
    @Test(.requirement("S2.7", "S2.6")) func `hands its device token to the server after connecting`() async throws {
        let bench = await ChatBench()
        await bench.until { $0.server.frames.contains { if case .registerPush = $0 { true } else { false } } }
        let registrations = bench.server.frames.compactMap { frame -> PushRegistration? in
            guard case .registerPush(let registration, _) = frame else { return nil }
            return registration
        }
        let registration = try #require(registrations.first)
        #expect(registration.topic == "com.example.chat")
        #expect(registration.environment == .sandbox)
        #expect(bench.phone.faults == [])
    }

    @Test func `shows no notification in the foreground, and settles what is stored`() async {
        let bench = await ChatBench()
        bench.server.say("hi")
        await bench.until { $0.server.frames.contains(where: isSettling) }
        #expect(bench.server.frames.contains(where: isSettling))
        #expect(bench.phone.presentations.isEmpty)
    }

    @Test func `shows a local notification as its message asks`() async throws {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.send(
            "hi", from: "bob", to: .init(type: .direct, target: "alice"),
            push: PushOptions(
                title: .localized(key: "FROM", arguments: ["Main Street"]), subtitle: "Order 7", text: "Ready",
                sound: "bell.caf", category: "ORDER", relevance: 750, threadID: "orders",
                custom: JSONObject([("order", 7)])))
        await bench.until { !$0.phone.presentations.isEmpty }
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect([content.title, content.subtitle, content.body] == ["From Main Street", "Order 7", "Ready"])
        #expect(content.sound == .named("bell.caf"))
        #expect(content.categoryIdentifier == "ORDER")
        #expect(content.relevanceScore == 0.75)
        #expect(content.threadIdentifier == "orders")
        #expect(content.userInfo["order"] == 7)
        #expect(content.userInfo["rc"] != nil)
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S0.4", "S3.9", "S1.13"), arguments: [LifecycleStyle.scenes, .application])
    func `shows a local notification in the background, and a tap opens the conversation once`(
        lifecycle: LifecycleStyle
    ) async throws {
        let bench = await ChatBench(lifecycle: lifecycle)
        await bench.goHome()
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
        await bench.until { $0.server.frames.contains(where: isSettling) }
        #expect(bench.server.frames.contains(where: isSettling))
        #expect(bench.receipts == [])
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty && !$0.receipts.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.receipts == [id])
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S0.6")) func `tells the server how long it stays in the background`() async {
        let bench = await ChatBench()
        await bench.goHome()
        let told = bench.server.frames.compactMap { frame -> Int64? in
            guard case .runState(.background(let remaining)) = frame else { return nil }
            return remaining
        }
        #expect(told.count == 1)
        #expect((20_000...25_000).contains(told.first ?? 0))
    }

    @Test(.requirement("S0.7", "S3.2")) func `hangs up and says so when the system's time is over`() async {
        let bench = await ChatBench()
        await bench.goHome()
        bench.kit?.client.backgroundTimeWillExpire()
        await bench.until { !$0.server.isConnected }
        #expect(bench.server.frames.last == .runState(.suspending))
        await bench.phone.launch()
        await bench.until { $0.server.isConnected }
        #expect(bench.kit?.client.runState == .foreground)
    }

    @Test(.requirement("S0.21", "S0.22", "S1.12"), arguments: [LifecycleStyle.scenes, .application])
    func `opens the conversation of a push that is tapped when the app is gone`(lifecycle: LifecycleStyle) async {
        let bench = await ChatBench(lifecycle: lifecycle)
        await bench.phone.home()
        await bench.phone.terminate()
        let id = MessageID(rawValue: 77)
        await bench.phone.deliver(bench.push(id), collapseID: id.description)
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty && !$0.receipts.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.receipts == [id], "the server hears of it once, also from a process the tap launched")
        #expect(bench.launches == [true, true])
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S1.14", "S2.9"))
    func `does not present a push in the foreground for a message it has, and presents another one`() async {
        let bench = await ChatBench()
        let id = bench.server.say("hi")
        await bench.until { (try? $0.kit?.client.unreadMessageCount()) == 1 }
        await bench.phone.deliver(bench.push(id), collapseID: id.description)
        #expect(bench.phone.presentations.filter(\.isRing).isEmpty)
        let other = MessageID(rawValue: 9_999)
        await bench.phone.deliver(bench.push(other), collapseID: other.description)
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [other.description])
    }

    /// Found by the World: no extension could decide about a push, and meanwhile the phone had changed hands.
    @Test func `presents nothing in the foreground that is for another, and tells the app nothing of it`() async throws
    {
        let bench = await ChatBench()
        await bench.until { $0.kit?.client.connectionStatus == .connected }
        let kit = try #require(bench.kit)
        let heard = Mutex<[MessageID]>([])
        kit.presentation = { notification in
            if let id = notification.payload?.messageUID.flatMap({ MessageID($0) }) { heard.withLock { $0.append(id) } }
            return [.banner, .list, .sound]
        }
        let (stray, own) = (MessageID(rawValue: 9_998), MessageID(rawValue: 9_999))
        await bench.phone.deliver(bench.push(stray, to: "another"), collapseID: stray.description)
        await bench.phone.deliver(bench.push(own), collapseID: own.description)
        await bench.until { !$0.phone.presentations.filter(\.isRing).isEmpty }
        #expect(bench.phone.presentations.filter(\.isRing).map(\.identifier) == [own.description])
        #expect(bench.phone.screen.list.map(\.notification.request.identifier) == [own.description])
        #expect(heard.withLock { $0 } == [own])
    }

    @Test(arguments: [true, false])
    func `rings once for a message whose push rang in the foreground, also when it comes in the background`(rang: Bool)
        async
    {
        let bench = await ChatBench()
        // The message itself comes late.
        let held = Mutex<ServerFrame?>(nil)
        bench.server.setScript { script in
            script.change = { frame in
                guard case .entry = frame else { return frame }
                held.withLock { $0 = frame }
                return nil
            }
        }
        let id = bench.server.say("hi")
        if rang { await bench.phone.deliver(bench.push(id), collapseID: id.description) }
        await bench.until { $0.phone.presentations.filter(\.isRing).count == (rang ? 1 : 0) }
        await bench.goHome()
        if let entry = held.withLock({ $0 }) { bench.server.write(entry, to: "alice") }
        await bench.until { $0.server.frames.contains(where: isSettling) }
        #expect(bench.server.frames.contains(where: isSettling))
        #expect(
            bench.phone.presentations.filter(\.isRing).count == 1, "in the foreground, or else as a local notification")
    }

    @Test(.requirement("S2.17"), arguments: [OSVersion(12), 15, 16])
    func `leaves a notification in the list that came while the icon was empty`(version: OSVersion) async {
        let bench = await ChatBench(osVersion: version)
        await bench.goHome()
        await bench.phone.deliver(["aps": ["alert": "sale"]], collapseID: "sale")
        await bench.phone.launch()
        await bench.goHome()
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 0)
        #expect(bench.phone.screen.list.map(\.notification.request.content.body) == ["sale"])
    }

    @Test(.requirement("S2.17")) func `writes its badge when it resigns active`() async {
        let bench = await ChatBench()
        bench.server.say("one")
        bench.server.say("two")
        await bench.until { (try? $0.kit?.client.unreadMessageCount()) == 2 }
        await bench.phone.home()
        await bench.until { $0.phone.screen.badge(of: TestApp.bundle) == 2 }
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 2)
    }

    @Test(arguments: ["Europe/Berlin", "Mars/Base"])
    func `leaves what comes in quiet hours to the server, in a zone the phone knows`(zone: String) async {
        let bench = await ChatBench()
        // From midnight to midnight.
        bench.server.set(PersonSettings(quietHours: QuietHours(start: 0, end: 0, timeZone: zone)))
        await bench.goHome()
        bench.server.say("hi")
        let isQuiet = zone == "Europe/Berlin"
        await bench.until { isQuiet ? !$0.server.isConnected : !$0.phone.presentations.isEmpty }
        #expect(bench.server.isConnected == !isQuiet)
        #expect(bench.phone.presentations.isEmpty == isQuiet)
        #expect(!isQuiet || bench.server.frames.last == .runState(.suspending))
        let isSettled = bench.server.frames.contains { frame in
            if case .ack(let ack) = frame { ack.settled.contains { $0.upTo >= 2 } } else { false }
        }
        #expect(!isSettled || !isQuiet)
    }

    @Test func `clears a conversation's notifications when it is read`() async throws {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.screen.list.isEmpty }
        await bench.phone.launch()
        try bench.kit?.client.markRead(withBob)
        await bench.until { $0.phone.screen.list.isEmpty }
        #expect(bench.phone.screen.list.isEmpty)
    }
}

/// Says yes or no to every message, and counts how often it was asked.
private final class Say: LocalNotificationDelegate {
    private let isYes: Bool
    private let count = Mutex(0)
    var asked: Int { self.count.withLock { $0 } }
    init(_ isYes: Bool) { self.isYes = isYes }
    func client(
        _ client: ChatClient, shouldHandleNotificationFor message: Message, senderName: String
    ) async -> Bool {
        self.count.withLock { $0 += 1 }
        return self.isYes
    }
}

@MainActor @Suite(.serialized) struct `An app with a say of its own` {
    @Test(.requirement("S3.4", "S3.7")) func `is asked in order, and the first yes wins`() async {
        let bench = await ChatBench()
        let says = [Say(false), Say(true), Say(true)]
        for say in says { bench.kit?.addLocalNotificationDelegate(say) }
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { $0.server.frames.contains { settles($0, .appHandled) } }
        #expect(bench.server.frames.contains { settles($0, .appHandled) })
        #expect(says.map(\.asked) == [1, 1, 0])
        #expect(bench.phone.presentations.isEmpty)
    }

    @Test(.requirement("S3.8")) func `gets the kit's notification when all of them say no`() async {
        let bench = await ChatBench()
        let say = Say(false)
        bench.kit?.localNotificationDelegate = say
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.presentations.isEmpty }
        #expect(say.asked == 1)
        #expect(bench.phone.presentations.count == 1)
    }

    @Test func `finds the conversation's other notifications gone when it is opened by one`() async {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.say("one")
        bench.server.say("two")
        await bench.until { $0.phone.screen.list.count == 2 }
        await bench.phone.tap()
        await bench.until { $0.phone.screen.list.isEmpty }
        #expect(bench.phone.screen.list.isEmpty)
        #expect(bench.opened == ["PR:bob"])
    }
}

@MainActor @Suite struct `A completion handler of the system` {
    @Test func `is called with the first value only`() {
        var values: [Int] = []
        let completion = Completion<Int>(fallback: 0) { values.append($0) }
        completion(1)
        completion(2)
        #expect(values == [1])
    }

    @Test func `is called with the fallback when nobody is left to answer`() async {
        let value = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            _ = Completion<Int>(fallback: 7) { continuation.resume(returning: $0) }
        }
        #expect(value == 7)
    }
}

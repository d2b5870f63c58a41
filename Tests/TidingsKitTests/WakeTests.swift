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

@MainActor @Suite(.serialized) struct `An app that iOS wakes` {
    @Test(.requirement("S4.9")) func `catches up after a silent push, though its process was gone`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.kill()
        let before = bench.server.frames.count
        bench.server.say("missed")
        await bench.phone.deliver(bench.silentPush(), pushType: "background", priority: 5)
        await bench.until { $0.frames(after: before).last == .runState(.suspending) }
        await bench.until { !$0.server.isConnected }
        let frames = bench.frames(after: before)
        guard case .hello(let hello)? = frames.first, case .background = hello.runState else {
            Issue.record("the wake did not greet as background: \(frames) \(bench.phone.callbacks.suffix(6))")
            return
        }
        #expect(frames.last == .runState(.suspending))
        #expect((try? bench.kit?.client.history(conversation: withBob).map(\.text)) == ["missed"])
        #expect(bench.kit?.client.runState == .backgroundSuspended)
        let answers = bench.phone.trace.filter { record in
            if case .completion(_, .fetch(.newData)) = record.entry { true } else { false }
        }
        #expect(answers.count == 1)
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S4.9")) func `catches up for a silent push of its backend, and is told the data`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.kill()
        let before = bench.server.frames.count
        bench.server.say("missed")
        let push: JSONValue = [
            "aps": ["content-available": 1], "tidings": PushInfo.silent(to: bench.server.tag()), "data": ["sync": 7],
        ]
        await bench.phone.deliver(push, pushType: "background", priority: 5)
        await bench.until { $0.frames(after: before).last == .runState(.suspending) }
        await bench.until { !$0.server.isConnected && !$0.woken.isEmpty }
        #expect(bench.frames(after: before).last == .runState(.suspending))
        #expect(bench.woken.map(\.data) == [JSONObject([("sync", 7)])])
        #expect((try? bench.kit?.client.history(conversation: withBob).map(\.text)) == ["missed"])
        #expect(bench.fetchResults == [.newData])
        #expect(bench.phone.faults == [])
    }

    @Test func `catches up in an app refresh task, and asks for the next one`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.kill()
        bench.server.say("missed")
        await bench.advance(by: 10_000)
        await bench.phone.giveBackgroundChance()
        await bench.until { (try? $0.kit?.client.history(conversation: withBob).count) == 1 }
        await bench.until { !$0.server.isConnected }
        await bench.advance(by: 1_000)
        let outcomes = bench.phone.trace.compactMap { record -> RefreshTaskOutcome? in
            if case .refreshTask(_, let outcome) = record.entry { outcome } else { nil }
        }
        #expect((try? bench.kit?.client.history(conversation: withBob).map(\.text)) == ["missed"])
        #expect(outcomes.last == .completed)
        #expect(bench.phone.faults == [])
    }

    @Test func `catches up in a Background Fetch`() async {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.phone.home()
        await bench.kill()
        bench.server.say("missed")
        await bench.advance(by: 10_000)
        await bench.phone.giveBackgroundChance()
        await bench.until { (try? $0.kit?.client.history(conversation: withBob).count) == 1 }
        await bench.until { !$0.server.isConnected }
        await bench.advance(by: 1_000)
        let answers = bench.phone.trace.filter { record in
            if case .completion(_, .fetch(.newData)) = record.entry { true } else { false }
        }
        #expect((try? bench.kit?.client.history(conversation: withBob).map(\.text)) == ["missed"])
        #expect(answers.count == 1)
        #expect(bench.phone.faults == [])
    }

    @Test func `sends a reply from a notification, though its process was gone, and opens nothing`() async {
        let bench = await ChatBench()
        let id = bench.server.say("how are you?")
        await bench.phone.home()
        await bench.kill()
        let before = bench.server.frames.count
        guard var push = bench.push(id).objectValue, var aps = push["aps"]?.objectValue else { return }
        aps["category"] = .string(MessageCategory.identifier)
        push["aps"] = .object(aps)
        await bench.phone.deliver(.object(push), collapseID: id.description)
        await bench.phone.perform(action: MessageCategory.replyAction, text: "fine")
        await bench.until { $0.frames(after: before).last == .runState(.suspending) }
        let frames = bench.frames(after: before)
        let sent = frames.compactMap { frame -> String? in
            guard case .send(let draft) = frame else { return nil }
            return draft.content
        }
        #expect(sent == [#"{"content":"fine"}"#])
        #expect(frames.contains(.markRead(withBob, upTo: 1)))
        #expect(bench.opened == [])
        #expect(bench.responses.map(\.userText) == ["fine"])
        #expect(bench.phone.faults == [])
    }

    @Test func `marks as read from a notification`() async {
        let bench = await ChatBench()
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.screen.list.isEmpty }
        await bench.phone.perform(action: MessageCategory.markReadAction)
        await bench.until { $0.server.frames.contains(.markRead(withBob, upTo: 1)) }
        #expect(bench.server.frames.contains(.markRead(withBob, upTo: 1)))
        await bench.until { $0.phone.screen.badge(of: TestApp.bundle) == 0 }
        #expect(bench.phone.screen.badge(of: TestApp.bundle) == 0)
        #expect(bench.opened == [])
    }

    @Test(.requirement("S2.8")) func `says that it got no device token, and asks again in the foreground`() async throws
    {
        let bench = await ChatBench()
        await bench.phone.inApp { @MainActor in
            let error = NSError(domain: "test", code: 3010, userInfo: [NSLocalizedDescriptionKey: "no network"])
            bench.kit?.application(.shared, didFailToRegisterForRemoteNotificationsWithError: error)
        }
        await bench.until { !$0.problems.isEmpty }
        #expect(bench.problems == [.pushRegistrationFailed(reason: "no network")])
        let before = bench.phone.callbacks.count
        await bench.phone.home()
        await bench.phone.launch()
        #expect(
            bench.phone.callbacks.dropFirst(before).contains { record in
                if case .registeredForRemoteNotifications = record.callback { true } else { false }
            })
    }
}

@MainActor @Suite(.serialized) struct `A tap that` {
    @Test(.requirement("S2.10"))
    func `comes before the app can show anything waits, and tells all that the notification said`() async throws {
        let bench = await ChatBench()
        bench.handlesResponses = false
        await bench.phone.home()
        await bench.phone.terminate()
        let id = MessageID(rawValue: 77)
        await bench.phone.deliver(bench.push(id), collapseID: id.description)
        await bench.phone.tap()
        await bench.until { $0.kit?.pendingResponse != nil }
        let pending = try #require(bench.kit?.pendingResponse)
        #expect(pending.text == AlertText(title: "Bob", body: "hi"))
        #expect(pending.userInfo["rc"]?["cType"] == "PR")
        #expect(bench.opened == [])
        if let kit = bench.kit { bench.handleResponses(of: kit) }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.kit?.pendingResponse == nil)
    }

    @Test func `follows another with the same payload opens the conversation again`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        for time in 1...2 {
            await bench.advance(by: 1_000)
            await bench.phone.deliver(bench.push(MessageID(rawValue: 77)))
            await bench.phone.tap()
            await bench.until { $0.opened.count == time }
            await bench.phone.home()
        }
        #expect(bench.opened == ["PR:bob", "PR:bob"])
    }

    @Test(.requirement("S1.16", "S1.18")) func `is on a push of the app's own opens the screen of its type`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.phone.deliver(["aps": ["alert": "passed"], "type": "commentpass"])
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["comments"])
    }

    /// From the type of the push it came by, in whichever state it came: by the launch, a scene, or a callback.
    @Test(.requirement("S1.16"), arguments: ["foreground", "background", "frozen", "killed"])
    func `is on a message of that type opens the screen, not the conversation`(state: String) async {
        let bench = await ChatBench()
        var options = PushOptions()
        options.custom = JSONObject([("type", "commentpass")])
        switch state {
        case "foreground": break
        case "background":
            await bench.goHome()
        case "frozen":
            await bench.phone.home()
            await bench.advance(by: 30_000)
            await bench.until { !$0.server.isConnected }
        default:
            await bench.phone.home()
            await bench.kill()
        }
        if state == "background" {
            // The kit posts it itself.
            bench.server.send("passed", from: "bob", to: .init(type: .direct, target: "alice"), push: options)
            await bench.until { !$0.phone.screen.list.isEmpty }
        } else {
            var push = bench.push(MessageID(rawValue: 77)).objectValue ?? JSONObject()
            push["type"] = "commentpass"
            await bench.phone.deliver(.object(push), collapseID: MessageID(rawValue: 77).description)
        }
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["comments"])
        #expect(bench.responses.map { $0.payload?.conversation } == [withBob])
        #expect(bench.phone.faults == [])
    }

    @Test(.requirement("S1.16", "S4.7")) func `is on the app's own banner of such a message opens the screen`() async {
        let bench = await ChatBench()
        bench.kit?.client.ringsInForeground = true
        await bench.advance(by: 10)
        var options = PushOptions()
        options.custom = JSONObject([("type", "commentpass")])
        bench.server.send("passed", from: "bob", to: .init(type: .direct, target: "alice"), push: options)
        await bench.until { !$0.banners.isEmpty }
        if let banner = bench.banners.first, let kit = bench.kit {
            await bench.phone.inApp { @MainActor in kit.didTap(banner) }
        }
        #expect(bench.opened == ["comments"])
    }

    @Test(.requirement("S1.15")) func `is on a push that says nothing to the kit opens nothing`() async {
        let bench = await ChatBench()
        await bench.phone.home()
        await bench.phone.deliver(["aps": ["alert": "sale"], "type": "news"])
        await bench.phone.tap()
        await bench.advance(by: 1_000)
        #expect(bench.opened == [])
        #expect(bench.responses == [])
        #expect(bench.phone.faults == [])
    }
}

@MainActor @Suite(.serialized) struct `An app of the years before iOS 10` {
    private func sounds(_ bench: ChatBench) -> [UInt32] {
        bench.phone.trace.compactMap { record in
            guard case .systemSound(let sound) = record.entry else { return nil }
            return sound.number
        }
    }

    @Test(.requirement("S4.2", "S4.6", "S4.7"))
    func `draws its own banner for a push in the foreground, with sound, and opens what it names`() async {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.phone.deliver(bench.push(MessageID(rawValue: 77)))
        await bench.until { !$0.banners.isEmpty }
        #expect(bench.banners.map(\.text) == [AlertText(title: "Bob", body: "hi")])
        #expect(self.sounds(bench) == [1312, 4095])
        #expect(bench.opened == [])
        let tapped = Mutex<[String]>([])
        let token = NotificationCenter.default.addObserver(
            forName: NotificationIntegration.inAppBannerTappedNotification, object: nil, queue: nil
        ) { notification in
            let push = notification.object as? [AnyHashable: Any]
            let rc = push?["rc"] as? [AnyHashable: Any]
            // The centre is the whole process's: other tests tap banners meanwhile.
            guard rc?["id"] as? String == MessageID(rawValue: 77).description else { return }
            tapped.withLock { $0.append(rc?["tId"] as? String ?? "nothing") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        if let banner = bench.banners.first, let kit = bench.kit {
            await bench.phone.inApp { @MainActor in kit.didTap(banner) }
        }
        #expect(bench.opened == ["PR:bob"])
        #expect(tapped.withLock { $0 } == ["bob"])
    }

    @Test(.requirement("S4.2")) func `rings once for a push that comes twice in the foreground`() async {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        for _ in 1...2 { await bench.phone.deliver(bench.push(MessageID(rawValue: 77))) }
        await bench.phone.deliver(bench.push(MessageID(rawValue: 78)))
        await bench.until { $0.banners.count > 1 }
        #expect(bench.banners.count == 2)
        #expect(self.sounds(bench) == [1312, 4095, 1312, 4095])
    }

    @Test(.requirement("S0.20", "S1.10")) func `opens the conversation of a push that is tapped, by the old callback`()
        async
    {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.phone.home()
        await bench.phone.deliver(bench.push(MessageID(rawValue: 77)))
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.responses.map(\.origin) == [.callback])
    }

    @Test(.requirement("S0.21", "S0.22", "S4.4"))
    func `opens the conversation once when its process was gone, though two callback paths tell it`() async {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.phone.home()
        await bench.phone.terminate()
        await bench.phone.deliver(bench.push(MessageID(rawValue: 77)))
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        await bench.advance(by: 1_000)
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.responses.map(\.origin) == [.launchOptions])
        #expect(bench.launches == [true, true])
    }

    @Test(.requirement("S0.9", "S3.9", "S3.11")) func `shows a local notification of the old kind, and a tap opens it`()
        async throws
    {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.screen.list.isEmpty }
        let content = try #require(bench.phone.screen.list.first?.notification.request.content)
        #expect(content.body == "hi")
        #expect(content.userInfo["rc"]?["tId"] == "bob")
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
    }

    @Test(.requirement("S0.19", "S0.22", "S3.12"))
    func `opens a local notification's conversation from its launch options`() async {
        let bench = await ChatBench(osVersion: 9, lifecycle: .application, isOld: true)
        await bench.goHome()
        bench.server.say("hi")
        await bench.until { !$0.phone.screen.list.isEmpty }
        await bench.phone.terminate()
        await bench.phone.tap()
        await bench.until { !$0.opened.isEmpty }
        #expect(bench.opened == ["PR:bob"])
        #expect(bench.responses.map(\.origin) == [.launchOptions])
    }
}

import ClientCore
import Foundation
import PhoneCore
import Requirements
import Synchronization
import Testing
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications
import VirtualPhone

@testable import TidingsKit

/// How much is run: `TIDINGS_SEQUENCES` sequences, from the seed `TIDINGS_SEED` on.
private enum Sequences {
    static var count: Int { Self.number("TIDINGS_SEQUENCES") ?? 6 }
    static var steps: Int { Self.number("TIDINGS_SEQUENCES") == nil ? 100 : 500 }
    static var firstSeed: Int { Self.number("TIDINGS_SEED") ?? 1 }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}

/// The completion handlers handed out, and how often each was called.
private final class Handlers: Sendable {
    private struct State {
        var calls: [Int] = []
        var names: [String] = []
    }

    private let state = Mutex(State())

    /// A new handler's number.
    func make(_ name: String) -> Int {
        self.state.withLock { state in
            state.calls.append(0)
            state.names.append(name)
            return state.calls.count - 1
        }
    }

    func called(_ number: Int) { self.state.withLock { $0.calls[number] += 1 } }

    var isDone: Bool { self.state.withLock { !$0.calls.contains(0) } }

    /// Handlers that were not called exactly once.
    var wrong: [String] {
        self.state.withLock { state in
            zip(state.names, state.calls).enumerated().filter { $0.element.1 != 1 }.map {
                "handler \($0.offset) of \($0.element.0) was called \($0.element.1) times"
            }
        }
    }
}

/// The forwarding methods in random order, with random arguments.
@MainActor private struct RandomCalls {
    var chance: SplitMix
    let handlers = Handlers()
    var words: [String] = []
    /// What was told as one response, by delivery.
    private var deliveries = 0
    let bench: ChatBench

    init(seed: UInt64, bench: ChatBench) {
        self.chance = SplitMix(seed: seed)
        self.bench = bench
    }

    private mutating func below(_ limit: Int) -> Int { Int(self.chance.next() % UInt64(limit)) }

    private mutating func userInfo() -> [AnyHashable: Any] {
        let id = MessageID(rawValue: UInt64(1 + self.below(40)))
        var push = self.bench.push(id).objectValue ?? JSONObject()
        switch self.below(12) {
        case 0..<5: break
        case 5: push = JSONObject([("aps", ["alert": "sale"]), ("type", "news")])
        case 6: push = JSONObject([("aps", ["alert": "passed"]), ("type", "commentpass")])
        case 7: push["rc"] = ["cType": 7, "fId": true]
        case 8: push["tidings"] = "broken"
        case 9:
            push = JSONObject([("aps", ["content-available": 1]), ("tidings", push["tidings"] ?? .null)])
        case 10:
            push["message"] = ["params": ["corner_mark_decrease": true]]
            push["aps"] = "nothing"
        default: return [:]
        }
        return JSONValue.object(push).userInfo
    }

    private mutating func action() -> String {
        [
            MessageCategory.defaultAction, MessageCategory.dismissAction, MessageCategory.replyAction,
            MessageCategory.markReadAction, "look",
        ][self.below(5)]
    }

    private mutating func notification(_ userInfo: [AnyHashable: Any]) -> UNNotification {
        self.deliveries += 1
        let content = UNMutableNotificationContent()
        content.title = "Bob"
        content.userInfo = userInfo
        if self.below(2) == 0 { content.sound = .default }
        let request = UNNotificationRequest(identifier: "n\(self.below(30))", content: content, trigger: nil)
        return UNNotification(date: Date(timeIntervalSince1970: Double(self.deliveries)), request: request)
    }

    /// One call; what the kit does not take, the app answers.
    mutating func call(_ kit: NotificationIntegration) {
        let application = UIApplication.shared
        let userInfo = self.userInfo()
        let handlers = self.handlers
        func handler(_ name: String) -> @Sendable () -> Void {
            let number = handlers.make(name)
            return { handlers.called(number) }
        }
        switch self.below(10) {
        case 0:
            let done = handler("WP")
            let isOurs = kit.userNotificationCenter(
                .current(), willPresent: self.notification(userInfo), withCompletionHandler: { _ in done() })
            if !isOurs { done() }
        case 1: self.respond(kit, userInfo, done: handler("DR"))
        case 2: kit.application(application, didReceiveRemoteNotification: userInfo)
        case 3:
            let done = handler("RF")
            let isOurs = kit.application(
                application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: { _ in done() })
            if !isOurs { done() }
        case 4:
            let done = handler("PF")
            let isOurs = kit.application(application, performFetchWithCompletionHandler: { _ in done() })
            if !isOurs { done() }
        case 5: self.callTheOldWay(kit, userInfo, done: handler("AR"))
        case 6: kit.handleLaunch(options: [.remoteNotification: userInfo])
        case 7:
            kit.application(
                application,
                didRegisterForRemoteNotificationsWithDeviceToken: Data((0..<self.below(64)).map(UInt8.init)))
        case 8:
            let local = UILocalNotification()
            local.alertBody = "hi"
            local.userInfo = userInfo
            kit.application(application, didReceive: local)
        default: kit.didTap(InAppBanner(text: AlertText(body: "hi"), userInfo: JSONValue(userInfo: userInfo)))
        }
    }

    private mutating func respond(
        _ kit: NotificationIntegration, _ userInfo: [AnyHashable: Any], done: @escaping @Sendable () -> Void
    ) {
        let notification = self.notification(userInfo)
        let action = self.action()
        let response =
            action == MessageCategory.replyAction
            ? UNTextInputNotificationResponse(notification: notification, actionIdentifier: action, userText: "fine")
            : UNNotificationResponse(notification: notification, actionIdentifier: action)
        let before = self.bench.opened.count
        let isOurs = kit.userNotificationCenter(.current(), didReceive: response, withCompletionHandler: done)
        if !isOurs { done() }
        // The same delivery once more is an echo.
        let opened = self.bench.opened.count
        #expect(opened - before <= 1)
        let again = self.handlers.make("DR again")
        let handlers = self.handlers
        let isOursAgain = kit.userNotificationCenter(
            .current(), didReceive: response, withCompletionHandler: { handlers.called(again) })
        if !isOursAgain { handlers.called(again) }
        #expect(self.bench.opened.count == opened, "a delivery was handed over twice")
    }

    private mutating func callTheOldWay(
        _ kit: NotificationIntegration, _ userInfo: [AnyHashable: Any], done: @escaping @Sendable () -> Void
    ) {
        let application = UIApplication.shared
        let action = self.below(4) == 0 ? nil : self.action()
        let typed: [AnyHashable: Any] =
            self.below(2) == 0 ? [:] : ["UIUserNotificationActionResponseTypedTextKey": "fine"]
        let local = UILocalNotification()
        local.userInfo = userInfo
        let isOurs =
            switch self.below(4) {
            case 0:
                kit.application(
                    application, handleActionWithIdentifier: action, forRemoteNotification: userInfo,
                    completionHandler: done)
            case 1:
                kit.application(
                    application, handleActionWithIdentifier: action, forRemoteNotification: userInfo,
                    withResponseInfo: typed, completionHandler: done)
            case 2:
                kit.application(
                    application, handleActionWithIdentifier: action, for: local, completionHandler: done)
            default:
                kit.application(
                    application, handleActionWithIdentifier: action, for: local, withResponseInfo: typed,
                    completionHandler: done)
            }
        if !isOurs { done() }
    }
}

@MainActor @Suite(.serialized) struct `Forwarded calls in any order` {
    private static let versions: [OSVersion] = [6, 7, OSVersion(9, 3), 10, 12, 13, 15, 17, 26]

    @Test(.requirement("S4.9", "S1.13"))
    func `have every completion handler called exactly once, and hand a delivery over once`() async {
        for number in 0..<Sequences.count {
            let seed = UInt64(Sequences.firstSeed + number)
            let version = Self.versions[Int(seed) % Self.versions.count]
            let bench = await ChatBench(
                osVersion: version, lifecycle: seed % 2 == 0 ? .scenes : .application, isOld: version < 10)
            var calls = RandomCalls(seed: seed, bench: bench)
            let end = seed % 3
            await bench.phone.inApp { @MainActor in
                for step in 0..<Sequences.steps {
                    guard let kit = bench.kit else { return }
                    calls.call(kit)
                    // A person who signs out midway, or an app that drops its kit.
                    if end == 1, step == Sequences.steps / 2 { kit.client.disconnect() }
                    if step % 20 == 0 { await Task.yield() }
                }
            }
            if end == 2 { bench.kit = nil }
            for _ in 0..<400 where !calls.handlers.isDone {
                try? await Task.sleep(for: .milliseconds(100))
            }
            let wrong = calls.handlers.wrong
            if !wrong.isEmpty {
                Issue.record("TIDINGS_SEQUENCES=1 TIDINGS_SEED=\(seed) replays: \(wrong.prefix(5))")
            }
            bench.remove()
        }
    }
}

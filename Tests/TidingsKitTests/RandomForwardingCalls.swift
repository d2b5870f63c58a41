import ClientCore
import Foundation
import PhoneCore
import SDKTestSupport
import TidingsClient
import TidingsModel
import UserNotifications

@testable import TidingsKit
@testable import UIKit

/// The forwarding methods in random order, with random arguments.
@MainActor struct RandomCalls {
    /// A notification the person may tap, and what is in it.
    struct Delivery {
        var content: String
        var userInfo: JSONObject
        /// Whether it names a screen.
        var hasRoute: Bool
        /// Whether the kit takes it when it arrives.
        var isOurs: Bool
        var tag: String?
        var isDated: Bool
        var number: Int
    }

    var chance: SplitMix64
    let bench: ForwardingBench
    let handlers = ForwardingHandlers()
    private var deliveries: [Delivery] = []
    private var last = 0
    /// Counts the kits; what one knows, the next does not.
    var generation = 0
    private var presented: Set<String> = []
    /// What the person did with a notification that the launch options call a tap: one thing, and no second one.
    private var launched: [String: String?] = [:]

    init(seed: UInt64, bench: ForwardingBench) {
        self.chance = SplitMix64(seed: seed)
        self.bench = bench
    }

    mutating func below(_ limit: Int) -> Int { Int(self.chance.next() % UInt64(limit)) }
    mutating func says(_ percent: Int) -> Bool { self.below(100) < percent }

    /// A handler for the kit, which the app calls if the kit leaves the call to it.
    private func handler(_ name: String) -> @Sendable () -> Void {
        let number = self.handlers.make(name)
        let handlers = self.handlers
        return { handlers.called(number) }
    }

    private func expect(_ isOurs: Bool, _ expected: Bool, _ name: String) {
        if isOurs != expected { self.bench.problem("\(name) answers \(isOurs), the rule says \(expected)") }
    }

    // MARK: Taps

    private func rc(_ id: String) -> JSONValue {
        ["cType": "PR", "fId": "bob", "oName": "RC:TxtMsg", "tId": "bob", "mId": "", "id": .string(id)]
    }

    private func info(_ id: UInt64, tag: String) -> JSONValue {
        PushInfo(message: MessageID(rawValue: id), position: 1, badgePosition: 1, recipientTag: tag).dictionary
    }

    private mutating func newDelivery() -> Delivery {
        self.last += 1
        let id = 1_000_000 + UInt64(self.last)
        let content = MessageID(rawValue: id).description
        var push = JSONObject([("aps", ["alert": ["title": "Bob", "body": "hi"], "sound": "default"])])
        var hasRoute = true
        var isOurs = true
        var tag: String?
        switch self.below(12) {
        case 0..<5: push["rc"] = self.rc(content)
        case 5..<7: tag = self.bench.server.tag()
        case 7..<9: tag = "tag-of-another"
        case 9:
            push["type"] = "commentpass"
            push["number"] = .string(content)
        case 10:
            push["rc"] = self.rc(content)
            push["tidings"] = "broken"
        default:
            push["type"] = "news"
            push["number"] = .string(content)
            hasRoute = false
            isOurs = false
        }
        if let tag {
            push["rc"] = self.rc(content)
            push["tidings"] = self.info(id, tag: tag)
        }
        let isDated = !self.bench.hasOldCallbackPaths || (self.bench.version >= 13 && self.says(30))
        let delivery = Delivery(
            content: content, userInfo: push, hasRoute: hasRoute, isOurs: isOurs, tag: tag, isDated: isDated,
            number: self.last)
        self.deliveries.append(delivery)
        // Fewer than the kit remembers.
        if self.deliveries.count > 8 { self.deliveries.removeFirst() }
        return delivery
    }

    private mutating func action() -> String {
        guard !self.says(50) else { return MessageCategory.defaultAction }
        return [
            MessageCategory.dismissAction, MessageCategory.replyAction, MessageCategory.markReadAction, "look",
        ][self.below(4)]
    }

    /// The new kit knows nothing of what was tapped before.
    mutating func forget() {
        self.deliveries = []
        self.generation += 1
    }

    mutating func tap(_ kit: NotificationIntegration) {
        let isNew = self.deliveries.isEmpty || self.says(50)
        let delivery = isNew ? self.newDelivery() : self.deliveries[self.below(self.deliveries.count)]
        guard let isForPerson = self.bench.accepts(delivery.tag) else { return }
        if !isForPerson { self.bench.coverage.note("tap for another person") }
        if !delivery.hasRoute { self.bench.coverage.note("push of others") }
        let isTold = delivery.hasRoute && isForPerson
        if isNew, self.bench.applicationState != .background, self.says(15) {
            return self.launch(kit, delivery, isTold: isTold)
        }
        guard delivery.isDated else { return self.tapTheOldWay(kit, delivery, isTold: isTold) }
        let action = self.launched[delivery.content]?.flatMap { $0 } ?? self.action()
        if self.launched[delivery.content] != nil { self.launched[delivery.content] = .some(action) }
        let notification = self.notification(
            delivery.userInfo, identifier: "n\(delivery.number % 5)", number: delivery.number)
        let response =
            action == MessageCategory.replyAction
            ? UNTextInputNotificationResponse(notification: notification, actionIdentifier: action, userText: "fine")
            : UNNotificationResponse(notification: notification, actionIdentifier: action)
        var paths = ["DR", "SC"].filter { $0 == "DR" || self.bench.version >= 13 }
        if self.bench.hasOldCallbackPaths { paths = ["SC"] }
        let path = paths[self.below(paths.count)]
        let times = self.says(25) ? 2 : 1
        if times == 2 { self.bench.coverage.note("tap told twice by the same callback path") }
        for _ in 1...times {
            if isTold {
                self.bench.tell(delivery.content, action: action, by: .dated)
                self.noteAction(action)
            }
            if path == "SC" {
                self.bench.coverage.note("scene connection")
                let options = UIScene.ConnectionOptions(notificationResponse: response)
                let session = UISceneSession(persistentIdentifier: "main", role: .windowApplication)
                let scene = UIScene(session: session)
                self.expect(
                    kit.scene(scene, willConnectTo: session, options: options), delivery.hasRoute, "SC")
            } else {
                let done = self.handler("DR")
                let isOurs = kit.userNotificationCenter(
                    .current(), didReceive: response, withCompletionHandler: done)
                if !isOurs { done() }
                self.expect(isOurs, delivery.hasRoute, "DR")
            }
            self.bench.check(after: "\(path) \(action) of \(delivery.content)")
        }
    }

    private func noteAction(_ action: String) {
        if action == MessageCategory.replyAction { self.bench.coverage.note("reply") }
        if action == MessageCategory.markReadAction { self.bench.coverage.note("mark as read") }
    }

    private func notification(
        _ userInfo: JSONObject, identifier: String, number: Int, hasSound: Bool = true
    ) -> UNNotification {
        let content = UNMutableNotificationContent()
        content.title = "Bob"
        content.userInfo = JSONValue.object(userInfo).userInfo
        if hasSound { content.sound = .default }
        let request = UNNotificationRequest(identifier: identifier, content: content, trigger: nil)
        return UNNotification(date: Date(timeIntervalSince1970: Double(number)), request: request)
    }

    private func local(_ delivery: Delivery) -> UILocalNotification {
        let local = UILocalNotification()
        local.alertBody = "hi"
        local.userInfo = JSONValue.object(delivery.userInfo).userInfo
        return local
    }

    private mutating func launch(_ kit: NotificationIntegration, _ delivery: Delivery, isTold: Bool) {
        self.bench.coverage.note("launch options")
        self.launched[delivery.content] = .some(nil)
        if isTold { self.bench.tell(delivery.content, action: MessageCategory.defaultAction, by: .launch) }
        let isTaken =
            self.says(50)
            ? kit.handleLaunch(options: [.remoteNotification: JSONValue.object(delivery.userInfo).userInfo])
            : kit.handleLaunch(options: [.localNotification: self.local(delivery)])
        self.expect(isTaken, delivery.hasRoute, "launch options")
        self.bench.check(after: "launch options of \(delivery.content)")
    }

    private mutating func tapTheOldWay(_ kit: NotificationIntegration, _ delivery: Delivery, isTold: Bool) {
        let application = UIApplication.shared
        let userInfo = JSONValue.object(delivery.userInfo).userInfo
        let state = self.bench.applicationState
        var action = MessageCategory.defaultAction
        var expected = delivery.hasRoute
        let isOurs: Bool
        let path = self.below(7)
        if path < 4 {
            action = self.action()
            self.bench.coverage.note("action on an old callback")
        } else {
            guard state == .inactive || (state == .background && path == 6) else { return }
            self.bench.coverage.note("tap on an old callback")
        }
        if isTold {
            self.bench.tell(delivery.content, action: action, by: .undated)
            if path < 4 { self.noteAction(action) }
        }
        switch path {
        case 0..<4:
            let done = self.handler("AR")
            isOurs = self.act(kit, delivery, action, path: path, done: done)
            if !isOurs { done() }
        case 4:
            expected = delivery.isOurs
            isOurs = kit.application(application, didReceiveRemoteNotification: userInfo)
        case 5:
            expected = delivery.isOurs
            isOurs = self.fetch(kit, userInfo)
        default: isOurs = kit.application(application, didReceive: self.local(delivery))
        }
        self.expect(isOurs, expected, "old callback path \(path)")
        self.bench.check(after: "old callback path \(path), \(action) of \(delivery.content)")
    }

    private mutating func act(
        _ kit: NotificationIntegration, _ delivery: Delivery, _ action: String, path: Int,
        done: @escaping @Sendable () -> Void
    ) -> Bool {
        let application = UIApplication.shared
        let userInfo = JSONValue.object(delivery.userInfo).userInfo
        // Nil is the default action.
        let identifier = action == MessageCategory.defaultAction && self.says(50) ? nil : action
        let typed: [AnyHashable: Any] =
            self.says(50) ? [:] : ["UIUserNotificationActionResponseTypedTextKey": "fine"]
        return switch path {
        case 0:
            kit.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
                completionHandler: done)
        case 1:
            kit.application(
                application, handleActionWithIdentifier: identifier, forRemoteNotification: userInfo,
                withResponseInfo: typed, completionHandler: done)
        case 2:
            kit.application(
                application, handleActionWithIdentifier: identifier, for: self.local(delivery),
                completionHandler: done)
        default:
            kit.application(
                application, handleActionWithIdentifier: identifier, for: self.local(delivery),
                withResponseInfo: typed, completionHandler: done)
        }
    }

    mutating func tapBanner(_ kit: NotificationIntegration) {
        let delivery = self.newDelivery()
        guard let isForPerson = self.bench.accepts(delivery.tag) else { return }
        self.bench.coverage.note("in-app banner tapped")
        if delivery.hasRoute, isForPerson {
            self.bench.tell(delivery.content, action: MessageCategory.defaultAction, by: .banner)
        }
        kit.didTap(InAppBanner(text: AlertText(body: "hi"), userInfo: .object(delivery.userInfo)))
        self.bench.check(after: "banner of \(delivery.content)")
        // Touched is touched: it comes by no other callback path.
        self.deliveries.removeLast()
    }

    // MARK: Arrivals

    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`, with the answer noted.
    private func fetch(_ kit: NotificationIntegration, _ userInfo: [AnyHashable: Any]) -> Bool {
        let number = self.handlers.make("RF")
        let handlers = self.handlers
        let isOurs = kit.application(.shared, didReceiveRemoteNotification: userInfo) { result in
            handlers.called(number, result: result)
        }
        if !isOurs { handlers.called(number) }
        return isOurs
    }

    mutating func backgroundFetch(_ kit: NotificationIntegration) {
        let number = self.handlers.make("PF")
        let handlers = self.handlers
        kit.application(.shared, performFetchWithCompletionHandler: { handlers.called(number, result: $0) })
    }

    /// A push for the app, silent where one with text would be a tap.
    mutating func arrive(_ kit: NotificationIntegration) {
        let state = self.bench.applicationState
        let isSilent = state == .inactive || self.says(40)
        let id = 600_000 + UInt64(self.below(30))
        var push = JSONObject()
        push["aps"] = isSilent ? ["content-available": 1] : ["alert": "hi", "sound": "default"]
        let isOurs = self.says(80)
        if isSilent, isOurs, self.says(40) {
            let (number, position) = self.bench.server.badge
            let tag = self.says(80) ? self.bench.server.tag() : "tag-of-another"
            let info = BadgeInfo(badge: number, badgePosition: position, recipientTag: tag)
            push["tidings"] = info.dictionary
            self.bench.coverage.note("push about the number")
        } else if isOurs {
            push["tidings"] = self.info(id, tag: self.bench.server.tag())
        } else {
            push["type"] = "news"
        }
        let userInfo = JSONValue.object(push).userInfo
        if self.says(25) {
            self.expect(kit.application(.shared, didReceiveRemoteNotification: userInfo), isOurs, "R0")
        } else {
            self.expect(self.fetch(kit, userInfo), isOurs, "RF")
        }
        self.bench.check(after: "arrival")
    }

    mutating func arriveLocally(_ kit: NotificationIntegration) {
        guard self.bench.applicationState == .active else { return }
        let delivery = self.newDelivery()
        self.expect(kit.application(.shared, didReceive: self.local(delivery)), delivery.isOurs, "L0")
        self.bench.check(after: "L0 in the foreground")
    }

    mutating func present(_ kit: HesitantKit) {
        guard self.bench.version >= 10 else { return }
        let roll = self.below(10)
        let recent = self.bench.server.newest(6)
        var id = MessageID(rawValue: 600_000 + UInt64(self.below(30)))
        if roll < 5, !recent.isEmpty { id = recent[self.below(recent.count)] }
        // Where there is no extension, the kit has only what it knows itself.
        let hasExtension = roll < 8
        if !hasExtension { id = MessageID(rawValue: UInt64(500_000 + self.generation * 1_000 + self.below(12))) }
        let rings = hasExtension ? self.bench.letExtensionDecide(id) : true
        guard self.bench.applicationState == .active || !hasExtension else {
            if rings { self.bench.ringInBackground(id.description) }
            return
        }
        self.bench.coverage.note("silenced in the foreground", rings ? 0 : 1)
        let isSecond = !self.presented.insert(id.description).inserted
        self.bench.coverage.note("ring in the foreground refused the second time", isSecond && !hasExtension ? 1 : 0)
        self.last += 1
        let push = JSONObject([
            ("aps", ["alert": "hi"]), ("rc", self.rc(id.description)),
            ("tidings", self.info(id.rawValue, tag: self.bench.server.tag())),
        ])
        let number = self.handlers.make(
            "WP", message: self.bench.phone.named(id.description), isLate: kit.hesitates)
        let handlers = self.handlers
        let isOurs = kit.userNotificationCenter(
            .current(),
            willPresent: self.notification(push, identifier: id.description, number: self.last, hasSound: rings)
        ) { handlers.called(number, options: $0) }
        self.expect(isOurs, true, "WP")
    }
}

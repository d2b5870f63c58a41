import ClientCore
import Foundation
import TidingsAppGroup
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

// What the kit makes of what the delegates forward, by whichever road.
extension NotificationIntegration {
    /// One of ours: an `rc` dictionary, a push type of the app's the kit was told of, or a push of the server's for the SDK.
    func isOurs(_ userInfo: JSONValue) -> Bool {
        Route(userInfo: userInfo, types: self.detailTypes) != nil || userInfo[PushInfo.key] != nil
    }

    /// Whether it is for somebody else than the person who is signed in here (DESIGN P7).
    func isForAnother(_ userInfo: JSONValue) -> Bool {
        PushInfo(userInfo: userInfo).map { !self.client.isSignedIn(recipientTag: $0.recipientTag) } ?? false
    }

    func received(_ userInfo: JSONValue, text: AlertText) -> ReceivedNotification {
        ReceivedNotification(payload: try? NotificationPayload(userInfo: userInfo), text: text, userInfo: userInfo)
    }

    /// Whether the old callbacks tell of arrivals and taps: below iOS 10, and where the app has set no delegate
    /// (ios-delivery.md §5.3).
    var hasOldRoads: Bool { self.system.major < 10 || self.center.delegate == nil }

    /// `application(_:didReceiveRemoteNotification:)`,
    /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)` and
    /// `application(_:didReceive: UILocalNotification)` in front: nothing was shown and nothing heard (S4.2).
    func arrivedInFront(_ userInfo: JSONValue, text: AlertText, hasSound: Bool) {
        let arrived = self.received(userInfo, text: text)
        self.client.publish(arrived, isInFront: true)
        let steps = self.frontPresentation.steps(
            text: text, hasSound: hasSound, userInfo: userInfo, system: nil, isKnown: self.isKnown(arrived))
        if !steps.isEmpty, let message = Self.message(of: arrived) { self.noteRung(message) }
        for step in steps {
            switch step {
            case .showBanner(let banner): self.banners.send(banner)
            case .playSound(let sound): SoundPlayer.play(sound)
            case .vibrate: SoundPlayer.vibrate()
            }
        }
    }

    /// `didReceiveRemoteNotification:` and `didReceiveRemoteNotification:fetchCompletionHandler:` by the state of the app:
    /// active is an arrival, background a wake; inactive is a tap on the old roads, but a push without text cannot have
    /// been tapped (S1.8 with the right rules). Returns false for a push that is not ours.
    func takeRemote(_ userInfo: [AnyHashable: Any], in state: UIApplication.State) -> Bool {
        let json = JSONValue(userInfo: userInfo)
        guard self.isOurs(json) else { return false }
        guard !self.isForAnother(json) else { return true }
        let text = AlertText(userInfo: json)
        switch state {
        case .active:
            if self.hasOldRoads {
                self.arrivedInFront(json, text: text, hasSound: json["aps"]?["sound"] != nil)
            } else if text.isEmpty {
                self.client.publish(self.received(json, text: text), isInFront: true)
            }
        case .inactive:
            if self.hasOldRoads, !text.isEmpty {
                _ = self.take(json, text: text, action: MessageCategory.defaultAction, typed: nil, origin: .callback)
            } else if text.isEmpty {
                self.client.publish(self.received(json, text: text), isInFront: true)
            }
        case .background: self.client.publish(self.received(json, text: text), isInFront: false)
        @unknown default: break
        }
        return true
    }

    /// A silent push about the number on the icon. One for somebody else changes nothing and needs no work.
    func take(
        _ push: BadgeInfo, of userInfo: JSONValue, in state: UIApplication.State,
        then completion: Completion<UIBackgroundFetchResult>
    ) {
        let client = self.client
        let arrived = self.received(userInfo, text: AlertText(userInfo: userInfo))
        let isActive = state == .active
        let remaining = state == .background ? self.remainingBackgroundTime : nil
        Task {
            let verdict = await client.take(push, isActive: isActive)
            guard verdict != .foreign else {
                completion(.noData)
                return
            }
            client.publish(arrived, isInFront: state != .background)
            let result = UIBackgroundFetchResult(await client.performBackgroundRefresh(remaining: remaining))
            if case .shows = verdict { completion(.newData) } else { completion(result) }
        }
    }

    /// A response by the roads of iOS 10 and later. Returns nil for one that is not ours, otherwise what is to be done before
    /// the handler is called; an echo of one already taken needs nothing.
    func take(_ response: UNNotificationResponse, origin: NotificationResponse.Origin) -> ResponseWork? {
        let request = response.notification.request
        let content = request.content
        let json = JSONValue(userInfo: content.userInfo)
        guard let route = Route(userInfo: json, types: self.detailTypes) else { return nil }
        let payload = try? NotificationPayload(userInfo: json)
        let taken = NotificationResponse(
            route: route, payload: payload,
            text: AlertText(title: content.title, subtitle: content.subtitle, body: content.body), userInfo: json,
            actionIdentifier: response.actionIdentifier,
            userText: (response as? UNTextInputNotificationResponse)?.userText, origin: origin)
        let date = Int64(response.notification.date.timeIntervalSince1970 * 1_000)
        return self.deliver(taken, request: request.identifier, deliveredAt: date)
    }

    /// A tap or action by the old roads, which tell the user info only.
    func take(
        _ userInfo: JSONValue, text: AlertText, action: String, typed: String?, origin: NotificationResponse.Origin
    ) -> ResponseWork? {
        guard let route = Route(userInfo: userInfo, types: self.detailTypes) else { return nil }
        let taken = NotificationResponse(
            route: route, payload: try? NotificationPayload(userInfo: userInfo), text: text, userInfo: userInfo,
            actionIdentifier: action, userText: typed, origin: origin)
        return self.deliver(taken, request: nil, deliveredAt: nil)
    }

    private func deliver(
        _ response: NotificationResponse, request: String?, deliveredAt: Int64?
    ) -> ResponseWork {
        // Before the tag is looked at: who signs in meanwhile is not who was meant.
        var work = ResponseWork(signIn: self.client.signInNote)
        // What was left by the person before is not this one's to open or to answer (DESIGN P7).
        guard !self.isForAnother(response.userInfo) else { return work }
        let identity = TapLog.Identity(
            request: request, deliveredAt: deliveredAt,
            content: response.payload?.messageUID ?? response.userInfo.text, action: response.actionIdentifier,
            origin: response.origin)
        let isOpen = self.taps.takeLaunch(by: identity)
        guard response.origin == .inAppBanner || self.taps.note(identity) else { return work }
        let message = response.payload?.messageUID.flatMap { MessageID($0) }
        let steps = ResponseRule.steps(
            action: response.actionIdentifier, text: response.userText, route: response.route,
            position: PushInfo(userInfo: response.userInfo)?.position)
        for step in steps {
            switch step {
            case .publish: self.client.publish(response)
            case .open where isOpen: break
            case .open(let route):
                if let message { self.client.noteOpened(message) }
                if let conversation = route.conversation { self.didOpen(conversation) }
                if let handler = self.responseHandler { handler(response) } else { self.pendingResponse = response }
            case .reply(let text, let conversation, let position):
                work.items.append(.reply(text, to: conversation, upTo: position, message: message))
            case .markRead(let conversation, let position):
                work.items.append(.markRead(conversation, upTo: position, message: message))
            }
        }
        return work
    }

    /// Does the work of an action and answers then; without work at once.
    func finish(_ work: ResponseWork?, then completion: Completion<Void>) {
        guard let work, !work.items.isEmpty else {
            completion(())
            return
        }
        let client = self.client
        let remaining = self.remainingBackgroundTime
        Task {
            for item in work.items { _ = await client.perform(item, remaining: remaining, signIn: work.signIn) }
            completion(())
        }
    }

    /// The background time left; nil in front, where the system does not count it.
    var remainingBackgroundTime: TimeInterval? {
        let seconds = self.application.backgroundTimeRemaining
        return seconds < 86_400 ? seconds : nil
    }

    /// Catches up with the server and answers then, within the 30 seconds of ios-delivery.md §7.1.
    func refresh(then completion: Completion<UIBackgroundFetchResult>) {
        let client = self.client
        let remaining = self.application.applicationState == .background ? self.remainingBackgroundTime : nil
        Task { completion(UIBackgroundFetchResult(await client.performBackgroundRefresh(remaining: remaining))) }
    }
}

extension UIBackgroundFetchResult {
    init(_ result: BackgroundRefreshResult) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}

/// What a response of the person's asks for.
struct ResponseWork {
    /// Who was signed in last when it came: it is theirs and nobody else's (DESIGN P7).
    var signIn: SignInNote
    var items: [BackgroundWork] = []
}

import ClientCore
import Foundation
import TidingsAppGroup
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

/// A handler that is given up is called with its fallback.
struct OpenCalls {
    var last: KitMachine.Call = 0
    var presentations: [KitMachine.Call: Completion<PresentationOptions>] = [:]
    var fetches: [KitMachine.Call: Completion<UIBackgroundFetchResult>] = [:]
    var responses: [KitMachine.Call: Completion<Void>] = [:]

    mutating func next() -> KitMachine.Call {
        self.last += 1
        return self.last
    }
}

// The kit's machine: what the delegates forward goes in, what it decides is carried out.
extension NotificationIntegration {
    /// `accept` is called before anything is carried out, for one of ours, to keep its completion handler. Returns
    /// false for a notification that is not ours.
    @discardableResult
    func handle(_ event: KitMachine.Event, accept: () -> Void = {}) -> Bool {
        // Before the tag is looked at: who signs in meanwhile is not who was meant (design.md P7).
        let signIn: SignInNote? = if case .responded = event { self.client.signInNote } else { nil }
        var effects: [KitMachine.Effect] = []
        self.machine.handle(event, facts: self.client.kitFacts, into: &effects)
        guard !effects.contains(.leaveToApp) else { return false }
        accept()
        for effect in effects { self.carryOut(effect, signIn: signIn) }
        return true
    }

    func handleFetch(
        _ completionHandler: @escaping (UIBackgroundFetchResult) -> Void,
        _ event: (KitMachine.Call) -> KitMachine.Event
    ) -> Bool {
        let call = self.calls.next()
        return self.handle(event(call)) {
            self.calls.fetches[call] = Completion(fallback: .failed) { completionHandler($0) }
        }
    }

    func handle(_ tap: KitMachine.Tap, completionHandler: (() -> Void)?) -> Bool {
        guard let completionHandler else { return self.handle(.responded(tap, nil)) }
        let call = self.calls.next()
        return self.handle(.responded(tap, call)) {
            self.calls.responses[call] = Completion(fallback: ()) { completionHandler() }
        }
    }

    // tidy: long because it is one case per effect.
    private func carryOut(_ effect: KitMachine.Effect, signIn: SignInNote?) {
        let client = self.client
        switch effect {
        case .leaveToApp: break
        case .publishArrival(let notification, let isForeground):
            client.publish(notification, isInForeground: isForeground)
        case .choosePresentation(let notification, let call, let milliseconds):
            self.choosePresentation(of: notification, call, within: milliseconds)
        case .present(let options, let call): self.calls.presentations.removeValue(forKey: call)?(options)
        case .markShown(let message): client.markShown(message)
        case .ring(.showBanner(let banner)): self.banners.send(banner)
        case .ring(.playSound(let sound)): SoundPlayer.play(sound)
        case .ring(.vibrate): SoundPlayer.vibrate()
        case .countBadge, .showBadge: Task { if let event = await client.carryOut(effect) { self.handle(event) } }
        case .refresh(let call):
            let remaining = self.application.applicationState == .background ? self.remainingBackgroundTime : nil
            Task { self.handle(.refreshed(await client.performBackgroundRefresh(remaining: remaining), call)) }
        case .answerFetch(let result, let call):
            self.calls.fetches.removeValue(forKey: call)?(UIBackgroundFetchResult(result))
        case .publishResponse(let response): client.publish(response)
        case .reportOpened(let message): client.noteOpened(message)
        case .clearNotifications(let conversation): self.didOpen(conversation)
        case .open(let response):
            if let handler = self.responseHandler { handler(response) } else { self.pendingResponse = response }
        case .work(let items, let call):
            let remaining = self.remainingBackgroundTime
            Task {
                for item in items { _ = await client.perform(item, remaining: remaining, signIn: signIn) }
                if let call { self.handle(.worked(call)) }
            }
        case .completeResponse(let call): self.calls.responses.removeValue(forKey: call)?(())
        case .registerForRemoteNotifications: self.application.registerForRemoteNotifications()
        }
    }

    private func choosePresentation(
        of notification: ReceivedNotification, _ call: KitMachine.Call, within milliseconds: Int64
    ) {
        Task { self.handle(.presentationChosen(await self.presentationOptions(for: notification), call)) }
        let clock = self.client.clock
        let deadline = clock.now.monotonic + milliseconds
        Task { [weak self] in
            await clock.sleep(untilMonotonic: deadline)
            self?.handle(.presentationTimePassed(call))
        }
    }

    /// Nil in the foreground, where the system does not count it.
    var remainingBackgroundTime: TimeInterval? {
        let seconds = self.application.backgroundTimeRemaining
        return seconds < 86_400 ? seconds : nil
    }
}

extension KitMachine.Tap {
    @MainActor init(_ response: UNNotificationResponse, origin: PersonResponse.Origin) {
        let request = response.notification.request
        let content = request.content
        self.init(
            userInfo: JSONValue(userInfo: content.userInfo), text: AlertText(content),
            action: response.actionIdentifier, userText: (response as? UNTextInputNotificationResponse)?.userText,
            origin: origin, request: request.identifier,
            deliveredAt: Int64(response.notification.date.timeIntervalSince1970 * 1_000))
    }

    init(payload userInfo: JSONValue, origin: PersonResponse.Origin) {
        self.init(userInfo: userInfo, text: AlertText(userInfo: userInfo), origin: origin)
    }
}

extension AlertText {
    init(_ content: UNNotificationContent) {
        self.init(title: content.title, subtitle: content.subtitle, body: content.body)
    }
}

extension KitMachine.AppState {
    /// A state of a later system counts as background, where nothing rings.
    init(_ state: UIApplication.State) {
        switch state {
        case .active: self = .active
        case .inactive: self = .inactive
        case .background: self = .background
        @unknown default: self = .background
        }
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

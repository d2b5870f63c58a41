import ClientCore
import Foundation
import TidingsAppGroup
import TidingsClient
import TidingsModel
import UIKit
import UserNotifications

/// The completion handlers of the calls that wait for one; given up, each is called with its fallback.
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
    /// Has the machine decide about an event and carries out what follows.
    ///
    /// - Parameter accept: called before, for one of ours: keeps its completion handler.
    /// - Returns: false for a notification that is none of ours.
    @discardableResult
    func handle(_ event: KitMachine.Event, accept: () -> Void = {}) -> Bool {
        // Before the tag is looked at: who signs in meanwhile is not who was meant (DESIGN P7).
        let signIn: SignInNote? = if case .responded = event { self.client.signInNote } else { nil }
        var effects: [KitMachine.Effect] = []
        self.machine.handle(event, facts: self.client.kitFacts, into: &effects)
        guard !effects.contains(.leaveToApp) else { return false }
        accept()
        for effect in effects { self.perform(effect, signIn: signIn) }
        return true
    }

    /// A push or Background Fetch with its completion handler.
    func handleFetch(
        _ completionHandler: @escaping (UIBackgroundFetchResult) -> Void,
        _ event: (KitMachine.Call) -> KitMachine.Event
    ) -> Bool {
        let call = self.calls.next()
        return self.handle(event(call)) {
            self.calls.fetches[call] = Completion(fallback: .failed) { completionHandler($0) }
        }
    }

    /// A tap or action, with its completion handler where the callback has one.
    func handle(_ tap: KitMachine.Tap, completionHandler: (() -> Void)?) -> Bool {
        guard let completionHandler else { return self.handle(.responded(tap, nil)) }
        let call = self.calls.next()
        return self.handle(.responded(tap, call)) {
            self.calls.responses[call] = Completion(fallback: ()) { completionHandler() }
        }
    }

    // tidy: long because it is one case per effect.
    private func perform(_ effect: KitMachine.Effect, signIn: SignInNote?) {
        let client = self.client
        switch effect {
        case .leaveToApp: break
        case .publishArrival(let notification, let isForeground):
            client.publish(notification, isInForeground: isForeground)
        case .choosePresentation(let notification, let call, let milliseconds):
            self.choosePresentation(of: notification, call, within: milliseconds)
        case .present(let options, let call): self.calls.presentations.removeValue(forKey: call)?(options)
        case .markShown(let message): client.noteRung(message)
        case .ring(.showBanner(let banner)): self.banners.send(banner)
        case .ring(.playSound(let sound)): SoundPlayer.play(sound)
        case .ring(.vibrate): SoundPlayer.vibrate()
        case .countBadge(let push, let isActive, let call):
            Task { self.handle(.badgeCounted(await client.count(push, isActive: isActive), call)) }
        case .showBadge(let number, let call):
            Task {
                await client.showPushedBadge(number)
                self.handle(.badgeShown(call))
            }
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

    /// The background time left; nil in the foreground, where the system does not count it.
    var remainingBackgroundTime: TimeInterval? {
        let seconds = self.application.backgroundTimeRemaining
        return seconds < 86_400 ? seconds : nil
    }
}

extension KitMachine.Tap {
    /// A response as iOS 10 and later tell it.
    @MainActor init(_ response: UNNotificationResponse, origin: PersonResponse.Origin) {
        let request = response.notification.request
        let content = request.content
        self.init(
            userInfo: JSONValue(userInfo: content.userInfo), text: AlertText(content),
            action: response.actionIdentifier, userText: (response as? UNTextInputNotificationResponse)?.userText,
            origin: origin, request: request.identifier,
            deliveredAt: Int64(response.notification.date.timeIntervalSince1970 * 1_000))
    }

    /// A tap on what a dictionary alone tells of.
    init(payload userInfo: JSONValue, origin: PersonResponse.Origin) {
        self.init(userInfo: userInfo, text: AlertText(userInfo: userInfo), origin: origin)
    }
}

extension AlertText {
    /// What a notification says.
    init(_ content: UNNotificationContent) {
        self.init(title: content.title, subtitle: content.subtitle, body: content.body)
    }
}

extension KitMachine.AppState {
    /// As the system says; a state of a later system is taken for the background, where nothing rings.
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

import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

// The kit of a scenario's app: what it does with the system's calls.
extension ScenarioPhone {
    /// The kit's actions as `registerCategories` registers them (ios-delivery.md §6.4).
    static let kitCategory = NotificationCategory(
        identifier: MessageCategory.identifier,
        actions: [
            NotificationAction(identifier: MessageCategory.replyAction, title: "Reply", takesText: true),
            NotificationAction(identifier: MessageCategory.markReadAction, title: "Mark as Read"),
        ])

    /// - Returns: false if the process has no kit, or the notification is not Tidings's.
    @discardableResult
    mutating func handleKit(_ event: KitMachine.Event, in process: ProcessID) -> Bool {
        guard let sdk = self.app.sdk, sdk.setup.hasKit, sdk.process == process else { return false }
        var effects: [KitMachine.Effect] = []
        self.app.sdk?.kit.handle(event, facts: sdk, into: &effects)
        for effect in effects { self.carryOut(effect, in: process) }
        return !effects.contains(.leaveToApp)
    }

    mutating func choosePresentation(
        of notification: ReceivedNotification, _ call: KitMachine.Call, in process: ProcessID
    ) {
        guard let sdk = self.app.sdk else { return }
        switch sdk.setup.presents.choice {
        case .kits:
            let usual = sdk.kit.standardPresentation(of: notification, facts: sdk)
            self.handleLateKit(.presentationChosen(usual, call), in: process)
        case .own(let options): self.handleLateKit(.presentationChosen(options, call), in: process)
        case .never: break
        }
    }

    /// A frozen process hears of its timers when it goes on.
    mutating func handleLateKit(_ event: KitMachine.Event, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.process == process else { return }
        if sdk.isSuspended { self.app.sdk?.waitingKit.append(event) } else { self.handleKit(event, in: process) }
    }

    // tidy: long because it is one case per effect.
    private mutating func carryOut(_ effect: KitMachine.Effect, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        switch effect {
        case .leaveToApp: break
        case .publishArrival(let notification, let isForeground):
            self.traceTold("arrives in the \(isForeground ? "foreground" : "background"): \(notification.words)")
        case .publishResponse(let response): self.traceTold(response.words)
        case .ring(let step): self.traceTold(step.words)
        case .choosePresentation(let notification, let call, let milliseconds):
            // The app's own choice, which the kit is not told of.
            guard !sdk.callsAnsweredByFile.contains(call) else { return }
            self.schedule(.kit(.presentationTimePassed(call), process), after: milliseconds)
            self.perform(.appChooses(notification, call, process), after: sdk.setup.presents.after)
        case .present(let options, let call):
            let major = self.setup.phone.version.major
            self.complete(call, .presentation(.init(rawValue: options.systemValue(major: major))), in: process)
        case .markShown, .countBadge, .showBadge, .clearNotifications:
            if let work = effect.centerWork(managesBadge: sdk.setup.kit.managesBadge) {
                self.requestCenterWork(work, in: process)
            }
        case .refresh(let call): self.beginWake(call, in: process)
        case .answerFetch(let result, let call): self.complete(call, .fetch(FetchResult(result)), in: process)
        case .reportOpened(let message): self.handleClient(.notificationOpened(message), in: process)
        case .open(let response):
            if let conversation = response.conversation {
                self.trace.append(.opened, conversation.description, kind: "opens", at: self.now.monotonic)
            }
            for step in sdk.setup.router.steps(for: response.route, current: sdk.setup.screens) {
                self.trace.append(.way, step.words, kind: "goes", at: self.now.monotonic)
            }
        case .work(let items, let call): self.beginWork(items, call, in: process)
        case .completeResponse(let call): self.complete(call, .returned, in: process)
        case .registerForRemoteNotifications: self.enqueue(.process(process, .remoteRegistrationRequested))
        }
    }

    private mutating func traceTold(_ text: String) {
        self.trace.append(.told, text, kind: "tells", at: self.now.monotonic)
    }

    private mutating func complete(_ call: CallbackNumber, _ result: CallbackResult, in process: ProcessID) {
        guard self.app.sdk?.callsAnsweredByFile.contains(call) == false else { return }
        self.enqueue(.process(process, .callbackCompleted(call, result)))
    }

    // MARK: The work at the notification centre

    mutating func requestCenterWork(_ work: NotificationCenterQueue.Work, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.process == process else { return }
        self.observed?.append(.requests(work, hasGroup: self.core.isUnlockedOnce))
        self.app.sdk?.lastCenterWork += 1
        self.handleCenter(.requested(work, sdk.lastCenterWork + 1), in: process)
    }

    /// Handles an answer; a frozen process hears it when it goes on.
    mutating func handleCenter(_ event: NotificationCenterQueue.Event, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.process == process else { return }
        guard !sdk.isSuspended else {
            self.app.sdk?.waitingCenter.append(event)
            return
        }
        var queue = sdk.center
        var group: SDKHost? = self.core.isUnlockedOnce && event.usesGroup ? sdk : nil
        let facts = NotificationCenterQueue.Facts(
            process: process.number, major: sdk.kit.settings.major, wall: self.now.wall,
            donates: sdk.setup.kit.usesCommunicationNotifications, position: { sdk.store.position(of: $0) })
        var effects: [NotificationCenterQueue.Effect] = []
        queue.handle(event, group: &group, facts: facts, into: &effects)
        if let group { self.app.sdk = group }
        self.app.sdk?.center = queue
        for effect in effects { self.carryOut(effect, in: process) }
    }

    private mutating func carryOut(_ effect: NotificationCenterQueue.Effect, in process: ProcessID) {
        let version = self.setup.phone.version
        let hasKit = self.app.sdk?.setup.hasKit == true
        let wait = self.app.sdk?.setup.centerTakes ?? 0
        switch effect {
        // As the shipped engine without a kit: the list is empty, and nothing is taken.
        case .post(_, _, let number) where !hasKit: self.handleCenter(.posted(.failed, number), in: process)
        case .showBadge(_, let number) where !hasKit: self.handleCenter(.badgeShown(number), in: process)
        // The SDK of a scenario schedules nothing.
        case .list(let number), .removeScheduledAndList(let number):
            guard hasKit, version.hasUserNotifications else {
                return self.handleCenter(.listed([], number), in: process)
            }
            self.app.centerQueries[self.submit(.deliveredNotifications, in: process, after: wait)] = .listing(number)
        case .post(let notification, let badge, let number):
            self.observed?.append(.posts)
            let (donated, request) = notification.posted(
                badge: badge, hasCategory: self.app.setup.sdk?.registersActions == true,
                isEntitled: self.isCommunicationEntitled, settings: self.core.notificationSettings(of: Self.bundle))
            if let donated { self.enqueue(.process(process, .messageDonated(donated))) }
            guard version.hasUserNotifications else {
                // A `UILocalNotification` is not answered.
                self.enqueue(.process(process, .localNotificationScheduled(request)))
                return self.handleCenter(.posted(.shown, number), in: process)
            }
            self.app.centerQueries[self.submit(.add(request), in: process, after: wait)] = .posting(number)
        case .remove(let identifiers): self.enqueue(.process(process, .deliveredRemoved(identifiers: identifiers)))
        // By the call of the phone's era (ios-delivery.md §9).
        case .showBadge(let badge, let number) where version < 16:
            self.enqueue(.process(process, .iconBadgeNumberSet(badge)))
            self.handleCenter(.badgeShown(number), in: process)
        case .showBadge(let badge, let number):
            self.observed?.append(.showsBadge(badge))
            self.app.centerQueries[self.submit(.setBadgeCount(badge), in: process, after: wait)] = .badge(number)
        case .showBadgeBeforeReturning(let badge) where version < 16:
            self.enqueue(.process(process, .iconBadgeNumberSet(badge)))
        case .showBadgeBeforeReturning(let badge):
            self.observed?.append(.showsBadge(badge))
            _ = self.submit(.setBadgeCount(badge), in: process)
        case .donate(let form): self.enqueue(.process(process, .messageDonated(form.donation)))
        case .deleteDonations(let scope): self.enqueue(.process(process, scope.event))
        case .finish(_, .client(let event)): self.handleClient(event, in: process)
        case .finish(_, .kit(let event)): self.handleKit(event, in: process)
        case .finish(_, nil): break
        }
    }

    // MARK: Wakes

    private mutating func beginWake(_ number: WakeNumber, in process: ProcessID) {
        // A person who has signed out has no log to look into.
        guard self.app.sdk?.client != nil else { return self.finishWake(number, .noData, in: process) }
        let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
        self.handleClient(.wakeBegan(number, remainingMilliseconds: remaining), in: process)
    }

    /// Does what an action asked for, under a wake of its own; its handler is called when the server has heard of it.
    private mutating func beginWork(_ items: [BackgroundWork], _ call: KitMachine.Call?, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        self.app.sdk?.actions += 1
        // A cold start's action has no handler: its wake takes a number no call has.
        let number = call ?? UInt64.max - sdk.actions
        self.app.sdk?.openActions[number] = .some(call)
        for item in items {
            let events = item.events(
                replyID: ClientMessageID("reply-\(sdk.actions + 1)"), position: { sdk.store.position(of: $0) },
                newest: { sdk.store.newest($0) })
            for event in events { self.handleClient(event, in: process) }
        }
        self.beginWake(number, in: process)
    }

    mutating func finishWake(_ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID) {
        if let call = self.app.sdk?.openActions.removeValue(forKey: number) {
            if let call { self.handleKit(.worked(call), in: process) }
        } else {
            self.handleKit(.refreshed(result, number), in: process)
        }
    }
}

extension NotificationCenterQueue.Event {
    fileprivate var usesGroup: Bool {
        switch self {
        case .requested(let work, _): work.usesGroup
        case .listed, .posted, .badgeShown: true
        }
    }
}

extension SDKHost: KitFacts {
    var hasPerson: Bool { self.recipient != nil }
    func isKnown(_ message: MessageID) -> Bool { self.store.isKnown(message) }
}

// What the SDK tells the app, in the words of `told`.

extension ReceivedNotification {
    fileprivate var words: String {
        let said =
            self.data.map { JSONValue.object($0).text } ?? (self.text.isEmpty ? "nothing" : self.text.words)
        return self.isSilenced ? "\(said), silenced" : said
    }
}

extension AlertText {
    fileprivate var words: String {
        [self.title, self.subtitle, self.body].filter { !$0.isEmpty }.joined(separator: " | ")
    }
}

extension PersonResponse {
    fileprivate var words: String {
        let action =
            switch self.actionIdentifier {
            case MessageCategory.defaultAction: "tap"
            case MessageCategory.dismissAction: "dismiss"
            default: self.actionIdentifier
            }
        return "\(action) by \(self.origin.rawValue)" + (self.userText.map { ": \($0)" } ?? "")
    }
}

extension NavigationStep {
    fileprivate var words: String {
        switch self {
        case .popToRoot(let animated): "to the root" + (animated ? ", animated" : "")
        case .selectTab(let tab): "tab \(tab)"
        case .push(let route, let animated, let hidesBottomBar):
            route.words + (animated ? ", animated" : "") + (hidesBottomBar ? ", without the bottom bar" : "")
        }
    }
}

extension Route {
    fileprivate var words: String {
        switch self {
        case .conversation(let conversation): conversation.description
        case .detail(let screen): "detail \(screen)"
        }
    }
}

extension ForegroundPresentation.Step {
    fileprivate var words: String {
        switch self {
        case .showBanner(let banner): "banner: \(banner.text.words)"
        case .playSound(let sound): "sound \(sound)"
        case .vibrate: "vibrates"
        }
    }
}

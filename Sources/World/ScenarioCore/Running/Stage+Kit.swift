import ClientCore
import PhoneCore
import SimulatedPhone
import TidingsModel

// The kit of a scenario's app: what it does with the system's calls.
extension Stage {
    /// What the system tells of a notification, and what the kit does with it.
    ///
    /// - Returns: false if the process has no kit, and for a notification that is none of ours.
    @discardableResult
    mutating func kit(_ event: KitMachine.Event, in process: ProcessID) -> Bool {
        guard let sdk = self.app.sdk, sdk.setup.hasKit, sdk.process == process else { return false }
        var effects: [KitMachine.Effect] = []
        self.app.sdk?.kit.handle(event, facts: sdk, into: &effects)
        for effect in effects { self.perform(effect, in: process) }
        return !effects.contains(.leaveToApp)
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: KitMachine.Effect, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        switch effect {
        case .leaveToApp, .publishArrival, .publishResponse, .ring: break
        case .choosePresentation(let notification, let call, _):
            // The app's own choice, which the kit is not told of.
            guard !sdk.callsAnsweredByFile.contains(call) else { return }
            self.kit(
                .presentationChosen(sdk.kit.standardPresentation(of: notification, facts: sdk), call), in: process)
        case .present(let options, let call):
            let major = self.setup.phone.version.major
            self.answer(call, .presentation(.init(rawValue: options.systemValue(major: major))), in: process)
        case .markShown, .countBadge, .showBadge, .clearNotifications:
            if let work = effect.centerWork(managesBadge: sdk.setup.kit.managesBadge) {
                self.requestCenterWork(work, in: process)
            }
        case .refresh(let call): self.beginWake(call, in: process)
        case .answerFetch(let result, let call): self.answer(call, .fetch(FetchResult(result)), in: process)
        case .reportOpened(let message): self.client(.notificationOpened(message), in: process)
        case .open(let response):
            if let conversation = response.conversation {
                self.trace.opened(conversation.description, at: self.now.monotonic)
            }
        case .work(let items, let call): self.begin(items, call, in: process)
        case .completeResponse(let call): self.answer(call, .returned, in: process)
        case .registerForRemoteNotifications: self.follow(.process(process, .remoteRegistrationRequested))
        }
    }

    /// Calls a completion handler, unless the file says how the app answers the call.
    private mutating func answer(_ call: CallbackNumber, _ result: CallbackResult, in process: ProcessID) {
        guard self.app.sdk?.callsAnsweredByFile.contains(call) == false else { return }
        self.follow(.process(process, .callbackCompleted(call, result)))
    }

    // MARK: The work at the notification centre

    mutating func requestCenterWork(_ work: NotificationCenterQueue.Work, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.process == process else { return }
        self.observed?.append(.requests(work, hasGroup: self.core.isUnlockedOnce))
        self.app.sdk?.lastCenterWork += 1
        self.center(.requested(work, sdk.lastCenterWork + 1), in: process)
    }

    /// What a frozen process is answered it hears when it goes on.
    mutating func center(_ event: NotificationCenterQueue.Event, in process: ProcessID) {
        guard let sdk = self.app.sdk, sdk.process == process else { return }
        guard !sdk.isSuspended else {
            self.app.sdk?.waitingCenter.append(event)
            return
        }
        var queue = sdk.center
        var group: SDKHost? = self.core.isUnlockedOnce ? sdk : nil
        let facts = NotificationCenterQueue.Facts(
            process: process.number, major: sdk.kit.settings.major, wall: self.now.wall,
            position: { sdk.position(of: $0) })
        var effects: [NotificationCenterQueue.Effect] = []
        queue.handle(event, group: &group, facts: facts, into: &effects)
        if let group { self.app.sdk = group }
        self.app.sdk?.center = queue
        for effect in effects { self.carryOut(effect, in: process) }
    }

    private mutating func carryOut(_ effect: NotificationCenterQueue.Effect, in process: ProcessID) {
        let version = self.setup.phone.version
        let hasKit = self.app.sdk?.setup.hasKit == true
        switch effect {
        // As the shipped engine without a kit: the list is empty, and nothing is taken.
        case .post(_, _, let number) where !hasKit: self.center(.posted(.failed, number), in: process)
        case .showBadge(_, let number) where !hasKit: self.center(.badgeShown(number), in: process)
        // The SDK of a scenario schedules nothing.
        case .list(let number), .removeScheduledAndList(let number):
            guard hasKit, version.hasUserNotifications else { return self.center(.listed([], number), in: process) }
            self.app.centerQueries[self.ask(.deliveredNotifications, of: process)] = .listing(number)
        case .post(let notification, let badge, let number):
            self.observed?.append(.posts)
            let request = notification.request(
                badge: badge, hasCategory: self.app.setup.sdk?.registersActions == true)
            guard version.hasUserNotifications else {
                // A `UILocalNotification` is not answered.
                self.follow(.process(process, .localNotificationScheduled(request)))
                return self.center(.posted(.shown, number), in: process)
            }
            self.app.centerQueries[self.ask(.add(request), of: process)] = .posting(number)
        case .remove(let identifiers): self.follow(.process(process, .deliveredRemoved(identifiers: identifiers)))
        // By the call of the phone's era (ios-delivery.md §9).
        case .showBadge(let badge, let number) where version < 16:
            self.follow(.process(process, .iconBadgeNumberSet(badge)))
            self.center(.badgeShown(number), in: process)
        case .showBadge(let badge, let number):
            self.observed?.append(.showsBadge(badge))
            self.app.centerQueries[self.ask(.setBadgeCount(badge), of: process)] = .badge(number)
        case .showBadgeBeforeReturning(let badge) where version < 16:
            self.follow(.process(process, .iconBadgeNumberSet(badge)))
        case .showBadgeBeforeReturning(let badge):
            self.observed?.append(.showsBadge(badge))
            _ = self.ask(.setBadgeCount(badge), of: process)
        case .finish(_, .client(let event)): self.client(event, in: process)
        case .finish(_, .kit(let event)): self.kit(event, in: process)
        case .finish(_, nil): break
        }
    }

    // MARK: Wakes

    private mutating func beginWake(_ number: WakeNumber, in process: ProcessID) {
        let remaining = self.core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
        self.client(.wakeBegan(number, remainingMilliseconds: remaining), in: process)
    }

    /// Does what an action asked for, under a wake of its own; its handler is called when the server has heard of it.
    private mutating func begin(_ items: [BackgroundWork], _ call: KitMachine.Call?, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        self.app.sdk?.actions += 1
        // A cold start's action has no handler: its wake takes a number no call has.
        let number = call ?? UInt64.max - sdk.actions
        self.app.sdk?.openActions[number] = .some(call)
        for item in items {
            let events = item.events(
                replyID: ClientMessageID("reply-\(sdk.actions + 1)"), position: { sdk.position(of: $0) },
                newest: { sdk.store.newest($0) })
            for event in events { self.client(event, in: process) }
        }
        self.beginWake(number, in: process)
    }

    mutating func finishWake(_ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID) {
        if let call = self.app.sdk?.openActions.removeValue(forKey: number) {
            if let call { self.kit(.worked(call), in: process) }
        } else {
            self.kit(.refreshed(result, number), in: process)
        }
    }
}

extension SDKHost: KitFacts {
    var hasPerson: Bool { self.recipient != nil }
    func isKnown(_ message: MessageID) -> Bool { self.store.isKnown(message) }
}

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

    // tidy: long because it is one case per effect.
    private mutating func carryOut(_ effect: KitMachine.Effect, in process: ProcessID) {
        guard let sdk = self.app.sdk else { return }
        switch effect {
        case .leaveToApp, .publishArrival, .publishResponse, .ring: break
        case .choosePresentation(let notification, let call, _):
            // The app's own choice, which the kit is not told of.
            guard !sdk.callsAnsweredByFile.contains(call) else { return }
            self.handleKit(
                .presentationChosen(sdk.kit.standardPresentation(of: notification, facts: sdk), call), in: process)
        case .present(let options, let call):
            let major = self.setup.phone.version.major
            self.complete(call, .presentation(.init(rawValue: options.systemValue(major: major))), in: process)
        case .markShown(let message):
            self.app.sdk?.ledger.markShown(message, by: .kit(process: process.number), wall: self.now.wall)
        case .countBadge(let push, let isActive, let call):
            let facts = BadgePush.Facts(isActive: isActive, managesBadge: sdk.setup.kit.managesBadge)
            var badge = sdk.badge
            let verdict = BadgePush.verdict(push, facts, badge: &badge)
            self.app.sdk?.badge = badge
            self.handleKit(.badgeCounted(verdict, call), in: process)
        case .showBadge(let number, let call):
            self.setBadge(number, in: process)
            self.handleKit(.badgeShown(call), in: process)
        case .refresh(let call): self.beginWake(call, in: process)
        case .answerFetch(let result, let call): self.complete(call, .fetch(FetchResult(result)), in: process)
        case .reportOpened(let message): self.handleClient(.notificationOpened(message), in: process)
        case .clearNotifications(let conversation):
            self.removeDelivered(in: process) {
                NotificationClearing.isOf(
                    conversation, .object($0.content.userInfo), thread: $0.content.threadIdentifier)
            }
        case .open(let response):
            if let conversation = response.conversation {
                self.trace.append(.opened, conversation.description, kind: "opens", at: self.now.monotonic)
            }
        case .work(let items, let call): self.beginWork(items, call, in: process)
        case .completeResponse(let call): self.complete(call, .returned, in: process)
        case .registerForRemoteNotifications: self.enqueue(.process(process, .remoteRegistrationRequested))
        }
    }

    private mutating func complete(_ call: CallbackNumber, _ result: CallbackResult, in process: ProcessID) {
        guard self.app.sdk?.callsAnsweredByFile.contains(call) == false else { return }
        self.enqueue(.process(process, .callbackCompleted(call, result)))
    }

    mutating func removeDelivered(in process: ProcessID, where isMeant: (NotificationRequest) -> Bool) {
        let identifiers = self.core.screen.list.map(\.notification.request).filter(isMeant).map(\.identifier)
        guard !identifiers.isEmpty else { return }
        self.enqueue(.process(process, .deliveredRemoved(identifiers: identifiers)))
    }

    private mutating func beginWake(_ number: WakeNumber, in process: ProcessID) {
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
                replyID: ClientMessageID("reply-\(sdk.actions + 1)"), position: { sdk.position(of: $0) },
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

extension SDKHost: KitFacts {
    var hasPerson: Bool { self.recipient != nil }
    func isKnown(_ message: MessageID) -> Bool { self.store.isKnown(message) }
}

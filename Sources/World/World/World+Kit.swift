import ClientCore
import OrderedCollections
import PhoneCore
import SimulatedPhone
import TidingsModel

// The SDK's kit: what it does with the notification centre, the ledger and the number on the icon, and how it answers the system.
// Its extension: World+Extension.swift.
extension World {
    func kitSettings(of index: Int) -> KitSettings {
        var settings = KitSettings()
        settings.ringsInForeground = self.options.population.ringsInForeground
        settings.usesServerNames = self.phones[index].naming == .server
        settings.usesCommunicationNotifications = self.options.population.usesCommunication
        return settings.fitted(to: self.phones[index].core.version.major)
    }

    // tidy: long because it is one case per effect.
    mutating func performKit(_ effect: ClientEffect, in process: ProcessID, on index: Int) {
        switch effect {
        case .resolveNames(let id, let question):
            self.emit(.passedGate(id, on: self.phones[index].key, self.phones[index].disk))
            self.askNames(question, for: .notification(id), in: process, on: index)
        case .askDelegate(let message, _):
            self.planClientEvent(.delegateAnswered(message.id, handled: false), in: process, on: index)
        case .claimRing, .postNotification, .markShown, .markRecalled, .releaseClaim, .clearNotifications,
            .recallNotification, .lowerBadge, .writeBadge, .donate, .deleteDonations:
            if let work = effect.centerWork { self.requestCenterWork(work, in: process, on: index) }
        default: break  // tidy: the others are World+Client.swift's
        }
    }

    // MARK: The work at the notification centre

    mutating func requestCenterWork(_ work: NotificationCenterQueue.Work, in process: ProcessID, on index: Int) {
        guard let hosted = self.phones[index].processes[process] else { return }
        hosted.lastCenterWork += 1
        self.handle(.requested(work, hosted.lastCenterWork), in: process, on: index)
    }

    /// Handles an answer; a frozen process hears it when it goes on.
    mutating func handle(_ event: NotificationCenterQueue.Event, in process: ProcessID, on index: Int) {
        let phone = self.phones[index]
        guard let hosted = phone.processes[process] else { return }
        guard !hosted.isSuspended else { return hosted.waiting.append(.center(index, process, event)) }
        // Taken out, so that nothing big is copied.
        var group: WorldAppGroup? = phone.canReadGroup ? phone.group : nil
        if group != nil { phone.group = WorldAppGroup() }
        let messages = phone.disk.store.rows.messages
        let facts = NotificationCenterQueue.Facts(
            process: process.number, major: phone.core.version.major, wall: self.now.wall,
            donates: self.kitSettings(of: index).usesCommunicationNotifications,
            position: { messages[$0]?.position })
        var effects: [NotificationCenterQueue.Effect] = []
        hosted.center.handle(event, group: &group, facts: facts, into: &effects)
        if let group { phone.group = group }
        for effect in effects { self.perform(effect, in: process, on: index) }
    }

    private mutating func perform(_ effect: NotificationCenterQueue.Effect, in process: ProcessID, on index: Int) {
        switch effect {
        // Nothing is scheduled in the World.
        case .list(let number), .removeScheduledAndList(let number):
            self.querySystem(process, .deliveredNotifications, on: index, for: .center(.listing(number)))
        case .post(let notification, let badge, let number):
            self.emit(.posted(notification, on: self.phones[index].key, self.phones[index].disk))
            let (donated, request) = notification.posted(
                badge: badge, hasCategory: false, isEntitled: self.options.population.usesCommunication,
                settings: self.phones[index].core.notificationSettings(of: Self.bundle))
            if let donated { self.donate(donated, in: process, on: index) }
            self.querySystem(process, .add(request), on: index, for: .center(.posting(number)))
            self.maybeClearUnsettled(notification.message, in: process, on: index)
        case .remove(let identifiers):
            self.sendToSystem(process, .deliveredRemoved(identifiers: identifiers), on: index)
        // By the call the system has (ios-delivery.md §9).
        case .showBadge(let badge, let number) where self.phones[index].core.version.major < 16:
            self.sendToSystem(process, .iconBadgeNumberSet(badge), on: index)
            self.plan(.center(index, process, .badgeShown(number)), after: 1)
        case .showBadge(let badge, let number):
            self.querySystem(process, .setBadgeCount(badge), on: index, for: .center(.badge(number)))
        case .showBadgeBeforeReturning(let badge) where self.phones[index].core.version.major < 16:
            self.sendToSystem(process, .iconBadgeNumberSet(badge), on: index)
        case .showBadgeBeforeReturning(let badge): self.querySystem(process, .setBadgeCount(badge), on: index)
        case .donate(let form): self.donate(form.donation, in: process, on: index)
        case .deleteDonations(let scope): self.sendToSystem(process, scope.event, on: index)
        case .finish(_, .client(let event)): self.planClientEvent(event, in: process, on: index)
        case .finish(_, .kit(let event)): self.handleKitEvent(event, in: process, on: index)
        case .finish(_, nil): break
        }
    }

    mutating func donate(_ message: DonatedMessage, in process: ProcessID, on index: Int) {
        self.emit(.reached(message.isOutgoing ? .donatedSent : .donated))
        self.sendToSystem(process, .messageDonated(message), on: index)
    }

    // MARK: The kit's machine

    /// - Returns: false if the process has no kit, and for a notification that is none of ours.
    @discardableResult
    mutating func handleKitEvent(_ event: KitMachine.Event, in process: ProcessID, on index: Int) -> Bool {
        let phone = self.phones[index]
        guard process.role == .app, let hosted = phone.processes[process] else { return false }
        var effects: [KitMachine.Effect] = []
        hosted.kit.handle(event, facts: phone, into: &effects)
        for effect in effects { self.perform(effect, in: process, on: index) }
        return !effects.contains(.leaveToApp)
    }

    // tidy: long because it is one case per effect.
    private mutating func perform(_ effect: KitMachine.Effect, in process: ProcessID, on index: Int) {
        switch effect {
        case .leaveToApp, .publishResponse, .ring: break
        case .publishArrival(let notification, _): self.emitTold(of: notification, on: index)
        // The people of the World tap, and choose no action.
        case .work: self.checkers.foundBug("phone \(index) was asked for an action nobody chose")
        case .choosePresentation(let notification, let call, _):
            let phone = self.phones[index]
            guard let options = phone.processes[process]?.kit.standardPresentation(of: notification, facts: phone)
            else { return }
            self.handleKitEvent(.presentationChosen(options, call), in: process, on: index)
        case .present(let options, let call):
            let major = self.phones[index].core.version.major
            self.completeCallback(
                call, .presentation(.init(rawValue: options.systemValue(major: major))), in: process, on: index)
        case .markShown, .countBadge, .showBadge, .clearNotifications:
            if case .markShown(let message) = effect {
                self.phones[index].processes[process]?.rang = message
                self.emit(.reached(.foregroundRings))
            }
            if case .showBadge(let number, _) = effect {
                self.appendTrace("phone \(index) shows \(number) for a silent push")
                self.emit(.reached(.badgesByPush))
            }
            if let work = effect.centerWork(managesBadge: true) {
                self.requestCenterWork(work, in: process, on: index)
            }
        case .refresh(let call):
            // Nobody is signed in.
            guard self.phones[index].processes[process]?.client != nil else {
                self.handleKitEvent(.refreshed(.failed, call), in: process, on: index)
                return
            }
            self.emit(.reached(.wakes))
            self.phones[index].wokenAt = self.time
            let remaining =
                self.phones[index].isInForeground
                ? nil : self.phones[index].core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.handle(.wakeBegan(call, remainingMilliseconds: remaining), in: process, on: index)
        case .answerFetch(let result, let call):
            self.completeCallback(call, .fetch(FetchResult(result)), in: process, on: index)
        case .reportOpened(let message): self.handle(.notificationOpened(message), in: process, on: index)
        case .open(let response):
            guard let payload = response.payload, let message = payload.messageUID.flatMap({ MessageID($0) }) else {
                return
            }
            self.appendTrace("phone \(index) opens \(payload.conversation) for \(message)")
            self.emit(.opened(payload.conversation, of: message, on: self.phones[index].key))
        case .completeResponse(let call): self.completeCallback(call, .returned, in: process, on: index)
        case .registerForRemoteNotifications: self.sendToSystem(process, .remoteRegistrationRequested, on: index)
        }
    }

    private mutating func emitTold(of notification: ReceivedNotification, on index: Int) {
        guard let owner = self.owner(of: notification.userInfo) else { return }
        let message = notification.payload?.messageUID.flatMap { MessageID($0) }
        self.emit(.told(message, for: owner.user, on: self.phones[index].key))
    }

    /// Whom a push was made for.
    func owner(of userInfo: JSONValue) -> DeviceKey? {
        let tag = PushInfo(userInfo: userInfo)?.recipientTag ?? BadgeInfo(userInfo: userInfo)?.recipientTag
        return tag.flatMap { self.tags[$0] }
    }

    /// The kit is asked about a push that no extension has silenced.
    mutating func markPresentation(of request: NotificationRequest, in process: ProcessID, on index: Int) {
        let phone = self.phones[index]
        guard request.isRemote, request.content.sound != nil,
            let owner = self.owner(of: .object(request.content.userInfo))
        else { return }
        if !phone.isSignedIn || owner.user != phone.key.user {
            self.emit(.reached(.anotherInFront))
        } else if let message = MessageID(request.identifier) {
            if phone.isKnown(message) { self.emit(.reached(.knownInFront)) }
            if phone.processes[process]?.rang == message { self.emit(.reached(.repeatedInFront)) }
        }
    }

    private mutating func completeCallback(
        _ call: CallbackNumber, _ result: CallbackResult, in process: ProcessID, on index: Int
    ) {
        guard !self.phones[index].neglected.contains(call) else { return }
        self.plan(
            .phone(index, .process(process, .callbackCompleted(call, result))),
            after: self.phones[index].chance.number(1...30))
    }

    mutating func finishWake(
        _ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID, on index: Int
    ) { self.handleKitEvent(.refreshed(result, number), in: process, on: index) }
}

extension WorldPhone: KitFacts {
    var signIn: ExtensionDecision.SignIn { self.group.signIn }
    var hasPerson: Bool { self.isSignedIn }
    func isKnown(_ message: MessageID) -> Bool { self.disk.store.isKnown(message) }
}

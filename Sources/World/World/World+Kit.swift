import ClientCore
import OrderedCollections
import PhoneCore
import SimulatedPhone
import TidingsModel

// The SDK's kit: what it does with the notification centre, the ledger and the number on the icon, and how it answers the system.
// Its extension: World+Extension.swift.
extension World {
    // tidy: long because it is one case per effect.
    mutating func performKit(_ effect: ClientEffect, in process: ProcessID, on index: Int) {
        switch effect {
        case .resolveNames(let id, let question):
            self.see(.passedGate(id, on: self.phones[index].key, self.phones[index].disk))
            let names = ResolvedNames(user: question.sender.rawValue, group: question.group?.target)
            self.later(
                .namesResolved(id, names), in: process, on: index, after: self.phones[index].chance.number(1...200))
        case .askDelegate(let message, _):
            self.later(.delegateAnswered(message.id, handled: false), in: process, on: index)
        case .claimRing(let id): self.claim(id, in: process, on: index)
        case .postNotification(let notification):
            self.see(.posted(notification, on: self.phones[index].key, self.phones[index].disk))
            let badge = self.phones[index].group.countPosted(notification)
            self.post(notification, badge: badge, isAnswered: true, in: process, on: index)
        case .markShown(let id):
            self.phones[index].group.ledger.markShown(id, by: .kit(process: process.number), wall: self.now.wall)
        case .markRecalled(let id):
            self.phones[index].group.ledger.markRecalled(id, by: .kit(process: process.number), wall: self.now.wall)
        case .releaseClaim(let id):
            self.phones[index].group.ledger.release(id, by: .kit(process: process.number))
        case .clearNotifications(let conversation, let position):
            let messages = self.phones[index].disk.store.messages
            self.removeDelivered(in: process, on: index) {
                NotificationClearing.isRead(
                    .object($0.content.userInfo), identifier: $0.identifier, thread: $0.content.threadIdentifier,
                    in: conversation, upTo: position, stored: { messages[$0]?.position })
            }
            self.later(.notificationWorkDone, in: process, on: index)
        case .recallNotification(let id, let replacement):
            self.recall(id, replacement, in: process, on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        case .lowerBadge(let unread, let position):
            if let number = self.phones[index].group.countUnread(unread, at: position) {
                self.setBadge(number, in: process, on: index)
            }
            self.later(.notificationWorkDone, in: process, on: index)
        case .writeBadge(let unread, let position):
            let number = self.phones[index].group.countResigned(unread: unread, at: position)
            self.setBadge(number, in: process, on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        default: break  // tidy: the others are World+Client.swift's
        }
    }

    private mutating func claim(_ id: MessageID, in process: ProcessID, on index: Int) {
        let holder = Ledger.Holder.kit(process: process.number)
        let verdict = self.phones[index].group.ledger.claim(
            id, by: holder, isDelivered: self.isDelivered(id.description, on: index), wall: self.now.wall)
        self.later(.ringClaimed(id, verdict), in: process, on: index)
    }

    /// Whether the notification of a name is in the list.
    func isDelivered(_ identifier: String, on index: Int) -> Bool {
        self.phones[index].core.listed.contains { $0.notification.request.identifier == identifier }
    }

    private mutating func recall(
        _ id: MessageID, _ replacement: LocalNotification?, in process: ProcessID, on index: Int
    ) {
        let badge = replacement.flatMap { self.phones[index].group.countPosted($0) }
        guard self.isDelivered(id.description, on: index) else { return }
        let major = self.phones[index].core.version.major
        guard let replacement = NotificationClearing.inPlace(replacement, major: major) else {
            return self.tell(process, .deliveredRemoved(identifiers: [id.description]), on: index)
        }
        self.see(.posted(replacement, on: self.phones[index].key, self.phones[index].disk))
        self.post(replacement, badge: badge, isAnswered: false, in: process, on: index)
    }

    private mutating func post(
        _ notification: LocalNotification, badge: Int?, isAnswered: Bool, in process: ProcessID, on index: Int
    ) {
        let request = notification.request(badge: badge, hasCategory: false)
        self.ask(process, .add(request), on: index, for: isAnswered ? .kitPost(notification.message) : nil)
    }

    // MARK: The kit's machine

    /// What the system tells of a notification, and what the kit does with it.
    ///
    /// - Returns: false if the process has no kit, and for a notification that is none of ours.
    @discardableResult
    mutating func kit(_ event: KitMachine.Event, in process: ProcessID, on index: Int) -> Bool {
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
        case .leaveToApp, .publishArrival, .publishResponse, .ring: break
        // The people of the World tap, and choose no action.
        case .work: self.checkers.foundBug("phone \(index) was asked for an action nobody chose")
        case .choosePresentation(let notification, let call, _):
            let phone = self.phones[index]
            guard let options = phone.processes[process]?.kit.standardPresentation(of: notification, facts: phone)
            else { return }
            self.kit(.presentationChosen(options, call), in: process, on: index)
        case .present(let options, let call):
            let major = self.phones[index].core.version.major
            self.answer(call, .presentation(.init(rawValue: options.systemValue(major: major))), in: process, on: index)
        case .markShown(let message):
            self.phones[index].group.ledger.markShown(
                message, by: .kit(process: process.number), wall: self.now.wall)
            self.see(.reached(.foregroundRings))
        case .countBadge(let push, let isActive, let call):
            let facts = BadgePush.Facts(isActive: isActive, managesBadge: true)
            let verdict = BadgePush.verdict(push, facts, badge: &self.phones[index].group.badge)
            self.kit(.badgeCounted(verdict, call), in: process, on: index)
        case .showBadge(let number, let call):
            self.note("phone \(index) shows \(number) for a silent push")
            self.see(.reached(.badgesByPush))
            self.setBadge(number, in: process, on: index)
            self.kit(.badgeShown(call), in: process, on: index)
        case .refresh(let call):
            // Nobody is signed in.
            guard self.phones[index].processes[process]?.client != nil else {
                self.kit(.refreshed(.failed, call), in: process, on: index)
                return
            }
            self.see(.reached(.wakes))
            self.phones[index].wokenAt = self.time
            let remaining =
                self.phones[index].isInForeground
                ? nil : self.phones[index].core.backgroundTimeRemaining(of: Self.bundle, at: self.now)
            self.handle(.wakeBegan(call, remainingMilliseconds: remaining), in: process, on: index)
        case .answerFetch(let result, let call): self.answer(call, .fetch(FetchResult(result)), in: process, on: index)
        case .reportOpened(let message): self.handle(.notificationOpened(message), in: process, on: index)
        case .clearNotifications(let conversation):
            self.removeDelivered(in: process, on: index) {
                NotificationClearing.isOf(
                    conversation, .object($0.content.userInfo), thread: $0.content.threadIdentifier)
            }
        case .open(let response):
            guard let payload = response.payload, let message = payload.messageUID.flatMap({ MessageID($0) }) else {
                return
            }
            self.note("phone \(index) opens \(payload.conversation) for \(message)")
            self.see(.opened(payload.conversation, of: message, on: self.phones[index].key))
        case .completeResponse(let call): self.answer(call, .returned, in: process, on: index)
        case .registerForRemoteNotifications: self.tell(process, .remoteRegistrationRequested, on: index)
        }
    }

    /// The app calls a completion handler, unless it was made never to.
    private mutating func answer(
        _ call: CallbackNumber, _ result: CallbackResult, in process: ProcessID, on index: Int
    ) {
        guard !self.phones[index].neglected.contains(call) else { return }
        self.plan(
            .phone(index, .process(process, .callbackCompleted(call, result))),
            after: self.phones[index].chance.number(1...30))
    }

    private mutating func removeDelivered(
        in process: ProcessID, on index: Int, where isMeant: (NotificationRequest) -> Bool
    ) {
        let identifiers = self.phones[index].core.listed.map(\.notification.request).filter(isMeant).map(\.identifier)
        self.tell(process, .deliveredRemoved(identifiers: identifiers), on: index)
    }

    /// A wake is over.
    mutating func finishWake(
        _ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID, on index: Int
    ) { self.kit(.refreshed(result, number), in: process, on: index) }

    /// By the call the system has (ios-delivery.md §9).
    mutating func setBadge(_ number: Int, in process: ProcessID, on index: Int) {
        guard self.phones[index].core.version.major >= 16 else {
            return self.tell(process, .iconBadgeNumberSet(number), on: index)
        }
        self.ask(process, .setBadgeCount(number), on: index)
    }
}

extension WorldPhone: KitFacts {
    var signIn: ExtensionDecision.SignIn { self.group.signIn }
    var hasPerson: Bool { self.isSignedIn }
    func isKnown(_ message: MessageID) -> Bool { self.disk.store.isKnown(message) }
}

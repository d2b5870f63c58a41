import ClientCore
import OrderedCollections
import PhoneCore
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
            let badge = self.badge(of: notification, on: index)
            self.post(notification, badge: badge, isAnswered: true, in: process, on: index)
        case .markShown(let id):
            self.phones[index].group.ledger.markShown(id, by: .kit(process: process.number), wall: self.now.wall)
        case .markWithdrawn(let id):
            self.phones[index].group.ledger.markWithdrawn(id, by: .kit(process: process.number), wall: self.now.wall)
        case .releaseClaim(let id):
            self.phones[index].group.ledger.release(id, by: .kit(process: process.number))
        case .clearNotifications(let conversation, let position):
            let messages = self.phones[index].disk.store.messages
            let identifiers = self.phones[index].core.listed.map(\.notification.request).filter {
                NotificationClearing.isRead(
                    .object($0.content.userInfo), identifier: $0.identifier, thread: $0.content.threadIdentifier,
                    in: conversation, upTo: position, stored: { messages[$0]?.position })
            }.map(\.identifier)
            self.tell(process, .deliveredRemoved(identifiers: identifiers), on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        case .withdrawNotification(let id, let replacement):
            self.withdraw(id, replacement, in: process, on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        case .lowerBadge(let unread, let position):
            self.phones[index].group.badge?.posted(unread: unread, position: position)
            if let badge = self.phones[index].group.badge { self.setBadge(badge.shown, in: process, on: index) }
            self.later(.notificationWorkDone, in: process, on: index)
        case .writeBadge(let unread, let position):
            var badge = self.phones[index].group.badge ?? Badge()
            badge.resigned(unread: unread, position: position)
            self.phones[index].group.badge = badge
            self.setBadge(badge.shown, in: process, on: index)
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

    private mutating func withdraw(
        _ id: MessageID, _ replacement: LocalNotification?, in process: ProcessID, on index: Int
    ) {
        let badge = replacement.flatMap { self.badge(of: $0, on: index) }
        guard self.isDelivered(id.description, on: index) else { return }
        let major = self.phones[index].core.version.major
        guard let replacement = NotificationClearing.inPlace(replacement, major: major) else {
            return self.tell(process, .deliveredRemoved(identifiers: [id.description]), on: index)
        }
        self.see(.posted(replacement, on: self.phones[index].key, self.phones[index].disk))
        self.post(replacement, badge: badge, isAnswered: false, in: process, on: index)
    }

    /// The number a notification brings; nil leaves the icon alone.
    private mutating func badge(of notification: LocalNotification, on index: Int) -> Int? {
        guard notification.setsBadge else { return nil }
        self.phones[index].group.badge?.posted(unread: notification.unread, position: notification.position)
        return self.phones[index].group.badge?.shown
    }

    private mutating func post(
        _ notification: LocalNotification, badge: Int?, isAnswered: Bool, in process: ProcessID, on index: Int
    ) {
        let content = NotificationContent(
            title: notification.title, body: notification.body, badge: badge,
            sound: notification.isSilent ? nil : .standard,
            userInfo: notification.userInfo.objectValue ?? JSONObject(),
            threadIdentifier: notification.conversation.description,
            interruptionLevel: notification.isSilent ? .passive : .active)
        let request = NotificationRequest(identifier: notification.message.description, content: content)
        self.ask(process, .add(request), on: index, for: isAnswered ? .kitPost(notification.message) : nil)
    }

    // MARK: Taps

    /// The app hears of a tap, by one of several roads; the first opens the conversation, the others are its echo.
    ///
    /// - Parameters:
    ///   - request: the request's identifier, and `deliveredAt` its time; nil on the roads that do not tell.
    mutating func hear(
        tapOn userInfo: JSONObject, request: String?, deliveredAt: Int64?, origin: PersonResponse.Origin,
        in process: ProcessID, on index: Int
    ) {
        let json = JSONValue.object(userInfo)
        // What was left by the person before is not this one's to open.
        guard let payload = try? NotificationPayload(userInfo: json), self.isOfRecipient(json, on: index) else {
            return
        }
        let identity = TapLog.Identity(
            request: request, deliveredAt: deliveredAt, content: payload.messageUID ?? json.text,
            action: MessageCategory.defaultAction, origin: origin)
        let isOpen = self.phones[index].processes[process]?.taps.takeLaunch(by: identity) ?? true
        guard self.phones[index].processes[process]?.taps.note(identity) == true, !isOpen,
            let message = payload.messageUID.flatMap({ MessageID($0) })
        else { return }
        self.note("phone \(index) opens \(payload.conversation) for \(message)")
        self.see(.opened(payload.conversation, of: message, on: self.phones[index].key))
        self.handle(.notificationOpened(message), in: process, on: index)
    }

    /// Whether a notification is for the person who is signed in.
    func isOfRecipient(_ userInfo: JSONValue, on index: Int) -> Bool {
        guard let tag = PushInfo(userInfo: userInfo)?.recipientTag else { return self.phones[index].isSignedIn }
        return tag == self.phones[index].group.recipient?.tag
    }

    // MARK: Arrivals

    /// The kit's answer in front (S2.9).
    mutating func presentation(
        of notification: DeliveredNotification, in process: ProcessID, on index: Int
    ) -> CallbackResult {
        let content = notification.request.content
        let userInfo = JSONValue.object(content.userInfo)
        // The app shows what is none of ours.
        guard NotificationClearing.isOurs(userInfo) else { return .presentation([.banner, .list, .sound, .badge]) }
        let message = (try? NotificationPayload(userInfo: userInfo))?.messageUID
            .flatMap { MessageID($0) }
        let isKnown = message.map { self.isKnown($0, in: process, on: index) } ?? false
        let isSilenced = userInfo[PushInfo.key] != nil && content.sound == nil
        let isForAnother = PushInfo(userInfo: userInfo) != nil && !self.isOfRecipient(userInfo, on: index)
        let options = FrontPresentation.choice(
            isForAnother: isForAnother, isKnown: isKnown, isSilenced: isSilenced)
        if let message, !options.isDisjoint(with: [.banner, .sound]) {
            self.phones[index].processes[process]?.rung.note(message)
            self.phones[index].group.ledger.markShown(
                message, by: .kit(process: process.number), wall: self.now.wall)
            self.see(.reached(.frontRings))
        }
        let major = self.phones[index].core.version.major
        return .presentation(.init(rawValue: options.systemValue(major: major)))
    }

    private func isKnown(_ message: MessageID, in process: ProcessID, on index: Int) -> Bool {
        self.phones[index].disk.store.isKnown(message)
            || self.phones[index].processes[process]?.rung.contains(message) == true
    }

    /// A silent push, or one in front: the kit sets the number on the icon and catches up with the server (S4.9). Nil while it
    /// does; the client says when it is done.
    mutating func wake(
        by payload: JSONObject, _ number: CallbackNumber, _ state: ApplicationState, in process: ProcessID,
        on index: Int
    ) -> CallbackResult? {
        guard payload[PushInfo.key] != nil, self.phones[index].processes[process]?.client != nil else {
            return .fetch(.noData)
        }
        if let push = BadgeInfo(userInfo: .object(payload)) {
            let facts = BadgePush.Facts(
                isForPerson: push.recipientTag == self.phones[index].group.recipient?.tag, isActive: state == .active,
                managesBadge: true)
            switch BadgePush.verdict(push, facts, badge: &self.phones[index].group.badge) {
            case .foreign: return .fetch(.noData)
            case .stays: break
            case .shows(let number):
                self.note("phone \(index) shows \(number) for a silent push")
                self.see(.reached(.badgesByPush))
                self.setBadge(number, in: process, on: index)
            }
        }
        self.see(.reached(.wakes))
        self.phones[index].wokenAt = self.time
        let remaining =
            state == .background ? self.phones[index].core.backgroundTimeRemaining(of: Self.bundle, at: self.now) : nil
        self.handle(.wakeBegan(number, remainingMilliseconds: remaining), in: process, on: index)
        return nil
    }

    /// A wake is over.
    mutating func finishWake(
        _ number: WakeNumber, _ result: BackgroundRefreshResult, in process: ProcessID, on index: Int
    ) {
        let answer: FetchResult =
            switch result {
            case .newData: .newData
            case .noData: .noData
            case .failed: .failed
            }
        self.tell(process, .callbackCompleted(number, .fetch(answer)), on: index)
    }

    /// By the call the system has (ios-delivery.md §9).
    mutating func setBadge(_ number: Int, in process: ProcessID, on index: Int) {
        guard self.phones[index].core.version.major >= 16 else {
            return self.tell(process, .iconBadgeNumberSet(number), on: index)
        }
        self.ask(process, .setBadgeCount(number), on: index)
    }
}

import ClientCore
import OrderedCollections
import PhoneCore
import TidingsModel

// The SDK's kit and its extension: what they do with the notification centre, the ledger and the number on the icon.
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
        case .releaseClaim(let id):
            self.phones[index].group.ledger.release(id, by: .kit(process: process.number))
        case .clearNotifications(let conversation, let position):
            let messages = self.phones[index].disk.messages
            let identifiers = self.phones[index].core.screen.list.map(\.notification.request).filter {
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
            if let badge = self.phones[index].group.badge { self.ask(process, .setBadgeCount(badge.shown), on: index) }
            self.later(.notificationWorkDone, in: process, on: index)
        case .writeBadge(let unread, let position):
            var badge = self.phones[index].group.badge ?? Badge()
            badge.resigned(unread: unread, position: position)
            self.phones[index].group.badge = badge
            self.ask(process, .setBadgeCount(badge.shown), on: index)
            self.later(.notificationWorkDone, in: process, on: index)
        default: break  // tidy: the others are World+Client.swift's
        }
    }

    private mutating func claim(_ id: MessageID, in process: ProcessID, on index: Int) {
        let holder = Ledger.Holder.kit(process: process.number)
        var verdict = self.phones[index].group.ledger.claim(id, by: holder, wall: self.now.wall)
        if verdict == .lookAtDelivered {
            let isDelivered = self.isDelivered(id, on: index)
            verdict = self.phones[index].group.ledger.claim(
                id, by: holder, isDelivered: isDelivered, wall: self.now.wall)
        }
        self.later(.ringClaimed(id, verdict), in: process, on: index)
    }

    private func isDelivered(_ id: MessageID, on index: Int) -> Bool {
        self.phones[index].core.screen.list.contains { $0.notification.request.identifier == id.description }
    }

    private mutating func withdraw(
        _ id: MessageID, _ replacement: LocalNotification?, in process: ProcessID, on index: Int
    ) {
        let badge = replacement.flatMap { self.badge(of: $0, on: index) }
        guard self.isDelivered(id, on: index) else { return }
        guard let replacement else {
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
        self.ask(process, .add(request), on: index, posting: isAnswered ? notification.message : nil)
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

    // MARK: The extension

    /// The extension's decision on a push (DESIGN P3, §7 "Extension").
    mutating func extended(_ request: NotificationRequest, on index: Int) -> NotificationContent {
        let userInfo = JSONValue.object(request.content.userInfo)
        let isDelivered = self.phones[index].core.screen.list.contains {
            $0.notification.request.identifier == request.identifier
        }
        var content = request.content
        var group = self.phones[index].group
        let signIn = group.recipient.map { ExtensionDecision.SignIn.signedIn(recipientTag: $0.tag) } ?? .signedOut
        let facts = ExtensionDecision.Facts(
            signIn: signIn, isDelivered: isDelivered, showsContent: !group.hidesContent)
        let changes = ExtensionDecision.changes(
            userInfo: userInfo, facts: facts, ledger: &group.ledger, badge: &group.badge, wall: self.now.wall)
        self.phones[index].group = group
        guard let changes else { return content }
        if let badge = changes.badge { content.badge = badge }
        if let title = changes.title { content.title = title }
        if let body = changes.body { content.body = body }
        if changes.isSilent {
            content.sound = nil
            content.interruptionLevel = .passive
        }
        if changes.isStripped {
            content.title = ""
            content.subtitle = ""
            content.badge = nil
        }
        self.note("phone \(index) extension \(request.identifier) \(changes.reason.rawValue)")
        if let info = PushInfo(userInfo: userInfo) {
            self.see(.extended(info.message, isQuiet: changes.isSilent, text: content.body, on: self.phones[index].key))
        }
        return content
    }
}

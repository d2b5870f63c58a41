// What the client's core and the kit's machine want done at the notification centre.

extension ClientEffect {
    /// Nil if it does not concern the notification centre.
    package var centerWork: NotificationCenterQueue.Work? {
        switch self {
        case .claimRing(let message): .claim(message)
        case .postNotification(let notification): .post(notification)
        case .markRecalled(let message): .markRecalled(message)
        case .markShown(let message): .markShown(message)
        case .releaseClaim(let message): .releaseClaim(message)
        case .clearNotifications(let conversation, let position): .clearRead(conversation, upTo: position)
        case .recallNotification(let message, let replacement): .recall(message, replacement: replacement)
        case .lowerBadge(let unread, let position): .countUnread(unread, position: position)
        case .writeBadge(let unread, let position): .countResigned(unread: unread, position: position)
        case .donate(let form): .donate(form)
        case .deleteDonations(let scope): .deleteDonations(scope)
        case .forgetPerson: .clearAll(showsZero: true)
        default: nil
        }
    }
}

extension KitMachine.Effect {
    package func centerWork(managesBadge: Bool) -> NotificationCenterQueue.Work? {
        switch self {
        case .markShown(let message): .markShown(message)
        case .countBadge(let push, let isActive, let call):
            .countPush(push, isActive: isActive, managesBadge: managesBadge, call)
        case .showBadge(let number, let call): .showPushedBadge(number, call)
        case .clearNotifications(let conversation): .clearConversation(conversation)
        default: nil
        }
    }
}

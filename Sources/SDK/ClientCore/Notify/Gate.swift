package import TidingsModel

/// Decides if the kit shows a local notification for a message: the tests of requirements S3 in their order. The first that fails gives the
/// reason.
///
/// Of the public IMKit's eleven tests two have nothing to test here — there are no ultra groups and no extension modules —
/// and two take their places: the person's own message, and the ledger. Tests 1–8 need only what the core knows; 9 needs
/// the app's providers, then the app's own callback is asked (S3.4), 10 the ledger, 11 the notification centre. What comes in the foreground is
/// seen, and the gate is not asked.
package enum Gate {
    package struct Facts: Hashable, Sendable {
        package var message: Message
        package var person: UserID
        package var isOffline: Bool
        package var isEnabled: Bool
        package var level: NotificationLevel
        /// By the server's clock, in wall milliseconds.
        package var wall: Int64
    }

    package static func suppression(_ facts: Facts) -> SuppressionReason? {
        let message = facts.message
        if message.conversation.type == .chatRoom { return .chatRoom }
        if message.sender == facts.person { return .ownMessage }
        if facts.isOffline { return .offlineMessage }
        if !message.flags.contains(.notified) { return .notNotifiable }
        if let end = message.expiresAt, end <= facts.wall { return .expired }
        if !facts.isEnabled { return .switchedOff }
        if !message.flags.contains(.stored) { return .command }
        if !facts.level.allows(message.addressed, of: facts.person) { return .level }
        return nil
    }

    /// Nil if test 9 needs none.
    package static func question(_ message: Message) -> NameQuestion {
        switch message.conversation.type {
        case .group, .discussion: NameQuestion(sender: message.sender, group: message.conversation)
        case .direct, .customerService, .system, .appPublicService, .publicService, .pushService, .chatRoom:
            NameQuestion(sender: message.sender, group: nil)
        }
    }

    package struct Names: Hashable, Sendable {
        package var sender: String
        package var group: String?
        package var memberCount: Int?
    }

    /// Test 9. In a group its name and the sender's must be known, of which the one in the group is enough; elsewhere
    /// the sender's; customer service falls back to a fixed name.
    package static func names(_ message: Message, _ resolved: ResolvedNames) -> Names? {
        func known(_ name: String?) -> String? { name.flatMap { $0.isEmpty ? nil : $0 } }
        switch message.conversation.type {
        case .group, .discussion:
            guard let group = known(resolved.group), let sender = known(resolved.member) ?? known(resolved.user)
            else { return nil }
            return Names(sender: sender, group: group, memberCount: resolved.memberCount)
        case .customerService: return Names(sender: known(resolved.user) ?? Self.customerServiceName, group: nil)
        case .direct, .system, .appPublicService, .publicService, .pushService, .chatRoom:
            return known(resolved.user).map { Names(sender: $0, group: nil) }
        }
    }

    package static let customerServiceName = "Customer service"

    /// Nil for a conversation that has no `rc` code (S0.17). Title: the group's name, otherwise the sender's. Text in
    /// a group: "sender: text" (requirements S3). What was chosen for the message goes before both.
    package static func notification(
        _ message: Message, names: Names, person: UserID, kit: KitSettings, unread: Int, position: LogPosition,
        recipientTag: String? = nil
    ) -> LocalNotification? {
        guard let payload = try? NotificationPayload(message: message, seenBy: person, at: position) else { return nil }
        let text =
            kit.showsContent
            ? PushInfo.Text(
                of: message, title: names.group ?? names.sender, sender: names.group == nil ? nil : names.sender,
                body: MessageSummary.text(of: message, in: kit.words)) : PushInfo.Text(body: .text(kit.words.hidden))
        var notification = LocalNotification(
            message: message.id, conversation: message.conversation(seenBy: person), title: text.title ?? "",
            subtitle: text.subtitle, body: text.line, payload: payload, options: message.push?.withoutTexts,
            setsBadge: kit.managesBadge, unread: unread, position: position,
            recipientTag: recipientTag)
        if kit.usesCommunicationNotifications, kit.showsContent {
            notification.communication = CommunicationForm(
                payload, message: message.id, text: text,
                names: KnownNames(sender: names.sender, group: names.group, memberCount: names.memberCount),
                isMention: message.addressed.include(person), isReply: message.answers(person))
        }
        return notification
    }

    /// By the same tests; nil where a notification may not be shown, and the recalled one is then only removed.
    package static func replacement(
        _ recall: Recall, person: UserID, runState: RunState, kit: KitSettings?, level: NotificationLevel, unread: Int,
        position: LogPosition, recipientTag: String? = nil
    ) -> LocalNotification? {
        guard let kit, kit.isLocalNotificationEnabled, runState == .backgroundActive, recall.sender != person,
            level == .all
        else { return nil }
        let payload = try? NotificationPayload(
            conversationType: recall.conversation.type, senderID: recall.sender, messageType: Self.recallObjectName,
            targetID: recall.conversation.target, messageUID: recall.message.description)
        return payload.map {
            LocalNotification(
                message: recall.message, conversation: recall.conversation, title: "",
                body: .text(kit.words.recalled), payload: $0, isSilent: true, setsBadge: kit.managesBadge,
                unread: unread, position: position, recipientTag: recipientTag)
        }
    }

    /// S0.13.
    package static let recallObjectName: ObjectName = "RC:RcNtf"
}

extension Message {
    /// The mentions that the server names, else those of the content (requirements S3, test 7); nobody in a one-to-one conversation, which
    /// the mention levels silence.
    package var addressed: Mentions { self.mentions.orIn(self.content, of: self.conversation) }
}

extension MessageDraft {
    var addressed: Mentions { self.mentions.orIn(self.content, of: self.conversation) }
}

extension Mentions {
    fileprivate func orIn(_ content: String, of conversation: ConversationID) -> Mentions {
        guard self == .none, !conversation.type.targetIsPeer else { return self }
        return (try? JSONValue(parsing: content)).map { Mentions(content: $0) } ?? .none
    }
}

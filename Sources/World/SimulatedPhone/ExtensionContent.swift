package import ClientCore
package import PhoneCore
package import TidingsModel

// What the shipped extension carries over to Apple's types, carried over to the virtual iPhone's.

extension ContentEdit {
    /// Returns the donation before the push is answered, and the answer. An app that is not entitled gets plain content.
    package func answer(
        to original: NotificationContent, isEntitled: Bool
    ) -> (donated: DonatedMessage?, content: NotificationContent) {
        var edit = self
        if !isEntitled { edit.communication = nil }
        return (edit.communication?.donation, edit.applied(to: original))
    }

    /// Images are not simulated.
    package func applied(to original: NotificationContent) -> NotificationContent {
        var content = original
        content.apply(self)
        if self.isDiscarded { return NotificationContent(badge: content.badge) }
        if let form = self.communication { content.show(form, portrait: self.hasPortrait ? form.portrait : nil) }
        return content
    }
}

extension NotificationContent {
    /// Changes the content as a phone shows it that knows such notifications, of an app with the entitlement. `portrait` is its source.
    mutating func show(_ form: CommunicationForm, portrait: String? = nil) {
        guard let sender = form.sender else { return }
        self.body = form.text.notificationText
        self.show(
            CommunicationDetails(
                sender: sender.name, portrait: portrait, group: form.groupName,
                conversation: form.conversation.description, recipientCount: form.recipientCount ?? 0,
                mentionsPerson: form.isMention, isReply: form.isReply))
    }
}

extension CommunicationForm {
    /// The donation to the system.
    package var donation: DonatedMessage {
        DonatedMessage(
            identifier: self.message.description, group: self.conversation.description,
            isOutgoing: self.sender == nil, conversation: self.conversation.description, sender: self.sender?.name,
            recipients: self.recipient.map { [$0.name] } ?? [], groupName: self.groupName,
            content: self.text.notificationText)
    }
}

extension DonationScope {
    package var event: ProcessEvent {
        switch self {
        case .messages(let messages): .donationsDeleted(identifiers: messages.map(\.description), group: nil)
        case .conversation(let conversation): .donationsDeleted(identifiers: nil, group: conversation.description)
        case .all: .donationsDeleted(identifiers: nil, group: nil)
        }
    }
}

extension MissedDecision.Post {
    /// Returns the donation to the system before the notification centre, and the centre's request.
    package func posted(
        recipientTag tag: String, isEntitled: Bool
    ) -> (donated: DonatedMessage?, request: NotificationRequest) {
        var post = self
        if !isEntitled { post.message.communication = nil }
        return (post.message.communication?.donation, post.request(recipientTag: tag))
    }

    private func request(recipientTag tag: String) -> NotificationRequest {
        var content = NotificationContent(
            title: self.message.text.title?.notificationText ?? "",
            subtitle: self.message.text.subtitle?.notificationText ?? "", body: self.message.text.body.notificationText,
            userInfo: self.message.userInfo(recipientTag: tag).objectValue ?? JSONObject())
        content.apply(self.message.manner(isSilent: self.isSilent))
        if let form = self.message.communication { content.show(form) }
        return NotificationRequest(identifier: self.message.message.description, content: content)
    }
}

extension PushLine {
    var notificationText: String {
        switch self {
        case .text(let text): text
        case .localized(let key, let arguments): LocalizedText.deferred(key: key, arguments: arguments)
        }
    }
}

extension NotificationContent: EditableContent {
    package var badgeNumber: Int? {
        get { self.badge }
        set { self.badge = newValue }
    }

    package static func text(of line: PushLine) -> String { line.notificationText }

    package mutating func setUserInfo(_ userInfo: JSONValue) { self.userInfo = userInfo.objectValue ?? JSONObject() }

    package mutating func setSound(_ sound: NotificationManner.Sound?) {
        switch sound {
        case .standard: self.sound = .standard
        case .named(let name): self.sound = .named(name)
        case .critical(let name): self.sound = .critical(name: name, volume: 1)
        case nil: self.sound = nil
        }
    }

    package mutating func setLevel(_ level: PushOptions.InterruptionLevel) {
        switch level {
        case .passive: self.interruptionLevel = .passive
        case .active: self.interruptionLevel = .active
        case .timeSensitive: self.interruptionLevel = .timeSensitive
        case .critical: self.interruptionLevel = .critical
        }
    }

    package mutating func setRelevance(thousandths: Int) { self.relevanceScore = Double(thousandths) / 1_000 }

    package mutating func removeAttachments() { self.attachments = [] }
}
